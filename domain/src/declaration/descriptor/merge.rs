//! Laying declared descriptors over derived ones.

use super::check::check_one;
use super::{Descriptor, DescriptorField, DescriptorRefusal, MappingStatus, OntologyTerms};
use crate::declaration::refusal::shown;
use crate::id::ConnectorName;
use crate::json::{Json, JsonObject};

type Read<T> = Result<T, DescriptorRefusal>;

/// Declared descriptors override derived ones of the same name, member by member, and turn their mapping `declared`; others
/// are added. The answer is sorted by name. Without terms, classes are not looked up.
pub fn merge(
    connector: &ConnectorName,
    derived: &[Descriptor],
    declared: &[JsonObject],
    terms: Option<&OntologyTerms>,
) -> Read<Vec<Descriptor>> {
    let mut out = derived.to_vec();
    for members in declared {
        let name = members.get("name").and_then(Json::as_str).filter(|name| !name.is_empty());
        let missing = || DescriptorRefusal::Incomplete { name: "(unnamed)".to_owned(), member: "name" };
        let name = name.ok_or_else(missing)?;
        check_one(members, terms)?;
        let place = out.iter().position(|descriptor| descriptor.name == name);
        let mut descriptor = match place {
            Some(place) => out.remove(place),
            None => blank(connector, name),
        };
        overlay(&mut descriptor, members)?;
        complete(&descriptor)?;
        out.push(descriptor);
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

fn blank(connector: &ConnectorName, name: &str) -> Descriptor {
    Descriptor {
        name: name.to_owned(),
        uri: format!("data://{connector}/{name}"),
        declared: true,
        ontology_class: None,
        mapping_status: MappingStatus::Unmapped,
        fields: Vec::new(),
        access_kind: "mcp_tool".to_owned(),
        operation: String::new(),
        get_operation: None,
        arguments: JsonObject::new(),
        key_field: String::new(),
        pagination: String::new(),
        pagination_param: None,
        read_only: true,
        owner: None,
        credential_ref: None,
    }
}

fn complete(descriptor: &Descriptor) -> Read<()> {
    let missing = [
        (descriptor.ontology_class.is_none(), "ontology_class"),
        (descriptor.operation.is_empty(), "operation"),
        (descriptor.key_field.is_empty(), "key_field"),
    ];
    match missing.iter().find(|(missing, _)| *missing) {
        None if descriptor.pagination.is_empty() => {
            Err(DescriptorRefusal::Pagination { name: shown(&descriptor.name) })
        }
        None => Ok(()),
        Some((_, member)) => Err(DescriptorRefusal::Incomplete { name: shown(&descriptor.name), member }),
    }
}

fn overlay(descriptor: &mut Descriptor, members: &JsonObject) -> Read<()> {
    let wrong = |member: &str| DescriptorRefusal::Member { name: shown(&descriptor.name), member: shown(member) };
    let mut fields = None;
    for (member, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let text = || value.as_str().map(str::to_owned).ok_or_else(|| wrong(member));
        match member.as_str() {
            // The name decides these.
            "name" | "uri" | "kind" | "origin" | "mapping_status" => {}
            "ontology_class" => descriptor.ontology_class = Some(text()?),
            "fields" => fields = Some(read_fields(&descriptor.name, value.as_array().ok_or_else(|| wrong(member))?)?),
            "access_kind" => descriptor.access_kind = text()?,
            "operation" => descriptor.operation = text()?,
            "get_operation" => descriptor.get_operation = Some(text()?),
            "arguments" => descriptor.arguments = value.as_object().ok_or_else(|| wrong(member))?.clone(),
            "key_field" => descriptor.key_field = text()?,
            "pagination" => descriptor.pagination = text()?,
            "pagination_param" => descriptor.pagination_param = Some(text()?),
            "read_only" => descriptor.read_only = value.as_bool().ok_or_else(|| wrong(member))?,
            "owner" => descriptor.owner = Some(text()?),
            "credential_ref" => descriptor.credential_ref = Some(text()?),
            _ => return Err(wrong(member)),
        }
    }
    if let Some(fields) = fields {
        descriptor.fields = fields;
    }
    descriptor.declared = true;
    descriptor.mapping_status = declared(descriptor.ontology_class.is_some());
    for field in &mut descriptor.fields {
        field.mapping_status = declared(field.ontology_property.is_some());
    }
    Ok(())
}

fn declared(mapped: bool) -> MappingStatus {
    if mapped { MappingStatus::Declared } else { MappingStatus::Unmapped }
}

fn read_fields(name: &str, items: &[Json]) -> Read<Vec<DescriptorField>> {
    let read = |(index, item): (usize, &Json)| {
        let member = |member: &str| item.get(member).and_then(Json::as_str).filter(|text| !text.is_empty());
        let field = item.as_str().or_else(|| member("name")).filter(|field| !field.is_empty());
        let field = field.ok_or_else(|| DescriptorRefusal::Field { name: shown(name), index })?;
        Ok(DescriptorField {
            name: field.to_owned(),
            kind: member("type").unwrap_or("string").to_owned(),
            ontology_property: member("ontology_property").map(str::to_owned),
            mapping_status: MappingStatus::Unmapped,
        })
    };
    items.iter().enumerate().map(read).collect()
}
