//! Bugs planted on purpose, so that the simulation is known to find what it looks for.

mod digests;
mod documents;
mod pages;
mod receipts;

use std::sync::Arc;

use scion_ports::{CheckpointStore, McpConnector, RecordDigests, Sink};

use super::drive::Env;

/// A planted bug: a mistake people really make, put around a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// None: the real thing.
    None,
    /// The store acknowledges a batch before it is durable.
    AckBeforeDurable,
    /// A batch of unknown outcome is sent again as a new one.
    BlindResend,
    /// Record digests are noted before the commit.
    DigestBeforeCommit,
    /// A conflict is answered by sending the batch against the new checkpoint.
    IgnoreConflict,
    /// The progress document is written before the receipt.
    ProgressBeforeReceipt,
    /// The last page of a sweep is left out.
    DropLastPage,
    /// A page that failed counts as an empty one.
    FailedPageIsEmpty,
    /// A quarantined stream goes on.
    ForgetQuarantine,
}

impl Plant {
    /// Every planted bug.
    pub const ALL: &'static [Self] = &[
        Self::AckBeforeDurable,
        Self::BlindResend,
        Self::DigestBeforeCommit,
        Self::IgnoreConflict,
        Self::ProgressBeforeReceipt,
        Self::DropLastPage,
        Self::FailedPageIsEmpty,
        Self::ForgetQuarantine,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::AckBeforeDurable => "ack-before-durable",
            Self::BlindResend => "blind-resend",
            Self::DigestBeforeCommit => "digest-before-commit",
            Self::IgnoreConflict => "ignore-conflict",
            Self::ProgressBeforeReceipt => "progress-before-receipt",
            Self::DropLastPage => "drop-last-page",
            Self::FailedPageIsEmpty => "failed-page-is-empty",
            Self::ForgetQuarantine => "forget-quarantine",
        }
    }

    /// The bug of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().chain(&[Self::None]).copied().find(|plant| plant.name() == name)
    }

    /// Bugs of the store itself.
    pub(super) fn at_store(self, store: Arc<dyn Sink>) -> Arc<dyn Sink> {
        match self {
            Self::AckBeforeDurable => Arc::new(receipts::EarlyAck::new(store)),
            _ => store,
        }
    }

    /// Bugs of whoever commits.
    pub(super) fn at_sink(self, sink: Arc<dyn Sink>, env: &Arc<Env>) -> Arc<dyn Sink> {
        match self {
            Self::BlindResend => Arc::new(receipts::SendsAgain { inner: sink, on_conflict: false }),
            Self::IgnoreConflict => Arc::new(receipts::SendsAgain { inner: sink, on_conflict: true }),
            Self::DigestBeforeCommit => Arc::new(digests::NotesFirst { inner: sink, env: env.clone() }),
            Self::ProgressBeforeReceipt => Arc::new(documents::WritesFirst { inner: sink, env: env.clone() }),
            _ => sink,
        }
    }

    pub(super) fn at_digests(self, digests: Arc<dyn RecordDigests>, env: &Arc<Env>) -> Arc<dyn RecordDigests> {
        match self {
            Self::DigestBeforeCommit => Arc::new(digests::Noted { inner: digests, env: env.clone() }),
            _ => digests,
        }
    }

    pub(super) fn at_documents(self, documents: Arc<dyn CheckpointStore>) -> Arc<dyn CheckpointStore> {
        match self {
            Self::ForgetQuarantine => Arc::new(documents::Forgets { inner: documents }),
            Self::ProgressBeforeReceipt => Arc::new(documents::AnyVersion { inner: documents }),
            _ => documents,
        }
    }

    pub(super) fn at_connector(self, connector: Arc<dyn McpConnector>) -> Arc<dyn McpConnector> {
        match self {
            Self::DropLastPage => Arc::new(pages::BadPages { inner: connector, drops_last: true }),
            Self::FailedPageIsEmpty => Arc::new(pages::BadPages { inner: connector, drops_last: false }),
            _ => connector,
        }
    }
}
