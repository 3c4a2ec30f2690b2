//! Identifiers of persons in what a connector returns (SDK-CONNECTOR-CONTROL-R014.6).

use std::borrow::Cow;
use std::collections::HashMap;

use super::patterns::replace_all;
use super::report::{Finding, GuardReport};
use crate::json::{Json, JsonObject};
use crate::refusals;

/// The deepest nesting that is looked through, that of [`JsonLimits::DEFAULT`](crate::json::JsonLimits::DEFAULT).
const MAX_DEPTH: usize = 64;
/// A marker can set a neighbour free, so a replaced text is looked at again; this often at most.
const ROUNDS: usize = 8;

refusals! {
    /// Why a payload was not cleaned.
    pub enum PiiRefusal {
        /// Nested deeper than is looked through. Nothing of it is handed back.
        TooDeep { limit: usize } => "pii_too_deep", CallerMistake, Never,
            "the payload is nested deeper than {limit} levels", "flatten the payload";
    }
}

/// Removes social security, tax and card numbers and mail addresses from text and nested payloads, keys included.
///
/// The patterns are those of [`PersistencePrivacyGuard`](super::PersistencePrivacyGuard), of which these four need no field name to
/// be recognised; what this one finds, the guard finds too. Numbers are left alone, as there.
#[derive(Clone, Copy, Debug, Default)]
pub struct PiiSanitizer;

impl PiiSanitizer {
    /// The labels of what is removed; the marker of each is `[REDACTED_<LABEL>]`.
    pub fn labels() -> Vec<&'static str> {
        Finding::ALL.into_iter().filter(|finding| finding.is_pii()).map(Finding::label).collect()
    }

    /// A text without personal data; borrowed when there is none in it.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        clean(text, &mut GuardReport::default()).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// A payload without personal data, and what was found. Keys that become equal get `_2`, `_3` … in their old order, so that no
    /// member is lost. Cleaning again changes nothing.
    pub fn value(&self, value: Json) -> Result<(Json, GuardReport), PiiRefusal> {
        let mut report = GuardReport::default();
        let value = walk(value, 0, &mut report)?;
        Ok((value, report))
    }

    /// As [`Self::value`], for an object.
    pub fn object(&self, members: JsonObject) -> Result<(JsonObject, GuardReport), PiiRefusal> {
        let mut report = GuardReport::default();
        let members = walk_object(members, 0, &mut report)?;
        Ok((members, report))
    }
}

fn clean(text: &str, report: &mut GuardReport) -> Option<String> {
    let mut clean = replace_all(text, Finding::is_pii, report)?;
    for _ in 1..ROUNDS {
        match replace_all(&clean, Finding::is_pii, report) {
            Some(cleaner) => clean = cleaner,
            None => break,
        }
    }
    Some(clean)
}

fn walk(value: Json, depth: usize, report: &mut GuardReport) -> Result<Json, PiiRefusal> {
    match value {
        Json::String(text) => Ok(Json::String(clean(&text, report).unwrap_or(text))),
        Json::Array(items) => {
            let depth = deeper(depth)?;
            items.into_iter().map(|item| walk(item, depth, report)).collect::<Result<_, _>>().map(Json::Array)
        }
        Json::Object(members) => walk_object(members, depth, report).map(Json::Object),
        Json::Null | Json::Bool(_) | Json::Number(_) => Ok(value),
    }
}

fn walk_object(members: JsonObject, depth: usize, report: &mut GuardReport) -> Result<JsonObject, PiiRefusal> {
    let depth = deeper(depth)?;
    let mut out = JsonObject::new();
    let mut renamed = Vec::new();
    for (key, value) in members {
        let value = walk(value, depth, report)?;
        match clean(&key, report) {
            None => {
                out.insert(key, value);
            }
            Some(marker) => renamed.push((marker, value)),
        }
    }
    // Names are given after all members that keep theirs are in place.
    let mut last: HashMap<String, usize> = HashMap::new();
    for (marker, value) in renamed {
        let number = last.entry(marker.clone()).or_insert(0);
        let key = loop {
            *number += 1;
            let key = if *number == 1 { marker.clone() } else { format!("{marker}_{number}") };
            if !out.contains_key(&key) {
                break key;
            }
        };
        out.insert(key, value);
    }
    Ok(out)
}

