//! Security schemes as authentication declarations. A declaration names the environment variables its secrets come from;
//! values are never part of a model.

use scion_domain::auth::{ApiKey, AuthDeclaration, Basic, Bearer, ClientCredentials, Pkce, RefreshToken};
use scion_domain::credential::SecretRef;
use scion_domain::json::{Json, JsonObject};
use scion_domain::openapi::SetupRefusal;

use crate::names::snake_case;
use crate::refs::Refs;

/// One way to be authenticated: all of these schemes together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecurityRequirement {
    /// The schemes and the scopes each needs, in the order of their names.
    pub schemes: Vec<(String, Vec<String>)>,
}

/// What a scheme is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemeKind {
    /// A key in a header field.
    HeaderKey {
        /// The name of the field.
        name: String,
    },
    /// A key in the query.
    QueryKey {
        /// The name of the parameter.
        name: String,
    },
    /// A name and a password.
    Basic,
    /// A token.
    Bearer,
    /// OAuth 2 client credentials.
    ClientCredentials {
        /// The token endpoint.
        token_url: String,
        /// The scopes the document lists.
        scopes: Vec<String>,
    },
    /// An OAuth 2 authorization code: served by a refresh token that a login left behind.
    AuthorizationCode {
        /// The token endpoint.
        token_url: String,
        /// The scopes the document lists.
        scopes: Vec<String>,
    },
    /// OpenID Connect.
    OpenIdConnect {
        /// The issuer.
        issuer: String,
    },
    /// One that is not supported.
    Unsupported {
        /// Why, as the end of a sentence.
        what: &'static str,
    },
}

/// One security scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityScheme {
    /// Its name in the document.
    pub name: String,
    /// What it is.
    pub kind: SchemeKind,
}

impl SecurityScheme {
    /// The declaration of this scheme. Secrets come from environment variables whose names begin with `prefix`: see
    /// [`SecurityScheme::secrets`]. OAuth schemes need the `client_id` the operator registered.
    pub fn declare(&self, prefix: &str, client_id: Option<&str>) -> Result<AuthDeclaration, SetupRefusal> {
        let names = self.secrets(prefix).into_iter();
        let references: Vec<SecretRef> = names.map(|name| SecretRef::Env { name }).collect();
        self.declare_from(&references, client_id, &[])
    }

    /// The declaration of this scheme with its secrets behind these references, in the order of [`SecurityScheme::secrets`], and with
    /// the scopes that are asked for where the scheme asks for any.
    pub fn declare_from(
        &self,
        references: &[SecretRef],
        client_id: Option<&str>,
        scopes: &[String],
    ) -> Result<AuthDeclaration, SetupRefusal> {
        let shown = || crate::text::shortened(&self.name, 64);
        let refuse = |what| SetupRefusal::Scheme { scheme: shown(), what };
        let client = || client_id.filter(|id| !id.is_empty()).ok_or_else(|| refuse("needs a client id"));
        if let SchemeKind::Unsupported { what } = &self.kind {
            return Err(refuse(what));
        }
        let secrets = self.kind.secret_names();
        if references.len() != secrets.len() {
            return Err(SetupRefusal::AuthReferences { scheme: shown(), secrets: counted(secrets) });
        }
        let reference = |index: usize| references.get(index).map(SecretRef::to_string).unwrap_or_default();
        let scope = scopes.join(" ");
        let declaration: AuthDeclaration = match &self.kind {
            SchemeKind::HeaderKey { name } => ApiKey::header(name).reference(&reference(0)).into(),
            SchemeKind::QueryKey { name } => ApiKey::query(name).reference(&reference(0)).into(),
            SchemeKind::Basic => Basic::user_reference(&reference(0)).reference(&reference(1)).into(),
            SchemeKind::Bearer => Bearer::reference(&reference(0)).into(),
            SchemeKind::ClientCredentials { token_url, .. } => {
                ClientCredentials::token_url(token_url, client()?).reference(&reference(0)).scope(&scope).into()
            }
            SchemeKind::AuthorizationCode { token_url, .. } => {
                RefreshToken::token_url(token_url, client()?).reference(&reference(0)).into()
            }
            SchemeKind::OpenIdConnect { issuer } => {
                let account = snake_case(&self.name);
                Pkce::issuer(issuer, client()?, if account.is_empty() { "login" } else { &account }).into()
            }
            SchemeKind::Unsupported { what } => return Err(refuse(what)),
        };
        declaration.validate().map_err(|_| refuse("is not complete in the document"))?;
        Ok(declaration)
    }

    /// Whether an operator has to give the client id that was registered.
    pub const fn needs_client_id(&self) -> bool {
        matches!(
            self.kind,
            SchemeKind::ClientCredentials { .. }
                | SchemeKind::AuthorizationCode { .. }
                | SchemeKind::OpenIdConnect { .. }
        )
    }

    /// What it is, in a few words.
    pub fn described(&self) -> String {
        match &self.kind {
            SchemeKind::HeaderKey { name } => format!("a key in the header field {}", crate::text::shortened(name, 64)),
            SchemeKind::QueryKey { name } => {
                format!("a key in the query parameter {}", crate::text::shortened(name, 64))
            }
            SchemeKind::Basic => "a name and a password".to_owned(),
            SchemeKind::Bearer => "a bearer token".to_owned(),
            SchemeKind::ClientCredentials { .. } => "OAuth 2 client credentials".to_owned(),
            SchemeKind::AuthorizationCode { .. } => "an OAuth 2 refresh token".to_owned(),
            SchemeKind::OpenIdConnect { .. } => "OpenID Connect".to_owned(),
            SchemeKind::Unsupported { what } => format!("not supported: it {what}"),
        }
    }

