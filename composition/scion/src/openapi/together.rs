//! Several credentials on one request, as APIs want that identify the application and the user apart.

use std::sync::Arc;

use scion_domain::auth::{AuthDeclaration, AuthMaterial, AuthRefusal};
use scion_domain::http::StatusCode;
use scion_domain::id::ConnectorName;
use scion_ports::{AuthFactory, HttpExchange, RequestAuth, async_trait};

/// Opens the same declarations whatever it is asked for, and puts all of their material on each request.
pub(super) struct Together {
    factory: Arc<dyn AuthFactory>,
    declarations: Vec<AuthDeclaration>,
}

impl Together {
    pub(super) fn new(factory: Arc<dyn AuthFactory>, declarations: Vec<AuthDeclaration>) -> Self {
        Self { factory, declarations }
    }
}

#[async_trait]
impl AuthFactory for Together {
    async fn open(
        &self,
        connector: &ConnectorName,
        _declaration: &AuthDeclaration,
        exchange: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal> {
        let mut all = Vec::new();
        for declaration in &self.declarations {
            all.push(self.factory.open(connector, declaration, exchange.clone()).await?);
        }
        Ok(Arc::new(AllOf(all)))
    }
}

struct AllOf(Vec<Arc<dyn RequestAuth>>);

#[async_trait]
impl RequestAuth for AllOf {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let mut whole = AuthMaterial::default();
        for one in &self.0 {
            let material = one.material().await?;
            whole.headers.extend(material.headers);
            whole.query.extend(material.query);
            whole.strip_cookies |= material.strip_cookies;
            // Each generation only grows, so the sum does whenever one of them does.
            whole.generation += material.generation;
        }
        Ok(whole)
    }

    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal> {
        let mut current = Vec::new();
        for one in &self.0 {
            current.push(one.material().await?.generation);
        }
        // Somebody else has renewed one of them since that request was made.
        if current.iter().sum::<u64>() != generation {
            return Ok(true);
        }
        let mut newer = false;
        for (one, generation) in self.0.iter().zip(current) {
            newer |= one.rejected(generation, status).await?;
        }
        Ok(newer)
    }
}
