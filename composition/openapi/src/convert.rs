//! From a document to the model.

use std::collections::BTreeMap;

use scion_domain::client_profile::ClientProfile;
use scion_domain::http::Method;
use scion_domain::json::{Json, JsonObject};
use scion_domain::openapi::{ApiDocumentRefusal, OperationRefusal};
use scion_domain::refusal::Refusal as _;
use scion_domain::tool_surface::{Verb, operation_hints};

use crate::body::{self, Schema, StatedBody};
use crate::document::{self, Dialect};
use crate::limits::Limits;
use crate::model::{ApiModel, BodyKind, ListShape, Operation, Parameter, TextForm};
use crate::names::{Named, Nameless, name_all};
use crate::parameters::{self, Parameters};
use crate::refs::Refs;
use crate::report::{ConversionReport, RefusedOperation};
use crate::schema::{Closed, Usage, close, escaped};
use crate::{paging, records, responses, security, servers, text};

const METHODS: [(&str, Method); 6] = [
    ("get", Method::GET),
    ("head", Method::HEAD),
    ("post", Method::POST),
    ("put", Method::PUT),
    ("patch", Method::PATCH),
    ("delete", Method::DELETE),
];

/// How to convert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertOptions {
    /// What stands before each tool name; nothing when empty. Use snake case.
    pub prefix: String,
    /// What the tools have to pass; only its bound on names matters here.
    pub profile: ClientProfile,
    /// The bounds.
    pub limits: Limits,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self { prefix: String::new(), profile: ClientProfile::COMMON, limits: Limits::DEFAULT }
    }
}

/// Reads an OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0 document, JSON or YAML. Every operation is either converted or counted and
/// explained in the report; only a document that is none is refused as a whole. The same bytes give the same model.
pub fn convert(bytes: &[u8], options: &ConvertOptions) -> Result<ApiModel, ApiDocumentRefusal> {
    let (document, dialect) = document::read(bytes, &options.limits)?;
    Ok(Converter::new(&document, dialect, options).run())
}

/// One operation as the document has it.
struct Found<'d> {
    method: &'static str,
    verb: Method,
    path: &'d str,
    shared: &'d JsonObject,
    members: &'d JsonObject,
}

struct Converter<'d> {
    document: &'d Json,
    refs: Refs<'d>,
    dialect: Dialect,
    options: &'d ConvertOptions,
    report: ConversionReport,
    /// The parts of one schema.
    parts: usize,
    /// Parts left for operations that take more than their share.
    reserve: usize,
}

impl<'d> Converter<'d> {
    fn new(document: &'d Json, dialect: Dialect, options: &'d ConvertOptions) -> Self {
        let refs = Refs { root: document };
        Self { document, refs, dialect, options, report: ConversionReport::default(), parts: 0, reserve: 0 }
    }

    fn run(mut self) -> ApiModel {
        let found = self.find();
        self.parts = self.options.limits.schema_parts(found.len());
        self.reserve = self.options.limits.total_schema_parts / 4;
        let nameless: Vec<_> = found
            .iter()
            .map(|found| Nameless {
                id: found.members.get("operationId").and_then(Json::as_str),
                method: found.method,
                path: found.path,
            })
            .collect();
        let names = name_all(&nameless, &self.options.prefix, &self.options.profile);
        let mut operations = Vec::new();
        for (found, named) in found.iter().zip(names) {
            match self.operation_within_means(found, &named) {
                Ok(operation) => operations.push(operation),
                Err(refusal) => self.refuse(found.method, found.path, refusal),
            }
        }
        operations.sort_by(|a, b| a.name.cmp(&b.name));
        self.report.converted = operations.len();
        let info = |name: &str| {
            let value = self.document.get("info").and_then(|info| info.get(name)).and_then(Json::as_str);
            text::shortened(value.unwrap_or_default(), 200)
        };
        let (title, version) = (info("title"), info("version"));
        let servers = match self.dialect {
            Dialect::Swagger2 => servers::swagger(self.document),
            _ => servers::read(self.document.get("servers")),
        };
        let schemes = match self.dialect {
            Dialect::Swagger2 => self.document.get("securityDefinitions"),
            _ => self.document.get("components").and_then(|components| components.get("securitySchemes")),
        };
        let schemes = schemes.and_then(Json::as_object).into_iter().flatten().take(64);
        let security_schemes =
            schemes.map(|(name, scheme)| (name.clone(), security::read(self.refs, name, scheme))).collect();
        ApiModel { dialect: self.dialect, title, version, servers, security_schemes, operations, report: self.report }
    }

