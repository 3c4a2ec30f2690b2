//! What holds for every input.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::*;
use super::schemas::operation;
use crate::json::{Json, JsonObject};
use crate::mcp::ToolHints;

proptest! {
    /// A name that comes out is one every client accepts, begins with the prefix once, and is stable under the rule.
    #[test]
    fn surface_names_are_accepted_and_stable(prefix in "[a-z][a-z0-9_]{0,20}[a-z0-9]", method in "\\PC{0,70}") {
        let prefix = ToolPrefix::parse(&prefix).unwrap();
        if let Ok(name) = ToolName::of_operation(&prefix, &method) {
            prop_assert!(name.as_str().len() <= MAX_TOOL_NAME);
            prop_assert!(name.as_str().starts_with(prefix.as_str()));
            prop_assert_eq!(ToolName::of_operation(&prefix, name.as_str()).unwrap(), name);
        }
    }

    /// Snake case is its own fixed point.
    #[test]
    fn surface_snake_case_is_stable(name in "\\PC{0,40}") {
        let once = snake_case(&name);
        prop_assert_eq!(snake_case(&once), once);
    }

    /// A service never gives a prefix that a declaration could not.
    #[test]
    fn surface_prefixes_are_usable(service in "\\PC{0,60}") {
        if let Ok(prefix) = ToolPrefix::of_service(&service, None) {
            prop_assert_eq!(ToolPrefix::parse(prefix.as_str()).unwrap(), prefix);
        }
    }

    /// Either every operation has a tool of its own name, or two share one and the surface is refused.
    #[test]
    fn surface_collisions_are_never_served(methods in prop::collection::vec("(desk_)?[abAB_]{1,3}", 1..8)) {
        let desk = ToolPrefix::parse("desk").unwrap();
        let operations: Vec<_> = methods.iter().map(|method| operation(method, "d", OperationInputs::default())).collect();
        let names: Option<BTreeSet<ToolName>> =
            methods.iter().map(|method| ToolName::of_operation(&desk, method).ok()).collect();
        let distinct = names.is_some_and(|names| names.len() == methods.len());
        let tools = operation_tools(&desk, &operations, &[]);
        prop_assert_eq!(tools.is_ok(), distinct);
    }

    /// No action is lost: each is served by a tool of the split, an operation or a tool that was there.
    #[test]
    fn surface_every_action_is_served(
        actions in prop::collection::btree_set("[ab]{1,2}", 1..6),
        methods in prop::collection::btree_set("[ab]{1,2}", 0..4),
        taken in prop::collection::btree_set("desk_r_[ab]{1,2}", 0..3),
    ) {
        let desk = ToolPrefix::parse("desk").unwrap();
        let operations: Vec<_> = methods.iter().map(|method| operation(method, "d", OperationInputs::default())).collect();
        let operations = operation_tools(&desk, &operations, &[]).unwrap();
        let there: BTreeSet<ToolName> = taken.iter().map(|name| ToolName::parse(name).unwrap())
            .chain(operations.iter().map(|tool| tool.name.clone())).collect();
        let listed = actions.iter()
            .map(|name| RouterAction { name: name.clone(), reads: BTreeSet::new(), operation: None }).collect();
        let router = ActionRouter {
            tool: ToolName::parse("desk_r").unwrap(),
            prefix: None,
            tags: BTreeSet::new(),
            hints: ToolHints { read_only: Some(true), ..ToolHints::default() },
            inputs: OperationInputs::default(),
            actions: RouterActions::Listed(listed),
        };
        let (tools, report) = split(&[router], RouterMode::Split, &operations, &there).unwrap();
        let new: BTreeSet<ToolName> = tools.iter().map(|tool| tool.name.clone()).collect();
        prop_assert_eq!(new.len(), tools.len());
        prop_assert!(new.is_disjoint(&there));
        for action in &actions {
            let by = ToolName::parse(report.served_by("desk_r", action).unwrap()).unwrap();
            prop_assert!(new.contains(&by) != there.contains(&by));
        }
        prop_assert!(tools.iter().all(|tool| !tool.hints.is_read_only()), "no word of these reads");
    }

    /// Folding and binding neither lose nor invent a value.
    #[test]
    fn surface_folding_keeps_every_value(names in prop::collection::btree_set("[a-d]|body|data", 0..6)) {
        let given: JsonObject = names.iter().enumerate().map(|(at, name)| (name.clone(), Json::from(at as u64))).collect();
        let folded = fold_body(&["a", "body"], false, given.clone());
        let inner = folded.get("body").and_then(Json::as_object).map_or(0, JsonObject::len);
        prop_assert_eq!(folded.len() + inner - usize::from(inner > 0), given.len());
    }

    /// A filter only narrows.
    #[test]
    fn surface_filters_only_narrow(words in "\\PC{0,40}", name in "[a-c]{1,2}", only in prop::collection::btree_set("[a-c]{1,2}", 0..4)) {
        let policy = ListingPolicy::everything().rule(FilterField::EnabledNames, only);
        let none = BTreeSet::new();
        let open = ListingView::new(&policy, Ok(ListingFilter::default()));
        let narrowed = ListingView::new(&policy, ListingFilter::read([(FilterField::EnabledNames, words.as_str())]));
        prop_assert!(!narrowed.shows(&name, &none) || open.shows(&name, &none));
    }
}
