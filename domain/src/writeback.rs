//! Approved changes on their way back to a source: the models behind the write-back ports
//! (`wire/engine-protocol.md` 10).

use std::collections::BTreeMap;

use crate::id::{ConnectorName, Digest256, TenantId};
use crate::json::JsonObject;
use crate::refusals;

/// A change to one entity of a source, complete and immutable. Approval, reservation and receipt bind its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRequest {
    /// Its identity.
    pub change_set_id: String,
    /// Digest over everything below.
    pub change_set_digest: Digest256,
    /// The tenant.
    pub tenant: TenantId,
    /// Who asks, as a persistence id; describes and never authorises.
    pub actor: String,
    /// The connector that will carry it out.
    pub connector: ConnectorName,
    /// The entity.
    pub entity_id: String,
    /// The fields that may change, sorted.
    pub field_scope: Vec<String>,
    /// The version the change is based on; the source must still have it.
    pub base_source_version: String,
    /// The fields and their new values.
    pub desired_patch: JsonObject,
    /// Where each value came from.
    pub field_provenance: BTreeMap<String, String>,
    /// One key for one effect, across retries and restarts.
    pub idempotency_key: String,
    /// Milliseconds since the Unix epoch after which nothing may be applied.
    pub expires_at_ms: i64,
}

/// What is known of the effect at the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectStatus {
    /// The source is as it was.
    NoEffect,
    /// The source has the change.
    Applied,
    /// Nobody knows; only reading the source can tell.
    Uncertain,
}

/// What a transport observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Whether there was one.
    pub status: EffectStatus,
    /// The version before.
    pub pre_source_version: Option<String>,
    /// The version after, from the source itself and not from the request.
    pub post_source_version: Option<String>,
    /// Digest of what was observed.
    pub observation_digest: Digest256,
}

/// Whether an attempt only looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptKind {
    /// Previewed, nothing changed.
    DryRun,
    /// Meant to change the source.
    Apply,
    /// Read at the source after an application of which nobody knew the effect.
    Reconciliation,
}

/// Where a change stands in its ledger, which decides what may be recorded next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LedgerState {
    /// It needs a preview.
    #[default]
    Open,
    /// It may be applied.
    Previewed,
    /// Only a reconciliation is accepted.
    Uncertain,
    /// It is done.
    Applied,
    /// The source said no; what is still wanted is another change.
    Rejected,
}

impl LedgerState {
    /// The state after an entry, or why the entry is not accepted. An application is recorded
    /// once its outcome is known or may have happened, and a change has one of those unless reading the source shows no effect.
    pub fn after(self, kind: AttemptKind, status: EffectStatus, entity: &str) -> Result<Self, WriteBackRefusal> {
        use AttemptKind::{Apply, DryRun, Reconciliation};
        use EffectStatus::{Applied, NoEffect, Uncertain};
        let entity = || entity.to_owned();
        match (self, kind, status) {
            (Self::Applied | Self::Rejected, _, _) => Err(WriteBackRefusal::Settled { entity: entity() }),
            (Self::Uncertain, DryRun | Apply, _) | (_, Reconciliation, Uncertain) => {
                Err(WriteBackRefusal::Uncertain { entity: entity() })
            }
            (Self::Uncertain, Reconciliation, NoEffect) | (Self::Open, DryRun, NoEffect) => Ok(Self::Previewed),
            (Self::Uncertain, Reconciliation, Applied) | (Self::Previewed, Apply, Applied) => Ok(Self::Applied),
            (Self::Previewed, Apply, NoEffect) => Ok(Self::Rejected),
            (Self::Previewed, Apply, Uncertain) => Ok(Self::Uncertain),
            (Self::Open, Apply, _) => Err(WriteBackRefusal::NotPreviewed { entity: entity() }),
            // A change is for one version of its source, so that a second preview could only repeat the first.
            (Self::Previewed, DryRun, _) => {
                Err(WriteBackRefusal::Invalid { what: "a preview of the change still holds" })
            }
            (_, DryRun, _) => Err(WriteBackRefusal::Invalid { what: "a preview has no effect" }),
            (_, Reconciliation, _) => Err(WriteBackRefusal::Invalid { what: "nothing is uncertain" }),
        }
    }
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The change.
    pub change_set_digest: Digest256,
    /// Its key.
    pub idempotency_key: String,
    /// Preview or application.
    pub kind: AttemptKind,
    /// What came of it.
    pub effect: Effect,
    /// The entry's place in the ledger of its change, from 1.
    pub sequence: u64,
}

/// An authorization as its verifier sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// `proposal_approval`, `standing_policy` or `manual_trigger`.
    pub mode: String,
    /// A reference to the recorded decision.
    pub reference: String,
    /// The change it is for.
    pub change_set_digest: Digest256,
    /// Milliseconds since the Unix epoch after which it is void.
    pub expires_at_ms: i64,
}

