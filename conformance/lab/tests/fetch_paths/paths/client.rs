//! The governed client and what it is called through.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use scion_client::{
    ClientBuilder, ClientPorts, Cursor, GovernedClient, LinkHeader, NextUrl, SafeCall, safe_get_json, safe_post_json,
};
use scion_domain::auth::{AuthDeclaration, AuthMaterial, AuthRefusal, Bearer};
use scion_domain::http::{HeaderValue, StatusCode, header};
use scion_domain::id::ConnectorName;
use scion_domain::json::Json;
use scion_domain::retry::RetryPolicy;
use scion_domain::secret::Secret;
use scion_lab::Answer;
use scion_local::{SystemClock, SystemEntropy};
use scion_ports::{AuthFactory, HttpExchange, RequestAuth, async_trait};

use super::{FetchPath, Outcome, SMALL, Wants, no_prologue, text};
use crate::stage::{SECRET, Stage};

const CLIENT: FetchPath = FetchPath {
    name: "client",
    holds: SMALL,
    wants: Wants::Document,
    tls: false,
    prologue: no_prologue,
    leads: None,
    roams: false,
    honest: Some(|_, _| Answer::json(&serde_json::json!({"items": [{"id": "1"}]}))),
    run: |stage| Box::pin(get(stage, Key::Header)),
};

pub(crate) const GET: FetchPath = FetchPath { name: "client get", ..CLIENT };

pub(crate) const GET_KEY: FetchPath =
    FetchPath { name: "client get with a key in its query", run: |stage| Box::pin(get(stage, Key::Query)), ..CLIENT };

pub(crate) const POST: FetchPath = FetchPath { name: "client post", run: |stage| Box::pin(post(stage)), ..CLIENT };

pub(crate) const ENVELOPE: FetchPath =
    FetchPath { name: "client envelope", tls: true, run: |stage| Box::pin(envelope(stage)), ..CLIENT };

pub(crate) const STREAM: FetchPath =
    FetchPath { name: "client stream", run: |stage| Box::pin(stream(stage)), ..CLIENT };

pub(crate) const LINKS: FetchPath = FetchPath {
    name: "pages of links",
    honest: Some(|_, _| page()),
    leads: Some(|_, place| page().header("link", format!("<{place}>; rel=\"next\""))),
    run: |stage| Box::pin(links(stage)),
    ..CLIENT
};

pub(crate) const NEXT_URLS: FetchPath = FetchPath {
    name: "pages of next urls",
    leads: Some(|_, place| Answer::json(&serde_json::json!({"items": [{"id": "1"}], "next": place}))),
    run: |stage| Box::pin(next_urls(stage)),
    ..CLIENT
};

pub(crate) const CURSORS: FetchPath = FetchPath {
    name: "pages of cursors",
    leads: Some(|_, place| Answer::json(&serde_json::json!({"items": [{"id": "1"}], "next_cursor": place}))),
    run: |stage| Box::pin(cursors(stage)),
    ..CLIENT
};

pub(crate) const SAFE_GET: FetchPath =
    FetchPath { name: "safe_get_json", run: |stage| Box::pin(once(stage, false)), ..CLIENT };

pub(crate) const SAFE_POST: FetchPath =
    FetchPath { name: "safe_post_json", run: |stage| Box::pin(once(stage, true)), ..CLIENT };

pub(crate) const AIR_GAP: FetchPath = FetchPath { name: "air gap", run: |stage| Box::pin(air_gap(stage)), ..CLIENT };

fn page() -> Answer {
    Answer::json(&serde_json::json!([{"id": "1"}]))
}

/// Where the credential goes.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Header,
    Query,
}

/// A credential that never changes.
struct Fixed(Key);

#[async_trait]
impl RequestAuth for Fixed {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let mut material = AuthMaterial { generation: 1, ..AuthMaterial::default() };
        match self.0 {
            Key::Header => {
                let value = HeaderValue::from_str(&format!("Bearer {SECRET}")).unwrap();
                material.headers.push((header::AUTHORIZATION, value));
            }
            Key::Query => material.query.push(("key".to_owned(), Secret::new(SECRET.to_owned()))),
        }
        Ok(material)
    }

    async fn rejected(&self, _: u64, _: StatusCode) -> Result<bool, AuthRefusal> {
        Ok(true)
    }
}

