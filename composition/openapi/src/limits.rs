//! The bounds of one conversion.

/// What one conversion may cost. With [`Limits::DEFAULT`] no document needs more than 512 MB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest document, in bytes.
    pub max_bytes: usize,
    /// The most values in a document, written-out aliases included.
    pub max_nodes: usize,
    /// The deepest nesting of a document.
    pub max_depth: usize,
    /// The most operations that are converted.
    pub max_operations: usize,
    /// The most parameters of one operation.
    pub max_parameters: usize,
    /// The most parts (values, and 64 bytes of text each) of one schema; a larger one is cut at a lower depth.
    pub max_schema_parts: usize,
    /// The most parts of all schemas together; with many operations each gets a smaller share of it.
    pub total_schema_parts: usize,
    /// The most levels of objects and lists that are written out in one schema.
    pub max_schema_levels: usize,
}

impl Limits {
    /// 16 MiB, 700,000 values, 96 levels, 4,096 operations of at most 256 parameters, 1,024 parts a schema and 600,000 in
    /// all, 8 levels.
    pub const DEFAULT: Self = Self {
        max_bytes: 16 << 20,
        max_nodes: 700_000,
        max_depth: 96,
        max_operations: 4096,
        max_parameters: 256,
        max_schema_parts: 1024,
        total_schema_parts: 600_000,
        max_schema_levels: 8,
    };

    /// The parts one schema may have when there are so many operations. A power of two, so that one operation more rarely
    /// changes the schemas of the others.
    pub(crate) fn schema_parts(&self, operations: usize) -> usize {
        let share = (self.total_schema_parts / (2 * operations.max(1))).max(64);
        let step = if share.is_power_of_two() { share } else { share.next_power_of_two() / 2 };
        step.min(self.max_schema_parts)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn the_share_of_a_schema_moves_in_steps() {
        let limits = Limits::DEFAULT;
        let shares: Vec<usize> = [0, 1, 292, 293, 400, 900, 4096].map(|count| limits.schema_parts(count)).to_vec();
        assert_eq!(shares, [1024, 1024, 1024, 512, 512, 256, 64]);
        assert!((1..=4096).all(|count| limits.schema_parts(count) * 2 * count <= limits.total_schema_parts));
    }
}
