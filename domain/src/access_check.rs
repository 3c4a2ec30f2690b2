//! Who may see a record, asked when it is read (R805.5).

use crate::id::RecordId;
use crate::refusals;

/// The most records one question may name.
pub const MAX_RECORDS_PER_CHECK: usize = 200;

/// The longest a question may take, in milliseconds; after it every record is denied.
pub const CHECK_TIMEOUT_MS: u64 = 2_000;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessQuestion {
    /// Who wants to read, as the source knows them.
    pub principal: String,
    /// What, at most [`MAX_RECORDS_PER_CHECK`].
    pub records: Vec<RecordId>,
}

/// The answer for one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessAnswer {
    /// The source lets the principal read it.
    Allowed,
    /// It does not, or it could not be asked in time.
    Denied,
}

refusals! {
    /// Why an access question has no answer. A caller treats every refusal as "denied".
    pub enum AccessCheckRefusal {
        /// Too many records.
        TooMany { count: usize, limit: usize } => "access_check_too_many", CallerMistake, Never,
            "{count} records in one question; at most {limit} are answered", "split the question";
        /// No principal.
        NoPrincipal => "access_check_no_principal", CallerMistake, Never,
            "the question names nobody", "name the acting user";
        /// The source does not answer.
        Unreachable => "access_check_unreachable", Unavailable, Later,
            "the source does not answer access questions", "every record counts as denied meanwhile";
    }
}
