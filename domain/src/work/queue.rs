//! The queue of work: what is submitted, claimed and settled, and what a lane admits.

use crate::digest;
use crate::id::Digest256;
use crate::json::{Json, JsonObject, to_compact};

use super::WorkRefusal;

/// Work to be queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWork {
    /// What sort of work: 1 to 128 of `a-z`, `0-9`, `.`, `_` and `-`.
    pub kind: String,
    /// Names the work within its kind: 1 to 256 bytes without control characters. The same key again is the same work.
    pub key: String,
    /// Its input: at most [`NewWork::MAX_PAYLOAD`] bytes as compact JSON.
    pub payload: Json,
    /// 0 to 1000; the smaller goes first.
    pub priority: u16,
    /// How often it is tried at most: 1 to 100.
    pub max_attempts: u32,
}

impl NewWork {
    /// The longest payload, in bytes.
    pub const MAX_PAYLOAD: usize = 48 << 10;

    /// Checks every bound.
    pub fn check(&self) -> Result<(), WorkRefusal> {
        let refuse = |what| Err(WorkRefusal::Invalid { what });
        check_kind(&self.kind)?;
        if self.key.is_empty() || self.key.len() > 256 || self.key.chars().any(char::is_control) {
            return refuse("the key of work is 1 to 256 bytes without control characters");
        }
        if self.priority > 1000 {
            return refuse("a priority is 0 to 1000");
        }
        if !(1..=100).contains(&self.max_attempts) {
            return refuse("work is tried 1 to 100 times");
        }
        if to_compact(&self.payload).len() > Self::MAX_PAYLOAD {
            return refuse("the input of work has more than 48 KiB");
        }
        Ok(())
    }
}

/// Checks the name of a kind of work.
pub fn check_kind(kind: &str) -> Result<(), WorkRefusal> {
    let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    if kind.is_empty() || kind.len() > 128 || !kind.chars().all(safe) {
        return Err(WorkRefusal::Invalid { what: "a kind of work is 1 to 128 of a-z, 0-9, '.', '_' and '-'" });
    }
    Ok(())
}

/// Checks the name of a worker.
pub fn check_worker(worker: &str) -> Result<(), WorkRefusal> {
    if worker.is_empty() || worker.len() > 256 || worker.chars().any(char::is_control) {
        return Err(WorkRefusal::Invalid { what: "the name of a worker is 1 to 256 bytes without control characters" });
    }
    Ok(())
}

/// A claimed piece of work. Every later call presents its token, so that a worker that lost its lease changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedWork {
    /// Its identity. The effect of the work is named by it, so that doing the work again is seen.
    pub work_id: String,
    /// Its kind.
    pub kind: String,
    /// Its input.
    pub payload: Json,
    /// From 1; grows with each claim of the same work.
    pub attempt: u32,
    /// The epoch of the lease; goes with the token.
    pub lease_epoch: u64,
    /// Grows with each claim; an older token is refused.
    pub fencing_token: u64,
    /// Milliseconds since the Unix epoch at which the lease ends.
    pub lease_expires_at_ms: i64,
}

/// What a claim found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Work to do.
    Work(Box<ClaimedWork>),
    /// Nothing is due.
    Empty,
    /// Work is there, but as much as may be is under way.
    Full,
}

/// How work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkOutcome {
    /// Done; a digest of the effect.
    Succeeded {
        /// What was done.
        effect_digest: Digest256,
    },
    /// Not done, with the code of the refusal; the queue decides whether to try again.
    Failed {
        /// A refusal code.
        code: String,
        /// Whether another try may help. The queue still ends it when it was tried often enough.
        retryable: bool,
    },
}

/// What became of settled work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Done.
    Succeeded,
    /// Ended without success.
    Failed,
    /// Comes back later.
    Retried,
    /// Was tried as often as it may be.
    DeadLetter,
}

/// Where work stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStatus {
    /// Waits to be claimed, now or at its time.
    Waiting,
    /// A worker has it.
    Leased,
    /// Done.
    Succeeded,
    /// Ended without success.
    Failed,
    /// Tried as often as it may be.
    DeadLetter,
    /// Withdrawn before it was done.
    Cancelled,
}

