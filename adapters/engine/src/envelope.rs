//! Who asks, signed per request (`wire/engine-protocol.md` 2).

use ring::digest::{Context, SHA256};
use ring::hmac;
use scion_domain::json::{Json, to_compact};
use scion_domain::secret::Secret;

use crate::Body;
use crate::body::hex;

/// In whose name requests are made. The engine compares every part with its own configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestContext {
    /// The principal, for example `service:connector`.
    pub principal: String,
    /// The tenant.
    pub tenant: String,
    /// The audience the engine is configured with.
    pub audience: String,
    /// The agent; the principal itself unless it acts through another.
    pub agent: String,
    /// Roles, each once.
    pub roles: Vec<String>,
    /// Scopes, each once. A method needs its own.
    pub scopes: Vec<String>,
    /// The policy version the engine is configured with.
    pub policy_version: String,
    /// The chain from principal to agent; empty when they are the same.
    pub delegation: Vec<String>,
}

/// What makes one request unlike every other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp<'a> {
    /// The id of the request.
    pub id: u64,
    /// The graph it is for.
    pub graph: &'a str,
    /// Unix seconds; the engine accepts 300 s of difference.
    pub timestamp: u64,
    /// Used once.
    pub nonce: &'a str,
    /// Names the operation; a repetition under the same key is answered from memory.
    pub idempotency_key: &'a str,
}

/// The `eg2.` token of one request.
pub fn sign(secret: &Secret<String>, context: &RequestContext, stamp: &Stamp<'_>, body: &Body) -> Secret<String> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
    let mac = hex(hmac::sign(&key, &message(context, stamp, body)).as_ref());
    let texts = |items: &[String]| Json::from(items.iter().map(|item| Json::from(item.as_str())).collect::<Vec<_>>());
    let envelope = Json::from([
        (
            "context",
            Json::from([
                ("principal", context.principal.as_str().into()),
                ("tenant", context.tenant.as_str().into()),
                ("audience", context.audience.as_str().into()),
                ("agent_id", context.agent.as_str().into()),
                ("roles", texts(&context.roles)),
                ("scopes", texts(&context.scopes)),
                ("policy_version", context.policy_version.as_str().into()),
                ("delegation", texts(&context.delegation)),
            ]),
        ),
        ("timestamp", Json::from(stamp.timestamp)),
        ("nonce", stamp.nonce.into()),
        ("idempotency_key", stamp.idempotency_key.into()),
        ("mac", mac.into()),
    ]);
    Secret::new(format!("eg2.{}", hex(to_compact(&envelope).as_bytes())))
}

/// The token of an engine without authentication: the key only, and nothing when there is none.
pub fn anonymous(idempotency_key: Option<&str>) -> String {
    idempotency_key
        .map_or_else(String::new, |key| format!("anon1.{}", to_compact(&Json::from([("idempotency_key", key.into())]))))
}

/// The key a mutation has when its caller names none.
pub fn default_key(id: u64, graph: &str, body: &Body) -> String {
    let mut hash = Context::new(&SHA256);
    let id = id.to_string();
    for (index, part) in [id.as_str(), graph, body.method, &body.hash()].into_iter().enumerate() {
        if index > 0 {
            hash.update(&[0]);
        }
        hash.update(part.as_bytes());
    }
    format!("rpc:sha256:{}", hex(hash.finish().as_ref()))
}

/// The name under which the engine keeps a principal.
pub fn persistence_id(principal: &str) -> String {
    format!("principal:sha256:{}", hex(ring::digest::digest(&SHA256, principal.as_bytes()).as_ref()))
}

/// What the code covers.
fn message(context: &RequestContext, stamp: &Stamp<'_>, body: &Body) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    text(&mut out, "eg-envelope-v2");
    out.extend_from_slice(&stamp.id.to_be_bytes());
    for part in [stamp.graph, body.method, &body.hash()] {
        text(&mut out, part);
    }
    for part in [&context.principal, &context.tenant, &context.audience, &context.agent] {
        text(&mut out, part);
    }
    list(&mut out, &context.roles);
    list(&mut out, &context.scopes);
    text(&mut out, &context.policy_version);
    list(&mut out, &context.delegation);
    out.extend_from_slice(&stamp.timestamp.to_be_bytes());
    text(&mut out, stamp.nonce);
    text(&mut out, stamp.idempotency_key);
    out
}

fn text(out: &mut Vec<u8>, text: &str) {
    // Settings and ids are far shorter than this.
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn list(out: &mut Vec<u8>, items: &[String]) {
    out.extend_from_slice(&u32::try_from(items.len()).unwrap_or(u32::MAX).to_be_bytes());
    for item in items {
        text(out, item);
    }
}

/// The detached signature of a body that registers an identity: `signer:mac` over the body with an empty signature.
pub fn detached(
    signer: &str,
    key: &Secret<String>,
    context: &RequestContext,
    idempotency_key: &str,
    graph: &str,
    unsigned: &Body,
) -> String {
    let mut out = Vec::with_capacity(512);
    framed(&mut out, b"eg-register-identity-v2");
    for part in [&context.principal, &context.tenant, &context.audience, &context.agent] {
        framed(&mut out, part.as_bytes());
    }
    framed_list(&mut out, &context.roles);
    framed_list(&mut out, &context.scopes);
    framed(&mut out, context.policy_version.as_bytes());
    framed_list(&mut out, &context.delegation);
    for part in [idempotency_key, graph] {
        framed(&mut out, part.as_bytes());
    }
    framed(&mut out, &unsigned.canonical());
    let hash = ring::digest::digest(&SHA256, &out);
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.expose().as_bytes());
    format!("{signer}:{}", hex(hmac::sign(&key, hash.as_ref()).as_ref()))
}

fn framed(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn framed_list(out: &mut Vec<u8>, items: &[String]) {
    framed(out, &(items.len() as u64).to_be_bytes());
    for item in items {
        framed(out, item.as_bytes());
    }
}
