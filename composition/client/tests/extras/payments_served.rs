//! From the line a caller writes to the payment and its record.

use std::sync::Arc;
use std::time::Duration;

use scion_client::GovernedClient;
use scion_domain::json::{Json, parse};
use scion_domain::work::ApprovalState;
use scion_lab::{Answer, Behaviour, Lab, Received};
use scion_mcp_server::{ServeOptions, serve_io};
use scion_serve::{Connector, Identity, ServedSurface, Tool, ToolRefusal};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::support::{Desk, PROOF, Till, budget, builder, challenge, context, ports};

fn surface(client: GovernedClient, desk: Arc<Desk>) -> ServedSurface {
    let buy = Tool::read("buy_report").description("Buys a report.").handle(move |_, _| {
        let (client, desk) = (client.clone(), desk.clone());
        async move {
            let context = context(desk, "call-1");
            Ok::<Json, ToolRefusal>(client.get("/report").pay_in(&context).json().await?)
        }
    });
    Connector::builder(Identity::new("desk-mcp", "1")).tool(buy).build().unwrap()
}

/// Serves over a stream and calls the tool as a client of the protocol does; answers the result's text.
async fn call(surface: ServedSurface) -> (bool, String) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    let server = tokio::spawn(serve_io(Arc::new(surface), read, write, ServeOptions::default()));
    let (read, mut write) = tokio::io::split(near);
    let mut lines = BufReader::new(read).lines();
    for message in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"buy_report","arguments":{}}}"#,
    ] {
        write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let answer = loop {
        let line = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await.unwrap().unwrap().unwrap();
        let message = parse(&line).unwrap();
        if message.get("id") == Some(&1.into()) {
            break message;
        }
    };
    drop((write, lines));
    let _ = tokio::time::timeout(Duration::from_secs(20), server).await.unwrap();
    let result = answer.get("result").unwrap();
    let text = result.get("content").unwrap().as_array().unwrap()[0].get("text").unwrap().as_str().unwrap();
    (result.get("isError") == Some(&true.into()), text.to_owned())
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.6
#[tokio::test]
async fn a_served_operation_pays_within_its_budget_and_refuses_over_it() {
    let shop = |received: &Received| -> Behaviour {
        match received.header("x-payment") {
            Some(_) => Answer::ok(r#"{"report": "ready"}"#).into(),
            None => Answer::status(402).body(challenge("10000")).into(),
        }
    };
    let lab = Lab::scripted(shop).await;
    let till = Till::new();
    let client = builder(&lab).payments(till.payments(budget("0.01", "0.01"))).build_with(&ports()).await.unwrap();
    let (failed, text) = call(surface(client.clone(), Desk::new(ApprovalState::Approved))).await;
    assert!(!failed && text.contains("ready"), "{text}");
    let (failed, text) = call(surface(client, Desk::new(ApprovalState::Approved))).await;
    assert!(failed && text.contains("payment_over_budget") && text.contains("per_day"), "{text}");
    assert_eq!(till.book.outcomes(), [("paid", None), ("refused", Some("over_budget"))]);
    let received = lab.received();
    assert_eq!(received.iter().filter(|received| received.contains(PROOF)).count(), 1);
    assert_eq!(received.len(), 3);
}
