//! Under which names and policies a connector ingests.

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::access::ExternalAccess;
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256, MappingReference, RecordType, StreamName};
use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::model::SourceCheckpoint;
use scion_domain::privacy::PersistencePrivacyGuard;

use super::NestedMapping;

/// The IRI of one object of a connector's contract: `contract:<connector>#<object>` (R017.1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContractIri(String);

impl ContractIri {
    /// The IRI of a record type.
    pub fn of(connector: &ConnectorName, object: &RecordType) -> Self {
        Self(format!("contract:{connector}#{object}"))
    }

    /// The IRI behind a mapping reference of this connector, which is its wire form.
    pub fn of_mapping(connector: &ConnectorName, reference: &MappingReference) -> Option<Self> {
        RecordType::parse(reference.record_type(connector)?).ok().map(|object| Self::of(connector, &object))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ContractIri {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Everything a change set is bound to. Made once per stream, usually with [`IngestBinding::for_declaration`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestBinding {
    /// The connector.
    pub connector: ConnectorName,
    /// The stream its records belong to.
    pub stream: StreamName,
    /// The kind of adapter in the provenance; `connector_ingest` when silent. A wire id.
    pub adapter_kind: String,
    /// The server in the provenance; the connector when silent.
    pub server: String,
    /// The tool in the provenance; the stream when silent.
    pub tool: String,
    /// The contract: `contract:<connector>`. [`IngestBinding::contract_iri`] gives that of one record type.
    pub contract: String,
    /// The revision the store must have accepted; any when silent.
    pub contract_revision: Option<u64>,
    /// Digest of the pack the store must have accepted; any when silent.
    pub contract_digest: Option<Digest256>,
    /// SHA-256 of the local declaration's text, which must be the accepted one. Without it and `contract_digest` the store must
    /// have accepted some contract of the connector.
    pub declaration_digest: Option<Digest256>,
    /// The IRI of the declared cursor policy, named in every checkpoint.
    pub cursor_policy: Option<String>,
    /// Location fields that may keep a public `http(s)` URL (R004.26).
    pub citable_fields: BTreeSet<String>,
    /// Who may read records that say nothing themselves; quarantined by default, never public.
    pub access: ExternalAccess,
    /// Refuse properties the mapping does not name.
    pub strict_schema: bool,
    nested: BTreeMap<(String, String), NestedMapping>,
}

impl IngestBinding {
    /// A binding of a connector that declares nothing else.
    pub fn for_connector(connector: ConnectorName, stream: StreamName) -> Self {
        Self {
            adapter_kind: "connector_ingest".to_owned(),
            server: connector.to_string(),
            tool: stream.to_string(),
            contract: format!("contract:{connector}"),
            contract_revision: None,
            contract_digest: None,
            declaration_digest: None,
            cursor_policy: None,
            citable_fields: BTreeSet::new(),
            access: ExternalAccess::default(),
            strict_schema: false,
            nested: BTreeMap::new(),
            connector,
            stream,
        }
    }

    /// A binding that takes the connector's name, the declaration's digest and the nested mappings from its declaration.
    pub fn for_declaration(declaration: &ConnectorDeclaration, stream: StreamName) -> Result<Self, IngestRefusal> {
        let mut binding = Self::for_connector(declaration.connector.clone(), stream);
        binding.declaration_digest = Some(digest::sha256(declaration.to_text().as_bytes()));
        for source in &declaration.sources {
            for edge in &source.edges {
                binding = binding.nested(&source.record_type, &edge.target_field, NestedMapping::from_edge(edge)?);
            }
        }
        Ok(binding)
    }

    /// What the records are made under: the pack where it is named, otherwise the declaration.
    pub(crate) fn local_contract(&self) -> Option<Digest256> {
        self.contract_digest.or(self.declaration_digest)
    }

    /// Declares what an object in a property becomes.
    #[must_use]
    pub fn nested(mut self, record_type: &str, field: &str, mapping: NestedMapping) -> Self {
        self.nested.insert((record_type.to_owned(), field.to_owned()), mapping);
        self
    }

    /// Every nested mapping of a record type.
    pub fn nested_of<'a>(&'a self, record_type: &'a str) -> impl Iterator<Item = (&'a str, &'a NestedMapping)> {
        self.nested
            .range((record_type.to_owned(), String::new())..)
            .take_while(move |((of, _), _)| of == record_type)
            .map(|((_, field), mapping)| (field.as_str(), mapping))
    }

    /// What an object in a property becomes.
    pub fn nested_mapping(&self, record_type: &str, field: &str) -> Option<&NestedMapping> {
        // A borrowed pair cannot be looked up in a map of owned pairs, and the maps are small.
        self.nested.get(&(record_type.to_owned(), field.to_owned()))
    }

    /// Names location fields that may keep a public URL.
    #[must_use]
    pub fn citing<F: Into<String>>(mut self, fields: impl IntoIterator<Item = F>) -> Self {
        self.citable_fields.extend(fields.into_iter().map(Into::into));
        self
    }

    /// The contract IRI of a record type.
    pub fn contract_iri(&self, object: &RecordType) -> ContractIri {
        ContractIri::of(&self.connector, object)
    }

    /// The same binding for a stream of its own: `<stream>/<suffix>`. Refuses a suffix outside the stream alphabet.
    pub fn scoped(&self, suffix: &str) -> Result<Self, IngestRefusal> {
        if suffix.is_empty() {
            return Err(IngestRefusal::Declaration { what: "the scope is empty", name: self.stream.to_string() });
        }
        let stream = StreamName::parse(&format!("{}/{suffix}", self.stream))?;
        let tool = if self.tool == self.stream.as_str() { stream.to_string() } else { self.tool.clone() };
        Ok(Self { stream, tool, ..self.clone() })
    }

    /// The guard every payload passes.
    pub fn privacy_guard(&self) -> PersistencePrivacyGuard {
        PersistencePrivacyGuard::new(&self.citable_fields)
    }

    /// The checkpoint before anything was ingested.
    pub fn start(&self) -> SourceCheckpoint {
        SourceCheckpoint::start(self.stream.clone())
    }

    /// A digest of everything here that shapes a payload, so that a changed declaration makes every record new.
    pub fn shape_digest(&self) -> Digest256 {
        let nested = self.nested.iter().map(|((record_type, field), mapping)| {
            let fields = mapping.fields.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
            Json::from([
                ("record_type", record_type.as_str().into()),
                ("field", field.as_str().into()),
                ("relation", mapping.relation.as_str().into()),
                ("target_type", mapping.target_type.as_str().into()),
                ("id_key", mapping.id_key.as_str().into()),
                ("id_template", mapping.id_template.as_str().into()),
                ("fields", fields.collect::<JsonObject>().into()),
                ("reference", mapping.reference.into()),
                ("target_stream", mapping.target_stream.as_ref().map(StreamName::as_str).into()),
            ])
        });
        let shape = Json::from([
            ("guard", self.privacy_guard().configuration()),
            ("contract", self.contract.as_str().into()),
            ("contract_digest", self.local_contract().map(Digest256::to_hex).into()),
            ("nested", Json::Array(nested.collect())),
            ("strict_schema", self.strict_schema.into()),
        ]);
        digest::sha256(to_compact(&shape).as_bytes())
    }
}
