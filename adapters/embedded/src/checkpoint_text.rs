//! Checkpoints as stored text. Numbers of a position keep their digits, which a plain serde round trip would not.

use scion_domain::id::{Digest256, StreamName};
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with, to_compact};
use scion_domain::model::SourceCheckpoint;

use crate::failure::{Failure, Outcome};

/// Wider than what admission lets in: what was stored must be readable.
const LIMITS: JsonLimits = JsonLimits { max_bytes: 256 << 20, max_depth: 128, max_number_chars: 16 << 20 };

pub(crate) fn write(checkpoint: &SourceCheckpoint) -> String {
    let mut members = JsonObject::new();
    members.insert("position".to_owned(), checkpoint.position.clone());
    let mut text = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            members.insert(name.to_owned(), Json::String(value));
        }
    };
    text("content_hash", checkpoint.content_hash.map(Digest256::to_hex));
    text("watermark", checkpoint.watermark.clone());
    text("pending_watermark", checkpoint.pending_watermark.clone());
    to_compact(&Json::Object(members))
}

pub(crate) fn read(stream: &StreamName, text: &str) -> Outcome<SourceCheckpoint> {
    let value = parse_with(text.as_bytes(), LIMITS).map_err(|_| Failure::corrupt())?;
    let member = |name: &str| value.get(name).and_then(Json::as_str);
    Ok(SourceCheckpoint {
        stream: stream.clone(),
        position: value.get("position").cloned().ok_or_else(Failure::corrupt)?,
        content_hash: member("content_hash").map(Digest256::parse_hex).transpose().map_err(|_| Failure::corrupt())?,
        watermark: member("watermark").map(str::to_owned),
        pending_watermark: member("pending_watermark").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use scion_domain::json::parse;

    use super::*;

    #[test]
    fn a_checkpoint_reads_back_with_every_digit() {
        let checkpoint = SourceCheckpoint {
            position: parse("{\"after\":[12345678901234567890123,1e400,-0,\"é\"]}").unwrap(),
            content_hash: Some(Digest256::from_bytes([7; 32])),
            watermark: Some("2026-01-01T00:00:00.000000001+02:00".to_owned()),
            ..SourceCheckpoint::start(StreamName::parse("s").unwrap())
        };
        assert_eq!(read(&checkpoint.stream, &write(&checkpoint)).unwrap(), checkpoint);
        assert!(read(&checkpoint.stream, "{}").is_err());
    }
}
