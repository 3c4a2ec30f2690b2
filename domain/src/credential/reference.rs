//! The grammar of a reference.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::id::ConnectorName;
use crate::refusals;

/// A reference to a secret: `env://NAME`, `openbao://MOUNT/PATH#FIELD[@VERSION]` or `file:///PATH`. It names a secret and is
/// not one, so it may be shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SecretRef {
    /// An environment variable.
    Env {
        /// `[A-Za-z_][A-Za-z0-9_]{0,127}`.
        name: String,
    },
    /// A field in a secret store.
    OpenBao {
        /// `[A-Za-z0-9][A-Za-z0-9_.-]{0,63}`.
        mount: String,
        /// `[A-Za-z0-9][A-Za-z0-9_./-]{0,383}` without empty, `.` or `..` segments.
        path: String,
        /// `[A-Za-z0-9_.-]{1,128}`.
        field: String,
        /// 1 to 999,999,999; the newest when silent.
        version: Option<u32>,
    },
    /// A mounted file, taken as it is: no percent signs, no query, no fragment.
    File {
        /// Absolute, at most 512 bytes of `A-Z a-z 0-9 / _ . - @ + = : , ~`, without empty, `.` or `..` segments.
        path: String,
    },
}

refusals! {
    /// Why a text is not a secret reference. The text itself is not repeated: it may be a secret put in the wrong place.
    pub enum ReferenceRefusal {
        /// Not one of the known forms.
        NotAReference => "not_a_secret_reference", CallerMistake, Never,
            "not a secret reference", "write env://NAME, openbao://MOUNT/PATH#FIELD or file:///PATH; never the secret itself";
    }
}

impl SecretRef {
    /// Parses a reference; outer blanks are trimmed, at most 1,024 bytes.
    pub fn parse(text: &str) -> Result<Self, ReferenceRefusal> {
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
        if text.len() > 1024 || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(ReferenceRefusal::NotAReference);
        }
        if let Some(name) = text.strip_prefix("env://") {
            return env_name(name).then(|| Self::Env { name: name.to_owned() }).ok_or(ReferenceRefusal::NotAReference);
        }
        if let Some(path) = text.strip_prefix("file://") {
            return file_path(path)
                .then(|| Self::File { path: path.to_owned() })
                .ok_or(ReferenceRefusal::NotAReference);
        }
        let rest = text.strip_prefix("openbao://").ok_or(ReferenceRefusal::NotAReference)?;
        Self::parse_openbao(rest).ok_or(ReferenceRefusal::NotAReference)
    }

    fn parse_openbao(rest: &str) -> Option<Self> {
        let (place, selector) = rest.split_once('#')?;
        let (mount, path) = place.split_once('/')?;
        let (field, version) = match selector.split_once('@') {
            Some((field, version)) => {
                let digits = (1..=9).contains(&version.len()) && version.bytes().all(|b| b.is_ascii_digit());
                let number = version.parse().ok().filter(|n| digits && *n > 0 && !version.starts_with('0'))?;
                (field, Some(number))
            }
            None => (selector, None),
        };
        let mount_ok = word(mount, 64, |b| matches!(b, b'_' | b'.' | b'-'));
        let path_ok = word(path, 384, |b| matches!(b, b'_' | b'.' | b'/' | b'-'))
            && path.split('/').all(|segment| !matches!(segment, "" | "." | ".."));
        let field_ok = (1..=128).contains(&field.len())
            && field.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
        (mount_ok && path_ok && field_ok).then(|| Self::OpenBao {
            mount: mount.to_owned(),
            path: path.to_owned(),
            field: field.to_owned(),
            version,
        })
    }

    /// The scheme.
    pub const fn scheme(&self) -> &'static str {
        match self {
            Self::Env { .. } => "env",
            Self::OpenBao { .. } => "openbao",
            Self::File { .. } => "file",
        }
    }

    /// Whether a connector may name it at all (`wire/mcp-surface.md` 6.5): an `openbao` path is the connector's own name or
    /// below it. Who may read an environment variable or a file is not said by the reference; the providers and the access
    /// authority say it.
    pub fn in_scope_of(&self, connector: &ConnectorName) -> bool {
        match self {
            Self::Env { .. } | Self::File { .. } => true,
            Self::OpenBao { path, .. } => {
                path.strip_prefix(connector.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }
}

pub(super) fn env_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && !name.as_bytes()[0].is_ascii_digit()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn file_path(path: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/_.-@+=:,~".contains(&b);
    let mut segments = path.split('/');
    path.len() <= 512
        && segments.next() == Some("")
        && path.bytes().all(plain)
        && segments.all(|segment| !matches!(segment, "" | "." | ".."))
        && path.len() > 1
}

fn word(text: &str, limit: usize, extra: fn(u8) -> bool) -> bool {
    (1..=limit).contains(&text.len())
        && text.as_bytes()[0].is_ascii_alphanumeric()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || extra(b))
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env { name } => write!(f, "env://{name}"),
            Self::OpenBao { mount, path, field, version: None } => write!(f, "openbao://{mount}/{path}#{field}"),
            Self::OpenBao { mount, path, field, version: Some(version) } => {
                write!(f, "openbao://{mount}/{path}#{field}@{version}")
            }
            Self::File { path } => write!(f, "file://{path}"),
        }
    }
}

