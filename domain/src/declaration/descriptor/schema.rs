//! Reading the record out of a tool's output schema.

use crate::json::{Json, JsonObject};

/// Members that usually hold the list.
const WRAPPERS: [&str; 7] = ["items", "results", "data", "records", "entries", "nodes", "values"];

/// Local references followed in a row before giving up.
const MAX_REFERENCES: usize = 16;

/// The record of an output schema.
pub(super) struct RecordSchema<'a> {
    root: &'a Json,
    /// Its properties.
    pub(super) properties: &'a JsonObject,
    /// The tool answers a list of them.
    pub(super) is_list: bool,
    /// The properties beside the list, where a wrapper carries it.
    pub(super) wrapper: Option<&'a JsonObject>,
}

impl<'a> RecordSchema<'a> {
    /// Finds the record: the items of a wrapped or top-level list, or of a list under a usual name, or of the only list of
    /// objects, or the object itself.
    pub(super) fn find(root: &'a Json) -> Option<Self> {
        let mut here = follow(root, root)?;
        let mut wrapper = None;
        if here.get("x-fastmcp-wrap-result") == Some(&Json::Bool(true)) {
            here = follow(root, here.get("properties")?.get("result")?)?;
        }
        let mut items = items_of(root, here);
        if items.is_none()
            && let Some(members) = here.get("properties").and_then(Json::as_object)
        {
            let lists = || members.values().filter_map(|member| items_of(root, follow(root, member)?));
            let usual = WRAPPERS.iter().find_map(|name| items_of(root, follow(root, members.get(*name)?)?));
            items = usual.or_else(|| lists().next().filter(|_| lists().count() == 1));
            wrapper = items.map(|_| members);
        }
        let is_list = items.is_some();
        let properties = match items {
            Some(properties) => properties,
            None => here.get("properties")?.as_object()?,
        };
        Some(Self { root, properties, is_list, wrapper })
    }

    /// The scalar properties with their types, in name order.
    pub(super) fn scalars(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.properties.iter().filter_map(|(name, schema)| Some((name.as_str(), scalar(self.root, schema)?)))
    }
}

/// The properties of the objects of a list schema.
fn items_of<'a>(root: &'a Json, schema: &'a Json) -> Option<&'a JsonObject> {
    if schema.get("type").and_then(Json::as_str) != Some("array") {
        return None;
    }
    follow(root, schema.get("items")?)?.get("properties")?.as_object()
}

/// Follows local references; `None` for foreign, missing or circular ones.
fn follow<'a>(root: &'a Json, mut schema: &'a Json) -> Option<&'a Json> {
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = schema.get("$ref") else { return Some(schema) };
        schema = reference
            .as_str()?
            .strip_prefix('#')?
            .split('/')
            .skip(1)
            .try_fold(root, |here, part| here.get(&part.replace("~1", "/").replace("~0", "~")))?;
    }
    None
}

fn scalar<'a>(root: &'a Json, schema: &'a Json) -> Option<&'a str> {
    const SCALARS: [&str; 4] = ["string", "integer", "number", "boolean"];
    let schema = follow(root, schema)?;
    let only = |mut words: Box<dyn Iterator<Item = &'a str> + 'a>| match (words.next(), words.next()) {
        (Some(word), None) => Some(word),
        _ => None,
    };
    let word = match (schema.get("type"), schema.get("anyOf").or_else(|| schema.get("oneOf"))) {
        (Some(Json::String(word)), _) => Some(word.as_str()),
        (Some(Json::Array(words)), _) => {
            only(Box::new(words.iter().filter_map(Json::as_str).filter(|word| *word != "null")))
        }
        (None, Some(Json::Array(options))) => only(Box::new(
            options
                .iter()
                .filter_map(move |option| follow(root, option)?.get("type")?.as_str())
                .filter(|word| *word != "null"),
        )),
        _ => None,
    };
    word.filter(|word| SCALARS.contains(word))
}
