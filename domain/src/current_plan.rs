//! The current plan of a run, as it crosses a boundary (SDK-CONNECTOR-CONTROL-R070): strict and frozen. A value says nothing about
//! who made it, nor whether it still holds now.

use serde::{Deserialize, Serialize};

use crate::refusals;
use crate::time::Timestamp;

refusals! {
    /// Why a document is no plan.
    pub enum CurrentPlanRefusal {
        /// A run id that is empty or too long.
        RunId => "current_plan_run_id", CallerMistake, Never,
            "a run id is empty or longer than 512 characters", "pass the id of the run";
        /// An item without text.
        ItemText => "current_plan_item_text", CallerMistake, Never,
            "an item of the plan has no text", "write what is to be done";
        /// A time that is not in UTC.
        NotUtc => "current_plan_not_utc", CallerMistake, Never,
            "a time of the plan is not in UTC", "write times with Z or +00:00";
        /// An expiry that is not after the observation.
        Expiry => "current_plan_expiry", CallerMistake, Never,
            "the plan expires no later than it was observed", "set a later expiry";
        /// Availability and snapshot contradict each other.
        Availability => "current_plan_availability", CallerMistake, Never,
            "a plan is available without a snapshot, or unavailable with one", "give a snapshot exactly when the plan is available";
    }
}

/// The longest run id, in characters.
const MAX_RUN_ID: usize = 512;

fn run_id(run_id: &str) -> Result<(), CurrentPlanRefusal> {
    if (1..=MAX_RUN_ID).contains(&run_id.chars().count()) { Ok(()) } else { Err(CurrentPlanRefusal::RunId) }
}

/// Asks for the current plan of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RequestDocument")]
pub struct CurrentPlanRequest {
    run_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestDocument {
    run_id: String,
}

impl TryFrom<RequestDocument> for CurrentPlanRequest {
    type Error = CurrentPlanRefusal;

    fn try_from(document: RequestDocument) -> Result<Self, CurrentPlanRefusal> {
        Self::new(document.run_id)
    }
}

impl CurrentPlanRequest {
    /// A request; the id has 1 to 512 characters.
    pub fn new(id: impl Into<String>) -> Result<Self, CurrentPlanRefusal> {
        let id = id.into();
        run_id(&id).map(|()| Self { run_id: id })
    }

    /// The run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }
}

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Finished.
    Done,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ItemDocument")]
pub struct PlanItem {
    text: String,
    status: PlanStatus,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemDocument {
    text: String,
    status: PlanStatus,
}

impl TryFrom<ItemDocument> for PlanItem {
    type Error = CurrentPlanRefusal;

    fn try_from(document: ItemDocument) -> Result<Self, CurrentPlanRefusal> {
        Self::new(document.text, document.status)
    }
}

impl PlanItem {
    /// A step with a text.
    pub fn new(text: impl Into<String>, status: PlanStatus) -> Result<Self, CurrentPlanRefusal> {
        let text = text.into();
        if text.is_empty() { Err(CurrentPlanRefusal::ItemText) } else { Ok(Self { text, status }) }
    }

    /// What is to be done.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How far it is.
    pub const fn status(&self) -> PlanStatus {
        self.status
    }
}

/// What was seen of a plan at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SnapshotDocument")]
pub struct CurrentPlanSnapshot {
    run_id: String,
    revision: u64,
    observed_at: Timestamp,
    expires_at: Timestamp,
    items: Vec<PlanItem>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SnapshotDocument {
    run_id: String,
    revision: u64,
    observed_at: Timestamp,
    expires_at: Timestamp,
    items: Vec<PlanItem>,
}

impl TryFrom<SnapshotDocument> for CurrentPlanSnapshot {
    type Error = CurrentPlanRefusal;

    fn try_from(document: SnapshotDocument) -> Result<Self, CurrentPlanRefusal> {
        let SnapshotDocument { run_id, revision, observed_at, expires_at, items } = document;
        Self::new(run_id, revision, observed_at, expires_at, items)
    }
}

impl CurrentPlanSnapshot {
    /// A snapshot whose times are in UTC, and which expires after it was observed. The order of its items stays.
    pub fn new(
        id: impl Into<String>,
        revision: u64,
        observed_at: Timestamp,
        expires_at: Timestamp,
        items: Vec<PlanItem>,
    ) -> Result<Self, CurrentPlanRefusal> {
        let id = id.into();
        run_id(&id)?;
        let utc = |time: &Timestamp| {
            ["Z", "z", "+00:00", "-00:00", "+0000", "+00"].iter().any(|zone| time.as_text().ends_with(zone))
        };
        if !utc(&observed_at) || !utc(&expires_at) {
            return Err(CurrentPlanRefusal::NotUtc);
        }
        if expires_at <= observed_at {
            return Err(CurrentPlanRefusal::Expiry);
        }
        Ok(Self { run_id: id, revision, observed_at, expires_at, items })
    }

