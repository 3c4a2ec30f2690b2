//! Profiles from `PROVIDER_CONFIGS`.

use std::collections::BTreeMap;

use super::{ProviderRefusal, is_name};
use crate::credential::RuntimeRef;
use crate::json::{Json, JsonObject, JsonRefusal, parse};

const MAX_BYTES: usize = 64 * 1024;
const MAX_PROFILES: usize = 32;
const MAX_ENTRIES: usize = 32;

/// TLS material by reference, each a PEM text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsReferences {
    /// Certificates to trust.
    pub ca: Option<RuntimeRef>,
    /// The client's certificate chain; only with `key`.
    pub certificate: Option<RuntimeRef>,
    /// The client's key; only with `certificate`.
    pub key: Option<RuntimeRef>,
}

/// Which TLS rules an endpoint is called under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsSelector {
    /// A TLS profile the dialer knows.
    Profile(String),
    /// Material of this profile.
    Material(TlsReferences),
}

/// One profile: references and names, no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderProfile {
    /// Where the backend is.
    pub endpoint: Option<RuntimeRef>,
    /// The TLS rules; there exactly when there is an endpoint.
    pub tls: Option<TlsSelector>,
    /// Credentials by name.
    pub credentials: BTreeMap<String, RuntimeRef>,
    /// What else selects something at the backend, by name: a region, an account, a database.
    pub selectors: BTreeMap<String, RuntimeRef>,
}

/// The profiles of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderProfiles(BTreeMap<String, ProviderProfile>);

impl ProviderProfiles {
    /// Reads `PROVIDER_CONFIGS`, one JSON object of at most 64 KiB:
    /// `{"NAME": {"endpoint": REF, "tls_profile": "NAME" or "tls": {"ca": REF, "certificate": REF, "key": REF},
    /// "credentials": {"NAME": REF}, "selectors": {"NAME": REF}}}`. At most 32 profiles of 32 entries each; every member is
    /// optional; a key occurs once.
    pub fn parse(text: &str) -> Result<Self, ProviderRefusal> {
        if text.len() > MAX_BYTES {
            return Err(ProviderRefusal::TooLarge { what: "bytes", limit: MAX_BYTES });
        }
        let document = parse(text).map_err(|_: JsonRefusal| ProviderRefusal::Malformed)?;
        let members = document.as_object().ok_or(ProviderRefusal::Malformed)?;
        if members.len() > MAX_PROFILES {
            return Err(ProviderRefusal::TooLarge { what: "profiles", limit: MAX_PROFILES });
        }
        let mut profiles = BTreeMap::new();
        for (name, profile) in members {
            if !is_name(name) {
                return Err(ProviderRefusal::BadName { what: "profile" });
            }
            profiles.insert(name.clone(), read(profile.as_object().ok_or(ProviderRefusal::Malformed)?)?);
        }
        Ok(Self(profiles))
    }

