//! What is recorded about a demand, granted or refused (SDK-CONNECTOR-CONTROL-R035.5).

use serde::Serialize;

use super::{AccessDemand, CredentialAccessRefusal, CurrentGrant};
use crate::http::Url;
use crate::id::{ConnectorName, Digest256, TenantId};
use crate::refusal::Refusal as _;

/// How a demand ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessOutcome {
    /// The credential may be resolved. Written before it is.
    Authorized,
    /// It may not, or it was not; the code of the reason.
    Refused {
        /// A code of [`CredentialAccessRefusal`].
        reason: &'static str,
    },
}

/// What the evidence says about the grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrantEvidence {
    /// The authority's name for it.
    pub grant: String,
    /// The revision of revocations it was made under.
    pub revision: u64,
    /// Its digest.
    pub binding: Digest256,
    /// The receipt of the authorization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_receipt: Option<String>,
    /// The receipt of the host's vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vault_receipt: Option<String>,
}

/// One entry. It names the credential and holds no value, token or code; a URL in it has no user info, query or fragment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CredentialEvidence {
    /// The digest of the whole demand.
    pub request: Digest256,
    /// The verified tenant.
    pub tenant: TenantId,
    /// The principal that actually asked, also when another one owns the credential.
    pub principal: String,
    /// The client that actually asked.
    pub client: String,
    /// The admitted connector.
    pub connector: ConnectorName,
    /// The resource.
    pub resource: String,
    /// The operation.
    pub operation: String,
    /// The reference.
    pub reference: String,
    /// The grant, when the authority answered one.
    pub grant: Option<GrantEvidence>,
    /// How it ended.
    pub outcome: AccessOutcome,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

impl CredentialEvidence {
    /// The entry about a demand.
    pub fn new(
        demand: &AccessDemand,
        admitted: &ConnectorName,
        grant: Option<&CurrentGrant>,
        outcome: Result<(), &CredentialAccessRefusal>,
        at_ms: i64,
    ) -> Self {
        let grant = grant.map(|grant| {
            let facts = grant.binding.facts();
            GrantEvidence {
                grant: safe(&facts.grant),
                revision: facts.revocation_revision,
                binding: grant.binding.digest(),
                authorization_receipt: facts.receipts.authorization.as_deref().map(safe),
                vault_receipt: facts.receipts.vault.as_deref().map(safe),
            }
        });
        Self {
            request: demand.digest(),
            tenant: demand.tenant.clone(),
            principal: safe(&demand.principal),
            client: safe(&demand.client),
            connector: admitted.clone(),
            resource: safe(&demand.resource),
            operation: safe(&demand.operation),
            reference: demand.reference.to_string(),
            grant,
            outcome: match outcome {
                Ok(()) => AccessOutcome::Authorized,
                Err(refusal) => AccessOutcome::Refused { reason: refusal.code() },
            },
            at_ms,
        }
    }
}

/// A URL without what can hold a credential; any other text as it is, cut at 256 bytes.
fn safe(text: &str) -> String {
    let Some(mut url) = text.contains("://").then(|| Url::parse(text).ok()).flatten() else {
        let mut end = text.len().min(256);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        return text[..end].to_owned();
    };
    // Both fail only for URLs that cannot have user info to begin with.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::safe;

    /// Proves: SDK-CONNECTOR-CONTROL-R035.5
    #[test]
    fn urls_lose_what_can_hold_a_credential() {
        assert_eq!(safe("https://u:hunter2@desk.example/t/1?key=hunter2#hunter2"), "https://desk.example/t/1");
        assert_eq!(safe("tickets/42"), "tickets/42");
        assert_eq!(safe(&"é".repeat(200)).len(), 256);
    }
}
