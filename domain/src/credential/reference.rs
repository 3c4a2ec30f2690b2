//! The grammar of a reference.

use std::fmt;

use crate::refusals;

/// A reference to a secret: `env://NAME` or `openbao://MOUNT/PATH#FIELD[@VERSION]`. It names a secret and is not one, so it
/// may be shown.
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
}

refusals! {
    /// Why a text is not a secret reference. The text itself is not repeated: it may be a secret put in the wrong place.
    pub enum ReferenceRefusal {
        /// Not one of the known forms.
        NotAReference => "not_a_secret_reference", CallerMistake, Never,
            "not a secret reference", "write env://NAME or openbao://MOUNT/PATH#FIELD; never the secret itself";
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
        }
    }
}

fn env_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && !name.as_bytes()[0].is_ascii_digit()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
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
        }
    }
}
