//! The descriptor of anything a connector serves as a resource (SDK-CONNECTOR-CONTROL-R074.1). The richer wire form of data
//! resources, with their mapping states, is [`Descriptor`].

use crate::credential::{RuntimeRef, SecretRef};
use crate::declaration::descriptor::{Descriptor, DescriptorRefusal};
use crate::json::{Json, JsonObject};
use crate::words::words;

words! {
    /// What a resource is.
    ResourceKind {
        /// Records of the vendor, reached by an operation.
        Data = "data",
        /// An ontology.
        Ontology = "ontology",
        /// Shapes.
        Shapes = "shapes",
        /// A skill.
        Skill = "skill",
        /// The seed graph.
        Seed = "seed",
        /// The declaration of the connector.
        Manifest = "manifest",
    }
}

words! {
    /// How data is reached: one word per protocol (SDK-CONNECTOR-CONTROL-R040 to R044, R069.1). The words behind
    /// [`AccessKind::VirtualGraph`] are ours.
    AccessKind {
        /// A tool of the connector.
        McpTool = "mcp_tool",
        /// An endpoint.
        HttpEndpoint = "http_endpoint",
        /// A GraphQL query.
        GraphqlQuery = "graphql_query",
        /// A skill of an agent.
        A2aSkill = "a2a_skill",
        /// Tables or collections that a graph reads where they are.
        VirtualGraph = "virtual_graph",
        /// A statement of a relational database.
        SqlQuery = "sql_query",
        /// A query of a document database.
        DocumentQuery = "document_query",
        /// A query of an RDF store.
        SparqlQuery = "sparql_query",
        /// Files below a folder, or objects below a prefix.
        FileTree = "file_tree",
        /// Server-sent events.
        SseStream = "sse_stream",
        /// Messages of a web socket.
        WebsocketStream = "websocket_stream",
        /// A topic of a Kafka cluster.
        KafkaTopic = "kafka_topic",
    }
}

impl AccessKind {
    /// Whether it hands out events as they come instead of answering queries. Such a protocol pushes down a range of time and
    /// nothing else (SDK-CONNECTOR-CONTROL-R069.2).
    pub const fn is_stream(self) -> bool {
        matches!(self, Self::SseStream | Self::WebsocketStream | Self::KafkaTopic)
    }
}

words! {
    /// How further records are asked for.
    ResourcePagination {
        /// Not at all.
        None = "none",
        /// By a cursor.
        Cursor = "cursor",
        /// By an offset.
        Offset = "offset",
        /// By a page number.
        Page = "page",
        /// By the last key that was read.
        Keyset = "keyset",
    }
}

/// A field and the property it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldBinding {
    /// The field.
    pub name: String,
    /// The property.
    pub ontology_property: Option<String>,
}

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceDescriptor {
    /// Where it is served.
    pub uri: String,
    /// What it is.
    pub kind: ResourceKind,
    /// The class of its records.
    pub ontology_class: Option<String>,
    /// Its fields.
    pub fields: Vec<FieldBinding>,
    /// How its data is reached; data only.
    pub access_kind: Option<AccessKind>,
    /// The field that identifies a record; data only.
    pub key_field: Option<String>,
    /// How further records are asked for; data only.
    pub pagination: Option<ResourcePagination>,
    /// Nothing changes by reading.
    pub read_only: bool,
    /// The accountable team.
    pub owner: Option<String>,
    /// A reference to a credential; never the secret.
    pub credential_ref: Option<String>,
}

const MEMBERS: [&str; 10] = [
    "uri",
    "kind",
    "ontology_class",
    "fields",
    "access_kind",
    "key_field",
    "pagination",
    "read_only",
    "owner",
    "credential_ref",
];

impl ResourceDescriptor {
    /// A resource that is a document.
    pub fn document(uri: impl Into<String>, kind: ResourceKind) -> Self {
        Self {
            uri: uri.into(),
            kind,
            ontology_class: None,
            fields: Vec::new(),
            access_kind: None,
            key_field: None,
            pagination: None,
            read_only: true,
            owner: None,
            credential_ref: None,
        }
    }

