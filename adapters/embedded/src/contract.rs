//! The accepted declaration of a connector, compiled for admission: which mappings and relations exist, and the keys of
//! the properties they lead to.

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, params};
use scion_domain::declaration::{ConnectorDeclaration, SchemaMapping};
use scion_domain::id::{ConnectorName, Digest256, RelationReference};
use scion_domain::model::PackEntry;
use scion_domain::sink::SinkRefusal;

use crate::failure::{Failure, Outcome};
use crate::{intern, iri, ontology};

/// The entry that holds the declaration.
pub(crate) const DECLARATION_URI: &str = "connector://resources";

/// Copied when present, mapped or not: the tool id (`wire/engine-protocol.md` 7.1), and who may see the record
/// (R014.13), which no mapping can be allowed to forget.
const ALWAYS_KEPT: [&str; 4] = ["externalToolId", "access_public", "access_read_roles", "access_markings"];

/// Names the store keeps for itself; no field may be mapped onto one.
const BOOKKEEPING: [&str; 7] = [
    "type",
    "source_record_id",
    "source_stream",
    "source_mapping_reference",
    "source_raw_sha256",
    "source_provenance",
    "source_updated_at",
];

/// A datatype a mapping can ask to be checked, by the JSON kind it admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Datatype {
    Text,
    Boolean,
    Integer,
    NonNegative,
    Number,
}

impl Datatype {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "string" | "date" | "dateTime" | "anyURI" => Self::Text,
            "boolean" => Self::Boolean,
            "integer" | "int" | "long" => Self::Integer,
            "nonNegativeInteger" => Self::NonNegative,
            "decimal" | "double" | "float" => Self::Number,
            _ => return None,
        })
    }
}

/// Where a field goes.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) property: i64,
    /// The check, and the target as declared, for messages.
    pub(crate) check: Option<(Datatype, String)>,
}

/// One record type.
#[derive(Debug)]
pub(crate) struct Mapping {
    pub(crate) id: i64,
    pub(crate) record_type: String,
    pub(crate) fields: HashMap<String, Field>,
    /// Properties of [`ALWAYS_KEPT`] by field name.
    pub(crate) always_kept: Vec<(&'static str, i64)>,
}

/// All of one connector.
#[derive(Debug)]
pub(crate) struct AcceptedContract {
    pub(crate) revision: u64,
    pub(crate) digest: Digest256,
    /// By reference; a mapping that cannot work says why when it is used.
    mappings: HashMap<String, Result<Mapping, &'static str>>,
    relations: HashSet<(String, String)>,
    object_properties: BTreeSet<String>,
}

impl AcceptedContract {
    /// The mapping a record is admitted under.
    pub(crate) fn mapping(&self, reference: &str) -> Result<&Mapping, SinkRefusal> {
        match self.mappings.get(reference) {
            Some(Ok(mapping)) => Ok(mapping),
            Some(Err(what)) => Err(SinkRefusal::MappingInvalid { reference: reference.to_owned(), what }),
            None => Err(SinkRefusal::UnknownMapping { reference: reference.to_owned() }),
        }
    }

