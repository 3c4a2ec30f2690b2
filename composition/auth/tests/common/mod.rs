//! What the tests share: a clock that can be moved, secrets that can be changed, and the governed client over real sockets.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_auth::OutboundAuth;
pub(crate) use scion_conformance::fixtures::clock::MovedClock;
use scion_domain::auth::{AuthDeclaration, AuthMaterial, AuthRefusal};
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HttpProfile, Method, OutboundRequest, StatusCode, Url};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_http::Dialer;
use scion_jwt::Jwt;
use scion_local::SystemEntropy;
use scion_ports::{AuthFactory, CredentialProvider, HttpDialer, HttpExchange, RequestAuth};

/// Secrets by reference.
#[derive(Debug, Default)]
pub(crate) struct Vault {
    values: Mutex<HashMap<String, String>>,
    pub(crate) reads: AtomicUsize,
}

impl Vault {
    pub(crate) fn put(&self, name: &str, value: &str) {
        self.values.lock().unwrap().insert(format!("env://{name}"), value.to_owned());
    }

    pub(crate) fn remove(&self, name: &str) {
        self.values.lock().unwrap().remove(&format!("env://{name}"));
    }
}

#[async_trait]
impl CredentialProvider for Vault {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let reference = request.reference.to_string();
        let value = self.values.lock().unwrap().get(&reference).cloned();
        value.map(Secret::new).ok_or(CredentialRefusal::Missing { reference })
    }
}

pub(crate) fn desk() -> ConnectorName {
    ConnectorName::parse("desk").unwrap()
}

/// The governed client, which may dial this machine alone.
pub(crate) async fn exchange() -> Arc<dyn HttpExchange> {
    let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
    Dialer::builder().build().open(&HttpProfile { egress, ..HttpProfile::default() }).await.unwrap()
}

/// One process: a factory and what it works with.
pub(crate) struct World {
    pub(crate) clock: Arc<MovedClock>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) exchange: Arc<dyn HttpExchange>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self { clock: Arc::default(), vault: Arc::default(), exchange: exchange().await }
    }

    pub(crate) fn factory(&self) -> OutboundAuth {
        let jwt = Arc::new(Jwt::new());
        OutboundAuth::new(self.vault.clone(), self.clock.clone(), Arc::new(SystemEntropy)).jwt(jwt.clone(), jwt)
    }

    pub(crate) async fn open(&self, declaration: impl Into<AuthDeclaration>) -> Arc<dyn RequestAuth> {
        self.open_with(&self.factory(), declaration).await
    }

    pub(crate) async fn open_with(
        &self,
        factory: &OutboundAuth,
        declaration: impl Into<AuthDeclaration>,
    ) -> Arc<dyn RequestAuth> {
        factory.open(&desk(), &declaration.into(), self.exchange.clone()).await.unwrap()
    }

    /// One request as a client makes it: with the material, and once more when newer material exists.
    pub(crate) async fn call(&self, auth: &dyn RequestAuth, url: &Url) -> Result<StatusCode, AuthRefusal> {
        let material = auth.material().await?;
        let status = self.send(url, &material).await;
        if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            || !auth.rejected(material.generation, status).await?
        {
            return Ok(status);
        }
        Ok(self.send(url, &auth.material().await?).await)
    }

    pub(crate) async fn send(&self, url: &Url, material: &AuthMaterial) -> StatusCode {
        let mut request = OutboundRequest::new(Method::GET, url.clone());
        for (name, value) in &material.headers {
            assert!(value.is_sensitive(), "{name} is printed");
            request.headers.insert(name, value.clone());
        }
        for (name, value) in &material.query {
            request.url.query_pairs_mut().append_pair(name, value.expose());
        }
        self.exchange.send(request).await.unwrap().head.status
    }
}

pub(crate) fn header(material: &AuthMaterial, name: &str) -> Option<String> {
    material.headers.iter().find(|(at, _)| at.as_str() == name).map(|(_, value)| value.to_str().unwrap().to_owned())
}
