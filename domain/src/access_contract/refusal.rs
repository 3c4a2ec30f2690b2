use crate::refusals;

refusals! {
    /// Why a text holds no acceptable access contracts. Each names the contract and the field, and shows no value.
    pub enum AccessContractRefusal {
        /// Larger than contracts may be.
        TooLarge { what: &'static str, limit: usize } => "access_contract_too_large", CallerMistake, Never,
            "the text has more than {limit} {what}", "split it";
        /// No Turtle.
        Syntax { line: u64 } => "access_contract_syntax", CallerMistake, Never,
            "line {line} is not Turtle", "correct the text; a prefix must be declared before it is used";
        /// Turtle beyond the flat form that every reader of contracts knows.
        Form { line: u64, what: &'static str } => "access_contract_form", CallerMistake, Never,
            "line {line} has {what}, which a contract may not hold", "write plain statements: IRIs, plain texts and whole numbers";
        /// A required field is not there.
        Missing { contract: String, field: &'static str } => "access_contract_incomplete", CallerMistake, Never,
            "the contract {contract} has no {field}", "state class, source, entity, key field, access kind and operation";
        /// A field with one value has several.
        Repeated { contract: String, field: &'static str } => "access_contract_repeated", CallerMistake, Never,
            "the contract {contract} states {field} more than once", "state it once";
        /// A value that its field does not take.
        Value { contract: String, field: &'static str, what: &'static str } => "access_contract_value", CallerMistake, Never,
            "{field} of the contract {contract} is not {what}", "correct the value";
        /// A protocol nobody knows.
        Kind { contract: String } => "access_contract_kind", CallerMistake, Never,
            "the contract {contract} has an unknown access kind", "use a word of the table of access kinds, for example mcp_tool";
        /// A pushdown nobody knows.
        Pushdown { contract: String } => "access_contract_pushdown", CallerMistake, Never,
            "the contract {contract} has an unknown pushdown operation", "use filter, project, limit, sort, aggregate, join or time_range";
        /// A stream that is to filter, or not to be cut by time.
        Stream { contract: String } => "access_contract_stream", CallerMistake, Never,
            "the contract {contract} reads a stream, so time_range is its one pushdown and it has no pages", "declare `time_range` alone, and how the events arrive";
        /// A literal secret.
        Secret { contract: String, field: &'static str } => "access_contract_secret", CallerMistake, Never,
            "{field} of the contract {contract} holds a literal secret, or is not a secret reference", "write a reference such as env://NAME; never the secret itself";
        /// A term that the vocabulary does not have.
        Term { contract: String } => "access_contract_term", CallerMistake, Never,
            "the contract {contract} states something under a term that the vocabulary does not have", "correct the spelling of the term";
    }
}
