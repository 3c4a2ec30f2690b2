use std::collections::BTreeSet;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::base64;
use crate::canonical::lossless_json;
use crate::digest::framed;
use crate::id::Digest256;
use crate::json::{Json, JsonObject};
use crate::surface::CallerIdentity;

const PREFIX: &str = "v1.";
const NONCE: usize = 16;
/// Nonce, expiry, tag.
const LENGTH: usize = NONCE + 8 + 32;

/// What a state is sealed for: the tool, the operation in question, the exact arguments, and who was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedFor(Digest256);

impl SealedFor {
    /// `call` are the arguments of the call, `target` those of the operation as the person was shown them. Numbers count digit
    /// by digit, so two calls that differ at all are two calls.
    pub fn new(
        caller: Option<&CallerIdentity>,
        tool: &str,
        call: Digest256,
        operation: &str,
        target: &JsonObject,
    ) -> Self {
        let target = lossless_json(&Json::Object(target.clone()));
        let call = call.to_hex();
        let (known, tenant, principal, client) = caller.map_or(("", "", "", ""), |caller| {
            ("caller", caller.tenant.as_str(), caller.principal.as_str(), caller.client.as_str())
        });
        let fields = [known, tenant, principal, client, tool, &call, operation, &target].map(str::as_bytes);
        Self(framed("scion/confirmation/v1", &fields))
    }

    /// The digest of a call's arguments.
    pub fn call(arguments: &JsonObject) -> Digest256 {
        framed("scion/confirmation-call/v1", &[lossless_json(&Json::Object(arguments.clone())).as_bytes()])
    }
}

/// The key of one process. A state of another process is worth nothing here.
pub struct StateKey([u8; 32]);

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateKey(..)")
    }
}

impl Drop for StateKey {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

impl StateKey {
    /// A key of 32 bytes from a secure random source.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Seals a state. `nonce` must not repeat; `expires_ms` is on the clock that [`open`](Self::open) is asked with.
    pub fn seal(&self, sealed_for: &SealedFor, nonce: [u8; NONCE], expires_ms: u64) -> String {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&expires_ms.to_be_bytes());
        let tag = self.mac(sealed_for, &bytes).finalize().into_bytes();
        bytes.extend_from_slice(&tag);
        format!("{PREFIX}{}", base64::encode_url(&bytes))
    }

    /// Opens a state and spends it. `false` when it is not one of this key for this call, is too old, or was spent before.
    pub fn open(&self, sealed_for: &SealedFor, state: &str, now_ms: u64, spent: &mut SpentStates) -> bool {
        let Some(bytes) = state.strip_prefix(PREFIX).filter(|text| text.len() <= 128).and_then(base64::decode_url)
        else {
            return false;
        };
        let Some((body, tag)) = bytes.split_at_checked(NONCE + 8).filter(|(_, tag)| tag.len() == 32) else {
            return false;
        };
        // The comparison takes the same time wherever the tags differ.
        if self.mac(sealed_for, body).verify_slice(tag).is_err() {
            return false;
        }
        let (Some(nonce), Some(expires)) = (body.first_chunk::<NONCE>(), body.last_chunk::<8>()) else { return false };
        let expires = u64::from_be_bytes(*expires);
        now_ms < expires && spent.spend(*nonce, expires, now_ms)
    }

    fn mac(&self, sealed_for: &SealedFor, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        mac.update(sealed_for.0.as_bytes());
        mac.update(body);
        mac
    }
}

/// The most states that are remembered as spent; more of them at once are refused.
pub const MAX_SPENT_STATES: usize = 65_536;

/// States that were used, until they would have expired anyway.
#[derive(Debug, Default)]
pub struct SpentStates(BTreeSet<(u64, [u8; NONCE])>);

impl SpentStates {
    fn spend(&mut self, nonce: [u8; NONCE], expires_ms: u64, now_ms: u64) -> bool {
        while self.0.first().is_some_and(|(expires, _)| *expires <= now_ms) {
            self.0.pop_first();
        }
        self.0.len() < MAX_SPENT_STATES && self.0.insert((expires_ms, nonce))
    }
}
