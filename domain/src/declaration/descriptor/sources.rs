//! The data resources of a connector: what its tools show, what its sources say of them, what it declares itself (R074.7).

use super::terms::reduced;
use super::{Descriptor, DescriptorRefusal, OntologyTerms, derive, merge};
use crate::declaration::refusal::shown;
use crate::declaration::{ConnectorDeclaration, PaginationMode, SchemaMapping, SourceSpec};
use crate::json::{Json, JsonObject};
use crate::mcp::ToolDescription;

/// All data resources, in name order. A source overrides the default of its tool and turns its mapping `declared`; `declared`
/// descriptors override both. Without terms there is no ontology, and classes are taken at their word.
pub fn data_resources(
    connector: &ConnectorDeclaration,
    tools: &[ToolDescription],
    declared: &[JsonObject],
    terms: Option<&OntologyTerms>,
) -> Result<Vec<Descriptor>, DescriptorRefusal> {
    let none = OntologyTerms::default();
    let mut derived = derive(&connector.connector, tools, terms.unwrap_or(&none));
    let mut overrides = Vec::new();
    for source in &connector.sources {
        let Some(tool) = source.tools.first() else { continue };
        let Some(descriptor) = derived.iter_mut().find(|descriptor| descriptor.operation == *tool) else { continue };
        descriptor.key_field.clone_from(&source.id_field);
        if let (PaginationMode::Page, Some(param)) = (source.pagination, &source.page_param) {
            "page".clone_into(&mut descriptor.pagination);
            descriptor.pagination_param = Some(param.clone());
        }
        if let Some(mapping) = connector.schema_mappings.get(&source.record_type)
            && let Some(members) = mapped(descriptor, source, mapping, terms)?
        {
            overrides.push(members);
        }
    }
    overrides.extend(declared.iter().cloned());
    merge(&connector.connector, &derived, &overrides, terms)
}

/// What a source's mapping says of the descriptor of its tool; nothing when the mapping names no class that can be an IRI.
fn mapped(
    descriptor: &Descriptor,
    source: &SourceSpec,
    mapping: &SchemaMapping,
    terms: Option<&OntologyTerms>,
) -> Result<Option<JsonObject>, DescriptorRefusal> {
    let Some(class) = &mapping.ontology_class else { return Ok(None) };
    let class = match (class.contains(':'), terms) {
        (true, _) => class.clone(),
        // A local name without an ontology names nothing that a reader of the descriptor could look up.
        (false, None) => return Ok(None),
        (false, Some(terms)) => match terms.classes.get(&reduced(class)) {
            Some(iri) => iri.clone(),
            None => return Err(DescriptorRefusal::Unmapped { name: shown(&source.record_type) }),
        },
    };
    let property = |field: &str| {
        let named = mapping.fields.get(field)?;
        match terms.and_then(|terms| terms.properties.get(&reduced(named))) {
            _ if named.starts_with("xsd:") => None,
            _ if named.contains(':') => Some(named.clone()),
            found => found.cloned(),
        }
    };
    let fields = descriptor.fields.iter().map(|field| {
        Json::from([
            ("name", field.name.as_str().into()),
            ("type", field.kind.as_str().into()),
            ("ontology_property", property(&field.name).or_else(|| field.ontology_property.clone()).into()),
        ])
    });
    Ok(Some(JsonObject::from([
        ("name".to_owned(), descriptor.name.as_str().into()),
        ("ontology_class".to_owned(), class.into()),
        ("fields".to_owned(), fields.collect::<Vec<_>>().into()),
    ])))
}
