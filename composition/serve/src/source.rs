//! Sources declared in code: what a sync runner may copy, and what its records mean (SDK-CONNECTOR-CONTROL-R075.2).

use scion_domain::json::{Json, JsonObject};

/// One ingestible source of a tool. It is served as an item of the tool's `connector_sources` and in
/// `connector://resources`; only the members set here are written.
#[derive(Clone, Debug)]
pub struct Source {
    pub(crate) id: String,
    pub(crate) record_type: String,
    pub(crate) members: JsonObject,
    pub(crate) edges: Vec<Edge>,
    pub(crate) mapping: Option<Mapping>,
}

impl Source {
    /// A source that a runner synchronises. `id` is `^[a-z0-9][a-z0-9._-]{0,63}$`; `id_field` is the field that
    /// identifies a record.
    pub fn new(id: impl Into<String>, record_type: impl Into<String>, id_field: impl Into<String>) -> Self {
        let (id, record_type) = (id.into(), record_type.into());
        // Tools built here take arguments of their own, not one JSON text, which is what a silent preset would mean.
        let preset = Json::from([("params_style", "args".into())]);
        let members = JsonObject::from([
            ("source_id".to_owned(), Json::from(id.as_str())),
            ("record_type".to_owned(), Json::from(record_type.as_str())),
            ("id_field".to_owned(), Json::String(id_field.into())),
            ("preset".to_owned(), preset),
        ]);
        Self { id, record_type, members, edges: Vec::new(), mapping: None }
    }

    fn set(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.members.insert(key.to_owned(), value.into());
        self
    }

    /// Where the list of records is, as a dotted path; without it the result itself is the list.
    #[must_use]
    pub fn records_path(self, path: &str) -> Self {
        self.set("records_path", path)
    }

    /// The field with a title.
    #[must_use]
    pub fn title_field(self, field: &str) -> Self {
        self.set("title_field", field)
    }

    /// The field with text.
    #[must_use]
    pub fn text_field(self, field: &str) -> Self {
        self.set("text_field", field)
    }

    /// The field with a change time or number.
    #[must_use]
    pub fn cursor_field(self, field: &str) -> Self {
        self.set("cursor_field", field)
    }

    /// Only records after the accepted cursor are read; needs [`cursor_field`](Self::cursor_field).
    #[must_use]
    pub fn incremental(self) -> Self {
        self.set("incremental", true)
    }

    /// A fixed argument of every call.
    #[must_use]
    pub fn argument(mut self, name: &str, value: impl Into<Json>) -> Self {
        member_object(&mut self.members, "arguments").insert(name.to_owned(), value.into());
        self
    }

    /// Pages of `size` records (1 to 1000), numbered from 1 in `page_param`. With a `page_size_param` the runner asks for the
    /// size and ends at an empty page, because a server may cut pages; without one the first page that is not full ends too.
    #[must_use]
    pub fn page(self, page_param: &str, page_size_param: Option<&str>, size: u32) -> Self {
        // The first page number is written out because a source and the preset made from it have different defaults.
        let paged = self
            .set("pagination", "page")
            .set("page_param", page_param)
            .set("page_size", u64::from(size))
            .set("start_page", 1_u64);
        match page_size_param {
            Some(param) => paged.set("page_size_param", param),
            None => paged,
        }
    }

    /// For people.
    #[must_use]
    pub fn description(self, text: &str) -> Self {
        self.set("description", text)
    }

    /// Read once per record of the source `parent`, with its field `field` as the argument `argument` (R004.28).
    #[must_use]
    pub fn for_each(self, parent: &str, argument: &str, field: &str) -> Self {
        let value = Json::from([("source", parent.into()), ("argument", argument.into()), ("field", field.into())]);
        self.set("for_each", value)
    }

    /// An edge to the record that a reference field names (R004.36).
    #[must_use]
    pub fn edge(mut self, edge: Edge) -> Self {
        self.edges.push(edge);
        self
    }

    /// How the records map onto the ontology (R004.25).
    #[must_use]
    pub fn mapping(mut self, mapping: Mapping) -> Self {
        self.mapping = Some(mapping);
        self
    }

    /// A member of the sync preset, for example `max_fan_out`.
    #[must_use]
    pub fn preset(mut self, member: &str, value: impl Into<Json>) -> Self {
        member_object(&mut self.members, "preset").insert(member.to_owned(), value.into());
        self
    }

