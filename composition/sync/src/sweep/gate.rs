//! The drift gate (R002, R007), holds and releases, and repairs (R003).

use scion_domain::drift::{self, DriftReport, DriftScope, RepairProposal};
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::json::Json;
use scion_domain::model::{RepairDecision, StreamHold};
use scion_domain::source::SourceContract;
use scion_domain::sync::SyncRefusal;
use scion_ports::SourceAdapter;
use tokio_util::sync::CancellationToken;

use super::SourceSyncRunner;
use super::plan::StreamPlan;
use super::progress::Progress;
use crate::events;

impl SourceSyncRunner {
    /// Compares the live contract with the accepted one. The first contract of a stream is accepted as it is. Anything but a
    /// compatible change holds the stream: nothing is submitted and the checkpoint stays.
    pub(super) async fn gate(
        &self,
        plan: &StreamPlan,
        progress: &mut Progress,
        live: &SourceContract,
        sample: Digest256,
    ) -> Result<(), SyncRefusal> {
        let Some(accepted) = &progress.accepted_contract else {
            progress.accepted_contract = Some(live.clone());
            return Ok(());
        };
        if accepted == live {
            return Ok(());
        }
        let scope = DriftScope {
            source: plan.connector.clone(),
            stream: plan.stream.clone(),
            tenant: self.tenant.clone(),
            observed_sample_digest: sample,
        };
        let report = drift::classify(Some(accepted), Some(live), plan.evolution_policy, &scope);
        if report.is_compatible() {
            progress.accepted_contract = Some(live.clone());
            return Ok(());
        }
        progress.hold = Some(report.to_hold());
        progress.held_contract = Some(live.clone());
        progress.last_state = Some("quarantined".to_owned());
        self.save(progress, &plan.connector, &plan.stream).await?;
        self.ports.events.emit(events::schema_drift_quarantined(&plan.connector, &plan.stream, report_json(&report)));
        Err(SyncRefusal::Quarantined {
            stream: plan.stream.to_string(),
            classification: report.classification.as_str(),
        })
    }

    /// A held stream does not move until its tool is restored, an operator releases it or its repair is decided.
    pub(super) async fn respect_hold(&self, plan: &StreamPlan, progress: &mut Progress) -> Result<(), SyncRefusal> {
        let stream = || plan.stream.to_string();
        let proposal = match &progress.hold {
            None => return Ok(()),
            Some(StreamHold::Quarantined { classification, .. }) => {
                return Err(SyncRefusal::Quarantined { stream: stream(), classification: class_word(classification) });
            }
            Some(StreamHold::RepairPending { proposal_digest }) => Digest256::parse_hex(proposal_digest),
        };
        let pending = SyncRefusal::RepairPending { stream: stream() };
        let (Some(repairs), Ok(proposal)) = (&self.ports.repairs, proposal) else { return Err(pending) };
        match self.store_call(repairs.decision(&plan.connector, &plan.stream, proposal)).await? {
            RepairDecision::Pending => Err(pending),
            RepairDecision::Accepted => {
                release_into(progress);
                self.save(progress, &plan.connector, &plan.stream).await
            }
            RepairDecision::Rejected | RepairDecision::Unknown => {
                let back = progress.quarantine.take().unwrap_or_else(|| StreamHold::Quarantined {
                    classification: drift::DriftClass::RequiresReview.as_str().to_owned(),
                    reason_codes: Vec::new(),
                    affected_fields: Vec::new(),
                });
                let StreamHold::Quarantined { classification, .. } = &back else { return Err(pending) };
                let classification = class_word(classification);
                progress.hold = Some(back);
                self.save(progress, &plan.connector, &plan.stream).await?;
                Err(SyncRefusal::Quarantined { stream: stream(), classification })
            }
        }
    }

    /// Lifts a quarantine whose reason is gone: the live tool is again exactly the one batches were accepted under.
    pub(super) async fn lift_restored(
        &self,
        plan: &StreamPlan,
        source: &dyn SourceAdapter,
        cancel: &CancellationToken,
        progress: &mut Progress,
    ) -> Result<(), SyncRefusal> {
        if !matches!(progress.hold, Some(StreamHold::Quarantined { .. })) {
            return Ok(());
        }
        // A tool that cannot be looked at is not restored; the hold says why the stream stands.
        let Ok(live) = self.read_contract(source, cancel).await else { return Ok(()) };
        if progress.accepted_contract.as_ref() != Some(&live) {
            return Ok(());
        }
        progress.hold = None;
        progress.held_contract = None;
        progress.quarantine = None;
        self.save(progress, &plan.connector, &plan.stream).await
    }

    /// Accepts the contract a held stream waits with, so that its next cycle goes on from the accepted checkpoint.
    pub async fn release(&self, connector: &ConnectorName, stream: &StreamName) -> Result<(), SyncRefusal> {
        let mut progress = self.load(connector, stream).await?;
        if progress.hold.is_none() {
            return Err(SyncRefusal::NotHeld { stream: stream.to_string() });
        }
        release_into(&mut progress);
        self.save(&mut progress, connector, stream).await
    }

    /// Records a proposed repair and pauses its stream until it is decided. Nothing is built, tried or activated here.
    pub async fn propose_repair(&self, proposal: &RepairProposal) -> Result<(), SyncRefusal> {
        let report = proposal.report();
        let mut progress = self.load(&report.source, &report.stream).await?;
        if let Some(repairs) = &self.ports.repairs {
            self.store_call(repairs.propose(proposal)).await?;
        }
        if let Some(quarantine @ StreamHold::Quarantined { .. }) = progress.hold.take() {
            progress.quarantine = Some(quarantine);
        }
        progress.hold = Some(proposal.to_hold());
        progress.last_state = Some("paused".to_owned());
        self.save(&mut progress, &report.source, &report.stream).await
    }
}

fn release_into(progress: &mut Progress) {
    if let Some(contract) = progress.held_contract.take() {
        progress.accepted_contract = Some(contract);
    }
    progress.hold = None;
    progress.quarantine = None;
}

fn class_word(text: &str) -> &'static str {
    let breaking = drift::DriftClass::Breaking.as_str();
    if text == breaking { breaking } else { drift::DriftClass::RequiresReview.as_str() }
}

fn report_json(report: &DriftReport) -> Json {
    let digest = |value: Option<Digest256>| Json::from(value.map(Digest256::to_hex));
    let reasons = report.reason_codes.iter().map(|reason| Json::from(reason.as_str()));
    let fields = report.affected_fields.iter().map(|field| Json::from(field.as_str()));
    Json::from([
        ("source", Json::from(report.source.as_str())),
        ("stream", Json::from(report.stream.as_str())),
        ("tenant", Json::from(report.tenant.as_str())),
        ("old_schema_digest", digest(report.old_schema_digest)),
        ("new_schema_digest", digest(report.new_schema_digest)),
        ("affected_fields", Json::Array(fields.collect())),
        ("classification", Json::from(report.classification.as_str())),
        ("observed_sample_digest", Json::from(report.observed_sample_digest.to_hex())),
        ("reason_codes", Json::Array(reasons.collect())),
    ])
}
