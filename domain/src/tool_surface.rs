//! The rules of a tool surface (`wire/mcp-surface.md` section 2): from the operations of a vendor's API to the tools that
//! models see, without a server.
//!
//! An [`Operation`] says what one call of the API takes and does; [`operation_tools`] gives one tool for each, with a stable
//! name, hints, tags and a closed input schema, and refuses two tools of one name. A tool that routes an `action` is an
//! [`ActionRouter`]; [`split`] replaces it by one tool per action and reports what became of each. [`ToolRoster`] holds the
//! names of the whole surface, [`split_tool_classes`] the risk class of each, [`ListingView`] what one caller sees of it.

mod action;
mod arguments;
mod filter;
mod hints;
mod inputs;
mod manifest;
mod names;
mod operation;
mod refusal;
mod risk;
mod roster;
mod split;
mod successor;
mod value;
mod verb;
mod version;

#[cfg(test)]
mod tests;

pub use action::{ActionAnswer, ActionTable, DISCOVERY_ACTIONS, listed_actions};
pub use arguments::{MAX_PARAMS_JSON, confirmation_binding, drop_nulls, fold_body, merge_params, read_params_json};
pub use filter::{FilterField, ListingFilter, ListingPolicy, ListingView};
pub use hints::{
    ActionKind, DESTRUCTIVE_TOKENS, READ_TOKENS, action_hints, action_kind, is_destructive, operation_hints,
};
pub use inputs::{InputField, OperationInputs, output_schema};
pub use manifest::{ManifestEntry, read_manifest};
pub use names::{
    MAX_TOOL_NAME, ToolName, ToolPrefix, action_title, operation_title, snake_case, tag_is_on, toggle_name,
};
pub use operation::{Operation, OperationTool, operation_tools, untyped_tools};
pub use refusal::{ActionRefusal, FilterRefusal, ToolSurfaceRefusal};
pub use risk::{RiskDeclaration, ensure_classified, split_tool_classes, unclassified_tools};
pub use roster::{ToolOrigin, ToolRoster};
pub use split::{
    ActionRouter, ActionSplitReport, KeptReason, RouterAction, RouterActions, RouterMode, SplitEntry, SplitOutcome,
    SplitTool, split,
};
pub use successor::{SuccessorParity, SuccessorTool, successor_parity};
pub use value::ToolValue;
pub use verb::{Verb, detect_verb};
pub use version::ToolVersion;
