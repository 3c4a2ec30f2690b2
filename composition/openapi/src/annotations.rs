//! What a verb and a name tell about an operation (SDK-CONNECTOR-CONTROL-R020; mcp-surface, 2.2).

use scion_domain::http::Method;
use scion_domain::mcp::ToolHints;

const DESTROYING: [&str; 6] = ["deactivate", "delete", "destroy", "drop", "purge", "remove"];

/// The hints of an operation. `name` is the name without the prefix of the connector.
pub(crate) fn hints(method: &Method, name: &str) -> ToolHints {
    let destroying = name.split('_').any(|token| DESTROYING.contains(&token));
    let (read_only, destructive, idempotent) = match method.as_str() {
        "GET" | "HEAD" => (true, false, true),
        "PUT" => (false, destroying, true),
        "DELETE" => (false, true, true),
        _ => (false, destroying, false),
    };
    ToolHints {
        read_only: Some(read_only),
        destructive: Some(destructive),
        idempotent: Some(idempotent),
        open_world: Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verb_sets_the_annotations() {
        let of = |method: &Method, name: &str| {
            let hints = hints(method, name);
            [hints.read_only, hints.destructive, hints.idempotent, hints.open_world].map(|hint| hint == Some(true))
        };
        for name in ["list_things", "undelete", "delete_thing", "get_delete_log"] {
            assert_eq!(of(&Method::GET, name), [true, false, true, true], "{name}");
            assert_eq!(of(&Method::HEAD, name), [true, false, true, true], "{name}");
            assert_eq!(of(&Method::DELETE, name), [false, true, true, true], "{name}");
            let destructive = name.split('_').any(|token| token == "delete");
            assert_eq!(of(&Method::POST, name), [false, destructive, false, true], "{name}");
            assert_eq!(of(&Method::PATCH, name), [false, destructive, false, true], "{name}");
            assert_eq!(of(&Method::PUT, name), [false, destructive, true, true], "{name}");
        }
    }
}
