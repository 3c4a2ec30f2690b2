//! Risk classes: who declared how dangerous a tool is (SDK-CONNECTOR-CONTROL-R020.5).

use std::collections::{BTreeMap, BTreeSet};

use super::{ActionKind, ActionSplitReport, SplitOutcome, ToolSurfaceRefusal, action_kind};

/// What a connector declares about a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RiskDeclaration {
    /// One class for the whole tool.
    Tool(String),
    /// A class for each action; an action that is not named has none.
    Actions(BTreeMap<String, String>),
}

/// The class of each split tool: its own action's, else its router's single one. A class in `read_classes` passes from a
/// router only to an action whose words say that it reads, so that nothing becomes harmless by inheritance.
pub fn split_tool_classes(
    declared: &BTreeMap<String, RiskDeclaration>,
    read_classes: &BTreeSet<String>,
    report: &ActionSplitReport,
) -> BTreeMap<String, String> {
    let mut classes = BTreeMap::new();
    for entry in report.entries.iter().filter(|entry| entry.outcome == SplitOutcome::Split) {
        let Some(action) = &entry.action else { continue };
        let class = match declared.get(&entry.router) {
            Some(RiskDeclaration::Actions(by_action)) => by_action.get(action),
            Some(RiskDeclaration::Tool(class)) => {
                Some(class).filter(|class| !read_classes.contains(*class) || action_kind(action) == ActionKind::Read)
            }
            None => None,
        };
        if let Some(class) = class {
            classes.insert(entry.split.clone(), class.clone());
        }
    }
    classes
}

/// The served tools without a class: neither inherited nor declared for the tool itself. Sorted by name.
pub fn unclassified_tools<'a>(
    served: impl IntoIterator<Item = &'a str>,
    declared: &BTreeMap<String, RiskDeclaration>,
    classes: &BTreeMap<String, String>,
) -> BTreeSet<&'a str> {
    let has_class = |tool: &str| {
        classes.contains_key(tool)
            || matches!(declared.get(tool), Some(RiskDeclaration::Tool(class)) if !class.is_empty())
    };
    served.into_iter().filter(|tool| !has_class(tool)).collect()
}

/// Refuses to start while a served tool has no class.
pub fn ensure_classified<'a>(
    served: impl IntoIterator<Item = &'a str>,
    declared: &BTreeMap<String, RiskDeclaration>,
    classes: &BTreeMap<String, String>,
) -> Result<(), ToolSurfaceRefusal> {
    let missing = unclassified_tools(served, declared, classes);
    if missing.is_empty() {
        return Ok(());
    }
    Err(ToolSurfaceRefusal::Unclassified { tools: missing.into_iter().collect::<Vec<_>>().join(", ") })
}
