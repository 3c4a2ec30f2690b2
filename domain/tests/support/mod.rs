//! Reading the golden vectors.

#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests read the vectors and fail by panicking")]

use scion_domain::declaration::SyncPreset;
use scion_domain::id::StreamName;
use scion_domain::json::{Json, JsonLimits, parse_with};

/// A vector file.
pub(crate) struct Vectors(Json);

impl Vectors {
    pub(crate) fn open(name: &str) -> Self {
        let path = format!("{}/../conformance/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(&path).expect("the vectors are part of the checkout");
        let limits = JsonLimits { max_depth: 200, ..JsonLimits::DEFAULT };
        Self(parse_with(&text, limits).expect("the vectors are JSON"))
    }

    pub(crate) fn value(&self, name: &str) -> &Json {
        self.0.get(name).unwrap_or_else(|| panic!("no section {name}"))
    }

    /// Runs every case of a section; one that holds no case fails.
    pub(crate) fn each(&self, section: &str, mut run: impl FnMut(&Case<'_>)) {
        let cases = self.value(section).as_array().expect("a section is a list");
        assert!(!cases.is_empty(), "{section} has no cases");
        for (index, value) in cases.iter().enumerate() {
            let id =
                value.get("id").and_then(Json::as_str).map_or_else(|| format!("{section}[{index}]"), str::to_owned);
            run(&Case { id, value });
        }
    }
}

/// One case.
pub(crate) struct Case<'a> {
    pub(crate) id: String,
    pub(crate) value: &'a Json,
}

impl<'a> Case<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&'a Json> {
        self.value.get(name)
    }

    pub(crate) fn need(&self, name: &str) -> &'a Json {
        self.get(name).unwrap_or_else(|| panic!("{} has no {name}", self.id))
    }

    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.need(name).as_str().unwrap_or_else(|| panic!("{}: {name} is not text", self.id))
    }

    pub(crate) fn list(&self, name: &str) -> &'a [Json] {
        self.need(name).as_array().unwrap_or_else(|| panic!("{}: {name} is not a list", self.id))
    }

    pub(crate) fn fails(&self) -> bool {
        self.get("error").is_some()
    }
}

pub(crate) fn json(text: &str) -> Json {
    scion_domain::json::parse(text).unwrap()
}

/// A preset of a vector; `name` may stand in it.
pub(crate) fn preset(value: &Json) -> SyncPreset {
    let mut object = value.as_object().unwrap().clone();
    let name = object.remove("name");
    let name = name.as_ref().and_then(Json::as_str).unwrap_or("tickets");
    SyncPreset::from_object(&StreamName::parse(name).unwrap(), &object).unwrap()
}