impl WorkStatus {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Leased => "leased",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::DeadLetter => "dead_letter",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing will change any more.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Waiting | Self::Leased)
    }
}

/// Work as it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkView {
    /// Its identity.
    pub work_id: String,
    /// Its kind.
    pub kind: String,
    /// Its key.
    pub key: String,
    /// Where it stands.
    pub status: WorkStatus,
    /// How often it was claimed, where the queue tells.
    pub attempts: Option<u32>,
    /// Digest of the effect, where the queue keeps it.
    pub effect_digest: Option<Digest256>,
    /// The code of the last failure, where the queue keeps it.
    pub code: Option<String>,
    /// Milliseconds since the Unix epoch of the last change.
    pub updated_at_ms: i64,
}

/// What a queue does beyond the obligations of its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkCapabilities {
    /// [`WorkView`] tells the number of attempts, the effect's digest and the failure's code.
    pub tells_outcomes: bool,
    /// Settling again with another outcome or an older token is told apart from a repeated call.
    pub tells_who_settled: bool,
}

/// How workers of a lane behave in time. All in milliseconds; an operator sets them with the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanePolicy {
    /// How long a claim holds: 100 ms to a day.
    pub lease_ms: u64,
    /// How often a worker renews its lease and its hold while it works; less than either.
    pub renew_ms: u64,
    /// How long a hold of the lane's capacity lasts without renewal: 100 ms to a day.
    pub hold_ms: u64,
    /// How long a worker waits when nothing is due: 10 ms to a day.
    pub idle_ms: u64,
    /// How long a worker waits when the lane is full: 10 ms to a day.
    pub full_ms: u64,
}

const DAY_MS: u64 = 86_400_000;

impl LanePolicy {
    const NAMES: [&'static str; 5] = ["full_ms", "hold_ms", "idle_ms", "lease_ms", "renew_ms"];

    /// Checks every bound.
    pub fn check(&self) -> Result<(), WorkRefusal> {
        let refuse = |what| Err(WorkRefusal::Invalid { what });
        if !(100..=DAY_MS).contains(&self.lease_ms) || !(100..=DAY_MS).contains(&self.hold_ms) {
            return refuse("a lease and a hold last 100 ms to a day");
        }
        if !(10..=DAY_MS).contains(&self.idle_ms) || !(10..=DAY_MS).contains(&self.full_ms) {
            return refuse("the waits of a lane are 10 ms to a day");
        }
        if self.renew_ms == 0 || self.renew_ms >= self.lease_ms || self.renew_ms >= self.hold_ms {
            return refuse("a lease and a hold are renewed before they end");
        }
        Ok(())
    }

    /// As a JSON object with its members in the order of their names.
    pub fn to_json(&self) -> Json {
        let values = [self.full_ms, self.hold_ms, self.idle_ms, self.lease_ms, self.renew_ms];
        let members = Self::NAMES.iter().zip(values);
        Json::Object(members.map(|(name, value)| ((*name).to_owned(), Json::from(value))).collect::<JsonObject>())
    }

    /// From JSON; every member must be there and no other.
    pub fn from_json(value: &Json) -> Result<Self, WorkRefusal> {
        let read = || {
            let Json::Object(members) = value else { return None };
            let member = |name| members.get(name)?.as_number()?.as_u64();
            (members.len() == Self::NAMES.len()).then_some(Self {
                lease_ms: member("lease_ms")?,
                renew_ms: member("renew_ms")?,
                hold_ms: member("hold_ms")?,
                idle_ms: member("idle_ms")?,
                full_ms: member("full_ms")?,
            })
        };
        let policy = read().ok_or(WorkRefusal::Invalid { what: "the policy of a lane is not one of this release" })?;
        policy.check().map(|()| policy)
    }

    /// The digest of [`Self::to_json`] in its compact form.
    pub fn digest(&self) -> Digest256 {
        digest::sha256(to_compact(&self.to_json()).as_bytes())
    }
}

/// A lane: how many workers may work at once, and how they behave in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkLane {
    /// Its name, as a kind of work is written.
    pub name: String,
    /// Workers at once: 1 to 4096.
    pub capacity: u32,
    /// How much of it background work leaves free: less than the capacity.
    pub reserved_floor: u32,
    /// Times.
    pub policy: LanePolicy,
}

