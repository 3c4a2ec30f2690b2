//! References of commands.

use std::sync::atomic::Ordering;

use scion_credentials::{ResolverChain, RuntimeSecrets};
use scion_domain::credential::{RuntimeArgument, RuntimeSecretRefusal};
use scion_domain::json::{Json, parse};
use scion_domain::refusal::Refusal as _;

use crate::support::{Counting, connector};

/// Proves: SDK-CONNECTOR-CONTROL-R014.4, SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn every_runtime_resolution_of_the_vectors() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/references.json"));
    let vectors = parse(text).unwrap();
    let cases = vectors.get("runtime_resolution").unwrap().as_array().unwrap();
    assert!(!cases.is_empty());
    // As where the vectors were made: an environment and no store.
    let env = Counting::with(&[("env://PRESENT", "value"), ("env://EMPTY", "")]);
    let secrets =
        RuntimeSecrets::new(connector("desk"), std::sync::Arc::new(ResolverChain::builder().env(env).build()));
    for case in cases {
        let reference = case.get("reference").and_then(Json::as_str).unwrap();
        let resolved = secrets.resolve_text(reference).await;
        assert_eq!(resolved.as_ref().ok().map(|value| value.expose().as_str()), case.get("ok").and_then(Json::as_str));
        if let Err(refusal) = resolved {
            let target = reference.split_once("://").unwrap().1;
            assert!(!format!("{refusal} {refusal:?}").contains(target), "{reference}");
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.4
#[tokio::test]
async fn the_store_answers_for_both_schemes_and_no_refusal_names_anything() {
    let store = Counting::with(&[("openbao://apps/desk#T", "hunter2")]);
    let chain = ResolverChain::builder().openbao(store.clone()).env(Counting::with(&[])).build();
    let secrets = RuntimeSecrets::new(connector("desk"), std::sync::Arc::new(chain));
    for text in ["vault://apps/desk#T", " secret://apps/desk#T "] {
        let argument: RuntimeArgument = text.parse().unwrap();
        assert_eq!(secrets.resolve(argument.reference().unwrap()).await.unwrap().expose(), "hunter2");
    }
    let mut codes = Vec::new();
    for text in
        ["vault://apps/other#SECRETNAME", "vault://apps/desk#SECRETNAME", "env://SECRETNAME", "vault://SECRETNAME"]
    {
        let refusal = secrets.resolve_text(text).await.unwrap_err();
        assert!(!format!("{refusal} {refusal:?} {secrets:?}").contains("SECRETNAME"));
        codes.push(refusal.code());
    }
    store.down.store(true, Ordering::SeqCst);
    codes.push(secrets.resolve_text("vault://apps/desk#T").await.unwrap_err().code());
    let expected = [
        "runtime_secret_denied",
        "runtime_secret_missing",
        "runtime_secret_missing",
        "runtime_reference_incomplete",
        "runtime_secret_unavailable",
    ];
    assert_eq!(codes, expected);
    assert_eq!(secrets.resolve_text("hunter2").await.unwrap_err(), RuntimeSecretRefusal::NotAReference);
}
