//! Authorization at MCP servers (MCP 2025-11-25, Authorization): a server that wants a token says so, and says where it comes from.
//!
//! The order of events is the protocol's: a challenge (401, or 403 with `insufficient_scope`), the metadata of the resource
//! (RFC 9728), the metadata of its authorization server (RFC 8414, OpenID Connect), a client there (registered before, its metadata
//! document, or dynamic registration), a login with PKCE and `resource` (RFC 8707), or client credentials.

mod client;
mod discovery;
mod login;

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::auth::{
    AuthMaterial, AuthRefusal, AuthUrl, BearerChallenge, Grant, JwtAlgorithm, SKEW_MS, TokenResponse, read_challenge,
    select_scopes,
};
use scion_domain::credential::SecretSource;
use scion_domain::http::{StatusCode, Url};
use scion_domain::secret::Secret;
use scion_ports::{BrowserLauncher, CallbackListener, Clock, Entropy, JwtSigner, RequestAuth};

use crate::endpoint::{Client, Place, TokenEndpoint};
use crate::factory::{LoginPolicy, bearer};
use crate::secrets::Secrets;
use crate::{Authority, mcp::discovery::Found};

/// Who logs in at the authorization server of an MCP server.
#[derive(Clone, Debug)]
pub enum McpClientIdentity {
    /// A person, in a browser on this machine.
    Person(PersonLogin),
    /// The program itself, with client credentials.
    Program(ProgramLogin),
}

/// How the client of a person's login makes itself known, in this order: registered before, by its metadata document, by dynamic
/// registration.
#[derive(Clone, Debug)]
pub struct PersonLogin {
    /// A name for the person who logs in.
    pub name: String,
    /// The client, where somebody registered it before.
    pub registered: Option<RegisteredClient>,
    /// The address of the client's metadata document, used where the server takes one.
    pub metadata_url: Option<AuthUrl>,
}

/// A client that somebody registered.
#[derive(Clone, Debug)]
pub struct RegisteredClient {
    /// Its id.
    pub id: String,
    /// Its secret; a public client has none.
    pub secret: Option<SecretSource>,
}

/// A program's login.
#[derive(Clone, Debug)]
pub struct ProgramLogin {
    /// The client id.
    pub id: String,
    /// What it proves itself with.
    pub proof: ProgramProof,
}

/// What a program proves itself with.
#[derive(Clone, Debug)]
pub enum ProgramProof {
    /// A secret, in the way the server takes it.
    Secret(SecretSource),
    /// A signed assertion (RFC 7523) for the issuer.
    Key {
        /// The private key, PEM.
        key: SecretSource,
        /// What it signs with.
        algorithm: JwtAlgorithm,
        /// Its id.
        key_id: Option<String>,
    },
}

pub(crate) struct McpParts {
    pub secrets: Secrets,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub signer: Option<Arc<dyn JwtSigner>>,
    pub listener: Option<Arc<dyn CallbackListener>>,
    pub browser: Option<Arc<dyn BrowserLauncher>>,
    pub policy: LoginPolicy,
}

/// Logins within [`WINDOW_MS`]: a server that refuses every token must not make each request a login.
const MAX_LOGINS: usize = 3;
const WINDOW_MS: i64 = 600_000;

/// The tokens in use.
#[derive(Default)]
struct Held {
    generation: u64,
    access: Option<Secret<String>>,
    expires_at_ms: i64,
}

/// What is known between two logins.
#[derive(Default)]
struct Known {
    /// Everything that was asked for.
    scopes: BTreeSet<String>,
    /// Where the tokens came from, with the token that renews them.
    renewal: Option<(TokenEndpoint, String, Secret<String>)>,
    /// When there were logins.
    logins: VecDeque<i64>,
}

/// Authenticates requests to one MCP server. The first request goes out without a token; what the server answers decides. Tokens
/// live as long as this value. Everybody who waits for a login waits for the same one.
pub struct McpAuthorization {
    server: Url,
    client: McpClientIdentity,
    parts: McpParts,
    authority: Authority,
    held: Mutex<Held>,
    known: tokio::sync::Mutex<Known>,
}

impl std::fmt::Debug for McpAuthorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpAuthorization")
            .field("server", &self.server.origin().ascii_serialization())
            .finish_non_exhaustive()
    }
}

impl McpAuthorization {
    pub(crate) fn new(server: Url, client: McpClientIdentity, parts: McpParts, authority: Authority) -> Self {
        let (held, known) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { server, client, parts, authority, held, known }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&self, tokens: &TokenResponse) {
        let ttl = i64::try_from(tokens.ttl_ms).unwrap_or(i64::MAX);
        let mut held = self.held();
        held.generation += 1;
        held.access = Some(tokens.access.clone());
        held.expires_at_ms = self.parts.clock.unix_millis().saturating_add(ttl);
    }

