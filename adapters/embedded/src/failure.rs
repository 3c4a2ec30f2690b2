//! The one error type inside the store, and how SQLite's codes become refusals.

use std::time::Duration;

use rusqlite::ErrorCode;
use scion_domain::model::BatchRefusal;
use scion_domain::query::QueryRefusal;
use scion_domain::refusal::Refusal as _;
use scion_domain::sink::{SinkRefusal, StoreRefusal};

/// Anything that ends an operation.
#[derive(Debug)]
pub(crate) enum Failure {
    Sql(rusqlite::Error),
    Sink(SinkRefusal),
    Store(StoreRefusal),
}

pub(crate) type Outcome<T> = Result<T, Failure>;

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<SinkRefusal> for Failure {
    fn from(refusal: SinkRefusal) -> Self {
        Self::Sink(refusal)
    }
}

impl From<StoreRefusal> for Failure {
    fn from(refusal: StoreRefusal) -> Self {
        Self::Store(refusal)
    }
}

impl From<BatchRefusal> for Failure {
    fn from(refusal: BatchRefusal) -> Self {
        Self::Sink(refusal.into())
    }
}

impl Failure {
    /// The writer's or a reader's thread is gone or never answered.
    pub(crate) const fn gone() -> Self {
        Self::Store(StoreRefusal::Unavailable { what: "its worker has stopped" })
    }

    /// Whether nobody knows what became of the operation.
    pub(crate) fn is_gone(&self) -> bool {
        matches!((self, Self::gone()), (Self::Store(this), Self::Store(gone)) if *this == gone)
    }

    /// Something in the file contradicts what this crate writes.
    pub(crate) const fn corrupt() -> Self {
        Self::Store(StoreRefusal::Corrupt)
    }

    pub(crate) fn into_store(self, waited: Duration) -> StoreRefusal {
        match self {
            Self::Sql(error) => store_refusal(&error, waited),
            Self::Store(refusal) | Self::Sink(SinkRefusal::Store { refusal }) => refusal,
            Self::Sink(_) => StoreRefusal::Unavailable { what: "the operation was refused" },
        }
    }

    pub(crate) fn into_sink(self, waited: Duration) -> SinkRefusal {
        match self {
            Self::Sink(refusal) => refusal,
            other => SinkRefusal::Store { refusal: other.into_store(waited) },
        }
    }

    pub(crate) fn into_query(self, waited: Duration) -> QueryRefusal {
        QueryRefusal::Store { code: self.into_store(waited).code() }
    }
}

fn store_refusal(error: &rusqlite::Error, waited: Duration) -> StoreRefusal {
    let Some(code) = error.sqlite_error_code() else {
        // A column of the wrong type or a missing row: the file is not what this crate writes.
        return StoreRefusal::Corrupt;
    };
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StoreRefusal::Locked { seconds: waited.as_secs() }
        }
        ErrorCode::DiskFull => StoreRefusal::Full,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SchemaChanged | ErrorCode::TypeMismatch => {
            StoreRefusal::Corrupt
        }
        ErrorCode::ReadOnly => StoreRefusal::ReadOnly,
        ErrorCode::PermissionDenied => StoreRefusal::Unavailable { what: "access is denied" },
        ErrorCode::CannotOpen => StoreRefusal::Unavailable { what: "the file cannot be opened" },
        ErrorCode::OutOfMemory => StoreRefusal::Unavailable { what: "no memory is left" },
        ErrorCode::OperationInterrupted => StoreRefusal::Unavailable { what: "the operation was interrupted" },
        ErrorCode::TooBig => StoreRefusal::Unavailable { what: "a value is too large to store" },
        _ => StoreRefusal::Unavailable { what: "the disk or the file system failed" },
    }
}
