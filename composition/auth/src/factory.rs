//! From declarations to something that authenticates.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::auth::{
    AuthDeclaration, AuthMaterial, AuthRefusal, AuthUrl, ClientAuth, ClientCredentials, JwtAlgorithm, Pkce, Reason,
    RefreshToken, SecretSlot, SessionLogin, SessionToken, TokenExchange, parse_issuer,
};
use scion_domain::credential::SecretSource;
use scion_domain::http::{ExchangeLimits, StatusCode, Url};
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::secret::Secret;
use scion_ports::{
    AuthFactory, BrowserLauncher, CallbackListener, CeremonyAuthority, Clock, CredentialProvider, Entropy,
    HttpExchange, JwtSigner, JwtVerifier, RequestAuth, TokenStore,
};
use sha2::{Digest as _, Sha256};

use crate::browser::{BrowserAuth, BrowserMint};
use crate::cached::CachedTokens;
use crate::delegation::Delegation;
use crate::endpoint::{AssertionKey, Client, Place, TokenEndpoint};
use crate::exchange::{ExchangeAuth, ExchangeTokens, TaskCaller};
use crate::mcp::{McpAuthorization, McpClientIdentity, McpParts};
use crate::pkce::{PkceAuthManager, PkceParts, account_of};
use crate::provider::ClientMint;
use crate::refresh::RefreshMint;
use crate::secrets::Secrets;
use crate::session::LoginMint;
use crate::static_auth::{Scheme, StaticAuth};
use crate::{Authority, CallerTokens, IssuerMetadata};

/// What happens when a browser login is needed in the middle of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoginPolicy {
    /// The request is refused; somebody logs in beforehand through [`PkceAuthManager`]. Servers want this.
    #[default]
    Refuse,
    /// A browser on this machine is opened, within the 120 s of a login. Command lines want this.
    Inline,
}

/// The `AuthFactory`. Parts that a declaration needs and that are not there are an [`AuthRefusal::Configuration`].
#[derive(Clone)]
pub struct OutboundAuth {
    credentials: Arc<dyn CredentialProvider>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    signer: Option<Arc<dyn JwtSigner>>,
    verifier: Option<Arc<dyn JwtVerifier>>,
    store: Option<Arc<dyn TokenStore>>,
    callers: Arc<dyn CallerTokens>,
    listener: Option<Arc<dyn CallbackListener>>,
    browser: Option<Arc<dyn BrowserLauncher>>,
    authority: Option<Arc<dyn CeremonyAuthority>>,
    policy: LoginPolicy,
    limits: ExchangeLimits,
}

