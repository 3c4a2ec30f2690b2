//! `mcp-runner-client URL`: the test client.
fn main() {}
