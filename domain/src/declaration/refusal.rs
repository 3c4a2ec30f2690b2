//! What is wrong with a declaration, and where.

use crate::json::JsonRefusal;
use crate::refusals;

refusals! {
    /// Why a declaration is not acceptable. Paths look like `sources[0].page_size`; values are never repeated.
    pub enum DeclarationRefusal {
        /// The text is not JSON.
        NotJson { refusal: JsonRefusal } => "declaration_not_json", PeerMisbehaved, Never,
            "the declaration is not readable: {refusal}", "serve one JSON object at connector://resources";
        /// A member nobody knows.
        UnknownMember { path: String, hint: String } => "declaration_unknown_member", CallerMistake, Never,
            "{path} is not a member of a declaration{hint}", "remove it, or correct its name";
        /// A member is missing.
        Missing { path: String } => "declaration_member_missing", CallerMistake, Never,
            "{path} is missing", "add it";
        /// A member has another type.
        WrongType { path: String, expected: &'static str, found: &'static str } => "declaration_wrong_type", CallerMistake, Never,
            "{path} must be {expected}, not {found}", "correct its value";
        /// A member breaks its rule.
        BadValue { path: String, rule: &'static str } => "declaration_bad_value", CallerMistake, Never,
            "{path} {rule}", "correct its value";
        /// A text is longer or a number larger than allowed, or smaller.
        OutOfRange { path: String, low: u64, high: u64 } => "declaration_out_of_range", CallerMistake, Never,
            "{path} must be {low} to {high}", "correct its value";
        /// A word is not one of the known ones.
        UnknownWord { path: String, known: &'static str, hint: String } => "declaration_unknown_word", CallerMistake, Never,
            "{path} must be one of {known}{hint}", "use one of these words";
        /// Two sources share an id.
        DuplicateSource { source: String } => "declaration_duplicate_source", CallerMistake, Never,
            "two sources are named `{source}`", "give each source its own source_id";
        /// The parent of a fan-out is not declared.
        UnknownParent { source: String, parent: String, hint: String } => "declaration_unknown_parent", CallerMistake, Never,
            "the source `{source}` fans out over `{parent}`, which is not declared{hint}", "declare the parent source";
        /// Fan-outs lead back to themselves.
        ForEachCycle { source: String } => "declaration_for_each_cycle", CallerMistake, Never,
            "the fan-out of `{source}` leads back to itself", "break the cycle";
        /// A mapping names a field set that is not there.
        UnknownFieldSet { path: String, hint: String } => "declaration_unknown_field_set", CallerMistake, Never,
            "{path} is not a declared field set{hint}", "declare the set in FIELD_SETS";
        /// A schema version this release does not read.
        SchemaVersion { path: String } => "declaration_schema_version", CallerMistake, Never,
            "{path} must be 1 or 2", "use a known SCHEMA_VERSION";
        /// A source names a tool nobody registered.
        UnknownTool { source: String, tool: String, hint: String } => "declaration_unknown_tool", CallerMistake, Never,
            "the source `{source}` names the tool `{tool}`, which is not registered{hint}", "name a registered tool";
        /// A source names a tool that is not read-only.
        ToolNotReadOnly { source: String, tool: String } => "declaration_tool_not_read_only", CallerMistake, Never,
            "the source `{source}` names the tool `{tool}`, which is not marked read-only", "set readOnlyHint on the tool if it only reads";
        /// Two places map one record type differently.
        MappingConflict { record_type: String } => "declaration_mapping_conflict", CallerMistake, Never,
            "the record type `{record_type}` is mapped in two different ways", "map it once";
        /// The connector names itself in no way, in several ways, or wrongly.
        Identity { found: usize } => "connector_identity", CallerMistake, Never,
            "the package declares {found} valid connector names; exactly one is needed", "declare the fleet name once";
        /// The server declares another connector than the configured one.
        OtherConnector { configured: String, declared: String } => "declaration_other_connector", CallerMistake, Never,
            "the server declares the connector `{declared}`, not `{configured}`", "correct `connector`, or point the endpoint at the right server";
        /// Nothing to sync.
        NoPreset { connector: String } => "declaration_no_preset", CallerMistake, Never,
            "`{connector}` declares no source with a preset, so there is nothing to sync", "give a source a `preset` (an empty object will do)";
        /// A configured preset is not declared.
        UnknownPreset { preset: String, hint: String } => "declaration_unknown_preset", CallerMistake, Never,
            "the server declares no sync preset `{preset}`{hint}", "use one of the declared presets, or leave `presets` out to sync all";
        /// An update would trigger a preset that is not selected.
        TriggerNotSelected { preset: String } => "declaration_trigger_not_selected", CallerMistake, Never,
            "data_resources triggers the preset `{preset}`, which is not selected", "add it to `presets`, or drop the trigger";
        /// A mapping reference of another scheme or connector.
        ForeignMapping { connector: String } => "mapping_reference_foreign", CallerMistake, Never,
            "mapping_reference is not a reference of the connector `{connector}`", "write connector:<connector>#mappings/<record type>";
        /// A mapping reference names a mapping that is not declared.
        UnknownMapping { record_type: String, hint: String } => "mapping_reference_unknown", CallerMistake, Never,
            "the declaration has no mapping for `{record_type}`{hint}", "declare it in schema_mappings, or correct mapping_reference";
        /// The short form needs one mapping and there is none.
        NoMapping { preset: String } => "mapping_none", CallerMistake, Never,
            "the declaration has no mapping at all, so no record of `{preset}` can be admitted", "declare the record type in schema_mappings";
        /// The short form needs one mapping and there are several.
        SeveralMappings { preset: String, count: usize } => "mapping_ambiguous", CallerMistake, Never,
            "which of {count} mappings the records of `{preset}` use is not said", "declare the source's record type in schema_mappings, or set mapping_reference";
    }
}

impl From<JsonRefusal> for DeclarationRefusal {
    fn from(refusal: JsonRefusal) -> Self {
        Self::NotJson { refusal }
    }
}

/// Text taken from a document, shortened so that a message stays one line: at most 64 characters, controls escaped.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(64).flat_map(char::escape_debug).collect();
    if text.chars().nth(64).is_some() {
        out.push('…');
    }
    out
}

/// ` (did you mean …?)` when a known word is close enough to be meant; empty otherwise.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    if word.len() > 128 {
        return String::new();
    }
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, candidate)| format!(" (did you mean `{}`?)", shown(candidate)))
}
