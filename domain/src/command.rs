//! What the commands refuse before they reach a use case.

use crate::refusals;

refusals! {
    /// Why `connector-sync` or `scion` does not do what its command line asks.
    pub enum CommandRefusal {
        /// The command line cannot be understood.
        Usage { what: String } => "usage", CallerMistake, Never,
            "{what}", "see --help";
        /// No sink of that name is built in.
        UnknownSink { name: String, known: String } => "sink_unknown", CallerMistake, Never,
            "there is no sink `{name}`; known: {known}", "pass --sink with one of the known names";
        /// The sink cannot do what the command needs.
        SinkLacks { name: String, what: &'static str } => "sink_lacks", CallerMistake, Never,
            "the sink `{name}` cannot {what}", "ask the system behind it instead";
        /// A directory for state cannot be made.
        StateDir { path: String, what: &'static str } => "state_dir_unusable", CallerMistake, Never,
            "the state directory {path} cannot be used: {what}", "pass --state-dir with a directory you may write to";
        /// Nothing was synchronised into this place yet.
        NoStore { path: String } => "store_missing", CallerMistake, Never,
            "there is no store at {path}", "run connector-sync first, or pass the --state-dir it used";
        /// Another process synchronises into the same place.
        StateDirBusy { path: String } => "state_dir_busy", Unavailable, Later,
            "another connector-sync works in {path}", "wait for it to end, or pass another --state-dir";
        /// The health listener cannot be opened.
        HealthBind { address: String, what: &'static str } => "health_bind_failed", CallerMistake, Never,
            "the health listener cannot bind {address}: {what}", "choose a free port and an address of this machine";
        /// The runtime of the process cannot be started.
        Runtime => "runtime_failed", Unavailable, Later,
            "the process cannot start its threads", "check the limits on threads and open files";
        /// Nobody knows this code.
        UnknownCode { code: String, hint: String } => "code_unknown", CallerMistake, Never,
            "no refusal has the code `{code}`; {hint}", "copy the code from between the brackets of `error[…]`";
        /// The graph knows no such stream.
        UnknownStream { connector: String, stream: String, known: String } => "stream_unknown", CallerMistake, Never,
            "{connector} has no stream `{stream}`; known: {known}", "see `scion status`";
        /// A query file cannot be read.
        QueryFile { path: String, what: &'static str } => "query_file_unreadable", CallerMistake, Never,
            "{path} cannot be read: {what}", "check the path, or pass the query as an argument";
        /// The description of an API cannot be read.
        DocumentFile { path: String, what: &'static str } => "document_unreadable", CallerMistake, Never,
            "{path} cannot be read: {what}", "check the path and its permissions";
        /// A file that the command line names cannot be read.
        InputFile { path: String, what: &'static str } => "input_unreadable", CallerMistake, Never,
            "{path} cannot be read: {what}", "check the path and its permissions";
        /// A report cannot be written.
        ReportFile { path: String, what: &'static str } => "report_unwritable", CallerMistake, Never,
            "the report {path} cannot be written: {what}", "name a file in a folder you may write to";
        /// A file cannot be written.
        OutputFile { path: String, what: &'static str } => "output_unwritable", CallerMistake, Never,
            "{path} cannot be written: {what}", "name a file in a folder you may write to";
        /// The answer has another shape than the format can carry.
        FormatUnfit { format: &'static str, shape: &'static str } => "format_unfit", CallerMistake, Never,
            "{format} cannot carry {shape}", "use table, or json and csv for SELECT and ASK, turtle for CONSTRUCT and DESCRIBE";
        /// The output cannot be written.
        Output { what: &'static str } => "output_failed", Unavailable, Later,
            "the output cannot be written: {what}", "check where it goes";
        /// The name of a new connector cannot be used.
        ProjectName { name: String, what: &'static str } => "project_name_invalid", CallerMistake, Never,
            "`{name}` {what}", "choose a name such as github-mcp";
        /// Something is there already.
        ProjectExists { path: String } => "project_exists", CallerMistake, Never,
            "{path} exists already", "choose another name, or pass --dir";
        /// The package cannot be written.
        ProjectWrite { path: String, what: &'static str } => "project_unwritable", CallerMistake, Never,
            "{path} cannot be made: {what}", "pass --dir with a folder you may write to";
        /// A defect of this program.
        Internal { place: String } => "internal_error", Unavailable, Never,
            "this program has a defect at {place}", "report it with the command line; what was committed is safe";
    }
}
