//! Routers, risk classes, the roster and successors.

use std::collections::{BTreeMap, BTreeSet};

use super::super::*;
use super::schemas::operation;
use super::{hints_of, plain, tag_set, texts, vectors};
use crate::json::{Json, parse};
use crate::mcp::ToolHints;
use crate::refusal::Refusal as _;
use crate::test_vectors::text;

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn field(name: &str, kind: &str, default: &str) -> InputField {
    InputField::optional(name, Json::from([("type", kind.into())]), parse(default).unwrap())
}

fn router(tool: &str, hints: ToolHints, inputs: OperationInputs, actions: RouterActions) -> ActionRouter {
    let tool = ToolName::parse(tool).unwrap();
    ActionRouter { tool, prefix: None, tags: set(&["gated", "granular", "rooms"]), hints, inputs, actions }
}

fn action(name: &str, reads: &[&str]) -> RouterAction {
    RouterAction { name: name.to_owned(), reads: set(reads), operation: None }
}

/// The routers of the fixture.
fn routers() -> Vec<ActionRouter> {
    let inputs = OperationInputs::of(vec![
        field("room_id", "integer", "0"),
        field("when", "string", "\"\""),
        field("note", "string", "\"n\""),
    ]);
    let rooms = vec![
        action("list_rooms", &[]),
        action("book", &["room_id", "when"]),
        action("cancel_booking", &["room_id"]),
        action("show_plan", &["room_id", "when", "note"]),
        action("help", &[]),
    ];
    let closed = ToolHints { read_only: Some(false), open_world: Some(false), ..ToolHints::default() };
    let schema = Json::from([("type", "string".into()), ("description", "One of: alpha, `beta`, gamma.".into())]);
    let listed = listed_actions(&schema).unwrap().iter().map(|name| action(name, &[])).collect();
    vec![
        router("desk_rooms", closed, inputs, RouterActions::Listed(rooms)),
        router("desk_opaque", ToolHints::default(), OperationInputs::default(), RouterActions::Unlisted),
        router("desk_listed", ToolHints::default(), OperationInputs::default(), RouterActions::Listed(listed)),
    ]
}

fn operations() -> Vec<OperationTool> {
    let methods = ["get_room", "list_rooms"].map(|method| operation(method, "SApi", OperationInputs::default()));
    operation_tools(&ToolPrefix::parse("desk").unwrap(), &methods, &[]).unwrap()
}

fn served(operations: &[OperationTool]) -> BTreeSet<ToolName> {
    let note = ToolName::parse("desk_note").unwrap();
    operations.iter().map(|tool| tool.name.clone()).chain([note]).collect()
}

fn fixture() -> (Vec<SplitTool>, ActionSplitReport) {
    split(&routers(), RouterMode::Split, &operations(), &served(&operations())).unwrap()
}

fn assert_report(report: &ActionSplitReport, expected: &Json) {
    let lines = expected.get("report").and_then(Json::as_array).unwrap();
    assert_eq!(report.entries.len(), lines.len());
    for (entry, line) in report.entries.iter().zip(lines) {
        let (outcome, reason) = match entry.outcome {
            SplitOutcome::Split => ("split", ""),
            SplitOutcome::CoveredByOperation => ("covered", "operation"),
            SplitOutcome::CoveredByName => ("covered", "name"),
            // DEVIATIONS.md: the reason is a value of its own; the peer leaves it empty.
            SplitOutcome::Kept(KeptReason::ActionsUnknown) => ("kept", ""),
            SplitOutcome::Kept(KeptReason::ByChoice) => panic!("nothing was asked to stay"),
        };
        let ours =
            [&entry.router, entry.action.as_deref().unwrap_or(""), &entry.split, outcome, &entry.served_by, reason];
        let theirs = ["tool", "action", "split", "outcome", "served_by", "reason"].map(|member| text(line, member));
        assert_eq!(ours, theirs);
    }
}

