//! The store as its callers see it: opening, and the ports.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use scion_domain::id::{ConnectorName, Digest256, RecordId, RecordType, StreamName};
use scion_domain::json::Json;
use scion_domain::model::{
    PackImport, PackReceipt, PackStatus, ProgressDocument, SourceBatch, SourceReceipt, StreamOverview, StreamStatus,
};
use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_ports::{
    CheckpointStore, GraphQuery, KeyValueEntry, KeyValueStore, RecordDigests, Sink, StreamCatalog, async_trait,
};

use crate::admission::{self, Digests};
use crate::commit::{self, Committed};
use crate::contract::{self, AcceptedContract};
use crate::failure::{Failure, Outcome};
use crate::options::StoreOptions;
use crate::readers::Readers;
use crate::writer::{Writer, WriterThread};
use crate::{connection, key_value, lookup, pack, progress, query, status, value_index};

/// What the store can do.
const CAPABILITIES: SinkCapabilities = SinkCapabilities {
    cross_stream_relationships: true,
    forward_references: true,
    replaces_relations: true,
    max_records: 10_000,
    max_relationships: 100_000,
    max_live_ids: 1_000_000,
    max_in_flight: 1,
};

/// How often a commit is admitted again because an import moved the contract in between.
const ADMISSIONS: usize = 4;

/// A durable graph in one file. Cheap to clone; the last clone closes it.
#[derive(Clone)]
pub struct EmbeddedGraph {
    inner: Arc<Inner>,
}

struct Inner {
    readers: Readers,
    /// Apart from the others, so that slow queries do not hold up a sync.
    queries: Readers,
    /// `None` when opened for reading only. Dropped after the readers: the last connection to close empties the
    /// write-ahead log, and a reading one cannot.
    writer: Option<WriterThread>,
    options: StoreOptions,
    contracts: Mutex<HashMap<ConnectorName, Arc<AcceptedContract>>>,
}

impl std::fmt::Debug for EmbeddedGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedGraph").field("read_only", &self.inner.writer.is_none()).finish_non_exhaustive()
    }
}

impl EmbeddedGraph {
    /// Opens a store with [`StoreOptions::default`], making it when the file is missing. Blocks for the time of a few
    /// disk accesses, and up to the busy timeout while another process holds the lock.
    pub fn open(path: &Path) -> Result<Self, StoreRefusal> {
        Self::open_with(path, StoreOptions::default())
    }

    /// Opens a store for reading and writing. Refuses a file that a newer release wrote, that is damaged or is not a
    /// Scion store, that cannot be written, or that another process holds for longer than the busy timeout.
    pub fn open_with(path: &Path, options: StoreOptions) -> Result<Self, StoreRefusal> {
        let waited = options.busy_timeout;
        let start = || {
            let connection = connection::open_writer(path, &options)?;
            let readers = Readers::new(path.to_owned(), options.clone());
            readers.probe()?;
            let writer = WriterThread::start(connection, options.clone())
                .map_err(|_| StoreRefusal::Unavailable { what: "no thread could be started" })?;
            Ok((writer, readers))
        };
        let (writer, readers) = start().map_err(|failure: Failure| failure.into_store(waited))?;
        Ok(Self::with_parts(Some(writer), readers, options))
    }

