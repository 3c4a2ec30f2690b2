//! Proxy profiles: the HTTP proxies that clients may opt into by name. No environment variable names one.
//!
//! A proxy is only ever asked to CONNECT (RFC 9110, 9.3.6); what it connects to is resolved and checked here first.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::credential::SecretRef;
use crate::egress::parse_url;
use crate::refusals;

refusals! {
    /// Why proxy profiles are not usable as they are written.
    pub enum ProxyRefusal {
        /// A name outside `[a-z0-9][a-z0-9_.-]{0,63}`, or one that is taken.
        Name => "proxy_profile_name", CallerMistake, Never,
            "a proxy profile has a bad or repeated name", "use 1 to 64 of a-z, 0-9, '.', '_' and '-', each name once";
        /// More than 64 profiles.
        TooMany { limit: usize } => "proxy_profile_count", CallerMistake, Never,
            "there are more than {limit} proxy profiles", "remove those that nobody selects";
        /// The address is not `http://host:port`. The text is not repeated: it may hold a password.
        Address => "proxy_profile_address", CallerMistake, Never,
            "the address of a proxy profile is not http://host:port",
            "write http://host:port alone, and give credentials as references";
        /// A user without a password or the other way round, or one that is not a reference.
        Credentials => "proxy_profile_credentials", CallerMistake, Never,
            "the credentials of a proxy profile are not two secret references",
            "give username and password, each as a reference such as env://NAME";
        /// Nobody configured a profile of this name.
        Unknown { name: String } => "proxy_profile_unknown", CallerMistake, Never,
            "there is no proxy profile named {name}", "configure the profile, or fix its name";
    }
}

/// The user and the password of a proxy, by reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyCredentials {
    /// The user name.
    pub username: SecretRef,
    /// The password.
    pub password: SecretRef,
}

/// One HTTP proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyProfile {
    host: String,
    port: u16,
    /// Basic credentials (RFC 7617).
    pub credentials: Option<ProxyCredentials>,
}

impl ProxyProfile {
    /// Parses `http://host:port`; the port is 80 when silent.
    pub fn parse(address: &str) -> Result<Self, ProxyRefusal> {
        let url = parse_url(address.trim()).map_err(|_| ProxyRefusal::Address)?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        match (url.scheme(), url.host_str(), url.port_or_known_default()) {
            ("http", Some(host), Some(port)) if bare => {
                let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                Ok(Self { host, port, credentials: None })
            }
            _ => Err(ProxyRefusal::Address),
        }
    }

    /// The host name or address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of proxy settings")]
struct Written {
    address: String,
    username: Option<String>,
    password: Option<String>,
}

impl<'de> Deserialize<'de> for ProxyProfile {
    /// Members: `address`, `username`, `password`; the last two are references. Others are refused.
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(input)?;
        let mut profile = Self::parse(&written.address).map_err(D::Error::custom)?;
        let reference = |text: &str| SecretRef::parse(text).map_err(|_| D::Error::custom(ProxyRefusal::Credentials));
        profile.credentials = match (written.username, written.password) {
            (Some(user), Some(password)) => {
                Some(ProxyCredentials { username: reference(&user)?, password: reference(&password)? })
            }
            (None, None) => None,
            _ => return Err(D::Error::custom(ProxyRefusal::Credentials)),
        };
        Ok(profile)
    }
}

/// The proxies of an installation, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyProfiles(BTreeMap<String, ProxyProfile>);

impl ProxyProfiles {
    /// The most profiles there can be.
    pub const MAX: usize = 64;

    /// None.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds a profile.
    pub fn insert(&mut self, name: &str, profile: ProxyProfile) -> Result<(), ProxyRefusal> {
        if !profile_name(name) || self.0.contains_key(name) {
            return Err(ProxyRefusal::Name);
        }
        if self.0.len() >= Self::MAX {
            return Err(ProxyRefusal::TooMany { limit: Self::MAX });
        }
        self.0.insert(name.to_owned(), profile);
        Ok(())
    }

    /// With one more profile.
    pub fn with(mut self, name: &str, profile: ProxyProfile) -> Result<Self, ProxyRefusal> {
        self.insert(name, profile)?;
        Ok(self)
    }

    /// The profile of a name; an unknown name is refused, never replaced by "no proxy".
    pub fn select(&self, name: &str) -> Result<&ProxyProfile, ProxyRefusal> {
        self.0.get(name).ok_or_else(|| ProxyRefusal::Unknown { name: shown(name) })
    }
}

impl<'de> Deserialize<'de> for ProxyProfiles {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let mut profiles = Self::new();
        for (name, profile) in BTreeMap::<String, ProxyProfile>::deserialize(input)? {
            profiles.insert(&name, profile).map_err(D::Error::custom)?;
        }
        Ok(profiles)
    }
}

pub(crate) fn profile_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.as_bytes()[0].is_ascii_alphanumeric()
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-'))
}

/// A selected name as it may be shown: short and printable.
pub(crate) fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port_and_nothing_more() {
        let proxy = ProxyProfile::parse("http://proxy.corp:3128").unwrap();
        assert_eq!((proxy.host(), proxy.port()), ("proxy.corp", 3128));
        assert_eq!(ProxyProfile::parse("http://[::1]:8080/").unwrap().host(), "::1");
        assert_eq!(ProxyProfile::parse("http://proxy.corp").unwrap().port(), 80);
        for bad in [
            "",
            "proxy.corp:3128",
            "https://proxy.corp",
            "socks5://p:1",
            "http://u:pw@p:1",
            "http://@p:1",
            "http://127.1:3128",
            "http://p:0",
            "http://p/x",
            "http://p?x",
            "http://p#x",
        ] {
            assert_eq!(ProxyProfile::parse(bad), Err(ProxyRefusal::Address), "{bad}");
        }
    }

    #[test]
    fn credentials_are_references_and_a_name_selects() {
        let read = |text: &str| serde_json::from_str::<ProxyProfiles>(text).map_err(|error| error.to_string());
        let profiles = read(
            r#"{"corp": {"address": "http://proxy.corp:3128", "username": "env://PROXY_USER", "password": "env://PROXY_PASSWORD"}}"#,
        )
        .unwrap();
        assert!(profiles.select("corp").unwrap().credentials.is_some());
        assert_eq!(profiles.select("other"), Err(ProxyRefusal::Unknown { name: "other".into() }));
        let literal =
            read(r#"{"corp": {"address": "http://p:1", "username": "env://U", "password": "hunter2"}}"#).unwrap_err();
        assert!(!literal.contains("hunter2"), "{literal}");
        for bad in [
            r#"{"corp": {"address": "http://p:1", "username": "env://U"}}"#,
            r#"{"corp": {"address": "http://p:1", "verify": false}}"#,
            r#"{"Corp": {"address": "http://p:1"}}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
