use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{Material, TlsRefusal};

/// The oldest version of TLS a profile speaks. Older ones than 1.2 do not exist here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    #[default]
    #[serde(rename = "1.2")]
    V12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "1.3")]
    V13,
}

/// Which certificate authorities are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those of the platform.
    #[default]
    Platform,
    /// A private bundle alone.
    Private(Material),
    /// Those of the platform and a private bundle.
    PlatformAnd(Material),
}

/// What a client shows when the server asks for a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The certificate and its chain.
    pub certificate: Material,
    /// The key: PKCS #8, PKCS #1 or SEC 1.
    pub key: Material,
}

/// One profile. The default trusts the platform's roots, shows no certificate and speaks TLS 1.2 and 1.3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsProfile {
    /// Who is trusted.
    pub trust: Trust,
    /// The client's own certificate.
    pub identity: Option<ClientIdentity>,
    /// The oldest version spoken.
    pub minimum_version: TlsVersion,
}

impl TlsProfile {
    /// Everything the profile reads, with the name of its part.
    pub fn materials(&self) -> impl Iterator<Item = (&'static str, &Material)> {
        let ca = match &self.trust {
            Trust::Platform => None,
            Trust::Private(ca) | Trust::PlatformAnd(ca) => Some(("ca", ca)),
        };
        let identity = self.identity.iter();
        ca.into_iter()
            .chain(identity.flat_map(|own| [("client_certificate", &own.certificate), ("client_key", &own.key)]))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of TLS settings")]
struct Written {
    ca: Option<Material>,
    platform_roots: Option<bool>,
    client_certificate: Option<Material>,
    client_key: Option<Material>,
    #[serde(default)]
    minimum_version: TlsVersion,
}

impl TryFrom<Written> for TlsProfile {
    type Error = TlsRefusal;

    fn try_from(written: Written) -> Result<Self, TlsRefusal> {
        let trust = match (written.ca, written.platform_roots) {
            (Some(ca), None | Some(false)) => Trust::Private(ca),
            (Some(ca), Some(true)) => Trust::PlatformAnd(ca),
            (None, None | Some(true)) => Trust::Platform,
            (None, Some(false)) => return Err(TlsRefusal::NoRoots),
        };
        let identity = match (written.client_certificate, written.client_key) {
            (Some(certificate), Some(key)) => Some(ClientIdentity { certificate, key }),
            (None, None) => None,
            _ => return Err(TlsRefusal::HalfIdentity),
        };
        Ok(Self { trust, identity, minimum_version: written.minimum_version })
    }
}

impl<'de> Deserialize<'de> for TlsProfile {
    /// Members: `ca`, `platform_roots` (false with a `ca`, else true), `client_certificate`, `client_key`, `minimum_version`
    /// (`"1.2"`, the default, or `"1.3"`). Others are refused.
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Self::try_from(Written::deserialize(input)?).map_err(D::Error::custom)
    }
}

/// The profiles of an installation, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsProfiles(BTreeMap<String, TlsProfile>);

impl TlsProfiles {
    /// The most profiles there can be.
    pub const MAX: usize = 64;

    /// None.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds a profile.
    pub fn insert(&mut self, name: &str, profile: TlsProfile) -> Result<(), TlsRefusal> {
        if !crate::proxy::profile_name(name) || self.0.contains_key(name) {
            return Err(TlsRefusal::Name);
        }
        if self.0.len() >= Self::MAX {
            return Err(TlsRefusal::TooMany { limit: Self::MAX });
        }
        self.0.insert(name.to_owned(), profile);
        Ok(())
    }

    /// With one more profile.
    pub fn with(mut self, name: &str, profile: TlsProfile) -> Result<Self, TlsRefusal> {
        self.insert(name, profile)?;
        Ok(self)
    }

