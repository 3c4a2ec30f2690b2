//! Server addresses with variables.

use std::collections::BTreeMap;

use scion_domain::json::{Json, JsonObject};
use scion_domain::openapi::SetupRefusal;

/// One server of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTemplate {
    /// The address, with variables in braces. It may be relative: then the caller has to know the host.
    pub url: String,
    /// The variables.
    pub variables: BTreeMap<String, ServerVariable>,
}

/// One variable of a server address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerVariable {
    /// Its value when nothing else is said.
    pub default: Option<String>,
    /// The values it may have; empty for any.
    pub choices: Vec<String>,
}

impl ServerTemplate {
    /// The address with its variables filled in. [`SetupRefusal::Variable`] for one without a value, for a value that is not
    /// one of its choices, and for characters that would lead to another host.
    pub fn fill(&self, values: &BTreeMap<String, String>) -> Result<String, SetupRefusal> {
        let mut out = String::new();
        let mut rest = self.url.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, tail) = after.split_once('}').unwrap_or((after, ""));
            let refuse = || SetupRefusal::Variable { name: crate::text::shortened(name, 64) };
            let variable = self.variables.get(name);
            let default = variable.and_then(|variable| variable.default.as_ref());
            let value = values.get(name).or(default).ok_or_else(refuse)?;
            let listed = variable.is_none_or(|known| known.choices.is_empty() || known.choices.contains(value));
            let plain =
                value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~' | ':' | '/'));
            let whole_address = before.is_empty() && out.is_empty();
            // In the middle of a host, a slash or a port would make another host of what the document says.
            let authority = |text: &str| text.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
            let in_host = authority(&format!("{out}{before}")) && !tail.is_empty() && !tail.starts_with(['/', ':']);
            let bends = in_host && (value.is_empty() || value.contains([':', '/']));
            let port = tail.starts_with(':') && authority(&format!("{out}{before}")) && value.contains([':', '/']);
            if !listed || !plain || bends || port || (value.contains("//") && !whole_address) {
                return Err(refuse());
            }
            out.push_str(before);
            out.push_str(value);
            rest = tail;
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// The address of an API: the first server of its document, with its variables filled in. [`SetupRefusal::NoServer`] and
/// [`SetupRefusal::RelativeServer`] when the document alone does not say it.
pub fn base_url(servers: &[ServerTemplate], values: &BTreeMap<String, String>) -> Result<String, SetupRefusal> {
    let first = servers.first().ok_or(SetupRefusal::NoServer)?;
    if let Some(name) = values.keys().find(|name| !first.variables.contains_key(*name)) {
        return Err(SetupRefusal::Variable { name: crate::text::shortened(name, 64) });
    }
    let url = first.fill(values)?;
    let whole = url.split_once("://").is_some_and(|(scheme, rest)| {
        ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) && !rest.is_empty()
    });
    if whole { Ok(url) } else { Err(SetupRefusal::RelativeServer { url: crate::text::shortened(&url, 200) }) }
}

pub(crate) fn read(list: Option<&Json>) -> Vec<ServerTemplate> {
    list.and_then(Json::as_array).unwrap_or_default().iter().take(64).filter_map(one).collect()
}

fn one(server: &Json) -> Option<ServerTemplate> {
    let url = server.get("url").and_then(Json::as_str).filter(|url| url.len() <= 2048)?;
    let variables = server.get("variables").and_then(Json::as_object).into_iter().flatten().take(32);
    let variables = variables.map(|(name, variable)| {
        let text = |value: &Json| match value {
            Json::String(text) => Some(text.chars().take(256).collect::<String>()),
            Json::Number(number) => Some(number.as_text().to_owned()),
            _ => None,
        };
        let choices = variable.get("enum").and_then(Json::as_array).unwrap_or_default();
        let choices = choices.iter().take(256).filter_map(text).collect();
        (name.clone(), ServerVariable { default: variable.get("default").and_then(text), choices })
    });
    Some(ServerTemplate { url: url.to_owned(), variables: variables.collect() })
}

/// The servers of a Swagger 2 document: its schemes on its host, https first.
pub(crate) fn swagger(document: &Json) -> Vec<ServerTemplate> {
    let text = |name: &str| document.get(name).and_then(Json::as_str).unwrap_or_default();
    let (host, base) = (text("host"), text("basePath"));
    if host.len() + base.len() > 2048 {
        return Vec::new();
    }
    let plain = |url: String| ServerTemplate { url, variables: BTreeMap::new() };
    if host.is_empty() {
        return if base.is_empty() { Vec::new() } else { vec![plain(base.to_owned())] };
    }
    let stated = document.get("schemes").and_then(Json::as_array).unwrap_or_default();
    let mut schemes: Vec<&str> =
        stated.iter().filter_map(Json::as_str).filter(|s| matches!(*s, "https" | "http")).collect();
    schemes.sort_unstable_by(|a, b| b.cmp(a));
    schemes.dedup();
    if schemes.is_empty() {
        schemes.push("https");
    }
    let slash = if base.is_empty() || base.starts_with('/') { "" } else { "/" };
    schemes.into_iter().map(|scheme| plain(format!("{scheme}://{host}{slash}{base}"))).collect()
}

/// Whether an object is worth a look for its servers.
pub(crate) fn of(members: &JsonObject) -> Vec<ServerTemplate> {
    read(members.get("servers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_the_middle_of_a_host_makes_no_other_host() {
        let fill = |url: &str, value: &str| {
            let variables = BTreeMap::from([("v".to_owned(), ServerVariable::default())]);
            ServerTemplate { url: url.to_owned(), variables }
                .fill(&BTreeMap::from([("v".to_owned(), value.to_owned())]))
        };
        for (url, value) in [
            ("https://{v}.desk.example/api", "evil.example/"),
            ("https://{v}.desk.example/api", "evil.example:443"),
            ("https://{v}.desk.example", "evil.example/x"),
            ("https://api.{v}.example/", "a/b"),
            ("https://{v}.desk.example/", ""),
            ("https://{v}:8443/", "evil.example/a"),
            ("https://{v}:8443/", "user:secret"),
            ("https://{v}.desk.example/", "a@evil"),
            ("https://desk.example/{v}", "a//b"),
        ] {
            assert!(fill(url, value).is_err(), "{url} {value}");
        }
        for (url, value, filled) in [
            ("https://{v}.desk.example/api", "eu", "https://eu.desk.example/api"),
            ("https://{v}/api", "desk.example:8443", "https://desk.example:8443/api"),
            ("https://{v}/api", "desk.example/base", "https://desk.example/base/api"),
            ("{v}/api", "http://desk.example", "http://desk.example/api"),
            ("https://desk.example/{v}/x", "a/b", "https://desk.example/a/b/x"),
            ("https://desk.example:{v}/x", "8443", "https://desk.example:8443/x"),
            ("https://{v}:8443/", "desk.example", "https://desk.example:8443/"),
            ("{v}://desk.example/", "https", "https://desk.example/"),
        ] {
            assert_eq!(fill(url, value).as_deref(), Ok(filled), "{url} {value}");
        }
    }
}
