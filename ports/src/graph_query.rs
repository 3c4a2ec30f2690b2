use async_trait::async_trait;
use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest};

/// Answers SPARQL 1.1 queries over the durable graph.
///
/// Obligations:
/// - **O1** SELECT, ASK, CONSTRUCT and DESCRIBE are answered; updates and SERVICE are refused.
/// - **O2** One query sees one committed state, also while a sync runs in another process.
/// - **O3** At most `max_rows` come back, and `truncated` says whether there was more.
/// - **O4** A query ends within `timeout_ms` with [`QueryRefusal::Timeout`] at the latest.
/// - **O5** Withdrawn records, and edges to records that are not there, are not visible.
/// - **O6** A query never writes.
#[async_trait]
pub trait GraphQuery: Send + Sync {
    /// Answers one query.
    async fn query(&self, request: &QueryRequest) -> Result<QueryAnswer, QueryRefusal>;
}
