//! The client as an author sees it.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use scion::domain::refusal::Refusal as _;
use scion::http::{
    Bearer, BuildClient as _, ClientPorts, GovernedClient, LinkHeader, Outbound, SafeCall, per_second, safe_get_json,
};
use scion_lab::{Answer, Lab};

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R001, SDK-CENTRALIZED-CAPABILITIES-R003
#[tokio::test]
async fn a_client_is_one_expression_and_refuses_what_lies_inside() {
    let client = GovernedClient::builder("desk")
        .base_url("https://desk.example")
        .unwrap()
        .auth(Bearer::env("SCION_TEST_TOKEN_THAT_IS_NOT_SET"))
        .rate_limit(per_second(10))
        .build()
        .await;
    // Whether a missing secret is told now or with the first call is the factory's; it is told before anything is sent.
    let code = match client {
        Ok(client) => client.get("/x").pages(LinkHeader).all::<u64>().await.unwrap_err().code(),
        Err(refusal) => refusal.code(),
    };
    assert_eq!(code, "auth_credential");
    for url in ["https://127.0.0.1:9/", "http://169.254.169.254/latest", "https://10.0.0.1/"] {
        let refusal = safe_get_json(url, &SafeCall::default()).await.unwrap_err();
        assert_eq!(refusal.code(), "client_egress", "{url}");
    }
    let refusal = GovernedClient::builder("desk").base_url("https://192.168.0.1").unwrap().build().await.unwrap_err();
    assert_eq!(refusal.code(), "client_egress");
}

/// Proves: SDK-CONNECTOR-CONTROL-R035, SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn secrets_come_from_the_environment_and_from_the_store_it_names() {
    let bao = Lab::scripted(|received| {
        let known = received.header("x-vault-token") == Some(env!("CARGO_PKG_NAME"));
        match received.path() {
            _ if !known => Answer::status(403),
            "/v1/auth/token/lookup-self" => Answer::ok(r#"{"data":{"ttl":0,"renewable":false}}"#),
            "/v1/sys/internal/ui/mounts/kv" => Answer::ok(r#"{"data":{"type":"kv","options":{"version":"2"}}}"#),
            "/v1/kv/data/desk/api" => Answer::ok(r#"{"data":{"data":{"token":"from-the-store"},"metadata":{}}}"#),
            _ => Answer::status(404),
        }
        .into()
    })
    .await;
    let vendor = Lab::always(Answer::ok("{}")).await;
    let address = bao.url("/").to_string();
    let outbound = |variables: &[(&str, &str)]| {
        Outbound::from_environment(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    };
    let with = |variables: &[(&str, &str)]| outbound(variables).unwrap().ports();
    let call = async |ports: &ClientPorts, auth: Bearer| {
        let builder = GovernedClient::builder("desk").base_url(vendor.url("/").as_str()).unwrap().allow_loopback();
        let client = builder.auth(auth).build_with(ports).await?;
        client.get("/x").bytes().await.map(drop)
    };
    // Cargo sets this variable for every test; it stands for a secret.
    let variable = || Bearer::env("CARGO_PKG_NAME");
    let stored = || Bearer::reference("openbao://kv/desk/api#token");
    let good = with(&[("OPENBAO_ADDR", &address), ("OPENBAO_TOKEN_REF", "env://CARGO_PKG_NAME")]);
    call(&good, variable()).await.unwrap();
    call(&good, stored()).await.unwrap();
    let sent: Vec<_> = vendor.received().iter().map(|sent| sent.header("authorization").map(str::to_owned)).collect();
    assert_eq!(sent, [Some("Bearer scion".to_owned()), Some("Bearer from-the-store".to_owned())]);
    // No store, and an address alone, which other programs of this machine may need: variables resolve all the same.
    for variables in [&[][..], &[("OPENBAO_ADDR", address.as_str())]] {
        let ports = with(variables);
        call(&ports, variable()).await.unwrap();
        let refusal = call(&ports, stored()).await.unwrap_err();
        assert_eq!(refusal.code(), "auth_credential", "{variables:?}");
    }
    // A token without an address, or one that is written out, is refused at the start and not repeated.
    for variables in [
        &[("OPENBAO_TOKEN_REF", "env://CARGO_PKG_NAME")][..],
        &[("OPENBAO_ADDR", address.as_str()), ("OPENBAO_TOKEN_REF", "hunter2")],
    ] {
        let refusal = outbound(variables).unwrap_err();
        assert_eq!(refusal.code(), "outbound_store", "{variables:?}");
        assert!(!format!("{refusal} {refusal:?}").contains("hunter2"));
    }
}
