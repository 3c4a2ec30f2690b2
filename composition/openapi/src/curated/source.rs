//! Sources by themselves: what a list operation says about its records, and what an operator says over it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use scion_domain::api_curation::{PageCuration, Placed, SourceCuration, SourceSettings};
use scion_domain::config::{ConfigProblem, ConfigRefusal, hint};
use scion_domain::json::{Json, JsonObject};
use scion_domain::pagination::http::{WalkMode, WalkOptions};

use super::plan::{SourceEdge, SourceFanOut, SourcePages, SourcePlan};
use super::{CuratedOperation, NEXT_PAGE, NextPage};
use crate::model::{Operation, Place};
use crate::names::snake_case;
use crate::paging;

const ID_FIELDS: [&str; 9] = ["id", "uuid", "guid", "_id", "gid", "uid", "key", "slug", "sku"];
const TITLE_FIELDS: [&str; 7] = ["title", "name", "subject", "summary", "display_name", "full_name", "label"];
const TEXT_FIELDS: [&str; 5] = ["text", "body", "content", "description", "message"];
const UPDATED_FIELDS: [&str; 7] =
    ["updated_at", "modified_at", "last_modified", "updated", "modified", "last_updated", "date_modified"];
/// Arguments that can mean nothing but "changed since this time".
const SINCE_ARGUMENTS: [&str; 6] =
    ["updated_since", "updated_after", "modified_since", "modified_after", "updated_at_min", "changed_since"];
/// Asked for when the API states no smaller maximum.
const PAGE_SIZE: u32 = 100;

/// How the tool of an operation answers its next page, where its paging needs that: a list that is walked by page numbers or
/// offsets needs no help.
pub(super) fn next_page(operation: &Operation) -> Option<NextPage> {
    let paging = operation.paging.as_ref()?;
    let taken = operation.parameters.iter().any(|parameter| parameter.argument == NEXT_PAGE);
    if taken || counted(operation, paging).is_some() {
        return None;
    }
    match paging.mode {
        WalkMode::Link => Some(NextPage::Link),
        WalkMode::NextUrl => Some(NextPage::Member(paging.next_path.clone())),
        _ => None,
    }
}

/// Paging by page number or offset. It goes before `Link` and addresses of next pages: it needs nothing but arguments.
fn counted(operation: &Operation, paging: &WalkOptions) -> Option<SourcePages> {
    let size = size(operation);
    let by_page = || {
        let parameter = paging::page_parameter(&operation.parameters)?;
        let start = number(operation, &parameter.argument, "default")
            .or_else(|| number(operation, &parameter.argument, "minimum"))
            .unwrap_or(1);
        Some(SourcePages::Page { argument: parameter.argument.clone(), start, size: size.clone() })
    };
    let by_offset = || {
        let parameter = paging::offset_parameter(&operation.parameters)?;
        Some(SourcePages::Offset { argument: parameter.argument.clone(), size: size.clone() })
    };
    match paging.mode {
        WalkMode::Page | WalkMode::Link | WalkMode::NextUrl => by_page().or_else(by_offset),
        WalkMode::Offset => by_offset(),
        WalkMode::Cursor | WalkMode::SinceId => None,
    }
}

fn argument_schema<'o>(operation: &'o Operation, argument: &str) -> Option<&'o Json> {
    operation.input_schema.get("properties")?.get(argument)
}

fn number(operation: &Operation, argument: &str, keyword: &str) -> Option<u64> {
    argument_schema(operation, argument)?.get(keyword)?.as_number()?.as_u64()
}

fn size(operation: &Operation) -> Option<(String, u32)> {
    let parameter = paging::size_parameter(&operation.parameters)?;
    let most = number(operation, &parameter.argument, "maximum").unwrap_or(u64::from(PAGE_SIZE)).max(1);
    let size = u32::try_from(most).unwrap_or(PAGE_SIZE).min(PAGE_SIZE);
    let listed = argument_schema(operation, &parameter.argument).and_then(|schema| schema.get("enum"));
    let listed = listed.and_then(Json::as_array).map(|choices| {
        let sizes = choices.iter().filter_map(|choice| u32::try_from(choice.as_number()?.as_u64()?).ok());
        sizes.filter(|choice| *choice <= 1000).max()
    });
    match listed {
        Some(None) => None,
        Some(Some(largest)) => Some((parameter.argument.clone(), largest)),
        None => Some((parameter.argument.clone(), size)),
    }
}

