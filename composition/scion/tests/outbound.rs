//! The way out as the environment describes it.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use scion::domain::json::Json;
use scion::domain::refusal::Refusal as _;
use scion::http::{Bearer, GovernedClient, Outbound};
use scion_lab::{Answer, Lab, LabBuilder, TestCa, TlsSetup};

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R008, SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn profiles_and_mounted_secrets_come_from_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let ca = TestCa::new("Lab");
    let lab = LabBuilder::tls(Lab::builder(), TlsSetup::new(ca.server(&["localhost"])))
        .scripted(|received| Answer::ok(format!("{:?}", received.header("authorization").unwrap_or_default())).into())
        .await;
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("ca.pem"), ca.pem()).unwrap();
    std::fs::write(path("token"), "mounted-token\n").unwrap();
    std::fs::write(path("outbound.yaml"), format!("tls:\n  lab:\n    ca: {}\n", path("ca.pem"))).unwrap();
    let (file, root) = (path("outbound.yaml"), dir.path().display().to_string());
    let set = environment(&[("SCION_OUTBOUND_CONFIG", &file), ("SCION_SECRET_DIRS", &root)]);
    let ports = Outbound::from_environment(set).unwrap().ports();
    let client = |tls: Option<&str>| {
        let builder = GovernedClient::builder("desk").base_url(lab.url_as("localhost", "/").as_str()).unwrap();
        let builder = builder.allow_loopback().auth(Bearer::reference(&format!("file://{}", path("token"))));
        match tls {
            Some(name) => builder.tls_profile(name),
            None => builder,
        }
    };
    let answer: Json = client(Some("lab")).build_with(&ports).await.unwrap().get("/x").json().await.unwrap();
    assert_eq!(answer, Json::from("Bearer mounted-token"));
    let plain = client(None).build_with(&ports).await.unwrap().get("/x").json::<Json>().await.unwrap_err();
    assert_eq!(plain.code(), "http_tls_failed");
    assert_eq!(client(Some("nobody")).build_with(&ports).await.unwrap_err().code(), "http_unknown_profile");
}

#[test]
fn a_bad_environment_is_refused_by_name() {
    let code = |pairs: &[(&str, &str)]| Outbound::from_environment(environment(pairs)).unwrap_err().code();
    assert_eq!(code(&[("SCION_OUTBOUND_CONFIG", "/nowhere/at/all.yaml")]), "outbound_file");
    assert_eq!(code(&[("SCION_CONNECTOR_SECRET_DIRS", "relative")]), "outbound_directories");
    assert_eq!(code(&[("OPENBAO_TOKEN_REF", "hunter2"), ("OPENBAO_ADDR", "https://bao.example")]), "outbound_store");
    assert_eq!(code(&[("OPENBAO_TOKEN_REF", "env://T")]), "outbound_store");
    assert!(Outbound::from_environment(environment(&[("OPENBAO_ADDR", "nonsense")])).is_ok(), "no token, no store");
}

fn example() -> PathBuf {
    let folder = std::env::current_exe().unwrap();
    let path = folder.parent().and_then(Path::parent).unwrap().join("examples").join("vendor_api");
    if !path.is_file() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "scion", "--example", "vendor_api"]);
        assert!(build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
    }
    path
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R001, SDK-CENTRALIZED-CAPABILITIES-R003
#[test]
fn the_example_of_the_documentation_reads_every_page() {
    let run = Command::new(example()).env("GITHUB_TOKEN", "s3cr3t-token").output().unwrap();
    assert!(run.status.success(), "{run:?}");
    assert_eq!(String::from_utf8(run.stdout).unwrap(), "desk/repo-1\ndesk/repo-2\ndesk/repo-3\n");
    let without = Command::new(example()).env_remove("GITHUB_TOKEN").output().unwrap();
    assert!(
        !without.status.success() && String::from_utf8_lossy(&without.stderr).contains("Credential"),
        "{without:?}"
    );
}

/// Proves: SDK-CONNECTOR-CONTROL-R035, SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn a_secret_store_of_the_document_serves_a_connector_below_its_own_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("bao"), "token-of-the-store\n").unwrap();
    let bao = Lab::scripted(|received| {
        if received.header("x-vault-token") != Some("token-of-the-store") {
            return Answer::status(403).into();
        }
        match received.path() {
            "/v1/auth/token/lookup-self" => Answer::ok(r#"{"data":{}}"#).into(),
            "/v1/apps/desk/api" => Answer::ok(r#"{"data":{"token":"kept-token"}}"#).into(),
            _ => Answer::status(404).into(),
        }
    })
    .await;
    let text = format!(
        "secret_store:\n  address: {}\n  login: {{method: token, token_ref: 'file://{}'}}\n  kv: {{apps: '1'}}\n",
        bao.url(""),
        path("bao")
    );
    std::fs::write(path("outbound.yaml"), text).unwrap();
    let (file, root) = (path("outbound.yaml"), dir.path().display().to_string());
    let set = [("SCION_OUTBOUND_CONFIG", file.as_str()), ("SCION_SECRET_DIRS", root.as_str())];
    let ports = Outbound::from_environment(environment(&set)).unwrap().ports();
    let vendor = Lab::always(Answer::ok("{}")).await;
    let client = async |name: &str| {
        let builder = GovernedClient::builder(name).base_url(vendor.url("/").as_str()).unwrap().allow_loopback();
        let client = builder.auth(Bearer::reference("openbao://apps/desk/api#token")).build_with(&ports).await?;
        client.get("/x").json::<Json>().await
    };
    client("desk").await.unwrap();
    assert_eq!(vendor.received()[0].header("authorization"), Some("Bearer kept-token"));
    let (heard, refusal) = (bao.received().len(), client("other").await.unwrap_err());
    assert_eq!(
        (refusal.code(), bao.received().len()),
        ("auth_credential", heard),
        "another connector's path is not asked for"
    );
    let both = [set[0], set[1], ("OPENBAO_TOKEN_REF", "env://T"), ("OPENBAO_ADDR", "https://bao.example")];
    assert_eq!(Outbound::from_environment(environment(&both)).unwrap_err().code(), "outbound_two_stores");
}
