//! No credential.

use async_trait::async_trait;
use scion_domain::auth::{AuthMaterial, AuthRefusal};
use scion_domain::http::StatusCode;
use scion_ports::RequestAuth;

/// For connectors whose vendor wants no credential: it adds nothing to any request and has nothing to renew
/// (SDK-CONNECTOR-CONTROL-R014.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoCredential;

#[async_trait]
impl RequestAuth for NoCredential {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        Ok(AuthMaterial::default())
    }

    async fn rejected(&self, _generation: u64, _status: StatusCode) -> Result<bool, AuthRefusal> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: SDK-CONNECTOR-CONTROL-R014.9
    #[tokio::test]
    async fn it_contributes_nothing() {
        let material = NoCredential.material().await.unwrap();
        assert!(material.headers.is_empty() && material.query.is_empty() && !material.strip_cookies);
        assert_eq!(material.generation, 0);
        assert_eq!(NoCredential.rejected(0, StatusCode::UNAUTHORIZED).await, Ok(false));
    }
}
