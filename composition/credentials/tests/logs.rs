//! What is resolved is in no log. A program of its own: the subscriber is that of the whole process.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use scion_credentials::ResolverChain;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_local::{EnvCredentials, FileCredentials, FileMode, FileRoot};
use scion_ports::CredentialProvider as _;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps every field of every event and span as text.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<String>>);

struct Text<'t>(&'t mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0, "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Text(&mut self.0.lock().unwrap()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Text(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Text(&mut self.0.lock().unwrap()));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn request(text: &str) -> CredentialRequest {
    let connector = ConnectorName::parse("desk-mcp").unwrap();
    CredentialRequest { connector, reference: SecretRef::parse(text).unwrap() }
}

/// Proves: SDK-CONNECTOR-CONTROL-R035
#[tokio::test]
async fn no_resolved_value_is_in_a_log_record() {
    let seen = Everything::default();
    tracing::subscriber::set_global_default(seen.clone()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    std::fs::write(&path, "hunter2").unwrap();
    let env = EnvCredentials::new(|name| (name == "T").then(|| "hunter2".to_owned()));
    let file = FileCredentials::new([FileRoot::Shared(dir.path().to_owned())], FileMode::Warn);
    let chain = ResolverChain::builder().env(Arc::new(env)).file(Arc::new(file)).build();
    for text in ["env://T".to_owned(), format!("file://{}", path.display())] {
        assert_eq!(chain.resolve(&request(&text)).await.unwrap().expose(), "hunter2");
    }
    let missing = chain.resolve(&request("env://ABSENT")).await;
    assert!(matches!(missing, Err(CredentialRefusal::Missing { .. })));
    let text = seen.0.lock().unwrap().clone();
    assert!(text.contains("credential_missing"), "nothing was logged at all: {text}");
    assert!(!text.contains("hunter2"), "{text}");
}
