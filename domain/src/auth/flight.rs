//! One renewal at a time: who renews a token, who waits, and what is used meanwhile.
//!
//! The machine decides; async code carries out. Whoever is told to [`Step::Lead`] starts the renewal in a task of its own, so that
//! a caller that goes away takes nothing with it, and reports [`Flight::finish`].

/// How long before its expiry a token is renewed, in milliseconds.
pub const SKEW_MS: i64 = 30_000;

/// Why a caller comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It needs a token.
    Use,
    /// The server refused the token of this generation.
    Rejected(u64),
}

/// What a caller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Use the token of this generation.
    Use(u64),
    /// Start a renewal under this ticket, then wait for it.
    Lead(u64),
    /// Wait for the renewal of this ticket.
    Wait(u64),
}

/// How a renewal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A token that expires at this time (milliseconds since the Unix epoch).
    Renewed {
        /// When it expires.
        expires_at_ms: i64,
    },
    /// The authority said no: the present token is not trusted any more.
    Rejected,
    /// No answer: the present token is used as long as it is valid, unless a server refused it.
    Unreachable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Current {
    renew_at_ms: i64,
    expires_at_ms: i64,
    refused: bool,
}

/// The state of one credential.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    generation: u64,
    current: Option<Current>,
    renewing: Option<u64>,
    next_ticket: u64,
}

impl Flight {
    /// Without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// The generation of the present token; 0 before the first.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// A caller comes at `now_ms`.
    pub fn ask(&mut self, reason: Reason, now_ms: i64) -> Step {
        if let Reason::Rejected(generation) = reason
            && generation == self.generation
            && let Some(current) = &mut self.current
        {
            current.refused = true;
        }
        if let Some(current) = self.current
            && !current.refused
            && now_ms < current.renew_at_ms
        {
            return Step::Use(self.generation);
        }
        if let Some(ticket) = self.renewing {
            return Step::Wait(ticket);
        }
        self.next_ticket += 1;
        self.renewing = Some(self.next_ticket);
        Step::Lead(self.next_ticket)
    }

    /// The renewal of a ticket ended. A ticket that is not the present one changes nothing.
    pub fn finish(&mut self, ticket: u64, outcome: Outcome, now_ms: i64) {
        if self.renewing != Some(ticket) {
            return;
        }
        self.renewing = None;
        match outcome {
            Outcome::Renewed { expires_at_ms } => {
                // A token that lives shorter than a minute is renewed at half its life, or each use would renew it.
                let skew = SKEW_MS.min(expires_at_ms.saturating_sub(now_ms) / 2);
                let renew_at_ms = expires_at_ms.saturating_sub(skew);
                self.generation += 1;
                self.current = Some(Current { renew_at_ms, expires_at_ms, refused: false });
            }
            Outcome::Rejected => self.current = None,
            Outcome::Unreachable => {}
        }
    }

    /// The generation that may still be used although its renewal failed.
    pub fn still_valid(&self, now_ms: i64) -> Option<u64> {
        let current = self.current?;
        (!current.refused && now_ms < current.expires_at_ms).then_some(self.generation)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn renewed(flight: &mut Flight, ttl_ms: i64, now: i64) {
        let Step::Lead(ticket) = flight.ask(Reason::Use, now) else { panic!("no lead") };
        flight.finish(ticket, Outcome::Renewed { expires_at_ms: now + ttl_ms }, now);
    }

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R011, SDK-CONNECTOR-CONTROL-R028.4
    #[test]
    fn renewed_thirty_seconds_before_expiry() {
        let mut flight = Flight::new();
        renewed(&mut flight, 300_000, 0);
        assert_eq!(flight.ask(Reason::Use, 269_999), Step::Use(1));
        assert_eq!(flight.ask(Reason::Use, 270_000), Step::Lead(2));
        assert_eq!(flight.ask(Reason::Use, 270_001), Step::Wait(2));
        assert_eq!(flight.still_valid(299_999), Some(1));
        assert_eq!(flight.still_valid(300_000), None);
        let mut short = Flight::new();
        renewed(&mut short, 20_000, 0);
        assert_eq!(short.ask(Reason::Use, 9_999), Step::Use(1));
        assert_eq!(short.ask(Reason::Use, 10_000), Step::Lead(2));
    }

    #[test]
    fn a_refused_generation_is_renewed_once_whoever_asks() {
        let mut flight = Flight::new();
        renewed(&mut flight, 300_000, 0);
        assert_eq!(flight.ask(Reason::Rejected(1), 1), Step::Lead(2));
        assert_eq!(flight.ask(Reason::Rejected(1), 1), Step::Wait(2));
        assert_eq!(flight.still_valid(1), None, "what a server refused is not used again");
        flight.finish(2, Outcome::Renewed { expires_at_ms: 300_000 }, 2);
        assert_eq!(flight.ask(Reason::Rejected(1), 3), Step::Use(2));
    }

    /// What a caller of the simulation waits for.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        Ask(usize),
        Reject(usize),
        Renewed,
        Refused,
        Silent,
        Leave(usize),
        Tick(i64),
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let caller = 0usize..4;
        proptest::collection::vec(
            prop_oneof![
                3 => caller.clone().prop_map(Event::Ask),
                2 => caller.clone().prop_map(Event::Reject),
                2 => Just(Event::Renewed),
                1 => Just(Event::Refused),
                1 => Just(Event::Silent),
                1 => caller.prop_map(Event::Leave),
                2 => (0i64..200_000).prop_map(Event::Tick),
            ],
            0..80,
        )
    }