/// The schema of the answer's value, without the wrapping of the model.
pub(super) fn value_schema(operation: &Operation) -> Option<&Json> {
    let schema = operation.output_schema.as_ref()?;
    if operation.output_wrapped { schema.get("properties")?.get("result") } else { Some(schema) }
}

/// What one record of a list is described with.
pub(super) fn record_properties<'o>(operation: &'o Operation, path: &str) -> Option<&'o JsonObject> {
    let mut here = value_schema(operation)?;
    for segment in path.split('.').filter(|segment| !segment.is_empty()) {
        here = here.get("properties")?.get(segment)?;
    }
    here.get("items")?.get("properties")?.as_object()
}

fn is_of(schema: &Json, kinds: &[&str]) -> bool {
    match schema.get("type") {
        Some(Json::String(kind)) => kinds.contains(&kind.as_str()),
        Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).any(|kind| kinds.contains(&kind)),
        _ => false,
    }
}

fn field(properties: &JsonObject, names: &[&str], kinds: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let found = properties.iter().find(|(field, schema)| {
            let same = field.as_str() == *name || snake_case(field) == *name;
            same && !field.contains('.') && is_of(schema, kinds)
        });
        found.map(|(field, _)| field.clone())
    })
}

fn id_field(properties: &JsonObject, record_type: &str) -> Option<String> {
    let own = format!("{}_id", snake_case(record_type));
    let names: Vec<&str> =
        ID_FIELDS[..1].iter().copied().chain([own.as_str()]).chain(ID_FIELDS[1..].iter().copied()).collect();
    field(properties, &names, &["string", "integer"])
}

/// The arguments a caller must give, other than those that are fixed or have a default.
fn needed(operation: &CuratedOperation) -> Vec<String> {
    let required = operation.tool.input_schema.get("required").and_then(Json::as_array).unwrap_or_default();
    required.iter().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// Finds the sources of all operations and puts them in.
pub(super) fn plan(
    operations: &mut [CuratedOperation],
    curations: &HashMap<usize, Placed<SourceCuration>>,
    problems: &mut Vec<ConfigProblem>,
) {
    let mut plans: Vec<Option<SourcePlan>> = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        plans.push(match curations.get(&index) {
            Some(Placed { value: SourceCuration::Off, .. }) => None,
            Some(placed @ Placed { value: SourceCuration::On(settings), .. }) => {
                curated(operation, settings, placed, problems)
            }
            None => automatic(operation),
        });
    }
    unique_ids(operations, &mut plans);
    fan_out(operations, &mut plans, curations);
    same_mappings(&mut plans);
    check_relations(&plans, curations, problems);
    for (operation, plan) in operations.iter_mut().zip(plans) {
        operation.source = plan;
    }
}

/// What the document alone says. `None` when it does not say enough to read all records and to know each.
fn automatic(operation: &CuratedOperation) -> Option<SourcePlan> {
    let list = operation.operation.list.as_ref().filter(|list| list.walkable)?;
    if !operation.tool.hints.is_read_only() {
        return None;
    }
    let properties = record_properties(&operation.operation, &list.path)?;
    let id = id_field(properties, &list.record_type)?;
    if operation.keep.as_ref().is_some_and(|keep| !keep.has(&id)) {
        return None;
    }
    Some(described(operation, &list.record_type, &list.path, id, Some(properties)))
}

fn described(
    operation: &CuratedOperation,
    record_type: &str,
    path: &str,
    id_field: String,
    properties: Option<&JsonObject>,
) -> SourcePlan {
    let empty = JsonObject::new();
    let kept = |name: &String| operation.keep.as_ref().is_none_or(|keep| keep.has(name));
    let find = |names: &[&str]| field(properties.unwrap_or(&empty), names, &["string"]).filter(kept);
    let arguments = operation.tool.input_schema.get("properties").and_then(Json::as_object);
    let since = arguments.into_iter().flat_map(JsonObject::keys);
    let since = since.filter(|name| SINCE_ARGUMENTS.contains(&snake_case(name).as_str())).min().cloned();
    let updated = find(&UPDATED_FIELDS).map(|field| (field, since));
    // The tool puts a bare list into `items` when it has to say beside it where the next page is.
    let wrapped = operation.next_page == Some(NextPage::Link) && path.is_empty();
    SourcePlan {
        id: source_id(&operation.operation),
        record_type: record_type.to_owned(),
        id_field,
        records_path: if wrapped { "items".to_owned() } else { path.to_owned() },
        title_field: find(&TITLE_FIELDS),
        text_field: find(&TEXT_FIELDS),
        updated,
        pages: pages(operation),
        arguments: JsonObject::new(),
        for_each: None,
        edges: Vec::new(),
        class: record_type.to_owned(),
        fields: properties.map(|properties| properties_of(properties, operation)).unwrap_or_default(),
        description: operation.tool.title.clone().unwrap_or_default(),
    }
}

