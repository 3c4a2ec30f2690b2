//! `scion new` makes a package that compiles and whose tests pass.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

/// Proves: SDK-CONNECTOR-CONTROL-R019.1
#[test]
fn a_new_connector_compiles_and_its_tests_pass() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let scion = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scion"));
        command.args(["new", name, "--dir"]).arg(folder.path()).arg("--sdk").arg(checkout).output().unwrap()
    };
    let made = scion("my-connector");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for (name, code) in [("my-connector", "project_exists"), ("My_Connector", "project_name_invalid")] {
        let refused = scion(name);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(1) && said.starts_with(&format!("error[{code}]: ")), "{said}");
    }
    let project = folder.path().join("my-connector");
    // The versions that are known to be here, because nothing may be fetched.
    std::fs::copy(checkout.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| checkout.join("target").into_os_string());
    let tested = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--quiet"])
        .env("CARGO_TARGET_DIR", target)
        .current_dir(&project)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tested.stdout).into_owned() + &String::from_utf8_lossy(&tested.stderr);
    assert!(tested.status.success() && said.contains("2 passed"), "{said}");
}
