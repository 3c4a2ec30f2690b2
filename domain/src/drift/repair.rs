//! A proposed repair: recorded, never carried out here (R003). Rendering a candidate schema, validating and activating it belong
//! to the graph service.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DriftRefusal, DriftReport};
use crate::canonical::peer_json;
use crate::digest::framed;
use crate::id::Digest256;
use crate::json::Json;
use crate::model::StreamHold;

/// A mapping from fields of the old contract to fields of the new one, proposed by somebody for one report. The stream waits
/// until the graph service has decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Draft")]
pub struct RepairProposal {
    report: DriftReport,
    mapping: BTreeMap<String, String>,
    proposed_by: String,
}

#[derive(Deserialize)]
struct Draft {
    report: DriftReport,
    mapping: BTreeMap<String, String>,
    proposed_by: String,
}

impl TryFrom<Draft> for RepairProposal {
    type Error = DriftRefusal;
    fn try_from(draft: Draft) -> Result<Self, DriftRefusal> {
        Self::new(draft.report, draft.mapping, &draft.proposed_by)
    }
}

impl RepairProposal {
    /// Proposes a repair. Refuses one for compatible drift, one that maps nothing, and one without a proposer.
    pub fn new(
        report: DriftReport,
        mapping: BTreeMap<String, String>,
        proposed_by: &str,
    ) -> Result<Self, DriftRefusal> {
        if report.is_compatible() {
            return Err(DriftRefusal::NothingToRepair);
        }
        if mapping.is_empty() {
            return Err(DriftRefusal::EmptyRepair);
        }
        if proposed_by.trim().is_empty() {
            return Err(DriftRefusal::NoProposer);
        }
        Ok(Self { report, mapping, proposed_by: proposed_by.to_owned() })
    }

    /// The report it answers.
    pub const fn report(&self) -> &DriftReport {
        &self.report
    }

    /// Old field to new field.
    pub const fn mapping(&self) -> &BTreeMap<String, String> {
        &self.mapping
    }

    /// Who proposes it.
    pub fn proposed_by(&self) -> &str {
        &self.proposed_by
    }

    /// Its identity: framed `scion/repair-proposal/v1` over connector, stream, tenant, both contract digests, mapping and
    /// proposer. The page that showed the drift does not count, so the same proposal has one digest.
    pub fn digest(&self) -> Digest256 {
        let side = |digest: Option<Digest256>| digest.map(Digest256::to_hex).unwrap_or_default();
        let mapping = self.mapping.iter().map(|(from, to)| (from.clone(), Json::from(to.as_str())));
        framed(
            "scion/repair-proposal/v1",
            &[
                self.report.source.as_str().as_bytes(),
                self.report.stream.as_str().as_bytes(),
                self.report.tenant.as_str().as_bytes(),
                side(self.report.old_schema_digest).as_bytes(),
                side(self.report.new_schema_digest).as_bytes(),
                peer_json(&Json::Object(mapping.collect())).as_bytes(),
                self.proposed_by.as_bytes(),
            ],
        )
    }

    /// The hold a stream gets while the proposal is open.
    pub fn to_hold(&self) -> StreamHold {
        StreamHold::RepairPending { proposal_digest: self.digest().to_hex() }
    }
}