    /// Opens a store for reading only, with [`StoreOptions::default`]; the file must be there.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreRefusal> {
        Self::open_read_only_with(path, StoreOptions::default())
    }

    /// Opens a store for reading only, also while another process writes. Every write is `store_read_only`.
    pub fn open_read_only_with(path: &Path, options: StoreOptions) -> Result<Self, StoreRefusal> {
        if !path.exists() {
            return Err(StoreRefusal::Unavailable { what: "there is no store file at this path" });
        }
        let readers = Readers::new(path.to_owned(), options.clone());
        readers.probe().map_err(|failure| failure.into_store(options.busy_timeout))?;
        Ok(Self::with_parts(None, readers, options))
    }

    fn with_parts(writer: Option<WriterThread>, readers: Readers, options: StoreOptions) -> Self {
        let queries = readers.sibling();
        Self { inner: Arc::new(Inner { writer, readers, queries, options, contracts: Mutex::default() }) }
    }

    /// Indexes the values of one mapped field, so that a pattern with this property and a bound value is a lookup.
    /// Covers the records already there, in one transaction. Refuses a field that no accepted mapping names.
    pub async fn index(
        &self,
        connector: &ConnectorName,
        record_type: &RecordType,
        field: &str,
    ) -> Result<(), SinkRefusal> {
        let unknown =
            || SinkRefusal::UnknownMapping { reference: format!("connector:{connector}#mappings/{record_type}") };
        let contract = self.contract(connector).await.map_err(|f| self.sink(f))?.ok_or_else(unknown)?;
        let property = contract.property(connector, record_type.as_str(), field).ok_or_else(unknown)?;
        let choose = move |writer: &mut Writer| {
            let transaction = writer.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            value_index::choose(&transaction, property)?;
            transaction.commit()?;
            Ok(())
        };
        self.write(choose).await.map_err(|f| self.sink(f))
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Writer) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        match &self.inner.writer {
            Some(writer) => writer.run(operation).await,
            None => Err(StoreRefusal::ReadOnly.into()),
        }
    }

    /// A read on one of the reading connections.
    pub(crate) async fn reading<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&rusqlite::Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        self.inner.readers.read(operation).await
    }

    async fn contract(&self, connector: &ConnectorName) -> Outcome<Option<Arc<AcceptedContract>>> {
        let known = self.inner.contracts.lock().ok().and_then(|known| known.get(connector).cloned());
        if known.is_some() {
            return Ok(known);
        }
        let name = connector.clone();
        let loaded = self.inner.readers.read(move |connection| contract::load(connection, &name)).await?.map(Arc::new);
        if let (Some(contract), Ok(mut known)) = (&loaded, self.inner.contracts.lock()) {
            known.insert(connector.clone(), Arc::clone(contract));
        }
        Ok(loaded)
    }

    fn forget_contract(&self, connector: &ConnectorName) {
        if let Ok(mut known) = self.inner.contracts.lock() {
            known.remove(connector);
        }
    }

    fn sink(&self, failure: Failure) -> SinkRefusal {
        failure.into_sink(self.inner.options.busy_timeout)
    }

    pub(crate) fn store(&self, failure: Failure) -> StoreRefusal {
        failure.into_store(self.inner.options.busy_timeout)
    }

    /// Admits and commits once; `None` when the contract moved in between.
    async fn commit_once(&self, batch: &SourceBatch, digests: &Digests) -> Result<Option<SourceReceipt>, SinkRefusal> {
        let contract = self.contract(&batch.connector).await.map_err(|f| self.sink(f))?;
        let admitted = match &contract {
            Some(contract) => admission::admit(batch, digests, contract).await,
            None => Err(unknown_without_pack(batch)),
        };
        let ready = match admitted {
            Ok(ready) => ready,
            Err(refusal) => return self.refuse(batch, digests, contract.as_deref(), refusal).await,
        };
        match self.write(move |writer| commit::commit(writer, &ready)).await {
            Ok(Committed::Receipt(receipt)) => Ok(Some(*receipt)),
            Ok(Committed::ContractMoved) => Ok(None),
            Err(failure) if failure.is_gone() => Err(SinkRefusal::OutcomeUnknown),
            Err(failure) => Err(self.sink(failure)),
        }
    }

    /// A refusal stands unless the contract it rests on is stale or the batch was committed before.
    async fn refuse(
        &self,
        batch: &SourceBatch,
        digests: &Digests,
        used: Option<&AcceptedContract>,
        refusal: SinkRefusal,
    ) -> Result<Option<SourceReceipt>, SinkRefusal> {
        let current = self.pack_status(&batch.connector).await?;
        if current.accepted_digest != used.map(|contract| contract.digest) {
            return Ok(None);
        }
        let (copy, copied) = (batch.clone(), Digests { raw: digests.raw.clone(), ..*digests });
        let replay = self.inner.readers.read(move |connection| commit::find_replay(connection, &copy, &copied)).await;
        replay.map_err(|f| self.sink(f))?.map_or(Err(refusal), |receipt| Ok(Some(receipt)))
    }
}

/// Without a pack no reference is known: the first one of the batch is named.
fn unknown_without_pack(batch: &SourceBatch) -> SinkRefusal {
    match (batch.records.first(), batch.relationships.first()) {
        (Some(record), _) => SinkRefusal::UnknownMapping { reference: record.mapping_reference.to_string() },
        (None, Some(edge)) => SinkRefusal::UnknownRelation { reference: edge.relation_reference.to_string() },
        (None, None) => SinkRefusal::UnknownMapping { reference: format!("connector:{}#mappings", batch.connector) },
    }
}

fn check_bounds(batch: &SourceBatch) -> Result<(), SinkRefusal> {
    let live = batch.authoritative_live_ids.as_ref().map_or(0, Vec::len);
    let counts = [
        ("records", batch.records.len(), CAPABILITIES.max_records),
        ("relationships", batch.relationships.len(), CAPABILITIES.max_relationships),
        ("withdrawals", batch.withdrawals.len(), CAPABILITIES.max_records),
        ("live ids", live, CAPABILITIES.max_live_ids),
    ];
    for (what, count, limit) in counts {
        if count > limit {
            return Err(scion_domain::model::BatchRefusal::TooMany { what, count, limit }.into());
        }
    }
    Ok(())
}

