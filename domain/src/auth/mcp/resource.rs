//! The metadata of a protected resource (RFC 9728).

use std::collections::BTreeSet;

use crate::auth::{AuthUrl, MAX_DISCOVERY_BYTES};
use crate::http::Url;
use crate::json::{Json, JsonLimits, parse_with};

/// The most authorization servers that are looked at.
const MAX_SERVERS: usize = 16;

/// What a resource says about itself, as far as it is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceMetadata {
    /// The resource's identifier, as it was written.
    pub resource: String,
    /// Its authorization servers, those with a usable address.
    pub servers: Vec<AuthUrl>,
    /// The scopes it knows.
    pub scopes: Option<BTreeSet<String>>,
}

/// Where the metadata of a server is when its challenge does not say (section 3.1): below the well-known path with the server's own
/// path, then without it.
pub fn resource_metadata_urls(server: &Url) -> Vec<Url> {
    const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
    let path = server.path().trim_end_matches('/');
    let at = |path: &str| {
        let mut url = server.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(path);
        url
    };
    let mut all = vec![at(&format!("{WELL_KNOWN}{path}"))];
    if !path.is_empty() {
        all.push(at(WELL_KNOWN));
    }
    all
}

/// Reads a document; the word goes into a refusal.
pub fn read_resource_metadata(body: &[u8]) -> Result<ResourceMetadata, &'static str> {
    let limits = JsonLimits { max_bytes: MAX_DISCOVERY_BYTES, max_depth: 16, max_number_chars: 64 };
    let document = parse_with(body, limits).map_err(|_| "resource metadata")?;
    let resource = document.get("resource").and_then(Json::as_str).ok_or("resource")?;
    let words = |name: &str| document.get(name).and_then(Json::as_array);
    let servers = words("authorization_servers")
        .unwrap_or_default()
        .iter()
        .take(MAX_SERVERS)
        .filter_map(|server| crate::auth::parse_issuer("authorization_servers", server.as_str()?).ok())
        .collect();
    let scopes = words("scopes_supported").and_then(|list| super::scopes(list.iter().filter_map(Json::as_str)));
    Ok(ResourceMetadata { resource: resource.to_owned(), servers, scopes })
}

/// Whether metadata of this resource may speak for this server (section 3.3): the same origin, and the server's path is the
/// resource's or lies below it. Otherwise a server could collect tokens for another one.
pub fn covers(resource: &str, server: &Url) -> bool {
    let Ok(named) = AuthUrl::parse("resource", resource) else { return false };
    let named = named.url();
    let (own, path) = (server.path().trim_end_matches('/'), named.path().trim_end_matches('/'));
    named.origin() == server.origin()
        && own.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn the_document_is_looked_for_with_the_path_first() {
        let all = |text: &str| resource_metadata_urls(&url(text)).iter().map(Url::to_string).collect::<Vec<_>>();
        let root = "https://mcp.example/.well-known/oauth-protected-resource";
        assert_eq!(all("https://mcp.example/a/mcp?x=1"), [format!("{root}/a/mcp"), root.to_owned()]);
        assert_eq!(all("https://mcp.example/"), [root]);
    }

    #[test]
    fn a_resource_speaks_for_itself_and_what_is_below_it() {
        let server = url("https://mcp.example/api/mcp");
        for good in
            ["https://mcp.example", "https://mcp.example/", "https://mcp.example/api", "https://mcp.example/api/mcp/"]
        {
            assert!(covers(good, &server), "{good}");
        }
        for bad in [
            "https://evil.example/api/mcp",
            "https://mcp.example:8443/api/mcp",
            "http://mcp.example/api/mcp",
            "https://mcp.example/ap",
            "https://mcp.example/api/mcp/x",
            "mcp.example",
            "",
        ] {
            assert!(!covers(bad, &server), "{bad}");
        }
    }

    #[test]
    fn a_document_is_read_as_far_as_it_is_used() {
        let read = read_resource_metadata(
            br#"{"resource":"https://mcp.example","authorization_servers":["https://as.example","http://as.example",7],
                "scopes_supported":["a","b"]}"#,
        )
        .unwrap();
        assert_eq!(read.servers.iter().map(AuthUrl::as_text).collect::<Vec<_>>(), ["https://as.example"]);
        assert_eq!(read.scopes.unwrap().len(), 2);
        assert_eq!(read_resource_metadata(b"{}"), Err("resource"));
        assert_eq!(read_resource_metadata(b"<html>"), Err("resource metadata"));
    }
}
