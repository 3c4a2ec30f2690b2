//! The authorization servers behind a listener.

use std::sync::Arc;

use scion_domain::auth::AuthUrl;
use scion_domain::credential::SecretRef;
use scion_domain::id::ConnectorName;
use scion_ports::{
    Clock, CredentialProvider, Entropy, HttpExchange, JwtVerifier, SignedTokens, TokenAuthorities, TokenIntrospection,
};

use crate::{Authority, Introspection, IssuerKeys, IssuerMetadata, ProviderParts};

/// Opens the way to an authority that an operator named by its URL.
pub type AuthorityExchange = Arc<dyn Fn(&AuthUrl) -> Arc<dyn HttpExchange> + Send + Sync>;

/// Asks authorization servers about the tokens that callers of a connector present.
#[derive(Clone)]
#[allow(missing_docs, reason = "each part is named after its port")]
pub struct ServedAuthorities {
    pub connector: ConnectorName,
    pub credentials: Arc<dyn CredentialProvider>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub verifier: Arc<dyn JwtVerifier>,
    pub exchange: AuthorityExchange,
}

impl std::fmt::Debug for ServedAuthorities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedAuthorities").field("connector", &self.connector).finish_non_exhaustive()
    }
}

impl TokenAuthorities for ServedAuthorities {
    fn keys(&self, issuer: &AuthUrl, keys: Option<&AuthUrl>) -> Arc<dyn SignedTokens> {
        let authority = Authority::new((self.exchange)(keys.unwrap_or(issuer)));
        let (clock, verifier) = (self.clock.clone(), self.verifier.clone());
        Arc::new(if let Some(keys) = keys {
            IssuerKeys::at(issuer.clone(), keys.clone(), authority, clock, verifier)
        } else {
            let metadata = IssuerMetadata::new(issuer.clone(), authority.clone(), clock.clone());
            IssuerKeys::new(Arc::new(metadata), authority, clock, verifier)
        })
    }

    fn introspection(&self, issuer: &AuthUrl, client_id: &str, secret: &SecretRef) -> Arc<dyn TokenIntrospection> {
        let parts = ProviderParts {
            connector: self.connector.clone(),
            credentials: self.credentials.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            signer: None,
            exchange: (self.exchange)(issuer),
        };
        Arc::new(Introspection::discovered(issuer.clone(), client_id, secret, parts))
    }
}
