//! Reads curation files of `scion serve --openapi`: what an operator says about an API beside its document.

use std::collections::BTreeMap;
use std::path::Path;

use scion_domain::api_curation::{
    ApiCuration, EdgeCuration, ForEachCuration, OperationCuration, PageCuration, Placed, RiskClass, Selector,
    SourceCuration, SourceSettings,
};
use scion_domain::config::{ConfigProblems, ConfigRefusal, hint};
use scion_domain::id::ConnectorName;
use scion_domain::json::Json;

use crate::document::plain;
use crate::scalar;
use crate::tree::Node;
use crate::walk::{At, Fields, Walk, join};

const TOP: &[&str] =
    &["name", "title", "instructions", "prefix", "base_url", "variables", "include", "exclude", "operations"];
const SELECTOR: &[&str] = &["operation", "tag", "method"];
const OPERATION: &[&str] = &["name", "title", "description", "risk", "keep", "fixed", "defaults", "source"];
const SOURCE: &[&str] = &[
    "id",
    "record_type",
    "id_field",
    "records_path",
    "title_field",
    "text_field",
    "updated_field",
    "since_argument",
    "class",
    "fields",
    "pages",
    "for_each",
    "edges",
];
const PAGES: &[&str] = &["mode", "argument", "path", "size_argument", "size", "start"];
const FOR_EACH: &[&str] = &["source", "argument", "field"];
const EDGE: &[&str] = &["relationship", "field", "target_type", "target_source"];
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const MODES: [&str; 4] = ["none", "page", "offset", "cursor"];

/// Reads a curation. A `file_name` that ends in `.json` (any case) is read as JSON, all others as YAML 1.2.
pub fn curation(text: &str, file_name: &str) -> Result<ApiCuration, ConfigProblems> {
    let tree = crate::parsed(text, file_name)?;
    let mut walk = Walk::default();
    let read = top(&mut walk, &At { node: &tree, path: String::new() }, file_name);
    walk.finish(file_name)?;
    // A walk that gives nothing has noted why; the second refusal is for a reader that forgets to.
    read.ok_or_else(|| ConfigProblems::of_file(file_name, ConfigRefusal::Empty))
}

/// Like [`curation`], from a file.
pub fn curation_file(path: &Path) -> Result<ApiCuration, ConfigProblems> {
    let name = path.display().to_string();
    let bytes = crate::bytes_of(path)?;
    curation(crate::utf8(&bytes, &name)?, &name)
}

fn placed<T>(at: &At<'_>, value: T) -> Placed<T> {
    Placed { value, line: at.node.place.line, column: at.node.place.column, path: at.path.clone() }
}

fn text(walk: &mut Walk, fields: &Fields<'_>, key: &str) -> Option<String> {
    let at = fields.get(key)?;
    filled(walk, &at)
}

fn filled(walk: &mut Walk, at: &At<'_>) -> Option<String> {
    let text = scalar::text(at.node);
    let text = walk.take(at, text)?;
    if text.trim().is_empty() {
        walk.refuse(at, ConfigRefusal::WrongType { expected: "text", found: "nothing" });
        return None;
    }
    Some(text.to_owned())
}

fn placed_text(walk: &mut Walk, fields: &Fields<'_>, key: &str) -> Option<Placed<String>> {
    let at = fields.get(key)?;
    filled(walk, &at).map(|text| placed(&at, text))
}

/// A word of a closed list; another one is refused with the closest.
fn word<'w>(walk: &mut Walk, at: &At<'_>, what: &'static str, known: &[&'w str]) -> Option<&'w str> {
    let text = filled(walk, at)?;
    let found = known.iter().copied().find(|word| word.eq_ignore_ascii_case(&text));
    if found.is_none() {
        walk.refuse(at, ConfigRefusal::UnknownName { what, hint: hint(&text, known.iter().copied()) });
    }
    found
}

fn top(walk: &mut Walk, at: &At<'_>, file: &str) -> Option<ApiCuration> {
    if at.is_null() {
        walk.refuse(at, ConfigRefusal::Empty);
        return None;
    }
    let top = walk.fields(at, TOP)?;
    let name = match top.get("name") {
        None => None,
        Some(at) => {
            let text = filled(walk, &at)?;
            walk.take(&at, ConnectorName::parse(&text).map_err(|refusal| ConfigRefusal::BadName { refusal }))
        }
    };
    Some(ApiCuration {
        file: file.to_owned(),
        name,
        title: text(walk, &top, "title"),
        instructions: text(walk, &top, "instructions"),
        prefix: placed_text(walk, &top, "prefix"),
        base_url: text(walk, &top, "base_url"),
        variables: texts(walk, &top, "variables"),
        include: selectors(walk, &top, "include"),
        exclude: selectors(walk, &top, "exclude"),
        operations: operations(walk, &top),
    })
}

