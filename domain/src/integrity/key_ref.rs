use std::fmt;

use super::IntegrityRefusal;
use crate::credential::{RuntimeRef, SecretRef};

/// The reference of a key that signs releases: a versioned secret of a store, `vault://MOUNT/PATH#FIELD@VERSION` or the same with
/// `secret://`. A variable of the environment has no version and leaves no trace of who used it, so `env://` is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseKeyRef {
    shown: String,
    secret: SecretRef,
}

impl ReleaseKeyRef {
    /// Parses a reference.
    pub fn parse(text: &str) -> Result<Self, IntegrityRefusal> {
        let wrong = |what| IntegrityRefusal::KeyReference { what };
        let reference = RuntimeRef::parse(text).map_err(|_| wrong("is not vault:// or secret://"))?;
        if matches!(reference, RuntimeRef::Env(_) | RuntimeRef::Variable(_)) {
            return Err(wrong("is env://, which does not do for publication"));
        }
        let secret = reference.to_secret_ref().map_err(|_| wrong("does not name a field of a secret"))?;
        match &secret {
            SecretRef::OpenBao { version: Some(_), .. } => Ok(Self { shown: reference.to_string(), secret }),
            _ => Err(wrong("has no version")),
        }
    }

    /// What a resolver is asked for.
    pub const fn secret(&self) -> &SecretRef {
        &self.secret
    }
}

impl fmt::Display for ReleaseKeyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn only_a_versioned_secret_of_a_store_signs_releases() {
        for good in ["vault://kv/desk/release#seed@3", "secret://kv/desk/release#seed@1"] {
            assert_eq!(ReleaseKeyRef::parse(good).unwrap().to_string(), good);
        }
        for bad in [
            "env://RELEASE_SEED",
            "vault://kv/desk/release#seed",
            "vault://kv/desk/release@3",
            "vault://",
            "file:///run/seed",
            "seed",
            "",
            "vault://kv/desk/release#seed@0",
            "${RELEASE_SEED}",
            "openbao://kv/desk/release#seed@3",
        ] {
            assert!(ReleaseKeyRef::parse(bad).is_err(), "{bad}");
        }
    }
}
