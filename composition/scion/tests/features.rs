//! Which features bring the MCP runtime into the tree.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

fn tree(features: &str) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "-e", "normal", "--prefix", "none", "-p", "scion", "--no-default-features"])
        .args(["--features", features])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn has_runtime(features: &str) -> bool {
    let runtime = ["rmcp", "scion-mcp-server", "scion-mcp-client"];
    let tree = tree(features);
    assert!(tree.contains("scion-domain"), "the tree was read");
    tree.lines().any(|line| runtime.iter().any(|name| line.split(' ').next() == Some(name)))
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.17
#[test]
fn only_the_mcp_features_bring_the_mcp_runtime() {
    for features in ["", "embedded", "http", "openapi", "embedded,http,openapi,telemetry,otel"] {
        assert!(!has_runtime(features), "`{features}`");
    }
    for features in ["mcp-server", "mcp-client"] {
        assert!(has_runtime(features), "`{features}`");
    }
}