    /// The descriptor of a data resource.
    pub fn of_data(data: &Descriptor) -> Self {
        let field = |field: &crate::declaration::descriptor::DescriptorField| FieldBinding {
            name: field.name.clone(),
            ontology_property: field.ontology_property.clone(),
        };
        Self {
            ontology_class: data.ontology_class.clone(),
            fields: data.fields.iter().map(field).collect(),
            access_kind: AccessKind::parse(&data.access_kind),
            key_field: Some(data.key_field.clone()),
            pagination: ResourcePagination::parse(&data.pagination),
            read_only: data.read_only,
            owner: data.owner.clone(),
            credential_ref: data.credential_ref.clone(),
            ..Self::document(data.uri.clone(), ResourceKind::Data)
        }
    }

    /// The document; every member is there.
    pub fn to_json(&self) -> Json {
        let field = |field: &FieldBinding| {
            Json::from([
                ("name", field.name.as_str().into()),
                ("ontology_property", field.ontology_property.as_deref().into()),
            ])
        };
        Json::from([
            ("uri", self.uri.as_str().into()),
            ("kind", self.kind.as_str().into()),
            ("ontology_class", self.ontology_class.as_deref().into()),
            ("fields", self.fields.iter().map(field).collect::<Vec<_>>().into()),
            ("access_kind", self.access_kind.map(AccessKind::as_str).into()),
            ("key_field", self.key_field.as_deref().into()),
            ("pagination", self.pagination.map(ResourcePagination::as_str).into()),
            ("read_only", self.read_only.into()),
            ("owner", self.owner.as_deref().into()),
            ("credential_ref", self.credential_ref.as_deref().into()),
        ])
    }

    /// Reads the document back. Data needs its way of access, key and pagination; a credential must be a reference.
    pub fn from_json(document: &Json) -> Result<Self, DescriptorRefusal> {
        let shown = |text: &str| text.chars().take(64).collect::<String>();
        let none = || DescriptorRefusal::Member { name: "(unnamed)".to_owned(), member: "uri".to_owned() };
        let members = document.as_object().ok_or_else(none)?;
        let uri =
            members.get("uri").and_then(Json::as_str).filter(|uri| crate::seed_graph::is_iri(uri)).ok_or_else(none)?;
        let name = || shown(uri);
        let wrong = |member: &str| DescriptorRefusal::Member { name: name(), member: shown(member) };
        if let Some(unknown) = members.keys().find(|member| !MEMBERS.contains(&member.as_str())) {
            return Err(wrong(unknown));
        }
        let given = |member: &str| members.get(member).filter(|value| !value.is_null());
        let text = |member: &str| {
            given(member)
                .map(|value| {
                    value.as_str().map(str::to_owned).filter(|text| !text.is_empty()).ok_or_else(|| wrong(member))
                })
                .transpose()
        };
        let kind = given("kind").and_then(Json::as_str).and_then(ResourceKind::parse).ok_or_else(|| wrong("kind"))?;
        let access_kind = text("access_kind")?
            .map(|word| AccessKind::parse(&word).ok_or_else(|| DescriptorRefusal::AccessKind { name: name() }))
            .transpose()?;
        let pagination = text("pagination")?
            .map(|word| ResourcePagination::parse(&word).ok_or_else(|| DescriptorRefusal::Pagination { name: name() }))
            .transpose()?;
        let credential_ref = text("credential_ref")?;
        if credential_ref.as_deref().is_some_and(|text| !is_credential_reference(text)) {
            return Err(DescriptorRefusal::Secret { name: name() });
        }
        let out = Self {
            uri: uri.to_owned(),
            kind,
            ontology_class: text("ontology_class")?,
            fields: fields(given("fields"), name)?,
            access_kind,
            key_field: text("key_field")?,
            pagination,
            read_only: given("read_only").and_then(Json::as_bool).ok_or_else(|| wrong("read_only"))?,
            owner: text("owner")?,
            credential_ref,
        };
        let is_data = kind == ResourceKind::Data;
        let missing = |member| Err(DescriptorRefusal::Incomplete { name: name(), member });
        match (is_data, out.access_kind.is_some(), out.key_field.is_some(), out.pagination.is_some()) {
            (true, false, ..) => missing("access_kind"),
            (true, _, false, _) => missing("key_field"),
            (true, _, _, false) => Err(DescriptorRefusal::Pagination { name: name() }),
            _ => Ok(out),
        }
    }
}

