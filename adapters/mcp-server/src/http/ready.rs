//! `/ready`: whether the connector can do its work now.

use http::StatusCode;
use scion_domain::served_route::Readiness;
use scion_ports::ReadinessProbe;
use serde_json::{Map, Value};

use super::answer::{Answer, json};

/// The time a probe has.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(10);

pub(super) async fn answer(probe: &dyn ReadinessProbe) -> Answer {
    let probed = tokio::time::timeout(LIMIT, probe.probe()).await.unwrap_or(Err("readiness_timed_out"));
    let (found, mut body) = match probed {
        Ok(Readiness { ready, detail }) => {
            (ready, detail.iter().map(|(name, value)| (name.clone(), value.into())).collect())
        }
        Err(code) => (false, Map::from_iter([("error".to_owned(), code.into())])),
    };
    let (status, word) =
        if found { (StatusCode::OK, "ready") } else { (StatusCode::SERVICE_UNAVAILABLE, "unavailable") };
    body.insert("status".to_owned(), word.into());
    json(status, Value::Object(body).to_string())
}