    /// Declares the source without a sync preset: a runner leaves it alone.
    #[must_use]
    pub fn not_synced(mut self) -> Self {
        self.members.remove("preset");
        self
    }

    /// The members as served.
    pub(crate) fn document(&self) -> JsonObject {
        let mut members = self.members.clone();
        if !self.edges.is_empty() {
            let edges = self.edges.iter().map(|edge| Json::Object(edge.members.clone())).collect::<Vec<_>>();
            members.insert("edges".to_owned(), edges.into());
        }
        members
    }

    /// The arguments a runner will pass to the tool because of this source.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            ["page_param", "page_size_param"].iter().filter_map(|key| self.members.get(*key)?.as_str()).collect();
        names.extend(self.members.get("for_each").and_then(|parent| parent.get("argument")).and_then(Json::as_str));
        if let Some(Json::Object(fixed)) = self.members.get("arguments") {
            names.extend(fixed.keys().map(String::as_str));
        }
        names
    }
}

fn member_object<'a>(members: &'a mut JsonObject, key: &str) -> &'a mut JsonObject {
    let slot = members.entry(key.to_owned()).or_default();
    if !matches!(slot, Json::Object(_)) {
        *slot = Json::Object(JsonObject::new());
    }
    match slot {
        Json::Object(inner) => inner,
        _ => unreachable!("the slot was made an object just above"),
    }
}

/// An edge from a source's records to the records a field names.
#[derive(Clone, Debug)]
pub struct Edge {
    members: JsonObject,
}

impl Edge {
    /// `relationship` is `^[A-Za-z][A-Za-z0-9_]{0,63}$`; `field` is a dotted path, a list on it is read one by one.
    pub fn new(relationship: &str, field: &str, target_type: &str) -> Self {
        Self { members: JsonObject::new() }
            .set("relationship", relationship)
            .set("target_field", field)
            .set("target_type", target_type)
    }

    fn set(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.members.insert(key.to_owned(), value.into());
        self
    }

    /// The field holds ids of this source's own records, so no stand-in record is made. Unless a template says otherwise, the
    /// target's id is the reference itself.
    #[must_use]
    pub fn to_source(mut self, source: &str) -> Self {
        self.members.entry("target_id_template".to_owned()).or_insert_with(|| "{id}".into());
        self.set("target_stream", source)
    }

    /// Where an object reference keeps its id, for example `value`.
    #[must_use]
    pub fn id_key(self, key: &str) -> Self {
        self.set("target_id_key", key)
    }

    /// How the target's id is formed; must hold `{id}`. Without it `{type}:{id}`, or `{id}` for an edge to a source.
    #[must_use]
    pub fn id_template(self, template: &str) -> Self {
        self.set("target_id_template", template)
    }

    /// A property of the stand-in record, from a member of the reference.
    #[must_use]
    pub fn target_field(mut self, property: &str, member: &str) -> Self {
        member_object(&mut self.members, "target_fields").insert(property.to_owned(), member.into());
        self
    }
}

/// How a record type maps onto the ontology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    class: Option<String>,
    fields: JsonObject,
}

impl Mapping {
    /// A mapping onto a class: an IRI, or a local name in the connector's own namespace.
    pub fn class(class: impl Into<String>) -> Self {
        Self { class: Some(class.into()), fields: JsonObject::new() }
    }

    /// A mapping that names properties only.
    pub fn properties() -> Self {
        Self::default()
    }

    /// A field of the record and the property it becomes.
    #[must_use]
    pub fn field(mut self, field: &str, property: &str) -> Self {
        self.fields.insert(field.to_owned(), property.into());
        self
    }

    /// Fields that keep their names.
    #[must_use]
    pub fn same_names(mut self, fields: &[&str]) -> Self {
        self.fields.extend(fields.iter().map(|field| ((*field).to_owned(), Json::from(*field))));
        self
    }

    pub(crate) fn document(&self) -> Json {
        let mut members = JsonObject::from([("fields".to_owned(), Json::Object(self.fields.clone()))]);
        if let Some(class) = &self.class {
            members.insert("ontology_class".to_owned(), Json::from(class.as_str()));
        }
        members.into()
    }
}
