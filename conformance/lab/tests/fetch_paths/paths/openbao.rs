//! The secret store.

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::credential::{CredentialRequest, KvVersion, SecretRef, StoreLogin, StoreSettings};
use scion_domain::id::ConnectorName;
use scion_lab::{Answer, Received};
use scion_openbao::OpenBao;
use scion_ports::CredentialProvider as _;

use super::{FetchPath, Outcome, SMALL, Wants, no_prologue, text};
use crate::stage::{OneSecret, SECRET, Stage};

/// A read of a secret with a token.
pub(crate) const SECRET_READ: FetchPath = FetchPath {
    name: "openbao secret",
    holds: SMALL,
    wants: Wants::Members,
    tls: true,
    prologue: |received, _| (!received.path().contains("/data/")).then(|| honest(received)),
    leads: None,
    roams: false,
    honest: Some(|received, _| honest(received)),
    run: |stage| Box::pin(resolve(stage, token(), true)),
};

/// The question which version a mount has.
pub(crate) const MOUNT: FetchPath = FetchPath {
    name: "openbao mount",
    prologue: |received, _| (!received.path().contains("/mounts/")).then(|| honest(received)),
    run: |stage| Box::pin(resolve(stage, token(), false)),
    ..SECRET_READ
};

/// The look at a token that was given.
pub(crate) const LOOK: FetchPath = FetchPath { name: "openbao token", prologue: no_prologue, ..SECRET_READ };

/// A login as a role.
pub(crate) const LOGIN: FetchPath = FetchPath {
    name: "openbao login",
    prologue: no_prologue,
    run: |stage| Box::pin(resolve(stage, StoreLogin::app_role(reference("env://ROLE"), reference("env://ID")), true)),
    ..SECRET_READ
};

fn honest(received: &Received) -> Answer {
    Answer::json(&match received.path().trim_start_matches("/v1/") {
        "auth/token/lookup-self" => serde_json::json!({"data": {"ttl": 3600, "renewable": true}}),
        "auth/approle/login" => {
            serde_json::json!({"auth": {"client_token": SECRET, "lease_duration": 3600, "renewable": true}})
        }
        "sys/internal/ui/mounts/kv" => serde_json::json!({"data": {"type": "kv", "options": {"version": "2"}}}),
        _ => serde_json::json!({"data": {"data": {"token": "value"}, "metadata": {"version": 1}}}),
    })
}

fn reference(text: &str) -> SecretRef {
    SecretRef::parse(text).unwrap()
}

fn token() -> StoreLogin {
    StoreLogin::Token { token_ref: reference("env://BAO_TOKEN") }
}

async fn resolve(stage: Stage, login: StoreLogin, known: bool) -> Outcome {
    let mut settings = StoreSettings::new(stage.base.as_str(), login).unwrap();
    settings.deadline_ms = u32::try_from(Stage::limits().total.as_millis()).unwrap();
    if known {
        settings.kv = BTreeMap::from([("kv".to_owned(), KvVersion::V2)]);
    }
    let exchange = stage.exchange().await.map_err(|refusal| text(&refusal))?;
    let connector = ConnectorName::parse("lab").unwrap();
    let store = OpenBao::new(&settings, exchange, Arc::new(OneSecret), connector.clone()).unwrap();
    let request = CredentialRequest { connector, reference: reference("openbao://kv/lab/api#token") };
    store.resolve(&request).await.map(|_| "a secret".to_owned()).map_err(|refusal| text(&refusal))
}
