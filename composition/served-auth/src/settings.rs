//! The settings of a listener's security (`wire/mcp-surface.md` 0.6).

use std::collections::BTreeMap;

use scion_domain::auth::{AuthUrl, JwtAlgorithm, KeyFamily, parse_issuer};
use scion_domain::credential::SecretRef;
use scion_domain::served_security::{ProtectedResource, ServedSecurityProfile, ServedSecurityRefusal};

/// Where the protocol is served, below the base URL.
const MCP_PATH: &str = "/mcp";

/// What a listener is to check, read from an environment in which flags stand under the names of their variables. Nothing is
/// resolved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedSecuritySettings {
    pub(crate) profile: ServedSecurityProfile,
    pub(crate) source: TokenSource,
}

/// Where good tokens come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenSource {
    Static(SecretRef),
    Jwt { issuer: AuthUrl, algorithm: JwtAlgorithm, key: KeySource },
    Introspected { issuer: AuthUrl, client_id: String, secret: SecretRef },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySource {
    Discovered,
    Jwks(AuthUrl),
    Pem(String),
    Shared(SecretRef),
}

struct Reader<'e>(&'e BTreeMap<String, String>);

const fn unusable(setting: &'static str, what: &'static str) -> ServedSecurityRefusal {
    ServedSecurityRefusal::Setting { setting, what }
}

impl Reader<'_> {
    fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().filter_map(|name| self.0.get(*name)).map(|text| text.trim()).find(|text| !text.is_empty())
    }

    fn reference(&self, name: &str, setting: &'static str) -> Result<Option<SecretRef>, ServedSecurityRefusal> {
        let text = self.text(&[name]);
        text.map(SecretRef::parse).transpose().map_err(|_| unusable(setting, "is not a reference to a secret"))
    }

    fn url(&self, name: &str, setting: &'static str) -> Result<Option<AuthUrl>, ServedSecurityRefusal> {
        let text = self.text(&[name]);
        text.map(|text| AuthUrl::parse("url", text))
            .transpose()
            .map_err(|_| unusable(setting, "is not an https URL, or http on this machine"))
    }

    fn issuer(&self) -> Result<Option<AuthUrl>, ServedSecurityRefusal> {
        let text = self.text(&["OIDC_ISSUER", "FASTMCP_SERVER_AUTH_JWT_ISSUER"]);
        text.map(|text| parse_issuer("issuer", text))
            .transpose()
            .map_err(|_| unusable("--token-issuer", "is not an https URL without a query, or http on this machine"))
    }

    fn jwt(&self, issuer: AuthUrl) -> Result<TokenSource, ServedSecurityRefusal> {
        let jwks = self.url("FASTMCP_SERVER_AUTH_JWT_JWKS_URI", "--token-jwks-uri")?;
        let pem = self.text(&["FASTMCP_SERVER_AUTH_JWT_PUBLIC_KEY"]).map(str::to_owned);
        let shared = self.reference("FASTMCP_SERVER_AUTH_JWT_SECRET_REF", "--token-secret-ref")?;
        let key = match (jwks, pem, shared) {
            (None, None, None) => KeySource::Discovered,
            (Some(url), None, None) => KeySource::Jwks(url),
            (None, Some(pem), None) => KeySource::Pem(pem),
            (None, None, Some(secret)) => KeySource::Shared(secret),
            _ => {
                let setting = "--token-jwks-uri, --token-public-key or --token-secret-ref";
                return Err(unusable(setting, "is set beside another one: tokens have one kind of key"));
            }
        };
        let shared = matches!(key, KeySource::Shared(_));
        let usual = if shared { JwtAlgorithm::HS256 } else { JwtAlgorithm::RS256 };
        let algorithm = match self.text(&["FASTMCP_SERVER_AUTH_JWT_ALGORITHM"]) {
            None => usual,
            Some(name) => JwtAlgorithm::parse(name).ok_or(unusable("--token-algorithm", "is not a known algorithm"))?,
        };
        if shared != (algorithm.family() == KeyFamily::Hmac) {
            return Err(unusable("--token-algorithm", "does not fit the kind of key"));
        }
        Ok(TokenSource::Jwt { issuer, algorithm, key })
    }

    /// The server as clients and authorization servers name it.
    fn resource(
        &self,
        bases: &[&str],
        servers: &[String],
        profile: &ServedSecurityProfile,
    ) -> Result<Option<ProtectedResource>, ServedSecurityRefusal> {
        let Some(base) = self.text(bases) else { return Ok(None) };
        let named = base.ends_with(MCP_PATH);
        let url = if named { base.to_owned() } else { format!("{}{MCP_PATH}", base.trim_end_matches('/')) };
        ProtectedResource::new(&url, servers, profile.required_scopes().clone()).map(Some)
    }
}

