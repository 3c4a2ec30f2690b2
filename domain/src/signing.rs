//! Signed datapoints (SDK-CONNECTOR-CONTROL-R901): Ed25519 (RFC 8032) over the canonical text of a JSON value, byte-equal to the
//! peer (`wire/mcp-surface.md` 8.2).

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

use crate::base64::{decode_either, encode_url};
use crate::canonical::peer_json_strict;
use crate::json::Json;
use crate::refusals;
use crate::secret::Secret;

/// The setting that holds the seed of the key.
pub const SIGNING_KEY_VARIABLE: &str = "ARD_SIGNING_PRIVATE_KEY";

refusals! {
    /// Why something is not signed. Nothing of the key is in it.
    pub enum SigningRefusal {
        /// The seed is not 32 bytes in base64.
        Seed => "signing_seed_invalid", CallerMistake, Never,
            "the seed of the signing key is not 32 bytes in base64", "write 32 random bytes in base64; `openssl rand -base64 32` makes some";
        /// A number that is none cannot be signed.
        Datapoint => "signing_datapoint_invalid", CallerMistake, Never,
            "the datapoint holds a number that is not finite", "leave it out, or write it as text";
    }
}

/// A key that signs. It cannot be printed, and its memory is zeroed on drop.
pub struct DatapointSigner(SigningKey);

impl std::fmt::Debug for DatapointSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DatapointSigner").field(&self.public_key_b64()).finish()
    }
}

impl DatapointSigner {
    /// A key from its seed.
    pub fn from_seed(seed: &Secret<[u8; 32]>) -> Self {
        Self(SigningKey::from_bytes(seed.expose()))
    }

    /// A key from the text of a seed: base64 in either alphabet, padded or not, blanks around it.
    pub fn from_text(seed: &Secret<String>) -> Result<Self, SigningRefusal> {
        let bytes = Secret::new(decode_either(seed.expose().trim()).ok_or(SigningRefusal::Seed)?);
        let seed = Secret::new(<[u8; 32]>::try_from(bytes.expose().as_slice()).map_err(|_| SigningRefusal::Seed)?);
        Ok(Self::from_seed(&seed))
    }

    /// The key that a setting names, or without one a key of this process alone, from `fresh` random bytes: what it signs cannot be
    /// checked by anybody who was not told its public key.
    pub fn from_setting(
        setting: Option<&Secret<String>>,
        fresh: impl FnOnce() -> Secret<[u8; 32]>,
    ) -> Result<Self, SigningRefusal> {
        match setting.filter(|text| !text.expose().trim().is_empty()) {
            Some(text) => Self::from_text(text),
            None => Ok(Self::from_seed(&fresh())),
        }
    }

    /// The public key, as URL-safe base64 without padding.
    pub fn public_key_b64(&self) -> String {
        encode_url(self.0.verifying_key().as_bytes())
    }

    /// Signs a datapoint; gives URL-safe base64 without padding. The order of members does not matter. A text is signed as it
    /// stands.
    pub fn sign_datapoint(&self, datapoint: &Json) -> Result<String, SigningRefusal> {
        Ok(self.sign_text(&signed_text(datapoint).ok_or(SigningRefusal::Datapoint)?))
    }

    /// Signs a text as it stands.
    pub fn sign_text(&self, text: &str) -> String {
        encode_url(&self.0.sign(text.as_bytes()).to_bytes())
    }
}

/// Whether the signature is the key's over the datapoint. Fails closed: whatever cannot be read is no signature. Key and signature
/// are read in either alphabet, with blanks around. A key of small order, under which one signature fits many texts, signs nothing.
pub fn verify_datapoint(datapoint: &Json, signature: &str, public_key: &str) -> bool {
    let read = || {
        let key: [u8; 32] = decode_either(public_key.trim())?.try_into().ok()?;
        let signature: [u8; 64] = decode_either(signature.trim())?.try_into().ok()?;
        let key = VerifyingKey::from_bytes(&key).ok()?;
        key.verify_strict(signed_text(datapoint)?.as_bytes(), &Signature::from_bytes(&signature)).ok()
    };
    read().is_some()
}

