//! Reads the golden vector files for unit tests, numbers included.

use crate::json::{Json, JsonLimits, parse_with};

#[expect(clippy::disallowed_methods, reason = "tests read the vectors that ship with the repository")]
/// One vector file of `conformance/vectors`.
pub(crate) fn load(name: &str) -> Json {
    let path = format!("{}/../conformance/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    parse_with(&text, JsonLimits::DEFAULT).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The cases of one section; fails when there are none.
pub(crate) fn section<'v>(file: &'v Json, name: &str) -> &'v [Json] {
    let cases = file.get(name).and_then(Json::as_array).unwrap_or_else(|| panic!("no section {name}"));
    assert!(!cases.is_empty(), "section {name} has no case");
    cases
}

/// A text member of a case.
pub(crate) fn text<'v>(case: &'v Json, name: &str) -> &'v str {
    case.get(name).and_then(Json::as_str).unwrap_or_else(|| panic!("no text {name} in a case"))
}
