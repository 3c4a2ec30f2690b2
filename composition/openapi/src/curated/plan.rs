//! What a sync runner reads through an operation, as values.

use std::collections::BTreeMap;

use scion_domain::json::JsonObject;

/// A source of an operation. Argument names are those of the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourcePlan {
    /// Its id.
    pub id: String,
    /// The type of its records.
    pub record_type: String,
    /// The field that identifies a record.
    pub id_field: String,
    /// Where the records are in the tool's answer; empty when it is the list itself.
    pub records_path: String,
    /// The field with a title.
    pub title_field: Option<String>,
    /// The field with text.
    pub text_field: Option<String>,
    /// The field with the change time, and the argument that asks for changes since one.
    pub updated: Option<(String, Option<String>)>,
    /// How pages are asked for.
    pub pages: SourcePages,
    /// Arguments of every call.
    pub arguments: JsonObject,
    /// Read once per record of another source.
    pub for_each: Option<SourceFanOut>,
    /// Edges to the records that fields name.
    pub edges: Vec<SourceEdge>,
    /// The ontology class of the records.
    pub class: String,
    /// Record field to property.
    pub fields: BTreeMap<String, String>,
    /// For people.
    pub description: String,
}

/// How pages are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourcePages {
    /// There is one.
    One,
    /// By number.
    Page {
        /// The argument with the number.
        argument: String,
        /// The first number.
        start: u64,
        /// The argument with the size, and the size.
        size: Option<(String, u32)>,
    },
    /// By the number of records read.
    Offset {
        /// The argument with the offset.
        argument: String,
        /// The argument with the size, and the size.
        size: Option<(String, u32)>,
    },
    /// By a cursor of the answer.
    Cursor {
        /// The argument with the cursor.
        argument: String,
        /// Where the cursor is in the answer; dotted.
        path: String,
        /// The argument with the size, and the size.
        size: Option<(String, u32)>,
    },
}

/// A fan-out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFanOut {
    /// The id of the parent source.
    pub source: String,
    /// The argument that takes the value.
    pub argument: String,
    /// The field of the parent's records.
    pub field: String,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceEdge {
    /// Its type.
    pub relationship: String,
    /// The field that names the other record; dotted.
    pub field: String,
    /// The type of the other record.
    pub target_type: String,
    /// The source whose own record is meant.
    pub target_source: Option<String>,
}
