//! Sources of typed operations: what a runner must know, read off the arguments and the value.

use scion_domain::json::{Json, JsonObject};
use scion_domain::pagination::ToolPage;

use crate::{BoundOperation, Edge, Mapping, Source};

/// Where lists stand in an answer that is no `Page`.
const LISTS: [&str; 7] = ["items", "results", "data", "records", "entries", "nodes", "values"];
const CURSORS: [&str; 6] = ["cursor", "next_cursor", "page_token", "after", "starting_after", "continuation_token"];
const PAGES: [&str; 4] = ["page", "page_number", "page_num", "pageno"];
const OFFSETS: [&str; 4] = ["offset", "skip", "start", "start_index"];
const SIZES: [&str; 5] = ["page_size", "per_page", "limit", "count", "max_results"];
const SINCE: [&str; 5] = ["since", "updated_since", "modified_since", "updated_after", "changed_since"];
const READ_WORDS: [&str; 7] = ["list", "get", "search", "find", "fetch", "read", "query"];

/// What an author says about the records of an operation; everything else is read off its types.
///
/// - The list is the value itself, `items` of a [`Page`](crate::Page), or the one list of objects in the value.
/// - Pages are turned by the argument that is named like a cursor, a page number or an offset.
/// - With a cursor field and an argument named like `since`, later runs ask for changes only.
/// - The records' class is the record type, and each of their plain fields becomes the property of its name.
#[derive(Clone, Debug)]
#[must_use = "give it to `BoundOperation::records`"]
pub struct RecordSource {
    record: String,
    id: String,
    name: Option<String>,
    cursor: Option<String>,
    title: Option<String>,
    text: Option<String>,
    class: Option<String>,
    path: Option<String>,
    fields: Option<Vec<String>>,
    page_size: u32,
    edges: Vec<Edge>,
}

impl RecordSource {
    /// Records of a type, known by a field.
    pub fn new(record: &str, id: &str) -> Self {
        let (record, id) = (record.to_owned(), id.to_owned());
        let (name, cursor, title, text, class, path, fields) = (None, None, None, None, None, None, None);
        Self { record, id, name, cursor, title, text, class, path, fields, page_size: 100, edges: Vec::new() }
    }

    /// The source's id; the operation's name without `list_` and the like unless set.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// The field with the time or number of the last change.
    pub fn cursor(mut self, field: &str) -> Self {
        self.cursor = Some(field.to_owned());
        self
    }

    /// The field with a title.
    pub fn title(mut self, field: &str) -> Self {
        self.title = Some(field.to_owned());
        self
    }

    /// The field with text.
    pub fn text(mut self, field: &str) -> Self {
        self.text = Some(field.to_owned());
        self
    }

    /// The class of the records; the record type unless set.
    pub fn class(mut self, class: &str) -> Self {
        self.class = Some(class.to_owned());
        self
    }

    /// Where the list is in the value, as a dotted path.
    pub fn path(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// The fields that become properties, and no others.
    pub fn fields(mut self, fields: &[&str]) -> Self {
        self.fields = Some(fields.iter().map(|field| (*field).to_owned()).collect());
        self
    }

    /// An edge to the record that a reference field names.
    pub fn edge(mut self, edge: Edge) -> Self {
        self.edges.push(edge);
        self
    }

    /// How many records to ask for at once, where an argument takes it; 100 unless set.
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = records;
        self
    }

    fn source(self, operation: &str, inputs: &JsonObject, output: Option<&Json>) -> Source {
        let (path, item) = match &self.path {
            Some(path) => (path.clone(), output.and_then(|schema| item_at(schema, path))),
            None => list_in(output),
        };
        let name = self.name.clone().unwrap_or_else(|| source_name(operation));
        let mut source = Source::new(name, &self.record, &self.id);
        if !path.is_empty() {
            source = source.records_path(&path);
        }
        if let Some(field) = &self.title {
            source = source.title_field(field);
        }
        if let Some(field) = &self.text {
            source = source.text_field(field);
        }
        let find =
            |names: &[&str]| names.iter().find(|name| inputs.contains_key(**name)).map(|name| (*name).to_owned());
        if let Some(field) = &self.cursor {
            source = source.cursor_field(field);
            if let Some(since) = find(&SINCE) {
                source = source.incremental().preset("updated_since_param", since);
            }
        }
        let fields = self.fields.clone().unwrap_or_else(|| plain_fields(item));
        let names: Vec<&str> = fields.iter().map(String::as_str).collect();
        let class = self.class.as_deref().unwrap_or(&self.record);
        source = source.mapping(Mapping::class(class).same_names(&names));
        source = self.edges.iter().cloned().fold(source, Source::edge);
        self.paging(output, inputs, &find).into_iter().fold(source, |source, (key, value)| source.preset(&key, value))
    }

