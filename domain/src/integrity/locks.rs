//! Which keys a reader has accepted, and which changes of a key were declared.

use std::collections::BTreeMap;

use super::IntegrityRefusal;
use crate::base64::decode_url;
use crate::json::{Json, JsonLimits, JsonObject, parse_with, to_spaced};

/// The variable that names the file of declared rotations.
pub const ROTATION_RECORD_VARIABLE: &str = "CONNECTOR_RELEASE_ROTATION_RECORD";
/// The most signers or rotations in one file.
const MAX_ENTRIES: usize = 10_000;
/// The longest name of a signer, in bytes.
const MAX_SIGNER: usize = 256;

/// The public keys of signers, as one file: `{"schema_version": 1, "signers": {"<signer>": {"public_key": "<base64url>"}}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignerLocks {
    keys: BTreeMap<String, String>,
}

/// What the locks say of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockDecision {
    /// It is the locked one.
    Locked,
    /// It follows from the locked one by declared rotations; the lock should follow.
    Rotated,
    /// Nothing is locked for the signer.
    Unknown,
}

/// A declared change of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Whose key.
    pub signer: String,
    /// The key so far.
    pub from: String,
    /// The key from now on.
    pub to: String,
    /// Why.
    pub reason: String,
}

/// Declared changes, as one file: `{"schema_version": 1, "rotations": [{"signer", "from", "to", "reason"}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RotationLedger {
    rotations: Vec<Rotation>,
}

impl SignerLocks {
    /// Reads a lock file. Each key is canonical base64url of 32 bytes: two spellings of one key would be two keys.
    pub fn from_text(text: &[u8]) -> Result<Self, IntegrityRefusal> {
        let wrong = |what| IntegrityRefusal::Document { document: "lock file of signers", what };
        let members = document(text, "signers").map_err(wrong)?;
        let Json::Object(signers) = members else { return Err(wrong("`signers` is not an object")) };
        if signers.len() > MAX_ENTRIES {
            return Err(wrong("it has more than 10000 signers"));
        }
        let mut locks = Self::default();
        for (signer, entry) in signers {
            let Json::Object(entry) = entry else { return Err(wrong("a signer is not an object")) };
            let key = entry.get("public_key").and_then(Json::as_str).filter(|_| entry.len() == 1);
            let key = key.ok_or(wrong("a signer has other members than `public_key`"))?;
            check_signer(&signer).map_err(wrong)?;
            check_key(key).map_err(wrong)?;
            locks.keys.insert(signer, key.to_owned());
        }
        Ok(locks)
    }

    /// The file, the same for the same locks.
    pub fn to_text(&self) -> String {
        let entry = |(signer, key): (&String, &String)| {
            (signer.clone(), Json::from([("public_key", Json::from(key.as_str()))]))
        };
        let signers = Json::Object(self.keys.iter().map(entry).collect::<JsonObject>());
        to_spaced(&Json::from([("schema_version", Json::from(1_u64)), ("signers", signers)])) + "\n"
    }

    /// The key locked for a signer.
    pub fn key(&self, signer: &str) -> Option<&str> {
        self.keys.get(signer).map(String::as_str)
    }

    /// Whether a key may stand for a signer: it is locked, or a chain of declared rotations leads from the locked one to it.
    pub fn decide(&self, signer: &str, key: &str, ledger: &RotationLedger) -> Result<LockDecision, IntegrityRefusal> {
        let Some(locked) = self.key(signer) else { return Ok(LockDecision::Unknown) };
        if locked == key {
            return Ok(LockDecision::Locked);
        }
        let mut current = locked;
        // Each rotation is taken once at most, so that a circle ends.
        for _ in 0..ledger.rotations.len() {
            let next = ledger.rotations.iter().find(|rotation| rotation.signer == signer && rotation.from == current);
            let Some(next) = next else { break };
            current = &next.to;
            if current == key {
                return Ok(LockDecision::Rotated);
            }
        }
        Err(IntegrityRefusal::KeyChanged { signer: signer.to_owned() })
    }

    /// Locks a key. Another key than the locked one needs the rotations that lead to it.
    pub fn lock(&mut self, signer: &str, key: &str, ledger: &RotationLedger) -> Result<LockDecision, IntegrityRefusal> {
        let wrong = |what| IntegrityRefusal::Document { document: "lock file of signers", what };
        check_signer(signer).map_err(wrong)?;
        check_key(key).map_err(wrong)?;
        let decision = self.decide(signer, key, ledger)?;
        self.keys.insert(signer.to_owned(), key.to_owned());
        Ok(decision)
    }
}

impl RotationLedger {
    /// Reads a ledger. A key is rotated away from once: two ways on from one key would be two heirs.
    pub fn from_text(text: &[u8]) -> Result<Self, IntegrityRefusal> {
        let wrong = |what| IntegrityRefusal::Document { document: "ledger of rotations", what };
        let Json::Array(entries) = document(text, "rotations").map_err(wrong)? else {
            return Err(wrong("`rotations` is not a list"));
        };
        if entries.len() > MAX_ENTRIES {
            return Err(wrong("it has more than 10000 rotations"));
        }
        let mut ledger = Self::default();
        for entry in &entries {
            let member = |name: &str| entry.get(name).and_then(Json::as_str).map(str::to_owned);
            let read = || {
                let (signer, from) = (member("signer")?, member("from")?);
                Some(Rotation { signer, from, to: member("to")?, reason: member("reason")? })
            };
            ledger.declare(read().ok_or(wrong("a rotation lacks signer, from, to or reason"))?)?;
        }
        Ok(ledger)
    }

