use crate::json::JsonRefusal;
use crate::refusals;

refusals! {
    /// Why a declaration of a pack is not acceptable. Each names the field by its path, for example
    /// `sources[tickets].fields[subject].property`; an item without a name of its own goes by its number.
    pub enum PackDeclarationRefusal {
        /// Not JSON.
        NotJson { refusal: JsonRefusal } => "pack_declaration_json", CallerMistake, Never,
            "the pack declaration cannot be read: {refusal}", "correct the file";
        /// Missing, unknown, or not what it must be.
        Member { field: String } => "pack_declaration_member", CallerMistake, Never,
            "`{field}` of the pack declaration is missing, unknown or not what it must be", "correct the field";
        /// A class that is no IRI, or that the ontology does not declare.
        Class { field: String } => "pack_class_unresolved", CallerMistake, Never,
            "`{field}` names a class that cannot be resolved", "name a class of the ontology by its IRI";
        /// A dictionary where a value must stand.
        Nested { field: String } => "pack_nested_property", CallerMistake, Never,
            "`{field}` is a dictionary", "declare what stands inside a record as a source of its own, and a relation to it";
        /// One thing declared twice.
        Duplicate { field: String } => "pack_duplicate_mapping", CallerMistake, Never,
            "`{field}` is declared a second time", "declare it once";
        /// A source whose records nothing identifies.
        NoKey { field: String } => "pack_key_rule_missing", CallerMistake, Never,
            "`{field}` is missing: nothing identifies a record of the source", "name the field that identifies a record";
        /// A relation to a source that is not declared.
        Target { field: String } => "pack_relation_target", CallerMistake, Never,
            "`{field}` names a source that is not declared", "declare the source, or drop the relation";
        /// A literal secret.
        Secret { field: String } => "pack_declaration_secret", CallerMistake, Never,
            "`{field}` holds a literal secret", "take it out; a credential is named by reference in the access contract";
        /// An access contract that is not acceptable; `code` is the code of its refusal.
        Contract { field: String, code: &'static str } => "pack_access_contract", CallerMistake, Never,
            "`{field}` is not an acceptable access contract ({code})", "see the code for what to do";
        /// Larger than a declaration may be.
        TooLarge { field: String, limit: usize } => "pack_declaration_too_large", CallerMistake, Never,
            "`{field}` holds more than {limit}", "declare less, or split the connector";
    }
}

refusals! {
    /// Why the generated views of a connector are not what its declaration gives.
    pub enum ViewRefusal {
        /// It is not there.
        Missing { view: &'static str } => "view_missing", CallerMistake, Never,
            "the generated view {view} is not there", "render it again";
        /// It was edited, or made from another declaration.
        Stale { view: &'static str, line: u64 } => "view_stale", CallerMistake, Never,
            "line {line} of the generated view {view} is not what the declaration gives", "render it again; change the declaration and not the view";
    }
}
