//! The one GraphQL client (SDK-CONNECTOR-CONTROL-R030.1).
//!
//! It is a [`GovernedClient`] for one endpoint: address, credential, timeout, TLS profile and retries are declared there. On top it knows
//! that 200 can be a failure, what an operation costs, that a mutation is never sent twice, and how a connection is walked.

mod failure;
mod pages;

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scion_domain::graphql::{
    ConnectionOptions, Cost, CostBudget, CostReport, GraphQlAnswer, GraphQlDocument, GraphQlRefusal, GraphQlResponse,
    INTROSPECTION, OperationKind, SchemaModel, introspection_failed,
};
use scion_domain::http::{ResponseRefusal, StatusCode, is_retryable_status};
use scion_domain::json::JsonObject;
use scion_domain::refusal::Retry;
use scion_domain::retry::{Attempt, Decision};
use tracing::debug;

use crate::{ClientRefusal, GovernedClient};
pub use failure::GraphQlFailure;
pub use pages::{ConnectionRead, GraphQlPages};

/// How many documents' costs are remembered.
const MAX_ESTIMATES: usize = 1000;
/// What an operation is thought to cost before the server has said anything.
const FIRST_ESTIMATE: Cost = 1;

/// A client of one GraphQL endpoint. Clones share its cost budget.
#[derive(Clone)]
pub struct GraphQlClient {
    client: GovernedClient,
    path: String,
    costs: Arc<Mutex<Costs>>,
}

#[derive(Default)]
struct Costs {
    budget: CostBudget,
    /// What each document cost last, by its digest.
    estimates: HashMap<u64, Cost>,
}

impl fmt::Debug for GraphQlClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphQlClient").field("client", &self.client).field("path", &self.path).finish_non_exhaustive()
    }
}

/// Shows a schema that any executor reads, or that it could not.
async fn shown(
    schema: impl Future<Output = Result<SchemaModel, GraphQlFailure>>,
    correlation: &str,
    show: impl FnOnce(&SchemaModel) -> JsonObject,
) -> JsonObject {
    match schema.await {
        Ok(schema) => show(&schema),
        Err(failure) => introspection_failed(&failure, correlation),
    }
}

impl GraphQlClient {
    /// The endpoint at a path below the client's base URL, for example `/graphql`.
    pub fn new(client: GovernedClient, path: &str) -> Self {
        Self { client, path: path.to_owned(), costs: Arc::default() }
    }

    /// Leaves so many points of the server's limit to others that share the credential.
    #[must_use]
    pub fn keeping(self, points: Cost) -> Self {
        self.costs().budget = CostBudget::keeping(points);
        self
    }

    /// Describes an operation.
    pub fn operation(&self, document: GraphQlDocument) -> GraphQlCall {
        let total = self.client.inner.options.limits.total;
        GraphQlCall { client: self.clone(), document, variables: JsonObject::new(), partial: false, cost: None, total }
    }

    /// Describes the one operation of a document.
    pub fn document(&self, text: &str) -> Result<GraphQlCall, GraphQlFailure> {
        Ok(self.operation(GraphQlDocument::parse(text)?))
    }

    /// Reads what the server offers, where it allows introspection.
    pub async fn schema(&self) -> Result<SchemaModel, GraphQlFailure> {
        let answer = self.document(INTROSPECTION)?.run().await?;
        Ok(SchemaModel::read(&answer.data)?)
    }

    /// What a tool shows of the types a server offers. A failure is a payload of its class and the given id, never its message.
    pub async fn list_types(&self, correlation: &str) -> JsonObject {
        Box::pin(shown(self.schema(), correlation, SchemaModel::list_types)).await
    }

    /// What a tool shows of one type: fields, arguments, words. A name that is no type is answered with `unknown_type`.
    pub async fn type_details(&self, name: &str, correlation: &str) -> JsonObject {
        Box::pin(shown(self.schema(), correlation, |schema| schema.type_details(name))).await
    }

    fn costs(&self) -> MutexGuard<'_, Costs> {
        // The state is a few numbers and right after each step, so a panic elsewhere does not spoil it.
        self.costs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn estimate(&self, document: u64) -> Cost {
        self.costs().estimates.get(&document).copied().unwrap_or(FIRST_ESTIMATE)
    }

    /// Waits until the budget has room.
    async fn reserve(&self, cost: Cost, deadline: Duration) -> Result<Reserved<'_>, GraphQlFailure> {
        let clock = &*self.client.inner.clock;
        loop {
            let wait = {
                let mut costs = self.costs();
                match costs.budget.reserve(cost, clock.unix_millis()) {
                    Ok(()) => return Ok(Reserved { client: self, cost, open: true }),
                    Err(Some(wait)) => wait,
                    Err(None) => {
                        let budget = costs.budget.capacity().unwrap_or_default();
                        return Err(GraphQlRefusal::TooCostly { cost, budget }.into());
                    }
                }
            };
            if wait > deadline.saturating_sub(clock.monotonic()) {
                return Err(GraphQlRefusal::Throttled.into());
            }
            debug!(
                cost,
                wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                "waiting for GraphQL cost points"
            );
            clock.sleep(wait).await;
        }
    }
}

