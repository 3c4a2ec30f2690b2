//! The harness functions. Each says in its comment what must hold of anything it could read.

#![allow(clippy::missing_panics_doc, reason = "a harness tells what is wrong by panicking")]

mod content;
mod contracts;
mod egress;
mod engine;
mod http;
mod openapi;
mod outside;
mod pack;
mod query;
mod serving;
mod tokens;
mod transport;

use std::cmp::Ordering;

use scion_domain::canonical;
use scion_domain::credential::{ProviderProfiles, RuntimeRef, SecretRef, is_sensitive_key, read_source_credentials};
use scion_domain::cursor::{CursorStrategy, HighWaterCursor, KeysetCursor, OffsetCursor};
use scion_domain::declaration::{ConnectorDeclaration, EvolutionPolicy, SyncPreset};
use scion_domain::digest;
use scion_domain::drift::{self, DriftScope};
use scion_domain::fingerprint::{self, ToolShape};
use scion_domain::id::{ConnectorName, Digest256, StreamName, TenantId};
use scion_domain::json::{self, Json, JsonLimits, JsonObject};
use scion_domain::pagination;
use scion_domain::source::SourceContract;
use scion_domain::time::{Timestamp, Watermark};

pub use content::{front_matter, prompt_file};
pub use contracts::{access_contract, pack_declaration, shapes};
pub use egress::egress;
pub use engine::engine_value;
pub use http::{link_header, problem, rate_headers};
pub use openapi::{curation, next_page, openapi};
pub use outside::{graphql_response, payment_challenge};
pub use pack::{pack_file, pack_index};
pub use query::sparql;
pub use serving::mcp_frames;
pub use tokens::{authorization, jwks, jwt, token_response};
pub use transport::transport_profiles;

fn parsed(data: &[u8]) -> Option<Json> {
    json::parse_with(data, JsonLimits { max_bytes: 1 << 18, ..JsonLimits::DEFAULT }).ok()
}

/// What was read is written back and read as the same value.
pub fn json(data: &[u8]) {
    let Some(value) = parsed(data) else { return };
    for text in [json::to_compact(&value), json::to_spaced(&value)] {
        assert_eq!(json::parse(&text).as_ref(), Ok(&value), "{text}");
    }
}

/// A canonical form of a canonical form is itself, and the lossless one tells apart what the peer's rounds.
pub fn canonical_json(data: &[u8]) {
    let Some(value) = parsed(data) else { return };
    let lossless = canonical::lossless_json(&value);
    let again = json::parse(&lossless).map(|value| canonical::lossless_json(&value));
    assert_eq!(again.as_ref(), Ok(&lossless));
    if let Ok(text) = canonical::peer_json_strict(&value) {
        let again = json::parse(&text).map(|value| canonical::peer_json(&value));
        assert_eq!(again.as_ref(), Ok(&text));
    }
    if let Ok(text) = canonical::rfc8785(&value) {
        let again = json::parse(&text).ok().and_then(|value| canonical::rfc8785(&value).ok());
        assert_eq!(again.as_ref(), Some(&text));
    }
    if let Json::Object(members) = &value {
        let one = digest::record_content(&Digest256::ZERO, members);
        let other = digest::record_content(&Digest256::from_bytes([1; 32]), members);
        assert_ne!(one, other);
    }
}

/// A declaration that was read is written and read as the same one.
pub fn declaration(data: &[u8]) {
    let Ok(declaration) = ConnectorDeclaration::from_text(data) else { return };
    let text = declaration.to_text();
    let again = ConnectorDeclaration::from_text(text.as_bytes());
    assert_eq!(again.as_ref(), Ok(&declaration), "{text}");
    // Presets may be refused; they may not panic.
    let _ = declaration.presets();
    let _ = declaration.unmapped_record_types();
    let _ = declaration.runner_contract();
}

/// A fingerprint does not see presentation and is the same twice.
pub fn fingerprint(data: &[u8]) {
    let Some(tool) = parsed(data) else { return };
    let Ok(shape) = ToolShape::from_json(&tool) else { return };
    let first = fingerprint::compatibility(shape).ok();
    let again = ToolShape::from_json(&tool).ok().and_then(|shape| fingerprint::compatibility(shape).ok());
    assert_eq!(first, again);
    if let Some(schema) = tool.get("inputSchema") {
        let _ = fingerprint::blind_spots(schema);
    }
}

