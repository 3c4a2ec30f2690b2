//! The provider.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::credential::{
    CredentialRefusal, CredentialRequest, KvVersion, SecretRef, StoreSettingRefusal, StoreSettings,
};
use scion_domain::http::StatusCode;
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_ports::{CredentialProvider, HttpExchange};
use tokio::time::Instant;

use crate::answer::{self, Envelope, Fields, Mount, Value, VersionMetadata, Versioned};
use crate::client::{Answer, Client};
use crate::fault::Fault;
use crate::login::Logins;
use crate::session::Session;

/// How many mounts are remembered; more are asked about each time.
const MAX_MOUNTS: usize = 256;

/// A secret store. One value serves all connectors of a program; each reads below its own name only.
pub struct OpenBao {
    client: Client,
    session: Session,
    deadline: Duration,
    kv: Mutex<BTreeMap<String, KvVersion>>,
}

impl OpenBao {
    /// Opens a store; nothing is sent yet. `bootstrap` resolves the secrets of the login (`env://` and `file://` references) on
    /// behalf of `owner`; `exchange` was opened under the TLS profile of the settings.
    pub fn new(
        settings: &StoreSettings,
        exchange: Arc<dyn HttpExchange>,
        bootstrap: Arc<dyn CredentialProvider>,
        owner: ConnectorName,
    ) -> Result<Self, StoreSettingRefusal> {
        settings.check()?;
        Ok(Self {
            client: Client::new(settings, exchange),
            session: Session::new(Logins::new(settings.login.clone(), bootstrap, owner)),
            deadline: settings.deadline(),
            kv: Mutex::new(settings.kv.clone()),
        })
    }

    /// Renews the login at two thirds of its life also while nothing is resolved. Never returns; drop it to stop. A program that
    /// resolves often enough needs it not: a resolution renews as well.
    pub async fn keep_renewed(&self) {
        loop {
            let now = Instant::now();
            let due = self.session.due().unwrap_or(now + Duration::from_secs(30));
            // Never without a pause, whatever the server says about the life of its tokens.
            tokio::time::sleep_until(due.clamp(now + Duration::from_millis(250), now + Duration::from_hours(1))).await;
            if self.session.due().is_some() {
                // A failure is noted by the session and tried again; the next resolution meets it.
                let _ = tokio::time::timeout(self.deadline, self.session.login(&self.client)).await;
            }
        }
    }

    /// Ends the login, where the login was made here. Everything leased under it ends with it.
    pub async fn log_out(&self) -> Result<(), CredentialRefusal> {
        let ended = tokio::time::timeout(self.deadline, self.session.log_out(&self.client)).await;
        ended.unwrap_or(Err(Fault::Unavailable)).map_err(|fault| fault.refusal("openbao://".to_owned()))
    }

    /// A read with the login in force. When its token died meanwhile, there is another login and one more try.
    async fn read(&self, path: &str, version: Option<u32>) -> Result<Answer, Fault> {
        let login = self.session.login(&self.client).await?;
        match self.client.get(path, version, &login.token).await {
            Err(Fault::Denied) => match self.session.after_denial(&self.client, login).await? {
                Some(login) => self.client.get(path, version, &login.token).await,
                None => Err(Fault::Denied),
            },
            answer => answer,
        }
    }

    async fn kv_version(&self, mount: &str) -> Result<KvVersion, Fault> {
        let known = self.kv.lock().unwrap_or_else(PoisonError::into_inner).get(mount).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = self.read(&format!("sys/internal/ui/mounts/{mount}"), None).await?;
        if found.status == StatusCode::NOT_FOUND {
            return Err(Fault::Missing);
        }
        let mount_data: Envelope<Mount> = answer::read(found.body)?;
        let data = mount_data.data.filter(|data| matches!(data.kind.as_str(), "kv" | "generic"));
        let data = data.ok_or(Fault::Unusable("is not in a key-value engine"))?;
        let version = match data.options.as_ref().and_then(|options| options.get("version")).map(String::as_str) {
            Some("2") => KvVersion::V2,
            _ => KvVersion::V1,
        };
        let mut kv = self.kv.lock().unwrap_or_else(PoisonError::into_inner);
        if kv.len() < MAX_MOUNTS {
            kv.insert(mount.to_owned(), version);
        }
        Ok(version)
    }

    async fn fields(&self, mount: &str, path: &str, version: Option<u32>) -> Result<Fields, Fault> {
        match self.kv_version(mount).await? {
            KvVersion::V1 if version.is_some() => Err(Fault::Unusable("has no versions: the engine is of version 1")),
            KvVersion::V1 => {
                let found = self.read(&format!("{mount}/{path}"), None).await?;
                if found.status == StatusCode::NOT_FOUND {
                    return Err(Fault::Missing);
                }
                answer::read::<Envelope<Fields>>(found.body)?.data.ok_or(Fault::Missing)
            }
            KvVersion::V2 => {
                let found = self.read(&format!("{mount}/data/{path}"), version).await?;
                let gone = found.status == StatusCode::NOT_FOUND;
                // A 404 without `data` is an absent secret, and can be of any form.
                let data = answer::read::<Envelope<Versioned>>(found.body);
                let data = if gone { data.ok().and_then(|envelope| envelope.data) } else { data?.data };
                let data = data.ok_or(Fault::Missing)?;
                data.data.filter(|_| !gone).ok_or_else(|| absent(data.metadata.as_ref()))
            }
        }
    }

    async fn value(&self, mount: &str, path: &str, field: &str, version: Option<u32>) -> Result<Secret<String>, Fault> {
        let mut fields = self.fields(mount, path, version).await?;
        match fields.remove(field) {
            None => Err(Fault::Missing),
            Some(Value::Text(text)) if text.expose().is_empty() => Err(Fault::Missing),
            Some(Value::Text(text)) => Ok(text),
            Some(Value::Other) => Err(Fault::Unusable("is not a text")),
        }
    }
}

/// Why a version holds nothing.
fn absent(metadata: Option<&VersionMetadata>) -> Fault {
    match metadata {
        Some(metadata) if metadata.destroyed => Fault::Gone("destroyed"),
        Some(metadata) if !metadata.deletion_time.is_empty() => Fault::Gone("deleted"),
        _ => Fault::Missing,
    }
}

impl fmt::Debug for OpenBao {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenBao")
    }
}

#[async_trait]
impl CredentialProvider for OpenBao {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        let SecretRef::OpenBao { mount, path, field, version } = &request.reference else {
            return Err(CredentialRefusal::NoProvider { scheme: request.reference.scheme().to_owned() });
        };
        if !request.reference.in_scope_of(&request.connector) {
            return Err(CredentialRefusal::OutOfScope { reference });
        }
        let value = tokio::time::timeout(self.deadline, self.value(mount, path, field, *version)).await;
        value.unwrap_or(Err(Fault::Unavailable)).map_err(|fault| fault.refusal(reference))
    }
}
