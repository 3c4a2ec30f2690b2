//! Names of tools and arguments: snake case, stable, and each once.
//!
//! An operation is called by its `operationId`; one that has none, or shares it with another after snake-casing, by method
//! and path; those that share even that, by method, path and a digest of both. So no name depends on the order of a
//! document, and no two operations ever swap theirs.

use std::collections::{BTreeMap, HashMap};

use scion_domain::client_profile::ClientProfile;
use scion_domain::digest;

/// Words in lower case with `_` between them; ASCII letters and digits only.
pub(crate) fn snake_case(text: &str) -> String {
    let chars: Vec<char> = text.chars().take(512).collect();
    let mut out = String::new();
    for (index, &c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            continue;
        }
        let before = index.checked_sub(1).map(|index| chars[index]);
        let after = chars.get(index + 1);
        let starts = c.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    // The last capital of a run begins the next word: `HTTPServer`.
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if starts && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// The name of an operation without a usable id: `GET /users/{id}/repos` is `get_users_by_id_repos`.
pub(crate) fn derived(method: &str, path: &str) -> String {
    let mut out = method.to_ascii_lowercase();
    let mut empty = true;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let by = if segment.starts_with('{') { "by_" } else { "" };
        let words = snake_case(segment);
        if !words.is_empty() {
            empty = false;
            out.push('_');
            out.push_str(by);
            out.push_str(&words);
        }
    }
    if empty {
        out.push_str("_root");
    }
    out
}

fn short_digest(text: &str) -> String {
    digest::sha256(text.as_bytes()).to_hex().chars().take(8).collect()
}

/// A name within a length; what is cut off is replaced by a digest of the whole.
fn fitted(name: String, limit: usize) -> String {
    if name.len() <= limit {
        return name;
    }
    let digest = short_digest(&name);
    if limit <= 9 {
        return name.chars().take(limit).collect();
    }
    let kept = name[..limit - 9].trim_end_matches('_');
    format!("{kept}_{digest}")
}

/// The prefix once: `desk` and `desk_list` make `desk_list` (mcp-surface, 2.1).
fn prefixed(prefix: &str, name: &str) -> String {
    if prefix.is_empty() || name == prefix || name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('_')) {
        name.to_owned()
    } else {
        format!("{prefix}_{name}")
    }
}

/// One operation that needs a name.
pub(crate) struct Nameless<'n> {
    pub(crate) id: Option<&'n str>,
    pub(crate) method: &'n str,
    pub(crate) path: &'n str,
}

/// A name that was given, and why it is not the one of the id.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) note: Option<&'static str>,
}

/// Names for all operations at once.
pub(crate) fn name_all(operations: &[Nameless<'_>], prefix: &str, profile: &ClientProfile) -> Vec<Named> {
    let limit = profile.max_tool_name();
    let finish = |plain: &str| {
        let name = prefixed(prefix, plain);
        let name =
            if name.starts_with(|first: char| first.is_ascii_alphabetic()) { name } else { format!("op_{name}") };
        fitted(name, limit)
    };
    let from_path = |operation: &Nameless<'_>| finish(&derived(operation.method, operation.path));
    let unique = |operation: &Nameless<'_>| {
        let digest = short_digest(&format!("{} {}", operation.method, operation.path));
        let plain = finish(&derived(operation.method, operation.path));
        let room = limit.saturating_sub(9).max(1);
        let kept: String = plain.chars().take(room).collect();
        format!("{}_{digest}", kept.trim_end_matches('_'))
    };
    let mut out: Vec<Named> = operations
        .iter()
        .map(|operation| match operation.id.map(snake_case).filter(|id| !id.is_empty()) {
            Some(id) => Named { name: finish(&id), note: None },
            None => Named { name: from_path(operation), note: Some("has no operationId and is named by its path") },
        })
        .collect();
    for round in 0..2 {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for named in &out {
            *counts.entry(named.name.clone()).or_default() += 1;
        }
        for (named, operation) in out.iter_mut().zip(operations) {
            if counts[&named.name] > 1 {
                named.name = if round == 0 { from_path(operation) } else { unique(operation) };
                named.note = Some("shares its name with another and is named by its path");
            }
        }
    }
    out
}

