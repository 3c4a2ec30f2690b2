//! `/ready`: whether the connector can do its work now.

use http::StatusCode;
use scion_ports::async_trait;
use serde_json::{Map, Value};

use super::answer::{Answer, json};

/// What a probe found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Whether work can be done.
    pub ready: bool,
    /// What belongs to it, shown to whoever asks: no secret, no payload.
    pub detail: Map<String, Value>,
}

/// Looks whether the connector can do its work.
#[async_trait]
pub trait ReadinessProbe: Send + Sync {
    /// Looks. A failure is told by its stable code alone.
    async fn probe(&self) -> Result<Readiness, &'static str>;
}

/// The time a probe has.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(10);

pub(super) async fn answer(probe: &dyn ReadinessProbe) -> Answer {
    let probed = tokio::time::timeout(LIMIT, probe.probe()).await.unwrap_or(Err("readiness_timed_out"));
    let (status, word, mut body) = match probed {
        Ok(Readiness { ready: true, detail }) => (StatusCode::OK, "ready", detail),
        Ok(Readiness { detail, .. }) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail),
        Err(code) => {
            let error = Map::from_iter([("error".to_owned(), code.into())]);
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable", error)
        }
    };
    body.insert("status".to_owned(), word.into());
    json(status, Value::Object(body).to_string())
}
