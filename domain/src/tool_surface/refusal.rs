//! Why a surface, a call of it or a view of it is not acceptable.

use crate::refusals;

refusals! {
    /// Why a tool surface does not start. Everything named here is the connector author's own declaration.
    pub enum ToolSurfaceRefusal {
        /// A prefix that makes names which clients refuse.
        Prefix { given: String } => "tool_surface_prefix", CallerMistake, Never,
            "`{given}` gives no usable prefix for tool names",
            "declare a prefix of a letter, then letters, digits or `_`, at most 32 characters";
        /// A name that clients refuse.
        Name { tool: String } => "tool_surface_name", CallerMistake, Never,
            "`{tool}` is not a tool name that every client accepts", "use a letter, then at most 63 letters, digits, `_` or `-`";
        /// Two different tools under one name.
        Collision { tool: String, first: String, second: String } => "tool_surface_collision", CallerMistake, Never,
            "{first} and {second} would both be served as `{tool}`", "rename one of them";
        /// Something registered after the additional tools.
        Order { tool: String } => "tool_surface_order", CallerMistake, Never,
            "`{tool}` is registered after the additional tools", "register operations and registrars first, additional tools last";
        /// A word that is no HTTP method.
        UnknownVerb { operation: String } => "tool_surface_verb", CallerMistake, Never,
            "the HTTP method of `{operation}` is not known", "use GET, HEAD, POST, PUT, PATCH or DELETE";
        /// A manifest that cannot be read.
        Manifest { place: String, what: &'static str } => "tool_surface_manifest", CallerMistake, Never,
            "the operation manifest is not usable at {place}: {what}", "fix the entry it names";
        /// Two entries for one operation.
        ManifestTwice { operation: String } => "tool_surface_manifest_duplicate", CallerMistake, Never,
            "the operation manifest describes `{operation}` twice", "keep one entry";
        /// A parameter whose name cannot be an argument.
        ParameterName { tool: String, parameter: String } => "tool_surface_parameter_name", CallerMistake, Never,
            "the parameter `{parameter}` of `{tool}` has no usable argument name", "declare an argument name of letters, digits and `_`";
        /// Two parameters under one name.
        ParameterTwice { tool: String, parameter: String } => "tool_surface_parameter_duplicate", CallerMistake, Never,
            "`{tool}` would take two arguments called `{parameter}`", "give one of them another argument name";
        /// A parameter without a usable schema.
        ParameterSchema { tool: String, parameter: String } => "tool_surface_parameter_schema", CallerMistake, Never,
            "the schema of `{parameter}` of `{tool}` is not an object", "describe the parameter's type";
        /// A router that lists one action twice, or a word that is no action.
        Action { tool: String, action: String } => "tool_surface_action", CallerMistake, Never,
            "`{action}` of `{tool}` is not usable as an action", "list each action once, in letters, digits, `_` and `-`";
        /// An action that says it reads a parameter its router does not have.
        ActionParameter { tool: String, action: String, parameter: String } => "tool_surface_action_parameter", CallerMistake, Never,
            "`{action}` of `{tool}` reads `{parameter}`, which the router does not take", "declare the parameter, or fix the name";
        /// A tool whose risk nobody declared.
        Unclassified { tools: String } => "tool_surface_unclassified", Denied, Never,
            "unclassified tools prevent start-up: {tools}", "declare a risk class for each, by tool or by action";
        /// A release without a tool of the release before.
        ToolsLost { tools: String } => "tool_surface_tools_lost", Denied, Never,
            "the release would lose tools of the one before: {tools}", "keep each, split it, or cover it by an operation tool";
        /// A version that cannot stand in a description.
        Version => "tool_surface_version", CallerMistake, Never,
            "a tool version is not one short word", "write a version such as 1.2.0";
    }
}

refusals! {
    /// Why a call of a routed or untyped tool is not carried out. No argument value is repeated.
    pub enum ActionRefusal {
        /// There is no such action.
        Unknown { tool: String, close: String } => "action_unknown", CallerMistake, Never,
            "`{tool}` has no such action; close ones: {close}", "use an action that `list_actions` answers";
        /// `params_json` is too long.
        ParamsTooLong { limit: usize } => "params_json_too_long", CallerMistake, Never,
            "`params_json` has more than {limit} characters", "pass fewer parameters";
        /// `params_json` is not an object in a text.
        ParamsNotObject => "params_json_not_object", CallerMistake, Never,
            "`params_json` is not the text of a JSON object", "write an object such as {\"page\": 1}";
        /// An argument was given on its own and in `params_json`.
        ParamsTwice => "params_json_duplicate", CallerMistake, Never,
            "`params_json` repeats an argument that was given on its own", "give it once";
    }
}

refusals! {
    /// Why a caller's listing filter is not understood. Its text is not repeated: the caller made it up.
    pub enum FilterRefusal {
        /// A word that is not a name.
        Word => "listing_filter_word", CallerMistake, Never,
            "a listing filter holds a word that is no name", "separate names by commas; letters, digits and `_-.:/` only";
        /// Too many or too long.
        TooLong { limit: usize } => "listing_filter_too_long", CallerMistake, Never,
            "a listing filter is longer than {limit}", "name fewer tools";
        /// `all` widens, and a caller can only narrow.
        All => "listing_filter_all", CallerMistake, Never,
            "`all` is for the server's own policy only", "leave the filter out to see everything you may see";
    }
}