/// Scalars of a record whose names can name a property.
fn properties_of(properties: &JsonObject, operation: &CuratedOperation) -> BTreeMap<String, String> {
    let plain = |name: &str| {
        name.len() <= 64
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let scalars = properties.iter().filter(|(name, schema)| {
        let kept = operation.keep.as_ref().is_none_or(|keep| keep.has(name));
        kept && plain(name) && is_of(schema, &["string", "integer", "number", "boolean"])
    });
    scalars.take(128).map(|(name, _)| (name.clone(), name.clone())).collect()
}

fn pages(operation: &CuratedOperation) -> SourcePages {
    let Some(paging) = &operation.operation.paging else { return SourcePages::One };
    if let Some(counted) = counted(&operation.operation, paging) {
        return counted;
    }
    let cursor = |path: &str| SourcePages::Cursor {
        argument: NEXT_PAGE.to_owned(),
        path: path.to_owned(),
        size: size(&operation.operation),
    };
    match &operation.next_page {
        Some(NextPage::Link) => cursor(NEXT_PAGE),
        Some(NextPage::Member(path)) => cursor(path),
        None => {
            let named = operation
                .operation
                .parameters
                .iter()
                .find(|parameter| parameter.place == Place::Query && parameter.name == paging.cursor_param);
            match named {
                Some(parameter) if paging.mode == WalkMode::Cursor => SourcePages::Cursor {
                    argument: parameter.argument.clone(),
                    path: paging.cursor_path.clone(),
                    size: size(&operation.operation),
                },
                _ => SourcePages::One,
            }
        }
    }
}

/// The collections in the path, without versions: `/v1/users/{id}/notes` is `users.notes`.
fn source_id(operation: &Operation) -> String {
    let version =
        |word: &str| word.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let words = operation.path.split('/').filter(|segment| !segment.is_empty() && !segment.contains('{'));
    let words: Vec<String> =
        words.map(snake_case).filter(|word| !word.is_empty() && word != "api" && !version(word)).collect();
    let id: String = words.join(".").chars().take(56).collect();
    let id = id.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
    if id.is_empty() { operation.name.clone() } else { id }
}

fn unique_ids(operations: &[CuratedOperation], plans: &mut [Option<SourcePlan>]) {
    let mut seen = BTreeMap::new();
    for plan in plans.iter().flatten() {
        *seen.entry(plan.id.clone()).or_insert(0) += 1;
    }
    for (operation, plan) in operations.iter().zip(plans.iter_mut()) {
        if let Some(plan) = plan.as_mut().filter(|plan| seen.get(&plan.id).is_some_and(|count| *count > 1)) {
            // Tool names are unique, and no collection is called like one.
            plan.id.clone_from(&operation.tool.name);
        }
    }
}

/// What an operator says, over what the document says.
fn curated(
    operation: &CuratedOperation,
    settings: &SourceSettings,
    placed: &Placed<SourceCuration>,
    problems: &mut Vec<ConfigProblem>,
) -> Option<SourcePlan> {
    if !operation.tool.hints.is_read_only() {
        problems.push(placed.problem(ConfigRefusal::NotPossible {
            what: "only an operation that reads can be a source; a search by POST may say `risk: read`",
        }));
        return None;
    }
    let list = operation.operation.list.as_ref();
    let told = list.map_or("", |list| list.path.as_str());
    let properties = record_properties(&operation.operation, told);
    let record_type = settings.record_type.clone().or_else(|| list.map(|list| list.record_type.clone()));
    let id_field = settings.id_field.clone();
    let id_field = id_field.or_else(|| properties.and_then(|all| id_field_of(all, record_type.as_deref())));
    let mut missing = |key| problems.push(placed.problem(ConfigRefusal::MissingKey { key }));
    let Some(record_type) = record_type else {
        missing("record_type");
        return None;
    };
    let Some(id_field) = id_field else {
        missing("id_field");
        return None;
    };
    if operation.keep.as_ref().is_some_and(|keep| !keep.has(&id_field)) {
        problems.push(
            placed.problem(ConfigRefusal::NotPossible { what: "`keep` drops the field that identifies a record" }),
        );
        return None;
    }
    let mut plan = described(operation, &record_type, told, id_field, properties);
    let arguments: Vec<&str> = operation
        .tool
        .input_schema
        .get("properties")
        .and_then(Json::as_object)
        .into_iter()
        .flat_map(JsonObject::keys)
        .map(String::as_str)
        .collect();
    let mut known = |name: &str, placed: &dyn Fn(ConfigRefusal) -> ConfigProblem| {
        if !arguments.contains(&name) {
            let hint = hint(name, arguments.iter().copied());
            problems.push(placed(ConfigRefusal::UnknownName { what: "argument", hint }));
        }
    };
    if let Some(since) = &settings.since_argument {
        known(&since.value, &|refusal| since.problem(refusal));
    }
    if let Some(pages) = &settings.pages {
        for argument in pages.value.arguments() {
            known(argument, &|refusal| pages.problem(refusal));
        }
        plan.pages = pages_of(&pages.value);
    }
    if let Some(for_each) = &settings.for_each {
        known(&for_each.argument.value, &|refusal| for_each.argument.problem(refusal));
        plan.for_each = Some(SourceFanOut {
            source: for_each.source.clone(),
            argument: for_each.argument.value.clone(),
            field: for_each.field.clone(),
        });
    }
    if let Some(id) = &settings.id {
        plan.id.clone_from(id);
    }
    if let Some(path) = &settings.records_path {
        plan.records_path.clone_from(path);
    }
    plan.title_field = settings.title_field.clone().or(plan.title_field);
    plan.text_field = settings.text_field.clone().or(plan.text_field);
    let since = settings.since_argument.as_ref().map(|since| since.value.clone());
    plan.updated = match (settings.updated_field.clone(), plan.updated) {
        (Some(field), told) => Some((field, since.or_else(|| told.and_then(|(_, since)| since)))),
        (None, Some((field, told))) => Some((field, since.or(told))),
        (None, None) => None,
    };
    if let Some(class) = &settings.class {
        plan.class.clone_from(class);
    }
    if !settings.fields.is_empty() {
        plan.fields.clone_from(&settings.fields);
    }
    plan.edges = settings
        .edges
        .iter()
        .map(|edge| SourceEdge {
            relationship: edge.relationship.clone(),
            field: edge.field.clone(),
            target_type: edge.target_type.clone(),
            target_source: edge.target_source.clone(),
        })
        .collect();
    Some(plan)
}

fn id_field_of(properties: &JsonObject, record_type: Option<&str>) -> Option<String> {
    id_field(properties, record_type.unwrap_or_default())
}

fn pages_of(pages: &PageCuration) -> SourcePages {
    let size = |argument: &Option<String>, size: &Option<u32>| {
        argument.clone().map(|argument| (argument, size.unwrap_or(PAGE_SIZE)))
    };
    match pages {
        PageCuration::None => SourcePages::One,
        PageCuration::Page { argument, size_argument, start, size: number } => {
            SourcePages::Page { argument: argument.clone(), start: *start, size: size(size_argument, number) }
        }
        PageCuration::Offset { argument, size_argument, size: number } => {
            SourcePages::Offset { argument: argument.clone(), size: size(size_argument, number) }
        }
        PageCuration::Cursor { argument, path, size_argument, size: number } => {
            SourcePages::Cursor { argument: argument.clone(), path: path.clone(), size: size(size_argument, number) }
        }
    }
}

/// A source that needs one argument is read once per record of the list whose answer links to it; one that needs more, or that
/// nothing links to, is none.
fn fan_out(
    operations: &[CuratedOperation],
    plans: &mut [Option<SourcePlan>],
    curations: &HashMap<usize, Placed<SourceCuration>>,
) {
    let mut found: Vec<(usize, Option<SourceFanOut>)> = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        let Some(plan) = plans[index].as_ref().filter(|plan| plan.for_each.is_none()) else { continue };
        let needed = needed(operation);
        if needed.is_empty() {
            continue;
        }
        // An operator who sets up a source may give it what it needs as a fixed argument; what is missing is told by the check.
        let linked = match needed.as_slice() {
            [argument] => linked(operations, plans, operation, argument, &plan.id),
            _ => None,
        };
        found.push((index, linked));
    }
    for (index, linked) in found {
        match (linked, &mut plans[index]) {
            (Some(linked), Some(plan)) => plan.for_each = Some(linked),
            (None, _) if curations.contains_key(&index) => {}
            (_, plan) => *plan = None,
        }
    }
    // A fan-out over a source that is none itself.
    loop {
        let ids: BTreeSet<String> = plans.iter().flatten().map(|plan| plan.id.clone()).collect();
        let orphan = plans.iter().enumerate().position(|(index, plan)| {
            let parent = plan.as_ref().and_then(|plan| plan.for_each.as_ref());
            !curations.contains_key(&index) && parent.is_some_and(|parent| !ids.contains(&parent.source))
        });
        match orphan {
            Some(index) => plans[index] = None,
            None => return,
        }
    }
}

