//! The operations of an API as values.

use std::collections::BTreeMap;

use scion_domain::http::Method;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{ToolDescription, ToolHints};
use scion_domain::pagination::http::WalkOptions;

use crate::document::Dialect;
use crate::report::ConversionReport;
use crate::security::{SecurityRequirement, SecurityScheme};
use crate::servers::ServerTemplate;

/// What a document says, as far as it could be converted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApiModel {
    /// The specification the document follows.
    pub dialect: Dialect,
    /// The title of the API; may be empty.
    pub title: String,
    /// The version of the API; may be empty.
    pub version: String,
    /// The servers of the whole document. Empty when it names none: then the caller must.
    pub servers: Vec<ServerTemplate>,
    /// The security schemes, by the name the document gives them.
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// The operations, in the order of their names.
    pub operations: Vec<Operation>,
    /// What was left out, and why.
    pub report: ConversionReport,
}

/// One method on one path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Operation {
    /// Its tool name: snake case, unique in the model, within the client profile.
    pub name: String,
    /// Its `operationId`, as written.
    pub id: Option<String>,
    /// The HTTP method.
    pub method: Method,
    /// The path template, for example `/users/{id}`.
    pub path: String,
    /// Query parameters that stand in the path of the document and are always sent, as written there.
    pub fixed_query: Vec<(String, String)>,
    /// A title for people.
    pub title: String,
    /// What it does, in at most 1,024 characters.
    pub description: String,
    /// Whether the document calls it deprecated.
    pub deprecated: bool,
    /// Its tags, as written.
    pub tags: Vec<String>,
    /// Its parameters, in the order of their arguments.
    pub parameters: Vec<Parameter>,
    /// Its body; the argument is called `body`.
    pub body: Option<RequestBody>,
    /// The schema of the arguments: one closed object.
    pub input_schema: Json,
    /// The schema of a good answer: an object.
    pub output_schema: Option<Json>,
    /// Whether the answer is no object, so that it stands in the member `result` of one.
    pub output_wrapped: bool,
    /// Read-only, destructive, idempotent.
    pub hints: ToolHints,
    /// The servers of this operation, where it has its own.
    pub servers: Vec<ServerTemplate>,
    /// The ways to be authenticated, of which one is enough; empty when none is needed.
    pub security: Vec<SecurityRequirement>,
    /// How its answer is paged, where that can be told. Parameter names are those on the wire.
    pub paging: Option<WalkOptions>,
    /// Where the records of a reading operation are in its answer, where that can be told.
    pub list: Option<ListShape>,
    /// Whether the document says that a good answer is a web page.
    pub answers_html: bool,
    /// Where its answer leads.
    pub links: Vec<OperationLink>,
    /// The places of texts that stand for something else, as pointers into the input schema.
    pub texts: BTreeMap<String, TextForm>,
}

impl Operation {
    /// The operation as a tool.
    pub fn tool(&self) -> ToolDescription {
        ToolDescription {
            name: self.name.clone(),
            title: Some(self.title.clone()),
            description: Some(self.description.clone()),
            input_schema: self.input_schema.clone(),
            output_schema: self.output_schema.clone(),
            hints: self.hints,
            meta: JsonObject::new(),
        }
    }
}

/// The records in the answer of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListShape {
    /// Dotted path to the list; empty when the answer is the list itself.
    pub path: String,
    /// What one record is called: the name of its schema, or what the path of the operation says.
    pub record_type: String,
    /// Whether a walk over its pages reads all of it: its paging was told, or nothing says that it has pages.
    pub walkable: bool,
}

/// What a text in an argument stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// A JSON value that the schema does not write out.
    Json,
    /// An integer of up to 64 bits; a number is taken too.
    Integer,
    /// Bytes, in Base64.
    Base64,
}

/// Where a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Into the path.
    Path,
    /// Into the query.
    Query,
    /// Into a header field.
    Header,
    /// Into a cookie. Kept as a fact: the governed client sends no cookies.
    Cookie,
}

impl Place {
    /// The word of the specification.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// How a value that is not a plain text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// `a,b`.
    Simple,
    /// `.a.b`.
    Label,
    /// `;name=a;name=b`.
    Matrix,
    /// `name=a&name=b`.
    Form,
    /// `name=a%20b`.
    SpaceDelimited,
    /// `name=a%7Cb`.
    PipeDelimited,
    /// `name=a%09b` (Swagger 2).
    TabDelimited,
    /// `name[key]=a`.
    DeepObject,
}

/// How a parameter is written on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterForm {
    /// In a style.
    Styled {
        /// The style.
        style: Style,
        /// Whether each part of the value stands for itself.
        explode: bool,
        /// Whether reserved characters stay as they are (`:/?@!$'()*,;[]`; the delimiters `#&+=` are still encoded).
        allow_reserved: bool,
    },
    /// As JSON text.
    Json,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name of its argument.
    pub argument: String,
    /// Its name on the wire.
    pub name: String,
    /// Where it goes.
    pub place: Place,
    /// Whether a request needs it.
    pub required: bool,
    /// How it is written.
    pub form: ParameterForm,
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// JSON.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// Text as it is.
    Text,
    /// Bytes, given in Base64.
    Bytes,
}

/// How one member of a form is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldEncoding {
    /// The style, for URL-encoded forms; `None` writes objects as JSON text and repeats the members of lists.
    pub style: Option<(Style, bool)>,
    /// The media type of the part, for multipart forms.
    pub media_type: Option<String>,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestBody {
    /// Whether a request needs it.
    pub required: bool,
    /// The media type that is sent.
    pub media_type: String,
    /// How it is written.
    pub kind: BodyKind,
    /// What the document says about members of a form.
    pub fields: BTreeMap<String, FieldEncoding>,
}

/// Where an answer leads (`links` of OpenAPI 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationLink {
    /// The name of the link.
    pub name: String,
    /// The `operationId` it names, or the reference.
    pub target: String,
    /// Parameters of the target, as runtime expressions or constants.
    pub parameters: JsonObject,
}