#[async_trait]
impl Sink for EmbeddedGraph {
    fn capabilities(&self) -> SinkCapabilities {
        CAPABILITIES
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        self.write(|_| Ok(())).await.map_err(|f| self.sink(f))
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        pack::check(import)?;
        let copy = import.clone();
        let receipt = self.write(move |writer| pack::import(writer, &copy)).await;
        self.forget_contract(&import.connector);
        receipt.map_err(|f| self.sink(f))
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        let connector = connector.clone();
        let status = self.inner.readers.read(move |connection| pack::status(connection, &connector)).await;
        status.map_err(|f| self.sink(f))
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        check_bounds(batch)?;
        batch.check(CAPABILITIES.cross_stream_relationships)?;
        let digests = Digests::of(batch)?;
        for _ in 0..ADMISSIONS {
            if let Some(receipt) = self.commit_once(batch, &digests).await? {
                return Ok(receipt);
            }
            self.forget_contract(&batch.connector);
        }
        Err(SinkRefusal::PackConflict { connector: batch.connector.to_string() })
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        let (connector, stream) = (connector.clone(), stream.clone());
        let status =
            self.inner.readers.read(move |connection| status::of_stream(connection, &connector, &stream)).await;
        status.map_err(|f| self.sink(f))
    }
}

#[async_trait]
impl RecordDigests for EmbeddedGraph {
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        let (connector, stream, ids) = (connector.clone(), stream.clone(), ids.to_vec());
        let found = self.inner.readers.read(move |connection| lookup::digests(connection, &connector, &stream, &ids));
        found.await.map_err(|f| self.store(f))
    }

    /// Nothing to do: the digests are part of the commit.
    async fn accepted(
        &self,
        _connector: &ConnectorName,
        _stream: &StreamName,
        _digests: &[(RecordId, Digest256)],
        _receipt: &SourceReceipt,
    ) -> Result<(), StoreRefusal> {
        Ok(())
    }
}

#[async_trait]
impl KeyValueStore for EmbeddedGraph {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<KeyValueEntry>, StoreRefusal> {
        key_value::check(namespace, key, &[])?;
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        let entry = self.inner.readers.read(move |connection| key_value::get(connection, &namespace, &key)).await;
        entry.map_err(|f| self.store(f))
    }

    async fn compare_and_swap(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<u64>,
        value: &[u8],
    ) -> Result<u64, StoreRefusal> {
        key_value::check(namespace, key, value)?;
        self.swap(namespace, key, expected, Some(value.to_vec())).await
    }

    async fn delete(&self, namespace: &str, key: &str, expected: u64) -> Result<(), StoreRefusal> {
        key_value::check(namespace, key, &[])?;
        self.swap(namespace, key, Some(expected), None).await.map(|_| ())
    }

    async fn scan(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, KeyValueEntry)>, StoreRefusal> {
        let (namespace, prefix, after) = (namespace.to_owned(), prefix.to_owned(), after.map(str::to_owned));
        let found = self
            .inner
            .readers
            .read(move |connection| key_value::scan(connection, &namespace, &prefix, after.as_deref(), limit));
        found.await.map_err(|f| self.store(f))
    }
}

impl EmbeddedGraph {
    async fn swap(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<u64>,
        value: Option<Vec<u8>>,
    ) -> Result<u64, StoreRefusal> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        let swapped =
            self.write(move |writer| key_value::swap(writer, &namespace, &key, expected, value.as_deref())).await;
        swapped.map_err(|f| self.store(f))
    }
}

#[async_trait]
impl CheckpointStore for EmbeddedGraph {
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal> {
        let key = progress::key(connector, source);
        let read = move |connection: &rusqlite::Connection| key_value::get(connection, progress::NAMESPACE, &key);
        let entry = self.inner.readers.read(read).await.map_err(|f| self.store(f))?;
        entry.as_ref().map(progress::read).transpose()
    }

    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal> {
        let value = progress::write(body)?;
        self.swap(progress::NAMESPACE, &progress::key(connector, source), expected, Some(value)).await
    }

    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal> {
        self.swap(progress::NAMESPACE, &progress::key(connector, source), Some(expected), None).await.map(|_| ())
    }
}

#[async_trait]
impl StreamCatalog for EmbeddedGraph {
    async fn streams(&self) -> Result<Vec<StreamOverview>, StoreRefusal> {
        self.inner.readers.read(status::all).await.map_err(|f| self.store(f))
    }
}

#[async_trait]
impl GraphQuery for EmbeddedGraph {
    async fn query(&self, request: &QueryRequest) -> Result<QueryAnswer, QueryRefusal> {
        query::answer(&self.inner.queries, self.inner.options.busy_timeout, request).await
    }
}
