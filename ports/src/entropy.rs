/// Randomness, as a port so that simulated runs repeat.
///
/// Obligations:
/// - **O1** The system implementation is cryptographically secure.
/// - **O2** A seeded implementation repeats exactly.
pub trait Entropy: Send + Sync {
    /// Fills a buffer.
    fn fill(&self, buffer: &mut [u8]);
}
