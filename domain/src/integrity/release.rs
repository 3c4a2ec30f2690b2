//! Signing and checking release manifests.

use super::locks::check_key;
use super::{IntegrityRefusal, LockDecision, ReleaseKeyRef, RotationLedger, SignerLocks};
use crate::canonical::lossless_json;
use crate::digest::sha256;
use crate::id::Digest256;
use crate::json::{Json, JsonObject};
use crate::secret::Secret;
use crate::signing::{DatapointSigner, verify_datapoint};

/// The member that holds the signature, and is not covered by it.
const SIGNATURE: &str = "signature";

/// The hash of a manifest: SHA-256 of its canonical text without `signature`. The order of members does not matter, every digit of a
/// number does.
pub fn manifest_hash(manifest: &JsonObject) -> Digest256 {
    sha256(lossless_json(&covered(manifest, None)).as_bytes())
}

/// A key that signs releases for a signer.
#[derive(Debug)]
pub struct ReleaseSigner {
    signer: String,
    key: DatapointSigner,
    reference: ReleaseKeyRef,
}

/// A release whose signature holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedRelease {
    /// Who signed.
    pub signer: String,
    /// With which key.
    pub public_key: String,
    /// What the locks say of it: locked or rotated.
    pub decision: LockDecision,
    /// The hash of the manifest.
    pub manifest: Digest256,
}

impl ReleaseSigner {
    /// A signer whose seed was read from its reference.
    pub fn new(signer: &str, reference: ReleaseKeyRef, seed: &Secret<String>) -> Result<Self, IntegrityRefusal> {
        let key = DatapointSigner::from_text(seed)
            .map_err(|_| IntegrityRefusal::KeyReference { what: "does not lead to 32 bytes in base64" })?;
        Ok(Self { signer: signer.to_owned(), key, reference })
    }

    /// The public key.
    pub fn public_key(&self) -> String {
        self.key.public_key_b64()
    }

    /// Signs a manifest: gives it with `signature: {algorithm, signer, key_ref, public_key, value}` in place of any other. The key
    /// must be the one locked for the signer, or follow from it by a declared rotation; the first key of a signer is locked by
    /// signing.
    pub fn sign(
        &self,
        manifest: &JsonObject,
        locks: &mut SignerLocks,
        ledger: &RotationLedger,
    ) -> Result<JsonObject, IntegrityRefusal> {
        let head = self.head();
        let value = self.key.sign_text(&lossless_json(&covered(manifest, Some(&head))));
        locks.lock(&self.signer, &self.public_key(), ledger)?;
        let mut signature = head;
        signature.insert("value".into(), Json::from(value));
        let mut signed = manifest.clone();
        signed.insert(SIGNATURE.into(), Json::Object(signature));
        Ok(signed)
    }

    fn head(&self) -> JsonObject {
        JsonObject::from_iter([
            ("algorithm".into(), Json::from("ed25519")),
            ("signer".into(), self.signer.as_str().into()),
            ("key_ref".into(), self.reference.to_string().into()),
            ("public_key".into(), self.public_key().into()),
        ])
    }
}

/// Checks a signed manifest against the locked keys. Fails closed: an unsigned one, an unknown signer, another key without a
/// rotation and anything that was changed are refused.
pub fn verify_release(
    manifest: &JsonObject,
    locks: &SignerLocks,
    ledger: &RotationLedger,
) -> Result<VerifiedRelease, IntegrityRefusal> {
    let Some(Json::Object(signature)) = manifest.get(SIGNATURE) else { return Err(IntegrityRefusal::Unsigned) };
    let member = |name: &str| signature.get(name).and_then(Json::as_str).ok_or(IntegrityRefusal::Signature);
    let (signer, public_key, value) = (member("signer")?, member("public_key")?, member("value")?);
    if signature.len() != 5 || member("algorithm")? != "ed25519" || member("key_ref").is_err() {
        return Err(IntegrityRefusal::Signature);
    }
    let spelled_once =
        |text: &str, bytes: usize| crate::base64::decode_url(text).is_some_and(|read| read.len() == bytes);
    if check_key(public_key).is_err() || !spelled_once(value, 64) {
        return Err(IntegrityRefusal::Signature);
    }
    let head: JsonObject = signature
        .iter()
        .filter(|(name, _)| *name != "value")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    // A text is signed as it stands.
    let signed = Json::String(lossless_json(&covered(manifest, Some(&head))));
    if !verify_datapoint(&signed, value, public_key) {
        return Err(IntegrityRefusal::Signature);
    }
    // The key is looked at last, so that a forged signature cannot be told from an unknown signer by trying names.
    match locks.decide(signer, public_key, ledger)? {
        LockDecision::Unknown => Err(IntegrityRefusal::SignerUnknown { signer: signer.to_owned() }),
        decision => Ok(VerifiedRelease {
            signer: signer.to_owned(),
            public_key: public_key.to_owned(),
            decision,
            manifest: manifest_hash(manifest),
        }),
    }
}