    /// The file.
    pub fn to_text(&self) -> String {
        let entry = |rotation: &Rotation| {
            Json::from([
                ("signer", Json::from(rotation.signer.as_str())),
                ("from", rotation.from.as_str().into()),
                ("to", rotation.to.as_str().into()),
                ("reason", rotation.reason.as_str().into()),
            ])
        };
        let rotations = self.rotations.iter().map(entry).collect::<Vec<_>>();
        to_spaced(&Json::from([("schema_version", Json::from(1_u64)), ("rotations", rotations.into())])) + "\n"
    }

    /// Declares a rotation.
    pub fn declare(&mut self, rotation: Rotation) -> Result<(), IntegrityRefusal> {
        let wrong = |what| IntegrityRefusal::Document { document: "ledger of rotations", what };
        check_signer(&rotation.signer).map_err(wrong)?;
        check_key(&rotation.from).map_err(wrong)?;
        check_key(&rotation.to).map_err(wrong)?;
        if rotation.from == rotation.to || rotation.reason.trim().is_empty() {
            return Err(wrong("a rotation leads to another key, and says why"));
        }
        if self.rotations.iter().any(|known| known.signer == rotation.signer && known.from == rotation.from) {
            return Err(wrong("two rotations lead away from one key"));
        }
        self.rotations.push(rotation);
        Ok(())
    }
}

pub(super) fn document(text: &[u8], member: &str) -> Result<Json, &'static str> {
    let Ok(Json::Object(mut members)) = parse_with(text, JsonLimits::DEFAULT) else {
        return Err("it is not a JSON object");
    };
    if members.get("schema_version") != Some(&Json::from(1_u64)) {
        return Err("its schema_version is not 1");
    }
    let found = members.remove(member).ok_or("its one member is missing")?;
    if members.len() == 1 { Ok(found) } else { Err("it has unknown members") }
}

fn check_signer(signer: &str) -> Result<(), &'static str> {
    let good = (1..=MAX_SIGNER).contains(&signer.len()) && signer.bytes().all(|byte| byte.is_ascii_graphic());
    if good { Ok(()) } else { Err("a signer's name is 1 to 256 characters of ASCII without blanks") }
}

/// Strict base64url of 32 bytes has one spelling.
pub(super) fn check_key(key: &str) -> Result<(), &'static str> {
    let good = decode_url(key).is_some_and(|bytes| bytes.len() == 32);
    if good { Ok(()) } else { Err("a public key is 32 bytes in base64url without padding") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base64::encode_url;

    fn key(byte: u8) -> String {
        encode_url(&[byte; 32])
    }

    fn rotation(from: u8, to: u8) -> Rotation {
        Rotation { signer: "acme".into(), from: key(from), to: key(to), reason: "yearly".into() }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn another_key_needs_a_declared_rotation() {
        let mut locks = SignerLocks::default();
        let mut ledger = RotationLedger::default();
        assert_eq!(locks.lock("acme", &key(1), &ledger), Ok(LockDecision::Unknown));
        assert_eq!(locks.lock("acme", &key(1), &ledger), Ok(LockDecision::Locked));
        let changed = Err(IntegrityRefusal::KeyChanged { signer: "acme".into() });
        assert_eq!(locks.lock("acme", &key(3), &ledger), changed);
        assert_eq!(locks.key("acme"), Some(key(1).as_str()), "a refused change leaves the lock");
        ledger.declare(rotation(1, 2)).unwrap();
        assert_eq!(locks.decide("acme", &key(3), &ledger), changed);
        ledger.declare(rotation(2, 3)).unwrap();
        assert_eq!(locks.decide("other", &key(3), &ledger), Ok(LockDecision::Unknown));
        assert_eq!(locks.lock("acme", &key(3), &ledger), Ok(LockDecision::Rotated));
        assert_eq!(locks.decide("acme", &key(1), &ledger), changed, "there is no way back");
    }

    #[test]
    fn a_circle_of_rotations_ends() {
        let mut locks = SignerLocks::default();
        let mut ledger = RotationLedger::default();
        locks.lock("acme", &key(1), &ledger).unwrap();
        ledger.declare(rotation(1, 2)).unwrap();
        ledger.declare(rotation(2, 1)).unwrap();
        assert!(locks.decide("acme", &key(9), &ledger).is_err());
        assert!(ledger.declare(rotation(1, 3)).is_err(), "one heir");
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn files_read_back_and_other_spellings_are_refused() {
        let mut locks = SignerLocks::default();
        let mut ledger = RotationLedger::default();
        ledger.declare(rotation(1, 2)).unwrap();
        locks.lock("acme", &key(1), &ledger).unwrap();
        locks.lock("beta", &key(251), &ledger).unwrap();
        assert_eq!(SignerLocks::from_text(locks.to_text().as_bytes()).unwrap(), locks);
        assert_eq!(RotationLedger::from_text(ledger.to_text().as_bytes()).unwrap(), ledger);
        let with = |key: &str| format!(r#"{{"schema_version":1,"signers":{{"acme":{{"public_key":"{key}"}}}}}}"#);
        let loose = format!("{}B", &key(0)[..42]);
        for bad in [
            with(&format!("{}=", key(1))),
            with(&crate::base64::encode(&[251; 32])),
            with(&loose),
            with("AAAA"),
            with(""),
            with(&format!(" {}", key(1))),
            "{}".into(),
            "[]".into(),
            String::new(),
            r#"{"schema_version":2,"signers":{}}"#.into(),
            r#"{"schema_version":1,"signers":{},"more":1}"#.into(),
            r#"{"schema_version":1,"signers":{"a b":{"public_key":"x"}}}"#.into(),
        ] {
            assert!(SignerLocks::from_text(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(SignerLocks::from_text(with(&key(1)).as_bytes()).is_ok());
    }
}
