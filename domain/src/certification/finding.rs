use crate::refusals;

refusals! {
    /// Why a server cannot be certified at all: it was not listed. The exit code is 2.
    pub enum CertificationRefusal {
        /// The server was not reached, or did not answer.
        Server { what: String } => "certify_not_listed", PeerMisbehaved, Never,
            "the server could not be listed: {what}", "run the server by hand, or raise --timeout";
        /// There is no declaration.
        NoDeclaration { what: String } => "certify_no_declaration", PeerMisbehaved, Never,
            "connector://resources cannot be read: {what}", "serve the declaration at connector://resources";
        /// The declaration is not acceptable.
        BadDeclaration { what: String } => "certify_bad_declaration", PeerMisbehaved, Never,
            "the declaration is not acceptable: {what}", "correct the declaration in the connector";
        /// It declares nothing to certify.
        NoPreset { connector: String } => "certify_no_preset", PeerMisbehaved, Never,
            "`{connector}` declares no source with a preset", "give a source a `preset` (an empty object will do)";
        /// Its presets are of more than one MCP server.
        SeveralServers { count: usize, first: String, second: String } => "certify_several_servers", PeerMisbehaved, Never,
            "the presets name {count} MCP servers, `{first}` and `{second}` among them", "declare the presets of one server in one connector";
        /// Everything together took too long.
        Timeout { seconds: u64 } => "certify_timeout", Unavailable, Later,
            "listing and declaration took longer than {seconds} s", "raise --timeout, or find out why the server is slow";
    }
}

refusals! {
    /// What is wrong with a tool or a part of a connector that is certified. The exit code is 1.
    pub enum CertificationFinding {
        /// The tool of a preset is not listed.
        ToolMissing { tool: String } => "certify_tool_missing", PeerMisbehaved, Never,
            "the server lists no tool `{tool}`", "serve the tool, or name a listed one in the source";
        /// It is listed more than once.
        ToolTwice { tool: String, count: usize } => "certify_tool_twice", PeerMisbehaved, Never,
            "the server lists `{tool}` {count} times", "give each tool a name of its own";
        /// It has no contract.
        NoContract { what: String } => "certify_no_contract", PeerMisbehaved, Never,
            "{what}", "serve JSON Schema objects that say something";
        /// It is not marked as read-only.
        NotReadOnly { tool: String } => "certify_not_read_only", PeerMisbehaved, Never,
            "`{tool}` is not marked as read-only, so no source may call it", "set readOnlyHint if the tool only reads, else name another";
        /// The argument for the action is missing or is no text.
        ActionArgument { tool: String, argument: String } => "certify_action_argument", PeerMisbehaved, Never,
            "`{tool}` has no text argument `{argument}` for the action", "correct `action_param` of the preset, or the tool";
        /// Which actions there are is not said.
        ActionOpen { tool: String, argument: String } => "certify_action_open", PeerMisbehaved, Never,
            "`{argument}` of `{tool}` takes any text, so no action is promised", "enumerate the actions in the input schema";
        /// The action is not one of them.
        ActionUnknown { tool: String, action: String } => "certify_action_unknown", PeerMisbehaved, Never,
            "`{tool}` has no action `{action}`", "correct `action` of the preset, or serve the action";
        /// The argument for the JSON text of the parameters is missing or is no text.
        ParamsArgument { tool: String, argument: String } => "certify_params_argument", PeerMisbehaved, Never,
            "`{tool}` has no text argument `{argument}` for its parameters", "set `params_style` to args, or name the argument in `params_arg`";
        /// The preset passes an argument that the tool does not take.
        UnknownArgument { preset: String, tool: String, argument: String } => "certify_unknown_argument", PeerMisbehaved, Never,
            "the preset `{preset}` passes `{argument}`, which `{tool}` does not take", "correct the preset's parameters, or the tool";
        /// The tool requires an argument that the preset does not pass.
        MissingArgument { preset: String, tool: String, argument: String } => "certify_missing_argument", PeerMisbehaved, Never,
            "`{tool}` requires `{argument}`, which the preset `{preset}` does not pass", "add it to `arguments` or `params` of the source";
        /// No call can be made from the preset.
        Uncallable { preset: String, what: String } => "certify_uncallable", PeerMisbehaved, Never,
            "no call can be made from the preset `{preset}`: {what}", "correct the preset";
        /// The server's name for itself, or another identity, does not agree.
        OtherConnector { expected: String, declared: String } => "certify_other_connector", PeerMisbehaved, Never,
            "the server declares `{declared}`, not `{expected}`", "point the endpoint at the right server";
        /// A pinned contract is another one now.
        PinChanged { tool: String, side: &'static str } => "certify_pin_changed", PeerMisbehaved, Never,
            "the {side} of `{tool}` is not the one that was pinned", "look at what changed; when it is meant, certify it again and keep the new report";
        /// A pinned tool is not certified any more.
        PinGone { tool: String } => "certify_pin_gone", PeerMisbehaved, Never,
            "`{tool}` was pinned and is not certified now", "serve it again; when it is meant to go, keep the new report";
        /// A parameter that the fingerprint cannot see.
        BlindSpot { tool: String, at: String } => "certify_blind_spot", PeerMisbehaved, Never,
            "the fingerprint of `{tool}` does not see the parameter at {at}", "rename the parameter; the installed base cannot see one of this name";
    }
}
