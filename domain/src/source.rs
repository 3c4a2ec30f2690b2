//! What a source of records says and asks (the models of the `SourceAdapter` port).

use crate::id::{ConnectorName, Digest256, RecordId, StreamName};
use crate::json::{Json, JsonObject};
use crate::model::IngestMode;
use crate::refusals;

/// What a source is and can do; declared once, tested from both sides by the port suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDescription {
    /// The connector.
    pub connector: ConnectorName,
    /// The stream its records belong to.
    pub stream: StreamName,
    /// It can answer "what changed since the watermark".
    pub delta: bool,
    /// It can list everything that is live.
    pub reconcile: bool,
}

/// The live contract of a source, for the drift gate and provenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceContract {
    /// `{type: object, properties: {input, output}}` of the live tool.
    pub schema: Json,
    /// The fields that identify a record.
    pub identifier_fields: Vec<String>,
    /// The compatibility fingerprint of the live tool.
    pub fingerprint: Digest256,
}

/// Which page to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// `{}` for the first page, else a `next_position` of this source.
    pub position: Json,
    /// The accepted watermark; a source with `delta` may use it to ask for changes only.
    pub watermark: Option<String>,
}

/// One record as the source gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// Its vendor identity.
    pub id: RecordId,
    /// Its fields.
    pub payload: JsonObject,
    /// Its change time as text, when the source declares one.
    pub updated_at: Option<String>,
}

/// One edge as the source gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRelationship {
    /// From: an id of this stream.
    pub source: RecordId,
    /// To: an id of this stream.
    pub target: RecordId,
    /// Its name.
    pub relation: String,
    /// Its properties.
    pub properties: JsonObject,
}

/// One page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePage {
    /// Full, delta or reconcile; `None` means full.
    pub mode: Option<IngestMode>,
    /// Records after the source's own filtering.
    pub records: Vec<RawRecord>,
    /// Records before any filtering: the number that decides about the end of paging.
    pub raw_count: usize,
    /// Edges the source states itself.
    pub relationships: Vec<RawRelationship>,
    /// Records it says are gone, with the reason.
    pub withdrawals: Vec<(RecordId, String)>,
    /// Everything that is live, in a reconcile page.
    pub live_ids: Option<Vec<RecordId>>,
    /// A digest the source vouches for.
    pub content_hash: Option<Digest256>,
    /// A watermark the source hands out itself (`checkpoint_path`).
    pub watermark: Option<String>,
    /// Where the next page starts; `None` when the sweep is exhausted.
    pub next_position: Option<Json>,
}

