//! One credential.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::auth::{
    ApiKey, AuthDeclaration, AuthMaterial, AuthRefusal, Basic, KeyPlace, RefreshToken, SecretSlot,
};
use scion_domain::credential::{
    CredentialRequest, SecretRef, SourceCredentialRefusal, SourceDescriptor, SourceKeyPlace, SourceUser,
};
use scion_domain::http::{HeaderValue, HttpProfile, StatusCode, header};
use scion_domain::id::ConnectorName;
use scion_domain::refusal::{Refusal, Retry};
use scion_ports::{AuthFactory, CredentialProvider, HttpDialer, RequestAuth};

use super::registry::SourceStatus;

/// What builds credentials: who resolves references, who knows the schemes, and who opens exchanges under a TLS profile.
#[derive(Clone)]
pub(super) struct Workshop {
    pub(super) connector: ConnectorName,
    pub(super) provider: Arc<dyn CredentialProvider>,
    pub(super) factory: Arc<dyn AuthFactory>,
    pub(super) dialer: Arc<dyn HttpDialer>,
    pub(super) profile: HttpProfile,
}

enum Scheme {
    Keyless,
    Cookie { name: Option<String>, cookie: SecretRef },
    Opened(Arc<dyn RequestAuth>),
}

/// The credential of one source. Values are resolved when a request needs them; an OAuth2 access token is kept until shortly
/// before it expires.
pub struct SourceCredential {
    kind: &'static str,
    scheme: Scheme,
    workshop: Option<Workshop>,
    degraded: Option<SourceCredentialRefusal>,
    passing: bool,
    last: Mutex<Option<SourceCredentialRefusal>>,
}

impl SourceCredential {
    pub(super) fn keyless(degraded: Option<SourceCredentialRefusal>) -> Self {
        Self {
            kind: "keyless",
            scheme: Scheme::Keyless,
            workshop: None,
            degraded,
            passing: false,
            last: Mutex::new(None),
        }
    }

    /// The kind that is in force: that of the descriptor, or `keyless` when it could not be built.
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Why it is keyless although something else was described.
    pub const fn degraded(&self) -> Option<&SourceCredentialRefusal> {
        self.degraded.as_ref()
    }

    /// Whether what made it keyless can pass: it is worth building again.
    pub(super) const fn passing(&self) -> bool {
        self.passing
    }

    pub(super) fn status(&self, source: &str) -> SourceStatus {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        SourceStatus::new(source, self.kind, self.degraded.clone().or(last))
    }

    fn note(&self, refusal: Option<SourceCredentialRefusal>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
    }

    async fn cookie(&self, name: Option<&str>, cookie: &SecretRef) -> Result<AuthMaterial, AuthRefusal> {
        let Some(workshop) = &self.workshop else { return Ok(AuthMaterial::default()) };
        let request = CredentialRequest { connector: workshop.connector.clone(), reference: cookie.clone() };
        let value = workshop.provider.resolve(&request).await.map_err(|refusal| {
            let code = refusal.code();
            self.note(Some(SourceCredentialRefusal::Unresolved { code }));
            AuthRefusal::Credential { reference: cookie.to_string(), code }
        })?;
        let unusable = AuthRefusal::Credential { reference: cookie.to_string(), code: "credential_unusable" };
        // A cookie with a separator in it would be two cookies.
        if name.is_some() && value.expose().bytes().any(|b| matches!(b, b';' | b',' | b' ')) {
            return Err(unusable);
        }
        let text = scion_domain::secret::Secret::new(match name {
            Some(name) => format!("{name}={}", value.expose()),
            None => value.expose().clone(),
        });
        let mut field = HeaderValue::from_str(text.expose()).map_err(|_| unusable)?;
        field.set_sensitive(true);
        self.note(None);
        Ok(AuthMaterial { headers: vec![(header::COOKIE, field)], ..AuthMaterial::default() })
    }
}

#[async_trait]
impl RequestAuth for SourceCredential {
    /// What to add to the next request. A refreshing credential whose refresh failed adds nothing; the status says why. The
    /// other kinds refuse when their secret is not there.
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        match &self.scheme {
            Scheme::Keyless => Ok(AuthMaterial::default()),
            Scheme::Cookie { name, cookie } => self.cookie(name.as_deref(), cookie).await,
            Scheme::Opened(auth) => match auth.material().await {
                Ok(material) => {
                    self.note(None);
                    Ok(material)
                }
                Err(refusal) if self.kind == "oauth2" => {
                    self.note(Some(SourceCredentialRefusal::NotRefreshed { code: refusal.code() }));
                    Ok(AuthMaterial::default())
                }
                Err(refusal) => {
                    let code = match &refusal {
                        AuthRefusal::Credential { code, .. } => code,
                        other => other.code(),
                    };
                    self.note(Some(SourceCredentialRefusal::Unresolved { code }));
                    Err(refusal)
                }
            },
        }
    }

    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal> {
        match &self.scheme {
            // A cookie is read again for each request as it is; nobody can renew the session behind it here.
            Scheme::Keyless | Scheme::Cookie { .. } => Ok(false),
            Scheme::Opened(auth) => match auth.rejected(generation, status).await {
                Err(refusal) if self.kind == "oauth2" => {
                    self.note(Some(SourceCredentialRefusal::NotRefreshed { code: refusal.code() }));
                    Ok(false)
                }
                answer => answer,
            },
        }
    }
}