/// The list whose records give an operation its one argument, by a link of the document.
fn linked(
    operations: &[CuratedOperation],
    plans: &[Option<SourcePlan>],
    child: &CuratedOperation,
    argument: &str,
    child_id: &str,
) -> Option<SourceFanOut> {
    let id = child.operation.id.as_deref()?;
    let wire = &child.operation.parameters.iter().find(|parameter| parameter.argument == argument)?.name;
    operations.iter().zip(plans).find_map(|(parent, plan)| {
        let plan = plan.as_ref().filter(|plan| plan.for_each.is_none() && plan.id != child_id)?;
        let list = parent.operation.list.as_ref()?;
        parent.operation.links.iter().filter(|link| link.target == id).find_map(|link| {
            let named = |name: &str| name == wire || name.split_once('.').is_some_and(|(_, name)| name == wire);
            let (_, value) = link.parameters.iter().find(|(name, _)| named(name))?;
            let field = record_field(value.as_str()?, &list.path)?;
            Some(SourceFanOut { source: plan.id.clone(), argument: argument.to_owned(), field })
        })
    })
}

/// The field of a record that a runtime expression names: `$response.body#/data/0/id` is `id` for a list at `data`.
fn record_field(expression: &str, list: &str) -> Option<String> {
    let pointer = expression.trim_matches(['{', '}']).strip_prefix("$response.body#/")?;
    let way = if list.is_empty() { String::new() } else { format!("{}/", list.replace('.', "/")) };
    let (index, field) = pointer.strip_prefix(way.as_str())?.split_once('/')?;
    let any = index == "*" || index == "-" || (!index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()));
    (any && !field.is_empty() && !field.contains(['/', '~', '.'])).then(|| field.to_owned())
}

