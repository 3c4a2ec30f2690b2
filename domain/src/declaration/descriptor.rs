//! Data-resource descriptors: what a server holds, for tools that look for data and not for calls
//! (`wire/mcp-surface.md` 1.3).
//!
//! [`derive()`] makes them from read-only tools, [`merge()`] lays declared ones over them, [`check()`] looks at declared ones
//! alone; [`data_resources()`] does it all for a connector, with its sources. The classes and properties of the ontology come in as [`OntologyTerms`]: reading Turtle is an adapter's work.

mod check;
mod derive;
mod merge;
mod read;
mod schema;
mod sources;
mod terms;

pub use check::check;
pub use derive::derive;
pub use merge::merge;
pub use sources::data_resources;
pub use terms::OntologyTerms;

use std::collections::BTreeMap;

use crate::json::{Json, JsonObject};
use crate::refusals;

refusals! {
    /// Why declared descriptors are not acceptable. The codes are a peer's.
    pub enum DescriptorRefusal {
        /// A member that a declared descriptor needs is missing.
        Incomplete { name: String, member: &'static str } => "DECLARATION_INCOMPLETE", CallerMistake, Never,
            "the data resource `{name}` has no {member}", "declare name, ontology_class, operation, key_field and pagination";
        /// A class the ontology does not declare.
        Unmapped { name: String } => "RESOURCE_UNMAPPED", CallerMistake, Never,
            "the data resource `{name}` names a class that the ontology does not declare", "declare the class, or name a declared one";
        /// An access kind nobody knows.
        AccessKind { name: String } => "ACCESS_KIND_UNKNOWN", CallerMistake, Never,
            "the data resource `{name}` has an unknown access_kind", "use a word of the table of access kinds, for example mcp_tool or http_endpoint";
        /// A pagination nobody knows.
        Pagination { name: String } => "PAGINATION_UNDECLARED", CallerMistake, Never,
            "the data resource `{name}` has no pagination, or an unknown one", "use none, cursor, offset, page or keyset";
        /// A field that is neither a name nor an object with one.
        Field { name: String, index: usize } => "FIELD_INVALID", CallerMistake, Never,
            "field {index} of the data resource `{name}` is neither a name nor an object with a name", "write the field's name, or {name, type, ontology_property}";
        /// A credential that is not a reference.
        Secret { name: String } => "SECRET_IN_CONTRACT", CallerMistake, Never,
            "the data resource `{name}` holds a literal secret, or a credential_ref that is not a reference", "write a reference such as env://NAME; never the secret itself";
        /// A member that is unknown or has the wrong type.
        Member { name: String, member: String } => "descriptor_member", CallerMistake, Never,
            "the data resource `{name}` has an unknown or mistyped member `{member}`", "remove it, or correct its name or value";
    }
}

/// How sure the tie to the ontology is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MappingStatus {
    /// There is none.
    #[default]
    Unmapped,
    /// Found by name.
    Proposed,
    /// Said by the connector.
    Declared,
}

impl MappingStatus {
    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unmapped => "unmapped",
            Self::Proposed => "proposed",
            Self::Declared => "declared",
        }
    }
}

/// One scalar field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorField {
    /// Its name.
    pub name: String,
    /// `string`, `integer`, `number` or `boolean`.
    pub kind: String,
    /// The property it stands for.
    pub ontology_property: Option<String>,
    /// How sure that is.
    pub mapping_status: MappingStatus,
}

/// One data resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Its name, for example `tickets`.
    pub name: String,
    /// `data://<connector>/<name>`.
    pub uri: String,
    /// The connector declared it; otherwise it was derived.
    pub declared: bool,
    /// The class of its records.
    pub ontology_class: Option<String>,
    /// How sure that is.
    pub mapping_status: MappingStatus,
    /// Its scalar fields.
    pub fields: Vec<DescriptorField>,
    /// A word of [`AccessKind`](crate::resource_descriptor::AccessKind), for example `mcp_tool`.
    pub access_kind: String,
    /// What lists it.
    pub operation: String,
    /// What reads one of it.
    pub get_operation: Option<String>,
    /// Parameter to `{parameter}`.
    pub arguments: BTreeMap<String, Json>,
    /// The field that identifies a record.
    pub key_field: String,
    /// A word of [`ResourcePagination`](crate::resource_descriptor::ResourcePagination), for example `page`.
    pub pagination: String,
    /// The parameter that pages.
    pub pagination_param: Option<String>,
    /// Nothing changes by reading.
    pub read_only: bool,
    /// Who owns the data.
    pub owner: Option<String>,
    /// A reference to a credential; never the secret.
    pub credential_ref: Option<String>,
}

impl Descriptor {
    /// The wire form: every member is always there.
    pub fn to_json(&self) -> JsonObject {
        let fields = self.fields.iter().map(|field| {
            Json::from([
                ("name", field.name.as_str().into()),
                ("type", field.kind.as_str().into()),
                ("ontology_property", field.ontology_property.as_deref().into()),
                ("mapping_status", field.mapping_status.as_str().into()),
            ])
        });
        let members = [
            ("name", Json::from(self.name.as_str())),
            ("uri", self.uri.as_str().into()),
            ("kind", "data".into()),
            ("origin", if self.declared { "declared" } else { "derived" }.into()),
            ("ontology_class", self.ontology_class.as_deref().into()),
            ("mapping_status", self.mapping_status.as_str().into()),
            ("fields", fields.collect::<Vec<_>>().into()),
            ("access_kind", self.access_kind.as_str().into()),
            ("operation", self.operation.as_str().into()),
            ("get_operation", self.get_operation.as_deref().into()),
            ("arguments", self.arguments.clone().into()),
            ("key_field", self.key_field.as_str().into()),
            ("pagination", self.pagination.as_str().into()),
            ("pagination_param", self.pagination_param.as_deref().into()),
            ("read_only", self.read_only.into()),
            ("owner", self.owner.as_deref().into()),
            ("credential_ref", self.credential_ref.as_deref().into()),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