#[test]
fn surface_routers_are_split() {
    let file = vectors();
    let section = file.get("action_split").unwrap();
    let expected = section.get("split").unwrap();
    let (tools, report) = fixture();
    assert_report(&report, expected);
    let served_tools = expected.get("tools").and_then(Json::as_array).unwrap();
    let with_tag =
        |tool: &Json| tag_set(tool.get("_meta").and_then(|meta| meta.get("fastmcp")).and_then(|meta| meta.get("tags")));
    let theirs: Vec<&Json> = served_tools.iter().filter(|tool| with_tag(tool).contains("split-action")).collect();
    assert_eq!(tools.len(), theirs.len());
    for (tool, theirs) in tools.iter().zip(theirs) {
        assert_eq!((tool.name.as_str(), tool.title.as_str()), (text(theirs, "name"), text(theirs, "title")));
        assert_eq!(tool.hints, hints_of(theirs.get("annotations").unwrap()), "{}", tool.name);
        assert_eq!(tool.tags, with_tag(theirs));
        assert_eq!(Json::Object(tool.inputs.schema()), plain(theirs.get("inputSchema").unwrap()));
    }
    let all: BTreeSet<String> = served(&operations()).iter().map(|name| name.as_str().to_owned()).collect();
    let split_names = tools.iter().map(|tool| tool.name.as_str().to_owned());
    let kept = report.kept().map(str::to_owned);
    let gated: BTreeSet<String> = all.into_iter().chain(split_names).chain(kept).collect();
    assert_eq!(gated, texts(expected.get("gated")).into_iter().collect());
    assert_eq!(report.served_by("desk_rooms", "list_rooms"), Some("desk_list_rooms"));
    assert_eq!(report.served_by("desk_rooms", "help"), None);
    assert_eq!(texts(expected.get("registrar_tags")), ["rooms"]);
}

