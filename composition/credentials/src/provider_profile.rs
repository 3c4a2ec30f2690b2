//! The selected provider profile with its values (SDK-CONNECTOR-CONTROL-R014.19).

use std::collections::BTreeMap;
use std::fmt;

use scion_domain::credential::{
    AGENT_PROVIDER_PROFILE, PROVIDER_CONFIGS, ProviderProfiles, ProviderRefusal, RuntimeRef, TlsReferences,
    TlsSelector, provider_endpoint,
};
use scion_domain::http::Url;
use scion_domain::refusal::Refusal as _;
use scion_domain::secret::Secret;

use crate::RuntimeSecrets;

/// The TLS rules of a resolved profile.
pub enum ResolvedTls {
    /// A TLS profile the dialer knows.
    Profile(String),
    /// Material as PEM texts, in memory only.
    Material {
        /// Certificates to trust.
        ca: Option<Secret<String>>,
        /// The client's certificate chain and key.
        client: Option<(Secret<String>, Secret<String>)>,
    },
}

struct Values {
    endpoint: Option<Url>,
    tls: Option<ResolvedTls>,
    credentials: BTreeMap<String, Secret<String>>,
    selectors: BTreeMap<String, Secret<String>>,
}

/// A profile in memory. [`close`](Self::close), or dropping it, zeroes every value; nothing was written to disk, TLS material
/// included, so nothing is left there.
pub struct ResolvedProvider(Option<Values>);

impl ResolvedProvider {
    fn open(&self) -> Result<&Values, ProviderRefusal> {
        self.0.as_ref().ok_or(ProviderRefusal::Closed)
    }

    /// Where the backend is; `None` when the profile has no endpoint.
    pub fn endpoint(&self) -> Result<Option<&Url>, ProviderRefusal> {
        Ok(self.open()?.endpoint.as_ref())
    }

    /// The TLS rules; there exactly when there is an endpoint.
    pub fn tls(&self) -> Result<Option<&ResolvedTls>, ProviderRefusal> {
        Ok(self.open()?.tls.as_ref())
    }

    /// A credential by name.
    pub fn credential(&self, name: &str) -> Result<Option<&Secret<String>>, ProviderRefusal> {
        Ok(self.open()?.credentials.get(name))
    }

    /// A selector by name.
    pub fn selector(&self, name: &str) -> Result<Option<&Secret<String>>, ProviderRefusal> {
        Ok(self.open()?.selectors.get(name))
    }

    /// Drops every value. Afterwards every read is [`ProviderRefusal::Closed`].
    pub fn close(&mut self) {
        self.0 = None;
    }
}

impl fmt::Debug for ResolvedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolvedProvider").field("closed", &self.0.is_none()).finish_non_exhaustive()
    }
}

/// Resolves the profile that `AGENT_PROVIDER_PROFILE` names among those of `PROVIDER_CONFIGS`. Either every reference of it
/// resolves, or the first refusal is returned and nothing is kept.
pub async fn resolve_selected_provider(
    environment: &BTreeMap<String, String>,
    secrets: &RuntimeSecrets,
) -> Result<ResolvedProvider, ProviderRefusal> {
    let selected = environment.get(AGENT_PROVIDER_PROFILE).map(String::as_str);
    if selected.is_none_or(|name| name.trim().is_empty()) {
        return Err(ProviderRefusal::NotSelected);
    }
    let configs = environment.get(PROVIDER_CONFIGS).filter(|text| !text.trim().is_empty());
    let profiles = ProviderProfiles::parse(configs.ok_or(ProviderRefusal::NotConfigured)?)?;
    let profile = profiles.select(selected)?;
    let endpoint = match &profile.endpoint {
        Some(reference) => Some(provider_endpoint(resolve(secrets, "endpoint", reference).await?.expose())?),
        None => None,
    };
    let tls = match &profile.tls {
        Some(TlsSelector::Profile(name)) => Some(ResolvedTls::Profile(name.clone())),
        Some(TlsSelector::Material(references)) => Some(material(secrets, references).await?),
        None => None,
    };
    let credentials = resolve_all(secrets, "credential", &profile.credentials).await?;
    let selectors = resolve_all(secrets, "selector", &profile.selectors).await?;
    Ok(ResolvedProvider(Some(Values { endpoint, tls, credentials, selectors })))
}

async fn resolve(
    secrets: &RuntimeSecrets,
    field: &'static str,
    reference: &RuntimeRef,
) -> Result<Secret<String>, ProviderRefusal> {
    let resolved = secrets.resolve(reference).await;
    resolved.map_err(|refusal| ProviderRefusal::Unresolved { field, code: refusal.code() })
}

async fn resolve_all(
    secrets: &RuntimeSecrets,
    field: &'static str,
    references: &BTreeMap<String, RuntimeRef>,
) -> Result<BTreeMap<String, Secret<String>>, ProviderRefusal> {
    let mut values = BTreeMap::new();
    for (name, reference) in references {
        values.insert(name.clone(), resolve(secrets, field, reference).await?);
    }
    Ok(values)
}

async fn material(secrets: &RuntimeSecrets, references: &TlsReferences) -> Result<ResolvedTls, ProviderRefusal> {
    let field = "TLS material";
    let ca = match &references.ca {
        Some(reference) => Some(resolve(secrets, field, reference).await?),
        None => None,
    };
    let client = match (&references.certificate, &references.key) {
        (Some(certificate), Some(key)) => {
            Some((resolve(secrets, field, certificate).await?, resolve(secrets, field, key).await?))
        }
        _ => None,
    };
    Ok(ResolvedTls::Material { ca, client })
}
