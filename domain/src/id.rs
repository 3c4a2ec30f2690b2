//! Identities that are parsed once at the edge and then trusted.
//!
//! Two alphabets exist. *Wire ids* (connector, stream, adapter kind) follow the engine: 1 to 1024 bytes of
//! `A-Z a-z 0-9 # - . / : @ _`. *Texts* (record ids, cursors) are any UTF-8 without NUL, 1 to 8192 bytes. The
//! connector name is narrower: `^[a-z0-9][a-z0-9._-]{0,127}$` (`wire/mcp-surface.md` 7.1).

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::refusals;

refusals! {
    /// Why a text is not an identity.
    pub enum IdRefusal {
        /// The text is empty.
        Empty { kind: &'static str } => "id_empty", CallerMistake, Never,
            "{kind} is empty", "give it a value";
        /// The text is longer than its bound.
        TooLong { kind: &'static str, bytes: usize, limit: usize } => "id_too_long", CallerMistake, Never,
            "{kind} has {bytes} bytes; at most {limit} are allowed", "shorten it";
        /// The text has a character outside the alphabet of its kind.
        BadCharacter { kind: &'static str, index: usize } => "id_bad_character", CallerMistake, Never,
            "{kind} has a character that is not allowed, at byte {index}",
            "use the characters the catalogue lists for this kind";
    }
}

macro_rules! identity {
    ($(#[$meta:meta])* $name:ident, $kind:literal, $limit:expr, $check:expr) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The longest form, in bytes.
            pub const MAX_BYTES: usize = $limit;

            /// Parses a text; refuses with [`IdRefusal`].
            pub fn parse(text: &str) -> Result<Self, IdRefusal> {
                if text.is_empty() {
                    return Err(IdRefusal::Empty { kind: $kind });
                }
                if text.len() > $limit {
                    return Err(IdRefusal::TooLong { kind: $kind, bytes: text.len(), limit: $limit });
                }
                let check: fn(usize, char) -> bool = $check;
                if let Some((index, _)) = text.char_indices().find(|(i, c)| !check(*i, *c)) {
                    return Err(IdRefusal::BadCharacter { kind: $kind, index });
                }
                Ok(Self(Arc::from(text)))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), &*self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdRefusal;
            fn from_str(text: &str) -> Result<Self, IdRefusal> {
                Self::parse(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

const fn wire_id(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '#' | '-' | '.' | '/' | ':' | '@' | '_')
}

identity! {
    /// The fleet name of a connector, for example `github-mcp`.
    ConnectorName, "connector name", 128, |i, c| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || (i > 0 && matches!(c, '.' | '_' | '-'))
    }
}
identity! {
    /// One ordered feed of records of a connector: a source or preset name.
    StreamName, "stream name", 1024, |_, c| wire_id(c)
}
identity! {
    /// The vendor's identity of one record inside its stream. Compared byte for byte, never normalised.
    RecordId, "record id", 8192, |_, c| c != '\0'
}
identity! {
    /// The type of a record, for example `Ticket`.
    RecordType, "record type", 128, |_, c| !c.is_control()
}
identity! {
    /// The name of a tool on a server.
    ToolName, "tool name", 256, |_, c| !c.is_control()
}
identity! {
    /// A tenant.
    TenantId, "tenant id", 1024, |_, c| !c.is_control()
}
identity! {
    /// A reference to a declared mapping: `connector:<connector>#mappings/<record type>` (R075.6).
    MappingReference, "mapping reference", 1024, |_, c| !c.is_control()
}
identity! {
    /// A reference to a declared relation: `connector:<connector>#relations/<resource>/<relation>` (R075.6).
    RelationReference, "relation reference", 1024, |_, c| !c.is_control()
}

impl MappingReference {
    /// The reference of one declared mapping. Refuses when the result is over its bound.
    pub fn of(connector: &ConnectorName, record_type: &RecordType) -> Result<Self, IdRefusal> {
        Self::parse(&format!("connector:{connector}#mappings/{record_type}"))
    }

    /// The record type it names, when it has the full form for this connector.
    pub fn record_type<'a>(&'a self, connector: &ConnectorName) -> Option<&'a str> {
        self.0.strip_prefix("connector:")?.strip_prefix(connector.as_str())?.strip_prefix("#mappings/")
    }
}

impl RelationReference {
    /// The reference of one declared relation. Refuses when the result is over its bound.
    pub fn of(connector: &ConnectorName, record_type: &RecordType, relation: &str) -> Result<Self, IdRefusal> {
        Self::parse(&format!("connector:{connector}#relations/{record_type}/{relation}"))
    }

    /// `(record type, relation)`, when it has the full form for this connector.
    pub fn parts<'a>(&'a self, connector: &ConnectorName) -> Option<(&'a str, &'a str)> {
        self.0
            .strip_prefix("connector:")?
            .strip_prefix(connector.as_str())?
            .strip_prefix("#relations/")?
            .rsplit_once('/')
    }
}

/// A SHA-256 digest. Displays as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest256([u8; 32]);

impl Digest256 {
    /// All zero bytes, the placeholder of self-referring digests.
    pub const ZERO: Self = Self([0; 32]);

    /// From raw bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Parses 64 lower-case hexadecimal digits.
    pub fn parse_hex(text: &str) -> Result<Self, IdRefusal> {
        const KIND: &str = "digest";
        if text.len() != 64 {
            return Err(IdRefusal::TooLong { kind: KIND, bytes: text.len(), limit: 64 });
        }
        let mut out = [0u8; 32];
        for (index, pair) in text.as_bytes().chunks_exact(2).enumerate() {
            let high = hex_value(pair[0]).ok_or(IdRefusal::BadCharacter { kind: KIND, index: index * 2 })?;
            let low = hex_value(pair[1]).ok_or(IdRefusal::BadCharacter { kind: KIND, index: index * 2 + 1 })?;
            out[index] = high << 4 | low;
        }
        Ok(Self(out))
    }

    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut out = String::with_capacity(64);
        for byte in self.0 {
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        out
    }
}

const fn hex_value(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest256({})", self.to_hex())
    }
}

impl serde::Serialize for Digest256 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> serde::Deserialize<'de> for Digest256 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_hex(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_refuse_what_is_outside_their_alphabet() {
        assert_eq!(ConnectorName::parse("desk-mcp").unwrap().as_str(), "desk-mcp");
        assert!(matches!(ConnectorName::parse("-desk"), Err(IdRefusal::BadCharacter { index: 0, .. })));
        assert!(matches!(ConnectorName::parse(""), Err(IdRefusal::Empty { .. })));
        assert!(matches!(ConnectorName::parse(&"a".repeat(129)), Err(IdRefusal::TooLong { limit: 128, .. })));
        assert!(matches!(RecordId::parse("a\0b"), Err(IdRefusal::BadCharacter { index: 1, .. })));
        assert!(RecordId::parse("line\n\"quoted\" é").is_ok());
    }

    #[test]
    fn references_take_themselves_apart() {
        let connector = ConnectorName::parse("desk").unwrap();
        let ticket = RecordType::parse("Ticket").unwrap();
        let mapping = MappingReference::of(&connector, &ticket).unwrap();
        assert_eq!(mapping.as_str(), "connector:desk#mappings/Ticket");
        assert_eq!(mapping.record_type(&connector), Some("Ticket"));
        let relation = RelationReference::of(&connector, &ticket, "owner").unwrap();
        assert_eq!(relation.parts(&connector), Some(("Ticket", "owner")));
    }

    #[test]
    fn a_digest_reads_what_it_writes() {
        let digest = Digest256::from_bytes([0xab; 32]);
        assert_eq!(Digest256::parse_hex(&digest.to_hex()), Ok(digest));
        assert!(Digest256::parse_hex(&"AB".repeat(32)).is_err());
        assert!(Digest256::parse_hex("ab").is_err());
    }
}
