//! What the runner must know of one stream beside its adapter, worked out once per cycle from the declaration.

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::access::ExternalAccess;
use scion_domain::config::ConnectorConfig;
use scion_domain::declaration::{
    ConnectorDeclaration, EdgeSpec, EvolutionPolicy, MappingChoice, RecordMode, SyncPreset,
};
use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256, MappingReference, RecordType, RelationReference, StreamName};
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::privacy::PersistencePrivacyGuard;
use scion_domain::sink::{SinkCapabilities, SinkRefusal};
use scion_domain::source::SourceRefusal;
use scion_domain::sync::SyncRefusal;

/// Changing how records are shaped means a new version here, so that everything is submitted again.
const SHAPE_VERSION: u64 = 1;

/// One declared edge, ready to use.
#[derive(Clone, Debug)]
pub struct EdgePlan {
    /// As declared.
    pub spec: EdgeSpec,
    /// What admits the edge.
    pub relation: RelationReference,
    /// The mapping that admits a stub of the target; `None` when another source's own record is meant.
    pub stub_mapping: Option<MappingReference>,
}

/// What happens to a payload before it is persisted.
#[derive(Clone, Debug)]
pub struct Persistence {
    /// Removes secrets, places and personal data; `None` only where the operator says that the graph may hold them.
    pub guard: Option<PersistencePrivacyGuard>,
    /// Who may read the records; stamped after the guard. `None` leaves access to the graph.
    pub access: Option<ExternalAccess>,
}

impl Default for Persistence {
    fn default() -> Self {
        Self { guard: Some(PersistencePrivacyGuard::new([""; 0])), access: None }
    }
}

impl Persistence {
    pub(super) fn apply(&self, payload: &mut JsonObject) {
        if let Some(guard) = &self.guard {
            guard.apply(payload);
        }
        if let Some(access) = &self.access {
            payload.extend(access.properties());
        }
    }
}

/// Everything the page loop needs to turn records of one source into batches.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// The connector.
    pub connector: ConnectorName,
    /// The stream: the source's id.
    pub stream: StreamName,
    /// The record type the source declares; the domain of its edges.
    pub record_type: RecordType,
    /// The mapping of records that do not name their own type, and that type.
    pub mapping: Option<(RecordType, MappingReference)>,
    /// The field in which records name their own type; empty for none.
    pub node_type_field: String,
    /// Every declared mapping by record type.
    pub known_types: BTreeMap<String, MappingReference>,
    /// Fields a mapping takes as they are, by record type: no object may stand there without an edge.
    pub mapped_fields: BTreeMap<String, BTreeSet<String>>,
    /// The declared edges.
    pub edges: Vec<EdgePlan>,
    /// The server, for provenance.
    pub server: String,
    /// The tool, for provenance.
    pub tool: String,
    /// Refuse undeclared fields.
    pub strict_schema: bool,
    /// What a new optional field means to the drift gate.
    pub evolution_policy: EvolutionPolicy,
    /// The operator's words that an empty authoritative snapshot is meant.
    pub empty_approval: Option<String>,
    /// The source hands out its own watermark (`checkpoint_path`).
    pub opaque_watermark: bool,
    /// The source says what is gone (`withdrawals_path`), and only among changes.
    pub withdraws: bool,
    /// What every payload passes on its way out.
    pub persistence: Persistence,
    /// `contract:<connector>#<record type>`, for the report.
    pub contract_iri: String,
    /// Digest of everything that shapes a record, so that a changed declaration submits records again.
    pub shape: Digest256,
}

