//! The index of a pack as the engine's structures have it.

use scion_domain::pack::{
    ArchivedEntry, CatalogBinding, MeasuredFact, ModelFacts, PackAnnotations, PackIndex, Section, ToolMode,
};

use crate::Value;

pub(super) fn value(index: &PackIndex) -> Value {
    Value::map([
        ("schema_version", Value::Natural(2)),
        ("connector", index.connector.as_str().into()),
        ("server", entry(&index.server)),
        ("server_package_version", index.server_package_version.as_str().into()),
        (
            "archive",
            Value::map([
                ("blob_digest", index.archive.blob_digest.as_str().into()),
                ("length", index.archive.length.into()),
                ("sha256", index.archive.sha256.to_hex().into()),
            ]),
        ),
        ("entries", Value::List(index.entries.iter().map(entry).collect())),
        (
            "producer",
            Value::map([
                ("name", index.producer.name.as_str().into()),
                ("version", index.producer.version.as_str().into()),
            ]),
        ),
        ("catalog", binding(&index.catalog)),
        ("pack_digest", index.pack_digest.to_hex().into()),
    ])
}

fn binding(catalog: &CatalogBinding) -> Value {
    Value::map([
        ("configuration_revision", catalog.configuration_revision.into()),
        ("catalog_generation", catalog.catalog_generation.into()),
        ("snapshot_digest", catalog.snapshot_digest.to_hex().into()),
        ("child_connection_generation", catalog.child_connection_generation.into()),
        ("authorization_scope_digest", catalog.authorization_scope_digest.to_hex().into()),
    ])
}

fn entry(entry: &ArchivedEntry) -> Value {
    let links = entry
        .references
        .iter()
        .map(|link| Value::map([("uri", link.uri.as_str().into()), ("kind", link.kind.as_str().into())]));
    Value::map([
        ("kind", entry.kind.as_str().into()),
        ("uri", entry.uri.as_str().into()),
        ("name", entry.name.as_str().into()),
        ("media_type", entry.media_type.as_str().into()),
        ("body", section(&entry.body)),
        ("input_schema", entry.input_schema.as_ref().map_or(Value::Nil, section)),
        ("output_schema", entry.output_schema.as_ref().map_or(Value::Nil, section)),
        ("annotations", annotations(&entry.annotations)),
        ("references", Value::List(links.collect())),
    ])
}

fn section(section: &Section) -> Value {
    Value::map([
        ("offset", section.offset.into()),
        ("length", section.length.into()),
        ("sha256", section.sha256.to_hex().into()),
    ])
}

fn annotations(known: &PackAnnotations) -> Value {
    let list = |names: &std::collections::BTreeSet<String>| {
        Value::List(names.iter().map(|name| name.as_str().into()).collect())
    };
    let cost = known.cost.as_ref().map_or(Value::Nil, |cost| {
        Value::map([
            ("currency", cost.currency.as_str().into()),
            ("per_call_micros", cost.per_call_micros.into()),
            ("input_per_mtok_micros", cost.input_per_mtok_micros.into()),
            ("output_per_mtok_micros", cost.output_per_mtok_micros.into()),
        ])
    });
    let latency = known.latency_declared.map_or(Value::Nil, |latency| {
        Value::map([("p50_ms", latency.p50_ms.into()), ("p95_ms", latency.p95_ms.into())])
    });
    let mode = known.tool_mode.map(|mode| match mode {
        ToolMode::Condensed => "condensed",
        ToolMode::Verbose => "verbose",
    });
    Value::map([
        ("provides", list(&known.provides)),
        ("requires_capabilities", list(&known.requires_capabilities)),
        ("modalities_in", list(&known.modalities_in)),
        ("modalities_out", list(&known.modalities_out)),
        ("required_scopes", list(&known.required_scopes)),
        ("read_only_hint", known.read_only_hint.into()),
        ("destructive_hint", known.destructive_hint.into()),
        ("idempotent_hint", known.idempotent_hint.into()),
        ("open_world_hint", known.open_world_hint.into()),
        ("contract_version", known.contract_version.as_deref().into()),
        ("cost", cost),
        ("latency_declared", latency),
        ("model", known.model.as_ref().map_or(Value::Nil, model)),
        ("sdk_contract_pin", known.sdk_contract_pin.map(scion_domain::id::Digest256::to_hex).into()),
        ("tool_mode", mode.into()),
    ])
}

fn model(facts: &ModelFacts) -> Value {
    let mut members = vec![
        ("provider".to_owned(), Value::from(facts.provider.as_str())),
        ("model_identity".to_owned(), facts.model_identity.as_str().into()),
        ("context_window_tokens".to_owned(), facts.context_window_tokens.into()),
        ("max_output_tokens".to_owned(), facts.max_output_tokens.into()),
        ("supports_tools".to_owned(), facts.supports_tools.into()),
        ("supports_structured_output".to_owned(), facts.supports_structured_output.into()),
        ("supports_vision".to_owned(), facts.supports_vision.into()),
    ];
    // The engine's structure has these two only where they are known.
    let measured = |name: &str, fact: &MeasuredFact| {
        let run = Value::map([
            ("evaluation_id", fact.evaluation_id.as_str().into()),
            ("digest", fact.evaluation_digest.as_str().into()),
        ]);
        (name.to_owned(), Value::map([("value", fact.value.as_str().into()), ("evaluation_run_ref", run)]))
    };
    members.extend(facts.shell_proficiency.as_ref().map(|fact| measured("shell_proficiency", fact)));
    members.extend(facts.stopping_behaviour.as_ref().map(|fact| measured("stopping_behaviour", fact)));
    Value::Map(members)
}
