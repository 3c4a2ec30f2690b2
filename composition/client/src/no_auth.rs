use std::sync::Arc;

use scion_domain::auth::{AuthDeclaration, AuthRefusal};
use scion_domain::id::ConnectorName;
use scion_ports::{AuthFactory, HttpExchange, RequestAuth, async_trait};

/// A factory for a program whose clients carry no credential: any declaration but [`AuthDeclaration::NoAuth`] is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAuthOnly;

#[async_trait]
impl AuthFactory for NoAuthOnly {
    async fn open(
        &self,
        _: &ConnectorName,
        _: &AuthDeclaration,
        _: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal> {
        Err(AuthRefusal::Configuration { field: "kind", what: "needs a program that can authenticate" })
    }
}
