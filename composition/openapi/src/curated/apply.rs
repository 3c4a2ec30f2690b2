//! A curation laid over a model.

use std::collections::HashMap;

use scion_domain::api_curation::{
    ApiCuration, OperationCuration, Placed, RiskClass, Selector, SourceCuration, argument_object,
};
use scion_domain::client_profile::ClientProfile;
use scion_domain::config::{ConfigProblem, ConfigProblems, ConfigRefusal, hint};
use scion_domain::http::Method;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::ToolHints;
use scion_domain::tool_surface::ToolPrefix;

use super::find::Finder;
use super::{CuratedApi, CuratedOperation, Keep, NEXT_PAGE, NextPage, arguments, output, source};
use crate::model::{ApiModel, Operation};

/// Makes the API that is served of a model and of what an operator says about it. Everything in the curation that fits nothing in
/// the document is refused with its place in the file; what the document says without a curation is never refused here.
pub fn curate(model: ApiModel, curation: &ApiCuration) -> Result<CuratedApi, ConfigProblems> {
    let mut problems = Vec::new();
    if let Some(prefix) = curation.prefix.as_ref().filter(|prefix| ToolPrefix::parse(&prefix.value).is_err()) {
        problems.push(prefix.problem(ConfigRefusal::NotPossible {
            what: "not a prefix: use a letter, then letters, digits or `_`, at most 32 characters and no `_` at its end",
        }));
    }
    let finder = Finder::new(&model.operations);
    let served = selected(&model.operations, curation, &finder, &mut problems);
    let said = by_operation(curation, &finder, &served, &mut problems);
    let silent = OperationCuration::default();
    let all = model.operations.len();
    let mut operations: Vec<(CuratedOperation, Option<Placed<SourceCuration>>)> = Vec::new();
    for (index, operation) in model.operations.into_iter().enumerate().filter(|(index, _)| served[*index]) {
        let curation_of = said.get(&index).copied().unwrap_or(&silent);
        let curated = one(operation, curation_of, curation.prefix.as_ref(), &mut problems);
        operations.push((curated, curation_of.source.clone()));
    }
    operations.sort_by(|a, b| a.0.tool.name.cmp(&b.0.tool.name));
    check_names(&operations, &said, &mut problems);
    let sources: HashMap<usize, Placed<SourceCuration>> =
        operations.iter().enumerate().filter_map(|(index, (_, source))| Some((index, source.clone()?))).collect();
    let mut operations: Vec<CuratedOperation> = operations.into_iter().map(|(operation, _)| operation).collect();
    source::plan(&mut operations, &sources, &mut problems);
    if !problems.is_empty() {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems.truncate(ConfigProblems::LIMIT);
        return Err(ConfigProblems { file: curation.file.clone(), problems });
    }
    let title = curation.title.clone().unwrap_or(model.title);
    Ok(CuratedApi {
        name: curation.name.clone(),
        title,
        version: model.version,
        instructions: curation.instructions.clone(),
        base_url: curation.base_url.clone(),
        variables: curation.variables.clone(),
        servers: model.servers,
        security_schemes: model.security_schemes,
        left_out: all - operations.len(),
        operations,
        report: model.report,
    })
}

/// Which operations are served.
fn selected(
    operations: &[Operation],
    curation: &ApiCuration,
    finder: &Finder,
    problems: &mut Vec<ConfigProblem>,
) -> Vec<bool> {
    let mut served = vec![curation.include.is_empty(); operations.len()];
    for (list, serve) in [(&curation.include, true), (&curation.exclude, false)] {
        for selector in list {
            match chosen(operations, &selector.value, finder) {
                Ok(chosen) => chosen.into_iter().for_each(|index| served[index] = serve),
                Err(refusal) => problems.push(selector.problem(refusal)),
            }
        }
    }
    served
}

fn chosen(operations: &[Operation], selector: &Selector, finder: &Finder) -> Result<Vec<usize>, ConfigRefusal> {
    let all = |fits: &dyn Fn(&Operation) -> bool| -> Vec<usize> {
        operations.iter().enumerate().filter(|(_, operation)| fits(operation)).map(|(index, _)| index).collect()
    };
    match selector {
        Selector::Operation(name) => finder.one(name).map(|index| vec![index]),
        Selector::Method(method) => Ok(all(&|operation| operation.method.as_str() == method)),
        Selector::Tag(tag) => {
            let found = all(&|operation| operation.tags.contains(tag));
            if found.is_empty() {
                let mut tags: Vec<&str> =
                    operations.iter().flat_map(|operation| &operation.tags).map(String::as_str).collect();
                tags.sort_unstable();
                tags.dedup();
                return Err(ConfigRefusal::UnknownName { what: "tag", hint: hint(tag, tags.iter().copied()) });
            }
            Ok(found)
        }
    }
}

/// What is said about each operation.
fn by_operation<'c>(
    curation: &'c ApiCuration,
    finder: &Finder,
    served: &[bool],
    problems: &mut Vec<ConfigProblem>,
) -> HashMap<usize, &'c OperationCuration> {
    let mut said = HashMap::new();
    for (key, operation) in &curation.operations {
        let refusal = match finder.one(&key.value) {
            Err(refusal) => refusal,
            Ok(index) if !served[index] => ConfigRefusal::NotPossible {
                what: "this operation is not served: `include` or `exclude` leaves it out",
            },
            Ok(index) if said.insert(index, operation).is_some() => {
                ConfigRefusal::NotPossible { what: "this operation stands above already, under another of its names" }
            }
            Ok(_) => continue,
        };
        problems.push(key.problem(refusal));
    }
    said
}