impl std::fmt::Debug for OutboundAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutboundAuth").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl OutboundAuth {
    /// With what every scheme needs.
    pub fn new(credentials: Arc<dyn CredentialProvider>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            credentials,
            clock,
            entropy,
            signer: None,
            verifier: None,
            store: None,
            callers: Arc::new(TaskCaller),
            listener: None,
            browser: None,
            authority: None,
            policy: LoginPolicy::Refuse,
            limits: crate::authority::limits(),
        }
    }

    /// Signs and checks tokens: for `private_key_jwt` and for browser logins.
    #[must_use]
    pub fn jwt(mut self, signer: Arc<dyn JwtSigner>, verifier: Arc<dyn JwtVerifier>) -> Self {
        self.signer = Some(signer);
        self.verifier = Some(verifier);
        self
    }

    /// Keeps rotated and browser tokens. Without it, refresh tokens live in memory and browser logins are refused.
    #[must_use]
    pub fn token_store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Says who is acting; the caller of [`crate::with_caller_token`] when silent.
    #[must_use]
    pub fn callers(mut self, callers: Arc<dyn CallerTokens>) -> Self {
        self.callers = callers;
        self
    }

    /// Opens browsers and takes callbacks on this machine.
    #[must_use]
    pub fn browser(mut self, listener: Arc<dyn CallbackListener>, browser: Arc<dyn BrowserLauncher>) -> Self {
        self.listener = Some(listener);
        self.browser = Some(browser);
        self
    }

    /// Asks the host before a login and before what waits for it goes on.
    #[must_use]
    pub fn ceremony_authority(mut self, authority: Arc<dyn CeremonyAuthority>) -> Self {
        self.authority = Some(authority);
        self
    }

    /// What happens when a request needs a login.
    #[must_use]
    pub const fn login_policy(mut self, policy: LoginPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The bounds of exchanges with authorities; 1 MiB and 20 s when silent.
    #[must_use]
    pub const fn authority_limits(mut self, limits: ExchangeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The manager of a connector's browser logins. `AuthFactory::open` uses one like it: both keep tokens in the same account.
    pub fn manager(
        &self,
        connector: &ConnectorName,
        config: Pkce,
        exchange: Arc<dyn HttpExchange>,
    ) -> Result<PkceAuthManager, AuthRefusal> {
        let parts = PkceParts {
            credentials: self.credentials.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            verifier: self.verifier.clone().ok_or(missing("profile", "needs a token verifier"))?,
            store: self.store.clone().ok_or(missing("token_ref", "needs a token store"))?,
            listener: self.listener.clone(),
            browser: self.browser.clone(),
            authority: self.authority.clone(),
        };
        PkceAuthManager::new(connector, config, parts, Authority::new(exchange).with_limits(self.limits))
    }

    /// Authorization at an MCP server that says itself where its tokens come from; see [`McpAuthorization`].
    pub fn mcp(
        &self,
        connector: &ConnectorName,
        server: &Url,
        client: McpClientIdentity,
        exchange: Arc<dyn HttpExchange>,
    ) -> McpAuthorization {
        let parts = McpParts {
            secrets: Secrets { connector: connector.clone(), provider: self.credentials.clone() },
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            signer: self.signer.clone(),
            listener: self.listener.clone(),
            browser: self.browser.clone(),
            policy: self.policy,
        };
        McpAuthorization::new(server.clone(), client, parts, Authority::new(exchange).with_limits(self.limits))
    }

    fn endpoint(
        &self,
        place: (&str, &str),
        client: Client,
        secrets: Secrets,
        authority: Authority,
    ) -> Result<TokenEndpoint, AuthRefusal> {
        Ok(TokenEndpoint {
            place: place_of(place, &authority, &self.clock)?,
            client,
            secrets,
            authority,
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
        })
    }

    fn tokens(&self, mint: impl crate::cached::Mint) -> CachedTokens {
        CachedTokens::new(Arc::new(mint), self.clock.clone())
    }

    fn refresh(
        &self,
        declaration: &RefreshToken,
        secrets: Secrets,
        authority: Authority,
    ) -> Result<RefreshMint, AuthRefusal> {
        let client = Client {
            id: declaration.client_id.clone(),
            method: declaration.client_auth,
            secret: optional(declaration.client_secret_ref.as_ref())?,
            assertion: assertion(declaration.client_auth, self.signer.as_ref(), None, None)?,
        };
        let account = if declaration.account.is_empty() {
            own_account(&secrets.connector, declaration)?
        } else {
            declaration.account.clone()
        };
        let place = (declaration.issuer.as_str(), declaration.token_url.as_str());
        Ok(RefreshMint {
            endpoint: self.endpoint(place, client, secrets, authority)?,
            scope: declaration.scope.clone(),
            seed: Some(source(&declaration.refresh_token_ref, "refresh_token_ref")?),
            store: self.store.clone(),
            account,
            newest: Mutex::default(),
        })
    }

    fn login(&self, login: &SessionLogin, secrets: Secrets, authority: Authority) -> Result<TokenAuth, AuthRefusal> {
        let (header, prefix) = match &login.token {
            SessionToken::Json { header, prefix, .. } => (header.clone(), prefix.clone()),
            SessionToken::Cookie { name } => ("cookie".to_owned(), format!("{name}=")),
        };
        let mint = LoginMint {
            login: login.clone(),
            url: AuthUrl::parse("login_url", &login.login_url)?,
            secrets,
            authority,
            clock: self.clock.clone(),
        };
        Ok(TokenAuth { tokens: self.tokens(mint), header, prefix, renew_on_forbidden: true })
    }

    fn exchange(
        &self,
        declaration: &TokenExchange,
        secrets: Secrets,
        authority: Authority,
    ) -> Result<ExchangeTokens, AuthRefusal> {
        let client = Client {
            id: declaration.client_id.clone(),
            method: declaration.client_auth,
            secret: Some(source(&declaration.client_secret_ref, "client_secret_ref")?),
            assertion: None,
        };
        let place = (declaration.issuer.as_str(), declaration.token_url.as_str());
        let endpoint = self.endpoint(place, client, secrets, authority)?;
        Ok(ExchangeTokens::new(endpoint, declaration.clone(), self.clock.clone()))
    }

    /// Exchanges the tokens of callers for ones of the vendor, for tools that ask for them. The declaration must not name a fixed
    /// subject: it would act for everybody.
    pub fn delegation(
        &self,
        connector: &ConnectorName,
        declaration: &TokenExchange,
        exchange: Arc<dyn HttpExchange>,
    ) -> Result<Delegation, AuthRefusal> {
        AuthDeclaration::TokenExchange(declaration.clone()).validate()?;
        if declaration.subject_token_ref.is_some() {
            return Err(missing("subject_token_ref", "is set: callers would act as somebody else"));
        }
        let secrets = Secrets { connector: connector.clone(), provider: self.credentials.clone() };
        let authority = Authority::new(exchange).with_limits(self.limits);
        self.exchange(declaration, secrets, authority).map(|tokens| Delegation { tokens })
    }

    fn browser_auth(
        &self,
        pkce: &Pkce,
        secrets: Secrets,
        authority: Authority,
        exchange: Arc<dyn HttpExchange>,
    ) -> Result<BrowserAuth, AuthRefusal> {
        let manager = Arc::new(self.manager(&secrets.connector, pkce.clone(), exchange)?);
        let store = self.store.clone().ok_or(missing("token_ref", "needs a token store"))?;
        let client = Client {
            id: pkce.client_id.clone(),
            method: ClientAuth::Post,
            secret: optional(pkce.client_secret_ref.as_ref())?,
            assertion: None,
        };
        let connector = secrets.connector.as_str();
        let refresh = RefreshMint {
            account: account_of(connector, pkce, connector),
            endpoint: self.endpoint((&pkce.issuer, ""), client, secrets.clone(), authority)?,
            // The scopes of the login stay those of its tokens (RFC 6749, section 6).
            scope: String::new(),
            seed: None,
            store: Some(store.clone()),
            newest: Mutex::default(),
        };
        let api_key = match &pkce.api_key_ref {
            Some(slot) => Some(slot.get("api_key_ref")?.clone()),
            None => None,
        };
        let tokens = self.tokens(BrowserMint { refresh, manager, store, policy: self.policy });
        Ok(BrowserAuth { tokens, api_key, secrets })
    }
}

/// The account of a declaration that names none. What makes a login another one is part of it: with one client, two accounts of a
/// vendor differ in nothing but the reference of their first token.
fn own_account(connector: &ConnectorName, declaration: &RefreshToken) -> Result<String, AuthRefusal> {
    let first = declaration.refresh_token_ref.get("refresh_token_ref")?.to_string();
    let RefreshToken { issuer, token_url, client_id, scope, .. } = declaration;
    let mut hasher = Sha256::new();
    for part in [issuer, token_url, client_id, scope, &first] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let digest = Digest256::from_bytes(hasher.finalize().into()).to_hex();
    Ok(format!("{connector}.{}", &digest[..32]))
}

const fn missing(field: &'static str, what: &'static str) -> AuthRefusal {
    AuthRefusal::Configuration { field, what }
}

fn source(slot: &SecretSlot, field: &'static str) -> Result<SecretSource, AuthRefusal> {
    slot.get(field).map(|reference| SecretSource::Reference(reference.clone()))
}

fn optional(slot: Option<&SecretSlot>) -> Result<Option<SecretSource>, AuthRefusal> {
    slot.map(|slot| source(slot, "client_secret_ref")).transpose()
}

fn place_of(
    (issuer, token_url): (&str, &str),
    authority: &Authority,
    clock: &Arc<dyn Clock>,
) -> Result<Place, AuthRefusal> {
    if issuer.is_empty() {
        return AuthUrl::parse("token_url", token_url).map(Place::Url);
    }
    let issuer = parse_issuer("issuer", issuer)?;
    Ok(Place::Issuer(Arc::new(IssuerMetadata::new(issuer, authority.clone(), clock.clone()))))
}

fn assertion(
    method: ClientAuth,
    signer: Option<&Arc<dyn JwtSigner>>,
    algorithm: Option<JwtAlgorithm>,
    key_id: Option<&String>,
) -> Result<Option<AssertionKey>, AuthRefusal> {
    if method != ClientAuth::PrivateKeyJwt {
        return Ok(None);
    }
    let signer = signer.cloned().ok_or(missing("client_auth", "needs a signer, and none is configured"))?;
    let algorithm = algorithm.unwrap_or(JwtAlgorithm::RS256);
    Ok(Some(AssertionKey { signer, algorithm, key_id: key_id.cloned(), audience: None }))
}

pub(crate) fn client_endpoint(
    declaration: &ClientCredentials,
    secret: SecretSource,
    secrets: Secrets,
    authority: Authority,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
    signer: Option<&Arc<dyn JwtSigner>>,
) -> Result<TokenEndpoint, AuthRefusal> {
    let method = declaration.client_auth;
    let client = Client {
        id: declaration.client_id.clone(),
        method,
        secret: Some(secret),
        assertion: assertion(method, signer, declaration.key_algorithm, declaration.key_id.as_ref())?,
    };
    Ok(TokenEndpoint {
        place: place_of((&declaration.issuer, &declaration.token_url), &authority, clock)?,
        client,
        secrets,
        authority,
        clock: clock.clone(),
        entropy: entropy.clone(),
    })
}

pub(crate) fn bearer(generation: u64, token: &Secret<String>) -> Result<AuthMaterial, AuthRefusal> {
    let mut material = AuthMaterial::header("authorization", "Bearer ", token, "token_ref")?;
    material.generation = generation;
    Ok(material)
}

struct NoCredential;

#[async_trait]
impl RequestAuth for NoCredential {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        Ok(AuthMaterial::default())
    }

    async fn rejected(&self, _generation: u64, _status: StatusCode) -> Result<bool, AuthRefusal> {
        Ok(false)
    }
}