/// Points of an operation under way; given back when it ends or is dropped.
struct Reserved<'c> {
    client: &'c GraphQlClient,
    cost: Cost,
    open: bool,
}

impl Reserved<'_> {
    fn settle(mut self, document: u64, report: Option<CostReport>) {
        self.open = false;
        let now = self.client.client.inner.clock.unix_millis();
        let mut costs = self.client.costs();
        costs.budget.settle(self.cost, report, now);
        if let Some(report) = report {
            if costs.estimates.len() >= MAX_ESTIMATES {
                costs.estimates.clear();
            }
            costs.estimates.insert(document, report.cost().max(FIRST_ESTIMATE));
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if self.open {
            let now = self.client.client.inner.clock.unix_millis();
            self.client.costs().budget.settle(self.cost, None, now);
        }
    }
}

/// An operation that is being described.
#[must_use = "an operation does nothing until it is run"]
#[derive(Clone)]
pub struct GraphQlCall {
    client: GraphQlClient,
    document: GraphQlDocument,
    variables: JsonObject,
    partial: bool,
    cost: Option<Cost>,
    total: Duration,
}

impl fmt::Debug for GraphQlCall {
    /// Variables and document may hold personal data and are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphQlCall").field("operation", &self.document.operation()).finish_non_exhaustive()
    }
}

impl GraphQlCall {
    /// Sets the variables.
    pub fn variables(mut self, variables: JsonObject) -> Self {
        self.variables = variables;
        self
    }

    /// Takes data with errors as a result. Without it any error is a refusal.
    pub const fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    /// What it costs, when the caller knows better than the last answer.
    pub const fn cost(mut self, points: Cost) -> Self {
        self.cost = Some(points);
        self
    }

    /// The one deadline, waits and retries included; the client's own unless set.
    pub const fn total_timeout(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// Runs it.
    ///
    /// A query is tried again after 429, 5xx and a throttled answer, within the client's retry policy, retry budget and deadline. A
    /// rejected document or a query error is not. A mutation is tried again only when it certainly was not sent.
    pub async fn run(self) -> Result<GraphQlAnswer, GraphQlFailure> {
        self.run_with(&self.variables).await
    }

    /// Walks a connection page by page.
    pub fn pages(self, options: ConnectionOptions) -> GraphQlPages {
        GraphQlPages::new(self, options)
    }

    async fn run_with(&self, variables: &JsonObject) -> Result<GraphQlAnswer, GraphQlFailure> {
        let inner = &self.client.client.inner;
        let body = self.document.body(variables);
        let mut hasher = DefaultHasher::new();
        body.get("query").hash(&mut hasher);
        let document = hasher.finish();
        let repeatable = self.document.kind() == OperationKind::Query;
        let deadline = inner.clock.monotonic().saturating_add(self.total);
        let mut number = 1;
        loop {
            let cost = self.cost.unwrap_or_else(|| self.client.estimate(document));
            let reserved = self.client.reserve(cost, deadline).await?;
            let remaining = deadline.saturating_sub(inner.clock.monotonic());
            let request = self.client.client.post(&self.client.path).json_value(&body).total_timeout(remaining);
            let request = if repeatable { request.safe() } else { request };
            let failure = match read(request.whole().await) {
                Ok(response) => {
                    reserved.settle(document, response.cost);
                    match response.result(self.partial) {
                        Ok(answer) => return Ok(answer),
                        Err(refusal) => GraphQlFailure::from(refusal),
                    }
                }
                Err(failure) => {
                    drop(reserved);
                    failure
                }
            };
            let remaining = deadline.saturating_sub(inner.clock.monotonic());
            match repeatable.then(|| self.wait(&failure, number, remaining)).flatten() {
                None => return Err(failure),
                Some(wait) => inner.clock.sleep(wait).await,
            }
            number += 1;
        }
    }

    /// How long to wait before the next attempt, for what the client below does not try again itself.
    fn wait(&self, failure: &GraphQlFailure, number: u32, remaining: Duration) -> Option<Duration> {
        let worth_it = match failure {
            GraphQlFailure::GraphQl(GraphQlRefusal::Throttled) => true,
            GraphQlFailure::Client(ClientRefusal::Response(ResponseRefusal::Server { status, .. })) => {
                // The client has used its attempts on the ones it retries.
                StatusCode::from_u16(*status).is_ok_and(|status| !is_retryable_status(status))
            }
            _ => false,
        };
        if !worth_it {
            return None;
        }
        let inner = &self.client.client.inner;
        let attempt = Attempt {
            number,
            retry: Retry::Later,
            idempotent: true,
            not_sent: false,
            retry_after: None,
            remaining: Some(remaining),
        };
        let mut random = [0; 8];
        inner.entropy.fill(&mut random);
        match inner.rules.policy.decide(&attempt, u64::from_le_bytes(random)) {
            Decision::After(wait) => {
                let allowed = inner.budget.lock().unwrap_or_else(PoisonError::into_inner).retry();
                allowed.then_some(wait)
            }
            Decision::GiveUp(_) => None,
        }
    }
}

fn read(answer: Result<crate::response::Whole, ClientRefusal>) -> Result<GraphQlResponse, GraphQlFailure> {
    let value = answer.and_then(|whole| whole.json())?;
    Ok(GraphQlResponse::from_json(value)?)
}
