//! Tokens in the name of the caller of a served tool (SDK-CONNECTOR-CONTROL-R014.8).

use async_trait::async_trait;
use scion_domain::auth::{AuthRefusal, Reason};
use scion_domain::secret::Secret;
use scion_domain::tool_context::DelegationRefusal;
use scion_ports::TokenDelegation;

use crate::exchange::ExchangeTokens;

/// Exchanges the tokens of callers as a declaration says. Made by [`OutboundAuth::delegation`](crate::OutboundAuth::delegation).
pub struct Delegation {
    pub(crate) tokens: ExchangeTokens,
}

impl std::fmt::Debug for Delegation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Delegation")
    }
}

#[async_trait]
impl TokenDelegation for Delegation {
    async fn exchange(&self, caller: &Secret<String>, scope: &str) -> Result<Secret<String>, DelegationRefusal> {
        let tokens = self.tokens.of(caller.clone(), scope);
        tokens.get(Reason::Use).await.map(|(_, token)| token).map_err(|refusal| match refusal {
            AuthRefusal::Rejected { .. } => DelegationRefusal::Refused,
            _ => DelegationRefusal::Unavailable,
        })
    }
}