#[async_trait]
impl AuthFactory for Fixed {
    async fn open(
        &self,
        _: &ConnectorName,
        _: &AuthDeclaration,
        _: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal> {
        Ok(Arc::new(Self(self.0)))
    }
}

pub(super) fn ports(stage: &Stage, key: Key) -> ClientPorts {
    ClientPorts {
        dialer: Arc::clone(&stage.dialer),
        auth: Arc::new(Fixed(key)),
        clock: Arc::new(SystemClock::new()),
        entropy: Arc::new(SystemEntropy),
    }
}

pub(super) fn builder(stage: &Stage) -> ClientBuilder {
    let brisk =
        RetryPolicy::new(2, Duration::from_millis(20), Duration::from_millis(50), Duration::from_secs(2)).unwrap();
    let builder =
        GovernedClient::builder("lab").base_url(stage.base.as_str()).unwrap().egress(stage.profile.egress.clone());
    let builder = builder.tls_profile("lab").limits(Stage::limits()).retry(brisk).follow_redirects(4);
    builder.auth(Bearer::env("LAB_TOKEN"))
}

pub(super) async fn client(stage: &Stage, key: Key) -> Result<GovernedClient, String> {
    builder(stage).build_with(&ports(stage, key)).await.map_err(|refusal| text(&refusal))
}

pub(super) fn shown(outcome: Result<Json, scion_client::ClientRefusal>) -> Outcome {
    outcome.map(|json| format!("{json:?}")).map_err(|refusal| text(&refusal))
}

async fn get(stage: Stage, key: Key) -> Outcome {
    shown(client(&stage, key).await?.get("/things").json().await)
}

async fn post(stage: Stage) -> Outcome {
    shown(client(&stage, Key::Header).await?.post("/things").json_body(&[SECRET]).safe().json().await)
}

async fn envelope(stage: Stage) -> Outcome {
    let envelope = client(&stage, Key::Header).await?.get("/things").envelope().await;
    shown(envelope.map(|envelope| envelope.to_json()))
}

async fn stream(stage: Stage) -> Outcome {
    let response = client(&stage, Key::Header).await?.get("/things").send().await.map_err(|refusal| text(&refusal))?;
    shown(response.json().await)
}

async fn collect(stage: Stage, pages: scion_client::pages::Pages) -> Outcome {
    // The client lives as long as its pages are read.
    let _stage = stage;
    let mut items = pages.items::<Json>();
    let mut count = 0;
    while let Some(item) = items.next().await {
        item.map_err(|refusal| text(&refusal))?;
        count += 1;
    }
    Ok(format!("{count} items"))
}

async fn links(stage: Stage) -> Outcome {
    let pages = client(&stage, Key::Header).await?.get("/things").pages(LinkHeader);
    collect(stage, pages).await
}

async fn next_urls(stage: Stage) -> Outcome {
    let pages = client(&stage, Key::Header).await?.get("/things").pages(NextUrl::default()).items_path("items");
    collect(stage, pages).await
}

async fn cursors(stage: Stage) -> Outcome {
    let pages = client(&stage, Key::Header).await?.get("/things").pages(Cursor::default()).items_path("items");
    collect(stage, pages).await
}

async fn once(stage: Stage, post: bool) -> Outcome {
    let call = SafeCall {
        allowed_private_hosts: stage.profile.egress.allowed_private_hosts.clone(),
        tls_profile: Some("lab".to_owned()),
        total: Stage::limits().total,
        max_bytes: Stage::limits().body_bytes,
        ..SafeCall::default()
    };
    let ports = ports(&stage, Key::Header);
    let url = format!("{}hook?key={SECRET}", stage.base);
    shown(if post {
        safe_post_json(&ports, &url, &[SECRET], &call).await
    } else {
        safe_get_json(&ports, &url, &call).await
    })
}

async fn air_gap(stage: Stage) -> Outcome {
    let client = builder(&stage).air_gapped(&["lab.test"]).build_with(&ports(&stage, Key::Header)).await;
    shown(client.map_err(|refusal| text(&refusal))?.get("/things").json().await)
}