/// Names for arguments: snake case of the name on the wire; where two share it, with the place before it, then with a number.
pub(crate) fn argument_name(taken: &BTreeMap<String, usize>, wire: &str, place: &str) -> String {
    let mut plain = snake_case(wire);
    if plain.is_empty() {
        plain = format!("arg_{}", short_digest(wire));
    }
    let plain = fitted(plain, 60);
    let mut name = plain.clone();
    let mut number = 1;
    // `body` is the argument of the body, whether there is one or not, so that a body that comes later renames nothing.
    while name == "body" || taken.contains_key(&name) {
        name = match number {
            1 => fitted(format!("{place}_{plain}"), 60),
            number => format!("{plain}_{number}"),
        };
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_every_spelling() {
        for (text, expected) in [
            ("listTickets", "list_tickets"),
            ("getHTTPResponse", "get_http_response"),
            ("v1.users/list-all", "v1_users_list_all"),
            ("X-Trace", "x_trace"),
            ("filter[name]", "filter_name"),
            ("$top", "top"),
            ("oauth2Token", "oauth2_token"),
            ("ÜberUser", "ber_user"),
            ("__a__b__", "a_b"),
            ("日本", ""),
            ("A", "a"),
        ] {
            assert_eq!(snake_case(text), expected, "{text}");
        }
        assert_eq!(derived("GET", "/users/{userId}/repos"), "get_users_by_user_id_repos");
        assert_eq!(derived("POST", "/"), "post_root");
    }

    fn names(operations: &[(Option<&str>, &str, &str)], prefix: &str) -> Vec<String> {
        let all: Vec<_> = operations.iter().map(|(id, method, path)| Nameless { id: *id, method, path }).collect();
        name_all(&all, prefix, &ClientProfile::COMMON).into_iter().map(|named| named.name).collect()
    }

    #[test]
    fn collisions_are_resolved_without_an_order() {
        let operations =
            [(Some("getUser"), "GET", "/u/{id}"), (Some("get_user"), "GET", "/v/{id}"), (Some("other"), "GET", "/o")];
        let forward = names(&operations, "");
        assert_eq!(forward, ["get_u_by_id", "get_v_by_id", "other"]);
        let mut turned = operations;
        turned.reverse();
        let mut backward = names(&turned, "");
        backward.reverse();
        assert_eq!(forward, backward);
        let hard = names(&[(None, "GET", "/a-b"), (None, "GET", "/a/b"), (Some("x"), "GET", "/c")], "");
        assert!(hard[0].starts_with("get_a_b_") && hard[1].starts_with("get_a_b_") && hard[0] != hard[1], "{hard:?}");
    }

    #[test]
    fn prefixes_are_not_doubled_and_long_names_stay_apart() {
        assert_eq!(
            names(&[(Some("desk_list"), "GET", "/"), (Some("desklist"), "GET", "/b")], "desk"),
            ["desk_list", "desk_desklist"]
        );
        assert_eq!(names(&[(Some("1st"), "GET", "/")], ""), ["op_1st"]);
        let long = "a".repeat(80);
        let both = names(&[(Some(&format!("{long}x")), "GET", "/1"), (Some(&format!("{long}y")), "GET", "/2")], "");
        assert!(both[0] != both[1] && both.iter().all(|name| name.len() <= 44), "{both:?}");
    }

    #[test]
    fn arguments_of_one_name_are_told_apart() {
        let mut taken = BTreeMap::new();
        let mut named = Vec::new();
        for (wire, place) in [("id", "path"), ("ID", "query"), ("Id", "query"), ("body", "query"), ("日本", "query")]
        {
            let name = argument_name(&taken, wire, place);
            taken.insert(name.clone(), 0);
            named.push(name);
        }
        assert_eq!(named[..4], ["id", "query_id", "id_2", "query_body"]);
        assert!(named[4].starts_with("arg_"));
    }
}