refusals! {
    /// Why a source gave no page.
    pub enum SourceRefusal {
        /// The session failed.
        Session { refusal: crate::mcp::McpRefusal } => "source_session", Unavailable, Later,
            "{refusal}", "see the session's own refusal";
        /// The source is not declared.
        UnknownSource { source: String } => "unknown_source", CallerMistake, Never,
            "the server declares no source `{source}`", "use one of the sources in connector://resources";
        /// The parent of a fan-out is not declared.
        UnknownParent { source: String, parent: String } => "unknown_parent_source", CallerMistake, Never,
            "the source `{source}` fans out over `{parent}`, which is not declared", "declare the parent source";
        /// Fan-outs lead back to themselves.
        ForEachCycle { source: String } => "for_each_cycle", CallerMistake, Never,
            "the fan-out of `{source}` leads back to itself", "break the cycle in the declaration";
        /// More parents than the bound.
        FanOutExceeded { source: String, limit: usize } => "fan_out_exceeded", CallerMistake, Never,
            "the source `{source}` fans out over more than {limit} parents", "raise max_fan_out, or page the source by another key";
        /// The parent has more pages than the bound.
        ParentBudget { parent: String, pages: usize } => "parent_budget_exhausted", CallerMistake, Never,
            "the parent source `{parent}` did not end within {pages} pages", "raise max_pages of the parent";
        /// The tool does not say it is read-only.
        NotReadOnly { tool: String } => "not_read_only", Denied, Never,
            "the tool `{tool}` is not marked read-only, so it is not a source", "set readOnlyHint on the tool if it only reads";
        /// The tool is not there.
        ToolMissing { tool: String } => "source_tool_missing", PeerMisbehaved, Never,
            "the server does not list the tool `{tool}` that its declaration names", "fix the declaration or the server";
        /// The result is larger, deeper or otherwise not readable JSON.
        Unreadable { tool: String, refusal: crate::json::JsonRefusal } => "source_page_unreadable", PeerMisbehaved, Never,
            "the result of `{tool}` is not readable: {refusal}", "fix the tool or ask for smaller pages";
        /// There is no list where the declaration says.
        NoRecords { tool: String, path: String } => "source_records_missing", PeerMisbehaved, Never,
            "the result of `{tool}` has no list of records at `{path}`", "set records_path to where the list is";
        /// A record is not an object.
        NotAnObject { tool: String, index: usize } => "source_record_not_object", PeerMisbehaved, Never,
            "record {index} of `{tool}` is not an object", "fix the tool, or set records_path to the list of objects";
        /// A record has no usable id.
        NoId { tool: String, index: usize, field: String } => "source_record_without_id", PeerMisbehaved, Never,
            "record {index} of `{tool}` has no text or number at `{field}`", "set id_field to a field every record has";
        /// An id is not acceptable.
        BadId { tool: String, index: usize, refusal: crate::id::IdRefusal } => "source_record_bad_id", PeerMisbehaved, Never,
            "record {index} of `{tool}`: {refusal}", "fix the ids the tool hands out";
        /// Two records of a page share an id.
        DuplicateId { tool: String, index: usize } => "source_duplicate_id", PeerMisbehaved, Never,
            "record {index} of `{tool}` repeats an id of its page", "choose an id_field that is unique";
        /// A page hands back a position seen before.
        PositionRepeats { tool: String } => "source_position_repeats", PeerMisbehaved, Never,
            "`{tool}` hands out a page position it handed out before", "fix the tool's paging: it loops";
        /// `has_more` says yes and there is no cursor.
        CursorMissing { tool: String } => "source_cursor_missing", PeerMisbehaved, Never,
            "`{tool}` says there is more and names no cursor", "fix the tool's paging";
        /// A member of a page has the wrong type.
        BadMember { tool: String, path: String, expected: &'static str } => "source_bad_member", PeerMisbehaved, Never,
            "the result of `{tool}` has no {expected} at `{path}`", "fix the tool or the preset";
        /// A record has a field that a strict preset does not declare. Field names of records are payload: not repeated.
        UndeclaredField { tool: String, index: usize } => "source_field_undeclared", PeerMisbehaved, Never,
            "record {index} of `{tool}` has a field that is neither in content_fields nor in metadata_fields",
            "declare the field, or turn strict_schema off";
        /// Cursors go on and records do not come.
        EmptyPages { tool: String, pages: u64 } => "source_empty_pages", PeerMisbehaved, Never,
            "`{tool}` goes on handing out cursors after {pages} empty pages in a row", "fix the tool's paging: the last page names no cursor";
        /// A page is not of the mode the preset allows.
        BadMode { tool: String } => "source_bad_mode", PeerMisbehaved, Never,
            "`{tool}` sends withdrawals outside a delta page", "send withdrawals only in answers to a since parameter";
        /// Too many records in a page.
        PageTooLong { tool: String, count: usize, limit: usize } => "source_page_too_long", PeerMisbehaved, Never,
            "a page of `{tool}` has {count} records; at most {limit} are taken", "ask for smaller pages";
        /// The request itself is not one this source understands.
        BadPosition { what: &'static str } => "source_bad_position", CallerMistake, Never,
            "the stored position is not one of this source: {what}", "reset the stream";
    }
}

impl From<crate::mcp::McpRefusal> for SourceRefusal {
    fn from(refusal: crate::mcp::McpRefusal) -> Self {
        Self::Session { refusal }
    }
}

impl SourceRefusal {
    /// The most specific code: of the wrapped refusal where there is one.
    pub fn leaf_code(&self) -> &'static str {
        use crate::refusal::Refusal as _;
        match self {
            Self::Session { refusal } => refusal.code(),
            other => other.code(),
        }
    }

    /// Whether a later attempt can help, looking through the wrapper.
    pub fn can_retry(&self) -> bool {
        use crate::refusal::{Refusal as _, Retry};
        match self {
            Self::Session { refusal } => refusal.retry() != Retry::Never,
            _ => false,
        }
    }
}
