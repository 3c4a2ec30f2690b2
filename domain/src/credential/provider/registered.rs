//! Profiles a connector registers in code.

use std::collections::{BTreeMap, BTreeSet};

use super::{ProviderRefusal, is_name};
use crate::auth::AuthDeclaration;
use crate::http::Url;

/// One backend a connector can work with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeProfile {
    /// Its identifier.
    pub name: String,
    /// Where its API is.
    pub base_url: Url,
    /// How requests are authenticated.
    pub auth: AuthDeclaration,
    /// What it can do, as words the connector defines.
    pub capabilities: BTreeSet<String>,
}

/// The backends of a connector. An unknown one is refused before any request is made.
#[derive(Clone, Debug, Default)]
pub struct RegisteredProfiles(BTreeMap<String, RuntimeProfile>);

impl RegisteredProfiles {
    /// Registers profiles; names are usable and occur once.
    pub fn new(profiles: impl IntoIterator<Item = RuntimeProfile>) -> Result<Self, ProviderRefusal> {
        let mut registered = BTreeMap::new();
        for profile in profiles {
            if !is_name(&profile.name) {
                return Err(ProviderRefusal::BadName { what: "profile" });
            }
            let name = profile.name.clone();
            if registered.insert(name.clone(), profile).is_some() {
                return Err(ProviderRefusal::Duplicate { name });
            }
        }
        Ok(Self(registered))
    }

    /// The profile an operator configured; refused when silent or not registered.
    pub fn select(&self, configured: Option<&str>) -> Result<&RuntimeProfile, ProviderRefusal> {
        let name = configured.map(str::trim).filter(|name| !name.is_empty()).ok_or(ProviderRefusal::NotSelected)?;
        self.0.get(name).ok_or(ProviderRefusal::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str, base_url: &str, capability: &str) -> RuntimeProfile {
        RuntimeProfile {
            name: name.into(),
            base_url: Url::parse(base_url).unwrap(),
            auth: AuthDeclaration::default(),
            capabilities: BTreeSet::from([capability.to_owned()]),
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R027, SDK-CENTRALIZED-CAPABILITIES-R010
    #[test]
    fn a_configured_profile_is_found_and_any_other_refused() {
        let profiles =
            [profile("cloud", "https://cloud.example/v2", "search"), profile("local", "http://localhost", "scan")];
        let registered = RegisteredProfiles::new(profiles).unwrap();
        let selected = registered.select(Some(" cloud")).unwrap();
        assert_eq!(selected.base_url.as_str(), "https://cloud.example/v2");
        assert!(selected.capabilities.contains("search"));
        assert_eq!(registered.select(Some("Cloud")), Err(ProviderRefusal::Unknown));
        assert_eq!(registered.select(None), Err(ProviderRefusal::NotSelected));
        assert_eq!(registered.select(Some("")), Err(ProviderRefusal::NotSelected));
        let twice = RegisteredProfiles::new([profile("a", "https://a", "x"), profile("a", "https://b", "x")]);
        assert!(matches!(twice, Err(ProviderRefusal::Duplicate { name }) if name == "a"));
        assert!(RegisteredProfiles::new([profile("a b", "https://a", "x")]).is_err());
    }
}