impl StreamPlan {
    /// Works the plan out. Refuses a preset whose records no declared mapping admits.
    pub fn new(
        declaration: &ConnectorDeclaration,
        preset: &SyncPreset,
        config: &ConnectorConfig,
        persistence: Persistence,
    ) -> Result<Self, SyncRefusal> {
        let source = declaration
            .source_of_preset(preset)
            .ok_or_else(|| SourceRefusal::UnknownSource { source: preset.name.to_string() })?;
        let choice = MappingChoice::parse(&config.mapping_reference, &config.connector)?;
        let record_type = RecordType::parse(&source.record_type)?;
        let mapping = match declaration.record_type_of(preset, &choice)? {
            Some(name) => Some((RecordType::parse(name)?, declaration.mapping_reference(name)?)),
            None => None,
        };
        let mut known_types = BTreeMap::new();
        let mut mapped_fields = BTreeMap::new();
        for (name, mapping) in &declaration.schema_mappings {
            known_types.insert(name.clone(), declaration.mapping_reference(name)?);
            mapped_fields.insert(name.clone(), mapping.fields.keys().cloned().collect());
        }
        let foreign = |spec: &&EdgeSpec| spec.target_stream.as_ref().is_some_and(|target| *target != preset.name);
        let kept = source.edges.iter().filter(|spec| !config.leave_out_foreign_edges || !foreign(spec));
        let edges = kept.map(|spec| edge_plan(&config.connector, &record_type, spec));
        let edges = edges.collect::<Result<Vec<_>, _>>()?;
        let approval = config.empty_authoritative_approval.trim();
        let server = if preset.server.is_empty() { config.connector.to_string() } else { preset.server.clone() };
        let mut plan = Self {
            connector: config.connector.clone(),
            stream: preset.name.clone(),
            contract_iri: format!("contract:{}#{record_type}", config.connector),
            record_type,
            mapping,
            node_type_field: match preset.record_mode {
                RecordMode::TypedEntities => preset.node_type_field.clone(),
                RecordMode::Documents => String::new(),
            },
            known_types,
            mapped_fields,
            edges,
            server,
            tool: preset.tool.clone(),
            strict_schema: preset.strict_schema,
            evolution_policy: preset.evolution_policy,
            empty_approval: (!approval.is_empty()).then(|| approval.to_owned()),
            opaque_watermark: !preset.checkpoint_path.is_empty(),
            withdraws: !preset.withdrawals_path.is_empty(),
            persistence,
            shape: Digest256::ZERO,
        };
        plan.shape = plan.shape_digest(declaration);
        Ok(plan)
    }

    /// What the sink cannot do is refused before anything is read.
    pub fn check_sink(&self, capabilities: SinkCapabilities) -> Result<(), SyncRefusal> {
        let leaves = |edge: &EdgePlan| edge.spec.target_stream.as_ref().is_some_and(|target| *target != self.stream);
        if !capabilities.cross_stream_relationships && self.edges.iter().any(leaves) {
            return Err(SinkRefusal::Capability { what: "edges to another stream" }.into());
        }
        Ok(())
    }

    fn shape_digest(&self, declaration: &ConnectorDeclaration) -> Digest256 {
        let text = |value: &str| Json::from(value);
        let mappings = declaration.schema_mappings.iter().map(|(name, mapping)| {
            let fields = mapping.fields.iter().map(|(field, target)| (field.clone(), text(target))).collect();
            let class = Json::from(mapping.ontology_class.clone());
            (name.clone(), Json::from([("class", class), ("fields", Json::Object(fields))]))
        });
        let edges = self.edges.iter().map(|edge| {
            let spec = &edge.spec;
            let fields = spec.target_fields.iter().map(|(field, member)| (field.clone(), text(member))).collect();
            Json::from([
                ("relation", text(edge.relation.as_str())),
                ("field", text(&spec.target_field)),
                ("type", text(&spec.target_type)),
                ("id_key", Json::from(spec.target_id_key.clone())),
                ("id_template", text(&spec.target_id_template)),
                ("fields", Json::Object(fields)),
                ("stream", Json::from(spec.target_stream.as_ref().map(StreamName::as_str))),
            ])
        });
        let shape = Json::from([
            ("version", Json::from(SHAPE_VERSION)),
            ("record_type", text(self.record_type.as_str())),
            ("mapping", Json::from(self.mapping.as_ref().map(|(_, reference)| reference.as_str()))),
            ("node_type_field", text(&self.node_type_field)),
            ("strict", Json::from(self.strict_schema)),
            ("guard", Json::from(self.persistence.guard.as_ref().map(PersistencePrivacyGuard::configuration))),
            ("access", Json::from(self.persistence.access.as_ref().map(ExternalAccess::to_json))),
            ("mappings", Json::Object(mappings.collect())),
            ("edges", Json::Array(edges.collect())),
        ]);
        digest::framed("scion/record-shape/v1", &[to_compact(&shape).as_bytes()])
    }
}

fn edge_plan(connector: &ConnectorName, record_type: &RecordType, spec: &EdgeSpec) -> Result<EdgePlan, SyncRefusal> {
    let relation = RelationReference::of(connector, record_type, &spec.relationship)?;
    let stub_mapping = if spec.target_stream.is_some() {
        None
    } else {
        let target = RecordType::parse(&spec.target_type)?;
        Some(MappingReference::of(connector, &target)?)
    };
    Ok(EdgePlan { spec: spec.clone(), relation, stub_mapping })
}
