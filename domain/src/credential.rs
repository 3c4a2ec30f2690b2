//! Secret references and what resolving one can be refused for (`wire/mcp-surface.md` 6.5).

pub mod access;
mod provider;
mod reference;
mod runtime;
mod sensitivity;
mod source;
mod source_credential;
mod store;

pub use provider::{
    AGENT_PROVIDER_PROFILE, PROVIDER_CONFIGS, ProviderProfile, ProviderProfiles, ProviderRefusal, RegisteredProfiles,
    RuntimeProfile, TlsReferences, TlsSelector, provider_endpoint,
};
pub use reference::{ReferenceRefusal, SecretRef};
pub use runtime::{RuntimeArgument, RuntimeRef, RuntimeSecretRefusal, is_runtime_reference};
pub use sensitivity::is_sensitive_key;
pub use source::SecretSource;
pub use source_credential::{
    SOURCE_CREDENTIALS, SourceCredentialRefusal, SourceDescriptor, SourceDescriptors, SourceKeyPlace, SourceUser,
    read_source_credentials,
};
pub use store::{
    KvVersion, OPENBAO_ADDR, OPENBAO_NAMESPACE, OPENBAO_TOKEN_REF, StoreLogin, StoreSettingRefusal, StoreSettings,
};

use crate::id::ConnectorName;
use crate::refusals;

/// A request to resolve one reference on behalf of one connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialRequest {
    /// On whose behalf; a provider refuses references outside this connector's scope.
    pub connector: ConnectorName,
    /// What to resolve.
    pub reference: SecretRef,
}

refusals! {
    /// Why a reference was not resolved.
    pub enum CredentialRefusal {
        /// The reference is outside the connector's scope.
        OutOfScope { reference: String } => "credential_out_of_scope", Denied, Never,
            "{reference} is outside this connector's scope", "use a reference below the connector's own name";
        /// The access authority does not grant it for this call; `reason` is the code of its closed reason.
        NotGranted { reference: String, reason: &'static str } => "credential_not_granted", Denied, Never,
            "{reference} is not granted for this call ({reason})", "see the reason for what to do";
        /// Nothing is there, or it is empty.
        Missing { reference: String } => "credential_missing", CallerMistake, Never,
            "{reference} is not set", "set it, then start again";
        /// No provider answers for this kind of reference.
        NoProvider { scheme: String } => "credential_no_provider", CallerMistake, Never,
            "no provider resolves {scheme} references", "configure one, or use another kind of reference";
        /// That version was deleted or destroyed; `what` says which.
        VersionGone { reference: String, what: &'static str } => "credential_version_gone", CallerMistake, Never,
            "the version {reference} names was {what}", "name another version, or store the secret again";
        /// Something is there that cannot be used as a secret; `what` says why.
        Unusable { reference: String, what: &'static str } => "credential_unusable", CallerMistake, Never,
            "what {reference} names {what}", "store the secret as one text, readable by this program alone";
        /// The secret store cannot be reached.
        Unavailable { reference: String } => "credential_store_unavailable", Unavailable, Later,
            "the store behind {reference} does not answer", "check the secret store";
        /// The secret store refuses.
        Denied { reference: String } => "credential_denied", Denied, Never,
            "the store behind {reference} refuses", "check the policy of this connector";
    }
}
