//! The pin of a tool: what a caller agreed to, as digests.

use std::collections::BTreeMap;

use crate::fingerprint::{self, FingerprintRefusal, ToolShape};
use crate::id::Digest256;
use crate::json::Json;
use crate::mcp::ToolDescription;
use crate::refusals;

refusals! {
    /// Why recorded pins cannot be read.
    pub enum PinRefusal {
        /// It is no certification report.
        NotAReport { what: &'static str } => "pins_not_a_report", CallerMistake, Never,
            "the pins are not a certification report: {what}", "pass a file that connector-certify --report wrote";
        /// The report it comes from did not pass.
        NotPassed => "pins_not_passed", CallerMistake, Never,
            "the pins come from a report that did not pass", "pass the report of a run that passed";
    }
}

/// What certification records of a tool. None of its digests can be empty: a missing output schema has a digest of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolPin {
    /// The compatibility fingerprint.
    pub live: Digest256,
    /// The exact fingerprint: titles, descriptions and examples count too.
    pub exact: Digest256,
    /// The normalised input schema.
    pub input_schema: Digest256,
    /// The normalised output schema.
    pub output_schema: Digest256,
}

impl ToolPin {
    /// Computes the pin of a tool from its schemas.
    pub fn of(tool: &ToolDescription) -> Result<Self, FingerprintRefusal> {
        let shape = ToolShape::from(tool);
        Ok(Self {
            live: fingerprint::compatibility(shape)?,
            exact: fingerprint::exact(shape)?,
            input_schema: fingerprint::output_schema(Some(shape.input_schema)),
            output_schema: fingerprint::output_schema(shape.output_schema),
        })
    }
}

/// The pins of an earlier report: tool to fingerprint and digest of the output schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedPins {
    /// By tool.
    pub tools: BTreeMap<String, (Digest256, Digest256)>,
}

impl RecordedPins {
    /// Reads them from a report, ours or the peer's.
    pub fn from_report(report: &Json) -> Result<Self, PinRefusal> {
        let bad = |what| PinRefusal::NotAReport { what };
        if report.get("passed").and_then(Json::as_bool).ok_or(bad("`passed` is missing"))? {
            let tools = report.get("tools").and_then(Json::as_array).ok_or(bad("`tools` is missing"))?;
            let digest = |tool: &Json, name| {
                let text = tool.get(name).and_then(Json::as_str).ok_or(bad("a tool has no digests"))?;
                Digest256::parse_hex(text).map_err(|_| bad("a digest is not 64 lower-case hex digits"))
            };
            let read = |tool: &Json| {
                let name = tool.get("tool").and_then(Json::as_str).ok_or(bad("a tool has no name"))?;
                Ok((name.to_owned(), (digest(tool, "live")?, digest(tool, "output_schema_sha256")?)))
            };
            return Ok(Self { tools: tools.iter().map(read).collect::<Result<_, PinRefusal>>()? });
        }
        Err(PinRefusal::NotPassed)
    }

    /// Recomputes the pin of a live tool and says which side differs from the recorded one; `None` when it agrees, or was not
    /// recorded.
    pub fn differs(&self, tool: &str, pin: &ToolPin) -> Option<&'static str> {
        let (live, output) = self.tools.get(tool)?;
        if *output != pin.output_schema {
            return Some("output schema");
        }
        (*live != pin.live).then_some("input schema")
    }
}