    proptest! {
        /// Every interleaving of four callers, renewals that end in any way and callers that leave, leader included.
        ///
        /// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
        #[test]
        fn never_two_renewals_at_once_and_nobody_waits_for_nothing(events in events()) {
            let mut flight = Flight::new();
            let mut now = 0i64;
            let mut running: Option<u64> = None;
            let mut waiting: [Option<u64>; 4] = [None; 4];
            let mut used = [0u64; 4];
            let mut led_for: Vec<(u64, u64)> = Vec::new();
            for event in events {
                let asked = match event {
                    Event::Ask(caller) => Some((caller, Reason::Use)),
                    Event::Reject(caller) if used[caller] > 0 => Some((caller, Reason::Rejected(used[caller]))),
                    _ => None,
                };
                if let Some((caller, reason)) = asked {
                    let before = flight.generation();
                    match flight.ask(reason, now) {
                        Step::Use(generation) => {
                            prop_assert_eq!(generation, flight.generation());
                            prop_assert_ne!(Reason::Rejected(generation), reason, "handed back what was refused");
                            used[caller] = generation;
                            waiting[caller] = None;
                        }
                        Step::Lead(ticket) => {
                            prop_assert!(running.is_none(), "a second renewal beside {:?}", running);
                            running = Some(ticket);
                            waiting[caller] = Some(ticket);
                            led_for.push((before, ticket));
                        }
                        Step::Wait(ticket) => {
                            prop_assert_eq!(Some(ticket), running, "waits for a renewal that does not run");
                            waiting[caller] = Some(ticket);
                        }
                    }
                    continue;
                }
                let outcome = match event {
                    Event::Renewed => Outcome::Renewed { expires_at_ms: now + 300_000 },
                    Event::Refused => Outcome::Rejected,
                    Event::Silent => Outcome::Unreachable,
                    // The renewal runs in a task of its own: it does not notice.
                    Event::Leave(caller) => { waiting[caller] = None; continue }
                    Event::Tick(step) => { now += step; continue }
                    Event::Ask(_) | Event::Reject(_) => continue,
                };
                let Some(ticket) = running.take() else { continue };
                let before = flight.generation();
                flight.finish(ticket, outcome, now);
                prop_assert_eq!(flight.generation() > before, matches!(outcome, Outcome::Renewed { .. }));
                for (caller, waits) in waiting.iter_mut().enumerate() {
                    if waits.take() == Some(ticket) && flight.generation() > before {
                        used[caller] = flight.generation();
                    }
                }
                let stale = flight.finish_is_ignored(ticket);
                prop_assert!(stale);
            }
            // At most one renewal succeeded per generation.
            let generations = flight.generation();
            prop_assert!(led_for.len() as u64 >= generations);
        }
    }

    impl Flight {
        fn finish_is_ignored(&self, ticket: u64) -> bool {
            let mut copy = self.clone();
            copy.finish(ticket, Outcome::Rejected, 0);
            copy == *self
        }
    }
}
