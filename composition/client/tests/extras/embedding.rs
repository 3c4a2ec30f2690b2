use std::collections::BTreeMap;
use std::sync::Arc;

use scion_client::EmbeddingModels;
use scion_domain::json::{Json, parse};
use scion_domain::refusal::Refusal as _;
use scion_domain::settings::EmbeddingSettings;
use scion_lab::{Answer, Behaviour, Lab, Received};

use crate::support::{SECRET, ports};

fn settings(lab: &Lab, more: &[(&str, &str)]) -> EmbeddingSettings {
    let mut environment = BTreeMap::from([
        ("EMBEDDING_MODEL".to_owned(), "tiny".to_owned()),
        ("EMBEDDING_BASE_URL".to_owned(), format!("{}v1", lab.url("/"))),
        ("EMBEDDING_API_KEY_REF".to_owned(), "env://KEY".to_owned()),
        ("EMBEDDING_BATCH_SIZE".to_owned(), "2".to_owned()),
        ("EMBEDDING_TIMEOUT_SECONDS".to_owned(), "5".to_owned()),
    ]);
    environment.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    EmbeddingSettings::from_environment(&environment).unwrap()
}

fn models() -> EmbeddingModels {
    EmbeddingModels::new("desk-mcp", ports())
}

/// One vector for each text, the length of the text in it, in reverse order.
fn reversed(received: &Received) -> Behaviour {
    let body = parse(&received.text()).unwrap();
    let texts = body.get("input").unwrap().as_array().unwrap();
    let vectors = texts.iter().enumerate().rev();
    let items =
        vectors.map(|(at, text)| format!(r#"{{"index": {at}, "embedding": [{}, 0.5]}}"#, text.as_str().unwrap().len()));
    Answer::ok(format!(r#"{{"data": [{}]}}"#, items.collect::<Vec<_>>().join(","))).into()
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.22, SDK-CENTRALIZED-CAPABILITIES-R025
#[tokio::test]
async fn texts_are_embedded_in_batches_and_vectors_come_in_order() {
    let lab = Lab::scripted(reversed).await;
    let models = models();
    let settings = settings(&lab, &[]);
    let model = models.model(&settings).await.unwrap();
    assert!(Arc::ptr_eq(&model, &models.model(&settings).await.unwrap()));
    let vectors = model.embed(&["a", "bb", "ccc"]).await.unwrap();
    assert_eq!(vectors, [[1.0, 0.5], [2.0, 0.5], [3.0, 0.5]]);
    assert_eq!(model.dimension(), Some(2));
    let received = lab.received();
    assert_eq!(received.len(), 2);
    assert_eq!((received[0].method.as_str(), received[0].path()), ("POST", "/v1/embeddings"));
    assert_eq!(received[0].header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(parse(&received[0].text()).unwrap().get("model").and_then(Json::as_str), Some("tiny"));
    assert_eq!(model.embed::<&str>(&[]).await.unwrap().len(), 0);
    assert_eq!(model.embed(&[""]).await.unwrap_err().code(), "embedding_input");
    assert_eq!(lab.received().len(), 2);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.22
#[tokio::test]
async fn a_local_model_server_is_spoken_to_in_its_own_form() {
    let lab = Lab::always(Answer::ok(r#"{"embeddings": [[1, 2, 3]]}"#)).await;
    let base = lab.url("/").to_string();
    let settings = settings(
        &lab,
        &[("EMBEDDING_PROVIDER", "ollama"), ("EMBEDDING_BASE_URL", &base), ("EMBEDDING_API_KEY_REF", "")],
    );
    let model = models().model(&settings).await.unwrap();
    assert_eq!(model.embed(&["a"]).await.unwrap(), [[1.0, 2.0, 3.0]]);
    let received = lab.received();
    assert_eq!((received[0].path(), received[0].header("authorization")), ("/api/embed", None));
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.22
#[tokio::test]
async fn failures_echo_nothing_and_redirects_are_not_followed() {
    let other = Lab::always(Answer::ok("{}")).await;
    let target = other.url("/v1/embeddings").to_string();
    for (answer, code) in [
        (Answer::status(400).body(format!("{SECRET} and the text")), "response_rejected"),
        (Answer::status(401).body(SECRET), "response_unauthorized"),
        (Answer::ok(SECRET), "embedding_malformed"),
        (Answer::ok(r#"{"data": []}"#), "embedding_count"),
        (Answer::redirect(307, &target), "response_redirected"),
    ] {
        let lab = Lab::always(answer).await;
        let model = models().model(&settings(&lab, &[])).await.unwrap();
        let failure = model.embed(&["my private text"]).await.unwrap_err();
        assert_eq!(failure.code(), code);
        let shown = format!("{failure} {failure:?} {model:?}");
        assert!(!shown.contains(SECRET) && !shown.contains("private text"), "{shown}");
        assert_eq!(lab.received().len(), 1, "{code}");
    }
    assert_eq!(other.received().len(), 0);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.22
#[tokio::test]
async fn a_dimension_that_changes_is_refused() {
    let vector = |numbers: &str| {
        Behaviour::from(Answer::ok(format!(r#"{{"data": [{{"index": 0, "embedding": [{numbers}]}}]}}"#)))
    };
    let lab = Lab::sequence([vector("1, 2"), vector("1, 2, 3")]).await;
    let model = models().model(&settings(&lab, &[])).await.unwrap();
    model.embed(&["a"]).await.unwrap();
    assert_eq!(model.embed(&["a"]).await.unwrap_err().code(), "embedding_dimension");
    let lab = Lab::always(vector("1, 2")).await;
    let model = models().model(&settings(&lab, &[("EMBEDDING_DIMENSION", "3")])).await.unwrap();
    assert_eq!(model.embed(&["a"]).await.unwrap_err().code(), "embedding_dimension");
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.22
#[tokio::test]
async fn private_addresses_need_their_setting_and_failures_are_retried() {
    let mut environment = BTreeMap::from([
        ("EMBEDDING_MODEL".to_owned(), "tiny".to_owned()),
        ("EMBEDDING_BASE_URL".to_owned(), "https://10.255.255.1/v1".to_owned()),
    ]);
    let strict = EmbeddingSettings::from_environment(&environment).unwrap();
    let outcome = match models().model(&strict).await {
        Ok(model) => model.embed(&["a"]).await.map(|_| ()),
        Err(failure) => Err(failure),
    };
    let failure = outcome.unwrap_err();
    assert!(!format!("{failure}").is_empty());
    assert_eq!(failure.blame(), scion_domain::refusal::Blame::Denied, "{failure:?}");
    environment.insert("EMBEDDING_PRIVATE_HOSTS".to_owned(), "10.255.255.1".to_owned());
    let listed = EmbeddingSettings::from_environment(&environment).unwrap();
    assert_eq!(listed.private_hosts, ["10.255.255.1"]);
    let lab = Lab::sequence([
        Answer::status(503).header("retry-after", "0").into(),
        Answer::ok(r#"{"data": [{"index": 0, "embedding": [1]}]}"#).into(),
    ])
    .await;
    models().model(&settings(&lab, &[])).await.unwrap().embed(&["a"]).await.unwrap();
    assert_eq!(lab.received().len(), 2);
}