/// A contract is compatible with itself.
pub fn drift(data: &[u8]) {
    let Some(schema) = parsed(data) else { return };
    let contract = |schema: &Json| SourceContract {
        schema: schema.clone(),
        identifier_fields: vec!["id".into()],
        fingerprint: Digest256::ZERO,
    };
    let names = (ConnectorName::parse("source"), StreamName::parse("stream"), TenantId::parse("tenant"));
    let (Ok(source), Ok(stream), Ok(tenant)) = names else { return };
    let scope = DriftScope { source, stream, tenant, observed_sample_digest: Digest256::ZERO };
    let one = contract(&schema);
    let same = drift::classify(Some(&one), Some(&one), EvolutionPolicy::Review, &scope);
    if schema.as_object().is_some_and(|members| members.get("properties").is_none_or(|p| p.as_object().is_some())) {
        assert!(same.is_compatible(), "{:?}", same.reason_codes);
    }
    let other = contract(&Json::Object(JsonObject::new()));
    let _ = drift::classify(Some(&one), Some(&other), EvolutionPolicy::OptionalFields, &scope);
}

/// A high-water mark never goes back, and no strategy hands out its own cursor again after progress.
pub fn cursor(data: &[u8]) {
    let (mark, records) = match data.iter().position(|byte| *byte == b'\n') {
        Some(at) => (String::from_utf8_lossy(&data[..at]).into_owned(), &data[at + 1..]),
        None => (String::new(), data),
    };
    let Some(Json::Array(records)) = parsed(records) else { return };
    let Ok(high_water) = HighWaterCursor::new("at") else { return };
    let before = (!mark.is_empty()).then_some(mark.as_str());
    if let (Ok(Some(next)), Some(before)) = (high_water.next(&records, before), before) {
        assert_ne!(Watermark::compare(&next, before), Ordering::Less, "{before:?} -> {next:?}");
    }
    if let Ok(keyset) = KeysetCursor::new("id", 2) {
        let _ = CursorStrategy::Keyset(keyset).next(&records, before);
    }
    if let Ok(offset) = OffsetCursor::new(2) {
        let _ = CursorStrategy::Offset(offset).next(&records, before);
    }
}

/// Three lines, a preset, a position and a result: a page of what can be read is made or refused, and what it hands out
/// as its next position is one it takes.
pub fn pagination(data: &[u8]) {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let mut next = || parts.next().and_then(parsed);
    let (Some(Json::Object(preset)), Some(position), Some(result)) = (next(), next(), next()) else { return };
    let Ok(name) = StreamName::parse("stream") else { return };
    let Ok(preset) = SyncPreset::from_object(&name, &preset) else { return };
    let _ = pagination::preset::call_arguments(&preset, &position, Some("2026-01-01"));
    let Ok(page) = pagination::extract::page(&preset, &position, result, false) else { return };
    assert!(page.raw_count >= page.records.len());
    if let Some(next) = page.next_position {
        assert_ne!(next, position, "a page leads to itself");
        assert!(pagination::preset::call_arguments(&preset, &next, None).is_ok(), "{next:?}");
    }
}

/// A configuration is read or refused with a place for every problem, and no refusal repeats a value.
pub fn configuration(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(problems) = scion_config::read(&text, "fuzz.yaml") {
        assert!(!problems.problems.is_empty());
        assert!(!problems.to_string().is_empty());
    }
    let _ = scion_config::read_bytes(data, "fuzz.yaml");
}

/// Reading keeps the text, and comparing is a total order.
pub fn timestamp(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.splitn(3, '\n');
    let (a, b, c) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    if let Ok(time) = Timestamp::parse(a) {
        assert_eq!(time.as_text(), a);
        assert_eq!(time.cmp(&time), Ordering::Equal);
    }
    assert_eq!(Watermark::compare(a, b), Watermark::compare(b, a).reverse(), "{a:?} {b:?}");
    if Watermark::compare(a, b) == Ordering::Less && Watermark::compare(b, c) == Ordering::Less {
        assert_eq!(Watermark::compare(a, c), Ordering::Less, "{a:?} {b:?} {c:?}");
    }
}

/// A reference that was read writes itself, and reads again.
pub fn secret_reference(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(reference) = SecretRef::parse(&text) {
        assert_eq!(SecretRef::parse(&reference.to_string()).as_ref(), Ok(&reference));
        if let SecretRef::File { path } = &reference {
            assert!(
                path.starts_with('/') && path.split('/').all(|segment| segment != ".." && segment != "."),
                "{path}"
            );
        }
    }
    for read in [RuntimeRef::parse(&text), RuntimeRef::parse_setting(&text)].into_iter().flatten() {
        assert_eq!(RuntimeRef::parse_setting(&read.to_string()).as_ref(), Ok(&read));
        if let Ok(reference) = read.to_secret_ref() {
            assert_eq!(SecretRef::parse(&reference.to_string()), Ok(reference));
        }
    }
    // Refused or read, never anything of the text in the refusal.
    if let Err(refusal) = ProviderProfiles::parse(&text) {
        assert!(!refusal.to_string().is_empty());
    }
    let _ = read_source_credentials(&text);
    let _ = is_sensitive_key(&text, false);
}
