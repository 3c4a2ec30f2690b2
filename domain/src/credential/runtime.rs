//! References as commands and connector settings take them: `env://NAME`, `vault://TARGET`, `secret://TARGET`, and in settings
//! `${NAME}` (SDK-CONNECTOR-CONTROL-R014.4, `wire/mcp-surface.md` 6.5).

use std::convert::Infallible;
use std::str::FromStr;

use super::SecretRef;
use super::reference::env_name;
use crate::json::Json;
use crate::refusals;

/// The longest target, in bytes.
const TARGET_BYTES: usize = 512;

/// A reference of a command or a setting. It names a secret and is not one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeRef {
    /// `env://NAME`: a setting of this program.
    Env(String),
    /// `vault://TARGET`: the secret store.
    Vault(String),
    /// `secret://TARGET`: the same.
    Secret(String),
    /// `${NAME}`: as `env://NAME`; in settings only.
    Variable(String),
}

refusals! {
    /// Why a runtime reference gives no secret. None of them carries the reference or the value: on a command line the one is
    /// often given for the other.
    pub enum RuntimeSecretRefusal {
        /// Not one of the forms.
        NotAReference => "runtime_reference_invalid", CallerMistake, Never,
            "the argument is not a secret reference", "write env://NAME or vault://MOUNT/PATH#FIELD; never the secret itself";
        /// A target without a field.
        Incomplete => "runtime_reference_incomplete", CallerMistake, Never,
            "the reference does not name a field of a secret", "write vault://MOUNT/PATH#FIELD";
        /// Nothing is there, or nothing usable.
        Missing => "runtime_secret_missing", CallerMistake, Never,
            "the reference leads to no usable secret", "set the variable, or store the secret";
        /// Policy or the store says no.
        Denied => "runtime_secret_denied", Denied, Never,
            "the secret may not be read by this program", "check its scope and the policy of the store";
        /// There is no store.
        NoStore => "runtime_secret_no_store", CallerMistake, Never,
            "no secret store is configured", "set OPENBAO_ADDR and OPENBAO_TOKEN_REF, or use env://NAME";
        /// The store does not answer.
        Unavailable => "runtime_secret_unavailable", Unavailable, Later,
            "the secret store does not answer", "check the secret store";
    }
}

impl RuntimeRef {
    /// Parses an argument: `env://`, `vault://` or `secret://`; outer blanks are trimmed.
    pub fn parse(text: &str) -> Result<Self, RuntimeSecretRefusal> {
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
        Self::scheme_form(text).ok_or(RuntimeSecretRefusal::NotAReference)
    }

    /// Parses the value of a setting: the forms of [`parse`](Self::parse) and `${NAME}`, exactly, without blanks around.
    pub fn parse_setting(text: &str) -> Result<Self, RuntimeSecretRefusal> {
        let variable = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).filter(|name| env_name(name));
        variable
            .map(|name| Self::Variable(name.to_owned()))
            .or_else(|| Self::scheme_form(text))
            .ok_or(RuntimeSecretRefusal::NotAReference)
    }

    fn scheme_form(text: &str) -> Option<Self> {
        if let Some(name) = text.strip_prefix("env://") {
            return env_name(name).then(|| Self::Env(name.to_owned()));
        }
        if let Some(target) = text.strip_prefix("vault://") {
            return is_target(target).then(|| Self::Vault(target.to_owned()));
        }
        let target = text.strip_prefix("secret://")?;
        is_target(target).then(|| Self::Secret(target.to_owned()))
    }

    /// What the resolver is asked for: a variable, or the same target as an `openbao://` reference.
    pub fn to_secret_ref(&self) -> Result<SecretRef, RuntimeSecretRefusal> {
        match self {
            Self::Env(name) | Self::Variable(name) => Ok(SecretRef::Env { name: name.clone() }),
            Self::Vault(target) | Self::Secret(target) => {
                SecretRef::parse(&format!("openbao://{target}")).map_err(|_| RuntimeSecretRefusal::Incomplete)
            }
        }
    }
}

