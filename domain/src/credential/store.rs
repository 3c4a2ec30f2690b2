//! How an OpenBao or Vault server is reached. Secrets of its own logins are references.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::SecretRef;
use super::provider::provider_endpoint;
use crate::http::Url;
use crate::refusals;

/// The address of the server.
pub const OPENBAO_ADDR: &str = "OPENBAO_ADDR";
/// The reference to its token.
pub const OPENBAO_TOKEN_REF: &str = "OPENBAO_TOKEN_REF";
/// The namespace.
pub const OPENBAO_NAMESPACE: &str = "OPENBAO_NAMESPACE";

refusals! {
    /// Why a secret store cannot be used as it is configured. The value that was given is not repeated.
    pub enum StoreSettingRefusal {
        /// A token that is no reference to an environment variable.
        TokenReference => "openbao_token_reference", CallerMistake, Never,
            "OPENBAO_TOKEN_REF is not an env:// reference", "put the token into a variable and name it: env://NAME";
        /// A token without a server.
        NoAddress => "openbao_no_address", CallerMistake, Never,
            "OPENBAO_TOKEN_REF is set and OPENBAO_ADDR is not", "set both, or none";
        /// Not an address.
        Address => "openbao_address", CallerMistake, Never,
            "the address of the secret store is not an https address (or http to this machine)", "correct it";
        /// Another setting.
        Setting { field: &'static str } => "openbao_setting", CallerMistake, Never,
            "the {field} of the secret store is not usable", "correct it";
    }
}

/// The version of a key-value engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KvVersion {
    /// Values without versions.
    #[serde(rename = "1")]
    V1,
    /// Values with versions.
    #[serde(rename = "2")]
    V2,
}

/// How a program logs in. `mount` is where the method is mounted below `auth/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "method", deny_unknown_fields)]
pub enum StoreLogin {
    /// With a token it was given. Read again whenever it is needed, so that a rotated token counts at once.
    Token {
        /// Where the token is.
        token_ref: SecretRef,
    },
    /// With a role and its secret.
    AppRole {
        /// The mount; `approle` when silent.
        #[serde(default = "approle")]
        mount: String,
        /// Where the role id is.
        role_id_ref: SecretRef,
        /// Where the secret id is.
        secret_id_ref: SecretRef,
    },
    /// With the token of a Kubernetes service account.
    Kubernetes {
        /// The mount; `kubernetes` when silent.
        #[serde(default = "kubernetes")]
        mount: String,
        /// The role.
        role: String,
        /// Where the token is mounted; Kubernetes replaces the file, so it is read again at each login.
        #[serde(default = "service_account")]
        token_ref: SecretRef,
    },
}

fn approle() -> String {
    "approle".to_owned()
}

fn kubernetes() -> String {
    "kubernetes".to_owned()
}

fn service_account() -> SecretRef {
    SecretRef::File { path: "/var/run/secrets/kubernetes.io/serviceaccount/token".to_owned() }
}

impl StoreLogin {
    /// As a role, its id and secret behind references.
    pub fn app_role(role_id_ref: SecretRef, secret_id_ref: SecretRef) -> Self {
        Self::AppRole { mount: approle(), role_id_ref, secret_id_ref }
    }

    /// As a Kubernetes service account, its token where Kubernetes mounts it.
    pub fn kubernetes(role: &str) -> Self {
        Self::Kubernetes { mount: kubernetes(), role: role.to_owned(), token_ref: service_account() }
    }
}

/// A secret store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// Its address: https, or http to this machine; a path is put before `/v1`.
    #[serde(serialize_with = "write_address", deserialize_with = "read_address")]
    pub address: Url,
    /// The namespace of every request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The login.
    pub login: StoreLogin,
    /// The versions of key-value mounts; the server is asked about any other mount, once.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kv: BTreeMap<String, KvVersion>,
    /// The TLS profile of its exchanges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
    /// For one resolution in milliseconds, login included: 100 to 60,000, 10,000 when silent.
    #[serde(default = "ten_seconds")]
    pub deadline_ms: u32,
}

fn write_address<S: Serializer>(address: &Url, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(address.as_str())
}

fn read_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    let text = String::deserialize(deserializer)?;
    provider_endpoint(&text).map_err(|_| de::Error::custom(StoreSettingRefusal::Address))
}

const fn ten_seconds() -> u32 {
    10_000
}

impl StoreSettings {
    /// A store with default settings.
    pub fn new(address: &str, login: StoreLogin) -> Result<Self, StoreSettingRefusal> {
        let address = provider_endpoint(address).map_err(|_| StoreSettingRefusal::Address)?;
        let kv = BTreeMap::new();
        let settings = Self { address, namespace: None, login, kv, tls: None, deadline_ms: ten_seconds() };
        settings.check()?;
        Ok(settings)
    }

