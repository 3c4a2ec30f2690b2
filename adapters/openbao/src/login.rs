//! Logging in, and the life of what a login gives.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::credential::{CredentialRequest, SecretRef, StoreLogin};
use scion_domain::http::{Bytes, StatusCode};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;
use serde::Serialize;
use tokio::time::Instant;

use crate::answer::{self, Auth, Envelope, LoginAnswer, OwnToken};
use crate::client::Client;
use crate::fault::Fault;

/// A token and how long it lives.
pub(crate) struct Login {
    pub(crate) token: Secret<String>,
    pub(crate) at: Instant,
    /// `None` for ever.
    pub(crate) life: Option<Duration>,
    pub(crate) renewable: bool,
    /// The life the login began with. A renewal that gives less than half of it has met the server's maximum.
    pub(crate) first_life: Option<Duration>,
    /// A renewal that failed for the moment is not tried again before this.
    pub(crate) not_before: Option<Instant>,
}

impl Login {
    fn new(token: Secret<String>, seconds: u64, renewable: bool) -> Self {
        // Longer than a century is for ever; the clock could not hold it.
        let life = (1..=3_155_760_000).contains(&seconds).then(|| Duration::from_secs(seconds));
        Self { token, at: Instant::now(), life, renewable, first_life: life, not_before: None }
    }

    fn of(auth: Auth) -> Self {
        Self::new(auth.client_token.0, auth.lease_duration, auth.renewable)
    }

    pub(crate) fn is_dead(&self, now: Instant) -> bool {
        self.life.is_some_and(|life| now >= self.at + life)
    }

    /// When two thirds of the life are over; `None` when that never comes.
    pub(crate) fn due(&self) -> Option<Instant> {
        let due = self.at + self.life? * 2 / 3;
        Some(self.not_before.map_or(due, |not_before| due.max(not_before)))
    }

    /// The same token with another life.
    pub(crate) fn renewed(&self, auth: &Auth) -> Self {
        let life = Self::new(Secret::new(String::new()), auth.lease_duration, auth.renewable).life;
        let at_maximum = matches!((life, self.first_life), (Some(life), Some(first)) if life < first / 2);
        Self {
            token: self.token.clone(),
            at: Instant::now(),
            life,
            renewable: auth.renewable && !at_maximum,
            first_life: self.first_life,
            not_before: None,
        }
    }

    /// The same login, left alone for a while.
    pub(crate) fn later(&self, now: Instant) -> Self {
        let left = self.life.map_or(Duration::ZERO, |life| (self.at + life).saturating_duration_since(now));
        Self { token: self.token.clone(), not_before: Some(now + (left / 3).max(Duration::from_millis(500))), ..*self }
    }
}

/// Makes logins.
pub(crate) struct Logins {
    method: StoreLogin,
    bootstrap: Arc<dyn CredentialProvider>,
    owner: ConnectorName,
}

#[derive(Serialize)]
struct AppRoleBody<'s> {
    role_id: &'s str,
    secret_id: &'s str,
}

#[derive(Serialize)]
struct KubernetesBody<'s> {
    role: &'s str,
    jwt: &'s str,
}

impl Logins {
    pub(crate) fn new(method: StoreLogin, bootstrap: Arc<dyn CredentialProvider>, owner: ConnectorName) -> Self {
        Self { method, bootstrap, owner }
    }

    /// The token behind a reference, when the login is one by token. It is read again each time.
    pub(crate) async fn given_token(&self) -> Option<Result<Secret<String>, Fault>> {
        match &self.method {
            StoreLogin::Token { token_ref } => Some(self.secret(token_ref).await),
            _ => None,
        }
    }

    async fn secret(&self, reference: &SecretRef) -> Result<Secret<String>, Fault> {
        let request = CredentialRequest { connector: self.owner.clone(), reference: reference.clone() };
        self.bootstrap.resolve(&request).await.map_err(Fault::Bootstrap)
    }

    pub(crate) async fn log_in(&self, client: &Client) -> Result<Login, Fault> {
        match &self.method {
            StoreLogin::Token { token_ref } => look_at(client, self.secret(token_ref).await?).await,
            StoreLogin::AppRole { mount, role_id_ref, secret_id_ref } => {
                let (role_id, secret_id) = (self.secret(role_id_ref).await?, self.secret(secret_id_ref).await?);
                exchange(client, mount, &AppRoleBody { role_id: role_id.expose(), secret_id: secret_id.expose() }).await
            }
            StoreLogin::Kubernetes { mount, role, token_ref } => {
                let jwt = self.secret(token_ref).await?;
                exchange(client, mount, &KubernetesBody { role, jwt: jwt.expose() }).await
            }
        }
    }
}

/// Learns the life of a token that was given. A policy may forbid the look; the token can be good all the same.
async fn look_at(client: &Client, token: Secret<String>) -> Result<Login, Fault> {
    match client.get("auth/token/lookup-self", None, &token).await {
        Ok(found) => {
            let own: Envelope<OwnToken> = answer::read(found.body)?;
            let (seconds, renewable) = own.data.map_or((0, false), |own| (own.ttl, own.renewable));
            Ok(Login::new(token, seconds, renewable))
        }
        Err(Fault::Denied) => Ok(Login::new(token, 0, false)),
        Err(fault) => Err(fault),
    }
}

async fn exchange(client: &Client, mount: &str, body: &impl Serialize) -> Result<Login, Fault> {
    let body = serde_json::to_vec(body).map_err(|_| Fault::Unusable("needs a login that cannot be written"))?;
    let path = format!("auth/{}/login", mount.trim_matches('/'));
    let found = client.post(&path, Bytes::from(body), None).await.map_err(|fault| match fault {
        // How a wrong role, secret or token is answered (400).
        Fault::Unusable(_) => Fault::Denied,
        fault => fault,
    })?;
    if found.status == StatusCode::NOT_FOUND {
        return Err(Fault::Denied);
    }
    let answer: LoginAnswer = answer::read(found.body)?;
    answer.auth.map(Login::of).ok_or(Fault::Unusable("needs a login that was answered without a token"))
}

/// Renews a login.
pub(crate) async fn renew(client: &Client, login: &Login) -> Result<Auth, Fault> {
    let found = client.post("auth/token/renew-self", Bytes::from_static(b"{}"), Some(&login.token)).await?;
    let answer: LoginAnswer = answer::read(found.body)?;
    answer.auth.ok_or(Fault::Unusable("needs a renewal that was answered without a lease"))
}
