//! The comparison of two canonical schemas.

use std::collections::BTreeSet;

use super::canonical::Normal;
use super::{DriftClass, DriftReason, EvolutionPolicy};
use crate::canonical::lossless_json;
use crate::json::{Json, JsonObject};

/// Keywords with a rule of their own; the rest are compared as values.
const RULED: [&str; 6] = ["type", "properties", "required", "items", "enum", "const"];

/// What a comparison found.
pub(super) struct Findings {
    pub(super) affected: BTreeSet<String>,
    pub(super) reasons: BTreeSet<DriftReason>,
    pub(super) class: DriftClass,
    policy: EvolutionPolicy,
}

/// Compares two contracts.
pub(super) fn compare(prior: Option<&Normal>, current: Option<&Normal>, policy: EvolutionPolicy) -> Findings {
    let mut found =
        Findings { affected: BTreeSet::new(), reasons: BTreeSet::new(), class: DriftClass::Compatible, policy };
    let (Some(prior), Some(current)) = (prior, current) else {
        found.note("/".to_owned(), DriftReason::MissingSchema, DriftClass::RequiresReview);
        return found;
    };
    if prior.digest == current.digest {
        return found;
    }
    if prior.identifiers != current.identifiers {
        found.note("/".to_owned(), DriftReason::IdentifierChanged, DriftClass::Breaking);
    }
    found.schemas(&prior.schema, &current.schema, "");
    found
}

/// The members of one side that decide about requiredness.
fn required(schema: &JsonObject) -> BTreeSet<&str> {
    schema.get("required").and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_str).collect()
}

/// Equal as values: `1` and `1.0` are, `1` and `true` are not.
fn same(a: Option<&Json>, b: Option<&Json>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || lossless_json(a) == lossless_json(b),
        (None, None) => true,
        _ => false,
    }
}

/// Equal as sets, where both are lists.
fn same_set(a: Option<&Json>, b: Option<&Json>) -> bool {
    match (a, b) {
        (Some(Json::Array(a)), Some(Json::Array(b))) => {
            let set = |items: &[Json]| items.iter().map(lossless_json).collect::<BTreeSet<_>>();
            set(a) == set(b)
        }
        _ => same(a, b),
    }
}

impl Findings {
    fn note(&mut self, at: String, reason: DriftReason, class: DriftClass) {
        self.affected.insert(at);
        self.reasons.insert(reason);
        self.class = self.class.max(class);
    }

    fn review(&mut self, at: String, reason: DriftReason) {
        self.note(at, reason, DriftClass::RequiresReview);
    }

    fn schemas(&mut self, prior: &Json, current: &Json, at: &str) {
        if same(Some(prior), Some(current)) {
            return;
        }
        let (Json::Object(prior), Json::Object(current)) = (prior, current) else {
            self.review(at.to_owned(), DriftReason::UnknownSchemaChange);
            return;
        };
        if !same_set(prior.get("type"), current.get("type")) {
            self.note(format!("{at}/type"), DriftReason::TypeChanged, DriftClass::Breaking);
        }
        self.properties(prior, current, at);
        // No list of required members says the same as an empty one.
        let none = Json::Array(Vec::new());
        let list = |side: &JsonObject| side.get("required").unwrap_or(&none).clone();
        if !same_set(Some(&list(prior)), Some(&list(current))) {
            self.review(format!("{at}/required"), DriftReason::RequirednessChanged);
        }
        match (prior.get("items"), current.get("items")) {
            (Some(prior), Some(current)) => self.schemas(prior, current, &format!("{at}/items")),
            (None, None) => {}
            _ => self.review(format!("{at}/items"), DriftReason::UnknownSchemaChange),
        }
        for keyword in ["enum", "const"] {
            let (before, after) = (prior.get(keyword), current.get(keyword));
            let equal = if keyword == "enum" { same_set(before, after) } else { same(before, after) };
            if !equal {
                self.review(format!("{at}/{keyword}"), DriftReason::EnumChanged);
            }
        }
        let keywords: BTreeSet<&String> = prior.keys().chain(current.keys()).collect();
        for keyword in keywords.into_iter().filter(|keyword| !RULED.contains(&keyword.as_str())) {
            if !same(prior.get(keyword), current.get(keyword)) {
                self.review(format!("{at}/{keyword}"), DriftReason::UnknownSchemaChange);
            }
        }
    }

    fn properties(&mut self, prior: &JsonObject, current: &JsonObject, at: &str) {
        let none = JsonObject::new();
        let side = |schema: &JsonObject| schema.get("properties").is_none_or(|value| value.as_object().is_some());
        if !side(prior) || !side(current) {
            if !same(prior.get("properties"), current.get("properties")) {
                self.review(at.to_owned(), DriftReason::UnknownProperties);
            }
            return;
        }
        let before = prior.get("properties").and_then(Json::as_object).unwrap_or(&none);
        let after = current.get("properties").and_then(Json::as_object).unwrap_or(&none);
        let (required_before, required_after) = (required(prior), required(current));
        let is_required = |name: &str| required_before.contains(name) || required_after.contains(name);
        for (name, schema) in before {
            let at = format!("{at}/properties/{name}");
            match after.get(name) {
                Some(now) => self.schemas(schema, now, &at),
                None if is_required(name) => self.note(at, DriftReason::FieldRemoved, DriftClass::Breaking),
                None => self.review(at, DriftReason::FieldRemoved),
            }
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            let permitted = self.policy == EvolutionPolicy::OptionalFields && !is_required(name);
            let class = if permitted { DriftClass::Compatible } else { DriftClass::RequiresReview };
            self.note(format!("{at}/properties/{name}"), DriftReason::FieldAdded, class);
        }
    }
}