    /// Renews with the refresh token; whether that worked. A refresh token that is refused is forgotten.
    async fn renew(&self, known: &mut Known) -> Result<bool, AuthRefusal> {
        let Some((endpoint, resource, token)) = &known.renewal else { return Ok(false) };
        match endpoint.request(&Grant::Refresh { token, resource, scope: "" }).await {
            Ok(tokens) => {
                self.hold(&tokens);
                if let (Some((.., kept)), Some(newer)) = (&mut known.renewal, tokens.refresh) {
                    *kept = newer;
                }
                Ok(true)
            }
            Err(AuthRefusal::Rejected { .. }) => {
                known.renewal = None;
                Ok(false)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// A whole login. Answers whether there are new tokens.
    async fn log_in(&self, known: &mut Known, challenge: Option<&BearerChallenge>) -> Result<bool, AuthRefusal> {
        let now = self.parts.clock.unix_millis();
        known.logins.retain(|at| (0..WINDOW_MS).contains(&now.saturating_sub(*at)));
        if known.logins.len() >= MAX_LOGINS {
            return Ok(false);
        }
        let found = discovery::find(&self.authority, &self.server, challenge).await?;
        let scopes = select_scopes(&known.scopes, challenge, Some(&found.resource), &found.server);
        // The same question again would get the same answer.
        let step_up = challenge.is_some_and(|challenge| challenge.insufficient_scope);
        if step_up && scopes == known.scopes {
            return Ok(false);
        }
        known.logins.push_back(now);
        let scope = scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let (endpoint, tokens) = match &self.client {
            McpClientIdentity::Person(person) => self.log_in_person(person, &found, &scope).await?,
            McpClientIdentity::Program(program) => self.log_in_program(program, &found, &scope).await?,
        };
        self.hold(&tokens);
        known.scopes = scopes;
        known.renewal = tokens.refresh.map(|token| (endpoint, found.resource.resource, token));
        Ok(true)
    }

    async fn log_in_program(
        &self,
        program: &ProgramLogin,
        found: &Found,
        scope: &str,
    ) -> Result<(TokenEndpoint, TokenResponse), AuthRefusal> {
        let client = client::of_program(program, found, self.parts.signer.as_ref())?;
        let endpoint = self.endpoint(found, client);
        let grant = Grant::ClientCredentials { audience: "", resource: &found.resource.resource, scope };
        let tokens = endpoint.request(&grant).await?;
        Ok((endpoint, tokens))
    }

    fn endpoint(&self, found: &Found, client: Client) -> TokenEndpoint {
        TokenEndpoint {
            place: Place::Url(found.server.endpoints.token.clone()),
            client,
            secrets: self.parts.secrets.clone(),
            authority: self.authority.clone(),
            clock: self.parts.clock.clone(),
            entropy: self.parts.entropy.clone(),
        }
    }
}

#[async_trait]
impl RequestAuth for McpAuthorization {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let due = {
            let held = self.held();
            held.access.is_some() && held.expires_at_ms.saturating_sub(self.parts.clock.unix_millis()) < SKEW_MS
        };
        if due {
            let before = self.held().generation;
            let mut known = self.known.lock().await;
            if self.held().generation == before {
                // A token that cannot be renewed is sent as it is: the server's challenge then says what to do.
                self.renew(&mut known).await?;
            }
        }
        let (generation, access) = {
            let held = self.held();
            (held.generation, held.access.clone())
        };
        match access {
            Some(token) => bearer(generation, &token),
            None => Ok(AuthMaterial { generation, ..AuthMaterial::default() }),
        }
    }

    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal> {
        self.challenged(generation, status, &[]).await
    }

    async fn challenged(&self, generation: u64, status: StatusCode, challenges: &[&str]) -> Result<bool, AuthRefusal> {
        let challenge = read_challenge(challenges.iter().copied());
        let step_up = challenge.as_ref().is_some_and(|challenge| challenge.insufficient_scope);
        if status != StatusCode::UNAUTHORIZED && !(status == StatusCode::FORBIDDEN && step_up) {
            return Ok(false);
        }
        let mut known = self.known.lock().await;
        if self.held().generation != generation {
            return Ok(true);
        }
        if !step_up && self.renew(&mut known).await? {
            return Ok(true);
        }
        self.log_in(&mut known, challenge.as_ref()).await
    }
}
