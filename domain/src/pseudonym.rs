//! Stable stand-ins for record ids (SDK-SOURCE-INGEST-R004.34).

use std::collections::BTreeSet;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::id::{ConnectorName, Digest256};
use crate::json::JsonObject;
use crate::refusals;
use crate::secret::Secret;

refusals! {
    /// Why there is no pseudonym.
    pub enum PseudonymRefusal {
        /// A key that can be guessed makes ids that can be guessed.
        ShortKey { bytes: usize } => "pseudonym_short_key", CallerMistake, Never,
            "the pseudonym key has {bytes} bytes; at least 32 are needed", "make a new key from a secure random source";
        /// Nothing to stand in for.
        EmptyId => "pseudonym_empty_id", PeerMisbehaved, Never,
            "a record without an id cannot have a pseudonym", "fix the source, or leave the record out";
        /// A NUL would make two different inputs the same.
        Nul { what: &'static str } => "pseudonym_nul", PeerMisbehaved, Never,
            "the {what} contains NUL", "fix the source";
        /// The prefix cannot stand in front of a pseudonym.
        BadPrefix => "pseudonym_bad_prefix", CallerMistake, Never,
            "a pseudonym prefix is 1 to 64 letters, digits, `-`, `.` or `_`", "choose another prefix";
    }
}

/// Replaces ids by `<prefix>:<type>:<digest>`, the digest being HMAC-SHA256 over connector NUL type NUL id, in lower-case
/// hexadecimal. The same key gives the same pseudonym for ever; without the key nobody can tell which id it stands for.
#[derive(Clone, Debug)]
pub struct Pseudonymizer {
    connector: ConnectorName,
    prefix: String,
    key: Secret<Vec<u8>>,
    redact: BTreeSet<String>,
}

impl Pseudonymizer {
    /// The shortest key, in bytes.
    pub const MIN_KEY_BYTES: usize = 32;

    /// A pseudonymiser of one connector. `redact` names the properties to drop.
    pub fn new(
        connector: ConnectorName,
        prefix: &str,
        key: Secret<Vec<u8>>,
        redact: impl IntoIterator<Item = String>,
    ) -> Result<Self, PseudonymRefusal> {
        let bytes = key.expose().len();
        if bytes < Self::MIN_KEY_BYTES {
            return Err(PseudonymRefusal::ShortKey { bytes });
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
        if !(1..=64).contains(&prefix.len()) || !prefix.bytes().all(plain) {
            return Err(PseudonymRefusal::BadPrefix);
        }
        Ok(Self { connector, prefix: prefix.to_owned(), key, redact: redact.into_iter().collect() })
    }

    /// The pseudonym of an id of a record type.
    pub fn pseudonym(&self, record_type: &str, id: &str) -> Result<String, PseudonymRefusal> {
        if id.is_empty() {
            return Err(PseudonymRefusal::EmptyId);
        }
        for (what, text) in [("record type", record_type), ("id", id)] {
            if text.contains('\0') {
                return Err(PseudonymRefusal::Nul { what });
            }
        }
        // HMAC takes a key of any length, and the length was checked; the refusal is for a change of that rule.
        let short = |_| PseudonymRefusal::ShortKey { bytes: self.key.expose().len() };
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose()).map_err(short)?;
        for (index, part) in [self.connector.as_str(), record_type, id].into_iter().enumerate() {
            if index > 0 {
                mac.update(b"\0");
            }
            mac.update(part.as_bytes());
        }
        let digest = Digest256::from_bytes(mac.finalize().into_bytes().into());
        Ok(format!("{}:{record_type}:{digest}", self.prefix))
    }

    /// Drops the properties that are to be redacted.
    pub fn redact(&self, properties: &mut JsonObject) {
        for name in &self.redact {
            properties.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, parse};
    use proptest::prelude::*;

    fn desk(redact: &[&str]) -> Pseudonymizer {
        let connector = ConnectorName::parse("acme-desk-mcp").unwrap();
        let redact = redact.iter().map(|name| (*name).to_owned());
        Pseudonymizer::new(connector, "desk", Secret::new(vec![b'k'; 32]), redact).unwrap()
    }

    /// Proves: SDK-SOURCE-INGEST-R004.34
    #[test]
    fn every_pseudonym_of_the_vectors() {
        let text = include_str!("../../conformance/vectors/redaction.json");
        let vectors = parse(text).unwrap().get("pseudonyms").unwrap().clone();
        let connector = ConnectorName::parse(vectors.get("connector").unwrap().as_str().unwrap()).unwrap();
        let prefix = vectors.get("prefix").unwrap().as_str().unwrap();
        let key = vectors.get("key_utf8").unwrap().as_str().unwrap().as_bytes().to_vec();
        let good = Pseudonymizer::new(connector.clone(), prefix, Secret::new(key), []).unwrap();
        let cases = vectors.get("cases").unwrap().as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let got = if let Some(bytes) = case.get("key_bytes") {
                let bytes = usize::try_from(bytes.as_number().unwrap().as_u64().unwrap()).unwrap();
                Pseudonymizer::new(connector.clone(), prefix, Secret::new(vec![1; bytes]), []).map(|_| String::new())
            } else {
                let id = match case.get("provider_id").unwrap() {
                    Json::String(text) => text.clone(),
                    Json::Number(number) => number.to_string(),
                    _ => String::new(),
                };
                good.pseudonym(case.get("node_type").unwrap().as_str().unwrap(), &id)
            };
            assert_eq!(got.ok().as_deref(), case.get("ok").and_then(Json::as_str));
        }
    }

    /// Proves: SDK-SOURCE-INGEST-R004.34
    #[test]
    fn redacted_properties_are_dropped_and_others_stay() {
        let mut properties = JsonObject::from([("mail".to_owned(), "x".into()), ("role".to_owned(), "y".into())]);
        desk(&["mail", "absent"]).redact(&mut properties);
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["role"]);
    }

    #[test]
    fn unusable_parts_are_refused_and_the_key_is_not_shown() {
        let connector = || ConnectorName::parse("d").unwrap();
        let key = || Secret::new(vec![7; 32]);
        for prefix in ["", "a:b", "a b", &"x".repeat(65)] {
            let refused = Pseudonymizer::new(connector(), prefix, key(), []).map(|_| ());
            assert_eq!(refused, Err(PseudonymRefusal::BadPrefix));
        }
        assert!(desk(&[]).pseudonym("a\0b", "c").is_err() && desk(&[]).pseudonym("a", "b\0c").is_err());
        assert!(format!("{:?}", desk(&[])).contains("REDACTED"));
    }

    proptest! {
        /// Proves: SDK-SOURCE-INGEST-R004.34
        #[test]
        fn pseudonyms_are_stable_and_tell_all_pairs_apart(
            a in ("[a-zA-Z:]{1,8}", "[ -~]{1,12}"), b in ("[a-zA-Z:]{1,8}", "[ -~]{1,12}"),
        ) {
            let pseudonymizer = desk(&[]);
            let name = |pair: &(String, String)| pseudonymizer.pseudonym(&pair.0, &pair.1).unwrap();
            prop_assert_eq!(name(&a), name(&a));
            prop_assert_eq!(name(&a) == name(&b), a == b);
        }
    }
}
