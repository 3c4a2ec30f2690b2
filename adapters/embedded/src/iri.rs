//! The IRIs of the graph: how records, classes, properties and contracts are named.

use oxrdf::NamedNode;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The prefix of everything this store names.
const BASE: &str = "urn:scion:";

/// Bookkeeping predicates.
pub(crate) const VOCABULARY: &str = "urn:scion:vocab#";

/// The prefix `cp:`.
pub(crate) const CONTRACT_VOCABULARY: &str = "urn:scion:contract#";

/// The unreserved characters of RFC 3986 stay.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// As [`UNRESERVED`], and what a stream name may hold and a path may too.
const STREAM: &AsciiSet = &UNRESERVED.remove(b'/').remove(b':').remove(b'@');

/// Percent-encodes everything but unreserved characters.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

/// `urn:scion:<connector>:<stream>:<record id>`, the id percent-encoded.
pub(crate) fn record(connector: &str, stream: &str, id: &str) -> String {
    format!("{BASE}{connector}:{}:{}", utf8_percent_encode(stream, STREAM), utf8_percent_encode(id, UNRESERVED))
}

/// Takes a record IRI apart; `None` unless [`record`] writes exactly this text.
pub(crate) fn parse_record(iri: &str) -> Option<(String, String, String)> {
    let (connector, rest) = iri.strip_prefix(BASE)?.split_once(':')?;
    let (stream, id) = rest.rsplit_once(':')?;
    let stream = percent_decode_str(stream).decode_utf8().ok()?;
    let id = percent_decode_str(id).decode_utf8().ok()?;
    (record(connector, &stream, &id) == iri).then(|| (connector.to_owned(), stream.into_owned(), id.into_owned()))
}

/// A mapping target: an absolute IRI as it is, else a name under the connector.
pub(crate) fn name(connector: &str, target: &str) -> String {
    if target.contains(':') && NamedNode::new(target).is_ok() {
        return target.to_owned();
    }
    format!("{}{}", namespace(connector), encode(target))
}

/// `urn:scion:<connector>#`.
pub(crate) fn namespace(connector: &str) -> String {
    format!("{BASE}{connector}#")
}

/// `contract:<connector>#<record type>` (SDK-SOURCE-INGEST-R017.1).
pub(crate) fn contract(connector: &str, record_type: &str) -> String {
    format!("contract:{connector}#{}", encode(record_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_iris_are_valid_and_read_back() {
        for (stream, id) in
            [("tickets", "1"), ("a:b/c#d@e", "x:y/z#\n\"é\u{202e}%41"), ("s", "İ"), ("s", &"ü".repeat(4096))]
        {
            let iri = record("desk-mcp", stream, id);
            assert!(NamedNode::new(&iri).is_ok(), "{iri}");
            assert_eq!(parse_record(&iri), Some(("desk-mcp".to_owned(), stream.to_owned(), id.to_owned())));
        }
    }

    #[test]
    fn only_the_one_spelling_is_a_record() {
        assert_eq!(parse_record("urn:scion:desk:tickets:%41"), None);
        assert_eq!(parse_record("urn:scion:desk#title"), None);
        assert_eq!(parse_record("https://example.org/1"), None);
    }

    #[test]
    fn names_that_look_alike_stay_apart() {
        assert_ne!(record("d", "s", "a"), record("d", "s", "а"));
        assert_ne!(record("d", "s", "é"), record("d", "s", "e\u{301}"));
    }

    #[test]
    fn targets_become_iris() {
        assert_eq!(name("desk", "title"), "urn:scion:desk#title");
        assert_eq!(name("desk", "a b"), "urn:scion:desk#a%20b");
        assert_eq!(name("desk", "https://schema.org/name"), "https://schema.org/name");
        assert_eq!(name("desk", "not an: iri"), "urn:scion:desk#not%20an%3A%20iri");
    }
}