    /// Whether a relation is declared: by a source's edge, a resource's relation or the ontology.
    pub(crate) fn check_relation(
        &self,
        connector: &ConnectorName,
        reference: &RelationReference,
    ) -> Result<(), SinkRefusal> {
        let declared = reference.parts(connector).is_some_and(|(record_type, relation)| {
            self.relations.contains(&(record_type.to_owned(), relation.to_owned()))
                || self.object_properties.contains(relation)
        });
        if declared { Ok(()) } else { Err(SinkRefusal::UnknownRelation { reference: reference.to_string() }) }
    }
}

/// Reads the accepted contract; `None` when nothing was imported.
pub(crate) fn load(connection: &Connection, connector: &ConnectorName) -> Outcome<Option<AcceptedContract>> {
    let head = connection
        .prepare_cached(
            "SELECT c.id, p.revision, p.digest FROM connector c JOIN pack p ON p.connector = c.id WHERE c.name = ?1",
        )?
        .query_row([connector.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, [u8; 32]>(2)?)))
        .optional()?;
    let Some((key, revision, digest)) = head else { return Ok(None) };
    let entries = connection
        .prepare_cached(
            "SELECT kind, uri, media_type, body FROM pack_entry WHERE connector = ?1
             AND (uri = 'connector://resources' OR kind = 'ontology')",
        )?
        .query_map([key], |row| {
            Ok(PackEntry {
                kind: row.get(0)?,
                uri: row.get(1)?,
                media_type: row.get(2)?,
                body: row.get(3)?,
                ..PackEntry::default()
            })
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let declaration = declaration(connector, &entries).map_err(|_| Failure::corrupt())?;
    let head = Head { key, revision, digest: Digest256::from_bytes(digest) };
    compile(connection, connector, &head, &declaration, &entries).map(Some)
}

/// The accepted revision and digest of a connector's pack, for the check inside a commit.
pub(crate) fn head(connection: &Connection, connector: i64) -> Outcome<Option<(u64, Digest256)>> {
    Ok(connection
        .prepare_cached("SELECT revision, digest FROM pack WHERE connector = ?1")?
        .query_row(params![connector], |row| Ok((row.get(0)?, Digest256::from_bytes(row.get(1)?))))
        .optional()?)
}

/// Reads the declaration out of a pack's entries.
pub(crate) fn declaration(
    connector: &ConnectorName,
    entries: &[PackEntry],
) -> Result<ConnectorDeclaration, SinkRefusal> {
    let invalid = |what| SinkRefusal::PackInvalid { what };
    let mut declarations = entries.iter().filter(|entry| entry.uri == DECLARATION_URI);
    let entry = declarations.next().ok_or(invalid("it has no entry connector://resources"))?;
    let declaration = ConnectorDeclaration::from_text(&entry.body)
        .map_err(|_| invalid("connector://resources is not a connector declaration"))?;
    if declaration.connector != *connector {
        return Err(invalid("connector://resources names another connector"));
    }
    Ok(declaration)
}

/// What identifies the pack a contract is compiled from.
pub(crate) struct Head {
    pub(crate) key: i64,
    pub(crate) revision: u64,
    pub(crate) digest: Digest256,
}

/// Resolves every name to its key. During an import this adds the rows; later it only finds them.
pub(crate) fn compile(
    connection: &Connection,
    connector: &ConnectorName,
    head: &Head,
    declaration: &ConnectorDeclaration,
    entries: &[PackEntry],
) -> Outcome<AcceptedContract> {
    let mut mappings = HashMap::new();
    for (record_type, mapping) in &declaration.schema_mappings {
        let reference = format!("connector:{connector}#mappings/{record_type}");
        let compiled = match sound(mapping) {
            Ok(()) => Ok(compile_mapping(connection, connector, head.key, record_type, mapping)?),
            Err(what) => Err(what),
        };
        mappings.insert(reference, compiled);
    }
    let of_sources = declaration
        .sources
        .iter()
        .flat_map(|source| source.edges.iter().map(|edge| (source.record_type.clone(), edge.relationship.clone())));
    let of_resources = declaration
        .resources
        .iter()
        .flat_map(|resource| resource.relations.iter().map(|relation| (resource.name.clone(), relation.name.clone())));
    let object_properties = entries
        .iter()
        .filter(|entry| entry.kind == "ontology")
        .filter_map(|entry| std::str::from_utf8(&entry.body).ok())
        .flat_map(ontology::object_properties)
        .collect();
    Ok(AcceptedContract {
        revision: head.revision,
        digest: head.digest,
        mappings,
        relations: of_sources.chain(of_resources).collect(),
        object_properties,
    })
}

/// Whether a mapping can work at all.
fn sound(mapping: &SchemaMapping) -> Result<(), &'static str> {
    let mut targets = HashSet::new();
    for (field, target) in &mapping.fields {
        let name = match target.strip_prefix("xsd:") {
            Some(datatype) if Datatype::of(datatype).is_none() => {
                return Err("it names an xsd: datatype that is not checked");
            }
            Some(_) => field,
            None => target,
        };
        if name.is_empty() {
            return Err("a field leads to an empty property name");
        }
        if BOOKKEEPING.contains(&name.as_str()) {
            return Err("a field leads to a name the store keeps for itself");
        }
        if !targets.insert(name) {
            return Err("two fields lead to one property");
        }
    }
    Ok(())
}

fn compile_mapping(
    connection: &Connection,
    connector: &ConnectorName,
    connector_key: i64,
    record_type: &str,
    mapping: &SchemaMapping,
) -> Outcome<Mapping> {
    let connector = connector.as_str();
    let class = iri::name(connector, mapping.ontology_class.as_deref().unwrap_or(record_type));
    let id = intern::mapping(connection, connector_key, record_type, &class)?;
    let mut fields = HashMap::with_capacity(mapping.fields.len());
    for (field, target) in &mapping.fields {
        let check = target.strip_prefix("xsd:").and_then(Datatype::of).map(|datatype| (datatype, target.clone()));
        let name = if check.is_some() { field } else { target };
        let property = intern::property(connection, &iri::name(connector, name))?;
        fields.insert(field.clone(), Field { property, check });
    }
    let mut always_kept = Vec::with_capacity(ALWAYS_KEPT.len());
    for name in ALWAYS_KEPT {
        always_kept.push((name, intern::property(connection, &iri::name(connector, name))?));
    }
    Ok(Mapping { id, record_type: record_type.to_owned(), fields, always_kept })
}

impl AcceptedContract {
    /// Notes which properties records of each mapping can have; part of an import.
    pub(crate) fn note_properties(&self, connection: &Connection) -> Outcome<()> {
        for mapping in self.mappings.values().flatten() {
            for field in mapping.fields.values() {
                intern::mapping_property(connection, mapping.id, field.property)?;
            }
            for (_, property) in &mapping.always_kept {
                intern::mapping_property(connection, mapping.id, *property)?;
            }
        }
        Ok(())
    }

    /// The property of a field of a record type, when it is mapped.
    pub(crate) fn property(&self, connector: &ConnectorName, record_type: &str, field: &str) -> Option<i64> {
        let mapping = self.mappings.get(&format!("connector:{connector}#mappings/{record_type}"))?.as_ref().ok()?;
        mapping.fields.get(field).map(|field| field.property)
    }
}
