//! A faithful identity provider: OAuth 2 and OpenID Connect over loopback, with everything a test wants to go wrong.
//!
//! It keeps clients, codes, tokens and families of refresh tokens, checks PKCE challenges, redirect addresses and client proofs as the
//! standards say, and approves every login at once, as a person with a session would.

mod grants;
mod state;
mod tokens;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use scion_domain::http::Url;
use scion_ports::{JwtSigner, JwtVerifier};
use serde_json::json;

use crate::{Answer, Behaviour, Lab, Received};

use state::State;
pub use state::{IdpClient, IdpKey, Knobs, Twist};

/// A running identity provider, with a resource at `/api` that takes its access tokens and a login page at `/login`.
#[derive(Debug)]
pub struct Idp {
    lab: Lab,
    state: Arc<Mutex<State>>,
}

/// The password that `/login` takes.
pub const PASSWORD: &str = "correct-horse-battery";

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Idp {
    /// Starts one. Tokens are signed and client assertions checked by `jwt`.
    pub async fn start<J: JwtSigner + JwtVerifier + 'static>(jwt: J) -> Self {
        let state = Arc::new(Mutex::new(State::new()));
        let issuer = Arc::new(OnceLock::<String>::new());
        let (jwt, shared, own) = (Arc::new(jwt), state.clone(), issuer.clone());
        let lab = Lab::scripted(move |received| {
            let mut state = lock(&shared);
            state.issuer = own.get().cloned().unwrap_or_default();
            let answer = answer(&mut state, received, jwt.as_ref());
            delayed(&state.knobs, received.path(), answer)
        })
        .await;
        let _ = issuer.set(lab.url("").as_str().trim_end_matches('/').to_owned());
        Self { lab, state }
    }

    /// The issuer.
    pub fn issuer(&self) -> String {
        self.lab.url("").as_str().trim_end_matches('/').to_owned()
    }

    /// A URL of it.
    pub fn url(&self, path: &str) -> Url {
        self.lab.url(path)
    }

    /// Registers a client, or replaces it.
    pub fn client(&self, client: IdpClient) {
        lock(&self.state).clients.insert(client.id.clone(), client);
    }

    /// Changes what goes wrong.
    pub fn set(&self, change: impl FnOnce(&mut Knobs)) {
        change(&mut lock(&self.state).knobs);
    }

    /// Signs with another key from now on. The old one leaves the set when `keep_old` is false.
    pub fn rotate(&self, key: IdpKey, keep_old: bool) {
        let mut state = lock(&self.state);
        if !keep_old {
            state.keys.clear();
        }
        state.keys.insert(0, key);
    }

    /// Signs with another key without publishing it.
    pub fn rotate_in_secret(&self, key: IdpKey) {
        lock(&self.state).hidden_key = Some(key);
    }

    /// Takes back every token.
    pub fn revoke_all(&self) {
        lock(&self.state).revoke_all();
    }

    /// Takes back the access tokens alone.
    pub fn revoke_access(&self) {
        lock(&self.state).access.clear();
    }

    /// Whether a resource server should take this access token now.
    pub fn accepts(&self, token: &str) -> bool {
        lock(&self.state).is_active(token)
    }

    /// An opaque access token of a client, for an audience. `said` is what introspection says beyond that, or instead; `null`
    /// leaves a member out.
    pub fn issue_access(&self, client: &str, audience: &str, said: &serde_json::Value) -> String {
        let mut state = lock(&self.state);
        let ttl = state.knobs.access_ttl;
        let token = state.new_access(client, audience, ttl);
        if let (Some(access), Some(said)) = (state.access.get_mut(&token), said.as_object()) {
            access.said.clone_from(said);
        }
        token
    }

    /// A refresh token of a client, as from a login before.
    pub fn issue_refresh(&self, client: &str) -> String {
        lock(&self.state).new_refresh(client, None)
    }

    /// Requests to a path so far.
    pub fn count(&self, path: &str) -> usize {
        self.lab.received().iter().filter(|received| received.path() == path).count()
    }

    /// Every request so far.
    pub fn received(&self) -> Vec<Received> {
        self.lab.received()
    }

    /// How often a used refresh token came again.
    pub fn reuses(&self) -> usize {
        lock(&self.state).reuses
    }
}

fn delayed(knobs: &Knobs, path: &str, behaviour: Behaviour) -> Behaviour {
    if path != "/token" {
        return behaviour;
    }
    let behaviour = match &knobs.token_gate {
        Some(gate) => Behaviour::Gated(gate.clone(), Box::new(behaviour)),
        None => behaviour,
    };
    match knobs.token_delay {
        Some(delay) => Behaviour::After(delay, Box::new(behaviour)),
        None => behaviour,
    }
}

fn answer<J: JwtSigner + JwtVerifier>(state: &mut State, received: &Received, jwt: &J) -> Behaviour {
    let path = received.path();
    if let Some((_, status)) = state.knobs.down.iter().find(|(at, _)| at == path) {
        return Answer::status(*status).into();
    }
    let answer = match (received.method.as_str(), path) {
        ("GET", "/.well-known/openid-configuration") => discovery(state),
        ("GET", "/jwks") => Answer::json(&json!({ "keys": state.keys.iter().map(IdpKey::public).collect::<Vec<_>>() })),
        ("GET", "/authorize") => grants::authorize(state, received),
        ("POST", "/token") => grants::token(state, received, jwt),
        ("POST", "/introspect") => grants::introspect(state, received, jwt),
        ("POST", "/revoke") => grants::revoke(state, received, jwt),
        ("POST", "/login") => login(state, received),
        (_, "/api") => resource(state, received),
        _ => Answer::status(404),
    };
    answer.into()
}

fn discovery(state: &State) -> Answer {
    let at = |path: &str| format!("{}{path}", state.issuer);
    let issuer = state.knobs.other_issuer.clone().unwrap_or_else(|| state.issuer.clone());
    Answer::json(&json!({
        "issuer": issuer,
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "jwks_uri": at("/jwks"),
        "introspection_endpoint": at("/introspect"),
        "revocation_endpoint": at("/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "id_token_signing_alg_values_supported": ["RS256", "ES256"],
        "authorization_response_iss_parameter_supported": true,
    }))
}

/// Opens a session for user `desk` with [`PASSWORD`], told as JSON and as a cookie.
fn login(state: &mut State, received: &Received) -> Answer {
    let text = received.text();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let form: std::collections::HashMap<String, String> = state::form(&text);
    let field = |name: &str| json[name].as_str().map(str::to_owned).or_else(|| form.get(name).cloned());
    if field("user").as_deref() != Some("desk") || field("password").as_deref() != Some(PASSWORD) {
        return Answer::status(401);
    }
    let session = state.new_access("session", tokens::AUDIENCE, 3600);
    Answer::json(&json!({ "data": { "token": session } }))
        .header("set-cookie", format!("sid={session}; Path=/; HttpOnly"))
}

fn resource(state: &State, received: &Received) -> Answer {
    let bearer = received.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let cookie = received.header("cookie").and_then(|value| value.strip_prefix("sid="));
    let known = bearer.or(cookie).is_some_and(|token| state.is_active(token));
    match (known, state.knobs.forbid_with_403) {
        (true, _) => Answer::json(&json!({ "ok": true })),
        (false, true) => Answer::status(403),
        (false, false) => Answer::status(401).header("www-authenticate", "Bearer error=\"invalid_token\""),
    }
}
