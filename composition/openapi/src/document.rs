//! A document from its bytes: JSON or YAML, and which specification it follows.

use scion_domain::json::{self, Json, JsonLimits, JsonRefusal};
use scion_domain::openapi::ApiDocumentRefusal;

use crate::limits::Limits;
use crate::yaml;

/// The specification a document follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// Swagger 2.0.
    Swagger2,
    /// OpenAPI 3.0.
    OpenApi30,
    /// OpenAPI 3.1.
    OpenApi31,
}

impl Dialect {
    /// Its name and version.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Swagger2 => "Swagger 2.0",
            Self::OpenApi30 => "OpenAPI 3.0",
            Self::OpenApi31 => "OpenAPI 3.1",
        }
    }
}

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<(Json, Dialect), ApiDocumentRefusal> {
    if bytes.len() > limits.max_bytes {
        return Err(ApiDocumentRefusal::TooLarge { bytes: bytes.len(), limit: limits.max_bytes });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let document = if is_json {
        if json_nodes(bytes) > limits.max_nodes {
            return Err(ApiDocumentRefusal::TooManyNodes { limit: limits.max_nodes });
        }
        let json_limits =
            JsonLimits { max_bytes: limits.max_bytes, max_depth: limits.max_depth, max_number_chars: 1024 };
        json::parse_with(bytes, json_limits).map_err(|refusal| json_refusal(&refusal, limits))?
    } else {
        let text = std::str::from_utf8(bytes).map_err(|_| ApiDocumentRefusal::NotText)?;
        yaml::read(text, limits)?
    };
    let dialect = dialect(&document).ok_or(ApiDocumentRefusal::NotAnApi)?;
    Ok((document, dialect))
}

fn json_refusal(refusal: &JsonRefusal, limits: &Limits) -> ApiDocumentRefusal {
    match *refusal {
        JsonRefusal::Malformed { line, column } => ApiDocumentRefusal::Malformed { syntax: "JSON", line, column },
        JsonRefusal::DuplicateMember { line, column } => ApiDocumentRefusal::DuplicateMember { line, column },
        JsonRefusal::TooLarge { bytes, limit } => ApiDocumentRefusal::TooLarge { bytes, limit },
        JsonRefusal::TooDeep { limit } => ApiDocumentRefusal::TooDeep { limit },
        // A number of a thousand digits.
        _ => ApiDocumentRefusal::TooManyNodes { limit: limits.max_nodes },
    }
}

/// How many values a JSON text has at most, before any of them is made.
fn json_nodes(bytes: &[u8]) -> usize {
    let (mut nodes, mut quoted, mut escaped) = (1, false, false);
    for byte in bytes {
        if quoted {
            quoted = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
        } else {
            match byte {
                b'"' => quoted = true,
                b',' | b'[' | b'{' => nodes += 1,
                _ => {}
            }
        }
    }
    nodes
}

fn dialect(document: &Json) -> Option<Dialect> {
    let version = |name: &str| match document.get(name)? {
        Json::String(text) => Some(text.as_str()),
        // YAML without quotes.
        Json::Number(number) => Some(number.as_text()),
        _ => None,
    };
    let under = |version: &str, line: &str| {
        version.strip_prefix(line).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
    };
    if let Some(version) = version("openapi") {
        return match version {
            _ if under(version, "3.0") => Some(Dialect::OpenApi30),
            _ if under(version, "3.1") => Some(Dialect::OpenApi31),
            _ => None,
        };
    }
    version("swagger").is_some_and(|version| under(version, "2.0") || version == "2").then_some(Dialect::Swagger2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialect_is_what_the_document_says() {
        for (text, expected) in [
            ("{\"openapi\":\"3.0.3\"}", Some(Dialect::OpenApi30)),
            ("{\"openapi\":\"3.1.0\"}", Some(Dialect::OpenApi31)),
            ("openapi: 3.1", Some(Dialect::OpenApi31)),
            ("swagger: 2.0", Some(Dialect::Swagger2)),
            ("swagger: '2.0'", Some(Dialect::Swagger2)),
            ("{\"openapi\":\"3.2.0\"}", None),
            ("{\"openapi\":\"3.01\"}", None),
            ("{\"openapi\":3}", None),
            ("{}", None),
            ("- a", None),
        ] {
            let read = read(text.as_bytes(), &Limits::DEFAULT);
            assert_eq!(read.map(|(_, dialect)| dialect).ok(), expected, "{text}");
        }
    }

    #[test]
    fn values_are_counted_before_they_are_made() {
        assert_eq!(json_nodes(br#"{"a,[{":[1,2,{"b":"\",["}]}"#), 6);
        let limits = Limits { max_nodes: 100, ..Limits::DEFAULT };
        let many = format!("{{\"openapi\":[{}0]}}", "0,".repeat(200));
        assert_eq!(read(many.as_bytes(), &limits), Err(ApiDocumentRefusal::TooManyNodes { limit: 100 }));
        let deep = format!("{{\"a\":{}", "[".repeat(5000));
        assert_eq!(read(deep.as_bytes(), &Limits::DEFAULT), Err(ApiDocumentRefusal::TooDeep { limit: 96 }));
    }
}