    /// From `OPENBAO_ADDR`, `OPENBAO_TOKEN_REF` and `OPENBAO_NAMESPACE`. Without a token reference, or with a blank one, there
    /// is no store, whatever the address says (SDK-CONNECTOR-CONTROL-R035). The token itself is an `env://` reference: a store
    /// cannot hold the key to itself.
    pub fn from_environment(environment: &BTreeMap<String, String>) -> Result<Option<Self>, StoreSettingRefusal> {
        let setting = |name: &str| environment.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
        let Some(token) = setting(OPENBAO_TOKEN_REF) else { return Ok(None) };
        let Ok(token_ref @ SecretRef::Env { .. }) = SecretRef::parse(token) else {
            return Err(StoreSettingRefusal::TokenReference);
        };
        let address = setting(OPENBAO_ADDR).ok_or(StoreSettingRefusal::NoAddress)?;
        let mut settings = Self::new(address, StoreLogin::Token { token_ref })?;
        settings.namespace = setting(OPENBAO_NAMESPACE).map(str::to_owned);
        settings.check()?;
        Ok(Some(settings))
    }

    /// Checks settings that were read. An adapter does so before it uses them.
    pub fn check(&self) -> Result<(), StoreSettingRefusal> {
        provider_endpoint(self.address.as_str()).map_err(|_| StoreSettingRefusal::Address)?;
        if self.address.query().is_some() {
            return Err(StoreSettingRefusal::Address);
        }
        let place = |text: &str| {
            (1..=256).contains(&text.len())
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-/".contains(&b))
                && text.trim_matches('/').split('/').all(|segment| !matches!(segment, "" | "." | ".."))
        };
        let refused = |field| Err(StoreSettingRefusal::Setting { field });
        if self.namespace.as_deref().is_some_and(|namespace| !place(namespace)) {
            return refused("namespace");
        }
        match &self.login {
            StoreLogin::AppRole { mount, .. } | StoreLogin::Kubernetes { mount, .. } if !place(mount) => {
                return refused("mount of the login");
            }
            StoreLogin::Kubernetes { role, .. } if !place(role) => return refused("role"),
            StoreLogin::Token { token_ref: SecretRef::OpenBao { .. } }
            | StoreLogin::Kubernetes { token_ref: SecretRef::OpenBao { .. }, .. } => return refused("token reference"),
            StoreLogin::AppRole { role_id_ref: SecretRef::OpenBao { .. }, .. }
            | StoreLogin::AppRole { secret_id_ref: SecretRef::OpenBao { .. }, .. } => return refused("role reference"),
            _ => {}
        }
        if !(100..=60_000).contains(&self.deadline_ms) {
            return refused("deadline");
        }
        Ok(())
    }

    /// The time for one resolution.
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(u64::from(self.deadline_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Result<Option<StoreSettings>, StoreSettingRefusal> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        StoreSettings::from_environment(&pairs.collect())
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R035
    #[test]
    fn an_address_without_a_token_reference_is_no_store() {
        assert_eq!(environment(&[]), Ok(None));
        assert_eq!(environment(&[(OPENBAO_ADDR, "https://bao.example")]), Ok(None));
        assert_eq!(environment(&[(OPENBAO_ADDR, "https://bao.example"), (OPENBAO_TOKEN_REF, "  ")]), Ok(None));
        for bad in ["hunter2", "openbao://a/b#c", "file:///run/token", "vault://a"] {
            let refused = environment(&[(OPENBAO_ADDR, "https://bao.example"), (OPENBAO_TOKEN_REF, bad)]);
            assert_eq!(refused, Err(StoreSettingRefusal::TokenReference), "{bad}");
        }
        assert_eq!(environment(&[(OPENBAO_TOKEN_REF, "env://T")]), Err(StoreSettingRefusal::NoAddress));
        let found =
            [(OPENBAO_ADDR, "https://bao.example"), (OPENBAO_TOKEN_REF, "env://T"), (OPENBAO_NAMESPACE, "team/a")];
        let settings = environment(&found).unwrap().unwrap();
        assert_eq!(settings.namespace.as_deref(), Some("team/a"));
        assert_eq!(settings.login, StoreLogin::Token { token_ref: SecretRef::Env { name: "T".into() } });
        for (name, bad) in
            [(OPENBAO_ADDR, "http://bao.example"), (OPENBAO_NAMESPACE, "a/../b"), (OPENBAO_NAMESPACE, "a\r\nb")]
        {
            let mut pairs = found.to_vec();
            pairs.push((name, bad));
            assert!(environment(&pairs).is_err(), "{bad}");
        }
    }

    #[test]
    fn settings_are_read_and_checked() {
        let text = r#"{"address": "https://bao.example/prefix", "login": {"method": "kubernetes", "role": "desk"},
            "kv": {"apps": "1"}}"#;
        let settings: StoreSettings = serde_json::from_str(text).unwrap();
        assert_eq!(settings.check(), Ok(()));
        assert_eq!(settings.login, StoreLogin::kubernetes("desk"));
        assert_eq!(settings.kv["apps"], KvVersion::V1);
        assert_eq!(settings.deadline(), Duration::from_secs(10));
        let back: StoreSettings = serde_json::from_str(&serde_json::to_string(&settings).unwrap()).unwrap();
        assert_eq!(back, settings);
        let literal = text.replace("kubernetes", "token").replace("\"role\": \"desk\"", "\"token_ref\": \"hunter2\"");
        let error = serde_json::from_str::<StoreSettings>(&literal).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        let circular = StoreLogin::Token { token_ref: SecretRef::parse("openbao://a/b#c").unwrap() };
        assert!(StoreSettings::new("https://bao.example", circular).is_err());
        let slow = StoreSettings { deadline_ms: 60_001, ..settings };
        assert_eq!(slow.check(), Err(StoreSettingRefusal::Setting { field: "deadline" }));
    }
}
