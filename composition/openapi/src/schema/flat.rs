//! One schema with its references and its `allOf` written into it.

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::json::{Json, JsonObject};

use super::{Stop, Writer, address};

/// Keywords that are kept as they are when their value has a sensible type.
const KEPT: [&str; 14] = [
    "format",
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contentEncoding",
    "contentMediaType",
];
/// How deep `allOf` may be nested.
const MAX_NESTING: usize = 16;

/// A choice between schemas, and the discriminator beside it.
pub(super) struct Branches<'d> {
    pub(super) branches: &'d [Json],
    pub(super) discriminator: Option<&'d Json>,
}

/// What a schema says, in one place.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a keyword of its own")]
pub(super) struct Flat<'d> {
    /// The name of the schema, for people.
    pub(super) name: Option<&'d str>,
    /// Its types other than `null`; `None` when it is silent.
    pub(super) kinds: Option<Vec<&'d str>>,
    pub(super) nullable: bool,
    pub(super) description: Option<&'d str>,
    pub(super) deprecated: bool,
    pub(super) read_only: bool,
    pub(super) write_only: bool,
    pub(super) properties: BTreeMap<&'d str, Vec<&'d Json>>,
    pub(super) required: BTreeSet<&'d str>,
    pub(super) additional: Option<&'d Json>,
    pub(super) items: Option<&'d Json>,
    pub(super) unions: Vec<Branches<'d>>,
    pub(super) choices: Option<Vec<&'d Json>>,
    pub(super) kept: BTreeMap<&'static str, &'d Json>,
    /// The schemas it was made of, by address.
    pub(super) owners: Vec<usize>,
    /// The references that led here, by the address of their targets.
    pub(super) references: Vec<usize>,
}

impl<'d> Flat<'d> {
    /// Whether it has more than one type.
    pub(super) fn several(&self) -> bool {
        self.kinds.as_ref().is_some_and(|kinds| kinds.len() > 1)
    }

    /// The one type it has, said or told by its other keywords.
    pub(super) fn kind(&self) -> Option<&'d str> {
        match self.kinds.as_deref() {
            Some([kind]) => Some(kind),
            Some([_, ..]) => None,
            _ if !self.properties.is_empty() || self.additional.is_some() => Some("object"),
            _ if self.items.is_some() => Some("array"),
            _ if self.choices.is_some() => None,
            _ if ["format", "minLength", "maxLength"].iter().any(|keyword| self.kept.contains_key(keyword)) => {
                match self.kept.get("format").and_then(|format| format.as_str()) {
                    Some("int32" | "int64" | "uint32" | "uint64" | "integer" | "long") => Some("integer"),
                    Some("float" | "double" | "decimal") => Some("number"),
                    _ => Some("string"),
                }
            }
            _ if ["minimum", "maximum", "multipleOf"].iter().any(|keyword| self.kept.contains_key(keyword)) => {
                Some("number")
            }
            _ => None,
        }
    }

    fn types(&mut self, members: &'d JsonObject) {
        let stated: Vec<&str> = match members.get("type") {
            Some(Json::String(kind)) => vec![kind],
            Some(Json::Array(kinds)) => kinds.iter().take(8).filter_map(Json::as_str).collect(),
            _ => return,
        };
        let mut kinds: Vec<&str> = Vec::new();
        for kind in stated {
            let known = match kind {
                "null" => {
                    self.nullable = true;
                    continue;
                }
                "object" | "array" | "string" | "number" | "integer" | "boolean" | "file" => kind,
                // Words of other languages that documents are full of.
                "int" | "long" => "integer",
                "float" | "double" => "number",
                "bool" => "boolean",
                "text" | "date" | "datetime" | "uuid" => "string",
                _ => return,
            };
            if !kinds.contains(&known) {
                kinds.push(known);
            }
        }
        if kinds.is_empty() {
            return;
        }
        self.kinds = match self.kinds.take() {
            None => Some(kinds),
            Some(before) => {
                let both: Vec<&str> = before.iter().copied().filter(|kind| kinds.contains(kind)).collect();
                // Types that exclude each other are a mistake of the document; the outer one counts.
                Some(if both.is_empty() { before } else { both })
            }
        };
    }

    fn scalars(&mut self, members: &'d JsonObject) {
        let flag = |name: &str| members.get(name).and_then(Json::as_bool) == Some(true);
        self.nullable |= flag("nullable") || flag("x-nullable");
        self.deprecated |= flag("deprecated");
        self.read_only |= flag("readOnly");
        self.write_only |= flag("writeOnly");
        if let Some(text) = members.get("description").or_else(|| members.get("title")).and_then(Json::as_str) {
            self.description.get_or_insert(text);
        }
        for keyword in KEPT {
            if let Some(value) = members.get(keyword) {
                self.kept.entry(keyword).or_insert(value);
            }
        }
        if let Some(value) = members.get("additionalProperties") {
            // The closed one of several wins, then the one that says more.
            let weaker = self.additional.is_none_or(|before| matches!(before, Json::Bool(true)));
            if weaker || value.as_bool() == Some(false) {
                self.additional = Some(value);
            }
        }
        if let Some(items @ Json::Object(_)) = members.get("items") {
            self.items.get_or_insert(items);
        }
    }
}

