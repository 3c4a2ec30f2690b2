//! What the official MCP conformance runner (npm `@modelcontextprotocol/conformance`) runs against: a surface that declares the
//! tools, prompts and resources its scenarios name, and the verdict over the results it writes.
//!
//! The verdict is ours because the runner's own exit code takes a scenario without a single check for a pass. See
//! `docs/decisions/0030-the-official-conformance-runner.md`.

pub mod http;
pub mod surface;
pub mod verdict;
