//! The credentials of all sources.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use scion_domain::credential::{
    SOURCE_CREDENTIALS, SourceCredentialRefusal, SourceDescriptor, SourceDescriptors, read_source_credentials,
};
use scion_domain::http::HttpProfile;
use scion_domain::id::ConnectorName;
use scion_domain::refusal::Refusal as _;
use scion_ports::{AuthFactory, CredentialProvider, HttpDialer};
use serde::Serialize;
use tokio::sync::OnceCell;

use super::credential::{SourceCredential, Workshop, build};

/// What can be told about the credential of a source. It holds no value and no reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceStatus {
    /// The source.
    pub source: String,
    /// The kind in force.
    pub kind: &'static str,
    /// Whether requests are authenticated as described.
    pub ready: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<SourceCredentialRefusal>,
}

impl SourceStatus {
    pub(super) fn new(source: &str, kind: &'static str, reason: Option<SourceCredentialRefusal>) -> Self {
        Self { source: source.to_owned(), kind, ready: reason.is_none(), reason }
    }
}

/// Where the credential of a source is kept.
#[derive(Default)]
struct Place {
    built: OnceCell<Arc<SourceCredential>>,
    /// Why it was not built last time, while that can pass.
    failed: Mutex<Option<SourceCredentialRefusal>>,
}

impl Place {
    fn failed(&self) -> Option<SourceCredentialRefusal> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the reason; whether it is a new one.
    fn fails(&self, refusal: Option<&SourceCredentialRefusal>) -> bool {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let new = failed.as_ref() != refusal;
        *failed = refusal.cloned();
        new
    }
}

/// Looks credentials up by source name. Each is built once, when it is first asked for; every later call gets the same one, so
/// that an access token is refreshed once for all. A descriptor that cannot be built is a keyless credential with a reason:
/// one bad entry never stops the others. When the reason can pass (an authority that is away), the next call builds it again.
pub struct SourceCredentials {
    descriptors: SourceDescriptors,
    built: BTreeMap<String, Place>,
    unknown: Arc<SourceCredential>,
    workshop: Workshop,
}

impl SourceCredentials {
    /// For the descriptors of `SOURCE_CREDENTIALS` in an environment; none when it is silent. The arguments are those of
    /// [`build_credential`](crate::build_credential).
    pub fn from_environment(
        environment: &BTreeMap<String, String>,
        connector: &ConnectorName,
        provider: Arc<dyn CredentialProvider>,
        factory: Arc<dyn AuthFactory>,
        dialer: Arc<dyn HttpDialer>,
        profile: HttpProfile,
    ) -> Result<Self, SourceCredentialRefusal> {
        let text = environment.get(SOURCE_CREDENTIALS).map_or("", String::as_str);
        let descriptors = read_source_credentials(text)?;
        let workshop = Workshop { connector: connector.clone(), provider, factory, dialer, profile };
        Ok(Self {
            built: descriptors.keys().map(|name| (name.clone(), Place::default())).collect(),
            descriptors,
            unknown: Arc::new(SourceCredential::keyless(Some(SourceCredentialRefusal::NotConfigured))),
            workshop,
        })
    }

    /// The credential of a source; keyless for one that has no descriptor.
    pub async fn get(&self, source: &str) -> Arc<SourceCredential> {
        let (Some(place), Some(descriptor)) = (self.built.get(source), self.descriptors.get(source)) else {
            return self.unknown.clone();
        };
        let built = place.built.get_or_try_init(|| async {
            let credential = match descriptor {
                Ok(descriptor) => build(descriptor, &self.workshop).await,
                Err(refusal) => SourceCredential::keyless(Some(refusal.clone())),
            };
            if let Some(refusal) = credential.degraded()
                && place.fails(Some(refusal))
            {
                tracing::warn!(source, code = refusal.code(), "the source is read without a credential");
            }
            let (passing, credential) = (credential.passing(), Arc::new(credential));
            if passing { Err(credential) } else { Ok(credential) }
        });
        match built.await {
            Ok(credential) => credential.clone(),
            Err(keyless) => keyless,
        }
    }

    /// The status of every described source, by name. Nothing is built or resolved for it.
    pub fn status(&self) -> Vec<SourceStatus> {
        let status = |(source, descriptor): (&String, &Result<SourceDescriptor, SourceCredentialRefusal>)| match (
            self.built.get(source).and_then(|place| place.built.get()),
            descriptor,
        ) {
            (Some(credential), _) => credential.status(source),
            (None, Err(refusal)) => SourceStatus::new(source, "keyless", Some(refusal.clone())),
            (None, Ok(descriptor)) => match self.built.get(source).and_then(Place::failed) {
                Some(refusal) => SourceStatus::new(source, "keyless", Some(refusal)),
                None => SourceStatus::new(source, descriptor.kind(), None),
            },
        };
        self.descriptors.iter().map(status).collect()
    }
}

impl fmt::Debug for SourceCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceCredentials").field("status", &self.status()).finish_non_exhaustive()
    }
}