impl ServedSecuritySettings {
    /// Reads the settings of a network transport. Without a way to check callers, or without an audience, there are none.
    pub fn from_environment(environment: &BTreeMap<String, String>) -> Result<Self, ServedSecurityRefusal> {
        let reader = Reader(environment);
        let kind = reader.text(&["AUTH_TYPE"]).unwrap_or("none");
        match kind {
            "static" | "jwt" | "remote-oauth" => {}
            "none" => return Err(ServedSecurityRefusal::NoProvider),
            "oauth-proxy" => return Err(ServedSecurityRefusal::Proxy { kind: "oauth-proxy" }),
            "oidc-proxy" => return Err(ServedSecurityRefusal::Proxy { kind: "oidc-proxy" }),
            _ => return Err(ServedSecurityRefusal::Kind),
        }
        let scopes = reader.text(&["CONNECTOR_REQUIRED_SCOPES", "FASTMCP_SERVER_AUTH_JWT_REQUIRED_SCOPES"]);
        let audience = reader.text(&["FASTMCP_SERVER_AUTH_JWT_AUDIENCE"]).unwrap_or_default();
        let profile = ServedSecurityProfile::new(audience, scopes.unwrap_or_default())?;
        let (source, resource) = match kind {
            "static" => {
                let reference = reader.reference("FASTMCP_SERVER_AUTH_STATIC_TOKENS_REF", "--static-tokens-ref")?;
                (TokenSource::Static(reference.ok_or(unusable("--static-tokens-ref", "is missing"))?), None)
            }
            "jwt" => {
                let issuer = reader.issuer()?.ok_or(unusable("--token-issuer", "is missing"))?;
                let servers = [issuer.as_text().to_owned()];
                let resource = reader.resource(&["MCP_PUBLIC_BASE_URL"], &servers, &profile)?;
                (reader.jwt(issuer)?, resource)
            }
            _ => remote(&reader, &profile)?,
        };
        let profile = match resource {
            Some(resource) => profile.with_resource(resource),
            None => profile,
        };
        Ok(Self { profile, source })
    }

    /// What a token must be for, and must hold.
    pub const fn profile(&self) -> &ServedSecurityProfile {
        &self.profile
    }
}

/// Clients get their tokens from authorization servers that the metadata names.
fn remote(
    reader: &Reader<'_>,
    profile: &ServedSecurityProfile,
) -> Result<(TokenSource, Option<ProtectedResource>), ServedSecurityRefusal> {
    let servers: Vec<String> = reader
        .text(&["REMOTE_AUTH_SERVERS"])
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|server| !server.is_empty())
        .map(str::to_owned)
        .collect();
    if !(1..=16).contains(&servers.len()) {
        return Err(unusable("--remote-auth-servers", "does not name 1 to 16 authorization servers"));
    }
    let resource = reader.resource(&["REMOTE_BASE_URL", "MCP_PUBLIC_BASE_URL"], &servers, profile)?;
    let resource = resource.ok_or(unusable("--remote-base-url", "is missing"))?;
    let issuer = match (reader.issuer()?, servers.as_slice()) {
        (Some(issuer), _) => issuer,
        (None, [only]) => {
            parse_issuer("issuer", only).map_err(|_| unusable("--remote-auth-servers", "is no issuer"))?
        }
        (None, _) => return Err(unusable("--token-issuer", "is missing, and there are several authorization servers")),
    };
    let client_id = reader.text(&["SCION_TOKEN_INTROSPECTION_CLIENT_ID"]).map(str::to_owned);
    let secret = reader.reference("SCION_TOKEN_INTROSPECTION_SECRET_REF", "SCION_TOKEN_INTROSPECTION_SECRET_REF")?;
    let source = match (client_id, secret) {
        (None, None) => reader.jwt(issuer)?,
        (Some(client_id), Some(secret)) => TokenSource::Introspected { issuer, client_id, secret },
        _ => {
            let setting = "SCION_TOKEN_INTROSPECTION_CLIENT_ID or SCION_TOKEN_INTROSPECTION_SECRET_REF";
            return Err(unusable(setting, "is set without the other"));
        }
    };
    Ok((source, Some(resource)))
}
