//! How a stream is put together.

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::id::StreamName;
use scion_domain::ingest::{ChangeSet, IngestRefusal};

use super::{Projection, SourceStream};
use crate::ingest::{IngestBinding, KnowledgeIngest};
use crate::mapping::RecordMapper;

impl SourceStream {
    /// A stream with a binding and nothing else. It commits through the service of the process.
    pub fn new(binding: IngestBinding) -> Self {
        Self {
            binding,
            document_binding: None,
            mappers: BTreeMap::new(),
            ingest: None,
            best_effort: false,
            batch_size: None,
            max_records: None,
            projection: None,
            guard: None,
        }
    }

    /// A stream bound to a connector's declaration: its name, its contract digest and what its nested values become.
    pub fn for_declaration(declaration: &ConnectorDeclaration, stream: StreamName) -> Result<Self, IngestRefusal> {
        Ok(Self::new(IngestBinding::for_declaration(declaration, stream)?))
    }

    /// Adds the mapper of a record kind; a later one of the same kind replaces it.
    #[must_use]
    pub fn mapper(mut self, kind: impl Into<String>, mapper: impl RecordMapper + 'static) -> Self {
        self.mappers.insert(kind.into(), Arc::new(mapper));
        self
    }

    /// Commits through this service instead of that of the process.
    #[must_use]
    pub fn ingest(mut self, service: Arc<KnowledgeIngest>) -> Self {
        self.ingest = Some(service);
        self
    }

    /// Answers `Ok(None)` instead of every refusal.
    #[must_use]
    pub fn best_effort(mut self) -> Self {
        self.best_effort = true;
        self
    }

    /// Sends documents to a stream of their own. A mapped result with both commits as two change sets, documents first.
    #[must_use]
    pub fn document_binding(mut self, binding: IngestBinding) -> Self {
        self.document_binding = Some(binding);
        self
    }

    /// Commits mapped results in batches of at most this many records and relationships. Without it a result is one commit,
    /// or as few as the sink's bounds allow. 0 is refused.
    pub fn batch_size(mut self, size: usize) -> Result<Self, IngestRefusal> {
        self.batch_size = Some(positive(size, "the batch size is 0", &self.binding)?);
        Ok(self)
    }

    /// Refuses change sets with more records than this, nested ones included. 0 is refused.
    pub fn max_records(mut self, limit: usize) -> Result<Self, IngestRefusal> {
        self.max_records = Some(positive(limit, "the record limit is 0", &self.binding)?);
        Ok(self)
    }

    /// Rewrites every change set before it is committed.
    #[must_use]
    pub fn projection(mut self, projection: impl Projection + 'static) -> Self {
        self.projection = Some(Arc::new(projection));
        self
    }

    /// Lets a guard look at every change set before it is committed; its refusal stops the commit. It sees what would be
    /// committed: after the projection, before the privacy guard.
    #[must_use]
    pub fn before_submit(
        mut self,
        guard: impl Fn(&IngestBinding, &ChangeSet) -> Result<(), IngestRefusal> + Send + Sync + 'static,
    ) -> Self {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// The same stream for one account: `<stream>/<suffix>`, documents likewise. `adjust` may change the binding's other
    /// fields; it cannot leave the connector.
    pub fn scoped(&self, suffix: &str, adjust: impl FnOnce(&mut IngestBinding)) -> Result<Self, IngestRefusal> {
        let mut binding = self.binding.scoped(suffix)?;
        adjust(&mut binding);
        binding.connector = self.binding.connector.clone();
        let document_binding = self.document_binding.as_ref().map(|documents| documents.scoped(suffix)).transpose()?;
        Ok(Self { binding, document_binding, ..self.clone() })
    }

    /// The binding.
    pub fn binding(&self) -> &IngestBinding {
        &self.binding
    }

    /// Whether there is a mapper of the kind.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.mappers.contains_key(kind)
    }

    pub(super) fn service(&self) -> Result<Arc<KnowledgeIngest>, IngestRefusal> {
        self.ingest.clone().or_else(crate::ingest::installed).ok_or(IngestRefusal::Unavailable)
    }
}

fn positive(value: usize, what: &'static str, binding: &IngestBinding) -> Result<usize, IngestRefusal> {
    if value == 0 {
        return Err(IngestRefusal::Declaration { what, name: binding.stream.to_string() });
    }
    Ok(value)
}
