use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::TlsRefusal;
use crate::credential::SecretRef;

/// Where PEM text comes from. It says where material is and never holds it, so it may be shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Material {
    /// A file, by its absolute path.
    File(PathBuf),
    /// A secret reference whose value is the PEM text.
    Reference(SecretRef),
}

impl Material {
    /// Parses an absolute path, `file://` before one, or a secret reference; at most 4,096 bytes.
    pub fn parse(text: &str) -> Result<Self, TlsRefusal> {
        let text = text.trim();
        if text.len() > 4096 || text.chars().any(char::is_control) {
            return Err(TlsRefusal::Material);
        }
        let path = Path::new(text.strip_prefix("file://").unwrap_or(text));
        if path.is_absolute() && path.file_name().is_some() {
            return Ok(Self::File(path.to_owned()));
        }
        SecretRef::parse(text).map(Self::Reference).map_err(|_| TlsRefusal::Material)
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Reference(reference) => reference.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Material {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(input)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_references_are_material_and_nothing_else_is() {
        assert_eq!(Material::parse("/etc/corp.pem"), Ok(Material::File("/etc/corp.pem".into())));
        assert_eq!(Material::parse("file:///etc/corp.pem"), Ok(Material::File("/etc/corp.pem".into())));
        assert!(matches!(Material::parse(" env://CORP_CA "), Ok(Material::Reference(_))));
        assert!(matches!(Material::parse("openbao://kv/corp/tls#key"), Ok(Material::Reference(_))));
        for bad in [
            "",
            "/",
            "corp.pem",
            "file://corp.pem",
            "http://corp/ca.pem",
            "-----BEGIN PRIVATE KEY-----\nMC4C",
            "env://",
        ] {
            let refusal = Material::parse(bad).unwrap_err();
            assert_eq!(refusal, TlsRefusal::Material);
            assert!(bad.len() < 9 || !refusal.to_string().contains(bad));
        }
    }
}
