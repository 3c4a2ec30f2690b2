//! The client as an author sees it.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use scion::domain::refusal::Refusal as _;
use scion::http::{Bearer, BuildClient as _, GovernedClient, LinkHeader, SafeCall, per_second, safe_get_json};

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
