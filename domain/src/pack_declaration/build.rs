//! The declaration of a live connector.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    AccessPolicy, ConnectorPackDeclaration, PackDeclarationRefusal, PackTool, ProvenanceRequirement, SourceObject,
    SourceRelation,
};
use crate::access_contract::{AccessContract, is_absolute_iri, segment};
use crate::declaration::descriptor::{Descriptor, OntologyTerms};
use crate::declaration::{ConnectorDeclaration, SchemaMapping, SourceSpec};
use crate::resource_descriptor::{AccessKind, ResourcePagination};

/// What a server declares and lists.
#[derive(Clone, Copy, Debug)]
pub struct LiveConnector<'c> {
    /// Its declaration.
    pub declaration: &'c ConnectorDeclaration,
    /// Its data resources.
    pub descriptors: &'c [Descriptor],
    /// Its tools, by name.
    pub tools: &'c BTreeMap<String, PackTool>,
    /// The names of its prompts.
    pub prompts: &'c BTreeSet<String>,
    /// The names of its skills.
    pub skills: &'c BTreeSet<String>,
    /// The classes and properties of its ontology, where the caller knows them.
    pub terms: Option<&'c OntologyTerms>,
}

/// The declaration of a live connector, with what could not be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePack {
    /// What could be declared.
    pub declaration: ConnectorPackDeclaration,
    /// What was left out: one refusal per source or data resource. Nothing can be queried by a class that has no IRI, so a
    /// server may serve such a source; certification asks for an empty list.
    pub left_out: Vec<PackDeclarationRefusal>,
}

impl ConnectorPackDeclaration {
    /// Makes the declaration of a live connector. Sources take their class from their mapping, or from the data resource that
    /// the same tool reads.
    pub fn of_live(live: LiveConnector<'_>) -> LivePack {
        let LiveConnector { declaration, descriptors, tools, prompts, skills, terms } = live;
        let connector = &declaration.connector;
        let mut out = Self::new(connector.clone(), "1");
        let mut left_out = Vec::new();
        for (index, descriptor) in descriptors.iter().enumerate() {
            match contract(connector.as_str(), descriptor) {
                Some(contract) => match contract.check() {
                    Ok(()) => drop(out.contracts.insert(contract.iri.clone(), contract)),
                    Err(refusal) => left_out.push(PackDeclarationRefusal::Contract {
                        field: format!("descriptors[{index}]"),
                        code: crate::refusal::Refusal::code(&refusal),
                    }),
                },
                None => left_out
                    .push(PackDeclarationRefusal::Class { field: format!("descriptors[{index}].ontology_class") }),
            }
        }
        for (index, source) in declaration.sources.iter().enumerate() {
            match source_object(declaration, source, descriptors, terms) {
                Some(object) => {
                    let alone = SourceObject { relations: BTreeSet::new(), ..object.clone() };
                    match out.check_source(&format!("sources[{index}]"), source.source_id.as_str(), &alone, None) {
                        Ok(()) => drop(out.sources.insert(source.source_id.to_string(), object)),
                        Err(refusal) => left_out.push(refusal),
                    }
                }
                None => left_out.push(PackDeclarationRefusal::Class { field: format!("sources[{index}].class") }),
            }
        }
        let known: BTreeSet<String> = out.sources.keys().cloned().collect();
        for source in out.sources.values_mut() {
            source.relations.retain(|relation| known.contains(&relation.target));
        }
        out.tools = tools.clone();
        for (name, tool) in &mut out.tools {
            let read = |operation: &str, get: Option<&str>| operation == name || get == Some(name);
            let of_data = descriptors.iter().filter(|data| read(&data.operation, data.get_operation.as_deref()));
            let of_data = of_data.filter_map(|data| data.ontology_class.clone()).filter(|class| is_absolute_iri(class));
            let of_sources = declaration.sources.iter().filter(|source| source.tools.contains(name));
            let of_sources = of_sources.filter_map(|source| out.sources.get(source.source_id.as_str()));
            tool.classes.extend(of_data.chain(of_sources.map(|source| source.class.clone())));
        }
        out.prompts = prompts.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
        out.skills = skills.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
        out.features = features(&out);
        LivePack { declaration: out, left_out }
    }
}

