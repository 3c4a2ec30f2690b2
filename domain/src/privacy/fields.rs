//! What a field's name says about its value.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A credential.
    Secret,
    /// A place: a URL, a path, a host.
    Location,
    /// A person.
    Person,
    /// An identity or digest the graph needs as it is.
    Structural,
    /// An object about a person, whose `name` is that person's.
    PersonContext,
    /// A name; of a person inside a person's object.
    Name,
    /// Anything else.
    Other,
}

const SECRET: [&str; 9] = [
    "access_token",
    "api_key",
    "apikey",
    "authorization",
    "client_secret",
    "password",
    "refresh_token",
    "secret",
    "token",
];
const LOCATION: [&str; 22] = [
    "base_url",
    "canonical_url",
    "dsn",
    "endpoint",
    "endpoint_url",
    "file_path",
    "home",
    "host",
    "hostname",
    "href",
    "html_url",
    "local_path",
    "path",
    "pdf_url",
    "root_path",
    "source_uri",
    "source_url",
    "uri",
    "url",
    "web_url",
    "weburl",
    "workspace_path",
];
const PERSON: [&str; 20] = [
    "assignee",
    "author",
    "author_name",
    "birth_date",
    "created_by",
    "date_of_birth",
    "display_name",
    "employee_id",
    "first_name",
    "full_name",
    "ip_address",
    "last_name",
    "owner",
    "owner_name",
    "person_name",
    "requester",
    "updated_by",
    "user_email",
    "user_name",
    "username",
];
// `author` and `owner` give context too, but are replaced whole.
const PERSON_CONTEXT: [&str; 3] = ["employee", "person", "user"];
const STRUCTURAL: [&str; 13] = [
    "agent_id",
    "blob_digest",
    "content_hash",
    "digest",
    "dst",
    "id",
    "node_id",
    "parent",
    "run_id",
    "source",
    "src",
    "target",
    "trace_id",
];
/// Words too common to be anybody's name.
pub(super) const IGNORED_TERMS: [&str; 12] = [
    "admin",
    "administrator",
    "cache",
    "config",
    "data",
    "home",
    "root",
    "runner",
    "system",
    "tmp",
    "user",
    "workspace",
];

static FIELDS: LazyLock<HashMap<&'static str, Field>> = LazyLock::new(|| {
    let lists: [(&[&'static str], Field); 5] = [
        (&PERSON_CONTEXT, Field::PersonContext),
        (&STRUCTURAL, Field::Structural),
        (&PERSON, Field::Person),
        (&LOCATION, Field::Location),
        (&SECRET, Field::Secret),
    ];
    let named = lists.iter().flat_map(|(names, field)| names.iter().map(|name| (*name, *field)));
    named.chain([("name", Field::Name)]).collect()
});

/// The longest name in the lists; a longer key is in none.
const LONGEST: usize = 14;

/// What the field of this key holds.
pub(super) fn classify(key: &str) -> Field {
    let name = normal(key);
    if name.len() > LONGEST {
        return Field::Other;
    }
    FIELDS.get(&*name).copied().unwrap_or(Field::Other)
}

/// A key in its normal form: lower case, runs of anything but `a-z 0-9` as one `_`, none at the ends.
pub fn field_name(key: &str) -> String {
    normal(key).into_owned()
}

/// Whether a field of this name holds a place, so that naming it citable means something.
pub fn is_location_field(key: &str) -> bool {
    classify(key) == Field::Location
}

fn normal(key: &str) -> Cow<'_, str> {
    let bytes = key.as_bytes();
    let lower = bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_');
    let edges = bytes.first() != Some(&b'_') && bytes.last() != Some(&b'_');
    if lower && edges && !bytes.windows(2).any(|pair| pair == b"__") {
        return Cow::Borrowed(key);
    }
    let lowered = if key.is_ascii() { key.to_ascii_lowercase() } else { key.to_lowercase() };
    let mut out = String::with_capacity(lowered.len());
    for c in lowered.chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    if out.ends_with('_') {
        out.pop();
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, parse};

    fn vectors() -> Json {
        parse(include_str!("../../../conformance/vectors/redaction.json")).unwrap()
    }

    #[test]
    fn every_field_name_of_the_vectors() {
        let vectors = vectors();
        let cases = vectors.get("field_names").unwrap().as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let input = case.get("input").unwrap().as_str().unwrap();
            assert_eq!(Some(field_name(input).as_str()), case.get("field").unwrap().as_str(), "{input}");
        }
    }

    #[test]
    fn the_lists_are_those_of_the_vectors() {
        let vectors = vectors();
        let list = |name: &str| -> Vec<String> {
            let items = vectors.get("guard_fields").unwrap().get(name).unwrap().as_array().unwrap();
            items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(list("secret"), SECRET);
        assert_eq!(list("location"), LOCATION);
        assert_eq!(list("person"), PERSON);
        assert_eq!(list("structural"), STRUCTURAL);
        assert_eq!(list("ignored_terms"), IGNORED_TERMS);
        for name in list("person_context") {
            assert!(matches!(classify(&name), Field::PersonContext | Field::Person), "{name}");
        }
        assert_eq!(FIELDS.keys().map(|name| name.len()).max(), Some(LONGEST));
    }
}
