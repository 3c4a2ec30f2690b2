//! Entries that follow from the declaration: one per data resource, and the contract over them.

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::declaration::descriptor::Descriptor;
use scion_domain::declaration::{ConnectorDeclaration, DECLARATION_URI};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, to_compact, to_spaced};
use scion_domain::model::PackEntry;
use scion_domain::pack::{EntryKind, PackRefusal, skill_of};
use scion_domain::pack_declaration::{ConnectorPackDeclaration, LiveConnector, PackTool, contract_uri};

/// The schema of an entry whose content is text: the engine takes no resource without one.
pub(crate) const TEXT_SCHEMA: &[u8] = br#"{"type":"string"}"#;

/// The entries, `captured` being those that were read from the server. A declaration of another connector, or with a data
/// resource that cannot be read, is refused.
pub(crate) fn entries(
    connector: &ConnectorName,
    declaration: &[u8],
    captured: &[PackEntry],
) -> Result<Vec<PackEntry>, PackRefusal> {
    let bad = |uri: &str, what| PackRefusal::Malformed { uri: uri.to_owned(), what };
    let read = ConnectorDeclaration::from_text(declaration);
    let declared = read.map_err(|_| bad(DECLARATION_URI, "no declaration that can be read"))?;
    let mut found = Vec::with_capacity(declared.descriptors.len() + 1);
    let mut descriptors = Vec::with_capacity(declared.descriptors.len());
    for members in &declared.descriptors {
        let descriptor = Descriptor::from_json(members);
        let descriptor = descriptor.map_err(|_| bad(DECLARATION_URI, "a data resource that cannot be read"))?;
        found.push(PackEntry {
            kind: EntryKind::Resource.as_str().to_owned(),
            uri: descriptor.uri.clone(),
            name: descriptor.name.clone(),
            media_type: "application/json".to_owned(),
            body: to_spaced(&Json::Object(descriptor.to_json())).into_bytes(),
            output_schema: Some(descriptor_schema().into_bytes()),
            ..PackEntry::default()
        });
        descriptors.push(descriptor);
    }
    let uri = contract_uri(connector);
    let of_kind = |kind: EntryKind| captured.iter().filter(move |entry| entry.kind == kind.as_str());
    let names = |kind| of_kind(kind).map(|entry| entry.name.clone()).collect::<BTreeSet<_>>();
    let tools = of_kind(EntryKind::Tool).map(|entry| (entry.name.clone(), PackTool::of_entry(entry)));
    let live = ConnectorPackDeclaration::of_live(LiveConnector {
        declaration: &declared,
        descriptors: &descriptors,
        tools: &tools.collect::<BTreeMap<_, _>>(),
        prompts: &names(EntryKind::Prompt),
        skills: &of_kind(EntryKind::Skill)
            .filter_map(|entry| skill_of(&entry.uri))
            .map(|(skill, _)| skill.to_owned())
            .collect(),
        terms: None,
    });
    let body = live.declaration.to_turtle().map_err(|_| bad(&uri, "a contract that cannot be written"))?;
    found.push(PackEntry {
        kind: EntryKind::Resource.as_str().to_owned(),
        name: uri.clone(),
        media_type: "text/turtle".to_owned(),
        body: body.into_bytes(),
        output_schema: Some(TEXT_SCHEMA.to_vec()),
        uri,
        ..PackEntry::default()
    });
    Ok(found)
}

/// What a reader of a data resource's entry can rely on.
fn descriptor_schema() -> String {
    let texts = ["access_kind", "key_field", "name", "operation", "pagination", "uri"];
    let text = |name: &str| (name.to_owned(), Json::from([("type", Json::from("string"))]));
    let required: Vec<Json> = texts.iter().map(|name| Json::from(*name)).collect();
    to_compact(&Json::from([
        ("type", Json::from("object")),
        ("properties", Json::Object(texts.iter().map(|name| text(name)).collect())),
        ("required", required.into()),
    ]))
}
