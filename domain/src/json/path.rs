//! Dotted paths, the peer's way to name a place inside a record (`wire/vectors/pagination.json`, dotted reads).

use super::{Json, JsonObject};

/// Reads a place. A segment names an object member, or a list index when the value is a list. The empty path is the
/// value itself. `None` when any step is missing.
pub fn read_dotted<'a>(value: &'a Json, path: &str) -> Option<&'a Json> {
    if path.is_empty() {
        return Some(value);
    }
    path.split('.').try_fold(value, |here, segment| match here {
        Json::Object(members) => members.get(segment),
        Json::Array(items) => segment.parse::<usize>().ok().and_then(|index| items.get(index)),
        _ => None,
    })
}

/// Writes a place, making the objects on the way; a scalar on the way is replaced by an object.
pub fn write_dotted(target: &mut JsonObject, path: &str, value: Json) {
    match path.split_once('.') {
        None => {
            target.insert(path.to_owned(), value);
        }
        Some((head, tail)) => {
            let slot = target.entry(head.to_owned()).or_insert_with(|| Json::Object(JsonObject::new()));
            if !matches!(slot, Json::Object(_)) {
                *slot = Json::Object(JsonObject::new());
            }
            if let Json::Object(inner) = slot {
                write_dotted(inner, tail, value);
            }
        }
    }
}
