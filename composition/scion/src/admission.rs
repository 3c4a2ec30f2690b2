//! Who may call a connector that listens on the network, over the way out of this machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_auth::ServedAuthorities;
use scion_domain::auth::AuthUrl;
use scion_domain::id::ConnectorName;
use scion_domain::served_security::ServedSecurityRefusal;
use scion_jwt::Jwt;
use scion_local::{SystemClock, SystemEntropy};
use scion_mcp_server::Security;
use scion_ports::HttpExchange;
use scion_served_auth::{SecurityParts, ServedSecuritySettings};

use crate::http::Outbound;

/// The security of a listener as an environment says, in which flags stand under the names of their variables. It is refused
/// without a way to check callers or without an audience; secrets are read now (SDK-CONNECTOR-CONTROL-R014.18).
pub async fn served_security(
    environment: &BTreeMap<String, String>,
    connector: &ConnectorName,
    outbound: &Outbound,
) -> Result<Security, ServedSecurityRefusal> {
    let settings = ServedSecuritySettings::from_environment(environment)?;
    let (clock, jwt) = (Arc::new(SystemClock::new()), Arc::new(Jwt::new()));
    let (way, owner) = (outbound.clone(), connector.clone());
    let authorities = ServedAuthorities {
        connector: connector.clone(),
        credentials: outbound.credentials(),
        clock: clock.clone(),
        entropy: Arc::new(SystemEntropy),
        verifier: jwt.clone(),
        exchange: Arc::new(move |url: &AuthUrl| -> Arc<dyn HttpExchange> {
            Arc::new(way.endpoint(&owner, url.as_text()))
        }),
    };
    let parts = SecurityParts {
        connector: connector.clone(),
        credentials: outbound.credentials(),
        clock,
        jwt,
        authorities: Arc::new(authorities),
    };
    let (verifier, profile) = settings.open(&parts).await?;
    Ok(Security::Verified { verifier, profile: Arc::new(profile) })
}