#[test]
fn surface_routers_stay_by_choice() {
    let file = vectors();
    let expected = file.get("action_split").and_then(|section| section.get("kept")).unwrap();
    let (tools, report) = split(&routers(), RouterMode::Keep, &operations(), &served(&operations())).unwrap();
    assert!(tools.is_empty());
    let by_choice = |entry: &SplitEntry| entry.outcome == SplitOutcome::Kept(KeptReason::ByChoice);
    assert!(report.entries.iter().all(by_choice));
    let names: BTreeSet<String> = served(&operations())
        .iter()
        .map(|name| name.as_str().to_owned())
        .chain(report.kept().map(str::to_owned))
        .collect();
    assert_eq!(names, tag_set(expected.get("gated")));
    let listed: Vec<&str> =
        expected.get("tools").and_then(Json::as_array).unwrap().iter().map(|tool| text(tool, "name")).collect();
    assert_eq!(names, listed.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn surface_actions_with_a_prefix_of_their_own() {
    let file = vectors();
    let expected = file.get("action_split").and_then(|section| section.get("action_tools_prefix")).unwrap();
    let mut routers = routers();
    routers[0].prefix = Some("rm".to_owned());
    let note = BTreeSet::from([ToolName::parse("desk_note").unwrap()]);
    let (tools, report) = split(&routers, RouterMode::Split, &[], &note).unwrap();
    assert_report(&report, expected);
    let kept = report.kept().map(str::to_owned).chain(["desk_note".to_owned()]);
    let names: Vec<String> = kept.chain(tools.iter().map(|tool| tool.name.as_str().to_owned())).collect();
    assert_eq!(names, texts(expected.get("tools")));
}

/// An operation serves an action through its name, through a branch or table entry that returns its result, and through a
/// router over the whole client; a taken name is covered too, and nothing is lost.
#[test]
fn surface_no_action_doubles_an_operation() {
    let operations = operations();
    let mut by_table = action("rooms", &[]);
    by_table.operation = Some("list_rooms".to_owned());
    let computed = action("plan", &[]);
    let table = RouterActions::Listed(vec![by_table, computed, action("note", &[])]);
    let routers = [
        router("desk_x", ToolHints::default(), OperationInputs::default(), table),
        router("desk_all", ToolHints::default(), OperationInputs::default(), RouterActions::Client),
    ];
    let mut served = served(&operations);
    served.insert(ToolName::parse("desk_x_note").unwrap());
    let (tools, report) = split(&routers, RouterMode::Split, &operations, &served).unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["desk_x_plan"]);
    let outcome = |action: &str| {
        let entry = report.entries.iter().find(|entry| entry.action.as_deref() == Some(action)).unwrap();
        (entry.outcome, entry.served_by.as_str())
    };
    assert_eq!(outcome("rooms"), (SplitOutcome::CoveredByOperation, "desk_list_rooms"));
    assert_eq!(outcome("plan"), (SplitOutcome::Split, "desk_x_plan"));
    assert_eq!(outcome("note"), (SplitOutcome::CoveredByName, "desk_x_note"));
    assert_eq!(outcome("get_room"), (SplitOutcome::CoveredByOperation, "desk_get_room"));
    assert_eq!(report.kept().count(), 0);
}

#[test]
fn surface_routers_that_are_refused() {
    let of = |tool: &str, actions: &[&str]| {
        let actions = RouterActions::Listed(actions.iter().map(|name| action(name, &[])).collect());
        router(tool, ToolHints::default(), OperationInputs::default(), actions)
    };
    let refused = |routers: &[ActionRouter]| {
        split(routers, RouterMode::Split, &operations(), &served(&operations())).unwrap_err().code()
    };
    assert_eq!(refused(&[of("desk_list_rooms", &["a"])]), "tool_surface_collision");
    assert_eq!(refused(&[of("desk", &["x_y"]), of("desk_x", &["y"])]), "tool_surface_collision");
    let opaque = router("desk_x_y", ToolHints::default(), OperationInputs::default(), RouterActions::Unlisted);
    assert_eq!(refused(&[opaque, of("desk_x", &["y"])]), "tool_surface_collision");
    assert_eq!(refused(&[of("desk_x", &["a", "a"])]), "tool_surface_action");
    assert_eq!(refused(&[of("desk_x", &["a b"])]), "tool_surface_action");
    let stray = RouterActions::Listed(vec![action("a", &["gone"])]);
    assert_eq!(
        refused(&[router("desk_x", ToolHints::default(), OperationInputs::default(), stray)]),
        "tool_surface_action_parameter"
    );
}

#[test]
fn surface_actions_are_listed_by_their_schema() {
    let listed = |text: &str| listed_actions(&parse(text).unwrap());
    assert_eq!(listed(r#"{"enum": ["a", "b"]}"#).unwrap(), ["a", "b"]);
    assert_eq!(listed(r#"{"const": "a"}"#).unwrap(), ["a"]);
    assert_eq!(listed(r#"{"description": "What. One of: a, 'b'. Then more, c"}"#).unwrap(), ["a", "b"]);
    for none in [r#"{"type": "string"}"#, r#"{"enum": [1]}"#, r#"{"description": "One of: many things, some"}"#, "[]"] {
        assert_eq!(listed(none), None, "{none}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R020.5
#[test]
fn surface_risk_classes() {
    let file = vectors();
    let section = file.get("risk_classes").and_then(Json::as_object).unwrap();
    let (tools, report) = fixture();
    let operations = operations();
    let names: BTreeSet<String> = served(&operations)
        .iter()
        .chain(tools.iter().map(|tool| &tool.name))
        .map(|name| name.as_str().to_owned())
        .chain(report.kept().map(str::to_owned))
        .collect();
    for (id, case) in section {
        let declared: BTreeMap<String, RiskDeclaration> = case
            .get("declared")
            .and_then(Json::as_object)
            .unwrap()
            .iter()
            .map(|(tool, class)| {
                let declaration = match class {
                    Json::String(class) => RiskDeclaration::Tool(class.clone()),
                    by_action => RiskDeclaration::Actions(class_map(by_action)),
                };
                (tool.clone(), declaration)
            })
            .collect();
        let classes = split_tool_classes(&declared, &tag_set(case.get("read_classes")), &report);
        assert_eq!(classes, class_map(case.get("classes").unwrap()), "{id}");
        let missing: BTreeSet<String> = unclassified_tools(names.iter().map(String::as_str), &declared, &classes)
            .into_iter()
            .map(str::to_owned)
            .collect();
        // DEVIATIONS.md: an operation that covers an action needs a class like every other tool.
        let mut expected = tag_set(case.get("unclassified"));
        expected.insert("desk_list_rooms".to_owned());
        assert_eq!(missing, expected, "{id}");
        let refusal = ensure_classified(names.iter().map(String::as_str), &declared, &classes).unwrap_err();
        assert!(refusal.to_string().starts_with("unclassified tools prevent start-up: desk_get_room, "));
    }
    let all: BTreeMap<String, RiskDeclaration> =
        names.iter().map(|name| (name.clone(), RiskDeclaration::Tool("write".to_owned()))).collect();
    assert_eq!(ensure_classified(names.iter().map(String::as_str), &all, &BTreeMap::new()), Ok(()));
}

fn class_map(value: &Json) -> BTreeMap<String, String> {
    value.as_object().unwrap().iter().map(|(name, class)| (name.clone(), class.as_str().unwrap().to_owned())).collect()
}

/// A destructive action never becomes harmless through its router, even when its name also holds a word that reads.
///
/// Proves: SDK-CONNECTOR-CONTROL-R020.5
#[test]
fn surface_reading_is_not_inherited() {
    let actions = ["purge_list", "frobnicate", "list_all"].map(|name| action(name, &[])).to_vec();
    let reading = ToolHints { read_only: Some(true), ..ToolHints::default() };
    let routers = [router("desk_r", reading, OperationInputs::default(), RouterActions::Listed(actions))];
    let (tools, report) = split(&routers, RouterMode::Split, &[], &BTreeSet::new()).unwrap();
    let read_only: Vec<_> = tools.iter().map(|tool| tool.hints.is_read_only()).collect();
    assert_eq!(read_only, [false, false, true]);
    let declared = BTreeMap::from([("desk_r".to_owned(), RiskDeclaration::Tool("read".to_owned()))]);
    let classes = split_tool_classes(&declared, &set(&["read"]), &report);
    assert_eq!(classes.keys().collect::<Vec<_>>(), ["desk_r_list_all"]);
    let names = tools.iter().map(|tool| tool.name.as_str());
    assert_eq!(ensure_classified(names, &declared, &classes).unwrap_err().code(), "tool_surface_unclassified");
}

#[test]
fn surface_additional_tools_come_last() {
    let name = |text: &str| ToolName::parse(text).unwrap();
    let mut roster = ToolRoster::default();
    roster.add(name("desk_list"), ToolOrigin::Operation).unwrap();
    roster.add(name("desk_note"), ToolOrigin::Registrar).unwrap();
    assert_eq!(roster.additional().count(), 0);
    let taken = roster.add(name("desk_list"), ToolOrigin::Additional).unwrap_err();
    assert_eq!(taken.to_string(), "an operation and an additional tool would both be served as `desk_list`");
    roster.add(name("desk_extra"), ToolOrigin::Additional).unwrap();
    assert_eq!(roster.add(name("desk_late"), ToolOrigin::Split).unwrap_err().code(), "tool_surface_order");
    let names: Vec<_> = roster.tools().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["desk_list", "desk_note", "desk_extra"]);
    assert_eq!(roster.additional().collect::<Vec<_>>(), [&name("desk_extra")]);
}

#[test]
fn surface_successors_keep_every_tool() {
    let (tools, report) = fixture();
    let operations = operations();
    let mut after: Vec<SuccessorTool<'_>> = tools
        .iter()
        .map(|tool| tool.name.as_str())
        .chain(operations.iter().map(|tool| tool.name.as_str()))
        .chain(["desk_note"])
        .map(|name| SuccessorTool { name, routes_actions: false })
        .collect();
    after.push(SuccessorTool { name: "desk_opaque", routes_actions: true });
    let parity = successor_parity(["desk_note", "desk_rooms", "desk_listed"], &after, &report);
    assert_eq!((parity.kept.clone(), parity.split.clone()), (set(&["desk_note"]), set(&["desk_rooms", "desk_listed"])));
    assert_eq!(parity.ensure(), Ok(()));
    let lost = successor_parity(["desk_opaque", "desk_gone"], &after, &report);
    assert_eq!(lost.lost, set(&["desk_opaque", "desk_gone"]));
    assert_eq!(lost.ensure().unwrap_err().code(), "tool_surface_tools_lost");
    after.retain(|tool| tool.name != "desk_rooms_book");
    assert_eq!(successor_parity(["desk_rooms"], &after, &report).lost, set(&["desk_rooms"]));
    let client = [router("desk_all", ToolHints::default(), OperationInputs::default(), RouterActions::Client)];
    let (_, report) = split(&client, RouterMode::Split, &operations, &served(&operations)).unwrap();
    assert_eq!(successor_parity(["desk_all"], &after, &report).covered, set(&["desk_all"]));
}