/// Proof that the audit trail has a place for an effect before it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Its identity.
    pub reservation_id: String,
    /// The change.
    pub change_set_digest: Digest256,
    /// Its key.
    pub idempotency_key: String,
}

refusals! {
    /// Why a change was not carried back.
    pub enum WriteBackRefusal {
        /// The source has moved on.
        StaleBase { entity: String } => "write_back_stale_base", Unavailable, Never,
            "{entity} has changed at the source since the preview", "preview again and ask for a new approval";
        /// The source's own rules say no.
        SourceRejected { entity: String } => "write_back_rejected", Denied, Never,
            "the source rejects the change to {entity}", "look at the source's rules for this field";
        /// No valid approval.
        NotAuthorized { what: &'static str } => "write_back_not_authorized", Denied, Never,
            "no approval covers this change: {what}", "ask for an approval of exactly this change";
        /// The key was used for something else.
        KeyReused { key: String } => "write_back_key_reused", CallerMistake, Never,
            "the key {key} was used for another change", "use one key per change";
        /// The effect is not known.
        Uncertain { entity: String } => "write_back_uncertain", Unavailable, AfterReadback,
            "it is not known whether {entity} was changed", "reconcile before anything else";
        /// The audit trail has no place.
        NoReservation => "write_back_no_reservation", Unavailable, Later,
            "the audit trail does not accept a reservation", "nothing was changed; try again when it does";
        /// The transport cannot make a change conditional on the version.
        NotConditional { connector: String } => "write_back_not_conditional", CallerMistake, Never,
            "{connector} cannot apply a change under a condition", "use an API of the source that can";
        /// Nothing was previewed.
        NotPreviewed { entity: String } => "write_back_not_previewed", CallerMistake, Never,
            "the change to {entity} has no preview that still holds", "preview it first";
        /// The change was applied or rejected before.
        Settled { entity: String } => "write_back_settled", CallerMistake, Never,
            "the change to {entity} is settled already", "read its ledger; ask for another change";
        /// The ledger does not know the change.
        UnknownChange => "write_back_unknown_change", CallerMistake, Never,
            "the ledger does not know the change", "create it first";
        /// Nobody knows whether the ledger has it.
        LedgerUnknown => "write_back_ledger_unknown", Unavailable, AfterReadback,
            "it is not known whether the ledger has it", "read the entries of the change";
        /// An input is not acceptable.
        Invalid { what: &'static str } => "write_back_invalid", CallerMistake, Never,
            "{what}", "fix the request";
        /// It is too late.
        Expired => "write_back_expired", Denied, Never,
            "the change or its approval has expired", "ask again";
        /// The source or the ledger does not answer.
        Unreachable { what: &'static str } => "write_back_unreachable", Unavailable, Later,
            "{what} does not answer", "try again later; nothing was changed";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_way_leads_to_an_application() {
        use AttemptKind::{Apply, DryRun, Reconciliation};
        use EffectStatus::{Applied, NoEffect, Uncertain};
        let run = |steps: &[(AttemptKind, EffectStatus)]| {
            steps.iter().try_fold(LedgerState::default(), |state, (kind, status)| state.after(*kind, *status, "T-1"))
        };
        assert_eq!(run(&[(DryRun, NoEffect), (Apply, Applied)]), Ok(LedgerState::Applied));
        assert_eq!(run(&[(DryRun, NoEffect), (Apply, NoEffect)]), Ok(LedgerState::Rejected));
        let uncertain = [(DryRun, NoEffect), (Apply, Uncertain)];
        assert_eq!(run(&uncertain), Ok(LedgerState::Uncertain));
        let then = |kind, status| run(&[uncertain.as_slice(), &[(kind, status)]].concat());
        assert_eq!(then(Reconciliation, NoEffect), Ok(LedgerState::Previewed));
        assert_eq!(then(Reconciliation, Applied), Ok(LedgerState::Applied));
        for (kind, status) in [(DryRun, NoEffect), (Apply, Applied), (Reconciliation, Uncertain)] {
            assert!(matches!(then(kind, status), Err(WriteBackRefusal::Uncertain { .. })));
        }
        let refused: [&[(AttemptKind, EffectStatus)]; 6] = [
            &[(DryRun, NoEffect), (DryRun, NoEffect)],
            &[(Apply, Applied)],
            &[(Reconciliation, NoEffect)],
            &[(DryRun, Applied)],
            &[(DryRun, NoEffect), (Apply, NoEffect), (DryRun, NoEffect)],
            &[(DryRun, NoEffect), (Apply, Applied), (Apply, Applied)],
        ];
        for steps in refused {
            assert!(run(steps).is_err(), "{steps:?}");
        }
    }
}
