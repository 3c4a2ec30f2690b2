//! The login that is in force.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scion_domain::http::Bytes;
use tokio::time::Instant;

use crate::client::Client;
use crate::fault::Fault;
use crate::login::{Login, Logins, renew};

/// A login this young that meets a refusal is not replaced: its policies say no.
const YOUNG: Duration = Duration::from_secs(1);

/// Holds one login for all callers. Whoever needs another one waits for the turn; the others wait for what comes of it, a failure
/// included. Whoever goes away while it has the turn gives it to the next.
pub(crate) struct Session {
    logins: Logins,
    current: Mutex<Option<Arc<Login>>>,
    /// The failure of the last attempt, for those that waited for it.
    turn: tokio::sync::Mutex<Option<Fault>>,
    attempts: AtomicU64,
}

impl Session {
    pub(crate) fn new(logins: Logins) -> Self {
        Self { logins, current: Mutex::new(None), turn: tokio::sync::Mutex::new(None), attempts: AtomicU64::new(0) }
    }

    fn current(&self) -> Option<Arc<Login>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, login: Option<Login>) -> Option<Arc<Login>> {
        let login = login.map(Arc::new);
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&login);
        login
    }

    /// A login that lives, renewed when two thirds of its life are over.
    pub(crate) async fn login(&self, client: &Client) -> Result<Arc<Login>, Fault> {
        let held = self.current();
        let Some(held) = held else { return self.replace(client, None).await };
        if let Some(given) = self.logins.given_token().await
            && given?.expose() != held.token.expose()
        {
            return self.replace(client, Some(held)).await;
        }
        let now = Instant::now();
        if held.is_dead(now) {
            return self.replace(client, Some(held)).await;
        }
        if held.due().is_some_and(|due| now >= due) {
            return self.renew(client, held).await;
        }
        Ok(held)
    }

    /// Renews, or replaces what cannot be renewed. Until that is done the old token is good for everybody else, and it is good
    /// for this caller when the server does not answer now.
    async fn renew(&self, client: &Client, held: Arc<Login>) -> Result<Arc<Login>, Fault> {
        let Ok(mut turn) = self.turn.try_lock() else { return Ok(held) };
        let renewed = if held.renewable {
            renew(client, &held).await.map(|auth| held.renewed(&auth))
        } else {
            Err(Fault::Denied)
        };
        let outcome = match renewed {
            Ok(login) => Ok(login),
            Err(Fault::Unavailable) => Err(Fault::Unavailable),
            Err(_) => self.logins.log_in(client).await,
        };
        *turn = None;
        let login = outcome.unwrap_or_else(|_| {
            tracing::debug!("the login of the secret store was not renewed; its token is used while it lives");
            held.later(Instant::now())
        });
        Ok(self.set(Some(login)).unwrap_or(held))
    }

    /// Another login than `dead`: the one that somebody else made meanwhile, or a new one.
    async fn replace(&self, client: &Client, dead: Option<Arc<Login>>) -> Result<Arc<Login>, Fault> {
        let seen = self.attempts.load(Ordering::Acquire);
        let mut turn = self.turn.lock().await;
        let same = |held: &Arc<Login>| dead.as_ref().is_some_and(|dead| Arc::ptr_eq(dead, held));
        if let Some(held) = self.current().filter(|held| !same(held)) {
            return Ok(held);
        }
        if let (true, Some(fault)) = (self.attempts.load(Ordering::Acquire) != seen, turn.as_ref()) {
            return Err(fault.clone());
        }
        let outcome = self.logins.log_in(client).await;
        self.attempts.fetch_add(1, Ordering::Release);
        match outcome {
            Ok(login) => {
                *turn = None;
                self.set(Some(login)).ok_or(Fault::Unavailable)
            }
            Err(fault) => {
                self.set(None);
                *turn = Some(fault.clone());
                Err(fault)
            }
        }
    }

    /// After a refusal: another login when the token is dead, `None` when it lives and its policies say no.
    pub(crate) async fn after_denial(&self, client: &Client, used: Arc<Login>) -> Result<Option<Arc<Login>>, Fault> {
        match client.get("auth/token/lookup-self", None, &used.token).await {
            Ok(_) => return Ok(None),
            Err(Fault::Denied) => {}
            Err(fault) => return Err(fault),
        }
        let given = self.logins.given_token().await.transpose()?;
        let same = given.is_some_and(|given| given.expose() == used.token.expose());
        if same || used.at.elapsed() < YOUNG {
            return Ok(None);
        }
        self.replace(client, Some(used)).await.map(Some)
    }

    /// When the login has to be looked after; `None` when there is none, or it lives for ever.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.current().and_then(|login| login.due())
    }

    /// Ends the login at the server, and with it everything that was leased under it.
    pub(crate) async fn log_out(&self, client: &Client) -> Result<(), Fault> {
        let Some(held) = self.current() else { return Ok(()) };
        self.set(None);
        // A token that was given belongs to whoever gave it.
        if self.logins.given_token().await.is_none() {
            client.post("auth/token/revoke-self", Bytes::from_static(b"{}"), Some(&held.token)).await?;
        }
        Ok(())
    }
}
