//! The resolver a program has without saying anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::credential::{StoreSettingRefusal, StoreSettings};
use scion_ports::CredentialProvider;

use crate::ResolverChain;

/// Builds the default chain from an environment (SDK-CONNECTOR-CONTROL-R035): `env` always; `file` when the host has roots for
/// it; OpenBao when a token reference is set, through `open`. An address alone adds no OpenBao resolver, and nothing about it
/// is looked at, so it cannot keep an `env://` reference from resolving.
pub fn default_resolver(
    environment: &BTreeMap<String, String>,
    env: Arc<dyn CredentialProvider>,
    file: Option<Arc<dyn CredentialProvider>>,
    open: impl FnOnce(StoreSettings) -> Result<Arc<dyn CredentialProvider>, StoreSettingRefusal>,
) -> Result<ResolverChain, StoreSettingRefusal> {
    let mut chain = ResolverChain::builder().env(env);
    if let Some(file) = file {
        chain = chain.file(file);
    }
    if let Some(settings) = StoreSettings::from_environment(environment)? {
        chain = chain.openbao(open(settings)?);
    }
    Ok(chain.build())
}
