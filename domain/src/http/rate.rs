//! What a server says about its rate limits: `X-RateLimit-*`, `X-Rate-Limit-*`, `RateLimit-*` and the structured fields
//! `RateLimit` and `RateLimit-Policy` of the IETF draft, and `Retry-After`. One reader for all of them.

use std::time::Duration;

use super::{HeaderMap, retry_after};
use crate::json::{Json, JsonNumber};

/// A reset above this is a point in time, not a number of seconds (about three years).
const EPOCH_FROM: u64 = 100_000_000;
/// Longer header values are not read.
const MAX_VALUE: usize = 1024;
/// More items of a structured field are not read.
const MAX_ITEMS: usize = 16;

/// When the window starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// After this long.
    In(Duration),
    /// At this time, in Unix milliseconds.
    At(i64),
}

impl Reset {
    /// How long until then; zero when it has passed.
    pub fn wait(self, now_unix_ms: i64) -> Duration {
        match self {
            Self::In(wait) => wait,
            Self::At(at) => Duration::from_millis(u64::try_from(at.saturating_sub(now_unix_ms)).unwrap_or(0)),
        }
    }
}

/// The rate limit as one answer states it; at least one member is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSnapshot {
    /// Calls a window holds.
    pub limit: Option<u64>,
    /// Calls left in this window.
    pub remaining: Option<u64>,
    /// When the window starts again.
    pub reset: Option<Reset>,
    /// How long a window is (`RateLimit-Policy`).
    pub window: Option<Duration>,
    /// `Retry-After`.
    pub retry_after: Option<Duration>,
}

/// How the names of all header fields begin that are read here.
const FAMILIES: [&str; 4] = ["x-ratelimit-", "x-rate-limit-", "ratelimit", "retry-after"];

impl RateSnapshot {
    /// Reads the header fields of an answer; `None` when none of them says anything usable.
    ///
    /// The first family that says something wins: `X-RateLimit-*`, `X-Rate-Limit-*`, `RateLimit` with `RateLimit-Policy`,
    /// `RateLimit-*`. Of several limits in `RateLimit` the tightest counts.
    pub fn read(headers: &HeaderMap, now_unix_ms: i64) -> Option<Self> {
        // Most answers say nothing about rates, and every answer is asked.
        let speaks = |name: &str| FAMILIES.iter().any(|family| name.starts_with(family));
        if !headers.keys().any(|name| speaks(name.as_str())) {
            return None;
        }
        let text = |name: &str| {
            headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| value.len() <= MAX_VALUE)
        };
        let family = |prefix: &str, epochs: bool| {
            let whole = |part: &str| text(&format!("{prefix}-{part}")).and_then(decimal);
            let reset = whole("reset").map(|(seconds, millis)| reset(seconds, millis, epochs));
            let (limit, remaining) = (whole("limit"), whole("remaining"));
            Self { limit: limit.map(|n| n.0), remaining: remaining.map(|n| n.0), reset, ..Self::default() }
        };
        let nothing = Self::default();
        let mut found = [family("x-ratelimit", true), family("x-rate-limit", true)]
            .into_iter()
            .find(|snapshot| *snapshot != nothing)
            .or_else(|| text("ratelimit").map(structured).filter(|snapshot| *snapshot != nothing))
            .unwrap_or_else(|| family("ratelimit", false));
        if let Some((quota, window)) = text("ratelimit-policy").and_then(policy) {
            found.limit = found.limit.or(Some(quota));
            found.window = window;
        }
        found.retry_after = text("retry-after").and_then(|value| retry_after(value, now_unix_ms));
        (found != nothing).then_some(found)
    }

    /// No call is left in this window.
    pub fn exhausted(&self) -> bool {
        self.remaining == Some(0)
    }

    /// How long the server asks to wait: `Retry-After`, else the reset of an exhausted window.
    pub fn asked_wait(&self, now_unix_ms: i64) -> Option<Duration> {
        let reset = || self.reset.filter(|_| self.exhausted()).map(|reset| reset.wait(now_unix_ms));
        self.retry_after.or_else(reset)
    }

    /// The members that are set: `limit`, `remaining`, `reset` (seconds, or Unix seconds), `window_s`, `retry_after_s`.
    pub fn to_json(&self) -> Json {
        let seconds = |millis: i128| {
            let text = if millis % 1000 == 0 {
                (millis / 1000).to_string()
            } else {
                format!("{}.{:03}", millis / 1000, (millis % 1000).unsigned_abs())
            };
            JsonNumber::from_text(&text).map_or(Json::Null, Json::Number)
        };
        let span = |span: Duration| seconds(i128::try_from(span.as_millis()).unwrap_or(i128::MAX));
        let members = [
            ("limit", self.limit.map(Json::from)),
            ("remaining", self.remaining.map(Json::from)),
            (
                "reset",
                self.reset.map(|reset| match reset {
                    Reset::In(wait) => span(wait),
                    Reset::At(at) => seconds(i128::from(at)),
                }),
            ),
            ("window_s", self.window.map(span)),
            ("retry_after_s", self.retry_after.map(span)),
        ];
        Json::Object(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
    }
}

