//! What an operator says about an API beside its document: which operations are served, under which names, with which risk, and
//! which of them a sync runner reads. Every word keeps its place in the file, so that whoever finds that it fits nothing can say
//! where it stands.

use std::collections::BTreeMap;

use crate::config::{ConfigProblem, ConfigRefusal};
use crate::id::ConnectorName;
use crate::json::{Json, JsonObject};

/// A value and where it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The field, as `operations.listNotes.name`.
    pub path: String,
}

impl<T> Placed<T> {
    /// What is wrong with it.
    pub fn problem(&self, refusal: ConfigRefusal) -> ConfigProblem {
        ConfigProblem { line: self.line, column: self.column, path: self.path.clone(), refusal }
    }
}

/// The whole file. [`ApiCuration::default`] changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiCuration {
    /// The file, as the caller named it.
    pub file: String,
    /// The fleet name of the connector.
    pub name: Option<ConnectorName>,
    /// Its title for people.
    pub title: Option<String>,
    /// How to use it, for models and people.
    pub instructions: Option<String>,
    /// What stands before each tool name; snake case.
    pub prefix: Option<Placed<String>>,
    /// The address of the API, in place of the document's servers.
    pub base_url: Option<String>,
    /// Values for the variables of the document's server.
    pub variables: BTreeMap<String, String>,
    /// When not empty, only operations that one of these selects are served.
    pub include: Vec<Placed<Selector>>,
    /// Operations that are not served.
    pub exclude: Vec<Placed<Selector>>,
    /// What is said about single operations, by operation id, tool name, or method and path.
    pub operations: Vec<(Placed<String>, OperationCuration)>,
}

/// Which operations are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// One, by operation id, tool name, or method and path (`GET /notes`).
    Operation(String),
    /// All with a tag.
    Tag(String),
    /// All of a method, in capitals.
    Method(String),
}

/// How much harm a call can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RiskClass {
    /// It reads.
    Read,
    /// It changes something.
    Write,
    /// It destroys something: a person is asked first.
    Destructive,
}

impl RiskClass {
    /// The words of the file, in the order of the classes.
    pub const WORDS: [(&'static str, Self); 3] =
        [("read", Self::Read), ("write", Self::Write), ("destructive", Self::Destructive)];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// What is said about one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationCuration {
    /// Another tool name; the prefix still stands before it.
    pub name: Option<Placed<String>>,
    /// Another title.
    pub title: Option<String>,
    /// Another description.
    pub description: Option<String>,
    /// Another risk class.
    pub risk: Option<Placed<RiskClass>>,
    /// The fields that are kept of each record, or of the answer when it is no list; dotted.
    pub keep: Vec<Placed<String>>,
    /// Arguments that are always sent and that no caller sees.
    pub fixed: Vec<(Placed<String>, Json)>,
    /// Arguments that are sent when the caller is silent.
    pub defaults: Vec<(Placed<String>, Json)>,
    /// What a sync runner does with it.
    pub source: Option<Placed<SourceCuration>>,
}

/// What a sync runner does with an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceCuration {
    /// Nothing, although it looks like a list.
    Off,
    /// Reads it, with these settings over what the document tells.
    On(Box<SourceSettings>),
}

/// Settings of a source; what is silent is told by the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceSettings {
    /// The source's id.
    pub id: Option<String>,
    /// The type of its records.
    pub record_type: Option<String>,
    /// The field that identifies a record.
    pub id_field: Option<String>,
    /// Where the records are in the tool's answer; dotted.
    pub records_path: Option<String>,
    /// The field with a title.
    pub title_field: Option<String>,
    /// The field with text.
    pub text_field: Option<String>,
    /// The field with the change time.
    pub updated_field: Option<String>,
    /// The argument that asks for changes since a time.
    pub since_argument: Option<Placed<String>>,
    /// The ontology class of the records.
    pub class: Option<String>,
    /// Record field to property.
    pub fields: BTreeMap<String, String>,
    /// How pages are asked for.
    pub pages: Option<Placed<PageCuration>>,
    /// Read once per record of another source.
    pub for_each: Option<ForEachCuration>,
    /// Edges to the records that fields name.
    pub edges: Vec<EdgeCuration>,
}

/// How pages of a list are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageCuration {
    /// There is one page.
    None,
    /// By number.
    Page {
        /// The argument with the number.
        argument: String,
        /// The argument with the size.
        size_argument: Option<String>,
        /// The first number.
        start: u64,
        /// The size to ask for.
        size: Option<u32>,
    },
    /// By the number of records read.
    Offset {
        /// The argument with the offset.
        argument: String,
        /// The argument with the size.
        size_argument: Option<String>,
        /// The size to ask for.
        size: Option<u32>,
    },
    /// By a cursor in the answer.
    Cursor {
        /// The argument with the cursor.
        argument: String,
        /// Where the cursor is in the answer; dotted.
        path: String,
        /// The argument with the size.
        size_argument: Option<String>,
        /// The size to ask for.
        size: Option<u32>,
    },
}

impl PageCuration {
    /// The arguments it names.
    pub fn arguments(&self) -> Vec<&str> {
        match self {
            Self::None => Vec::new(),
            Self::Page { argument, size_argument, .. }
            | Self::Offset { argument, size_argument, .. }
            | Self::Cursor { argument, size_argument, .. } => {
                std::iter::once(argument.as_str()).chain(size_argument.as_deref()).collect()
            }
        }
    }
}

/// A fan-out over the records of another source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForEachCuration {
    /// The other source's id.
    pub source: String,
    /// The argument that takes the value.
    pub argument: Placed<String>,
    /// The field with the value.
    pub field: String,
}

/// An edge from a record to the one that a field names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeCuration {
    /// The type of the edge.
    pub relationship: String,
    /// The field; dotted.
    pub field: String,
    /// The type of the record it leads to.
    pub target_type: String,
    /// The source whose own record is meant.
    pub target_source: Option<String>,
}

/// Fixed or default arguments as one object; a dotted name stands for a member of an object.
pub fn argument_object(list: &[(Placed<String>, Json)]) -> JsonObject {
    let mut out = JsonObject::new();
    for (name, value) in list {
        crate::json::write_dotted(&mut out, &name.value, value.clone());
    }
    out
}