/// A renewed token in a header field.
struct TokenAuth {
    tokens: CachedTokens,
    header: String,
    prefix: String,
    /// Sessions end with 403 on many servers; an OAuth token that is refused with 403 lacks a permission.
    renew_on_forbidden: bool,
}

impl TokenAuth {
    fn bearer(tokens: CachedTokens) -> Self {
        Self { tokens, header: "authorization".to_owned(), prefix: "Bearer ".to_owned(), renew_on_forbidden: false }
    }
}

#[async_trait]
impl RequestAuth for TokenAuth {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let (generation, token) = self.tokens.get(Reason::Use).await?;
        let mut material = AuthMaterial::header(&self.header, &self.prefix, &token, "token")?;
        material.generation = generation;
        Ok(material)
    }

    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal> {
        let renew = status == StatusCode::UNAUTHORIZED || (self.renew_on_forbidden && status == StatusCode::FORBIDDEN);
        if !renew {
            return Ok(false);
        }
        self.tokens.rejected(generation).await
    }
}

#[async_trait]
impl AuthFactory for OutboundAuth {
    async fn open(
        &self,
        connector: &ConnectorName,
        declaration: &AuthDeclaration,
        exchange: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal> {
        declaration.validate()?;
        let secrets = Secrets { connector: connector.clone(), provider: self.credentials.clone() };
        let authority = Authority::new(exchange.clone()).with_limits(self.limits);
        let fixed = |scheme, secrets| Arc::new(StaticAuth::new(scheme, secrets, self.clock.clone()));
        Ok(match declaration {
            AuthDeclaration::NoAuth(_) => Arc::new(NoCredential),
            AuthDeclaration::Bearer(bearer) => fixed(Scheme::Bearer(bearer.clone()), secrets),
            AuthDeclaration::ApiKey(key) => fixed(Scheme::ApiKey(key.clone()), secrets),
            AuthDeclaration::Basic(basic) => fixed(Scheme::Basic(basic.clone()), secrets),
            AuthDeclaration::ClientCredentials(client) => {
                let secret = source(&client.client_secret_ref, "client_secret_ref")?;
                let signer = self.signer.as_ref();
                let endpoint = client_endpoint(client, secret, secrets, authority, &self.clock, &self.entropy, signer)?;
                let mint = ClientMint { endpoint, audience: client.audience.clone(), scope: client.scope.clone() };
                Arc::new(TokenAuth::bearer(self.tokens(mint)))
            }
            AuthDeclaration::RefreshToken(refresh) => {
                Arc::new(TokenAuth::bearer(self.tokens(self.refresh(refresh, secrets, authority)?)))
            }
            AuthDeclaration::SessionLogin(login) => Arc::new(self.login(login, secrets, authority)?),
            AuthDeclaration::TokenExchange(exchange) => {
                Arc::new(ExchangeAuth::new(self.exchange(exchange, secrets, authority)?, self.callers.clone()))
            }
            AuthDeclaration::Pkce(pkce) => Arc::new(self.browser_auth(pkce, secrets, authority, exchange)?),
            _ => return Err(missing("type", "is not known here")),
        })
    }
}
