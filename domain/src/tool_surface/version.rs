//! The version a tool carries.

use super::ToolSurfaceRefusal;
use crate::json::{Json, JsonObject};

/// The version of one tool: one word of at most 64 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolVersion(String);

impl ToolVersion {
    /// The member of a tool's `_meta` that holds its version.
    pub const META_KEY: &'static str = "tool_version";

    /// Takes a version as it is, or refuses it.
    pub fn parse(version: &str) -> Result<Self, ToolSurfaceRefusal> {
        let fits = (1..=64).contains(&version.len()) && version.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(version.to_owned())) } else { Err(ToolSurfaceRefusal::Version) }
    }

    /// The version.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The description with a last line `Version: <version>`. A line that says so already is replaced, so that stamping
    /// twice says one thing.
    pub fn stamp(&self, description: Option<&str>) -> String {
        let kept = description.unwrap_or_default().lines().filter(|line| !line.trim_start().starts_with("Version: "));
        let text = kept.collect::<Vec<_>>().join("\n");
        let line = format!("Version: {}", self.0);
        if text.trim().is_empty() { line } else { format!("{}\n\n{line}", text.trim_end()) }
    }

    /// Adds the version to a tool's `_meta`.
    pub fn mark(&self, meta: &mut JsonObject) {
        meta.insert(Self::META_KEY.to_owned(), Json::from(self.as_str()));
    }
}
