//! How a program reaches the outside, as its operator wrote it down: TLS and proxy profiles, the secret store, and the
//! directories that secrets are mounted in.

use serde::de::DeserializeOwned;

use crate::credential::StoreSettings;
use crate::json::{Json, to_compact};
use crate::proxy::ProxyProfiles;
use crate::refusals;
use crate::tls::TlsProfiles;

/// Names the file of [`OutboundSettings`].
pub const OUTBOUND_CONFIG: &str = "SCION_OUTBOUND_CONFIG";
/// Directories of mounted secrets that every connector may read, separated by colons.
pub const SECRET_DIRS: &str = "SCION_SECRET_DIRS";
/// Directories in which each connector may read below a directory of its own name, separated by colons.
pub const CONNECTOR_SECRET_DIRS: &str = "SCION_CONNECTOR_SECRET_DIRS";

/// The most directories of one variable.
const MAX_DIRS: usize = 16;

refusals! {
    /// Why a program has no way out as it is configured. No value is repeated.
    pub enum OutboundSettingRefusal {
        /// The file cannot be read, or is not one document of settings; `what` names the place and is free of values.
        File { what: String } => "outbound_file", CallerMistake, Never,
            "SCION_OUTBOUND_CONFIG is not usable: {what}", "fix the file at this place, or unset the variable";
        /// A part of the settings is not what it should be.
        Setting { member: String, what: String } => "outbound_setting", CallerMistake, Never,
            "{member} of SCION_OUTBOUND_CONFIG: {what}", "write it as the page on private hosts, CAs and proxies shows";
        /// Two secret stores.
        TwoStores => "outbound_two_stores", CallerMistake, Never,
            "OPENBAO_TOKEN_REF and secret_store of SCION_OUTBOUND_CONFIG both name a secret store", "keep one of the two";
        /// The secret store cannot be used as it is configured.
        Store { what: String } => "outbound_store", CallerMistake, Never,
            "the secret store is not usable: {what}", "correct OPENBAO_ADDR, OPENBAO_TOKEN_REF and OPENBAO_NAMESPACE, or secret_store";
        /// A list of directories with something else in it.
        Directories { setting: &'static str } => "outbound_directories", CallerMistake, Never,
            "{setting} is not a list of at most 16 absolute directories", "separate absolute paths by colons";
    }
}

/// What `SCION_OUTBOUND_CONFIG` holds: an object with `tls`, `proxies` and `secret_store`, each optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboundSettings {
    /// TLS profiles by name.
    pub tls: TlsProfiles,
    /// Proxy profiles by name.
    pub proxies: ProxyProfiles,
    /// The secret store, instead of the variables `OPENBAO_ADDR`, `OPENBAO_TOKEN_REF` and `OPENBAO_NAMESPACE`.
    pub secret_store: Option<StoreSettings>,
}

impl OutboundSettings {
    /// Reads the document. Unknown members are refused.
    pub fn from_json(document: &Json) -> Result<Self, OutboundSettingRefusal> {
        let mut settings = Self::default();
        let members = match document {
            Json::Null => return Ok(settings),
            document => document.as_object().ok_or_else(|| wrong("the document", "is not an object"))?,
        };
        for (member, value) in members {
            match member.as_str() {
                "tls" => settings.tls = read(member, value)?,
                "proxies" => settings.proxies = read(member, value)?,
                "secret_store" => {
                    let store: StoreSettings = read(member, value)?;
                    store.check().map_err(|refusal| OutboundSettingRefusal::Store { what: refusal.to_string() })?;
                    settings.secret_store = Some(store);
                }
                _ => return Err(wrong("the document", "has a member beside tls, proxies and secret_store")),
            }
        }
        Ok(settings)
    }
}

/// The directories of a variable; blank means none.
pub fn secret_dirs(setting: &'static str, text: &str) -> Result<Vec<String>, OutboundSettingRefusal> {
    let dirs: Vec<String> = text.split(':').map(str::trim).filter(|dir| !dir.is_empty()).map(str::to_owned).collect();
    let plain = |dir: &String| dir.starts_with('/') && dir.split('/').all(|part| !matches!(part, "." | ".."));
    if dirs.len() > MAX_DIRS || !dirs.iter().all(plain) {
        return Err(OutboundSettingRefusal::Directories { setting });
    }
    Ok(dirs)
}