/// The surfaces that hold something.
fn features(of: &ConnectorPackDeclaration) -> BTreeSet<String> {
    let surfaces = [
        ("ingest", of.sources.is_empty()),
        ("virtual_reads", of.contracts.is_empty()),
        ("tools", of.tools.is_empty()),
        ("prompts", of.prompts.is_empty()),
        ("skills", of.skills.is_empty()),
    ];
    surfaces.into_iter().filter(|(_, empty)| !empty).map(|(name, _)| name.to_owned()).collect()
}

/// The contract of a data resource; `None` without a class.
fn contract(connector: &str, data: &Descriptor) -> Option<AccessContract> {
    let class = data.ontology_class.as_deref().filter(|class| is_absolute_iri(class))?;
    let iri = format!("contract://{connector}/data/{}", segment(&data.name));
    let kind = AccessKind::parse(&data.access_kind)?;
    let property = |field: &crate::declaration::descriptor::DescriptorField| {
        let property = field.ontology_property.clone().filter(|property| is_absolute_iri(property))?;
        Some((property, field.name.clone()))
    };
    Some(AccessContract {
        source_id: connector.to_owned(),
        entity: data.name.clone(),
        key_field: data.key_field.clone(),
        parameters: data.arguments.keys().chain(&data.pagination_param).cloned().collect(),
        pagination: ResourcePagination::parse(&data.pagination).unwrap_or(ResourcePagination::None),
        auth_ref: data.credential_ref.clone(),
        predicates: data.fields.iter().filter_map(property).collect(),
        ..AccessContract::new(iri, class, kind, data.operation.clone())
    })
}

fn source_object(
    declaration: &ConnectorDeclaration,
    source: &SourceSpec,
    descriptors: &[Descriptor],
    terms: Option<&OntologyTerms>,
) -> Option<SourceObject> {
    let none = SchemaMapping::default();
    let mapping = declaration.schema_mappings.get(&source.record_type).unwrap_or(&none);
    let first = source.tools.first().map_or("", String::as_str);
    let data = descriptors.iter().find(|data| data.operation == first);
    let class = match mapping.ontology_class.as_deref() {
        Some(iri) if is_absolute_iri(iri) => Some(iri.to_owned()),
        Some(name) => terms.and_then(|terms| terms.class_named(name)).map(str::to_owned),
        None => None,
    };
    let class = class.or_else(|| data?.ontology_class.clone().filter(|class| is_absolute_iri(class)))?;
    let mut fields: BTreeMap<String, String> = BTreeMap::new();
    for field in data.iter().flat_map(|data| &data.fields) {
        if let Some(property) = field.ontology_property.clone().filter(|property| is_absolute_iri(property)) {
            fields.insert(field.name.clone(), property);
        }
    }
    for (field, named) in &mapping.fields {
        // `xsd:…` says what the value is, not what it stands for.
        let property = match named.as_str() {
            name if name.starts_with("xsd:") => None,
            iri if is_absolute_iri(iri) => Some(iri.to_owned()),
            name => terms.and_then(|terms| terms.property_named(name)).map(str::to_owned),
        };
        if let Some(property) = property {
            fields.insert(field.clone(), property);
        }
    }
    let edge = |edge: &crate::declaration::EdgeSpec| {
        let of_type = || declaration.sources.iter().find(|other| other.record_type == edge.target_type);
        let target = edge.target_stream.as_ref().map(ToString::to_string);
        Some(SourceRelation {
            relationship: edge.relationship.clone(),
            field: edge.target_field.clone(),
            target: target.or_else(|| of_type().map(|source| source.source_id.to_string()))?,
        })
    };
    Some(SourceObject {
        record_type: source.record_type.clone(),
        class,
        key: source.id_field.clone(),
        fields,
        cursor_field: source.cursor_field.clone(),
        incremental: source.incremental,
        access_policy: AccessPolicy::Connector,
        privacy: BTreeSet::new(),
        provenance: ProvenanceRequirement::ALL.iter().copied().collect(),
        relations: source.edges.iter().filter_map(edge).collect(),
    })
}
