//! Projections: the fields of an answer that are kept.

use std::collections::BTreeMap;

use scion_domain::json::{Json, JsonObject};

/// What is kept of each record of a list, or of the whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Where the list is; `None` when the answer itself is projected.
    list: Option<String>,
    fields: Fields,
}

/// The kept members of an object; none means all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fields(BTreeMap<String, Fields>);

impl Keep {
    /// Keeps the fields of these dotted names in each record of the list at a path, or in the answer. A list on the way is
    /// gone through.
    pub fn new<'a>(list: Option<&str>, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut fields = Fields::default();
        for name in names {
            let mut here = &mut fields;
            for segment in name.split('.') {
                here = here.0.entry(segment.to_owned()).or_default();
            }
        }
        Self { list: list.map(str::to_owned), fields }
    }

    /// Whether a dotted field is kept.
    pub fn has(&self, name: &str) -> bool {
        let mut here = &self.fields;
        for segment in name.split('.') {
            match here.0.get(segment) {
                Some(inner) => here = inner,
                None => return false,
            }
            if here.0.is_empty() {
                return true;
            }
        }
        true
    }

    /// The value with what is kept.
    pub fn apply(&self, mut value: Json) -> Json {
        match &self.list {
            None => self.fields.of(value),
            Some(path) => {
                if let Some(list) = at_mut(&mut value, path) {
                    *list = self.fields.of(std::mem::take(list));
                }
                value
            }
        }
    }

    /// The schema of the value with what is kept.
    pub(crate) fn schema(&self, mut schema: Json) -> Json {
        match &self.list {
            None => self.fields.schema(schema),
            Some(path) => {
                let mut here = &mut schema;
                for segment in path.split('.').filter(|segment| !segment.is_empty()) {
                    let Json::Object(members) = here else { return schema };
                    let Some(Json::Object(properties)) = members.get_mut("properties") else { return schema };
                    let Some(inner) = properties.get_mut(segment) else { return schema };
                    here = inner;
                }
                *here = self.fields.schema(std::mem::take(here));
                schema
            }
        }
    }
}

fn at_mut<'v>(value: &'v mut Json, path: &str) -> Option<&'v mut Json> {
    let mut here = value;
    for segment in path.split('.').filter(|segment| !segment.is_empty()) {
        let Json::Object(members) = here else { return None };
        here = members.get_mut(segment)?;
    }
    Some(here)
}

impl Fields {
    fn of(&self, value: Json) -> Json {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Json::Array(items) => Json::Array(items.into_iter().map(|item| self.of(item)).collect()),
            Json::Object(members) => {
                let kept = members.into_iter().filter_map(|(name, value)| {
                    let inner = self.0.get(&name)?;
                    Some((name, inner.of(value)))
                });
                Json::Object(kept.collect())
            }
            other => other,
        }
    }

    fn schema(&self, schema: Json) -> Json {
        let Json::Object(mut members) = schema else { return schema };
        if self.0.is_empty() {
            return Json::Object(members);
        }
        if let Some(items) = members.remove("items") {
            members.insert("items".to_owned(), self.schema(items));
        }
        if let Some(Json::Array(branches)) = members.remove("anyOf") {
            let branches: Vec<Json> = branches.into_iter().map(|branch| self.schema(branch)).collect();
            members.insert("anyOf".to_owned(), Json::Array(branches));
        }
        if let Some(Json::Object(properties)) = members.remove("properties") {
            let kept: JsonObject = properties
                .into_iter()
                .filter_map(|(name, schema)| Some((name.clone(), self.0.get(&name)?.schema(schema))))
                .collect();
            members.insert("properties".to_owned(), Json::Object(kept));
        }
        if let Some(Json::Array(required)) = members.remove("required") {
            let kept: Vec<Json> = required
                .into_iter()
                .filter(|name| name.as_str().is_some_and(|name| self.0.contains_key(name)))
                .collect();
            if !kept.is_empty() {
                members.insert("required".to_owned(), Json::Array(kept));
            }
        }
        Json::Object(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scion_domain::json::{parse, to_compact};

    #[test]
    fn what_is_kept_is_kept_in_values_and_schemas() {
        let value =
            parse(r#"{"total":2,"data":[{"id":1,"a":{"b":[{"c":1,"d":2}],"e":3},"x":null},{"id":2,"a":7}]}"#).unwrap();
        let keep = Keep::new(Some("data"), ["id", "a.b.c"]);
        assert_eq!(
            to_compact(&keep.apply(value.clone())),
            r#"{"data":[{"a":{"b":[{"c":1}]},"id":1},{"a":7,"id":2}],"total":2}"#
        );
        assert_eq!(to_compact(&Keep::new(None, ["total"]).apply(value)), r#"{"total":2}"#);
        assert!(keep.has("a.b.c.d") && keep.has("id") && keep.has("a") && !keep.has("x") && !keep.has("a.e"));
        let schema = parse(
            r#"{"type":"object","properties":{"data":{"type":"array","items":{"type":"object","properties":{"id":{},"x":{}},"required":["id","x"]}}}}"#,
        )
        .unwrap();
        assert_eq!(
            to_compact(&keep.schema(schema)),
            r#"{"properties":{"data":{"items":{"properties":{"id":{}},"required":["id"],"type":"object"},"type":"array"}},"type":"object"}"#
        );
    }
}