/// What a hash or a signature covers: the manifest without its signature; for a signature, also who signs with which key, so that
/// nobody can put another name to it.
fn covered(manifest: &JsonObject, head: Option<&JsonObject>) -> Json {
    let mut members: JsonObject = manifest
        .iter()
        .filter(|(name, _)| *name != SIGNATURE)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(head) = head {
        members.insert(SIGNATURE.into(), Json::Object(head.clone()));
    }
    Json::Object(members)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::integrity::Rotation;
    use crate::json::{JsonLimits, parse_with, to_spaced};

    fn manifest() -> JsonObject {
        let text = br#"{"connector":"desk-mcp","version":"1.4.0","pack":{"digest":"ab","entries":[1,2.5,"x"]},"ontology":"cd"}"#;
        let Ok(Json::Object(members)) = parse_with(text, JsonLimits::DEFAULT) else { panic!("it is an object") };
        members
    }

    fn signer(byte: u8) -> ReleaseSigner {
        let reference = ReleaseKeyRef::parse("vault://kv/desk/release#seed@1").unwrap();
        ReleaseSigner::new("acme", reference, &Secret::new(crate::base64::encode(&[byte; 32]))).unwrap()
    }

    fn signed(byte: u8) -> (JsonObject, SignerLocks) {
        let mut locks = SignerLocks::default();
        let signed = signer(byte).sign(&manifest(), &mut locks, &RotationLedger::default()).unwrap();
        (signed, locks)
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn a_release_is_accepted_under_the_locked_key_alone() {
        let none = RotationLedger::default();
        let (release, locks) = signed(1);
        let verified = verify_release(&release, &locks, &none).unwrap();
        assert_eq!((verified.signer.as_str(), verified.decision), ("acme", LockDecision::Locked));
        assert_eq!(verified.manifest, manifest_hash(&manifest()), "the signature does not count");
        assert_eq!(verify_release(&manifest(), &locks, &none), Err(IntegrityRefusal::Unsigned));
        let unknown = Err(IntegrityRefusal::SignerUnknown { signer: "acme".into() });
        assert_eq!(verify_release(&release, &SignerLocks::default(), &none), unknown);

        let (other, _) = signed(2);
        let changed = IntegrityRefusal::KeyChanged { signer: "acme".into() };
        assert_eq!(verify_release(&other, &locks, &none), Err(changed.clone()));
        let mut kept = locks.clone();
        assert_eq!(signer(2).sign(&manifest(), &mut kept, &none), Err(changed));
        let mut ledger = RotationLedger::default();
        let (from, to) = (signer(1).public_key(), signer(2).public_key());
        ledger.declare(Rotation { signer: "acme".into(), from, to, reason: "the old one is lost".into() }).unwrap();
        assert_eq!(verify_release(&other, &locks, &ledger).unwrap().decision, LockDecision::Rotated);
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn nobody_can_put_another_name_to_a_signature() {
        let (release, mut locks) = signed(1);
        locks.lock("mallory", &signer(1).public_key(), &RotationLedger::default()).unwrap();
        for (member, value) in [("signer", "mallory"), ("key_ref", "vault://kv/other#seed@1"), ("algorithm", "none")] {
            let mut forged = release.clone();
            let Some(Json::Object(signature)) = forged.get("signature").cloned() else { panic!("it is signed") };
            let mut signature = signature;
            signature.insert(member.into(), Json::from(value));
            forged.insert("signature".into(), Json::Object(signature));
            let refused = verify_release(&forged, &locks, &RotationLedger::default());
            assert_eq!(refused, Err(IntegrityRefusal::Signature), "{member}");
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn any_changed_byte_is_refused() {
        let (release, locks) = signed(1);
        let text = to_spaced(&Json::Object(release.clone())).into_bytes();
        let mut accepted = 0;
        for at in 0..text.len() {
            let mut broken = text.clone();
            broken[at] ^= 0x01;
            let Ok(Json::Object(members)) = parse_with(&broken, JsonLimits::DEFAULT) else { continue };
            accepted +=
                usize::from(verify_release(&members, &locks, &RotationLedger::default()).is_ok() && members != release);
        }
        assert_eq!(accepted, 0);
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn no_digit_of_a_number_is_lost() {
        let with = |number: &str| {
            let text = format!(r#"{{"version":{number}}}"#);
            let Ok(Json::Object(members)) = parse_with(text.as_bytes(), JsonLimits::DEFAULT) else {
                panic!("an object")
            };
            members
        };
        assert_ne!(manifest_hash(&with("0.1")), manifest_hash(&with("0.10000000000000000001")));
        let mut locks = SignerLocks::default();
        let ledger = RotationLedger::default();
        let mut signed = signer(1).sign(&with("0.1"), &mut locks, &ledger).unwrap();
        assert!(verify_release(&signed, &locks, &ledger).is_ok());
        signed.insert("version".into(), with("0.10000000000000000001")["version"].clone());
        assert_eq!(verify_release(&signed, &locks, &ledger), Err(IntegrityRefusal::Signature));
    }

    proptest! {
        /// Proves: SDK-CONNECTOR-CONTROL-R650
        #[test]
        fn the_hash_depends_on_content_alone(names in proptest::collection::btree_set("[a-r]{1,6}", 1..8), number in any::<i32>()) {
            let member = |name: &String| (name.clone(), Json::from(i64::from(number)));
            let forward: JsonObject = names.iter().map(member).collect();
            let backward: JsonObject = names.iter().rev().map(member).collect();
            let hash = manifest_hash(&forward);
            prop_assert_eq!(hash, manifest_hash(&backward));
            let mut other = forward.clone();
            other.insert("zz".into(), Json::Null);
            prop_assert_ne!(hash, manifest_hash(&other));
        }
    }
}