fn one(
    mut operation: Operation,
    curation: &OperationCuration,
    prefix: Option<&Placed<String>>,
    problems: &mut Vec<ConfigProblem>,
) -> CuratedOperation {
    if let Some(name) = &curation.name {
        operation.name = match prefix.map(|prefix| &prefix.value) {
            Some(prefix) if !name.value.starts_with(&format!("{prefix}_")) => format!("{prefix}_{}", name.value),
            _ => name.value.clone(),
        };
        let plain = operation.name.starts_with(|c: char| c.is_ascii_alphabetic())
            && operation.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !plain || operation.name.len() > ClientProfile::COMMON.max_tool_name() {
            problems.push(name.problem(ConfigRefusal::NotPossible {
                what: "not every client takes this name: use a letter, then letters, digits and `_`, with the prefix at most 44 characters",
            }));
        }
    }
    if let Some(title) = &curation.title {
        operation.title.clone_from(title);
    }
    if let Some(description) = &curation.description {
        operation.description.clone_from(description);
    }
    if let Some(risk) = &curation.risk {
        match with_risk(&operation, risk.value) {
            Ok(hints) => operation.hints = hints,
            Err(what) => problems.push(risk.problem(ConfigRefusal::NotPossible { what })),
        }
    }
    let next_page = source::next_page(&operation);
    let keep = kept(&operation, curation, problems);
    let mut value = source::value_schema(&operation).cloned();
    if let (Some(keep), Some(schema)) = (&keep, value.take()) {
        value = Some(keep.schema(schema));
    } else if keep.is_none() {
        value = source::value_schema(&operation).cloned();
    }
    let value = value.map(|schema| output::lenient(schema, true));
    let value = if next_page == Some(NextPage::Link) { value.map(with_next) } else { value };
    let input = arguments::schema(&operation, curation, next_page.is_some(), problems);
    let mut tool = operation.tool();
    tool.input_schema = input;
    tool.output_schema = value;
    let (fixed, defaults) = (argument_object(&curation.fixed), argument_object(&curation.defaults));
    CuratedOperation { tool, operation, fixed, defaults, keep, next_page, source: None }
}

/// A class never makes an operation more harmless than its method allows.
fn with_risk(operation: &Operation, risk: RiskClass) -> Result<ToolHints, &'static str> {
    let (read_only, destructive) = (risk == RiskClass::Read, risk == RiskClass::Destructive);
    let reads = [Method::GET, Method::HEAD, Method::POST].contains(&operation.method);
    match risk {
        RiskClass::Read if !reads => return Err("only GET, HEAD and a POST that searches can be of the class `read`"),
        RiskClass::Read if operation.hints.destructive == Some(true) => {
            return Err("an operation whose name destroys something does not read; `write` is the least it can be");
        }
        RiskClass::Write if operation.method == Method::DELETE => {
            return Err("a DELETE is always of the class `destructive`");
        }
        _ => {}
    }
    let idempotent = if read_only { Some(true) } else { operation.hints.idempotent };
    Ok(ToolHints { read_only: Some(read_only), destructive: Some(destructive), idempotent, ..operation.hints })
}

fn kept(operation: &Operation, curation: &OperationCuration, problems: &mut Vec<ConfigProblem>) -> Option<Keep> {
    if curation.keep.is_empty() {
        return None;
    }
    let list = operation.list.as_ref().map(|list| list.path.as_str());
    let described = match list {
        Some(path) => source::record_properties(operation, path),
        None => source::value_schema(operation).and_then(|schema| schema.get("properties")).and_then(Json::as_object),
    };
    // An answer that the document does not describe may have any field.
    if let Some(described) = described.filter(|described| !described.is_empty()) {
        for field in &curation.keep {
            let first = field.value.split('.').next().unwrap_or_default();
            if !described.contains_key(first) {
                let hint = hint(first, described.keys().map(String::as_str));
                problems.push(field.problem(ConfigRefusal::UnknownName { what: "field", hint }));
            }
        }
    }
    Some(Keep::new(list, curation.keep.iter().map(|field| field.value.as_str())))
}

/// The schema of an answer with `next_page` beside its list.
fn with_next(schema: Json) -> Json {
    let next = Json::from([("type", Json::from(vec![Json::from("string"), Json::from("null")]))]);
    match schema {
        Json::Object(mut members) if members.get("type").and_then(Json::as_str) == Some("object") => {
            let properties = members.entry("properties".to_owned()).or_insert_with(|| Json::Object(JsonObject::new()));
            if let Json::Object(properties) = properties {
                properties.insert(NEXT_PAGE.to_owned(), next);
            }
            Json::Object(members)
        }
        list => Json::from([
            ("type", Json::from("object")),
            ("properties", Json::from([("items", list), (NEXT_PAGE, next)])),
        ]),
    }
}

fn check_names(
    operations: &[(CuratedOperation, Option<Placed<SourceCuration>>)],
    said: &HashMap<usize, &OperationCuration>,
    problems: &mut Vec<ConfigProblem>,
) {
    for pair in operations.windows(2).filter(|pair| pair[0].0.tool.name == pair[1].0.tool.name) {
        let taken = &pair[0].0.tool.name;
        let named = said.values().filter_map(|curation| curation.name.as_ref());
        let culprit = named.filter(|name| taken.ends_with(&name.value)).max_by_key(|name| (name.line, name.column));
        if let Some(name) = culprit {
            problems.push(name.problem(ConfigRefusal::NotPossible { what: "another operation has this tool name" }));
        }
    }
}
