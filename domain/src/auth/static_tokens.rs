//! The document of static tokens (`wire/mcp-surface.md` 0.4).

use std::fmt;

use subtle::ConstantTimeEq as _;

use super::AuthRefusal;
use crate::json::{Json, JsonLimits, JsonNumber, parse_with};
use crate::secret::Secret;
use crate::served_security::is_bearer_text;

/// One accepted token and who presents it.
#[derive(Clone)]
pub struct StaticToken {
    token: Secret<String>,
    /// Its client.
    pub client_id: String,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// Its tenant.
    pub tenant_id: Option<String>,
    /// Seconds since the Unix epoch after which it is not accepted.
    pub expires_at: Option<JsonNumber>,
}

impl fmt::Debug for StaticToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticToken").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// The tokens of a document.
#[derive(Clone, Debug)]
pub struct StaticTokens(Vec<StaticToken>);

const fn refused(what: &'static str) -> AuthRefusal {
    AuthRefusal::Configuration { field: "static_tokens", what }
}

impl StaticTokens {
    /// Reads a document: an object of 1 to 1,000 tokens of 32 to 4,096 characters. Unknown members of an entry are ignored.
    pub fn read(text: &str) -> Result<Self, AuthRefusal> {
        let limits = JsonLimits { max_bytes: 8 << 20, max_depth: 8, max_number_chars: 64 };
        let Ok(Json::Object(members)) = parse_with(text.as_bytes(), limits) else {
            return Err(refused("is not a JSON object"));
        };
        if !(1..=1000).contains(&members.len()) {
            return Err(refused("has not between 1 and 1000 tokens"));
        }
        members.into_iter().map(|(token, entry)| read_entry(token, &entry)).collect::<Result<_, _>>().map(Self)
    }

    /// The entries.
    pub fn entries(&self) -> &[StaticToken] {
        &self.0
    }

    /// Who presents a token at a time in seconds. Every entry is compared in full, so that the time taken does not tell how much of
    /// a guess is right.
    pub fn find(&self, presented: &str, now: f64) -> Option<&StaticToken> {
        let mut found = None;
        for entry in &self.0 {
            if bool::from(entry.token.expose().as_bytes().ct_eq(presented.as_bytes())) {
                found = Some(entry);
            }
        }
        found.filter(|entry| entry.expires_at.as_ref().is_none_or(|at| at.as_f64() >= now))
    }
}

fn read_entry(token: String, entry: &Json) -> Result<StaticToken, AuthRefusal> {
    let token = Secret::new(token);
    if !(32..=4096).contains(&token.expose().chars().count()) {
        return Err(refused("has a token that is not 32 to 4096 characters long"));
    }
    if !is_bearer_text(token.expose()) {
        return Err(refused("has a token with characters that no client can send"));
    }
    if entry.as_object().is_none() {
        return Err(refused("has an entry that is not an object"));
    }
    let client_id = match entry.get("client_id") {
        Some(Json::String(id)) if (1..=256).contains(&id.chars().count()) => id.clone(),
        _ => return Err(refused("has an entry without a client_id of 1 to 256 characters")),
    };
    let scopes = match entry.get("scopes") {
        None => Vec::new(),
        Some(Json::Array(scopes)) => scopes
            .iter()
            .map(|scope| scope.as_str().filter(|text| !text.is_empty()).map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or(refused("has scopes that are not texts"))?,
        Some(_) => return Err(refused("has scopes that are not a list")),
    };
    let tenant_id = match entry.get("tenant_id") {
        None | Some(Json::Null) => None,
        Some(Json::String(tenant)) if !tenant.is_empty() => Some(tenant.clone()),
        Some(_) => return Err(refused("has a tenant_id that is not a text")),
    };
    let expires_at = match entry.get("expires_at") {
        None | Some(Json::Null) => None,
        Some(Json::Number(at)) => Some(at.clone()),
        Some(_) => return Err(refused("has an expires_at that is not a number")),
    };
    Ok(StaticToken { token, client_id, scopes, tenant_id, expires_at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_vectors::{load, section, text};

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
    #[test]
    fn every_static_token_document_of_the_vectors() {
        for case in section(&load("references.json"), "static_tokens") {
            let read = StaticTokens::read(text(case, "input"));
            let Some(ok) = case.get("ok") else {
                assert!(matches!(read, Err(AuthRefusal::Configuration { .. })), "{case:?}");
                continue;
            };
            let read = read.unwrap();
            let expected = ok.as_array().unwrap();
            assert_eq!(read.entries().len(), expected.len());
            for (entry, expected) in read.entries().iter().zip(expected) {
                assert_eq!(entry.client_id, text(expected, "client_id"));
                let scopes: Vec<Json> = entry.scopes.iter().map(|scope| Json::from(scope.as_str())).collect();
                assert_eq!(Some(&Json::from(scopes)), expected.get("scopes"));
                assert_eq!(entry.tenant_id.as_deref(), expected.get("tenant_id").and_then(Json::as_str));
                assert_eq!(entry.expires_at.as_ref(), expected.get("expires_at").and_then(Json::as_number));
            }
            assert!(!format!("{read:?}").contains("0123456789abcdef"));
        }
    }

    #[test]
    fn a_token_is_found_until_it_expires() {
        let key = "0123456789abcdef0123456789abcdef";
        let text = format!(r#"{{"{key}":{{"client_id":"c","expires_at":5}}}}"#);
        let tokens = StaticTokens::read(&text).unwrap();
        assert_eq!(tokens.find(key, 5.0).unwrap().client_id, "c");
        let blank = text.replace("0123", "01 3");
        assert!(StaticTokens::read(&blank).is_err(), "no client could present it");
        assert!(tokens.find(key, 5.1).is_none() && tokens.find(&key[1..], 1.0).is_none());
    }
}