    /// The profile of a name; refused when the name is silent or unknown.
    pub fn select(&self, name: Option<&str>) -> Result<&ProviderProfile, ProviderRefusal> {
        let name = name.map(str::trim).filter(|name| !name.is_empty()).ok_or(ProviderRefusal::NotSelected)?;
        if self.0.is_empty() {
            return Err(ProviderRefusal::NotConfigured);
        }
        self.0.get(name).ok_or(ProviderRefusal::Unknown)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn read(members: &JsonObject) -> Result<ProviderProfile, ProviderRefusal> {
    let mut profile = ProviderProfile::default();
    for (member, value) in members {
        match member.as_str() {
            "endpoint" => profile.endpoint = Some(reference("endpoint", value)?),
            "credentials" => profile.credentials = references("credential", value)?,
            "selectors" => profile.selectors = references("selector", value)?,
            "tls_profile" => {
                let name = value.as_str().filter(|name| is_name(name));
                let name = name.ok_or(ProviderRefusal::BadName { what: "TLS profile" })?;
                select_tls(&mut profile, TlsSelector::Profile(name.to_owned()))?;
            }
            "tls" => select_tls(&mut profile, TlsSelector::Material(material(value)?))?,
            _ => return Err(ProviderRefusal::UnknownMember),
        }
    }
    if profile.endpoint.is_some() != profile.tls.is_some() {
        return Err(ProviderRefusal::TlsSelector);
    }
    Ok(profile)
}

fn select_tls(profile: &mut ProviderProfile, selector: TlsSelector) -> Result<(), ProviderRefusal> {
    match profile.tls.replace(selector) {
        None => Ok(()),
        Some(_) => Err(ProviderRefusal::TlsSelector),
    }
}

fn material(value: &Json) -> Result<TlsReferences, ProviderRefusal> {
    let mut tls = TlsReferences::default();
    for (member, value) in value.as_object().ok_or(ProviderRefusal::Malformed)? {
        let slot = match member.as_str() {
            "ca" => &mut tls.ca,
            "certificate" => &mut tls.certificate,
            "key" => &mut tls.key,
            _ => return Err(ProviderRefusal::UnknownMember),
        };
        *slot = Some(reference("TLS material", value)?);
    }
    let empty = tls == TlsReferences::default();
    if empty || tls.certificate.is_some() != tls.key.is_some() {
        return Err(ProviderRefusal::TlsSelector);
    }
    Ok(tls)
}

fn references(field: &'static str, value: &Json) -> Result<BTreeMap<String, RuntimeRef>, ProviderRefusal> {
    let members = value.as_object().ok_or(ProviderRefusal::Malformed)?;
    if members.len() > MAX_ENTRIES {
        return Err(ProviderRefusal::TooLarge { what: "entries of one kind", limit: MAX_ENTRIES });
    }
    let mut read = BTreeMap::new();
    for (name, value) in members {
        if !is_name(name) {
            return Err(ProviderRefusal::BadName { what: field });
        }
        read.insert(name.clone(), reference(field, value)?);
    }
    Ok(read)
}

fn reference(field: &'static str, value: &Json) -> Result<RuntimeRef, ProviderRefusal> {
    let text = value.as_str().ok_or(ProviderRefusal::Literal { field })?;
    RuntimeRef::parse(text).map_err(|_| ProviderRefusal::Literal { field })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal as _;

    const GOOD: &str = r#"{
        "main": {"endpoint": "env://DESK_URL", "tls_profile": "internal-ca",
                 "credentials": {"token": "vault://apps/desk#TOKEN"}, "selectors": {"region": "env://REGION"}},
        "own-ca": {"endpoint": "vault://apps/desk#URL", "tls": {"ca": "secret://apps/desk#CA"}},
        "plain": {"credentials": {"token": "secret://apps/desk#T"}}
    }"#;

    /// Proves: SDK-CONNECTOR-CONTROL-R014.19, SDK-CENTRALIZED-CAPABILITIES-R010
    #[test]
    fn a_document_of_references_is_read() {
        let profiles = ProviderProfiles::parse(GOOD).unwrap();
        assert_eq!(profiles.names().collect::<Vec<_>>(), ["main", "own-ca", "plain"]);
        let main = profiles.select(Some(" main ")).unwrap();
        assert_eq!(main.credentials["token"].to_string(), "vault://apps/desk#TOKEN");
        assert_eq!(main.tls, Some(TlsSelector::Profile("internal-ca".into())));
        assert_eq!(profiles.select(Some("other")), Err(ProviderRefusal::Unknown));
        assert_eq!(profiles.select(Some("  ")), Err(ProviderRefusal::NotSelected));
        assert_eq!(profiles.select(None), Err(ProviderRefusal::NotSelected));
        assert_eq!(ProviderProfiles::parse("{}").unwrap().select(Some("a")), Err(ProviderRefusal::NotConfigured));
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.19
    #[test]
    fn each_invalid_document_has_its_code_and_repeats_nothing() {
        let many = |count: usize, value: &str| {
            let entries: Vec<String> = (0..count).map(|number| format!("\"n{number}\": {value}")).collect();
            format!("{{{}}}", entries.join(","))
        };
        let cases = [
            ("hunter2".to_owned(), "provider_configs_malformed"),
            ("[]".into(), "provider_configs_malformed"),
            (r#"{"hunter2": 1}"#.into(), "provider_configs_malformed"),
            (r#"{"a": {}, "a": {}}"#.into(), "provider_configs_malformed"),
            (r#"{"a": {"credentials": {"t": "env://A", "t": "env://B"}}}"#.into(), "provider_configs_malformed"),
            (r#"{"a": {"credentials": []}}"#.into(), "provider_configs_malformed"),
            (format!("{{\"a\": {{}}}}{}", " ".repeat(64 * 1024)), "provider_configs_too_large"),
            (many(33, "{}"), "provider_configs_too_large"),
            (format!(r#"{{"a": {{"credentials": {}}}}}"#, many(33, "\"env://A\"")), "provider_configs_too_large"),
            (r#"{"hunter2 x": {}}"#.into(), "provider_configs_bad_name"),
            (r#"{"a": {"selectors": {"": "env://A"}}}"#.into(), "provider_configs_bad_name"),
            (r#"{"a": {"endpoint": "env://A", "tls_profile": ""}}"#.into(), "provider_configs_bad_name"),
            (r#"{"a": {"hunter2": "env://A"}}"#.into(), "provider_profile_unknown_member"),
            (
                r#"{"a": {"endpoint": "env://A", "tls": {"verify": "env://B"}}}"#.into(),
                "provider_profile_unknown_member",
            ),
            (r#"{"a": {"credentials": {"t": "hunter2"}}}"#.into(), "provider_profile_literal"),
            (r#"{"a": {"credentials": {"t": 5}}}"#.into(), "provider_profile_literal"),
            (r#"{"a": {"credentials": {"t": "openbao://a/b#c"}}}"#.into(), "provider_profile_literal"),
            (
                r#"{"a": {"endpoint": "https://hunter2.example", "tls_profile": "x"}}"#.into(),
                "provider_profile_literal",
            ),
            (r#"{"a": {"endpoint": "env://A"}}"#.into(), "provider_profile_tls_selector"),
            (r#"{"a": {"tls_profile": "x"}}"#.into(), "provider_profile_tls_selector"),
            (
                r#"{"a": {"endpoint": "env://A", "tls_profile": "x", "tls": {"ca": "env://B"}}}"#.into(),
                "provider_profile_tls_selector",
            ),
            (r#"{"a": {"endpoint": "env://A", "tls": {}}}"#.into(), "provider_profile_tls_selector"),
            (r#"{"a": {"endpoint": "env://A", "tls": {"key": "env://B"}}}"#.into(), "provider_profile_tls_selector"),
        ];
        for (document, code) in cases {
            let refusal = ProviderProfiles::parse(&document).unwrap_err();
            assert_eq!(refusal.code(), code, "{}", &document[..document.len().min(80)]);
            assert!(!format!("{refusal} {refusal:?}").contains("hunter2"));
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.19
    #[test]
    fn an_endpoint_is_https_or_this_machine() {
        use super::super::provider_endpoint;
        for good in
            ["https://desk.example/api", "http://localhost:1", "http://127.0.0.1", "http://[::1]:8080/", " https://a "]
        {
            assert!(provider_endpoint(good).is_ok(), "{good}");
        }
        for bad in
            ["http://desk.example", "ftp://a", "desk", "", "https://u:p@a", "https://a/#f", "http://10.0.0.1", "data:x"]
        {
            assert_eq!(provider_endpoint(bad), Err(ProviderRefusal::Endpoint), "{bad}");
        }
    }
}
