//! Shapes, validated by the engine (`wire/engine-protocol.md` 9.1).

use scion_domain::engine::EngineRefusal;
use scion_domain::shapes::{MAX_VALIDATED_BYTES, ShapesRefusal, ShapesReport, ShapesViolation};
use scion_ports::{ShaclValidator, async_trait};

use crate::client::{Call, EngineClient, Repeats};
use crate::{Body, Value};

/// A validator in one graph of the engine. Only what it is given is looked at, never the graph. Needs the scope `validation:read`.
#[derive(Clone, Debug)]
pub struct EngineShapes {
    client: EngineClient,
    graph: String,
}

impl EngineShapes {
    /// A validator that is asked in this graph.
    pub fn new(client: EngineClient, graph: impl Into<String>) -> Self {
        Self { client, graph: graph.into() }
    }
}

#[async_trait]
impl ShaclValidator for EngineShapes {
    async fn validate(&self, shapes: &str, data: &str) -> Result<ShapesReport, ShapesRefusal> {
        for (what, text) in [("shapes", shapes), ("data", data)] {
            if text.len() > MAX_VALIDATED_BYTES {
                return Err(ShapesRefusal::TooLarge { what, limit: MAX_VALIDATED_BYTES });
            }
        }
        let body = Body::with("ShaclValidate", [("shapes", shapes.into()), ("data_graph", data.into())]);
        let call = Call { graph: &self.graph, body, idempotency_key: None, repeats: Repeats::Freely };
        let answer = self.client.call(call).await.map_err(|refusal| match refusal {
            // The engine has one answer for Turtle that it cannot read, wherever it stands.
            EngineRefusal::Opaque { .. } => ShapesRefusal::Malformed { what: "shapes or the data" },
            EngineRefusal::Refused { code, .. } if code.as_str() == "ACCESS_DENIED" => ShapesRefusal::Denied,
            _ => ShapesRefusal::Unavailable,
        })?;
        read(&answer).ok_or(ShapesRefusal::Unavailable)
    }
}

/// Without focus nodes, values and messages, which hold data.
fn read(answer: &Value) -> Option<ShapesReport> {
    let iri = |text: &str| text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).map(str::to_owned);
    let violation = |one: &Value| {
        let text = |name| one.get(name).and_then(Value::as_text);
        let component = text("constraint_component")?;
        Some(ShapesViolation {
            path: text("path").and_then(iri),
            component: iri(component).unwrap_or_else(|| component.to_owned()),
            shape: text("source_shape").and_then(iri),
        })
    };
    let results = answer.get("results")?.as_list()?.iter().map(violation).collect::<Option<Vec<_>>>()?;
    // What conforms and what it lists must agree; a report that contradicts itself proves nothing.
    (answer.get("conforms")?.as_bool()? == results.is_empty()).then(|| ShapesReport::of(results))
}
