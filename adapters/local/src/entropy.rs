//! The random source of the system.

use scion_ports::Entropy;

/// The cryptographically secure random source of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// # Panics
    /// When the system has no random source: going on with guessable bytes would be worse.
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system provides random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_draws_differ() {
        let mut draws = [[0u8; 32]; 2];
        for draw in &mut draws {
            SystemEntropy.fill(draw);
        }
        assert_ne!(draws[0], draws[1]);
    }
}
