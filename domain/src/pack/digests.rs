//! The engine's digests of a pack (`wire/engine-protocol.md` 6.4).

use std::collections::BTreeSet;

use super::{CatalogBinding, ModelFacts, PackAnnotations, ToolMode};
use crate::digest::framed;
use crate::id::Digest256;
use crate::model::PackReference;

/// An absent number is an empty field, never zero.
fn number(value: Option<u64>) -> Vec<u8> {
    value.map_or_else(Vec::new, |value| value.to_be_bytes().to_vec())
}

const fn tri(value: Option<bool>) -> [u8; 1] {
    match value {
        None => [0],
        Some(false) => [1],
        Some(true) => [2],
    }
}

fn list(domain: &str, values: &BTreeSet<String>) -> Digest256 {
    let fields: Vec<&[u8]> = values.iter().map(String::as_bytes).collect();
    framed(domain, &fields)
}

/// `eg/connector-pack-annotations/v2`.
pub fn annotations_digest(annotations: &PackAnnotations) -> Digest256 {
    let cost = annotations.cost.as_ref();
    let latency = annotations.latency_declared.as_ref();
    let mode = annotations.tool_mode.map_or("", ToolMode::as_str);
    let model = annotations.model.as_ref().map(model_digest);
    let pin = annotations.sdk_contract_pin.map(Digest256::to_hex).unwrap_or_default();
    framed(
        "eg/connector-pack-annotations/v2",
        &[
            list("eg/cp-provides/v1", &annotations.provides).as_bytes(),
            list("eg/cp-requires-capabilities/v1", &annotations.requires_capabilities).as_bytes(),
            list("eg/cp-modalities-in/v1", &annotations.modalities_in).as_bytes(),
            list("eg/cp-modalities-out/v1", &annotations.modalities_out).as_bytes(),
            list("eg/cp-required-scopes/v1", &annotations.required_scopes).as_bytes(),
            &tri(annotations.read_only_hint),
            &tri(annotations.destructive_hint),
            &tri(annotations.idempotent_hint),
            &tri(annotations.open_world_hint),
            annotations.contract_version.as_deref().unwrap_or_default().as_bytes(),
            cost.map_or("", |cost| &cost.currency).as_bytes(),
            &number(cost.and_then(|cost| cost.per_call_micros)),
            &number(cost.and_then(|cost| cost.input_per_mtok_micros)),
            &number(cost.and_then(|cost| cost.output_per_mtok_micros)),
            &number(latency.map(|latency| latency.p50_ms)),
            &number(latency.map(|latency| latency.p95_ms)),
            model.as_ref().map_or(&[][..], |digest| digest.as_bytes()),
            pin.as_bytes(),
            mode.as_bytes(),
        ],
    )
}

fn model_digest(model: &ModelFacts) -> Digest256 {
    let (context, output) = (model.context_window_tokens.to_be_bytes(), model.max_output_tokens.to_be_bytes());
    let (tools, structured, vision) =
        (tri(model.supports_tools), tri(model.supports_structured_output), tri(model.supports_vision));
    let mut fields: Vec<&[u8]> = vec![
        model.provider.as_bytes(),
        model.model_identity.as_bytes(),
        &context,
        &output,
        &tools,
        &structured,
        &vision,
    ];
    let measured = [("shell_proficiency", &model.shell_proficiency), ("stopping_behaviour", &model.stopping_behaviour)];
    for (name, fact) in measured {
        if let Some(fact) = fact {
            fields.extend([
                name.as_bytes(),
                fact.value.as_bytes(),
                fact.evaluation_id.as_bytes(),
                fact.evaluation_digest.as_bytes(),
            ]);
        }
    }
    framed("eg/cp-model-facts/v1", &fields)
}

/// `eg/connector-pack-references/v1`: the order does not matter.
pub fn references_digest(references: &[PackReference]) -> Digest256 {
    let mut sorted: Vec<&PackReference> = references.iter().collect();
    sorted.sort_unstable();
    let fields: Vec<&[u8]> =
        sorted.iter().flat_map(|reference| [reference.uri.as_bytes(), reference.kind.as_bytes()]).collect();
    framed("eg/connector-pack-references/v1", &fields)
}

/// `eg/mcp-catalog-binding/v1`.
pub fn catalog_digest(binding: &CatalogBinding) -> Digest256 {
    framed(
        "eg/mcp-catalog-binding/v1",
        &[
            &binding.configuration_revision.to_be_bytes(),
            &binding.catalog_generation.to_be_bytes(),
            binding.snapshot_digest.as_bytes(),
            &binding.child_connection_generation.to_be_bytes(),
            binding.authorization_scope_digest.as_bytes(),
        ],
    )
}
