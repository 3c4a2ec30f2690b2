use serde::Serialize;

use crate::auth::RedirectMode;
use crate::id::Digest256;

/// What a token store said when it kept the tokens. Only this makes a login ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PersistReceipt {
    /// The account.
    pub account: String,
    /// The version the store gave.
    pub version: u64,
}

/// What is recorded of a login (SDK-CONNECTOR-CONTROL-R046.5): no code, no verifier, no token, no redirect address as handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PkceEvidence {
    /// The issuer.
    pub issuer: String,
    /// The revision of the declared token profile.
    pub profile_revision: u32,
    /// How the answer comes back.
    pub redirect_mode: RedirectMode,
    /// Digest over caller, operation and challenge reference, in hex.
    pub binding_digest: String,
    /// The broker's reference.
    pub challenge_ref: String,
    /// `ready`, or the word of the refusal.
    pub outcome: &'static str,
    /// Milliseconds since the Unix epoch.
    pub deadline_ms: i64,
    /// The account, by its name.
    pub token_ref: String,
    /// The receipt, when there is one.
    pub receipt: Option<PersistReceipt>,
    /// The host's grant, by its opaque reference.
    pub grant_ref: Option<String>,
}

/// A finished login. It holds references only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PkceAuthResult {
    /// Under which account the tokens are.
    pub token_ref: String,
    /// What the store said.
    pub receipt: PersistReceipt,
    /// The operation that may go on now, and no other.
    #[serde(serialize_with = "hex")]
    pub operation: Digest256,
    /// What is recorded.
    pub evidence: PkceEvidence,
}

fn hex<S: serde::Serializer>(digest: &Digest256, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&digest.to_hex())
}
