use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{AuthDeclaration, AuthMaterial, AuthRefusal};
use scion_domain::http::StatusCode;
use scion_domain::id::ConnectorName;

use crate::HttpExchange;

/// Authenticates the requests of one client.
///
/// Obligations:
/// - **O1** `material` answers a credential that is current; it refreshes one that is about to expire, once for all callers.
/// - **O2** `rejected` is told that the server refused (401, or 403 where the scheme says so) material of a generation. It answers
///   whether newer material exists now: at most one renewal per generation, whoever asks.
/// - **O3** "Rejected" and "unreachable" are different refusals.
/// - **O4** No value appears in a refusal, log line or `Debug` text.
#[async_trait]
pub trait RequestAuth: Send + Sync {
    /// What to add to the next request.
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal>;

    /// Whether a request refused with this status is worth one more try.
    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal>;

    /// Like `rejected`, with what the server asks for: the values of its `WWW-Authenticate`. They are text of a stranger. Whoever
    /// does not look at them answers by the status alone, and only 401 is a refusal of the material then.
    async fn challenged(&self, generation: u64, status: StatusCode, _challenges: &[&str]) -> Result<bool, AuthRefusal> {
        if status == StatusCode::UNAUTHORIZED { self.rejected(generation, status).await } else { Ok(false) }
    }
}

/// Turns a declaration into something that authenticates.
#[async_trait]
pub trait AuthFactory: Send + Sync {
    /// Opens it for one connector. Exchanges with authorities (token endpoints, key sets) go through `exchange`.
    async fn open(
        &self,
        connector: &ConnectorName,
        declaration: &AuthDeclaration,
        exchange: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal>;
}
