//! Tokens in the name of the caller (SDK-CONNECTOR-CONTROL-R014.8).

use scion_domain::secret::Secret;
use scion_domain::tool_context::{ActorContext, ActorRefusal, DelegationRefusal};

use crate::ToolContext;

impl ToolContext {
    /// The user the call acts for, from the verified token; refused without one (SDK-CONNECTOR-CONTROL-R902). A tool declared with
    /// `requires_actor` always has one.
    pub fn actor(&self) -> Result<ActorContext<'_>, ActorRefusal> {
        ActorContext::of(self.scope(), self.call.runtime.governance.actor_audience.as_deref())
    }

    /// Whether tokens of callers are exchanged here.
    pub fn is_delegation_enabled(&self) -> bool {
        self.call.runtime.governance.delegation.is_some()
    }

    /// A token for `scope` in the name of the caller, from the authorization server; empty for the configured scopes. A call
    /// without a verified token of a user needs a login first.
    pub async fn delegated_token(&self, scope: &str) -> Result<Secret<String>, DelegationRefusal> {
        let delegation = self.call.runtime.governance.delegation.as_ref().ok_or(DelegationRefusal::Disabled)?;
        let token = self.scope().token.as_ref().ok_or(DelegationRefusal::LoginRequired)?;
        let exchanged = delegation.exchange(&token.text, scope);
        tokio::time::timeout_at(self.call.deadline, exchanged).await.unwrap_or(Err(DelegationRefusal::Unavailable))
    }
}
