//! What is built on the governed client: GraphQL, embeddings, payments.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use scion_client::{EmbeddingModels, GraphQlClient, PaymentContext, PaymentPorts, Payments};
use scion_conformance::reference::MemoryKeyValues;
use scion_domain::graphql::ConnectionOptions;
use scion_domain::http::{HeaderName, HeaderValue};
use scion_domain::id::{ConnectorName, Digest256, TenantId};
use scion_domain::payment::{
    Amount, PayerRefusal, PaymentAsset, PaymentBudget, PaymentOffer, PaymentOrder, PaymentProof, PaymentRecord,
};
use scion_domain::settings::EmbeddingSettings;
use scion_domain::sink::StoreRefusal;
use scion_domain::work::{ApprovalRequest, ApprovalState, WorkRefusal};
use scion_lab::{Answer, Received};
use scion_local::{SystemClock, SystemEntropy};
use scion_ports::{Approvals, Payer, PaymentRecorder, async_trait};

use super::client::{Key, builder, client, ports, shown};
use super::{FetchPath, Outcome, SMALL, Wants, no_prologue, text};
use crate::stage::{SECRET, Stage};

pub(crate) const QUERY: FetchPath = FetchPath {
    name: "graphql query",
    holds: SMALL,
    wants: Wants::Members,
    tls: false,
    prologue: no_prologue,
    leads: None,
    roams: false,
    honest: Some(|_, _| Answer::json(&serde_json::json!({"data": {"viewer": {"name": "lab"}}}))),
    run: |stage| Box::pin(query(stage)),
};

pub(crate) const CONNECTION: FetchPath = FetchPath {
    name: "graphql pages",
    honest: Some(|_, _| last_page()),
    run: |stage| Box::pin(connection(stage)),
    ..QUERY
};

pub(crate) const EMBEDDINGS: FetchPath = FetchPath {
    name: "embeddings",
    holds: 64 * 1024 * 1024,
    honest: Some(|_, _| {
        let vectors = [0, 1].map(|index| serde_json::json!({"index": index, "embedding": [0.5, 0.25]}));
        Answer::json(&serde_json::json!({"data": vectors}))
    }),
    run: |stage| Box::pin(embeddings(stage)),
    ..QUERY
};

/// The call after a payment: the first answer asks for one.
pub(crate) const PAYMENT: FetchPath = FetchPath {
    name: "payment",
    wants: Wants::Document,
    prologue: |received, _| challenge(received),
    honest: Some(|_, _| Answer::ok("{}")),
    run: |stage| Box::pin(payment(stage)),
    ..QUERY
};

async fn query(stage: Stage) -> Outcome {
    let graphql = GraphQlClient::new(client(&stage, Key::Header).await?, "/graphql");
    let call = graphql.document("query { viewer { name } }").map_err(|failure| text(&failure))?;
    call.run().await.map(|answer| format!("{answer:?}")).map_err(|failure| text(&failure))
}

async fn connection(stage: Stage) -> Outcome {
    let graphql = GraphQlClient::new(client(&stage, Key::Header).await?, "/graphql");
    let document =
        "query($after: String) { things(after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }";
    let call = graphql.document(document).map_err(|failure| text(&failure))?;
    let mut items = call.pages(ConnectionOptions::new("things")).items();
    let mut count = 0;
    while let Some(item) = items.next().await {
        item.map_err(|failure| text(&failure))?;
        count += 1;
    }
    Ok(format!("{count} items"))
}

fn last_page() -> Answer {
    let things = serde_json::json!({"nodes": [{"id": 1}], "pageInfo": {"hasNextPage": false, "endCursor": null}});
    Answer::json(&serde_json::json!({"data": {"things": things}}))
}

async fn embeddings(stage: Stage) -> Outcome {
    let environment = [
        ("EMBEDDING_MODEL", "lab"),
        ("EMBEDDING_BASE_URL", stage.base.as_str()),
        ("EMBEDDING_API_KEY_REF", "env://LAB_KEY"),
        ("EMBEDDING_PRIVATE_HOSTS", "lab.test"),
        ("EMBEDDING_ALLOW_PLAINTEXT", "true"),
        ("EMBEDDING_TIMEOUT_SECONDS", "4"),
    ];
    let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let settings = EmbeddingSettings::from_environment(&environment).unwrap();
    let models = EmbeddingModels::new("lab", ports(&stage, Key::Header));
    let model = models.model(&settings).await.map_err(|failure| text(&failure))?;
    let vectors = model.embed(&["a text", SECRET]).await.map_err(|failure| text(&failure))?;
    Ok(format!("{} vectors", vectors.len()))
}

fn challenge(received: &Received) -> Option<Answer> {
    let terms = serde_json::json!({
        "x402Version": 1,
        "accepts": [{"scheme": "exact", "network": "base", "maxAmountRequired": "10000", "asset": "0x01", "payTo": "0x02"}],
    });
    received.header("x-payment").is_none().then(|| Answer::status(402).with_json(&terms))
}

/// Pays, records and approves everything.
struct Willing;

#[async_trait]
impl Payer for Willing {
    fn supports(&self, _: &PaymentOffer) -> bool {
        true
    }

    async fn pay(&self, _: &PaymentOrder) -> Result<PaymentProof, PayerRefusal> {
        Ok(PaymentProof { header: HeaderName::from_static("x-payment"), value: HeaderValue::from_static(SECRET) })
    }
}

#[async_trait]
impl PaymentRecorder for Willing {
    async fn record(&self, _: &PaymentRecord) -> Result<(), StoreRefusal> {
        Ok(())
    }
}

#[async_trait]
impl Approvals for Willing {
    async fn request(&self, _: &ApprovalRequest) -> Result<ApprovalState, WorkRefusal> {
        Ok(ApprovalState::Approved)
    }

    async fn state(&self, _: &Digest256) -> Result<ApprovalState, WorkRefusal> {
        Ok(ApprovalState::Approved)
    }

    async fn spend(&self, _: &Digest256) -> Result<(), WorkRefusal> {
        Ok(())
    }
}

async fn payment(stage: Stage) -> Outcome {
    let one = Amount::parse("1").unwrap();
    let budget = PaymentBudget { currency: "USDC".to_owned(), per_call: one, per_day: one };
    let asset =
        PaymentAsset { network: "base".to_owned(), asset: "0x01".to_owned(), currency: "USDC".to_owned(), decimals: 6 };
    let payments = Payments::new(
        ConnectorName::parse("lab").unwrap(),
        budget,
        vec![asset],
        PaymentPorts {
            payer: Arc::new(Willing),
            recorder: Arc::new(Willing),
            store: Arc::new(MemoryKeyValues::default()),
            clock: Arc::new(SystemClock::new()),
            entropy: Arc::new(SystemEntropy),
        },
    );
    let context = PaymentContext {
        tenant: TenantId::parse("lab").unwrap(),
        actor: "lab".to_owned(),
        request: "lab".to_owned(),
        approver: "lab".to_owned(),
        approvals: Arc::new(Willing),
        wait: Duration::ZERO,
    };
    let client = builder(&stage).payments(Arc::new(payments)).build_with(&ports(&stage, Key::Header)).await;
    shown(client.map_err(|refusal| text(&refusal))?.get("/paid").pay_in(&context).json().await)
}