fn fields(given: Option<&Json>, name: impl Fn() -> String) -> Result<Vec<FieldBinding>, DescriptorRefusal> {
    let wrong = |member: &str| DescriptorRefusal::Member { name: name(), member: member.to_owned() };
    let Some(given) = given else { return Ok(Vec::new()) };
    let items = given.as_array().ok_or_else(|| wrong("fields"))?;
    let read = |(index, item): (usize, &Json)| {
        let field = item.get("name").and_then(Json::as_str).filter(|field| !field.is_empty());
        let property = match item.get("ontology_property") {
            None | Some(Json::Null) => None,
            Some(Json::String(property)) => Some(property.clone()),
            Some(_) => return Err(wrong("fields.ontology_property")),
        };
        let field = field.ok_or_else(|| DescriptorRefusal::Field { name: name(), index })?;
        Ok(FieldBinding { name: field.to_owned(), ontology_property: property })
    };
    items.iter().enumerate().map(read).collect()
}

/// A reference a store resolves, or one of the forms the runtime of a connector resolves itself (6.5).
pub(crate) fn is_credential_reference(text: &str) -> bool {
    SecretRef::parse(text).is_ok() || RuntimeRef::parse_setting(text).is_ok()
}

/// Whether a text of a declaration shows a secret itself.
pub(crate) fn shows_secret(members: &JsonObject) -> bool {
    fn shows(value: &Json, depth: usize) -> bool {
        match value {
            Json::String(text) => crate::redaction::contains_secret(text),
            Json::Array(items) => depth > 0 && items.iter().any(|item| shows(item, depth - 1)),
            Json::Object(members) => depth > 0 && members.values().any(|value| shows(value, depth - 1)),
            _ => false,
        }
    }
    let sensitive = |(name, value): (&String, &Json)| {
        let literal = |text: &str| !(is_credential_reference(text) || text.starts_with('{') && text.ends_with('}'));
        crate::credential::is_sensitive_key(name, false) && value.as_str().is_some_and(literal)
    };
    let arguments = members.get("arguments").and_then(Json::as_object);
    arguments.is_some_and(|arguments| arguments.iter().any(sensitive))
        || members.iter().any(|(member, value)| member != "credential_ref" && shows(value, 8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal as _;

    fn data() -> ResourceDescriptor {
        ResourceDescriptor {
            ontology_class: Some("https://desk.example/ns#Ticket".into()),
            fields: vec![
                FieldBinding { name: "id".into(), ontology_property: None },
                FieldBinding {
                    name: "subject".into(),
                    ontology_property: Some("https://desk.example/ns#subject".into()),
                },
            ],
            access_kind: Some(AccessKind::McpTool),
            key_field: Some("id".into()),
            pagination: Some(ResourcePagination::Page),
            owner: Some("desk".into()),
            credential_ref: Some("env://DESK_TOKEN".into()),
            ..ResourceDescriptor::document("data://desk-mcp/tickets", ResourceKind::Data)
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R074.1
    #[test]
    fn a_descriptor_reads_back_and_names_a_credential_by_reference_only() {
        let wire = data().to_json();
        assert_eq!(ResourceDescriptor::from_json(&wire), Ok(data()));
        for kind in ResourceKind::ALL.iter().copied().filter(|kind| *kind != ResourceKind::Data) {
            let document = ResourceDescriptor::document(format!("{}://desk-mcp/x", kind.as_str()), kind);
            assert_eq!(ResourceDescriptor::from_json(&document.to_json()), Ok(document));
        }
        let with = |member: &str, value: Json| {
            let mut members = wire.as_object().unwrap().clone();
            members.insert(member.to_owned(), value);
            ResourceDescriptor::from_json(&Json::Object(members)).unwrap_err()
        };
        let secret = with("credential_ref", "hunter2".into());
        assert_eq!(secret.code(), "SECRET_IN_CONTRACT");
        assert!(!secret.to_string().contains("hunter2"));
        assert_eq!(with("access_kind", "ftp".into()).code(), "ACCESS_KIND_UNKNOWN");
        assert_eq!(with("pagination", Json::Null).code(), "PAGINATION_UNDECLARED");
        assert_eq!(with("pagination", "scroll".into()).code(), "PAGINATION_UNDECLARED");
        assert_eq!(with("key_field", Json::Null).code(), "DECLARATION_INCOMPLETE");
        assert_eq!(with("fields", Json::from(vec![Json::from([("name", Json::Null)])])).code(), "FIELD_INVALID");
        for (member, value) in [("kind", "files"), ("uri", "tickets"), ("colour", "red")] {
            assert_eq!(with(member, value.into()).code(), "descriptor_member", "{member}");
        }
    }
}