fn signed_text(datapoint: &Json) -> Option<String> {
    match datapoint {
        Json::String(text) => Some(text.clone()),
        other => peer_json_strict(other).ok(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::refusal::Refusal as _;
    use crate::test_vectors::{load, section, text};

    fn bytes(hex: &str) -> Secret<[u8; 32]> {
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let all: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        Secret::new(all.try_into().unwrap())
    }

    fn signer() -> DatapointSigner {
        DatapointSigner::from_seed(&Secret::new([7; 32]))
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R901.2
    #[test]
    fn every_recorded_signature_is_made_again() {
        let file = load("canonical.json");
        for case in section(&file, "ed25519") {
            let by_bytes = DatapointSigner::from_seed(&bytes(text(case, "seed_hex")));
            let by_text = DatapointSigner::from_text(&Secret::new(text(case, "seed_base64").to_owned())).unwrap();
            assert_eq!(by_bytes.public_key_b64(), text(case, "public_key"));
            assert_eq!(by_text.public_key_b64(), text(case, "public_key"));
            let datapoint = case.get("datapoint").unwrap();
            assert_eq!(signed_text(datapoint).as_deref(), Some(text(case, "signed_text")));
            assert_eq!(by_bytes.sign_datapoint(datapoint).unwrap(), text(case, "signature"));
            assert!(verify_datapoint(datapoint, text(case, "signature"), text(case, "public_key")));
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R901.4, SDK-CONNECTOR-CONTROL-R901.5
    #[test]
    fn any_mismatch_fails_closed() {
        let file = load("canonical.json");
        for case in section(&file, "ed25519_verification") {
            let valid =
                verify_datapoint(case.get("datapoint").unwrap(), text(case, "signature"), text(case, "public_key"));
            assert_eq!(Some(valid), case.get("valid").unwrap().as_bool(), "{}", text(case, "id"));
        }
    }

    #[test]
    fn a_number_beyond_a_double_is_not_signed() {
        let endless = crate::json::parse("[1e400]").unwrap();
        let refusal = signer().sign_datapoint(&endless).unwrap_err();
        assert_eq!(refusal.code(), "signing_datapoint_invalid");
        assert!(!verify_datapoint(&endless, &signer().sign_text("[1e400]"), &signer().public_key_b64()));
    }

    /// A public key of small order would make one signature fit every text.
    #[test]
    fn a_weak_key_signs_nothing() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let mut signature = [0; 64];
        signature[0] = 1;
        assert!(!verify_datapoint(&Json::from("any"), &encode_url(&signature), &encode_url(&identity)));
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R901.3, SDK-CONNECTOR-CONTROL-R901.4, SDK-CONNECTOR-CONTROL-R901.6
    #[test]
    fn the_seed_of_the_setting_is_used_and_a_malformed_one_is_refused() {
        let file = load("canonical.json");
        let setting = file.get("ed25519_setting").unwrap();
        assert_eq!(text(setting, "name"), SIGNING_KEY_VARIABLE);
        let fresh = || Secret::new([9; 32]);
        let own = DatapointSigner::from_seed(&fresh());
        for case in setting.get("cases").and_then(Json::as_array).unwrap() {
            let seed = Secret::new(text(case, "setting").to_owned());
            let made = DatapointSigner::from_setting(Some(&seed), fresh);
            if case.get("error").is_some() {
                let refusal = made.unwrap_err();
                assert_eq!(refusal, SigningRefusal::Seed);
                assert!(seed.expose().len() < 2 || !format!("{refusal} {refusal:?}").contains(seed.expose().as_str()));
                continue;
            }
            let made = made.unwrap();
            let configured = case.get("configured").unwrap().as_bool().unwrap();
            let expected = if configured { text(case, "ok").to_owned() } else { own.public_key_b64() };
            assert_eq!(made.public_key_b64(), expected);
            let datapoint = Json::from([("name", Json::from("desk"))]);
            let signature = made.sign_datapoint(&datapoint).unwrap();
            assert!(verify_datapoint(&datapoint, &signature, &made.public_key_b64()));
        }
        for case in section(&file, "ed25519_seed_lengths") {
            let Some(Json::Number(length)) = case.get("seed_bytes") else { panic!("a length") };
            let seed = crate::base64::encode(&vec![0; length.to_string().parse().unwrap()]);
            assert_eq!(DatapointSigner::from_text(&Secret::new(seed)).is_ok(), case.get("ok").is_some());
        }
    }

    #[test]
    fn a_key_is_never_printed() {
        let shown = format!("{:?}", signer());
        assert!(!shown.contains("[7, 7") && !shown.contains(&encode_url(&[7; 32])), "{shown}");
    }

    proptest! {
        /// Proves: SDK-CONNECTOR-CONTROL-R901.2, SDK-CONNECTOR-CONTROL-R901.5
        #[test]
        fn a_signature_is_for_one_datapoint(name in "[a-z]{0,8}", number in any::<i64>(), flipped in 0_usize..64, bit in 0_u8..8) {
            let one = Json::from([("name", Json::from(name.as_str())), ("n", number.into())]);
            let same = Json::from([("n", Json::from(number)), ("name", name.as_str().into())]);
            let other = Json::from([("name", Json::from(name.as_str())), ("n", number.wrapping_add(1).into())]);
            let key = signer().public_key_b64();
            let signature = signer().sign_datapoint(&one).unwrap();
            prop_assert!(verify_datapoint(&same, &signature, &key));
            prop_assert!(!verify_datapoint(&other, &signature, &key));
            let mut broken = decode_either(&signature).unwrap();
            broken[flipped] ^= 1 << bit;
            prop_assert!(!verify_datapoint(&one, &encode_url(&broken), &key));
        }
    }
}