    fn refuse(&mut self, method: &str, path: &str, refusal: OperationRefusal) {
        let path = path.chars().filter(|c| !c.is_control()).take(256).collect();
        self.report.refused.push(RefusedOperation { method: method.to_owned(), path, refusal });
    }

    /// All operations, in the order of path and method; refused ones are left out of the list and counted.
    fn find(&mut self) -> Vec<Found<'d>> {
        self.report.webhooks = self.document.get("webhooks").and_then(Json::as_object).map_or(0, JsonObject::len);
        let mut found = Vec::new();
        let paths = self.document.get("paths").and_then(Json::as_object);
        for (path, item) in paths.into_iter().flatten() {
            if path.starts_with("x-") {
                continue;
            }
            let shared = match self.refs.resolve(item) {
                Ok(shared) => shared.as_object(),
                Err(refusal) => {
                    self.report.operations += 1;
                    self.refuse("*", path, refusal);
                    continue;
                }
            };
            let Some(shared) = shared else { continue };
            for (word, method) in [("options", "OPTIONS"), ("trace", "TRACE")] {
                if shared.contains_key(word) {
                    self.report.operations += 1;
                    self.refuse(method, path, OperationRefusal::Method { method });
                }
            }
            for (word, verb) in METHODS {
                let Some(operation) = shared.get(word) else { continue };
                self.report.operations += 1;
                let method = upper(word);
                let limit = self.options.limits.max_operations;
                match operation.as_object() {
                    _ if found.len() >= limit => {
                        self.refuse(method, path, OperationRefusal::TooManyOperations { limit });
                    }
                    None => {
                        self.refuse(method, path, OperationRefusal::Shape { what: "the operation is not an object" });
                    }
                    Some(members) => found.push(Found { method, verb, path, shared, members }),
                }
            }
        }
        found
    }

    /// An operation that needs more than its share of parts gets a whole schema's from the reserve, while that lasts.
    fn operation_within_means(&mut self, found: &Found<'d>, named: &Named) -> Result<Operation, OperationRefusal> {
        let (cut, more) = (self.report.cut, self.options.limits.max_schema_parts);
        match self.operation(found, named, self.parts) {
            Err(OperationRefusal::TooLarge { .. }) if more > self.parts && self.reserve >= more => {
                self.report.cut = cut;
                let operation = self.operation(found, named, more)?;
                self.reserve -= more;
                Ok(operation)
            }
            other => other,
        }
    }

    fn operation(&mut self, found: &Found<'d>, named: &Named, parts: usize) -> Result<Operation, OperationRefusal> {
        let members = found.members;
        let limit = self.options.limits.max_parameters;
        let lists = [found.shared.get("parameters"), members.get("parameters")];
        let mut parameters = parameters::read(self.refs, self.dialect, lists, limit)?;
        let target = parameters::target(found.path, &mut parameters.stated)?;
        let body = match found.method {
            "GET" | "HEAD" => None,
            _ => body::read(self.refs, self.dialect, members, &parameters)?,
        };
        let mut input =
            Input { properties: JsonObject::new(), required: Vec::new(), texts: BTreeMap::new(), left: parts };
        self.parameters(&parameters, &mut input, parts)?;
        let body = match body {
            Some(stated) => Some(self.body(stated, &mut input, parts)?),
            None => None,
        };
        let answer = responses::read(self.refs, self.dialect, members);
        let stated_answer = answer.schema;
        let output = answer.schema.map(|schema| self.close(schema, Usage::Output, self.parts));
        let output = match output {
            Some(Ok(closed)) => closed,
            Some(Err(refusal)) => {
                self.report.note(&named.name, "has no output schema, because its reference is refused", refusal.code());
                None
            }
            None => None,
        };
        let reading = found.method == "GET";
        let stated: Vec<Parameter> = parameters.stated.iter().map(|stated| stated.parameter.clone()).collect();
        let written = output.as_ref().filter(|_| reading).map(|closed| &closed.schema);
        let paging = written.and_then(|schema| paging::detect(&stated, schema, answer.link_header));
        let records = match &paging {
            Some(paging) => Some(paging.items_path.clone()),
            None => written.and_then(|schema| paging::records(schema, target.path)),
        };
        let list = records.map(|path| ListShape {
            record_type: records::type_name(self.refs, stated_answer, &path, target.path),
            walkable: paging.is_some() || !paging::has_pages(&stated),
            path,
        });
        let (output_schema, output_wrapped) = match output {
            Some(closed) => {
                self.report.cut += closed.cut;
                let (schema, wrapped) = object_root(closed.schema);
                (Some(schema), wrapped)
            }
            None => (None, false),
        };
        if let Some(what) = named.note {
            self.report.note(&named.name, what, "");
        }
        if target.fragment {
            self.report.note(&named.name, "has a fragment in its path, which is not sent", "");
        }
        for name in &parameters.ignored {
            self.report.note(&named.name, "has a header parameter that is not one", name);
        }
        let plain =
            named.name.strip_prefix(self.options.prefix.as_str()).unwrap_or(&named.name).trim_start_matches('_');
        let hints = operation_hints(plain, Verb::parse(found.verb.as_str()));
        let own = servers::of(members);
        let texts = std::mem::take(&mut input.texts);
        let tags = members.get("tags").and_then(Json::as_array).unwrap_or_default();
        Ok(Operation {
            id: members.get("operationId").and_then(Json::as_str).map(|id| id.chars().take(256).collect()),
            method: found.verb.clone(),
            path: target.path.to_owned(),
            fixed_query: target.query,
            title: title(members, plain),
            description: description(found),
            deprecated: members.get("deprecated").and_then(Json::as_bool) == Some(true),
            tags: tags.iter().take(32).filter_map(Json::as_str).map(|tag| text::shortened(tag, 64)).collect(),
            parameters: parameters.stated.into_iter().map(|stated| stated.parameter).collect(),
            body,
            input_schema: input.schema(),
            output_schema,
            output_wrapped,
            hints,
            servers: if own.is_empty() { servers::of(found.shared) } else { own },
            security: security::requirements(members.get("security").or_else(|| self.document.get("security"))),
            paging,
            list,
            answers_html: answer.html,
            links: answer.links,
            texts,
            name: named.name.clone(),
        })
    }

    fn close(&self, schema: &'d Json, usage: Usage, parts: usize) -> Result<Option<Closed>, OperationRefusal> {
        close(self.refs, schema, usage, parts, self.options.limits.max_schema_levels)
    }

    fn parameters(
        &mut self,
        parameters: &Parameters<'d>,
        input: &mut Input,
        limit: usize,
    ) -> Result<(), OperationRefusal> {
        for stated in &parameters.stated {
            let parameter = &stated.parameter;
            let closed = match stated.schema {
                Some(schema) => self.close(schema, Usage::Parameter, input.left)?,
                None => Some(Closed {
                    schema: Json::from([("type", Json::from("string"))]),
                    texts: BTreeMap::new(),
                    parts: 2,
                    cut: 0,
                }),
            };
            let mut closed = closed.ok_or(OperationRefusal::TooLarge { limit })?;
            if let Json::Object(members) = &mut closed.schema {
                if let Some(description) = stated.description {
                    let mut description = text::shortened(description, 300);
                    // What a cut place takes has to be said, whatever else is.
                    let note = members.get("description").and_then(Json::as_str);
                    if let Some(note) = note.filter(|_| closed.texts.get("") == Some(&TextForm::Json)) {
                        description.push_str(if description.is_empty() { "" } else { " " });
                        description.push_str(note);
                    }
                    closed.parts += 1 + description.len() / 64;
                    if !description.is_empty() {
                        members.insert("description".to_owned(), Json::String(description));
                    }
                }
                if stated.deprecated {
                    members.insert("deprecated".to_owned(), Json::from(true));
                }
            }
            self.report.cut += closed.cut;
            input.add(&parameter.argument, closed, parameter.required).ok_or(OperationRefusal::TooLarge { limit })?;
        }
        Ok(())
    }

    fn body(
        &mut self,
        stated: StatedBody<'d>,
        input: &mut Input,
        limit: usize,
    ) -> Result<crate::model::RequestBody, OperationRefusal> {
        let text_form = |form: Option<TextForm>| Closed {
            schema: Json::from([("type", Json::from("string"))]),
            texts: form.map(|form| (String::new(), form)).into_iter().collect(),
            parts: 2,
            cut: 0,
        };
        let anything = Json::Object(JsonObject::new());
        let silent = || {
            let silent = close(Refs { root: &anything }, &anything, Usage::Input, 64, 1)?;
            silent.ok_or(OperationRefusal::TooLarge { limit })
        };
        let mut closed = match (&stated.schema, stated.body.kind) {
            (_, BodyKind::Text) => text_form(None),
            (_, BodyKind::Bytes) => {
                let mut closed = text_form(Some(TextForm::Base64));
                if let Json::Object(members) = &mut closed.schema {
                    members.insert("contentEncoding".to_owned(), Json::from("base64"));
                }
                closed
            }
            (Schema::Stated(schema), _) => {
                // A body that is too wide even without what is in its members takes JSON text as a whole, unless the reserve
                // can write its members out.
                let wide = limit >= self.options.limits.max_schema_parts
                    || self.reserve < self.options.limits.max_schema_parts;
                match self.close(schema, Usage::Input, input.left)? {
                    Some(closed) => closed,
                    None if wide => silent()?,
                    None => return Err(OperationRefusal::TooLarge { limit }),
                }
            }
            (Schema::Silent, _) => silent()?,
            (Schema::Fields(fields), _) => self.fields(fields, input.left)?,
        };
        if let (Json::Object(members), Some(description)) = (&mut closed.schema, stated.description) {
            let description = text::shortened(description, 300);
            if !members.contains_key("description") && !description.is_empty() {
                closed.parts += 1 + description.len() / 64;
                members.insert("description".to_owned(), Json::String(description));
            }
        }
        self.report.cut += closed.cut;
        input.add("body", closed, stated.body.required).ok_or(OperationRefusal::TooLarge { limit })?;
        Ok(stated.body)
    }

    /// The form of Swagger 2 as one object.
    fn fields(&self, fields: &[&'d Json], parts: usize) -> Result<Closed, OperationRefusal> {
        let limit = self.parts;
        let mut out =
            Input { properties: JsonObject::new(), required: Vec::new(), texts: BTreeMap::new(), left: parts };
        let mut cut = 0;
        for field in fields {
            let name = field.get("name").and_then(Json::as_str).unwrap_or_default();
            let closed = self.close(field, Usage::Input, out.left)?;
            let closed = closed.ok_or(OperationRefusal::TooLarge { limit })?;
            cut += closed.cut;
            let required = field.get("required").and_then(Json::as_bool) == Some(true);
            out.add(name, closed, required).ok_or(OperationRefusal::TooLarge { limit })?;
        }
        Ok(Closed { texts: out.texts.clone(), parts: parts - out.left, cut, schema: out.schema() })
    }
}

