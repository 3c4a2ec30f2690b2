//! A report as a document.

use super::report::{CertificationReport, ToolVerdict};
use crate::canonical::write_text;
use crate::json::{Json, JsonObject, to_compact};

/// The member of a report that holds what we add to the peer's.
pub const REPORT_MEMBER: &str = "scion";
/// The version of what is in that member.
pub const REPORT_SCHEMA: u64 = 1;

impl CertificationReport {
    /// The document: the members of the peer's report, and `scion`.
    pub fn to_json(&self) -> Json {
        let mut members = self.peer_members();
        members.insert(REPORT_MEMBER.to_owned(), self.additions());
        members.into()
    }

    /// The document as text: keys sorted, two blanks of indent, ASCII, one final newline.
    pub fn to_text(&self) -> String {
        pretty(&self.to_json())
    }

    /// The members that the peer's report has, as it has them.
    pub fn peer_members(&self) -> JsonObject {
        let reason = self.refusal.as_ref().map_or_else(String::new, ToString::to_string);
        let texts = [
            ("connector", self.connector.as_str()),
            ("server", &self.server),
            ("server_name", &self.server_name),
            ("server_version", &self.server_version),
            ("reason", &reason),
        ];
        let mut members: JsonObject = texts.map(|(name, text)| (name.to_owned(), Json::from(text))).into();
        members.insert("listed".to_owned(), self.listed().into());
        members.insert("passed".to_owned(), self.passed().into());
        let tools: Vec<Json> = self.tools.iter().map(|tool| self.peer_tool(tool)).collect();
        members.insert("tools".to_owned(), tools.into());
        members
    }

    fn peer_tool(&self, verdict: &ToolVerdict) -> Json {
        let failure = self.failure_of(&verdict.tool).and_then(|check| check.problem());
        let (status, live, output, defect) = match (&verdict.outcome, failure) {
            (Ok(pin), None) => ("certified", pin.live.to_hex(), pin.output_schema.to_hex(), String::new()),
            (Ok(_), Some(problem)) => ("tool_unavailable", String::new(), String::new(), problem.message.clone()),
            (Err(found), _) => {
                let all: Vec<String> = found.iter().map(ToString::to_string).collect();
                ("tool_unavailable", String::new(), String::new(), all.join("; "))
            }
        };
        let presets: Vec<Json> = verdict.presets.iter().map(|name| name.as_str().into()).collect();
        Json::from([
            ("defect", Json::from(defect.as_str())),
            ("live", live.as_str().into()),
            ("output_schema_sha256", output.as_str().into()),
            ("presets", presets.into()),
            ("status", status.into()),
            ("tool", verdict.tool.as_str().into()),
        ])
    }

    fn additions(&self) -> Json {
        let mut members = JsonObject::new();
        members.insert("schema".to_owned(), REPORT_SCHEMA.into());
        if let Some(digest) = &self.declaration {
            members.insert("declaration_sha256".to_owned(), digest.to_hex().as_str().into());
            members.insert("protocol_version".to_owned(), self.protocol_version.as_str().into());
        }
        if let Some(refusal) = &self.refusal {
            members.insert("refusal".to_owned(), super::check::Problem::from(refusal.clone()).to_json().into());
        }
        let checks: Vec<Json> = self.checks.iter().map(super::check::Check::to_json).collect();
        members.insert("checks".to_owned(), checks.into());
        let mut tools = JsonObject::new();
        for verdict in &self.tools {
            let entry = match &verdict.outcome {
                Ok(pin) => Json::from([
                    ("exact", Json::from(pin.exact.to_hex().as_str())),
                    ("input_schema_sha256", pin.input_schema.to_hex().as_str().into()),
                ]),
                Err(found) => {
                    let found: Vec<Json> =
                        found.iter().map(|one| super::check::Problem::from(one.clone()).to_json().into()).collect();
                    Json::from([("findings", Json::from(found))])
                }
            };
            tools.insert(verdict.tool.clone(), entry);
        }
        members.insert("tools".to_owned(), tools.into());
        members.into()
    }
}

/// JSON with sorted keys, two blanks of indent, ASCII escapes and one final newline: the form of report files.
pub fn pretty(value: &Json) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out.push('\n');
    out
}

fn write(value: &Json, depth: usize, out: &mut String) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                line(index, depth + 1, out);
                write(item, depth + 1, out);
            }
            line(0, depth, out);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push('{');
            for (index, (name, item)) in members.iter().enumerate() {
                line(index, depth + 1, out);
                write_text(name, out, true);
                out.push_str(": ");
                write(item, depth + 1, out);
            }
            line(0, depth, out);
            out.push('}');
        }
        Json::String(text) => write_text(text, out, true),
        other => out.push_str(&to_compact(other)),
    }
}

fn line(index: usize, depth: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