    /// The run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The plan's revision.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// When it was seen.
    pub const fn observed_at(&self) -> &Timestamp {
        &self.observed_at
    }

    /// Until when it may be used.
    pub const fn expires_at(&self) -> &Timestamp {
        &self.expires_at
    }

    /// The steps, in their order.
    pub fn items(&self) -> &[PlanItem] {
        &self.items
    }
}

/// The answer to a [`CurrentPlanRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ReadDocument")]
pub struct CurrentPlanRead {
    available: bool,
    snapshot: Option<CurrentPlanSnapshot>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadDocument {
    available: bool,
    #[serde(deserialize_with = "present")]
    snapshot: Option<CurrentPlanSnapshot>,
}

/// The member must be there, though it may be null.
fn present<'de, D: serde::Deserializer<'de>>(document: D) -> Result<Option<CurrentPlanSnapshot>, D::Error> {
    Option::deserialize(document)
}

impl TryFrom<ReadDocument> for CurrentPlanRead {
    type Error = CurrentPlanRefusal;

    fn try_from(document: ReadDocument) -> Result<Self, CurrentPlanRefusal> {
        let ReadDocument { available, snapshot } = document;
        if available == snapshot.is_some() {
            Ok(Self { available, snapshot })
        } else {
            Err(CurrentPlanRefusal::Availability)
        }
    }
}

impl CurrentPlanRead {
    /// There is a plan.
    pub const fn available(snapshot: CurrentPlanSnapshot) -> Self {
        Self { available: true, snapshot: Some(snapshot) }
    }

    /// There is none.
    pub const fn unavailable() -> Self {
        Self { available: false, snapshot: None }
    }

    /// The plan, if there is one.
    pub const fn snapshot(&self) -> Option<&CurrentPlanSnapshot> {
        self.snapshot.as_ref()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const READ: &str = r#"{"available":true,"snapshot":{"run_id":"r","revision":3,"observed_at":"2026-03-01T12:00:00Z","expires_at":"2026-03-01T12:00:00.1+00:00","items":[{"text":"b","status":"in_progress"},{"text":"a","status":"done"}]}}"#;

    fn read(text: &str) -> Result<CurrentPlanRead, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R070
    #[test]
    fn a_read_comes_back_as_it_was() {
        for text in [
            READ,
            r#"{"available":false,"snapshot":null}"#,
            &READ.replace(r#"[{"text":"b","status":"in_progress"},{"text":"a","status":"done"}]"#, "[]"),
        ] {
            assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        }
        let found = read(READ).unwrap();
        let snapshot = found.snapshot().unwrap();
        assert_eq!(snapshot.items().iter().map(PlanItem::text).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!((snapshot.run_id(), snapshot.revision()), ("r", 3));
        let request: CurrentPlanRequest = serde_json::from_str(r#"{"run_id":"r"}"#).unwrap();
        assert_eq!(serde_json::to_string(&request).unwrap(), r#"{"run_id":"r"}"#);
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R070
    #[test]
    fn what_is_not_exactly_a_plan_is_refused() {
        for (from, to) in [
            (r#""run_id":"r""#, r#""run_id":"""#),
            (r#""run_id":"r""#, r#""run_id":7"#),
            (r#""revision":3"#, r#""revision":-1"#),
            (r#""revision":3"#, r#""revision":"3""#),
            (r#""revision":3"#, r#""revision":3.0"#),
            (r#""revision":3"#, r#""revision":true"#),
            ("12:00:00Z", "12:00:00"),
            ("12:00:00Z", "12:00:00+01:00"),
            ("12:00:00.1+00:00", "12:00:00+00:00"),
            (r#""text":"b""#, r#""text":"""#),
            (r#""text":"b""#, r#""text":"b","more":1"#),
            ("in_progress", "begun"),
            (r#""revision":3"#, r#""revision":3,"more":1"#),
            (r#""available":true"#, r#""available":false"#),
            (r#""available":true"#, r#""available":"true""#),
            (r#""available":true"#, r#""available":true,"more":1"#),
        ] {
            assert!(READ.contains(from), "{from}");
            assert!(read(&READ.replacen(from, to, 1)).is_err(), "{to}");
        }
        for text in [r#"{"available":true,"snapshot":null}"#, r#"{"available":false}"#, "[]"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(CurrentPlanRequest::new("ä".repeat(512)).is_ok());
        assert_eq!(CurrentPlanRequest::new("ä".repeat(513)), Err(CurrentPlanRefusal::RunId));
        assert!(serde_json::from_str::<CurrentPlanRequest>(r#"{"run_id":"r","tenant":"t"}"#).is_err());
    }
}