/// The arguments of an operation while they are collected.
struct Input {
    properties: JsonObject,
    required: Vec<Json>,
    texts: BTreeMap<String, TextForm>,
    left: usize,
}

impl Input {
    fn add(&mut self, argument: &str, closed: Closed, required: bool) -> Option<()> {
        self.left = self.left.checked_sub(closed.parts)?;
        let at = format!("/properties/{}", escaped(argument));
        self.texts.extend(closed.texts.into_iter().map(|(inner, form)| (format!("{at}{inner}"), form)));
        if required {
            self.required.push(Json::from(argument));
        }
        self.properties.insert(argument.to_owned(), closed.schema);
        Some(())
    }

    fn schema(self) -> Json {
        let mut required = self.required;
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        let mut out = JsonObject::from([
            ("type".to_owned(), Json::from("object")),
            ("additionalProperties".to_owned(), Json::from(false)),
            ("properties".to_owned(), Json::Object(self.properties)),
        ]);
        if !required.is_empty() {
            out.insert("required".to_owned(), Json::Array(required));
        }
        Json::Object(out)
    }
}

const fn upper(word: &'static str) -> &'static str {
    match word.as_bytes() {
        b"get" => "GET",
        b"head" => "HEAD",
        b"post" => "POST",
        b"put" => "PUT",
        b"patch" => "PATCH",
        _ => "DELETE",
    }
}

/// An answer that is no object stands in the member `result` of one.
fn object_root(schema: Json) -> (Json, bool) {
    if schema.get("type").and_then(Json::as_str) == Some("object") {
        return (schema, false);
    }
    let wrapped = Json::from([
        ("type", Json::from("object")),
        ("properties", Json::from([("result", schema)])),
        ("required", Json::Array(vec![Json::from("result")])),
    ]);
    (wrapped, true)
}

fn title(members: &JsonObject, name: &str) -> String {
    let summary = text::shortened(members.get("summary").and_then(Json::as_str).unwrap_or_default(), 80);
    if !summary.is_empty() {
        return summary;
    }
    let words = name.replace('_', " ");
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn description(found: &Found<'_>) -> String {
    let text = |name: &str| found.members.get(name).and_then(Json::as_str).unwrap_or_default();
    let (summary, long) = (text::shortened(text("summary"), 300), text::shortened(text("description"), 1000));
    let both = match (summary.is_empty(), long.is_empty()) {
        (true, true) => format!("{} {}", found.method, found.path),
        (false, true) => summary,
        (true, false) => long,
        (false, false) if long.starts_with(&summary) => long,
        (false, false) => format!("{summary} {long}"),
    };
    text::shortened(&both, 1023)
}