fn deeper(depth: usize) -> Result<usize, PiiRefusal> {
    if depth >= MAX_DEPTH { Err(PiiRefusal::TooDeep { limit: MAX_DEPTH }) } else { Ok(depth + 1) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::PersistencePrivacyGuard;
    use super::*;
    use crate::json::parse;

    /// Proves: SDK-CONNECTOR-CONTROL-R014.6
    #[test]
    fn every_case_of_the_vectors() {
        let vectors = parse(include_str!("../../../conformance/vectors/redaction.json")).unwrap();
        let labels: Vec<&str> = vectors
            .get("pii_labels")
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|label| label.as_str().unwrap())
            .collect();
        assert_eq!(PiiSanitizer::labels(), labels);
        let cases = vectors.get("pii").unwrap().as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let input = case.get("input").unwrap();
            let (output, _) = PiiSanitizer.value(input.clone()).unwrap();
            assert_eq!(Some(&output), case.get("output"), "{input:?}");
            assert_eq!(PiiSanitizer.value(output.clone()).unwrap().0, output);
            if let Some(text) = input.as_str() {
                assert_eq!(Some(&*PiiSanitizer.text(text)), output.as_str());
            }
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.6
    #[test]
    fn keys_that_become_equal_keep_their_members() {
        let input =
            parse(r#"{"a@b.co": 1, "c@d.co": 2, "[REDACTED_EMAIL]_2": 3, "x": {"12-3456789": "e@f.co"}}"#).unwrap();
        let (output, report) = PiiSanitizer.value(input).unwrap();
        let expected = parse(
            r#"{"[REDACTED_EMAIL]": 1, "[REDACTED_EMAIL]_3": 2, "[REDACTED_EMAIL]_2": 3, "x": {"[REDACTED_TAX_ID]": "[REDACTED_EMAIL]"}}"#,
        );
        assert_eq!(output, expected.unwrap());
        assert_eq!((report.redactions(), report.detected_types()), (4, vec!["email", "tax_id"]));
        assert!(PiiSanitizer.object(JsonObject::new()).unwrap().0.is_empty());
    }

    #[test]
    fn what_is_too_deep_is_refused_whole() {
        let nested = |levels: usize| (0..levels).fold(Json::from("a@b.co"), |inner, _| Json::Array(vec![inner]));
        assert!(PiiSanitizer.value(nested(MAX_DEPTH)).is_ok());
        assert_eq!(PiiSanitizer.value(nested(MAX_DEPTH + 1)), Err(PiiRefusal::TooDeep { limit: MAX_DEPTH }));
    }

    proptest! {
        /// One pattern set: what this one removes, the guard removes, and nothing of it is left after either.
        #[test]
        fn the_guard_leaves_nothing_for_the_sanitizer(
            text in "([ -~é]{0,4}([0-9]{3}-[0-9]{2}-[0-9]{4}|[0-9]{2}-[0-9]{7}|([0-9]{4}[- ]?){4}|[a-zé.]{1,3}@[a-z-]{1,3}\\.[a-z]{2,3})){0,3}"
        ) {
            let guard = PersistencePrivacyGuard::new([""; 0]);
            let guarded = guard.clean_text(&text).unwrap_or_else(|| text.clone());
            prop_assert_eq!(&*PiiSanitizer.text(&guarded), guarded.as_str());
            let clean = PiiSanitizer.text(&text).into_owned();
            prop_assert_eq!(&*PiiSanitizer.text(&clean), clean.as_str());
        }
    }
}
