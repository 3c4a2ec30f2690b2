//! The profile of a listener: what a token must be for, and must hold.

use std::collections::BTreeSet;

use super::{AccessDenied, ServedSecurityRefusal, VerifiedToken};
use crate::http::Url;
use crate::id::TenantId;
use crate::json::{Json, to_compact};
use crate::surface::CallerIdentity;

/// The longest scope or audience, in bytes, and the most scopes.
const MAX_WORD: usize = 512;
const MAX_SCOPES: usize = 64;

/// What a token must be for, and must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedSecurityProfile {
    audience: String,
    required_scopes: BTreeSet<String>,
    /// The server as a resource of authorization servers (RFC 9728); `None` shows no metadata.
    pub resource: Option<ProtectedResource>,
}

impl ServedSecurityProfile {
    /// A profile. `required_scopes` is the comma list of `CONNECTOR_REQUIRED_SCOPES`; empty asks for none.
    pub fn new(audience: &str, required_scopes: &str) -> Result<Self, ServedSecurityRefusal> {
        let audience = audience.trim();
        if audience.is_empty() {
            return Err(ServedSecurityRefusal::NoAudience);
        }
        let word = |text: &str, what| {
            let fits = !text.is_empty()
                && text.len() <= MAX_WORD
                && !text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '"');
            if fits { Ok(text.to_owned()) } else { Err(ServedSecurityRefusal::Word { what }) }
        };
        let scopes: BTreeSet<String> = required_scopes
            .split(',')
            .map(str::trim)
            .filter(|scope| !scope.is_empty())
            .map(|scope| word(scope, "a required scope"))
            .collect::<Result<_, _>>()?;
        if scopes.len() > MAX_SCOPES {
            return Err(ServedSecurityRefusal::Word { what: "the list of required scopes" });
        }
        Ok(Self { audience: word(audience, "the audience")?, required_scopes: scopes, resource: None })
    }

    /// The same with metadata for clients.
    #[must_use]
    pub fn with_resource(mut self, resource: ProtectedResource) -> Self {
        self.resource = Some(resource);
        self
    }

    /// The audience.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// The scopes every token must have.
    pub fn required_scopes(&self) -> &BTreeSet<String> {
        &self.required_scopes
    }

    /// Who calls, or why it may not: the token is for this server, names a subject and a tenant, and has every required scope.
    pub fn caller(&self, token: &VerifiedToken) -> Result<CallerIdentity, AccessDenied> {
        let denied = |missing| AccessDenied { missing };
        if !token.audiences.contains(&self.audience) {
            return Err(denied("the audience"));
        }
        let subject = token.subject.as_deref().filter(|text| !text.trim().is_empty());
        let subject = subject.ok_or_else(|| denied("a subject"))?;
        let tenant = token.tenant.as_deref().and_then(|text| TenantId::parse(text).ok());
        let tenant = tenant.ok_or_else(|| denied("a tenant"))?;
        if !self.required_scopes.is_subset(&token.scopes) {
            return Err(denied("a required scope"));
        }
        let client = token.client.as_deref().unwrap_or(subject);
        CallerIdentity::new(tenant, subject, client).ok_or_else(|| denied("a usable subject"))
    }
}

/// A listener that does not ask who calls, for a reason somebody wrote down. It is logged as a warning at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedSecurityOverride {
    reason: String,
}

impl ServedSecurityOverride {
    /// An override. The reason has 10 to 1024 characters without control characters.
    pub fn new(reason: &str) -> Result<Self, ServedSecurityRefusal> {
        let reason = reason.trim();
        let written = (10..=1024).contains(&reason.chars().count()) && !reason.chars().any(char::is_control);
        if written { Ok(Self { reason: reason.to_owned() }) } else { Err(ServedSecurityRefusal::Reason) }
    }

    /// Why.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// The server as a protected resource (RFC 9728). Clients compare the names exactly (RFC 9728, section 3.3; RFC 8414, section 3.3):
/// they are shown as the operator wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedResource {
    text: String,
    url: Url,
    authorization_servers: Vec<String>,
    scopes: BTreeSet<String>,
}

fn public_url(text: &str, what: &'static str) -> Result<Url, ServedSecurityRefusal> {
    let refused = ServedSecurityRefusal::Url { what };
    // A parser of URLs drops some characters without a word; the text is shown, so it must not hold them.
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\\' | '<' | '>')) {
        return Err(refused);
    }
    let Ok(url) = Url::parse(text) else { return Err(refused) };
    let host = url.host_str().unwrap_or_default();
    let local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let plain =
        url.username().is_empty() && url.password().is_none() && url.fragment().is_none() && url.query().is_none();
    let reachable = url.scheme() == "https" || (url.scheme() == "http" && local);
    if plain && reachable { Ok(url) } else { Err(refused) }
}

impl ProtectedResource {
    /// A resource under its public URL, with the servers that give tokens for it.
    pub fn new(url: &str, servers: &[String], scopes: BTreeSet<String>) -> Result<Self, ServedSecurityRefusal> {
        for server in servers {
            public_url(server, "an authorization server")?;
        }
        let parsed = public_url(url, "the public URL")?;
        Ok(Self { text: url.to_owned(), url: parsed, authorization_servers: servers.to_vec(), scopes })
    }

    /// Where the metadata is: the well-known path in front of the resource's own (RFC 9728, section 3.1).
    pub fn metadata_url(&self) -> String {
        let mut url = self.url.clone();
        url.set_path(&self.metadata_path());
        url.to_string()
    }

    /// The path of that URL.
    pub fn metadata_path(&self) -> String {
        let own = self.url.path();
        format!("/.well-known/oauth-protected-resource{}", if own == "/" { "" } else { own })
    }

    /// The metadata itself (RFC 9728, section 2).
    pub fn document(&self) -> String {
        let texts = |items: &mut dyn Iterator<Item = &String>| {
            Json::from(items.map(|text| text.as_str().into()).collect::<Vec<Json>>())
        };
        let mut members = vec![
            ("resource", Json::from(self.text.as_str())),
            ("authorization_servers", texts(&mut self.authorization_servers.iter())),
            ("bearer_methods_supported", Json::from(vec![Json::from("header")])),
        ];
        if !self.scopes.is_empty() {
            members.push(("scopes_supported", texts(&mut self.scopes.iter())));
        }
        let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
        to_compact(&Json::Object(members.collect()))
    }
}
