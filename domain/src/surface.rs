//! What a server shows and refuses (the models of the `ToolSurface` port), free of any MCP library.

use crate::refusals;

/// Who serves: the answer to the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurfaceIdentity {
    /// The connector's one declared name (`serverInfo.name`, SDK-CONNECTOR-CONTROL-R071).
    pub name: String,
    /// The connector's version, from its package metadata (`serverInfo.version`, R071.2).
    pub version: String,
    /// A name for people.
    pub title: Option<String>,
    /// How to use the server, for models and people.
    pub instructions: Option<String>,
}

/// What is known about the request behind an operation. It grows with the transports: today a stdio peer is whoever started
/// the process, so there is nothing more to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallScope {
    /// The protocol version the request was made under, when the transport knows it.
    pub protocol_version: Option<String>,
}

impl CallScope {
    /// A scope of one protocol version.
    pub fn of_version(protocol_version: Option<String>) -> Self {
        Self { protocol_version }
    }
}

refusals! {
    /// Why a surface does not answer. What a tool itself refuses is an answer (`isError`), not one of these.
    pub enum SurfaceRefusal {
        /// There is no such tool.
        UnknownTool { tool: String } => "surface_unknown_tool", CallerMistake, Never,
            "there is no tool `{tool}`", "use a name from tools/list";
        /// There is no such resource.
        UnknownResource { uri: String } => "surface_unknown_resource", CallerMistake, Never,
            "there is no resource {uri}", "use a URI from resources/list";
        /// The surface cannot be listed or read now.
        Unavailable { what: &'static str } => "surface_unavailable", Unavailable, Later,
            "{what} is not available now", "try again later";
    }
}