    /// The members of the preset that turn pages.
    fn paging(
        &self,
        output: Option<&Json>,
        inputs: &JsonObject,
        find: &impl Fn(&[&str]) -> Option<String>,
    ) -> JsonObject {
        let described = output.and_then(|schema| schema.get("properties"));
        let has = |name: &str| described.and_then(|all| all.get(name)).is_some();
        let is_page = has("items") && has("has_more") && has("next_cursor");
        if let (true, Some(cursor)) = (is_page, find(&CURSORS)) {
            let mut members = ToolPage::cursor_preset(&cursor);
            if let Some(size) = find(&SIZES) {
                members.insert("page_size".to_owned(), self.size_for(inputs, &size).into());
                members.insert("page_size_param".to_owned(), size.into());
            }
            return members;
        }
        let (mode, param) = match (find(&PAGES), find(&OFFSETS)) {
            (Some(page), _) => ("page", page),
            (None, Some(offset)) => ("offset", offset),
            (None, None) => return JsonObject::new(),
        };
        let mut members = JsonObject::from([
            ("pagination".to_owned(), mode.into()),
            ("page_param".to_owned(), param.as_str().into()),
        ]);
        if mode == "page" {
            let said = |key: &str| inputs.get(&param)?.get(key)?.as_number()?.as_u64();
            let first = said("default").or_else(|| said("minimum").filter(|least| *least > 0)).unwrap_or(1);
            members.insert("start_page".to_owned(), first.into());
        }
        // Without an argument for it, the size is the vendor's business: then a page that is not full is not the end.
        if let Some(size) = find(&SIZES) {
            members.insert("page_size".to_owned(), self.size_for(inputs, &size).into());
            members.insert("page_size_param".to_owned(), size.into());
        }
        if is_page {
            members.insert("more_path".to_owned(), "has_more".into());
        }
        members
    }

    fn size_for(&self, inputs: &JsonObject, argument: &str) -> u64 {
        let most = inputs.get(argument).and_then(|schema| schema.get("maximum")?.as_number()?.as_u64());
        most.map_or(u64::from(self.page_size), |most| most.clamp(1, u64::from(self.page_size)))
    }
}

impl BoundOperation {
    /// Declares that its records are worth copying, as far as its types do not say it already (R075.2). Call it after
    /// [`output_schema`](Self::output_schema).
    #[must_use]
    pub fn records(self, records: RecordSource) -> Self {
        let inputs = self.operation.inputs.schema();
        let described = inputs.get("properties").and_then(Json::as_object).cloned().unwrap_or_default();
        let source = records.source(&self.operation.method, &described, self.output.as_ref());
        self.source(source)
    }
}

fn source_name(operation: &str) -> String {
    let rest = operation.split_once('_').filter(|(word, rest)| READ_WORDS.contains(word) && !rest.is_empty());
    rest.map_or(operation, |(_, rest)| rest).to_owned()
}

/// The list of objects in a value, and the schema of its items.
fn list_in(output: Option<&Json>) -> (String, Option<&Json>) {
    let Some(schema) = output else { return (String::new(), None) };
    if is_kind(schema, "array") {
        return (String::new(), schema.get("items"));
    }
    let members = schema.get("properties").and_then(Json::as_object);
    let is_list = |(_, member): &(&String, &Json)| {
        is_kind(member, "array") && member.get("items").is_some_and(|item| item.get("properties").is_some())
    };
    let named = LISTS.iter().find_map(|name| members?.get_key_value(*name).filter(is_list));
    let lists: Vec<_> = members.into_iter().flatten().filter(is_list).collect();
    let only = if let [only] = &*lists { Some(*only) } else { None };
    named.or(only).map_or((String::new(), None), |(name, member)| (name.clone(), member.get("items")))
}

fn item_at<'s>(output: &'s Json, path: &str) -> Option<&'s Json> {
    let mut here = output;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        here = here.get("properties")?.get(part)?;
    }
    here.get("items")
}

fn is_kind(schema: &Json, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind.as_str() == Some(wanted)),
        Some(kind) => kind.as_str() == Some(wanted),
        None => false,
    }
}

/// The fields of a record that hold one plain value, or a list of them.
fn plain_fields(item: Option<&Json>) -> Vec<String> {
    let plain = |schema: &Json| ["string", "integer", "number", "boolean"].iter().any(|kind| is_kind(schema, kind));
    let members = item.and_then(|item| item.get("properties")).and_then(Json::as_object);
    let kept = members
        .into_iter()
        .flatten()
        .filter(|(_, schema)| plain(schema) || (is_kind(schema, "array") && schema.get("items").is_some_and(plain)));
    kept.map(|(name, _)| name.clone()).collect()
}