impl fmt::Debug for SourceCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceCredential").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Builds the credential of a descriptor for a connector. Its secrets are resolved by `provider`; schemes are opened by
/// `factory`; an OAuth2 token endpoint is called through `dialer`, under `profile` with the TLS profile of the descriptor.
/// A scheme the factory refuses is a keyless credential with the reason in [`SourceCredential::degraded`].
pub async fn build_credential(
    descriptor: &SourceDescriptor,
    connector: &ConnectorName,
    provider: Arc<dyn CredentialProvider>,
    factory: Arc<dyn AuthFactory>,
    dialer: Arc<dyn HttpDialer>,
    profile: HttpProfile,
) -> SourceCredential {
    build(descriptor, &Workshop { connector: connector.clone(), provider, factory, dialer, profile }).await
}

pub(super) async fn build(descriptor: &SourceDescriptor, workshop: &Workshop) -> SourceCredential {
    let kind = descriptor.kind();
    let (declaration, tls) = match descriptor {
        SourceDescriptor::Keyless => return SourceCredential::keyless(None),
        SourceDescriptor::CookieSession { name, cookie } => {
            let scheme = Scheme::Cookie { name: name.clone(), cookie: cookie.clone() };
            let workshop = Some(workshop.clone());
            return SourceCredential { kind, scheme, workshop, degraded: None, passing: false, last: Mutex::new(None) };
        }
        SourceDescriptor::ApiKey { place, key } => (AuthDeclaration::ApiKey(api_key(place, key)), None),
        SourceDescriptor::Basic { user, password } => (AuthDeclaration::Basic(basic(user, password)), None),
        SourceDescriptor::OAuth2 { token_url, client_id, client_secret, refresh_token, scope, tls_profile } => {
            let mut declared = RefreshToken::token_url(token_url.as_str(), client_id);
            declared.refresh_token_ref = SecretSlot::from(refresh_token.clone());
            declared.client_secret_ref = client_secret.clone().map(SecretSlot::from);
            declared.scope.clone_from(scope);
            (AuthDeclaration::RefreshToken(declared), tls_profile.clone())
        }
    };
    match open(&declaration, tls, workshop).await {
        Ok(auth) => {
            let scheme = Scheme::Opened(auth);
            SourceCredential { kind, scheme, workshop: None, degraded: None, passing: false, last: Mutex::new(None) }
        }
        Err((code, passing)) => {
            let keyless = SourceCredential::keyless(Some(SourceCredentialRefusal::Unresolved { code }));
            SourceCredential { passing, ..keyless }
        }
    }
}

/// A scheme, or the code of why there is none and whether that can pass.
async fn open(
    declaration: &AuthDeclaration,
    tls: Option<String>,
    workshop: &Workshop,
) -> Result<Arc<dyn RequestAuth>, (&'static str, bool)> {
    let profile = HttpProfile { tls: tls.or_else(|| workshop.profile.tls.clone()), ..workshop.profile.clone() };
    let exchange = workshop.dialer.open(&profile).await.map_err(|refusal| told(&refusal))?;
    let opened = workshop.factory.open(&workshop.connector, declaration, exchange).await;
    opened.map_err(|refusal| told(&refusal))
}

fn told(refusal: &impl Refusal) -> (&'static str, bool) {
    (refusal.code(), refusal.retry() != Retry::Never)
}

fn api_key(place: &SourceKeyPlace, key: &SecretRef) -> ApiKey {
    let key_ref = SecretSlot::from(key.clone());
    match place {
        SourceKeyPlace::Header { name, prefix } => {
            let name = name.as_str().to_owned();
            ApiKey { place: KeyPlace::Header, name, key_ref, prefix: prefix.clone() }
        }
        SourceKeyPlace::Query { name } => {
            ApiKey { place: KeyPlace::Query, name: name.clone(), key_ref, prefix: String::new() }
        }
    }
}

fn basic(user: &SourceUser, password: &SecretRef) -> Basic {
    let (username, username_ref) = match user {
        SourceUser::Name(name) => (Some(name.clone()), None),
        SourceUser::Reference(reference) => (None, Some(SecretSlot::from(reference.clone()))),
    };
    Basic { username, username_ref, password_ref: SecretSlot::from(password.clone()) }
}