fn texts(walk: &mut Walk, fields: &Fields<'_>, key: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let Some(at) = fields.get(key) else { return out };
    for member in walk.members(&at).unwrap_or_default() {
        let at = at.child(&member.key, &member.value);
        if let Some(text) = filled(walk, &at) {
            out.insert(member.key.clone(), text);
        }
    }
    out
}

fn selectors(walk: &mut Walk, fields: &Fields<'_>, key: &str) -> Vec<Placed<Selector>> {
    let Some(at) = fields.get(key) else { return Vec::new() };
    let mut out = Vec::new();
    for at in walk.items(&at).unwrap_or_default() {
        let Some(one) = walk.fields(&at, SELECTOR) else { continue };
        let set: Vec<(&str, At<'_>)> = SELECTOR.iter().filter_map(|key| Some((*key, one.get(key)?))).collect();
        let [(kind, value)] = set.as_slice() else {
            walk.refuse(
                &at,
                ConfigRefusal::NotPossible { what: "needs exactly one of `operation`, `tag` and `method`" },
            );
            continue;
        };
        let selector = match *kind {
            "operation" => filled(walk, value).map(Selector::Operation),
            "tag" => filled(walk, value).map(Selector::Tag),
            _ => word(walk, value, "method", &METHODS).map(|method| Selector::Method(method.to_owned())),
        };
        out.extend(selector.map(|selector| placed(value, selector)));
    }
    out
}

fn operations(walk: &mut Walk, fields: &Fields<'_>) -> Vec<(Placed<String>, OperationCuration)> {
    let Some(at) = fields.get("operations") else { return Vec::new() };
    let mut out = Vec::new();
    for member in walk.members(&at).unwrap_or_default() {
        let here = at.child(&member.key, &member.value);
        let key = Placed {
            value: member.key.clone(),
            line: member.place.line,
            column: member.place.column,
            path: here.path.clone(),
        };
        if let Some(operation) = operation(walk, &here) {
            out.push((key, operation));
        }
    }
    out
}

fn operation(walk: &mut Walk, at: &At<'_>) -> Option<OperationCuration> {
    if at.is_null() {
        return Some(OperationCuration::default());
    }
    let set = walk.fields(at, OPERATION)?;
    let risk = set.get("risk").and_then(|at| {
        let words: Vec<&str> = RiskClass::WORDS.iter().map(|(word, _)| *word).collect();
        let word = word(walk, &at, "risk class", &words)?;
        let class = RiskClass::WORDS.iter().find(|(known, _)| *known == word).map(|(_, class)| *class);
        class.map(|class| placed(&at, class))
    });
    let mut keep = Vec::new();
    if let Some(at) = set.get("keep") {
        for at in walk.items(&at).unwrap_or_default() {
            keep.extend(filled(walk, &at).map(|text| placed(&at, text)));
        }
        if keep.is_empty() {
            walk.refuse(&at, ConfigRefusal::NotPossible { what: "keeps no field at all" });
        }
    }
    Some(OperationCuration {
        name: placed_text(walk, &set, "name"),
        title: text(walk, &set, "title"),
        description: text(walk, &set, "description"),
        risk,
        keep,
        fixed: arguments(walk, &set, "fixed"),
        defaults: arguments(walk, &set, "defaults"),
        source: set.get("source").and_then(|at| source(walk, &at).map(|source| placed(&at, source))),
    })
}

fn arguments(walk: &mut Walk, fields: &Fields<'_>, key: &str) -> Vec<(Placed<String>, Json)> {
    let Some(at) = fields.get(key) else { return Vec::new() };
    let mut out = Vec::new();
    for member in walk.members(&at).unwrap_or_default() {
        let name = Placed {
            value: member.key.clone(),
            line: member.place.line,
            column: member.place.column,
            path: join(&at.path, &member.key),
        };
        match plain(&member.value) {
            Ok(value) => out.push((name, value)),
            Err(broken) => {
                let place = crate::tree::Place { line: broken.line, column: broken.column };
                walk.note(place, &name.path, broken.refusal);
            }
        }
    }
    out
}

fn is_false(node: &Node) -> bool {
    matches!(&node.value, crate::tree::Value::Scalar { text, plain: true } if text == "false")
}

fn source(walk: &mut Walk, at: &At<'_>) -> Option<SourceCuration> {
    if is_false(at.node) {
        return Some(SourceCuration::Off);
    }
    let set = walk.fields(at, SOURCE)?;
    let for_each = set.get("for_each").and_then(|at| {
        let set = walk.fields(&at, FOR_EACH)?;
        let (parent, argument) = (walk.require(&set, "source"), walk.require(&set, "argument"));
        let parent = filled(walk, &parent?)?;
        let argument = argument?;
        let name = filled(walk, &argument)?;
        let field = text(walk, &set, "field").unwrap_or_else(|| "id".to_owned());
        Some(ForEachCuration { source: parent, argument: placed(&argument, name), field })
    });
    let mut edges = Vec::new();
    if let Some(at) = set.get("edges") {
        for at in walk.items(&at).unwrap_or_default() {
            edges.extend(edge(walk, &at));
        }
    }
    Some(SourceCuration::On(Box::new(SourceSettings {
        id: text(walk, &set, "id"),
        record_type: text(walk, &set, "record_type"),
        id_field: text(walk, &set, "id_field"),
        records_path: text(walk, &set, "records_path"),
        title_field: text(walk, &set, "title_field"),
        text_field: text(walk, &set, "text_field"),
        updated_field: text(walk, &set, "updated_field"),
        since_argument: placed_text(walk, &set, "since_argument"),
        class: text(walk, &set, "class"),
        fields: texts(walk, &set, "fields"),
        pages: set.get("pages").and_then(|at| pages(walk, &at).map(|pages| placed(&at, pages))),
        for_each,
        edges,
    })))
}

fn edge(walk: &mut Walk, at: &At<'_>) -> Option<EdgeCuration> {
    let set = walk.fields(at, EDGE)?;
    let needed = ["relationship", "field", "target_type"].map(|key| {
        let at = walk.require(&set, key)?;
        filled(walk, &at)
    });
    let [Some(relationship), Some(field), Some(target_type)] = needed else { return None };
    Some(EdgeCuration { relationship, field, target_type, target_source: text(walk, &set, "target_source") })
}

fn pages(walk: &mut Walk, at: &At<'_>) -> Option<PageCuration> {
    let set = walk.fields(at, PAGES)?;
    let mode = walk.require(&set, "mode")?;
    let mode = word(walk, &mode, "mode of paging", &MODES)?;
    let number = |walk: &mut Walk, key: &str, limit: u32, expected: &'static str| {
        let at = set.get(key)?;
        let read = scalar::count(at.node, limit, expected);
        walk.take(&at, read)
    };
    let size = number(walk, "size", 1000, "1 to 1000");
    let size_argument = text(walk, &set, "size_argument");
    let allowed: &[&str] = match mode {
        "none" => &["mode"],
        "page" => &["mode", "argument", "size_argument", "size", "start"],
        "offset" => &["mode", "argument", "size_argument", "size"],
        _ => &["mode", "argument", "path", "size_argument", "size"],
    };
    for key in PAGES.iter().filter(|key| !allowed.contains(*key)) {
        if let Some(at) = set.get(key) {
            walk.refuse(&at, ConfigRefusal::NotPossible { what: "does not belong to this mode of paging" });
        }
    }
    if mode == "none" {
        return Some(PageCuration::None);
    }
    let argument = walk.require(&set, "argument")?;
    let argument = filled(walk, &argument)?;
    Some(match mode {
        "page" => {
            let start = match set.get("start") {
                // Zero is a first page, and no count.
                Some(at) if scalar::text(at.node).is_err() => match plain(at.node) {
                    Ok(Json::Number(number)) if number.as_u64().is_some_and(|start| start <= 1_000_000) => {
                        number.as_u64().unwrap_or_default()
                    }
                    _ => {
                        walk.refuse(&at, ConfigRefusal::OutOfRange { expected: "0 to 1000000" });
                        return None;
                    }
                },
                Some(at) => {
                    walk.refuse(&at, ConfigRefusal::WrongType { expected: "a whole number", found: "text" });
                    return None;
                }
                None => 1,
            };
            PageCuration::Page { argument, size_argument, start, size }
        }
        "offset" => PageCuration::Offset { argument, size_argument, size },
        _ => {
            let path = walk.require(&set, "path")?;
            PageCuration::Cursor { argument, path: filled(walk, &path)?, size_argument, size }
        }
    })
}
