//! The way out of a client from configuration keys.

use super::{CallRefusal, HttpProfile};
use crate::egress::EgressPolicy;
use crate::json::Json;
use crate::values::{to_boolean, to_csv};

/// Keys that other programs switch verification off with. Here they may only say that it is on.
const VERIFY: [&str; 4] = ["TLS_VERIFY", "SSL_VERIFY", "VERIFY_SSL", "VERIFY"];

impl HttpProfile {
    /// Reads `<PREFIX>_TLS_PROFILE`, `<PREFIX>_PROXY_PROFILE`, `<PREFIX>_ALLOWED_PRIVATE_HOSTS` (a comma list) and
    /// `<PREFIX>_ALLOW_LOOPBACK`. A missing or blank key leaves the strict default. A key that would switch verification off
    /// (`<PREFIX>_SSL_VERIFY=false`, `<PREFIX>_TLS_INSECURE=true`) is refused: name a TLS profile with the right CA.
    pub fn from_settings(prefix: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, CallRefusal> {
        let text = |key: &str| {
            lookup(&format!("{prefix}_{key}")).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let flag = |key: &'static str| match text(key) {
            None => Ok(None),
            Some(value) => to_boolean(&Json::from(value))
                .map(Some)
                .map_err(|_| CallRefusal::Option { option: key, what: "is not a boolean" }),
        };
        for key in VERIFY {
            if flag(key)? == Some(false) {
                return Err(CallRefusal::Option { option: key, what: "cannot be switched off; name a TLS profile" });
            }
        }
        if flag("TLS_INSECURE")? == Some(true) {
            let what = "cannot be switched on; name a TLS profile";
            return Err(CallRefusal::Option { option: "TLS_INSECURE", what });
        }
        let hosts = text("ALLOWED_PRIVATE_HOSTS").map(|list| to_csv(&list)).unwrap_or_default();
        Ok(Self {
            egress: EgressPolicy {
                allowed_private_hosts: hosts,
                allow_loopback: flag("ALLOW_LOOPBACK")?.unwrap_or(false),
                ..EgressPolicy::default()
            },
            tls: text("TLS_PROFILE"),
            proxy: text("PROXY_PROFILE"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<HttpProfile, CallRefusal> {
        HttpProfile::from_settings("DESK", |name| {
            settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R780.6
    #[test]
    fn profiles_come_from_keys_and_verification_stays_on() {
        assert_eq!(read(&[]), Ok(HttpProfile::default()));
        let profile = read(&[
            ("DESK_TLS_PROFILE", " corporate "),
            ("DESK_PROXY_PROFILE", "edge"),
            ("DESK_ALLOWED_PRIVATE_HOSTS", "desk.internal, 10.0.0.7"),
            ("DESK_ALLOW_LOOPBACK", "yes"),
            ("DESK_SSL_VERIFY", "true"),
        ])
        .unwrap();
        assert_eq!((profile.tls.as_deref(), profile.proxy.as_deref()), (Some("corporate"), Some("edge")));
        assert_eq!(profile.egress.allowed_private_hosts, ["desk.internal", "10.0.0.7"]);
        assert!(profile.egress.allow_loopback && profile.egress.pin_egress);
        for (key, value) in [
            ("DESK_SSL_VERIFY", "false"),
            ("DESK_TLS_VERIFY", "0"),
            ("DESK_VERIFY", "no"),
            ("DESK_VERIFY_SSL", "maybe"),
            ("DESK_TLS_INSECURE", "1"),
            ("DESK_ALLOW_LOOPBACK", "perhaps"),
        ] {
            assert!(matches!(read(&[(key, value)]), Err(CallRefusal::Option { .. })), "{key}={value}");
        }
    }
}
