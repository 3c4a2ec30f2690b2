//! The checks of one schema.

use super::{ClientProfile, MAX_SAFE_INTEGER, ProfileFinding};
use crate::json::{Json, JsonObject};
use crate::mcp::ToolDescription;

const COMPOSITIONS: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef"];
/// Keywords whose value is one schema.
const ONE: [&str; 4] = ["items", "not", "contains", "additionalProperties"];
/// Keywords whose value is a list of schemas.
const MANY: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// The most references that are followed in one schema; more is as bad as a circle.
const MAX_FOLLOWED: usize = 1_000;

pub(super) fn check_input(profile: &ClientProfile, tool: &ToolDescription, found: &mut Vec<ProfileFinding>) {
    root(&tool.name, "input", &tool.input_schema, found);
    let arguments = tool.input_schema.get("properties").and_then(Json::as_object);
    for name in arguments.into_iter().flat_map(JsonObject::keys) {
        let plain = !name.is_empty()
            && name.len() <= profile.max_argument_chars
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        if !plain {
            found.push(ProfileFinding::ArgumentName { tool: tool.name.clone(), at: pointer("/properties", name) });
        }
    }
    Walk::new(profile, &tool.name, &tool.input_schema, true, found).run();
}

pub(super) fn check_output(profile: &ClientProfile, tool: &str, schema: &Json, found: &mut Vec<ProfileFinding>) {
    root(tool, "output", schema, found);
    Walk::new(profile, tool, schema, false, found).run();
}

fn root(tool: &str, which: &'static str, schema: &Json, found: &mut Vec<ProfileFinding>) {
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        found.push(ProfileFinding::RootNotObject { tool: tool.to_owned(), schema: which });
    }
    for keyword in COMPOSITIONS {
        if schema.get(keyword).is_some() {
            found.push(ProfileFinding::RootComposition { tool: tool.to_owned(), schema: which, keyword });
        }
    }
}

fn pointer(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

struct Walk<'w> {
    profile: &'w ClientProfile,
    tool: &'w str,
    root: &'w Json,
    input: bool,
    found: &'w mut Vec<ProfileFinding>,
    /// The references that are being followed.
    open: Vec<&'w str>,
    followed: usize,
    deep: bool,
}

impl<'w> Walk<'w> {
    fn new(
        profile: &'w ClientProfile,
        tool: &'w str,
        root: &'w Json,
        input: bool,
        found: &'w mut Vec<ProfileFinding>,
    ) -> Self {
        Self { profile, tool, root, input, found, open: Vec::new(), followed: 0, deep: false }
    }

    fn run(&mut self) {
        self.schema(self.root, "", 0);
    }

    fn add(&mut self, make: impl FnOnce(String, String) -> ProfileFinding, at: &str) {
        let at = if at.is_empty() { "/" } else { at };
        self.found.push(make(self.tool.to_owned(), at.to_owned()));
    }

    fn schema(&mut self, schema: &'w Json, at: &str, depth: usize) {
        if depth > self.profile.max_depth {
            if !self.deep {
                self.deep = true;
                let limit = self.profile.max_depth;
                self.found.push(ProfileFinding::TooDeep { tool: self.tool.to_owned(), limit });
            }
            return;
        }
        let Some(members) = schema.as_object() else {
            self.add(|tool, at| ProfileFinding::NotASchema { tool, at }, at);
            return;
        };
        if members.contains_key("$dynamicRef") {
            self.add(|tool, at| ProfileFinding::OpenReference { tool, at }, at);
        }
        if let Some(reference) = members.get("$ref") {
            self.reference(reference, at, depth);
        }
        if self.input {
            self.object(members, at);
            self.integer(members, at);
        }
        let properties = members.get("properties").and_then(Json::as_object);
        for (name, property) in properties.into_iter().flatten() {
            self.schema(property, &pointer(&format!("{at}/properties"), name), depth + 1);
        }
        for keyword in ONE {
            match members.get(keyword) {
                None => {}
                // The one place where a boolean is a schema that clients know.
                Some(Json::Bool(_)) if keyword == "additionalProperties" => {}
                Some(inner) => self.schema(inner, &format!("{at}/{keyword}"), depth + 1),
            }
        }
        for keyword in MANY {
            let branches = members.get(keyword).and_then(Json::as_array).unwrap_or_default();
            for (index, branch) in branches.iter().enumerate() {
                self.schema(branch, &format!("{at}/{keyword}/{index}"), depth + 1);
            }
        }
    }

    /// A reference is closed when it leads to a place of this schema, and not back to where it stands.
    fn reference(&mut self, reference: &'w Json, at: &str, depth: usize) {
        let target = reference.as_str().and_then(|text| Some((text, self.target(text)?)));
        self.followed += 1;
        match target {
            Some((text, target)) if !self.open.contains(&text) && self.followed <= MAX_FOLLOWED => {
                self.open.push(text);
                self.schema(target, at, depth + 1);
                self.open.pop();
            }
            _ => self.add(|tool, at| ProfileFinding::OpenReference { tool, at }, at),
        }
    }

    fn target(&self, text: &str) -> Option<&'w Json> {
        // The root itself is always a circle.
        let path = text.strip_prefix("#/")?;
        let mut here = self.root;
        for segment in path.split('/').take(64) {
            here = here.get(&segment.replace("~1", "/").replace("~0", "~"))?;
        }
        Some(here)
    }

    fn object(&mut self, members: &JsonObject, at: &str) {
        let properties = members.get("properties").and_then(Json::as_object);
        if !has_type(members, "object") && properties.is_none() {
            return;
        }
        // Closed, or a map whose values have a type.
        let closed = match members.get("additionalProperties") {
            Some(Json::Bool(open)) => !open,
            Some(Json::Object(values)) => !values.is_empty(),
            _ => false,
        };
        if !closed {
            self.add(|tool, at| ProfileFinding::OpenObject { tool, at }, at);
        }
        let required = members.get("required").and_then(Json::as_array).unwrap_or_default();
        let described =
            |name: &Json| name.as_str().is_some_and(|name| properties.is_some_and(|known| known.contains_key(name)));
        if !required.iter().all(described) {
            self.add(|tool, at| ProfileFinding::RequiredUnknown { tool, at }, at);
        }
    }

    fn integer(&mut self, members: &JsonObject, at: &str) {
        let wide_format = matches!(members.get("format").and_then(Json::as_str), Some("int64" | "uint64"));
        let text_too = has_type(members, "string");
        let listed = members.contains_key("enum") || members.contains_key("const");
        let bounded = ["minimum", "maximum"].iter().all(|bound| members.get(*bound).is_some_and(|b| !is_wide(b)));
        let literals = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "default", "const"];
        let choices = members.get("enum").and_then(Json::as_array).unwrap_or_default();
        let wide_literal = literals.iter().filter_map(|keyword| members.get(*keyword)).chain(choices).any(is_wide);
        if wide_literal || (has_type(members, "integer") && wide_format && !text_too && !bounded && !listed) {
            self.add(|tool, at| ProfileFinding::WideInteger { tool, at }, at);
        }
    }
}

fn has_type(members: &JsonObject, wanted: &str) -> bool {
    match members.get("type") {
        Some(Json::String(kind)) => kind == wanted,
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind.as_str() == Some(wanted)),
        _ => false,
    }
}

/// Whether a literal is an integer that a float does not keep.
fn is_wide(value: &Json) -> bool {
    value.as_number().is_some_and(|number| {
        number.is_integer() && number.as_i64().is_none_or(|value| value.unsigned_abs() > MAX_SAFE_INTEGER)
    })
}
