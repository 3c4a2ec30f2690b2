//! What the engine's refusals mean to the callers of the ports.

use scion_domain::engine::EngineRefusal;
use scion_domain::model::SourceBatch;
use scion_domain::sink::{SinkRefusal, StoreRefusal};

/// What a refusal of the engine means to a store's caller.
pub fn store(refusal: &EngineRefusal) -> StoreRefusal {
    let what = match refusal {
        EngineRefusal::Unreachable { .. } => "no engine answers at the endpoint",
        EngineRefusal::Closed { .. } => "the engine closed the connection",
        EngineRefusal::Timeout { .. } => "the engine did not answer in time",
        EngineRefusal::Opaque { .. } => "the engine does not say what became of the request",
        EngineRefusal::Busy { .. } => "the engine cannot do it now",
        EngineRefusal::Malformed { .. } => "the engine's reply is not what its protocol says",
        EngineRefusal::MethodNotServed { .. } => "the engine does not serve the method",
        EngineRefusal::TooLarge { .. } => "the request is larger than the engine takes",
        EngineRefusal::Refused { code, .. } => match code.as_str() {
            "ACCESS_DENIED" => "the engine denies access: a scope is missing",
            "AUTHENTICATION_REQUIRED" | "AUTH_BAD_SIGNATURE" => "the engine does not take the signature",
            "INVALID_ARGUMENT" => "the engine takes an argument for wrong: the graph may not exist",
            _ => "the engine refuses the request",
        },
        _ => "the engine refuses the request",
    };
    StoreRefusal::Unavailable { what }
}

/// To the caller of a commit. The engine never says which record it means; where there is one candidate it is named.
pub(super) fn commit(refusal: &EngineRefusal, batch: &SourceBatch) -> SinkRefusal {
    let code = refusal.engine_code().map_or("", scion_domain::engine::EngineCode::as_str);
    match code {
        "UNKNOWN_MAPPING_REFERENCE" => SinkRefusal::UnknownMapping {
            reference: named(batch.records.iter().map(|record| record.mapping_reference.as_str())),
        },
        "UNKNOWN_RELATIONSHIP_REFERENCE" => SinkRefusal::UnknownRelation {
            reference: named(batch.relationships.iter().map(|edge| edge.relation_reference.as_str())),
        },
        "SOURCE_MAPPING_SELECTOR_MISMATCH" => SinkRefusal::Selector { index: 0 },
        "SOURCE_WITHDRAWAL_UNKNOWN" => SinkRefusal::WithdrawalUnknown { index: 0 },
        "SOURCE_RELATIONSHIP_ENDPOINT_UNKNOWN" => SinkRefusal::EndpointUnknown { index: 0 },
        "SOURCE_RELATIONSHIP_ENDPOINT_WITHDRAWN" => SinkRefusal::EndpointWithdrawn { index: 0 },
        "CURSOR_POLICY_VIOLATION" => SinkRefusal::CursorPolicy { stream: batch.provider_checkpoint.stream.to_string() },
        _ => match refusal {
            EngineRefusal::Refused { code, .. } => SinkRefusal::Refused { code: code.as_str() },
            EngineRefusal::TooLarge { .. } => SinkRefusal::Capability { what: "a batch of this many bytes" },
            refusal if refusal.is_unsettled() => SinkRefusal::OutcomeUnknown,
            refusal => store(refusal).into(),
        },
    }
}

/// The distinct names, three at most.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let distinct: std::collections::BTreeSet<&str> = names.collect();
    let shown: Vec<&str> = distinct.iter().copied().take(3).collect();
    let more = if distinct.len() > 3 { " or another" } else { "" };
    format!("{}{more}", shown.join(" or "))
}
