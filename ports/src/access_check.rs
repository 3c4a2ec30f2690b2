use async_trait::async_trait;
use scion_domain::access_check::{AccessAnswer, AccessCheckRefusal, AccessQuestion};

/// Asks a source who may read a record, at the moment of reading (R805.5).
///
/// Obligations:
/// - **O1** One answer per record, in order.
/// - **O2** A record the source does not know is denied.
/// - **O3** More than 200 records, or an empty principal, are refused and the source is not asked.
/// - **O4** After two seconds every record that has no answer is denied.
/// - **O5** A permission that was revoked at the source is denied in the next question.
#[async_trait]
pub trait AccessCheck: Send + Sync {
    /// Answers.
    async fn check(&self, question: &AccessQuestion) -> Result<Vec<AccessAnswer>, AccessCheckRefusal>;
}
