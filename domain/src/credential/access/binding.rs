//! What an authority grants.

use std::collections::BTreeSet;

use super::{AccessDemand, AccessFactRefusal, CredentialAccessRefusal, TokenProfilePin, check_scopes, check_text};
use crate::credential::SecretRef;
use crate::digest::framed;
use crate::id::{ConnectorName, Digest256, TenantId};

/// Opaque names of the entries other systems made about a grant, joined into the evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessReceipts {
    /// Of the authorization.
    pub authorization: Option<String>,
    /// Of the host's vault.
    pub vault: Option<String>,
}

/// The facts of a grant. Only an access authority makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingFacts {
    /// The tenant.
    pub tenant: TenantId,
    /// Whose credential it is.
    pub owner: String,
    /// Who may have it used on its behalf.
    pub principal: String,
    /// The client that may use it.
    pub client: String,
    /// The connector that may use it.
    pub connector: ConnectorName,
    /// The provider it is for.
    pub provider: String,
    /// The audience it may be sent to.
    pub audience: String,
    /// The most it may be used for.
    pub scopes: BTreeSet<String>,
    /// The resource.
    pub resource: String,
    /// The operation.
    pub operation: String,
    /// The authority's name for the grant; means nothing here.
    pub grant: String,
    /// The credential, by reference.
    pub vault: SecretRef,
    /// When it ends, in milliseconds since the Unix epoch.
    pub expires_at_ms: i64,
    /// The revision of revocations it was made under.
    pub revocation_revision: u64,
    /// The provider's token profile it was made for.
    pub profile: TokenProfilePin,
    /// What other systems recorded about it.
    pub receipts: AccessReceipts,
}

/// A grant with usable facts. It cannot be read from JSON or from request parameters: an authority makes it in code, so that
/// no caller can assert one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialAccessBinding(BindingFacts);

impl CredentialAccessBinding {
    /// Checks the bounds of the facts, those of [`AccessDemand::check`].
    pub fn new(facts: BindingFacts) -> Result<Self, AccessFactRefusal> {
        let receipts = [&facts.receipts.authorization, &facts.receipts.vault];
        for (fact, text) in [
            ("owner", &facts.owner),
            ("principal", &facts.principal),
            ("client", &facts.client),
            ("provider", &facts.provider),
            ("audience", &facts.audience),
            ("resource", &facts.resource),
            ("operation", &facts.operation),
            ("grant", &facts.grant),
            ("token profile", &facts.profile.name),
        ] {
            check_text(fact, text)?;
        }
        receipts.into_iter().flatten().try_for_each(|text| check_text("receipt", text))?;
        check_scopes(&facts.scopes)?;
        Ok(Self(facts))
    }

    /// The facts.
    pub const fn facts(&self) -> &BindingFacts {
        &self.0
    }

    /// The digest of all facts but the receipts.
    pub fn digest(&self) -> Digest256 {
        let facts = &self.0;
        let (reference, expiry) = (facts.vault.to_string(), facts.expires_at_ms.to_be_bytes());
        let (revision, profile) = (facts.revocation_revision.to_be_bytes(), facts.profile.revision.to_be_bytes());
        let mut fields: Vec<&[u8]> = vec![
            facts.tenant.as_str().as_bytes(),
            facts.owner.as_bytes(),
            facts.principal.as_bytes(),
            facts.client.as_bytes(),
            facts.connector.as_str().as_bytes(),
            facts.provider.as_bytes(),
            facts.audience.as_bytes(),
            facts.resource.as_bytes(),
            facts.operation.as_bytes(),
            facts.grant.as_bytes(),
            reference.as_bytes(),
            &expiry,
            &revision,
            facts.profile.name.as_bytes(),
            &profile,
        ];
        fields.extend(facts.scopes.iter().map(String::as_bytes));
        framed("scion/credential-binding/v1", &fields)
    }
}

/// What an authority answers now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentGrant {
    /// The grant.
    pub binding: CredentialAccessBinding,
    /// The revision of revocations in force. A grant made under an earlier one is revoked.
    pub revocation_revision: u64,
}