impl std::fmt::Display for RuntimeRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env://{name}"),
            Self::Vault(target) => write!(f, "vault://{target}"),
            Self::Secret(target) => write!(f, "secret://{target}"),
            Self::Variable(name) => write!(f, "${{{name}}}"),
        }
    }
}

fn is_target(target: &str) -> bool {
    (1..=TARGET_BYTES).contains(&target.len()) && target.bytes().all(|b| b.is_ascii_graphic()) && !target.contains("..")
}

/// Whether the value of a setting is a runtime reference.
pub fn is_runtime_reference(value: &Json) -> bool {
    value.as_str().is_some_and(|text| RuntimeRef::parse_setting(text).is_ok())
}

/// An argument that must be a reference. Reading it never fails, so that no argument parser can print what was given: it is
/// refused when the reference is taken, without its text.
#[derive(Clone, Debug)]
pub struct RuntimeArgument(Result<RuntimeRef, RuntimeSecretRefusal>);

impl RuntimeArgument {
    /// The reference.
    pub fn reference(&self) -> Result<&RuntimeRef, RuntimeSecretRefusal> {
        self.0.as_ref().map_err(Clone::clone)
    }
}

impl FromStr for RuntimeArgument {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(RuntimeRef::parse(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_vectors::{load, section};

    /// The vectors give long texts by their length: 9 of `secret://`, the rest target.
    fn expanded(text: &str) -> String {
        let length = text.strip_prefix('<').and_then(|rest| rest.strip_suffix(" characters>"));
        match length {
            Some(length) => format!("secret://{}", "a".repeat(length.parse::<usize>().unwrap() - 9)),
            None => text.to_owned(),
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.4
    #[test]
    fn every_runtime_reference_of_the_vectors() {
        let file = load("references.json");
        for case in section(&file, "runtime_references") {
            let Some(given) = case.get("reference").and_then(Json::as_str).map(expanded) else {
                assert!(case.get("error").is_some(), "null is no argument");
                continue;
            };
            let read = RuntimeRef::parse(&given);
            assert_eq!(read.is_ok(), case.get("error").is_none(), "{given}");
            if let (Ok(read), Some(Json::String(rendered))) = (read, case.get("ok")) {
                assert_eq!(&read.to_string(), rendered);
            }
        }
    }

    #[test]
    fn every_reference_of_a_setting_of_the_vectors() {
        let file = load("redaction.json");
        for case in section(&file, "runtime_references") {
            let value = case.get("value").unwrap();
            assert_eq!(Some(is_runtime_reference(value)), case.get("reference").unwrap().as_bool(), "{value:?}");
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.4
    #[test]
    fn a_bad_argument_is_refused_without_its_text() {
        for bad in ["hunter2", "--hunter2", "env://hunter2!", "vault://hunter2 x", "secret://..hunter2", "${hunter2}"] {
            let argument: RuntimeArgument = bad.parse().unwrap();
            let refusal = argument.reference().unwrap_err();
            assert!(!format!("{refusal} {argument:?}").contains("hunter2"), "{bad}");
        }
        let argument: RuntimeArgument = " vault://apps/desk#T@2 ".parse().unwrap();
        let reference = argument.reference().unwrap().to_secret_ref().unwrap();
        assert_eq!(reference.to_string(), "openbao://apps/desk#T@2");
        let whole = RuntimeRef::parse("secret://apps/desk").unwrap();
        assert_eq!(whole.to_secret_ref(), Err(RuntimeSecretRefusal::Incomplete));
        let variable = RuntimeRef::parse_setting("${DESK_TOKEN}").unwrap();
        assert_eq!(variable.to_secret_ref(), Ok(SecretRef::Env { name: "DESK_TOKEN".into() }));
        assert_eq!(variable.to_string(), "${DESK_TOKEN}");
    }
}
