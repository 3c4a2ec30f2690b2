//! Fixed secrets: read again when a server refuses them, and tried again only when they changed.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{ApiKey, AuthMaterial, AuthRefusal, Basic, Bearer, KeyPlace};
use scion_domain::credential::SecretSource;
use scion_domain::http::StatusCode;
use scion_domain::secret::Secret;
use scion_ports::{Clock, RequestAuth};
use tokio::sync::Mutex;

use crate::secrets::Secrets;

/// How long an answer "has not changed" holds: requests that fail together ask the secret store once.
const RECHECK_MS: i64 = 1_000;

pub(crate) enum Scheme {
    Bearer(Bearer),
    ApiKey(ApiKey),
    Basic(Basic),
}

struct Current {
    values: Vec<Secret<String>>,
    generation: u64,
    checked_at_ms: i64,
}

pub(crate) struct StaticAuth {
    scheme: Scheme,
    secrets: Secrets,
    clock: Arc<dyn Clock>,
    current: Mutex<Option<Current>>,
}

impl StaticAuth {
    pub(crate) fn new(scheme: Scheme, secrets: Secrets, clock: Arc<dyn Clock>) -> Self {
        Self { scheme, secrets, clock, current: Mutex::new(None) }
    }

    async fn read(&self) -> Result<Vec<Secret<String>>, AuthRefusal> {
        let slots = match &self.scheme {
            Scheme::Bearer(bearer) => vec![bearer.token_ref.get("token_ref")?],
            Scheme::ApiKey(key) => vec![key.key_ref.get("key_ref")?],
            Scheme::Basic(basic) => {
                let mut slots = vec![basic.password_ref.get("password_ref")?];
                if let Some(name) = &basic.username_ref {
                    slots.push(name.get("username_ref")?);
                }
                slots
            }
        };
        let mut values = Vec::with_capacity(slots.len());
        for reference in slots {
            values.push(self.secrets.resolve(&SecretSource::Reference(reference.clone())).await?);
        }
        Ok(values)
    }

    fn build(&self, current: &Current) -> Result<AuthMaterial, AuthRefusal> {
        let [secret, rest @ ..] = current.values.as_slice() else { return Ok(AuthMaterial::default()) };
        let mut material = match &self.scheme {
            Scheme::Bearer(bearer) => {
                AuthMaterial::header("authorization", &format!("{} ", bearer.scheme), secret, "token_ref")?
            }
            Scheme::ApiKey(key) => {
                let mut material = match key.place {
                    KeyPlace::Header => AuthMaterial::header(&key.name, &key.prefix, secret, "key_ref")?,
                    KeyPlace::Query => {
                        AuthMaterial { query: vec![(key.name.clone(), secret.clone())], ..AuthMaterial::default() }
                    }
                };
                material.strip_cookies = true;
                material
            }
            Scheme::Basic(basic) => {
                let plain = basic.username.clone().map(Secret::new);
                let name = plain.as_ref().or(rest.first());
                let missing = AuthRefusal::Configuration { field: "username", what: "is missing" };
                AuthMaterial::basic(name.ok_or(missing)?, secret)?
            }
        };
        material.generation = current.generation;
        Ok(material)
    }
}

fn same(left: &[Secret<String>], right: &[Secret<String>]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.expose() == right.expose())
}

#[async_trait]
impl RequestAuth for StaticAuth {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let mut current = self.current.lock().await;
        if current.is_none() {
            let values = self.read().await?;
            *current = Some(Current { values, generation: 1, checked_at_ms: i64::MIN });
        }
        current.as_ref().map_or_else(|| Ok(AuthMaterial::default()), |current| self.build(current))
    }

    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal> {
        if status != StatusCode::UNAUTHORIZED {
            return Ok(false);
        }
        let mut current = self.current.lock().await;
        let Some(current) = current.as_mut() else { return Ok(true) };
        if current.generation > generation {
            return Ok(true);
        }
        let now = self.clock.unix_millis();
        if now.saturating_sub(current.checked_at_ms) < RECHECK_MS {
            return Ok(false);
        }
        let values = self.read().await?;
        current.checked_at_ms = now;
        if same(&values, &current.values) {
            return Ok(false);
        }
        current.values = values;
        current.generation += 1;
        // The changed secret has not been refused: a refusal of it is looked into at once.
        current.checked_at_ms = i64::MIN;
        Ok(true)
    }
}
