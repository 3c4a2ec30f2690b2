//! What is asked for.

use std::collections::BTreeSet;

use super::{AccessFactRefusal, check_scopes, check_text};
use crate::credential::SecretRef;
use crate::digest::framed;
use crate::id::{ConnectorName, Digest256, TenantId};

/// Which token profile of a provider a grant is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenProfilePin {
    /// The declared name of the profile.
    pub name: String,
    /// Its revision.
    pub revision: u32,
}

/// One demand for one credential. Tenant, principal and client are what authentication found out about the caller, never what
/// the request says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessDemand {
    /// The verified tenant.
    pub tenant: TenantId,
    /// The verified principal on whose behalf the call is made.
    pub principal: String,
    /// The verified client that makes the call.
    pub client: String,
    /// The connector the call names; compared with the admitted one.
    pub connector: ConnectorName,
    /// The provider the credential is for.
    pub provider: String,
    /// The audience the credential is sent to.
    pub audience: String,
    /// The scopes the call needs.
    pub scopes: BTreeSet<String>,
    /// The resource it touches.
    pub resource: String,
    /// The operation.
    pub operation: String,
    /// The credential.
    pub reference: SecretRef,
    /// The token profile in force.
    pub profile: TokenProfilePin,
}

impl AccessDemand {
    /// Checks the bounds: each text 1 to 256 bytes without control characters, at most 64 scopes.
    pub fn check(&self) -> Result<(), AccessFactRefusal> {
        for (fact, text) in [
            ("principal", &self.principal),
            ("client", &self.client),
            ("provider", &self.provider),
            ("audience", &self.audience),
            ("resource", &self.resource),
            ("operation", &self.operation),
            ("token profile", &self.profile.name),
        ] {
            check_text(fact, text)?;
        }
        check_scopes(&self.scopes)
    }

    /// The digest of everything that is demanded, for evidence.
    pub fn digest(&self) -> Digest256 {
        let (reference, revision) = (self.reference.to_string(), self.profile.revision.to_be_bytes());
        let mut fields: Vec<&[u8]> = vec![
            self.tenant.as_str().as_bytes(),
            self.principal.as_bytes(),
            self.client.as_bytes(),
            self.connector.as_str().as_bytes(),
            self.provider.as_bytes(),
            self.audience.as_bytes(),
            self.resource.as_bytes(),
            self.operation.as_bytes(),
            reference.as_bytes(),
            self.profile.name.as_bytes(),
            &revision,
        ];
        fields.extend(self.scopes.iter().map(String::as_bytes));
        framed("scion/credential-demand/v1", &fields)
    }
}
