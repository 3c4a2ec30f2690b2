//! The two forms of a log line.

use std::fmt::Write as _;

use scion::sync::events::EventLevel;
use scion_domain::json::{Json, JsonObject, to_spaced};

use crate::output::printable;

/// One line.
pub(crate) struct LogLine<'l> {
    /// When, as [`stamp`](super::stamp) writes it.
    pub(crate) time: String,
    /// How important.
    pub(crate) level: EventLevel,
    /// Which part of the program.
    pub(crate) logger: &'l str,
    /// For people.
    pub(crate) message: &'l str,
    /// For machines. A field named like a standard member replaces it.
    pub(crate) fields: JsonObject,
}

pub(crate) fn level_name(level: EventLevel) -> &'static str {
    match level {
        EventLevel::Debug => "DEBUG",
        EventLevel::Info => "INFO",
        EventLevel::Warning => "WARNING",
        EventLevel::Error => "ERROR",
    }
}

impl LogLine<'_> {
    /// One JSON object with sorted keys, escaped to ASCII.
    pub(crate) fn json(self) -> String {
        let mut members = self.fields;
        let standard = [
            ("time", self.time.as_str()),
            ("level", level_name(self.level)),
            ("logger", self.logger),
            ("message", self.message),
        ];
        for (name, value) in standard {
            members.entry(name.to_owned()).or_insert_with(|| Json::from(value));
        }
        to_spaced(&Json::Object(members))
    }

    /// `time level logger message`, the code of a refusal in brackets, and what to do next.
    pub(crate) fn text(self) -> String {
        let Self { time, level, logger, message, fields } = self;
        // Writing to a String cannot fail.
        let mut out = format!("{time} {} {logger} {}", level_name(level), printable(message));
        let text = |name: &str| fields.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
        if let Some(code) = text("code") {
            let _ = write!(out, " [{}]", printable(code));
        }
        if let Some(next) = text("next") {
            let _ = write!(out, "; next: {}", printable(next));
        }
        if let Some(Json::Number(seconds)) = fields.get("retry_in") {
            let _ = write!(out, "; tries again in {} s", seconds.as_text());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use scion_domain::json::parse;

    use super::*;

    fn level(name: &str) -> EventLevel {
        match name {
            "INFO" => EventLevel::Info,
            "WARNING" => EventLevel::Warning,
            "ERROR" => EventLevel::Error,
            other => panic!("{other}"),
        }
    }

    /// The vectors show the logger of the peer; ours is named by the caller, so the tests use the peer's.
    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R032
    #[test]
    fn every_log_line_of_the_vectors() {
        let text = include_str!("../../../../conformance/vectors/runner.json");
        let vectors = parse(text).unwrap();
        let cases = vectors.get("log_lines").and_then(Json::as_array).unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let member = |name: &str| case.get(name).and_then(Json::as_str).unwrap();
            let argument = case.get("args").and_then(Json::as_array).unwrap().first().and_then(Json::as_str);
            let message = member("message").replace("%s", argument.unwrap_or_default());
            let line = LogLine {
                time: "<time>".into(),
                level: level(member("level")),
                logger: "agent_connector_sdk.runner.worker",
                message: &message,
                fields: case.get("fields").and_then(Json::as_object).cloned().unwrap_or_default(),
            };
            assert_eq!(line.json(), member("line"));
            let shape: String =
                crate::logging::stamp(std::time::SystemTime::now()).replace(|c: char| c.is_ascii_digit(), "0");
            assert_eq!(shape, member("time_shape"));
        }
    }

    #[test]
    fn text_is_one_line_whatever_a_message_holds() {
        let fields = [("code", "tool_failed"), ("next", "look"), ("other", "hidden")];
        let mut fields: JsonObject = fields.map(|(key, value)| (key.to_owned(), Json::from(value))).into();
        fields.insert("retry_in".into(), parse("5.0").unwrap());
        let time = "2026-01-02T03:04:05+0000".to_owned();
        let line = LogLine { time, level: EventLevel::Error, logger: "l", message: "a\nb\u{1b}", fields };
        assert_eq!(
            line.text(),
            "2026-01-02T03:04:05+0000 ERROR l a\\nb\\u{1b} [tool_failed]; next: look; tries again in 5.0 s"
        );
    }
}
