//! A secret as a caller gives it: by reference, or itself.

use super::SecretRef;
use crate::secret::Secret;

/// Where a secret comes from. Configuration and declarations hold references only; a program that has the value already, as
/// after a migration, may hand it over itself (SDK-CONNECTOR-CONTROL-R031). This type is neither serialised nor read from
/// text, so that a literal cannot get into a file or be taken from one.
#[derive(Clone, Debug)]
pub enum SecretSource {
    /// Resolved each time it is needed.
    Reference(SecretRef),
    /// The value; printing shows a fixed word.
    Literal(Secret<String>),
}

impl SecretSource {
    /// The reference; `None` for a literal.
    pub const fn reference(&self) -> Option<&SecretRef> {
        match self {
            Self::Reference(reference) => Some(reference),
            Self::Literal(_) => None,
        }
    }

    /// What may be shown: the reference, or a fixed word.
    pub fn shown(&self) -> String {
        self.reference().map_or_else(|| "(literal)".to_owned(), ToString::to_string)
    }
}

impl From<SecretRef> for SecretSource {
    fn from(reference: SecretRef) -> Self {
        Self::Reference(reference)
    }
}

impl From<Secret<String>> for SecretSource {
    fn from(value: Secret<String>) -> Self {
        Self::Literal(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: SDK-CONNECTOR-CONTROL-R031
    #[test]
    fn a_literal_is_never_shown() {
        let literal = SecretSource::from(Secret::new("hunter2".to_owned()));
        assert!(!format!("{literal:?} {}", literal.shown()).contains("hunter2"));
        assert!(literal.reference().is_none());
        let reference = SecretSource::from(SecretRef::Env { name: "DESK_TOKEN".into() });
        assert_eq!(reference.shown(), "env://DESK_TOKEN");
    }
}
