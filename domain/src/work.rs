//! Queued work, repository indexing, decisions, tokens, approvals and artifacts: the models of ports whose adapters
//! come with their own capabilities.

mod queue;

use sha2::{Digest as _, Sha256};

use crate::id::{ConnectorName, Digest256, TenantId};
use crate::json::JsonObject;
use crate::refusals;
use crate::secret::Secret;

pub use queue::{
    Admission, CapacityHold, Claim, ClaimedWork, HoldAnswer, LanePolicy, NewWork, Settled, WorkCapabilities, WorkLane,
    WorkOutcome, WorkStatus, WorkView, WorkersWanted, check_kind, check_worker,
};

/// A version of one file, for a repository index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// The path inside the repository, `/`-separated.
    pub path: String,
    /// The object id of its content.
    pub content_id: String,
    /// Its bytes; `None` when it was deleted.
    pub content: Option<Vec<u8>>,
}

/// What an index did with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOutcome {
    /// Indexed.
    Indexed,
    /// No parser for it.
    Unsupported,
    /// The parser failed, with its diagnostic code.
    Failed {
        /// A stable code.
        code: String,
    },
}

/// A question to a decision service. Its answer is an observation and authorises nothing (R006 of connector control).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionQuestion {
    /// The kind of question.
    pub kind: String,
    /// The options, by name.
    pub candidates: Vec<String>,
    /// What is known.
    pub evidence: JsonObject,
}

/// What a decision service proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionProposal {
    /// The proposed option; `None` when it abstains.
    pub choice: Option<String>,
    /// Identifies the proposal in logs and audits.
    pub proposal_digest: Digest256,
}

/// Tokens of one account.
#[derive(Clone, Debug)]
pub struct StoredTokens {
    /// The access token.
    pub access: Secret<String>,
    /// The refresh token.
    pub refresh: Option<Secret<String>>,
    /// Milliseconds since the Unix epoch at which the access token expires.
    pub expires_at_ms: i64,
}

impl StoredTokens {
    /// The longest name of an account, in bytes.
    pub const MAX_ACCOUNT_BYTES: usize = 512;

    /// A file name for an account: readable as far as it goes, different for different accounts, at most 100 bytes.
    pub fn file_stem(account: &str) -> Result<String, WorkRefusal> {
        if account.is_empty() || account.len() > Self::MAX_ACCOUNT_BYTES || account.chars().any(char::is_control) {
            return Err(WorkRefusal::Invalid {
                what: "the name of an account is 1 to 512 bytes without control characters",
            });
        }
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '_' };
        let readable: String = account.chars().map(safe).take(32).collect();
        let digest: [u8; 32] = Sha256::digest(account.as_bytes()).into();
        Ok(format!("{readable}.{}", Digest256::from_bytes(digest).to_hex()))
    }
}

/// A request for a person's approval, shown as it will run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The tenant.
    pub tenant: TenantId,
    /// The connector.
    pub connector: ConnectorName,
    /// The operation.
    pub operation: String,
    /// Its exact canonical arguments.
    pub arguments: JsonObject,
    /// Digest of operation and arguments; the approval is valid for it alone, once.
    pub digest: Digest256,
}

/// Where an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// Nobody has decided.
    Pending,
    /// Yes, not used yet.
    Approved,
    /// No.
    Rejected,
    /// Used, or too late.
    Spent,
}

refusals! {
    /// Why one of these ports said no.
    pub enum WorkRefusal {
        /// The lease or the token is not current.
        Fenced { work: String } => "work_fenced", CallerMistake, Never,
            "another worker holds {work} now", "drop the work; its new holder goes on";
        /// It does not exist.
        Unknown { what: &'static str } => "work_unknown", CallerMistake, Never,
            "{what} does not exist", "check its identity";
        /// It was used, decided or finished before.
        Settled { what: &'static str } => "work_settled", CallerMistake, Never,
            "{what} is settled already", "read its outcome";
        /// A version or digest is not the current one.
        Conflict { what: &'static str } => "work_conflict", Unavailable, AfterReadback,
            "{what} has changed meanwhile", "read it again";
        /// The service behind the port does not offer this.
        MethodNotServed { method: &'static str } => "method_not_served", CallerMistake, Never,
            "the service does not offer {method}", "use a store that does";
        /// It does not answer.
        Unreachable { what: &'static str } => "work_unreachable", Unavailable, Later,
            "{what} does not answer", "try again later";
        /// An input is not acceptable.
        Invalid { what: &'static str } => "work_invalid", CallerMistake, Never,
            "{what}", "fix the request";
        /// Nobody set the lane up, so it admits no worker.
        LaneMissing { lane: String } => "work_lane_missing", CallerMistake, Never,
            "there is no lane {lane}, or it has no floor", "set it up with `scion work lane`";
        /// It is being worked on.
        InFlight { work: String } => "work_in_flight", Unavailable, Later,
            "a worker has {work} now", "wait until its lease ends or it is settled";
        /// The service behind the port says no, with a code of its own.
        Denied { method: &'static str, code: &'static str } => "work_denied", Denied, Never,
            "the service refuses {method} ({code})", "look up the code in its documentation";
        /// The store of the queue says no.
        Store { code: &'static str } => "work_store", Unavailable, Later,
            "the store of the queue refuses ({code})", "look up the code in the list of refusals";
    }
}
