//! References inside of a document.

use percent_encoding::percent_decode_str;
use scion_domain::json::Json;
use scion_domain::openapi::OperationRefusal;

/// The longest chain of references to references.
const MAX_CHAIN: usize = 16;
const MAX_REFERENCE: usize = 1024;

/// Follows references within one document.
#[derive(Clone, Copy)]
pub(crate) struct Refs<'d> {
    pub(crate) root: &'d Json,
}

impl<'d> Refs<'d> {
    /// What a value stands for: itself, or what the references it begins leads to.
    pub(crate) fn resolve(self, value: &'d Json) -> Result<&'d Json, OperationRefusal> {
        let mut here = value;
        for _ in 0..MAX_CHAIN {
            match here.get("$ref") {
                Some(Json::String(reference)) => here = self.target(reference)?,
                _ => return Ok(here),
            }
        }
        let reference = value.get("$ref").and_then(Json::as_str).unwrap_or_default();
        Err(OperationRefusal::ReferenceLoop { reference: shown(reference) })
    }

    /// The value a reference names.
    pub(crate) fn target(self, reference: &str) -> Result<&'d Json, OperationRefusal> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(OperationRefusal::ExternalReference { reference: shown(reference) });
        };
        self.pointer(fragment).ok_or_else(|| OperationRefusal::UnresolvedReference { reference: shown(reference) })
    }

    fn pointer(self, fragment: &str) -> Option<&'d Json> {
        if fragment.len() > MAX_REFERENCE {
            return None;
        }
        let decoded = percent_decode_str(fragment).decode_utf8().ok()?;
        let mut here = self.root;
        for segment in decoded.strip_prefix('/')?.split('/') {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            here = match here {
                Json::Array(items) => items.get(segment.parse::<usize>().ok()?)?,
                _ => here.get(&segment)?,
            };
        }
        Some(here)
    }
}

/// A reference as it may stand in a message: no query, no user info, no control characters, not long.
fn shown(reference: &str) -> String {
    let plain = reference.split('?').next().unwrap_or_default();
    let plain = match plain.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            format!("{scheme}://{}/{path}", host.rsplit('@').next().unwrap_or_default())
        }
        None => plain.to_owned(),
    };
    plain.chars().filter(|c| !c.is_control()).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scion_domain::json::parse;

    #[test]
    fn references_are_followed_inside_and_refused_outside() {
        let root = parse(
            r##"{"a/b":{"~":[{"x":1}]},"c d":2,"r":{"$ref":"#/q"},"q":{"$ref":"#/r"},"ok":{"$ref":"#/a~1b/~0/0"}}"##,
        )
        .unwrap();
        let refs = Refs { root: &root };
        assert!(refs.resolve(root.get("ok").unwrap()).unwrap().get("x").is_some());
        assert!(refs.target("#/c%20d").is_ok());
        assert!(matches!(refs.resolve(root.get("r").unwrap()), Err(OperationRefusal::ReferenceLoop { .. })));
        for (reference, text) in [
            ("other.yaml#/a", "`other.yaml#/a` is outside the document"),
            ("https://u:p@x.example/a?token=t", "`https://x.example/a` is outside the document"),
            ("#/nope", "`#/nope` leads nowhere"),
            ("#", "`#` leads nowhere"),
            ("#name", "`#name` leads nowhere"),
        ] {
            assert_eq!(refs.target(reference).unwrap_err().to_string(), text);
        }
    }
}