impl CurrentGrant {
    /// Whether this grant admits exactly this demand at this time. Every part must be the same; scopes may be fewer.
    pub fn admits(&self, demand: &AccessDemand, now_ms: i64) -> Result<(), CredentialAccessRefusal> {
        let facts = self.binding.facts();
        let same = [
            ("tenant", facts.tenant == demand.tenant),
            ("client", facts.client == demand.client),
            ("principal", facts.principal == demand.principal),
            ("connector", facts.connector == demand.connector),
            ("provider", facts.provider == demand.provider),
            ("audience", facts.audience == demand.audience),
            ("resource", facts.resource == demand.resource),
            ("operation", facts.operation == demand.operation),
            ("credential", facts.vault == demand.reference),
            ("token profile", facts.profile == demand.profile),
        ];
        if let Some((what, _)) = same.into_iter().find(|(_, same)| !same) {
            return Err(CredentialAccessRefusal::BindingMismatch { what });
        }
        if facts.revocation_revision < self.revocation_revision {
            return Err(CredentialAccessRefusal::Revoked);
        }
        if now_ms >= facts.expires_at_ms {
            return Err(CredentialAccessRefusal::GrantExpired);
        }
        if !demand.scopes.is_subset(&facts.scopes) {
            return Err(CredentialAccessRefusal::ScopeDenied);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal as _;

    fn texts(of: &[&str]) -> BTreeSet<String> {
        of.iter().map(|text| (*text).to_owned()).collect()
    }

    fn facts() -> BindingFacts {
        BindingFacts {
            tenant: TenantId::parse("acme").unwrap(),
            owner: "team-desk".into(),
            principal: "ada".into(),
            client: "assistant".into(),
            connector: ConnectorName::parse("desk-mcp").unwrap(),
            provider: "desk".into(),
            audience: "https://desk.example".into(),
            scopes: texts(&["tickets:read", "tickets:write"]),
            resource: "tickets/42".into(),
            operation: "close".into(),
            grant: "grant-7".into(),
            vault: SecretRef::parse("openbao://apps/desk-mcp/api#token").unwrap(),
            expires_at_ms: 1000,
            revocation_revision: 3,
            profile: TokenProfilePin { name: "opaque".into(), revision: 1 },
            receipts: AccessReceipts::default(),
        }
    }

    fn demand() -> AccessDemand {
        let facts = facts();
        AccessDemand {
            tenant: facts.tenant,
            principal: facts.principal,
            client: facts.client,
            connector: facts.connector,
            provider: facts.provider,
            audience: facts.audience,
            scopes: texts(&["tickets:read"]),
            resource: facts.resource,
            operation: facts.operation,
            reference: facts.vault,
            profile: facts.profile,
        }
    }

    fn grant(facts: BindingFacts) -> CurrentGrant {
        CurrentGrant { binding: CredentialAccessBinding::new(facts).unwrap(), revocation_revision: 3 }
    }

    type Change<T> = fn(&mut T);

    /// Proves: SDK-CONNECTOR-CONTROL-R035.1, SDK-CONNECTOR-CONTROL-R035.4
    #[test]
    fn a_demand_has_at_most_so_many_scopes() {
        let with = |count: usize| AccessDemand { scopes: (0..count).map(|n| format!("s{n}")).collect(), ..demand() };
        assert_eq!(with(64).check(), Ok(()));
        let refusal = with(65).check().unwrap_err();
        assert_eq!(
            (refusal.code(), refusal.to_string().as_str()),
            ("access_fact_scopes", "there are more than 64 scopes")
        );
    }

    #[test]
    fn every_part_of_a_demand_must_be_the_granted_one() {
        assert_eq!(grant(facts()).admits(&demand(), 999), Ok(()));
        let changes: [(&str, Change<AccessDemand>); 10] = [
            ("tenant", |d| d.tenant = TenantId::parse("other").unwrap()),
            ("client", |d| d.client = "other".into()),
            ("principal", |d| d.principal = "eve".into()),
            ("connector", |d| d.connector = ConnectorName::parse("other-mcp").unwrap()),
            ("provider", |d| d.provider = "other".into()),
            ("audience", |d| d.audience = "https://other.example".into()),
            ("resource", |d| d.resource = "tickets/43".into()),
            ("operation", |d| d.operation = "delete".into()),
            ("credential", |d| d.reference = SecretRef::Env { name: "TOKEN".into() }),
            ("token profile", |d| d.profile.revision = 2),
        ];
        for (what, change) in changes {
            let mut changed = demand();
            change(&mut changed);
            let refused = grant(facts()).admits(&changed, 999);
            assert_eq!(refused, Err(CredentialAccessRefusal::BindingMismatch { what }));
            assert_ne!(changed.digest(), demand().digest(), "{what} is not in the digest");
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R035.1, SDK-CONNECTOR-CONTROL-R035.4
    #[test]
    fn time_revocation_and_scopes_end_a_grant() {
        let codes = |grant: &CurrentGrant, demand: &AccessDemand, now| grant.admits(demand, now).unwrap_err().code();
        assert_eq!(codes(&grant(facts()), &demand(), 1000), "grant_expired");
        let revoked = CurrentGrant { revocation_revision: 4, ..grant(facts()) };
        assert_eq!(codes(&revoked, &demand(), 0), "revoked");
        let wide = AccessDemand { scopes: texts(&["tickets:read", "admin"]), ..demand() };
        assert_eq!(codes(&grant(facts()), &wide, 0), "scope_denied");
        assert_ne!(wide.digest(), demand().digest());
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R035.1
    #[test]
    fn facts_are_bounded_and_all_in_the_digest() {
        let base = CredentialAccessBinding::new(facts()).unwrap().digest();
        let changes: [Change<BindingFacts>; 6] = [
            |f| f.owner = "other".into(),
            |f| f.grant = "grant-8".into(),
            |f| f.expires_at_ms += 1,
            |f| f.revocation_revision += 1,
            |f| f.profile.name = "jwt".into(),
            |f| f.scopes = BTreeSet::new(),
        ];
        for change in changes {
            let mut changed = facts();
            change(&mut changed);
            assert_ne!(CredentialAccessBinding::new(changed).unwrap().digest(), base);
        }
        let bad: [Change<BindingFacts>; 4] = [
            |f| f.client = String::new(),
            |f| f.resource = "a\nb".into(),
            |f| f.audience = "a".repeat(257),
            |f| f.scopes = (0..65).map(|number| number.to_string()).collect(),
        ];
        for change in bad {
            let mut changed = facts();
            change(&mut changed);
            assert!(CredentialAccessBinding::new(changed).is_err());
        }
        let nobody = AccessDemand { principal: String::new(), ..demand() };
        assert_eq!(nobody.check(), Err(AccessFactRefusal::Text { fact: "principal" }));
        assert_eq!(demand().check(), Ok(()));
    }
}
