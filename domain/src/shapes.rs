//! What a validator of shapes (SHACL) answers, without anything of the data.

use crate::refusals;

/// The most violations a report lists; it counts them all.
pub const MAX_LISTED_VIOLATIONS: usize = 256;
/// The most bytes of shapes, and of data, in one validation.
pub const MAX_VALIDATED_BYTES: usize = 8 << 20;

/// One violation: which rule, of which shape, on which path. Never the value, the focus node or a message, which can hold data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapesViolation {
    /// The property path as an IRI; `None` for a rule about the node itself, or a path that is built of others.
    pub path: Option<String>,
    /// The constraint component as an IRI.
    pub component: String,
    /// The shape, where it has a name.
    pub shape: Option<String>,
}

/// The outcome of a validation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapesReport {
    /// How many violations there are.
    pub count: usize,
    /// The first of them in the order of path, component and shape.
    pub violations: Vec<ShapesViolation>,
}

impl ShapesReport {
    /// From violations in any order.
    pub fn of(mut violations: Vec<ShapesViolation>) -> Self {
        let count = violations.len();
        let key =
            |one: &ShapesViolation| (one.path.is_none(), one.path.clone(), one.component.clone(), one.shape.clone());
        violations.sort_by_cached_key(key);
        violations.truncate(MAX_LISTED_VIOLATIONS);
        Self { count, violations }
    }

    /// Whether the data are as the shapes want them.
    pub const fn conforms(&self) -> bool {
        self.count == 0
    }

    /// Refuses what does not conform, with the number of violations and the path of the first.
    ///
    /// # Errors
    /// [`PreflightRefusal::Violations`].
    pub fn require(&self) -> Result<(), PreflightRefusal> {
        if self.conforms() {
            return Ok(());
        }
        let first = self.violations.first();
        let path = first.and_then(|one| one.path.as_deref()).filter(|path| !crate::redaction::contains_secret(path));
        let path = path.map_or_else(|| "the node itself".to_owned(), |path| path.chars().take(256).collect());
        Err(PreflightRefusal::Violations { count: self.count, path })
    }
}

refusals! {
    /// Why nothing was validated.
    pub enum ShapesRefusal {
        /// Shapes or data that are no Turtle, or shapes that are no shapes.
        Malformed { what: &'static str } => "shapes_malformed", CallerMistake, Never,
            "the {what} cannot be read", "correct the Turtle";
        /// More than is validated at once.
        TooLarge { what: &'static str, limit: usize } => "shapes_too_large", CallerMistake, Never,
            "the {what} have more than {limit} bytes", "split them";
        /// The validator does not answer.
        Unavailable => "shapes_validator_unavailable", Unavailable, Later,
            "the validator of shapes does not answer", "check the store";
        /// The store may not be asked.
        Denied => "shapes_validator_denied", Denied, Never,
            "the store does not let this caller validate", "grant it the scope to validate";
    }
}

refusals! {
    /// Why a contract is not imported: it was looked at first.
    pub enum PreflightRefusal {
        /// It is not as its shapes want it.
        Violations { count: usize, path: String } => "contract_preflight_violations", CallerMistake, Never,
            "the contract violates its shapes {count} times, first on {path}", "correct the declaration of the connector";
        /// It could not be looked at; `code` is the code of the validator's refusal.
        NotValidated { code: &'static str } => "contract_not_validated", Unavailable, Later,
            "the contract was not validated ({code})", "see the code for what to do";
    }
}
