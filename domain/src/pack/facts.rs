//! What is promised of a tool: whether it changes anything, what it takes, and how much its description costs to read.

use std::collections::BTreeSet;

use super::annotation_json::{ANNOTATIONS_KEY, Members, bad};
use super::{PackRefusal, ReadableForm};
use crate::json::{Json, JsonObject};
use crate::mcp::ToolDescription;
use crate::refusals;
use crate::tool_surface::is_destructive;

/// How many bytes of a tool's canonical body count as one token. A named estimate: a measured count may take its place.
pub const BYTES_PER_TOKEN: usize = 4;

/// What a call changes. Closed (R045.2 of connector control).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SideEffect {
    /// Nothing; never beside another.
    None,
    /// Files or state of the caller's own workspace.
    WorkspaceWrite,
    /// Something outside.
    ExternalWrite,
    /// It reaches a network.
    Network,
}

/// Who said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeclaredBy {
    /// The connector's author, under `eg.annotations`.
    Connector,
    /// The tool's own MCP hints: a claim about itself, to be proved by a fixture.
    McpHint,
    /// Nobody: the safe value.
    Default,
}

refusals! {
    /// Why something is no contract of a tool.
    pub enum ToolFactsRefusal {
        /// A tool that writes and does not.
        ReadOnlyWrites => "tool_facts_read_only_writes", CallerMistake, Never,
            "a tool that only reads writes nothing", "leave read_only out, or the write";
        /// Nothing beside something.
        NoneBeside => "tool_facts_none_beside", CallerMistake, Never,
            "`none` stands alone in side_effects", "leave `none` out, or the others";
        /// No statement at all.
        Empty => "tool_facts_empty", CallerMistake, Never,
            "side_effects names nothing", "write `none`, or what the tool changes";
    }
}

/// The contract of a tool for those who choose and run tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolContractFacts {
    read_only: bool,
    side_effects: BTreeSet<SideEffect>,
    arg_schema: JsonObject,
    schema_tokens: u64,
    declared_by: DeclaredBy,
    readable_form: Option<ReadableForm>,
}

impl SideEffect {
    /// Every effect.
    pub const ALL: [Self; 4] = [Self::None, Self::WorkspaceWrite, Self::ExternalWrite, Self::Network];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::WorkspaceWrite => "workspace_write",
            Self::ExternalWrite => "external_write",
            Self::Network => "network",
        }
    }

    /// Reads it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == text)
    }

    /// Whether something is different afterwards.
    pub const fn writes(self) -> bool {
        matches!(self, Self::WorkspaceWrite | Self::ExternalWrite)
    }
}

impl DeclaredBy {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connector => "connector",
            Self::McpHint => "mcp_hint",
            Self::Default => "default",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Connector, Self::McpHint, Self::Default].into_iter().find(|by| by.as_str() == text)
    }
}

/// The tokens of a tool's description: the bytes of its canonical body by [`BYTES_PER_TOKEN`], rounded up.
pub const fn schema_tokens(canonical_body: &[u8]) -> u64 {
    canonical_body.len().div_ceil(BYTES_PER_TOKEN) as u64
}

impl ToolContractFacts {
    /// Facts that agree with each other: a tool that only reads writes nothing, and `none` stands alone.
    pub fn new(
        read_only: bool,
        side_effects: BTreeSet<SideEffect>,
        arg_schema: JsonObject,
        schema_tokens: u64,
        declared_by: DeclaredBy,
    ) -> Result<Self, ToolFactsRefusal> {
        if side_effects.is_empty() {
            return Err(ToolFactsRefusal::Empty);
        }
        if read_only && side_effects.iter().any(|effect| effect.writes()) {
            return Err(ToolFactsRefusal::ReadOnlyWrites);
        }
        if side_effects.contains(&SideEffect::None) && side_effects.len() > 1 {
            return Err(ToolFactsRefusal::NoneBeside);
        }
        Ok(Self { read_only, side_effects, arg_schema, schema_tokens, declared_by, readable_form: None })
    }

    /// The same with a text form.
    #[must_use]
    pub fn with_readable_form(mut self, form: Option<ReadableForm>) -> Self {
        self.readable_form = form;
        self
    }

