use crate::json::{Json, JsonObject};

/// An argument that an input schema does not take, or one it requires that is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitArgument<'n> {
    /// It is not taken.
    Unknown(&'n str),
    /// It is required.
    Missing(&'n str),
}

/// The first argument that does not fit. A schema that names its parameters and does not say that it takes others takes no others.
pub fn unfit_argument<'n>(schema: &'n Json, arguments: &'n JsonObject) -> Option<UnfitArgument<'n>> {
    let properties = schema.get("properties").and_then(Json::as_object)?;
    let open = schema.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false));
    if let Some(name) = arguments.keys().find(|name| !open && !properties.contains_key(*name)) {
        return Some(UnfitArgument::Unknown(name));
    }
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    required.iter().filter_map(Json::as_str).find(|name| !arguments.contains_key(*name)).map(UnfitArgument::Missing)
}

/// Follows references inside one schema document; a few steps only, so that a circle ends.
pub(super) fn followed<'s>(root: &'s Json, mut schema: &'s Json) -> Option<&'s Json> {
    for _ in 0..8 {
        let Some(reference) = schema.get("$ref") else { return Some(schema) };
        let path = reference.as_str()?.strip_prefix("#/")?;
        schema = path.split('/').try_fold(root, |at, step| at.get(&step.replace("~1", "/").replace("~0", "~")))?;
    }
    None
}

/// What a schema says about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextSchema<'s> {
    /// It is no text.
    NotText,
    /// Any text.
    Open,
    /// One of these.
    OneOf(Vec<&'s str>),
}

/// Reads the schema of a text argument. `null` beside a text is an argument that may be left out.
pub(super) fn text_schema<'s>(root: &'s Json, schema: &'s Json) -> TextSchema<'s> {
    read_text(root, schema, 8)
}

fn read_text<'s>(root: &'s Json, schema: &'s Json, depth: u8) -> TextSchema<'s> {
    let Some(schema) = followed(root, schema).filter(|_| depth > 0) else { return TextSchema::NotText };
    if let Some(only) = schema.get("const") {
        return only.as_str().map_or(TextSchema::NotText, |text| TextSchema::OneOf(vec![text]));
    }
    if let Some(words) = schema.get("enum").and_then(Json::as_array) {
        let texts: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
        return if texts.is_empty() { TextSchema::NotText } else { TextSchema::OneOf(texts) };
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(branches) = schema.get(keyword).and_then(Json::as_array) else { continue };
        let null = |branch: &&Json| branch.get("type").and_then(Json::as_str) != Some("null");
        let mut all = Vec::new();
        for branch in branches.iter().filter(null) {
            match read_text(root, branch, depth - 1) {
                TextSchema::OneOf(texts) => all.extend(texts),
                other => return other,
            }
        }
        return if all.is_empty() { TextSchema::NotText } else { TextSchema::OneOf(all) };
    }
    let text = match schema.get("type") {
        Some(Json::String(kind)) => kind == "string",
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind.as_str() == Some("string")),
        _ => false,
    };
    if text { TextSchema::Open } else { TextSchema::NotText }
}