impl WorkLane {
    /// Checks every bound.
    pub fn check(&self) -> Result<(), WorkRefusal> {
        check_kind(&self.name)?;
        if !(1..=4096).contains(&self.capacity) || self.reserved_floor >= self.capacity {
            return Err(WorkRefusal::Invalid {
                what: "a lane has room for 1 to 4096 workers, and its floor is below that",
            });
        }
        self.policy.check()
    }

    /// How many background workers may work at once.
    pub const fn background(&self) -> u32 {
        self.capacity.saturating_sub(self.reserved_floor)
    }
}

/// How many workers a process asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkersWanted {
    /// As many as the lane admits.
    Auto,
    /// At most this many.
    AtMost(u32),
}

/// What a lane answers to a process that wants to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may start this many workers, at least one.
    Admitted {
        /// How many.
        workers: u32,
        /// How much of the lane's capacity is left free.
        reserved_floor: u32,
        /// How they behave in time.
        policy: LanePolicy,
    },
    /// The lane is full; ask again then.
    Wait {
        /// In milliseconds.
        after_ms: u64,
    },
}

/// A held part of a lane's capacity: room for one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapacityHold {
    /// Its identity.
    pub hold_id: String,
    /// Its epoch; goes with the token.
    pub epoch: u64,
    /// Only this hold has it.
    pub fence: u64,
    /// Milliseconds since the Unix epoch at which it ends.
    pub expires_at_ms: i64,
}

/// Whether a worker got room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldAnswer {
    /// It may work.
    Held(CapacityHold),
    /// The lane is full; ask again then.
    Wait {
        /// In milliseconds.
        after_ms: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: LanePolicy =
        LanePolicy { lease_ms: 30_000, renew_ms: 10_000, hold_ms: 30_000, idle_ms: 500, full_ms: 500 };

    #[test]
    fn a_policy_goes_through_json_and_keeps_its_digest() {
        let back = LanePolicy::from_json(&POLICY.to_json()).unwrap();
        assert_eq!((back, back.digest()), (POLICY, POLICY.digest()));
        let other = LanePolicy { idle_ms: 501, ..POLICY };
        assert_ne!(other.digest(), POLICY.digest());
        assert!(LanePolicy::from_json(&Json::Object(JsonObject::new())).is_err());
        let mut more = POLICY.to_json();
        if let Json::Object(members) = &mut more {
            members.insert("retries".to_owned(), Json::from(3_u64));
        }
        assert!(LanePolicy::from_json(&more).is_err());
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let work =
            NewWork { kind: "source.sync".into(), key: "k".into(), payload: Json::Null, priority: 0, max_attempts: 1 };
        work.check().unwrap();
        let wrong = [
            NewWork { kind: "Source Sync".into(), ..work.clone() },
            NewWork { kind: String::new(), ..work.clone() },
            NewWork { key: String::new(), ..work.clone() },
            NewWork { key: "a\nb".into(), ..work.clone() },
            NewWork { key: "k".repeat(257), ..work.clone() },
            NewWork { payload: Json::from("x".repeat(NewWork::MAX_PAYLOAD)), ..work.clone() },
            NewWork { priority: 1001, ..work.clone() },
            NewWork { max_attempts: 0, ..work.clone() },
            NewWork { max_attempts: 101, ..work },
        ];
        assert!(wrong.iter().all(|work| matches!(work.check(), Err(WorkRefusal::Invalid { .. }))));
        let lane = WorkLane { name: "ingest".into(), capacity: 2, reserved_floor: 1, policy: POLICY };
        lane.check().unwrap();
        assert_eq!(lane.background(), 1);
        for policy in [
            LanePolicy { renew_ms: 30_000, ..POLICY },
            LanePolicy { renew_ms: 0, ..POLICY },
            LanePolicy { lease_ms: 0, ..POLICY },
            LanePolicy { idle_ms: 0, ..POLICY },
            LanePolicy { full_ms: DAY_MS + 1, ..POLICY },
        ] {
            assert!(WorkLane { policy, ..lane.clone() }.check().is_err(), "{policy:?}");
        }
        assert!(WorkLane { reserved_floor: 2, ..lane.clone() }.check().is_err());
        assert!(WorkLane { capacity: 4097, ..lane }.check().is_err());
    }
}