impl<'d> Writer<'d> {
    /// `None` when the schema is one that is being written out already.
    pub(super) fn flatten(&mut self, schemas: &[&'d Json]) -> Result<Option<Flat<'d>>, Stop> {
        let mut flat = Flat::default();
        for schema in schemas {
            if !self.absorb(schema, &mut flat, 0)? {
                return Ok(None);
            }
        }
        Ok(Some(flat))
    }

    fn absorb(&mut self, schema: &'d Json, flat: &mut Flat<'d>, nesting: usize) -> Result<bool, Stop> {
        self.step(1)?;
        let Some(members) = schema.as_object() else { return Ok(true) };
        if nesting > MAX_NESTING {
            return Ok(false);
        }
        let here = address(schema);
        if flat.owners.contains(&here) {
            return Ok(true);
        }
        if flat.owners.len() >= 256 {
            return Err(Stop::TooLarge);
        }
        flat.owners.push(here);
        flat.scalars(members);
        flat.types(members);
        self.lists(members, flat)?;
        let mut whole = true;
        if let Some(reference) = members.get("$ref").and_then(Json::as_str) {
            let target = self.refs.target(reference)?;
            let known = address(target);
            if self.open.contains(&known) && !self.branching.contains(&known) {
                return Ok(false);
            }
            let name = reference.rsplit('/').next().unwrap_or_default();
            if !name.is_empty() {
                flat.name.get_or_insert(name);
            }
            if !flat.references.contains(&known) && !self.open.contains(&known) {
                flat.references.push(known);
            }
            whole &= self.absorb(target, flat, nesting + 1)?;
        }
        let parts = members.get("allOf").and_then(Json::as_array).unwrap_or_default();
        for part in parts {
            whole &= self.absorb(part, flat, nesting + 1)?;
        }
        if !self.branching.contains(&here) {
            for keyword in ["oneOf", "anyOf"] {
                if let Some(branches @ [_, ..]) = members.get(keyword).and_then(Json::as_array) {
                    let discriminator = members.get("discriminator");
                    flat.unions.push(Branches { branches, discriminator });
                }
            }
        }
        Ok(whole)
    }

    fn lists(&mut self, members: &'d JsonObject, flat: &mut Flat<'d>) -> Result<(), Stop> {
        if let Some(properties) = members.get("properties").and_then(Json::as_object) {
            self.step(properties.len())?;
            for (name, property) in properties {
                let all = flat.properties.entry(name.as_str()).or_default();
                if !all.iter().any(|known| address(known) == address(property)) {
                    all.push(property);
                }
            }
        }
        if let Some(required) = members.get("required").and_then(Json::as_array) {
            self.step(required.len())?;
            flat.required.extend(required.iter().filter_map(Json::as_str));
        }
        let constant = members.get("const").map(std::slice::from_ref);
        let listed = members.get("enum").and_then(Json::as_array).filter(|choices| !choices.is_empty());
        if let Some(choices) = constant.or(listed) {
            self.step(choices.len())?;
            flat.choices = Some(match flat.choices.take() {
                None => choices.iter().collect(),
                Some(before) => {
                    self.step(before.len().saturating_mul(choices.len()))?;
                    before.into_iter().filter(|choice| choices.contains(choice)).collect()
                }
            });
        }
        Ok(())
    }
}
