use std::collections::BTreeSet;

use crate::id::Digest256;

/// What is known of an entry beside its body. Closed: nothing else can be said. A missing estimate is unknown, never zero (R008
/// of connector control). Lists hold at most 64 values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackAnnotations {
    /// Names of what it can do.
    pub provides: BTreeSet<String>,
    /// Names of what it needs.
    pub requires_capabilities: BTreeSet<String>,
    /// What it takes, for example `text`.
    pub modalities_in: BTreeSet<String>,
    /// What it gives.
    pub modalities_out: BTreeSet<String>,
    /// Scopes a caller needs.
    pub required_scopes: BTreeSet<String>,
    /// It changes nothing.
    pub read_only_hint: Option<bool>,
    /// It may destroy.
    pub destructive_hint: Option<bool>,
    /// Twice is once.
    pub idempotent_hint: Option<bool>,
    /// It reaches outside.
    pub open_world_hint: Option<bool>,
    /// The version of its contract.
    pub contract_version: Option<String>,
    /// What a call costs.
    pub cost: Option<PackCost>,
    /// How long a call takes.
    pub latency_declared: Option<PackLatency>,
    /// Facts of a model profile.
    pub model: Option<ModelFacts>,
    /// The fingerprint of its contract, computed here and carried unchanged (R002 of connector control).
    pub sdk_contract_pin: Option<Digest256>,
    /// How its tools are listed.
    pub tool_mode: Option<ToolMode>,
}

/// A cost in millionths of a currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackCost {
    /// Three capital letters (ISO 4217).
    pub currency: String,
    /// Millionths per call.
    pub per_call_micros: Option<u64>,
    /// Millionths per million tokens read.
    pub input_per_mtok_micros: Option<u64>,
    /// Millionths per million tokens written.
    pub output_per_mtok_micros: Option<u64>,
}

/// A latency as its author states it, in milliseconds; `p50_ms` is at most `p95_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackLatency {
    /// Half of the calls are faster.
    pub p50_ms: u64,
    /// All but one in twenty are faster.
    pub p95_ms: u64,
}

/// Facts of a model profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFacts {
    /// Who serves it.
    pub provider: String,
    /// Which model.
    pub model_identity: String,
    /// Tokens it can read at once.
    pub context_window_tokens: u64,
    /// Tokens it can write at once.
    pub max_output_tokens: u64,
    /// Whether it calls tools.
    pub supports_tools: Option<bool>,
    /// Whether it answers to a schema.
    pub supports_structured_output: Option<bool>,
    /// Whether it reads pictures.
    pub supports_vision: Option<bool>,
    /// `low`, `medium` or `high`, measured.
    pub shell_proficiency: Option<MeasuredFact>,
    /// `stops_early`, `balanced` or `over_verifies`, measured.
    pub stopping_behaviour: Option<MeasuredFact>,
}

/// A value with the evaluation that measured it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredFact {
    /// The value.
    pub value: String,
    /// The evaluation.
    pub evaluation_id: String,
    /// The digest of its report, as it was written.
    pub evaluation_digest: String,
}

/// How the tools of a connector are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolMode {
    /// One tool per group.
    Condensed,
    /// One tool per operation.
    Verbose,
}

impl ToolMode {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Condensed => "condensed",
            Self::Verbose => "verbose",
        }
    }
}
