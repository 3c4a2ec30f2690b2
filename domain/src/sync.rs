//! Why a synchronisation ended without finishing.

use crate::declaration::DeclarationRefusal;
use crate::digest::DigestRefusal;
use crate::id::IdRefusal;
use crate::mcp::McpRefusal;
use crate::pack::PackRefusal;
use crate::refusal::{Refusal as _, Retry};
use crate::refusals;
use crate::sink::{SinkRefusal, StoreRefusal};
use crate::source::SourceRefusal;

refusals! {
    /// What the sync use case refuses. Refusals of the ports pass through unchanged: [`SyncRefusal::leaf_code`] is theirs.
    pub enum SyncRefusal {
        /// The source gave no page.
        Source { refusal: SourceRefusal } => "sync_source", PeerMisbehaved, Later,
            "{refusal}", "see the source's own refusal";
        /// The graph did not accept.
        Sink { refusal: SinkRefusal } => "sync_sink", Unavailable, Later,
            "{refusal}", "see the sink's own refusal";
        /// The progress store did not answer or did not accept.
        Store { refusal: StoreRefusal } => "sync_store", Unavailable, Later,
            "{refusal}", "see the store's own refusal";
        /// The session with the server failed outside a page.
        Session { refusal: McpRefusal } => "sync_session", Unavailable, Later,
            "{refusal}", "see the session's own refusal";
        /// What the server publishes is no pack.
        Pack { refusal: PackRefusal } => "sync_pack", PeerMisbehaved, Never,
            "{refusal}", "see the pack's own refusal";
        /// A receipt does not answer the batch that was sent.
        ReceiptMismatch { stream: String, what: &'static str } => "receipt_mismatch", PeerMisbehaved, Never,
            "the receipt for {stream} does not bind the batch: {what} differs",
            "nothing was advanced; check that this release and the store agree on their digests";
        /// The deadline passed before the store said whether the batch is durable.
        CommitUnsettled { stream: String } => "commit_unsettled", Unavailable, AfterReadback,
            "the store did not say in time whether the batch of {stream} is durable",
            "the next cycle reads the accepted checkpoint and continues from there";
        /// A page cannot be put into its canonical form.
        NotCanonical { stream: String, refusal: DigestRefusal } => "page_not_canonical", PeerMisbehaved, Never,
            "a page of {stream} has no canonical form: {refusal}", "fix the values the tool hands out";
        /// The stream waits for an operator because the tool's contract changed.
        Quarantined { stream: String, classification: &'static str } => "stream_quarantined", Denied, Never,
            "the tool of {stream} changed its contract ({classification})",
            "look at what changed, then release the stream";
        /// The stream waits for a repair.
        RepairPending { stream: String } => "repair_pending", Denied, Later,
            "a repair of {stream} is proposed and not decided", "wait for the graph service, or release the stream";
        /// There is nothing to release.
        NotHeld { stream: String } => "stream_not_held", CallerMistake, Never,
            "the stream {stream} is not held", "look at its state first";
        /// The stored progress of a stream is not readable.
        ProgressUnreadable { stream: String } => "progress_unreadable", PeerMisbehaved, Never,
            "the progress document of {stream} is not one of this release",
            "use the release that wrote it, or reset the stream";
        /// The work was stopped from outside.
        Cancelled => "sync_cancelled", Unavailable, Later,
            "the work was stopped", "run it again: it resumes from the accepted checkpoint";
        /// The declaration cannot be used, or the configuration asks for something it does not have.
        Declaration { refusal: DeclarationRefusal } => "sync_declaration", PeerMisbehaved, Never,
            "{refusal}", "see the declaration's own refusal";
        /// A declared or vendor name is outside its alphabet or bound.
        BadName { refusal: IdRefusal } => "sync_bad_name", PeerMisbehaved, Never,
            "{refusal}", "use names inside their alphabet and bound";
        /// A typed record does not name its type.
        TypeMissing { stream: String, field: String } => "record_type_missing", PeerMisbehaved, Never,
            "a record of {stream} names no type at `{field}`", "set node_type_field to a field every record has";
        /// A mapped field holds an object and no edge says what to make of it (R017.4).
        NestedValue { record_type: String, field: String } => "undeclared_nested_value", PeerMisbehaved, Never,
            "{record_type}.{field} is a nested value without a declared mapping",
            "declare an edge for the field, or map its members to properties of their own";
        /// A stage id stands twice.
        DuplicateStage { stage: String } => "stage_duplicate", CallerMistake, Never,
            "the stage {stage} stands twice", "give each stage its own id";
        /// Two stages write one stream.
        DuplicateStream { stage: String, stream: String } => "stage_stream_duplicate", CallerMistake, Never,
            "the stage {stage} writes the stream {stream}, which another stage writes", "one writer per stream";
        /// A dependency is not a stage of the graph.
        UnknownDependency { stage: String, dependency: String } => "stage_dependency_unknown", CallerMistake, Never,
            "the stage {stage} depends on {dependency}, which does not exist", "add the stage or drop the dependency";
        /// Dependencies lead back to themselves.
        StageCycle { stage: String } => "stage_cycle", CallerMistake, Never,
            "the dependencies of the stage {stage} lead back to it", "break the cycle";
        /// A stage says not under whose authority it runs.
        StageWithoutAuthority { stage: String, what: &'static str } => "stage_authority_missing", CallerMistake, Never,
            "the stage {stage} names no {what}", "bind each stage to its tenant and manifest digest";
        /// A stage names no usable concurrency.
        StageConcurrency { stage: String, asked: usize, limit: usize } => "stage_concurrency_unbounded", CallerMistake, Never,
            "the stage {stage} asks for {asked} side by side; 1 to {limit} are admitted", "set a concurrency inside the limit";
        /// A dependency did not finish.
        StageBlocked { stage: String, dependency: String } => "stage_blocked", Unavailable, Later,
            "the stage {stage} waits for {dependency}, which did not complete", "fix the stage it depends on; it resumes by itself";
        /// A stage came back with another stage's progress.
        StageProgressForeign { stage: String } => "stage_progress_foreign", PeerMisbehaved, Never,
            "the stage {stage} answered with the progress of another stage", "report this: progress is never inherited";
    }
}

impl SyncRefusal {
    /// The most specific code: of the wrapped refusal where there is one.
    pub fn leaf_code(&self) -> &'static str {
        match self {
            Self::Source { refusal } => refusal.leaf_code(),
            Self::Sink { refusal } => refusal.leaf_code(),
            Self::Store { refusal } => refusal.code(),
            Self::Session { refusal } => refusal.code(),
            Self::Declaration { refusal } => refusal.code(),
            Self::BadName { refusal } => refusal.code(),
            Self::Pack { refusal } => refusal.code(),
            other => other.code(),
        }
    }

    /// What to do next, in the words of the most specific refusal.
    pub fn leaf_next_step(&self) -> &'static str {
        match self {
            Self::Source { refusal: SourceRefusal::Session { refusal } } | Self::Session { refusal } => {
                refusal.next_step()
            }
            Self::Source { refusal } => refusal.next_step(),
            Self::Sink { refusal: SinkRefusal::Store { refusal } } | Self::Store { refusal } => refusal.next_step(),
            Self::Sink { refusal: SinkRefusal::Batch { refusal } } => refusal.next_step(),
            Self::Sink { refusal } => refusal.next_step(),
            Self::Declaration { refusal } => refusal.next_step(),
            Self::BadName { refusal } => refusal.next_step(),
            Self::Pack { refusal } => refusal.next_step(),
            other => other.next_step(),
        }
    }

    /// Whether a later attempt can help, looking through the wrapper.
    pub fn can_retry(&self) -> bool {
        match self {
            Self::Source { refusal } => refusal.can_retry(),
            Self::Sink { refusal: SinkRefusal::Store { refusal } } | Self::Store { refusal } => {
                refusal.retry() != Retry::Never
            }
            Self::Sink { refusal } => refusal.retry() != Retry::Never,
            Self::Session { refusal } => refusal.retry() != Retry::Never,
            other => other.retry() != Retry::Never,
        }
    }

    /// Whether the session itself is gone, so that the next attempt needs a new one.
    pub fn ends_session(&self) -> bool {
        matches!(
            self,
            Self::Source { refusal: SourceRefusal::Session { refusal } } | Self::Session { refusal }
                if matches!(
                    refusal,
                    McpRefusal::Closed { .. }
                        | McpRefusal::Exited { .. }
                        | McpRefusal::NoiseOnStdout { .. }
                        | McpRefusal::Unreachable { .. }
                        | McpRefusal::TooLarge { .. }
                )
        )
    }
}

impl From<SourceRefusal> for SyncRefusal {
    fn from(refusal: SourceRefusal) -> Self {
        Self::Source { refusal }
    }
}

impl From<SinkRefusal> for SyncRefusal {
    fn from(refusal: SinkRefusal) -> Self {
        Self::Sink { refusal }
    }
}

impl From<StoreRefusal> for SyncRefusal {
    fn from(refusal: StoreRefusal) -> Self {
        Self::Store { refusal }
    }
}

impl From<DeclarationRefusal> for SyncRefusal {
    fn from(refusal: DeclarationRefusal) -> Self {
        Self::Declaration { refusal }
    }
}

impl From<IdRefusal> for SyncRefusal {
    fn from(refusal: IdRefusal) -> Self {
        Self::BadName { refusal }
    }
}

impl From<McpRefusal> for SyncRefusal {
    fn from(refusal: McpRefusal) -> Self {
        Self::Session { refusal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_refusal_keeps_its_own_code_and_next_step() {
        let refusal = SyncRefusal::from(SourceRefusal::from(McpRefusal::Closed { operation: "tools/call".into() }));
        assert_eq!(refusal.leaf_code(), "session_closed");
        assert_eq!(refusal.leaf_next_step(), "connect again");
        assert!(refusal.can_retry() && refusal.ends_session());
        let refusal = SyncRefusal::from(SinkRefusal::UnknownMapping { reference: "x".into() });
        assert_eq!(refusal.leaf_code(), "UNKNOWN_MAPPING_REFERENCE");
        assert!(!refusal.can_retry() && !refusal.ends_session());
    }
}