impl Serialize for SecretRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SecretRef {
    /// The error never repeats the text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = SecretRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a secret reference")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<SecretRef, E> {
                SecretRef::parse(text).map_err(E::custom)
            }

            // The default for a number repeats it, and a number can be a secret in the wrong place.
            fn visit_i64<E: de::Error>(self, _: i64) -> Result<SecretRef, E> {
                Err(E::custom(ReferenceRefusal::NotAReference))
            }

            fn visit_u64<E: de::Error>(self, _: u64) -> Result<SecretRef, E> {
                Err(E::custom(ReferenceRefusal::NotAReference))
            }

            fn visit_f64<E: de::Error>(self, _: f64) -> Result<SecretRef, E> {
                Err(E::custom(ReferenceRefusal::NotAReference))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::test_vectors::{load, section, text};

    fn number(value: Option<u32>) -> Json {
        value.map_or(Json::Null, |number| Json::from(i64::from(number)))
    }

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
    #[test]
    fn every_reference_of_the_vectors() {
        let file = load("references.json");
        for case in section(&file, "references") {
            let given = text(case, "reference");
            // The vectors shorten one text that is longer than any reference may be.
            let whole = given.replace("\u{2026}<1036>", &"A".repeat(1024));
            let Ok(read) = SecretRef::parse(&whole) else {
                assert!(case.get("error").is_some(), "{given}");
                continue;
            };
            let ok = case.get("ok").unwrap_or_else(|| panic!("{given} was read"));
            assert_eq!(read.scheme(), text(ok, "scheme"));
            assert_eq!(read.to_string(), text(ok, "rendered"));
            let (mount, path, field, version) = match &read {
                SecretRef::OpenBao { mount, path, field, version } => (&**mount, &**path, &**field, *version),
                _ => ("", "", "", None),
            };
            assert_eq!((mount, path, field), (text(ok, "mount"), text(ok, "path"), text(ok, "field")));
            assert_eq!(Some(&number(version)), ok.get("version"));
        }
    }

    #[test]
    fn every_scope_of_the_vectors() {
        let file = load("references.json");
        for case in section(&file, "connector_scope") {
            let connector = ConnectorName::parse(text(case, "connector")).unwrap();
            let reference = SecretRef::parse(text(case, "reference")).unwrap();
            assert_eq!(reference.in_scope_of(&connector), case.get("error").is_none(), "{reference}");
        }
    }

    #[test]
    fn a_file_is_an_absolute_path_and_nothing_else() {
        for good in ["/run/secrets/token", "/a", "/var/run/..data/token", "/a/b.c-d_e@f+g=h:i,j~k"] {
            let reference = SecretRef::parse(&format!("file://{good}")).unwrap();
            assert_eq!(reference, SecretRef::File { path: good.to_owned() });
            assert_eq!(reference.to_string(), format!("file://{good}"));
        }
        let long = format!("/{}", "a".repeat(512));
        let bad = [
            "", "/", "a/b", "host/a", "/a/", "//a", "/a//b", "/a/../b", "/..", "/a/.", "/a%2e", "/a?b", "/a#b",
            "/\u{e9}",
        ];
        for bad in bad.into_iter().chain([long.as_str(), "/a\\b"]) {
            assert!(SecretRef::parse(&format!("file://{bad}")).is_err(), "{bad}");
        }
        assert!(SecretRef::parse(&format!("file:///{}", "a".repeat(511))).is_ok());
    }

    #[test]
    fn a_text_that_is_no_reference_is_in_no_error() {
        for (text, value) in
            [("\"hunter2\"", "hunter2"), ("424242", "424242"), ("-424242", "424242"), ("42.42", "42.42")]
        {
            let error = serde_json::from_str::<SecretRef>(text).unwrap_err();
            assert!(!error.to_string().contains(value), "{error}");
        }
        let read: SecretRef = serde_json::from_str("\"env://A\"").unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"env://A\"");
    }
}
