//! SPARQL 1.1 over the tables: virtual triples, nothing copied.
//!
//! | triple | from |
//! |---|---|
//! | record `rdf:type` class | the record's mapping |
//! | record property value | each mapped value; a list says one triple per item, `null` says nothing |
//! | record relation record | each edge whose two ends are live |
//! | record `scion:recordId`, `scion:stream`, `scion:connector`, `scion:updatedAt`, `scion:sourceUri` value | its row |
//! | record `cp:governedBy` contract | its mapping (SDK-SOURCE-INGEST-R017.6) |
//!
//! Text is `xsd:string`; a number written as an integer is `xsd:integer`, with a fraction `xsd:decimal`, with an exponent
//! `xsd:double`, always with its own digits; other JSON is `rdf:JSON`. There is one graph, the default one.

mod answer;
mod dataset;
mod limits;
mod objects;
mod prefixes;
mod rows;
mod scan;
mod shape;
mod snapshot;
mod terms;
mod vocabulary;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest};
use spareval::CancellationToken;
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::readers::Readers;

/// Address space of a query's stack. The parser and evaluator recurse; only what they touch is ever backed by memory.
const STACK: usize = 256 << 20;

/// Tells the evaluator and the scans below it to stop.
#[derive(Clone)]
pub(crate) struct Stop {
    token: CancellationToken,
    deadline: Instant,
    stopped: Arc<AtomicBool>,
}

impl Stop {
    fn after(timeout: Duration) -> Self {
        Self { token: CancellationToken::new(), deadline: Instant::now() + timeout, stopped: Arc::default() }
    }

    /// Whether to stop; looks at the clock, so that a loop that yields nothing ends too.
    pub(crate) fn is_set(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        let late = Instant::now() >= self.deadline;
        if late {
            self.set();
        }
        late
    }

    fn set(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.token.cancel();
    }
}

/// Stops a query whose caller is gone.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Answers one request; ends at its timeout, whatever the query does.
pub(crate) async fn answer(
    readers: &Readers,
    waited: Duration,
    request: &QueryRequest,
) -> Result<QueryAnswer, QueryRefusal> {
    limits::check(&request.sparql)?;
    let timeout = Duration::from_millis(request.timeout_ms);
    let late = || QueryRefusal::Timeout { milliseconds: request.timeout_ms };
    let stop = StopOnDrop(Stop::after(timeout));
    let work = run(readers.clone(), stop.0.clone(), request.clone(), waited);
    tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| Err(late()))
}

async fn run(
    readers: Readers,
    stop: Stop,
    request: QueryRequest,
    waited: Duration,
) -> Result<QueryAnswer, QueryRefusal> {
    let gone = || Failure::gone().into_query(waited);
    let permit = readers.permit().await.map_err(|failure| failure.into_query(waited))?;
    let (reply, outcome) = oneshot::channel();
    let work = move || {
        // Held until the evaluator has really stopped, so that runaway queries are bounded in number.
        let _permit = permit;
        let _ = reply.send(answer::evaluate(&readers, &stop, &request, waited));
    };
    let thread = std::thread::Builder::new().name("scion-embedded-query".to_owned()).stack_size(STACK);
    thread.spawn(work).map_err(|_| gone())?;
    outcome.await.map_err(|_| gone())?
}
