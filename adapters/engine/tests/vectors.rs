//! The engine's own vectors: canonical bodies, envelopes, signatures, and every captured reply.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use scion_domain::json::{Json, JsonLimits, JsonNumber, parse_with};
use scion_domain::secret::Secret;
use scion_engine::{Body, DecodeLimits, RequestContext, Stamp, Value, decode, default_key, detached, encode, sign};

const VECTORS: &[u8] = include_bytes!("../../../conformance/vectors/engine.json");

fn vectors() -> Json {
    parse_with(VECTORS, JsonLimits::DEFAULT).unwrap()
}

fn text<'a>(case: &'a Json, name: &str) -> &'a str {
    case.get(name).and_then(Json::as_str).unwrap_or_else(|| panic!("{name} is missing"))
}

fn cases(all: &Json, section: &str) -> Vec<Json> {
    let cases = all.get(section).and_then(Json::as_array).unwrap().to_vec();
    assert!(!cases.is_empty(), "{section} has no case");
    cases
}

fn bytes(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2));
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn list(context: &Json, name: &str) -> Vec<String> {
    let items = context.get(name).and_then(Json::as_array).unwrap();
    items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn context(case: &Json) -> RequestContext {
    let context = case.get("context").unwrap();
    RequestContext {
        principal: text(context, "principal").to_owned(),
        tenant: text(context, "tenant").to_owned(),
        audience: text(context, "audience").to_owned(),
        agent: text(context, "agent_id").to_owned(),
        roles: list(context, "roles"),
        scopes: list(context, "scopes"),
        policy_version: text(context, "policy_version").to_owned(),
        delegation: list(context, "delegation"),
    }
}

/// The body behind canonical bytes.
fn body(canonical: &[u8]) -> Body {
    let value = decode(canonical, DecodeLimits::default()).unwrap();
    let method = value.get("method").and_then(Value::as_text).unwrap().to_owned();
    Body { method: Box::leak(method.into_boxed_str()), params: value.get("params").cloned() }
}

#[test]
fn canonical_bodies_survive_reading_and_writing() {
    for case in cases(&vectors(), "canonical_body_vectors") {
        let canonical = bytes(text(&case, "canonical_hex"));
        let body = body(&canonical);
        assert_eq!(body.canonical(), canonical, "{}", text(&case, "name"));
        assert_eq!(body.hash(), text(&case, "sha256"), "{}", text(&case, "name"));
    }
}

#[test]
fn envelopes_are_signed_as_the_engine_checks_them() {
    for case in cases(&vectors(), "envelope_vectors") {
        let name = text(&case, "name");
        let canonical = bytes(text(&case, "canonical_body_hex"));
        let body = body(&canonical);
        let number = |name: &str| case.get(name).and_then(Json::as_number).and_then(JsonNumber::as_u64).unwrap();
        let context = context(&case);
        if case.get("context").unwrap().get("node").is_some() || case.get("context").unwrap().get("priority").is_some()
        {
            // Claims this client never makes.
            continue;
        }
        let stamp = Stamp {
            id: number("id"),
            graph: text(&case, "graph"),
            timestamp: number("timestamp"),
            nonce: text(&case, "nonce"),
            idempotency_key: text(&case, "idempotency_key"),
        };
        if name.contains("default idempotency key") {
            assert_eq!(default_key(stamp.id, stamp.graph, &body), stamp.idempotency_key, "{name}");
        }
        let token = sign(&Secret::new(text(&case, "secret").to_owned()), &context, &stamp, &body);
        let inner = |token: &str| parse_with(&bytes(token.strip_prefix("eg2.").unwrap()), JsonLimits::DEFAULT).unwrap();
        assert_eq!(inner(token.expose()), inner(text(&case, "auth_token")), "{name}");
    }
}

#[test]
fn an_identity_is_registered_with_a_detached_signature() {
    for case in cases(&vectors(), "detached_signature_vectors") {
        let unsigned = body(&bytes(text(&case, "body_with_empty_signature_hex")));
        let key = Secret::new(text(&case, "signer_key").to_owned());
        let (signer, graph) = (text(&case, "signer"), text(&case, "graph"));
        let signature = detached(signer, &key, &context(&case), text(&case, "idempotency_key"), graph, &unsigned);
        assert_eq!(signature, text(&case, "signature"));
    }
}

#[test]
fn every_captured_frame_is_read_and_written_alike() {
    let mut read = 0;
    for case in cases(&vectors(), "captures") {
        for part in ["request_hex", "response_hex"] {
            let Some(hex) = case.get(part).and_then(Json::as_str) else { continue };
            let frame = bytes(hex);
            let Some((length, payload)) = frame.split_first_chunk::<4>() else { continue };
            if u32::from_be_bytes(*length) as usize != payload.len() || text(&case, "name").starts_with("frame:") {
                continue;
            }
            let value = decode(payload, DecodeLimits::default());
            let value = value.unwrap_or_else(|_| panic!("{} {part}", text(&case, "name")));
            assert_eq!(encode(&value), payload, "{} {part}", text(&case, "name"));
            read += 1;
        }
    }
    assert!(read > 300, "only {read} frames were read");
}
