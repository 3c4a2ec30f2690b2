//! Arguments an operator fixes or gives a default, in the schema and in a call.

use scion_domain::api_curation::{OperationCuration, Placed, argument_object};
use scion_domain::config::{ConfigProblem, ConfigRefusal, hint};
use scion_domain::json::{Json, JsonObject};

use super::{CuratedOperation, NEXT_PAGE};
use crate::model::Operation;
use crate::plan::check_arguments;

/// The input schema as it is served: without fixed arguments, with defaults, and with `next_page` where there is one.
pub(super) fn schema(
    operation: &Operation,
    curation: &OperationCuration,
    next_page: bool,
    problems: &mut Vec<ConfigProblem>,
) -> Json {
    let mut schema = operation.input_schema.clone();
    for (name, value) in &curation.fixed {
        check(operation, name, value, problems);
        take(&mut schema, &name.value);
    }
    for (name, value) in &curation.defaults {
        check(operation, name, value, problems);
        if curation.fixed.iter().any(|(fixed, _)| fixed.value == name.value) {
            problems
                .push(name.problem(ConfigRefusal::NotPossible { what: "is fixed too, so the default is never used" }));
        }
        set_default(&mut schema, &name.value, value);
    }
    if next_page && let Json::Object(members) = &mut schema {
        let described = Json::from([
            ("type", Json::from("string")),
            ("maxLength", Json::from(8192_u64)),
            (
                "description",
                Json::from("The next page, as the previous answer gave it; the other arguments stay as they were."),
            ),
        ]);
        let properties = members.entry("properties".to_owned()).or_insert_with(|| Json::Object(JsonObject::new()));
        if let Json::Object(properties) = properties {
            properties.insert(NEXT_PAGE.to_owned(), described);
        }
    }
    schema
}

/// An argument must be one of the operation, with a value its schema takes.
fn check(operation: &Operation, name: &Placed<String>, value: &Json, problems: &mut Vec<ConfigProblem>) {
    if let Err(known) = find(&operation.input_schema, &name.value) {
        let wrong = name.value.rsplit('.').next().unwrap_or_default();
        let hint = hint(wrong, known.iter().map(String::as_str));
        problems.push(name.problem(ConfigRefusal::UnknownName { what: "argument", hint }));
        return;
    }
    let whole = argument_object(std::slice::from_ref(&(name.clone(), value.clone())));
    // Only this value is judged: what else a body needs comes with the call.
    let refused = check_arguments(operation, &whole);
    let missing = matches!(refused, Err(scion_domain::openapi::PlanRefusal::Missing { .. }));
    if refused.is_err() && !missing {
        problems.push(name.problem(ConfigRefusal::NotPossible { what: "is a value the argument does not take" }));
    }
}

/// The schema of an argument, or the names there are where it is not found.
fn find<'s>(schema: &'s Json, name: &str) -> Result<&'s Json, Vec<String>> {
    let mut here = schema;
    for segment in name.split('.') {
        let properties = here.get("properties").and_then(Json::as_object);
        let known = || properties.into_iter().flat_map(JsonObject::keys).cloned().collect::<Vec<_>>();
        here = properties.and_then(|properties| properties.get(segment)).ok_or_else(known)?;
    }
    Ok(here)
}

fn inner<'s>(schema: &'s mut Json, name: &str) -> Option<(&'s mut JsonObject, String)> {
    let mut here = schema;
    let (way, last) = match name.rsplit_once('.') {
        Some((way, last)) => (way, last),
        None => ("", name),
    };
    for segment in way.split('.').filter(|segment| !segment.is_empty()) {
        let Json::Object(members) = here else { return None };
        let Some(Json::Object(properties)) = members.get_mut("properties") else { return None };
        here = properties.get_mut(segment)?;
    }
    match here {
        Json::Object(members) => Some((members, last.to_owned())),
        _ => None,
    }
}

fn no_longer_required(members: &mut JsonObject, name: &str) {
    if let Some(Json::Array(required)) = members.get_mut("required") {
        required.retain(|known| known.as_str() != Some(name));
        if required.is_empty() {
            members.remove("required");
        }
    }
}

fn take(schema: &mut Json, name: &str) {
    let Some((members, last)) = inner(schema, name) else { return };
    if let Some(Json::Object(properties)) = members.get_mut("properties") {
        properties.remove(&last);
    }
    no_longer_required(members, &last);
}

fn set_default(schema: &mut Json, name: &str, value: &Json) {
    let Some((members, last)) = inner(schema, name) else { return };
    no_longer_required(members, &last);
    if let Some(Json::Object(properties)) = members.get_mut("properties")
        && let Some(Json::Object(argument)) = properties.get_mut(&last)
    {
        argument.insert("default".to_owned(), value.clone());
    }
}

pub(super) fn complete(operation: &CuratedOperation, mut given: JsonObject) -> (JsonObject, Option<Json>) {
    let next = if operation.next_page.is_some() { given.remove(NEXT_PAGE) } else { None };
    merge(&mut given, &operation.defaults, false);
    merge(&mut given, &operation.fixed, true);
    (given, next.filter(|next| !next.is_null()))
}

/// Puts values in, over those that are there or only beside them; objects are merged.
fn merge(into: &mut JsonObject, from: &JsonObject, over: bool) {
    for (name, value) in from {
        match (into.get_mut(name), value) {
            (Some(Json::Object(inner)), Json::Object(more)) => merge(inner, more, over),
            (None | Some(Json::Null), _) => drop(into.insert(name.clone(), value.clone())),
            (Some(here), _) if over => *here = value.clone(),
            _ => {}
        }
    }
}
