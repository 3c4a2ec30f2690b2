//! The key that signs datapoints, as the environment says (SDK-CONNECTOR-CONTROL-R901.3).

use std::collections::BTreeMap;

use scion_domain::secret::Secret;
use scion_domain::signing::{DatapointSigner, SIGNING_KEY_VARIABLE, SigningRefusal};
use scion_local::SystemEntropy;
use scion_ports::Entropy as _;

/// The key of `ARD_SIGNING_PRIVATE_KEY`; without the variable, or with a blank one, a key of this process alone.
pub fn datapoint_signer(environment: &BTreeMap<String, String>) -> Result<DatapointSigner, SigningRefusal> {
    let setting = environment.get(SIGNING_KEY_VARIABLE).map(|text| Secret::new(text.clone()));
    DatapointSigner::from_setting(setting.as_ref(), || {
        let mut seed = [0; 32];
        SystemEntropy.fill(&mut seed);
        Secret::new(seed)
    })
}

#[cfg(test)]
mod tests {
    use scion_domain::json::Json;
    use scion_domain::signing::verify_datapoint;

    use super::*;

    fn signer(seed: &str) -> Result<DatapointSigner, SigningRefusal> {
        datapoint_signer(&BTreeMap::from([(SIGNING_KEY_VARIABLE.to_owned(), seed.to_owned())]))
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R901, SDK-CONNECTOR-CONTROL-R901.3, SDK-CONNECTOR-CONTROL-R901.6
    #[test]
    fn the_configured_seed_signs_and_another_process_verifies() {
        let datapoint = Json::from([("connector", Json::from("desk-mcp"))]);
        let seed = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let (one, other) = (signer(seed).unwrap(), signer(seed).unwrap());
        assert_eq!(one.public_key_b64(), "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg");
        assert!(verify_datapoint(&datapoint, &one.sign_datapoint(&datapoint).unwrap(), &other.public_key_b64()));
        assert_eq!(signer("not a seed").unwrap_err(), SigningRefusal::Seed);
    }

    #[test]
    fn without_a_seed_each_process_has_its_own_key() {
        let (one, other) = (datapoint_signer(&BTreeMap::new()).unwrap(), signer(" ").unwrap());
        assert_ne!(one.public_key_b64(), other.public_key_b64());
    }
}
