//! Reading the material of profiles: files, and references through the credential provider.

use std::path::Path;
use std::sync::Arc;

use scion_domain::credential::{CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_domain::tls::Material;
use scion_ports::CredentialProvider;
use tokio::io::AsyncReadExt as _;

/// The largest piece of material, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Where references are resolved, and for whom.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) connector: ConnectorName,
    pub(crate) provider: Arc<dyn CredentialProvider>,
}

/// Reads material; `None` when it is not there, too large, empty, or nobody resolves references.
pub(crate) async fn read(material: &Material, credentials: Option<&Credentials>) -> Option<Secret<Vec<u8>>> {
    match material {
        Material::File(path) => file(path).await,
        Material::Reference(reference) => {
            let text = resolve(reference, credentials).await?;
            Some(Secret::new(text.expose().as_bytes().to_vec()))
        }
    }
}

/// The value of a reference.
pub(crate) async fn resolve(reference: &SecretRef, credentials: Option<&Credentials>) -> Option<Secret<String>> {
    let Credentials { connector, provider } = credentials?;
    let request = CredentialRequest { connector: connector.clone(), reference: reference.clone() };
    provider.resolve(&request).await.ok()
}

async fn file(path: &Path) -> Option<Secret<Vec<u8>>> {
    let file = tokio::fs::File::open(path).await.ok()?;
    let mut bytes = Vec::new();
    let outcome = file.take(MAX_BYTES + 1).read_to_end(&mut bytes).await;
    let bytes = Secret::new(bytes);
    outcome.is_ok_and(|size| size > 0 && size as u64 <= MAX_BYTES).then_some(bytes)
}
