//! The service that commits change sets.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scion_domain::id::{ConnectorName, RecordId, StreamName};
use scion_domain::ingest::{ChangeSet, Entity, IngestRefusal};
use scion_domain::json::Json;
use scion_domain::model::{SourceCheckpoint, StreamStatus};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_domain::sync::SyncRefusal;
use scion_ports::Sink;

use super::contract::{AcceptedContract, CheckedContracts};
use super::media::asset_properties;
use super::{IngestBinding, IngestOutcome, MediaVault};
use crate::commit::Committer;
use crate::deadline::within;
use crate::request::{self, Cursor, Prepared};

/// How often a change set without a cursor is offered when another process moves the stream in between.
const CONFLICT_ATTEMPTS: usize = 4;

/// Held by the submission whose turn it is.
type Turn = Arc<tokio::sync::Mutex<()>>;

/// The longest a status question may take.
const STATUS_LIMIT: Duration = Duration::from_secs(30);

/// Commits change sets of every connector of a process into one durable graph.
///
/// Each submission is one batch under compare-and-swap: it reads the stream's accepted checkpoint, checks the accepted
/// contract before the first batch, and commits with a verified receipt. A refusal at any point leaves the stream where it
/// was. Submissions to one stream run one after the other; other streams are not held up. Dropping a submission is safe:
/// the next one starts from what the graph accepted.
pub struct KnowledgeIngest {
    committer: Committer,
    media: Option<MediaVault>,
    contracts: CheckedContracts,
    turns: Mutex<HashMap<(ConnectorName, StreamName), Turn>>,
}

impl KnowledgeIngest {
    /// A service that commits through a committer.
    pub fn new(committer: Committer) -> Self {
        Self { committer, media: None, contracts: CheckedContracts::default(), turns: Mutex::default() }
    }

    /// Lets it keep media.
    #[must_use]
    pub fn with_media(mut self, vault: MediaVault) -> Self {
        self.media = Some(vault);
        self
    }

    /// Runs something for at most `limit` on the service's clock.
    pub(crate) async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        within(&*self.committer.clock, limit, work).await
    }

    /// What the sink can do.
    pub fn capabilities(&self) -> SinkCapabilities {
        self.sink().capabilities()
    }

    fn sink(&self) -> &dyn Sink {
        &*self.committer.sink
    }

    /// The cursor accepted last on the binding's stream, if its last writer kept one.
    pub async fn accepted_cursor(&self, binding: &IngestBinding) -> Result<Option<Json>, IngestRefusal> {
        let previous = self.accepted(binding).await?;
        request::cursor_of(binding, previous.as_ref())
    }

    /// Commits one change set. An empty one is refused, unless `cursor` moves.
    ///
    /// Refuses with `contract_not_accepted`, `undeclared_nested_value`, what the sink says (unchanged, see
    /// [`IngestRefusal::leaf_code`]), or the reason the change set is not well formed. Nothing is committed then.
    pub async fn submit(
        &self,
        binding: &IngestBinding,
        change_set: ChangeSet,
        cursor: Cursor,
    ) -> Result<IngestOutcome, IngestRefusal> {
        if change_set.is_empty() && matches!(cursor, Cursor::Keep) {
            return Err(IngestRefusal::Empty { what: "changes" });
        }
        let turn = self.turn(binding);
        let _turn = turn.lock().await;
        let contract = self.contract(binding).await?;
        let change_set = self.keep_media(change_set).await?;
        let mut prepared = Prepared::of(binding, change_set)?;
        prepared.drop_references(&self.known(binding, prepared.references()).await?);
        let previous = self.accepted(binding).await?;
        // Without a cursor a change set means the same wherever the stream stands.
        let anywhere = cursor == Cursor::Keep;
        let mut batch = prepared.batch(binding, previous.as_ref(), cursor)?;
        request::check_size(&batch, &self.capabilities())?;
        let mut committed = self.committer.commit(&batch).await;
        for _ in 1..CONFLICT_ATTEMPTS {
            if !anywhere || !matches!(committed, Err(SyncRefusal::Sink { refusal: SinkRefusal::Conflict { .. } })) {
                break;
            }
            request::rebase(&mut batch, binding, self.accepted(binding).await?)?;
            committed = self.committer.commit(&batch).await;
        }
        if matches!(committed, Err(SyncRefusal::Sink { refusal: SinkRefusal::ContractNotAccepted { .. } })) {
            self.contracts.forget(binding);
        }
        let verified = committed?;
        self.contracts.confirm(binding, contract, &verified.receipt);
        Ok(IngestOutcome::of(binding, &batch, verified.receipt, verified.settled_by_readback))
    }

    async fn contract(&self, binding: &IngestBinding) -> Result<AcceptedContract, IngestRefusal> {
        if let Some(known) = self.contracts.get(binding) {
            return Ok(known);
        }
        let status = self.ask(self.sink().pack_status(&binding.connector)).await?;
        let accepted = AcceptedContract::check(binding, &status)?;
        self.contracts.note(binding, accepted);
        Ok(accepted)
    }

    async fn accepted(&self, binding: &IngestBinding) -> Result<Option<SourceCheckpoint>, IngestRefusal> {
        let status: StreamStatus = self.ask(self.sink().status(&binding.connector, &binding.stream)).await?;
        Ok(status.accepted_checkpoint)
    }

    /// Which of the ids have a record in the graph.
    async fn known(&self, binding: &IngestBinding, ids: Vec<RecordId>) -> Result<HashSet<RecordId>, IngestRefusal> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let digests = self.ask(self.committer.digests.lookup(&binding.connector, &binding.stream, &ids)).await?;
        Ok(ids.into_iter().zip(digests).filter_map(|(id, digest)| digest.map(|_| id)).collect())
    }

    async fn ask<T, R>(&self, question: impl Future<Output = Result<T, R>>) -> Result<T, IngestRefusal>
    where
        R: From<StoreRefusal> + Into<IngestRefusal>,
    {
        self.ask_for(STATUS_LIMIT, question).await
    }

    async fn ask_for<T, R>(
        &self,
        limit: Duration,
        question: impl Future<Output = Result<T, R>>,
    ) -> Result<T, IngestRefusal>
    where
        R: From<StoreRefusal> + Into<IngestRefusal>,
    {
        let silent = || R::from(StoreRefusal::Unavailable { what: "it did not answer in time" });
        let answer = self.within(limit, question).await;
        answer.unwrap_or_else(|| Err(silent())).map_err(Into::into)
    }

    /// Keeps the bytes of media first, so that no record ever points to bytes that are not there.
    async fn keep_media(&self, mut change_set: ChangeSet) -> Result<ChangeSet, IngestRefusal> {
        for asset in std::mem::take(&mut change_set.media) {
            let vault = self.media.as_ref().ok_or(IngestRefusal::NoMediaStore)?;
            let digest = self.ask_for(self.committer.deadline, vault.put(&asset.data)).await?;
            let mut entity = Entity::new(asset.node_type, asset.id);
            entity.properties = asset.properties;
            entity.properties.extend(asset_properties(&asset.name, &asset.mime_type, digest, asset.data.len()));
            change_set.entities.push(entity);
        }
        Ok(change_set)
    }

    fn turn(&self, binding: &IngestBinding) -> Turn {
        let key = (binding.connector.clone(), binding.stream.clone());
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        // Streams nobody waits for are forgotten, so that a process with ever new streams does not grow.
        if turns.len() >= 1024 {
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        }
        turns.entry(key).or_default().clone()
    }
}