    /// The names of the environment variables the operator supplies.
    pub fn secrets(&self, prefix: &str) -> Vec<String> {
        let words = [prefix, self.name.as_str()].map(snake_case).join("_").trim_matches('_').to_ascii_uppercase();
        let base = match words.chars().next() {
            Some(first) if first.is_ascii_alphabetic() => words.chars().take(96).collect(),
            _ => format!("API_{}", words.chars().take(96).collect::<String>()),
        };
        self.kind.secret_names().iter().map(|end| format!("{base}_{end}")).collect()
    }
}

impl SchemeKind {
    /// What its secrets are called.
    const fn secret_names(&self) -> &'static [&'static str] {
        match self {
            Self::HeaderKey { .. } | Self::QueryKey { .. } => &["KEY"],
            Self::Basic => &["USERNAME", "PASSWORD"],
            Self::Bearer => &["TOKEN"],
            Self::ClientCredentials { .. } => &["CLIENT_SECRET"],
            Self::AuthorizationCode { .. } => &["REFRESH_TOKEN"],
            Self::OpenIdConnect { .. } | Self::Unsupported { .. } => &[],
        }
    }
}

fn counted(names: &[&str]) -> String {
    let plain: Vec<String> = names.iter().map(|name| name.replace('_', " ").to_ascii_lowercase()).collect();
    match plain.as_slice() {
        [] => "no secret".to_owned(),
        [one] => format!("one reference, of its {one}"),
        many => format!("{} references, of its {}", many.len(), many.join(" and its ")),
    }
}

pub(crate) fn read(refs: Refs<'_>, name: &str, scheme: &Json) -> SecurityScheme {
    let kind = match refs.resolve(scheme).ok().and_then(Json::as_object) {
        Some(members) => kind(members),
        None => SchemeKind::Unsupported { what: "is not described in the document" },
    };
    SecurityScheme { name: name.to_owned(), kind }
}

fn kind(members: &JsonObject) -> SchemeKind {
    let text = |name: &str| members.get(name).and_then(Json::as_str).unwrap_or_default();
    let unsupported = |what| SchemeKind::Unsupported { what };
    match text("type") {
        "apiKey" => match text("in") {
            "header" => SchemeKind::HeaderKey { name: text("name").to_owned() },
            "query" => SchemeKind::QueryKey { name: text("name").to_owned() },
            "cookie" => unsupported("is a cookie, and no cookies are sent"),
            _ => unsupported("does not say where its key goes"),
        },
        "basic" => SchemeKind::Basic,
        "http" => match text("scheme").to_ascii_lowercase().as_str() {
            "basic" => SchemeKind::Basic,
            "bearer" => SchemeKind::Bearer,
            _ => unsupported("is an HTTP scheme other than basic and bearer"),
        },
        "oauth2" => oauth(members),
        "openIdConnect" => {
            let url = text("openIdConnectUrl");
            match url.strip_suffix("/.well-known/openid-configuration") {
                Some(issuer) => SchemeKind::OpenIdConnect { issuer: issuer.to_owned() },
                None => unsupported("has no discovery address"),
            }
        }
        "mutualTLS" => unsupported("is a client certificate, which belongs to the TLS profile"),
        _ => unsupported("is of an unknown type"),
    }
}

fn oauth(members: &JsonObject) -> SchemeKind {
    let scopes = |flow: &JsonObject| -> Vec<String> {
        flow.get("scopes").and_then(Json::as_object).into_iter().flat_map(JsonObject::keys).take(256).cloned().collect()
    };
    let token_url = |flow: &JsonObject| flow.get("tokenUrl").and_then(Json::as_str).unwrap_or_default().to_owned();
    // Swagger 2 has one flow, in the scheme itself.
    match members.get("flow").and_then(Json::as_str) {
        Some("application") => {
            return SchemeKind::ClientCredentials { token_url: token_url(members), scopes: scopes(members) };
        }
        Some("accessCode") => {
            return SchemeKind::AuthorizationCode { token_url: token_url(members), scopes: scopes(members) };
        }
        Some(_) => return SchemeKind::Bearer,
        None => {}
    }
    let flow = |name: &str| members.get("flows")?.get(name)?.as_object();
    if let Some(flow) = flow("clientCredentials") {
        return SchemeKind::ClientCredentials { token_url: token_url(flow), scopes: scopes(flow) };
    }
    if let Some(flow) = flow("authorizationCode") {
        return SchemeKind::AuthorizationCode { token_url: token_url(flow), scopes: scopes(flow) };
    }
    // Implicit and password flows are not run: the operator supplies a token.
    SchemeKind::Bearer
}

/// Alternatives; an empty one (authentication is optional) counts as none needed only when it stands alone.
pub(crate) fn requirements(list: Option<&Json>) -> Vec<SecurityRequirement> {
    let list = list.and_then(Json::as_array).unwrap_or_default();
    let read = |item: &Json| {
        let schemes = item.as_object()?.iter().take(16).map(|(name, scopes)| {
            let scopes = scopes.as_array().unwrap_or_default().iter().take(256);
            (name.clone(), scopes.filter_map(Json::as_str).map(str::to_owned).collect())
        });
        Some(SecurityRequirement { schemes: schemes.collect() })
    };
    let found: Vec<_> = list.iter().take(32).filter_map(read).collect();
    if found.iter().all(|requirement| requirement.schemes.is_empty()) { Vec::new() } else { found }
}
