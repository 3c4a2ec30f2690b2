//! One lookup at a time for one reference.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use tokio::sync::OnceCell;

type Answer = Result<Secret<String>, CredentialRefusal>;
type Cell = Arc<OnceCell<Answer>>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    connector: ConnectorName,
    reference: SecretRef,
}

/// The lookups that are under way. A caller that asks for what another one is asking for waits for the same answer; one that
/// asks after it was given starts anew, so no value outlives its lookup. When the caller that carries a lookup goes away,
/// another of the waiting ones carries it.
#[derive(Default)]
pub(crate) struct Flights(Mutex<HashMap<Key, Cell>>);

impl Flights {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Cell>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn fly<F: Future<Output = Answer>>(&self, request: &CredentialRequest, lookup: F) -> Answer {
        let key = Key { connector: request.connector.clone(), reference: request.reference.clone() };
        let waiting = Waiting { flights: self, cell: self.lock().entry(key.clone()).or_default().clone(), key };
        let carried = async {
            let answer = lookup.await;
            // Before the answer is there: whoever asks from now on must not get this one.
            waiting.leave();
            answer
        };
        waiting.cell.get_or_init(|| carried).await.clone()
    }
}

/// A caller that waits; the last one to go away takes the cell with it.
struct Waiting<'f> {
    flights: &'f Flights,
    key: Key,
    cell: Cell,
}

impl Waiting<'_> {
    fn leave(&self) {
        let mut flights = self.flights.lock();
        if flights.get(&self.key).is_some_and(|cell| Arc::ptr_eq(cell, &self.cell)) {
            flights.remove(&self.key);
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut flights = self.flights.lock();
        let last = Arc::strong_count(&self.cell) == 2;
        if last && flights.get(&self.key).is_some_and(|cell| Arc::ptr_eq(cell, &self.cell)) {
            flights.remove(&self.key);
        }
    }
}