    /// The profile of a name; an unknown name is refused, never replaced by a default.
    pub fn select(&self, name: &str) -> Result<&TlsProfile, TlsRefusal> {
        self.0.get(name).ok_or_else(|| TlsRefusal::Unknown { name: crate::proxy::shown(name) })
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TlsProfile)> {
        self.0.iter().map(|(name, profile)| (name.as_str(), profile))
    }
}

impl<'de> Deserialize<'de> for TlsProfiles {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let mut profiles = Self::new();
        for (name, profile) in BTreeMap::<String, TlsProfile>::deserialize(input)? {
            profiles.insert(&name, profile).map_err(D::Error::custom)?;
        }
        Ok(profiles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TlsProfiles, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R780.4, SDK-CONNECTOR-CONTROL-R017, SDK-CENTRALIZED-CAPABILITIES-R008
    #[test]
    fn a_profile_is_selected_by_name_and_an_unknown_name_is_refused() {
        let profiles = parse(
            r#"{"corp": {"ca": "/etc/corp.pem", "client_certificate": "/etc/me.pem", "client_key": "openbao://kv/me#key",
                "minimum_version": "1.3"}, "both": {"ca": "env://CA", "platform_roots": true}, "plain": {}}"#,
        )
        .unwrap();
        let corp = profiles.select("corp").unwrap();
        assert_eq!(corp.trust, Trust::Private(Material::File("/etc/corp.pem".into())));
        assert_eq!(corp.minimum_version, TlsVersion::V13);
        let parts: Vec<_> = corp.materials().map(|(part, _)| part).collect();
        assert_eq!(parts, ["ca", "client_certificate", "client_key"]);
        assert!(matches!(profiles.select("both").unwrap().trust, Trust::PlatformAnd(_)));
        assert_eq!(profiles.select("plain"), Ok(&TlsProfile::default()));
        assert_eq!(profiles.select("CORP"), Err(TlsRefusal::Unknown { name: "CORP".into() }));
        assert_eq!(profiles.select(""), Err(TlsRefusal::Unknown { name: String::new() }));
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R017, SDK-CENTRALIZED-CAPABILITIES-R008
    #[test]
    fn no_document_turns_verification_off() {
        for member in
            ["verify", "insecure", "skip_verify", "danger_accept_invalid_certs", "check_hostname", "trust_env"]
        {
            for value in ["false", "true", "\"no\""] {
                let refused = parse(&format!(r#"{{"corp": {{"{member}": {value}}}}}"#)).unwrap_err();
                assert!(refused.contains("unknown field"), "{refused}");
            }
        }
        for version in ["1.0", "1.1", "ssl3", ""] {
            assert!(parse(&format!(r#"{{"corp": {{"minimum_version": "{version}"}}}}"#)).is_err());
        }
        assert!(parse(r#"{"corp": {"platform_roots": false}}"#).unwrap_err().contains("trusts nobody"));
    }

    #[test]
    fn halves_bad_names_and_too_many_are_refused() {
        for half in [r#"{"client_key": "/k.pem"}"#, r#"{"client_certificate": "/c.pem"}"#] {
            assert!(parse(&format!(r#"{{"corp": {half}}}"#)).unwrap_err().contains("without a"));
        }
        for name in ["", "Corp", "a b", "-x", "../x", &"x".repeat(65)] {
            assert_eq!(TlsProfiles::new().with(name, TlsProfile::default()), Err(TlsRefusal::Name), "{name}");
        }
        let full =
            (0..64).fold(TlsProfiles::new(), |all, n| all.with(&format!("p{n}"), TlsProfile::default()).unwrap());
        assert_eq!(full.clone().with("p0", TlsProfile::default()), Err(TlsRefusal::Name));
        assert_eq!(full.with("p64", TlsProfile::default()), Err(TlsRefusal::TooMany { limit: 64 }));
    }

    #[test]
    fn material_in_the_wrong_place_is_not_repeated() {
        let refused =
            parse(r#"{"corp": {"client_key": "-----BEGIN PRIVATE KEY-----MC4CAQAw", "client_certificate": "/c"}}"#);
        assert!(!refused.unwrap_err().contains("MC4C"));
    }
}