/// One mapping per record type: lists of one type show different fields of it.
fn same_mappings(plans: &mut [Option<SourcePlan>]) {
    let mut all: BTreeMap<String, (String, BTreeMap<String, String>)> = BTreeMap::new();
    for plan in plans.iter().flatten() {
        let entry = all.entry(plan.record_type.clone()).or_insert_with(|| (plan.class.clone(), BTreeMap::new()));
        if plan.class != plan.record_type {
            entry.0.clone_from(&plan.class);
        }
        for (field, property) in &plan.fields {
            let known = entry.1.entry(field.clone()).or_insert_with(|| property.clone());
            if property != field {
                known.clone_from(property);
            }
        }
    }
    for plan in plans.iter_mut().flatten() {
        if let Some((class, fields)) = all.get(&plan.record_type) {
            (plan.class, plan.fields) = (class.clone(), fields.clone());
        }
    }
}

/// Sources that curations name must be there.
fn check_relations(
    plans: &[Option<SourcePlan>],
    curations: &HashMap<usize, Placed<SourceCuration>>,
    problems: &mut Vec<ConfigProblem>,
) {
    let ids: Vec<&str> = plans.iter().flatten().map(|plan| plan.id.as_str()).collect();
    for (index, placed) in curations {
        let Some(plan) = plans.get(*index).and_then(Option::as_ref) else { continue };
        let parents = plan.for_each.iter().map(|parent| parent.source.as_str());
        let targets = plan.edges.iter().filter_map(|edge| edge.target_source.as_deref());
        for name in parents.chain(targets).filter(|name| !ids.contains(name)) {
            let hint = hint(name, ids.iter().copied());
            problems.push(placed.problem(ConfigRefusal::UnknownName { what: "source", hint }));
        }
        if ids.iter().filter(|id| **id == plan.id).count() > 1 {
            problems.push(placed.problem(ConfigRefusal::NotPossible { what: "another source has this id" }));
        }
    }
}
