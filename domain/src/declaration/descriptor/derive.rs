//! Descriptors from read-only tools.

use std::collections::BTreeMap;

use super::schema::RecordSchema;
use super::{Descriptor, DescriptorField, MappingStatus, OntologyTerms};
use crate::id::ConnectorName;
use crate::json::{Json, JsonObject};
use crate::mcp::ToolDescription;

const VERBS: [&str; 7] = ["list", "get", "search", "find", "fetch", "read", "query"];

const KEYS: [&str; 4] = ["uuid", "guid", "key", "node_id"];
const LATE_KEYS: [&str; 3] = ["name", "slug", "number"];

/// Parameter names that page, family by family; the first family that fits wins.
const PAGING: [(&str, &[&str]); 3] = [
    (
        "cursor",
        &[
            "cursor",
            "next_cursor",
            "page_token",
            "next_page_token",
            "after",
            "starting_after",
            "continuation_token",
            "next_url",
            "next_link",
            "next",
        ],
    ),
    ("offset", &["offset", "skip", "start", "start_index"]),
    ("page", &["page", "page_number", "page_num", "pageno"]),
];

/// One descriptor per read-only tool that names a resource and whose records have a key: lists first, then single objects
/// that no list took as its `get_operation`, each in tool name order. Fields stand in name order.
pub fn derive(connector: &ConnectorName, tools: &[ToolDescription], terms: &OntologyTerms) -> Vec<Descriptor> {
    let mut found: Vec<Found<'_>> = tools.iter().filter_map(Found::of).collect();
    found.sort_by(|a, b| a.tool.name.cmp(&b.tool.name));
    let mut out: Vec<Descriptor> = Vec::new();
    let known = |out: &[Descriptor], name: &str| out.iter().any(|descriptor| descriptor.name == name);
    for list in found.iter().filter(|found| found.record.is_list) {
        if !known(&out, &list.resource) {
            out.extend(list.descriptor(connector, terms));
        }
    }
    for single in found.iter().filter(|found| !found.record.is_list) {
        let same = |descriptor: &&mut Descriptor| singular(&descriptor.name) == singular(&single.resource);
        if let Some(list) = out.iter_mut().find(same) {
            list.get_operation.get_or_insert_with(|| single.tool.name.clone());
        } else {
            out.extend(single.descriptor(connector, terms));
        }
    }
    out
}

struct Found<'a> {
    tool: &'a ToolDescription,
    resource: String,
    record: RecordSchema<'a>,
}

impl<'a> Found<'a> {
    fn of(tool: &'a ToolDescription) -> Option<Self> {
        if !tool.hints.is_read_only() {
            return None;
        }
        let name = tool.name.to_ascii_lowercase();
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric()).skip_while(|word| !VERBS.contains(word));
        words.next()?;
        let resource = words.filter(|word| !word.is_empty() && *word != "all").collect::<Vec<_>>().join("_");
        let record = RecordSchema::find(tool.output_schema.as_ref()?)?;
        (!resource.is_empty()).then_some(Self { tool, resource, record })
    }

    fn key(&self) -> Option<&'a str> {
        let names: Vec<&str> = self.record.scalars().map(|(name, _)| name).collect();
        let own = format!("{}_id", singular(&self.resource));
        let mut wanted = ["id", &own].into_iter().chain(KEYS).chain(LATE_KEYS);
        let listed = wanted.find_map(|wanted| names.iter().find(|name| **name == wanted));
        listed.or_else(|| names.iter().find(|name| name.ends_with("_id"))).copied()
    }

    fn descriptor(&self, connector: &ConnectorName, terms: &OntologyTerms) -> Option<Descriptor> {
        let key_field = self.key()?.to_owned();
        let class = terms.class_of(&singular(&self.resource)).map(str::to_owned);
        let (pagination, pagination_param) = self.paging();
        let fields = self.record.scalars().map(|(name, kind)| {
            let property = terms.property_of(name).map(str::to_owned);
            DescriptorField {
                name: name.to_owned(),
                kind: kind.to_owned(),
                mapping_status: proposed(property.is_some()),
                ontology_property: property,
            }
        });
        Some(Descriptor {
            name: self.resource.clone(),
            uri: format!("data://{connector}/{}", self.resource),
            declared: false,
            mapping_status: proposed(class.is_some()),
            ontology_class: class,
            fields: fields.collect(),
            access_kind: "mcp_tool".to_owned(),
            operation: self.tool.name.clone(),
            get_operation: None,
            arguments: self.arguments(pagination_param),
            key_field,
            pagination: pagination.to_owned(),
            pagination_param: pagination_param.map(str::to_owned),
            read_only: true,
            owner: None,
            credential_ref: None,
        })
    }

    fn parameters(&self) -> Option<&'a JsonObject> {
        self.tool.input_schema.get("properties").and_then(Json::as_object)
    }

    /// The required parameters that do not page.
    fn arguments(&self, paging: Option<&str>) -> BTreeMap<String, Json> {
        let required = self.tool.input_schema.get("required").and_then(Json::as_array).unwrap_or_default();
        let names = required.iter().filter_map(Json::as_str).filter(|name| Some(*name) != paging);
        names.map(|name| (name.to_owned(), format!("{{{name}}}").into())).collect()
    }

    /// By the names of the parameters; where only a page parameter is there and the wrapper hands out a cursor, the
    /// parameter takes the cursor.
    fn paging(&self) -> (&'static str, Option<&'static str>) {
        let (Some(names), true) = (self.parameters(), self.record.is_list) else { return ("none", None) };
        let param = |family: &'static [&'static str]| family.iter().find(|name| names.contains_key(**name)).copied();
        let found = PAGING.iter().find_map(|(kind, family)| Some((*kind, param(family)?)));
        let hands_out = |wrapper: &JsonObject| PAGING[0].1.iter().any(|name| wrapper.contains_key(*name));
        match found {
            Some(("page", name)) if self.record.wrapper.is_some_and(hands_out) => ("cursor", Some(name)),
            Some((kind, name)) => (kind, Some(name)),
            None => ("none", None),
        }
    }
}

fn proposed(found: bool) -> MappingStatus {
    if found { MappingStatus::Proposed } else { MappingStatus::Unmapped }
}

/// The singular of an English plural, by its ending.
fn singular(name: &str) -> String {
    if let Some(stem) = name.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    for ending in ["xes", "ches", "shes", "sses", "zes"] {
        if name.ends_with(ending) {
            return name[..name.len() - 2].to_owned();
        }
    }
    let kept = ["ss", "us", "is"].iter().any(|ending| name.ends_with(ending));
    if kept { name } else { name.strip_suffix('s').unwrap_or(name) }.to_owned()
}
