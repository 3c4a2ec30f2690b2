use std::sync::Arc;
use std::time::Instant;

use super::ToolContextRefusal;
use crate::id::{ConnectorName, TenantId};
use crate::surface::CallScope;

/// Who makes a call, of what, until when. Every part was verified or declared; none was read from the call's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolExecutionContext {
    /// The verified tenant.
    pub tenant: TenantId,
    /// The verified person or service.
    pub actor: String,
    /// The session: the transport's, or the caller's client where the protocol has none.
    pub session: Arc<str>,
    /// The request.
    pub request: Arc<str>,
    /// The connector.
    pub connector: ConnectorName,
    /// The operation.
    pub operation: Arc<str>,
    /// When its time is over.
    pub deadline: Instant,
    /// Whether the client gave a progress token. The token itself stays with the transport.
    pub reports_progress: bool,
}

/// What a context is bound from.
#[derive(Clone, Copy, Debug)]
pub struct ContextParts<'a> {
    /// The request, as the transport knows it.
    pub scope: &'a CallScope,
    /// The connector.
    pub connector: &'a ConnectorName,
    /// The operation.
    pub operation: &'a Arc<str>,
    /// When its time is over.
    pub deadline: Instant,
    /// Whether the client gave a progress token.
    pub reports_progress: bool,
}

impl ToolExecutionContext {
    /// Binds a context; refuses without a verified caller or a request id, and when the caller and the token disagree.
    pub fn bind(parts: ContextParts<'_>) -> Result<Self, ToolContextRefusal> {
        let refuse = |what| ToolContextRefusal::InvalidContext { what };
        let scope = parts.scope;
        Self::check(scope)?;
        let caller = scope.caller.as_ref().ok_or_else(|| refuse("nobody verified the caller"))?;
        let request = scope.request.clone().ok_or_else(|| refuse("the request has no id"))?;
        if request.is_empty() || parts.operation.is_empty() {
            return Err(refuse("an id is empty"));
        }
        Ok(Self {
            tenant: caller.tenant.clone(),
            actor: caller.principal.clone(),
            session: scope.session.clone().unwrap_or_else(|| caller.client.as_str().into()),
            request,
            connector: parts.connector.clone(),
            operation: Arc::clone(parts.operation),
            deadline: parts.deadline,
            reports_progress: parts.reports_progress,
        })
    }

    /// Whether the parts of an identity agree: a token belongs to the caller, and says the same tenant and subject.
    pub fn check(scope: &CallScope) -> Result<(), ToolContextRefusal> {
        let refuse = |what| Err(ToolContextRefusal::InvalidContext { what });
        let Some(token) = &scope.token else { return Ok(()) };
        let Some(caller) = &scope.caller else { return refuse("a token without a caller") };
        match (&token.verified.tenant, &token.verified.subject) {
            (Some(tenant), _) if tenant != caller.tenant.as_str() => refuse("caller and token name different tenants"),
            (_, Some(subject)) if *subject != caller.principal => refuse("caller and token name different subjects"),
            _ => Ok(()),
        }
    }
}