fn wrong(member: &str, what: &str) -> OutboundSettingRefusal {
    OutboundSettingRefusal::Setting { member: member.to_owned(), what: what.to_owned() }
}

fn read<T: DeserializeOwned>(member: &str, value: &Json) -> Result<T, OutboundSettingRefusal> {
    serde_json::from_str(&to_compact(value)).map_err(|error| wrong(member, &without_values(&error.to_string())))
}

/// What the reader said, unless it would repeat a value. The position is that of our own rendering and means nothing.
fn without_values(text: &str) -> String {
    let repeats = ["invalid type", "invalid value", "invalid length", "unknown variant"];
    if repeats.iter().any(|start| text.starts_with(start)) {
        return "a value is not of the kind that belongs there".to_owned();
    }
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn settings(text: &str) -> Result<OutboundSettings, OutboundSettingRefusal> {
        OutboundSettings::from_json(&parse(text).unwrap())
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R017, SDK-CENTRALIZED-CAPABILITIES-R008
    #[test]
    fn profiles_and_a_store_are_read_from_one_document() {
        assert_eq!(settings("null"), Ok(OutboundSettings::default()));
        let read = settings(
            r#"{"tls": {"corp": {"ca": "/etc/corp.pem"}}, "proxies": {"edge": {"address": "http://proxy.corp:3128"}},
                "secret_store": {"address": "https://bao.corp", "tls": "corp", "login": {"method": "app_role",
                    "role_id_ref": "env://ROLE", "secret_id_ref": "file:///run/secrets/id"}}}"#,
        )
        .unwrap();
        assert!(read.tls.select("corp").is_ok() && read.proxies.select("edge").is_ok());
        assert_eq!(read.secret_store.unwrap().tls.as_deref(), Some("corp"));
    }

    #[test]
    fn what_is_wrong_is_named_and_no_value_is_repeated() {
        for (text, told) in [
            ("[]", "is not an object"),
            (r#"{"hunter2": 1}"#, "beside tls"),
            (r#"{"tls": {"corp": {"verify": false}}}"#, "unknown field `verify`"),
            (r#"{"tls": {"corp": {"ca": 12345678}}}"#, "a value is not"),
            (r#"{"tls": {"corp": {"minimum_version": "hunter2"}}}"#, "a value is not"),
            (r#"{"tls": "hunter2"}"#, "a value is not"),
            (r#"{"proxies": {"edge": {"address": "http://u:hunter2@p:1"}}}"#, "not http://host:port"),
            (
                r#"{"proxies": {"edge": {"address": "http://p:1", "username": "hunter2", "password": "hunter2"}}}"#,
                "references",
            ),
            (
                r#"{"secret_store": {"address": "https://bao", "login": {"method": "token", "token_ref": "hunter2"}}}"#,
                "",
            ),
            (
                r#"{"secret_store": {"address": "https://bao", "login": {"method": "token", "token_ref": 12345678}}}"#,
                "",
            ),
        ] {
            let refusal = settings(text).unwrap_err();
            let shown = format!("{refusal} {refusal:?}");
            assert!(shown.contains(told), "{text}: {shown}");
            assert!(!shown.contains("hunter2") && !shown.contains("12345678"), "{text}: {shown}");
        }
    }

    #[test]
    fn directories_are_absolute() {
        assert_eq!(secret_dirs(SECRET_DIRS, " "), Ok(Vec::new()));
        assert_eq!(
            secret_dirs(SECRET_DIRS, "/run/secrets: /etc/keys"),
            Ok(vec!["/run/secrets".into(), "/etc/keys".into()])
        );
        for bad in ["run", "/run/../etc", &"/a:".repeat(17)] {
            assert!(secret_dirs(SECRET_DIRS, bad).is_err(), "{bad}");
        }
    }
}
