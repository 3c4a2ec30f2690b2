//! The chain of resolvers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

use crate::flight::Flights;
use crate::injected::InjectedCredentials;

/// Resolves each kind of reference with the provider for it. There is no falling back: what one provider refuses, no other is
/// asked for. Scope is checked here, before any of them.
pub struct ResolverChain {
    injected: Option<InjectedCredentials>,
    providers: BTreeMap<&'static str, Arc<dyn CredentialProvider>>,
    flights: Flights,
}

impl ResolverChain {
    /// A chain without providers, to be filled.
    pub fn builder() -> ResolverChainBuilder {
        ResolverChainBuilder::default()
    }

    /// The kinds of references it resolves, in alphabetical order.
    pub fn schemes(&self) -> impl Iterator<Item = &'static str> {
        self.providers.keys().copied()
    }
}

impl fmt::Debug for ResolverChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schemes: Vec<_> = self.schemes().collect();
        f.debug_struct("ResolverChain").field("schemes", &schemes).finish_non_exhaustive()
    }
}

/// Fills a [`ResolverChain`].
#[derive(Default)]
pub struct ResolverChainBuilder {
    injected: Option<InjectedCredentials>,
    providers: BTreeMap<&'static str, Arc<dyn CredentialProvider>>,
}

impl ResolverChainBuilder {
    /// The provider of `env://` references.
    #[must_use]
    pub fn env(mut self, provider: Arc<dyn CredentialProvider>) -> Self {
        self.providers.insert("env", provider);
        self
    }

    /// The provider of `openbao://` references.
    #[must_use]
    pub fn openbao(mut self, provider: Arc<dyn CredentialProvider>) -> Self {
        self.providers.insert("openbao", provider);
        self
    }

    /// The provider of `file://` references.
    #[must_use]
    pub fn file(mut self, provider: Arc<dyn CredentialProvider>) -> Self {
        self.providers.insert("file", provider);
        self
    }

    /// What the embedding host holds itself. It answers for the references it was given and for no others.
    #[must_use]
    pub fn injected(mut self, injected: InjectedCredentials) -> Self {
        self.injected = Some(injected);
        self
    }

    /// The chain.
    pub fn build(self) -> ResolverChain {
        ResolverChain { injected: self.injected, providers: self.providers, flights: Flights::default() }
    }
}

#[async_trait]
impl CredentialProvider for ResolverChain {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        if !request.reference.in_scope_of(&request.connector) {
            return Err(CredentialRefusal::OutOfScope { reference: request.reference.to_string() });
        }
        if let Some(answer) = self.injected.as_ref().and_then(|injected| injected.get(&request.reference)) {
            return answer;
        }
        let scheme = request.reference.scheme();
        let Some(provider) = self.providers.get(scheme) else {
            return Err(CredentialRefusal::NoProvider { scheme: scheme.to_owned() });
        };
        let answer = self.flights.fly(request, provider.resolve(request)).await;
        if let Err(refusal) = &answer {
            tracing::debug!(scheme, connector = %request.connector, code = refusal.entry().code, "reference not resolved");
        }
        answer
    }
}