/// How long to wait after a refusal for being too fast: what the server asks for, or `default`; never above `cap`. A reset that
/// has come, or is nearer than a second, is one second, because clocks differ.
pub fn throttle_wait(snapshot: Option<&RateSnapshot>, now_unix_ms: i64, default: Duration, cap: Duration) -> Duration {
    let second = Duration::from_secs(1);
    let asked = snapshot.and_then(|snapshot| {
        let reset = || snapshot.reset.map(|reset| reset.wait(now_unix_ms).max(second));
        snapshot.retry_after.or_else(reset)
    });
    asked.unwrap_or(default).min(cap)
}

fn reset(seconds: u64, millis: u64, epochs: bool) -> Reset {
    let all = seconds.saturating_mul(1000).saturating_add(millis);
    if epochs && (seconds, millis) > (EPOCH_FROM, 0) {
        Reset::At(i64::try_from(all).unwrap_or(i64::MAX))
    } else {
        Reset::In(Duration::from_millis(all))
    }
}

/// A non-negative decimal as whole part and thousandths: `60`, `60.9`.
fn decimal(text: &str) -> Option<(u64, u64)> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let thousandths = fraction.bytes().chain(*b"000").take(3).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Some((whole.parse().unwrap_or(u64::MAX), thousandths))
}

/// The items of a list of structured fields, each as its parameters. Text in quotes may hold separators.
fn items(text: &str) -> Vec<Vec<(&str, &str)>> {
    split(text, b',')
        .take(MAX_ITEMS)
        .map(|item| split(item, b';').take(MAX_ITEMS).map(|part| part.split_once('=').unwrap_or(("", part))).collect())
        .collect()
}

fn split(text: &str, at: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (mut quoted, mut escaped) = (false, false);
        let end = text.bytes().position(|byte| {
            if escaped {
                escaped = false;
            } else if byte == b'\\' && quoted {
                escaped = true;
            } else if byte == b'"' {
                quoted = !quoted;
            } else {
                return byte == at && !quoted;
            }
            false
        });
        let (part, after) = end.map_or((text, None), |end| (&text[..end], Some(&text[end + 1..])));
        rest = after;
        Some(part.trim())
    })
}

/// `"default";r=50;t=30` (draft 8 and later), or `limit=100, remaining=50, reset=30` (drafts 6 and 7).
fn structured(text: &str) -> RateSnapshot {
    let all = items(text);
    let number = |item: &[(&str, &str)], name: &str| {
        item.iter().find(|(key, _)| key.trim() == name).and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    let old = |name: &str| all.iter().find_map(|item| number(item, name));
    let seconds = |seconds: u64| Reset::In(Duration::from_secs(seconds));
    let tightest = all
        .iter()
        .filter_map(|item| Some((number(item, "r")?, std::cmp::Reverse(number(item, "t").unwrap_or(0)))))
        .min();
    match tightest {
        Some((remaining, std::cmp::Reverse(reset))) => {
            RateSnapshot { remaining: Some(remaining), reset: Some(seconds(reset)), ..RateSnapshot::default() }
        }
        None => RateSnapshot {
            limit: old("limit"),
            remaining: old("remaining"),
            reset: old("reset").map(seconds),
            ..RateSnapshot::default()
        },
    }
}

/// The first quota and window: `"burst";q=100;w=60`, or `100;w=60`.
fn policy(text: &str) -> Option<(u64, Option<Duration>)> {
    items(text).iter().find_map(|item| {
        let number = |name: &str| {
            item.iter().find(|(key, _)| key.trim() == name).and_then(|(_, value)| value.trim().parse::<u64>().ok())
        };
        let quota = number("q").or_else(|| item.first().filter(|(key, _)| key.is_empty())?.1.parse().ok())?;
        Some((quota, number("w").map(Duration::from_secs)))
    })
}
