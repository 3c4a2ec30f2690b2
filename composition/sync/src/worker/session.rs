//! An open session with a server and what was read from it.

use std::collections::HashSet;
use std::sync::Arc;

use scion_domain::config::ConnectorConfig;
use scion_domain::declaration::{ConnectorDeclaration, DECLARATION_URI, SyncPreset, selection};
use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::mcp::{McpRefusal, ResourceBody};
use scion_domain::model::{PackImport, PackReceipt};
use scion_domain::sink::{SinkRefusal, StoreRefusal};
use scion_domain::sync::SyncRefusal;
use scion_ports::{CaptureRefusal, Clock, McpSession, Sink, async_trait};

use super::WorkerOptions;
use crate::deadline::within;
use crate::fault::CommitPoint;
use crate::source::{LiveTools, McpToolSource};
use crate::sweep::{ContractBinding, PORT_TIME, StreamPlan, SyncPorts};

/// One session, its tools and its declaration.
pub(super) struct OpenSession {
    connector: ConnectorName,
    tools: Arc<LiveTools>,
    clock: Arc<dyn Clock>,
    declaration: Option<(ConnectorDeclaration, Digest256)>,
    pack_uris: HashSet<String>,
}

impl OpenSession {
    pub(super) fn new(session: Arc<dyn McpSession>, connector: ConnectorName, ports: &SyncPorts) -> Self {
        Self {
            connector,
            tools: Arc::new(LiveTools::new(session)),
            clock: ports.committer.clock.clone(),
            declaration: None,
            pack_uris: HashSet::from([DECLARATION_URI.to_owned()]),
        }
    }

    pub(super) fn session(&self) -> &Arc<dyn McpSession> {
        self.tools.session()
    }

    pub(super) const fn tools(&self) -> &Arc<LiveTools> {
        &self.tools
    }

    pub(super) fn mark_changed(&self) {
        self.tools.mark_changed();
    }

    pub(super) const fn pack_uris(&self) -> &HashSet<String> {
        &self.pack_uris
    }

    /// Reads the declaration anew; it is the only place a source's metadata comes from (R075.3).
    pub(super) async fn read_declaration(&mut self) -> Result<(), SyncRefusal> {
        let body = read_declaration(&self.tools, &*self.clock).await?;
        let declaration = ConnectorDeclaration::from_text(&body.bytes)?;
        self.declaration = Some((declaration, digest::sha256(&body.bytes)));
        Ok(())
    }

    fn declared(&self) -> Result<&(ConnectorDeclaration, Digest256), SyncRefusal> {
        let missing = || McpRefusal::UnknownResource { uri: DECLARATION_URI.to_owned() };
        self.declaration.as_ref().ok_or_else(|| missing().into())
    }

    pub(super) fn select(&self, config: &ConnectorConfig) -> Result<Vec<SyncPreset>, SyncRefusal> {
        Ok(selection::select(&self.declared()?.0, config)?)
    }

    pub(super) fn stream(
        &self,
        preset: &SyncPreset,
        config: &ConnectorConfig,
        options: &WorkerOptions,
    ) -> Result<(StreamPlan, McpToolSource), SyncRefusal> {
        let declaration = &self.declared()?.0;
        let plan = StreamPlan::new(declaration, preset, config, options.persistence.clone())?;
        let source = McpToolSource::open(declaration, preset, &self.tools, options.limits)?;
        Ok((plan, source))
    }

    /// Imports everything the server publishes. Answers the receipt and the number of entries. A declaration that is no longer
    /// the one that was read is imported in the next cycle, which reads it first.
    pub(super) async fn provision(
        &mut self,
        ports: &SyncPorts,
        allow_mass_withdrawal: bool,
    ) -> Result<(PackReceipt, usize), SyncRefusal> {
        let sink = &ports.committer.sink;
        let clock = &*ports.committer.clock;
        let status = bounded(clock, sink.pack_status(&self.connector)).await?;
        let captured =
            ports.packs.capture(&**self.session(), &self.connector).await.map_err(|refusal| match refusal {
                CaptureRefusal::Mcp(refusal) => SyncRefusal::from(refusal),
                CaptureRefusal::Pack(refusal) => SyncRefusal::Pack { refusal },
            })?;
        let declared = captured.entries.iter().find(|entry| entry.uri == DECLARATION_URI);
        if declared.map(|entry| digest::sha256(&entry.body)) != Some(self.declared()?.1) {
            return Err(SinkRefusal::ContractNotAccepted { connector: self.connector.to_string() }.into());
        }
        self.pack_uris = captured.entries.iter().map(|entry| entry.uri.clone()).collect();
        let import = PackImport {
            connector: self.connector.clone(),
            server: captured.server,
            entries: captured.entries,
            expected_revision: status.revision,
            allow_mass_withdrawal,
        };
        ports.committer.faults.reach(CommitPoint::BeforeImport).await;
        let receipt = bounded(clock, sink.import_pack(&import)).await?;
        ports.committer.faults.reach(CommitPoint::AfterImport).await;
        if receipt.pack_digest != digest::pack(&import) {
            let stream = self.connector.to_string();
            return Err(SyncRefusal::ReceiptMismatch { stream, what: "the pack digest" });
        }
        Ok((receipt, import.entries.len()))
    }

    pub(super) fn binding(&self, ports: &SyncPorts) -> SessionBinding {
        SessionBinding {
            connector: self.connector.clone(),
            tools: self.tools.clone(),
            sink: ports.committer.sink.clone(),
            clock: self.clock.clone(),
        }
    }
}

/// Compares what the server serves with what the store accepted.
pub(super) struct SessionBinding {
    connector: ConnectorName,
    tools: Arc<LiveTools>,
    sink: Arc<dyn Sink>,
    clock: Arc<dyn Clock>,
}

impl SessionBinding {
    /// The digest of the accepted pack, whose declaration is the one served now. Only the declaration is read again: it is what
    /// batches are sent under.
    pub(super) async fn accepted(&self) -> Result<Digest256, SyncRefusal> {
        let body = read_declaration(&self.tools, &*self.clock).await?;
        let live = digest::sha256(&body.bytes);
        let status = bounded(&*self.clock, self.sink.pack_status(&self.connector)).await?;
        let refused = || SinkRefusal::ContractNotAccepted { connector: self.connector.to_string() };
        status.accepted_digest.filter(|_| status.declaration_digest == Some(live)).ok_or_else(|| refused().into())
    }
}

#[async_trait]
impl ContractBinding for SessionBinding {
    async fn check(&self) -> Result<(), SyncRefusal> {
        self.accepted().await.map(|_| ())
    }

    fn generation(&self) -> u64 {
        self.tools.generation()
    }
}

async fn read_declaration(tools: &LiveTools, clock: &dyn Clock) -> Result<ResourceBody, SyncRefusal> {
    let read = within(clock, PORT_TIME, tools.session().read_resource(DECLARATION_URI)).await;
    let timeout =
        || McpRefusal::Timeout { operation: format!("reading {DECLARATION_URI}"), seconds: PORT_TIME.as_secs() };
    Ok(read.ok_or_else(timeout)??)
}

async fn bounded<T>(clock: &dyn Clock, call: impl Future<Output = Result<T, SinkRefusal>>) -> Result<T, SyncRefusal> {
    match within(clock, PORT_TIME, call).await {
        Some(answer) => Ok(answer?),
        None => Err(StoreRefusal::Unavailable { what: "it did not answer in time" }.into()),
    }
}