    /// The facts of a listed tool. What its author declared goes first, then its hints, then the safe value: it writes outside.
    /// A name alone never makes a tool read-only; a name that says it destroys, and no hint that says it does not, makes it one
    /// that writes.
    pub fn of_tool(uri: &str, tool: &ToolDescription, canonical_body: &[u8]) -> Result<Self, PackRefusal> {
        let arg_schema = tool.input_schema.as_object().cloned().unwrap_or_default();
        let tokens = schema_tokens(canonical_body);
        let (declared, form) = read_declared(uri, &tool.meta)?;
        let said = declared_read_only(&tool.meta);
        let destroys = is_destructive(&tool.name, None, tool.hints.destructive);
        let external = || BTreeSet::from([SideEffect::ExternalWrite]);
        let read_effects = || {
            let reaches = tool.hints.open_world == Some(true);
            BTreeSet::from([if reaches { SideEffect::Network } else { SideEffect::None }])
        };
        let read_only = said.or(tool.hints.read_only);
        let by = if declared.is_some() || said.is_some() {
            DeclaredBy::Connector
        } else if read_only.is_some() || tool.hints.destructive.is_some() {
            DeclaredBy::McpHint
        } else {
            DeclaredBy::Default
        };
        let (read_only, effects) = match (declared, destroys) {
            (Some(effects), true) if !effects.iter().any(|effect| effect.writes()) => {
                return Err(bad(uri, "side effects without a write, of a tool that destroys"));
            }
            (Some(effects), _) => {
                let reads = read_only.unwrap_or_else(|| !effects.iter().any(|effect| effect.writes()));
                (reads && !destroys, effects)
            }
            (None, false) if read_only == Some(true) => (true, read_effects()),
            (None, _) => (false, external()),
        };
        let facts = Self::new(read_only, effects, arg_schema, tokens, by);
        let contradiction = |refusal| match refusal {
            ToolFactsRefusal::ReadOnlyWrites => bad(uri, "a write, of a tool that only reads"),
            ToolFactsRefusal::NoneBeside => bad(uri, "`none` beside other side effects"),
            ToolFactsRefusal::Empty => bad(uri, "an empty list of side effects"),
        };
        Ok(facts.map_err(contradiction)?.with_readable_form(form))
    }

    /// Whether a call changes nothing.
    pub const fn read_only(&self) -> bool {
        self.read_only
    }

    /// What a call changes; never empty.
    pub const fn side_effects(&self) -> &BTreeSet<SideEffect> {
        &self.side_effects
    }

    /// The schema of its arguments, as served.
    pub const fn arg_schema(&self) -> &JsonObject {
        &self.arg_schema
    }

    /// The tokens of its description.
    pub const fn schema_tokens(&self) -> u64 {
        self.schema_tokens
    }

    /// Who said so.
    pub const fn declared_by(&self) -> DeclaredBy {
        self.declared_by
    }

    /// The text form of what it answers.
    pub const fn readable_form(&self) -> Option<&ReadableForm> {
        self.readable_form.as_ref()
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let effects: Vec<Json> = self.side_effects.iter().map(|effect| Json::from(effect.as_str())).collect();
        let mut out = JsonObject::from([
            ("read_only".to_owned(), Json::from(self.read_only)),
            ("side_effects".to_owned(), effects.into()),
            ("arg_schema".to_owned(), self.arg_schema.clone().into()),
            ("schema_tokens".to_owned(), self.schema_tokens.into()),
            ("declared_by".to_owned(), Json::from(self.declared_by.as_str())),
        ]);
        if let Some(form) = &self.readable_form {
            out.insert("readable_form".to_owned(), form.to_json());
        }
        Json::Object(out)
    }

    /// Reads them back.
    pub fn from_json(uri: &str, value: &Json) -> Result<Self, PackRefusal> {
        let members = ["read_only", "side_effects", "arg_schema", "schema_tokens", "declared_by", "readable_form"];
        let read = Members::of(uri, value, &members)?;
        let needed = || bad(uri, "facts without a member they need");
        let schema = read.get("arg_schema").and_then(Json::as_object).ok_or_else(needed)?.clone();
        let by = read.text("declared_by")?.and_then(DeclaredBy::parse).ok_or_else(needed)?;
        let facts = Self::new(
            read.flag("read_only")?.ok_or_else(needed)?,
            read_effects(uri, &read)?.ok_or_else(needed)?,
            schema,
            read.number("schema_tokens")?.ok_or_else(needed)?,
            by,
        );
        let form = read.get("readable_form").map(|form| ReadableForm::from_json(uri, form)).transpose()?;
        Ok(facts.map_err(|_| bad(uri, "facts that contradict each other"))?.with_readable_form(form))
    }
}

fn declared_read_only(meta: &JsonObject) -> Option<bool> {
    meta.get(ANNOTATIONS_KEY)?.get("read_only_hint")?.as_bool()
}

type Declared = (Option<BTreeSet<SideEffect>>, Option<ReadableForm>);

/// What stands beside the closed map under `eg.annotations`.
fn read_declared(uri: &str, meta: &JsonObject) -> Result<Declared, PackRefusal> {
    let Some(Json::Object(members)) = meta.get(ANNOTATIONS_KEY) else { return Ok((None, None)) };
    let mut own = members.clone();
    own.retain(|name, _| super::annotation_json::FACT_MEMBERS.contains(&name.as_str()));
    let own = Json::Object(own);
    let read = Members::of(uri, &own, &super::annotation_json::FACT_MEMBERS)?;
    let form = read.get("readable_form").map(|form| ReadableForm::from_json(uri, form)).transpose()?;
    Ok((read_effects(uri, &read)?, form))
}

fn read_effects(uri: &str, read: &Members<'_>) -> Result<Option<BTreeSet<SideEffect>>, PackRefusal> {
    if read.get("side_effects").is_none() {
        return Ok(None);
    }
    let known = |text: &String| SideEffect::parse(text).ok_or_else(|| bad(uri, "a side effect that is not known"));
    read.list("side_effects")?.iter().map(known).collect::<Result<_, _>>().map(Some)
}
