//! Sessions opened by a login.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{AuthRefusal, AuthUrl, LoginBody, MAX_TOKEN_BYTES, SessionLogin, SessionToken};
use scion_domain::credential::SecretSource;
use scion_domain::http::{Bytes, HeaderMap, HeaderValue, Method, OutboundRequest, Url, header};
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with, read_dotted, to_compact};
use scion_domain::secret::Secret;
use scion_ports::Clock;

use crate::Authority;
use crate::authority::named;
use crate::cached::{Mint, Minted};
use crate::secrets::Secrets;

pub(crate) struct LoginMint {
    pub login: SessionLogin,
    pub url: AuthUrl,
    pub secrets: Secrets,
    pub authority: Authority,
    pub clock: Arc<dyn Clock>,
}

impl LoginMint {
    async fn request(&self) -> Result<OutboundRequest, AuthRefusal> {
        let mut fields: Vec<(String, Secret<String>)> =
            self.login.fields.iter().map(|(name, value)| (name.clone(), Secret::new(value.clone()))).collect();
        for (name, slot) in &self.login.secret_fields {
            let source = SecretSource::Reference(slot.get("secret_fields")?.clone());
            fields.push((name.clone(), self.secrets.resolve(&source).await?));
        }
        let mut request = OutboundRequest::new(Method::POST, self.url.url().clone());
        let (kind, body) = match self.login.body {
            LoginBody::Json => {
                let object: JsonObject =
                    fields.iter().map(|(name, value)| (name.clone(), Json::from(value.expose().as_str()))).collect();
                ("application/json", to_compact(&Json::Object(object)))
            }
            LoginBody::Form => {
                // The serialiser of query strings is that of forms.
                let mut form = Url::parse("form:").map_err(|_| unreadable(self.url.url(), "form"))?;
                form.query_pairs_mut().extend_pairs(fields.iter().map(|(name, value)| (name, value.expose())));
                ("application/x-www-form-urlencoded", form.query().unwrap_or_default().to_owned())
            }
        };
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        request.body = Bytes::from(body);
        Ok(request)
    }

    fn token(&self, headers: &HeaderMap, body: &Bytes) -> Option<Secret<String>> {
        match &self.login.token {
            SessionToken::Json { path, .. } => {
                let limits = JsonLimits { max_bytes: 1 << 20, max_depth: 32, max_number_chars: 64 };
                let document = parse_with(body, limits).ok()?;
                read_dotted(&document, path).and_then(Json::as_str).map(|text| Secret::new(text.to_owned()))
            }
            SessionToken::Cookie { name } => headers.get_all(header::SET_COOKIE).iter().find_map(|cookie| {
                let pair = cookie.to_str().ok()?.split(';').next()?;
                let (found, value) = pair.split_once('=')?;
                (found.trim() == name).then(|| Secret::new(value.trim().to_owned()))
            }),
        }
        .filter(|token| (1..=MAX_TOKEN_BYTES).contains(&token.expose().len()))
    }
}

fn unreadable(url: &Url, what: &'static str) -> AuthRefusal {
    AuthRefusal::Malformed { authority: named(url), what }
}

#[async_trait]
impl Mint for LoginMint {
    async fn mint(&self, _held: Option<&Secret<String>>) -> Result<Minted, AuthRefusal> {
        let url = self.url.url();
        let (head, body) = self.authority.ask(self.request().await?).await?;
        // Form logins answer with a redirect that nobody needs to follow.
        let redirects = matches!(self.login.token, SessionToken::Cookie { .. });
        match head.status.as_u16() {
            200..=299 => {}
            302 | 303 if redirects => {}
            400 | 401 | 403 | 422 => return Err(AuthRefusal::Rejected { authority: named(url) }),
            408 | 425 | 429 | 500..=599 => return Err(AuthRefusal::Unreachable { authority: named(url) }),
            _ => return Err(unreadable(url, "status")),
        }
        let value = self.token(&head.headers, &body).ok_or_else(|| unreadable(url, "login answer"))?;
        let lifetime = i64::from(self.login.lifetime_seconds) * 1000;
        Ok(Minted { value, expires_at_ms: self.clock.unix_millis().saturating_add(lifetime) })
    }
}
