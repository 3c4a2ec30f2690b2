//! The callback listener on real sockets, and the browser launcher.
#![allow(clippy::disallowed_methods, reason = "the tests are the browser")]
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::time::Duration;

use scion_domain::auth::PkceRefusal;
use scion_domain::http::Url;
use scion_local::{LoopbackCallback, SystemBrowser};
use scion_ports::{BrowserLauncher, CallbackListener, OpenCallback};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

async fn open() -> (Box<dyn OpenCallback>, String) {
    let open = LoopbackCallback.open().await.unwrap();
    let url = Url::parse(open.redirect_url()).unwrap();
    assert_eq!((url.host_str(), url.path()), (Some("127.0.0.1"), "/callback"));
    let address = format!("127.0.0.1:{}", url.port().unwrap());
    (open, address)
}

async fn send(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

fn get(address: &str, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n")
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.11, SDK-CONNECTOR-CONTROL-R046.2
#[tokio::test]
async fn one_callback_is_taken_and_the_port_closes() {
    let (mut callback, address) = open().await;
    let answer = send(&address, &get(&address, "/callback?code=c0de&state=s")).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("connection: close"), "{answer}");
    assert!(!answer.contains("c0de"), "the page repeats nothing");
    let url = callback.answer().await.unwrap();
    assert_eq!(*url.expose(), format!("http://{address}/callback?code=c0de&state=s"));
    let again = send(&address, &get(&address, "/callback?code=c0de&state=s")).await;
    assert!(again.starts_with("HTTP/1.1 409 "), "{again}");
    assert!(callback.answer().await.is_ok(), "the login hears of the replay");
    drop(callback);
    for _ in 0..50 {
        if TcpStream::connect(&address).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the port stays open");
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.11
#[tokio::test]
async fn everything_else_is_turned_away() {
    let (mut callback, address) = open().await;
    let long = format!("/callback?{}", "a".repeat(20_000));
    for (request, status) in [
        (get(&address, "/favicon.ico"), 404),
        (get(&address, "/callback/x?code=c"), 404),
        (get(&address, "/"), 404),
        (get(&address, "http://evil.example/callback?code=c"), 404),
        (get("evil.example", "/callback?code=c"), 400),
        ("GET /callback?code=c HTTP/1.1\r\n\r\n".to_owned(), 400),
        (format!("GET /callback?code=c HTTP/1.1\r\nHost: {address}\r\nHost: {address}\r\n\r\n"), 400),
        (format!("POST /callback?code=c HTTP/1.1\r\nHost: {address}\r\n\r\n"), 405),
        ("nonsense\r\n\r\n".to_owned(), 400),
        (get(&address, "/callback?code=\u{e4}"), 400),
        (get(&address, &long), 431),
    ] {
        let answer = send(&address, &request).await;
        // An answer to a request that is too large may be lost in the reset that follows it.
        let reset = status == 431 && answer.is_empty();
        assert!(reset || answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:.60}: {answer:.60}");
    }
    let nothing = tokio::time::timeout(Duration::from_millis(50), callback.answer()).await;
    assert!(nothing.is_err(), "one of them was taken for a callback");
}

#[tokio::test]
async fn silent_connections_do_not_hold_the_callback_up() {
    let (mut callback, address) = open().await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(TcpStream::connect(&address).await.unwrap());
    }
    let answer = tokio::time::timeout(Duration::from_secs(5), send(&address, &get(&address, "/callback?code=c"))).await;
    assert!(answer.unwrap().starts_with("HTTP/1.1 200 "));
    assert!(callback.answer().await.is_ok());
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4
#[tokio::test]
async fn a_browser_that_cannot_be_started_is_a_refusal() {
    let url = Url::parse("https://i.example/a?x=$(touch%20x);&y=1").unwrap();
    let missing = SystemBrowser::command("scion-no-such-browser", &[]);
    assert_eq!(missing.launch(&url).await, Err(PkceRefusal::BrowserLaunchFailed));
    assert_eq!(SystemBrowser::command("false", &[]).launch(&url).await, Err(PkceRefusal::BrowserLaunchFailed));
    assert_eq!(SystemBrowser::command("true", &[]).launch(&url).await, Ok(()));
    let file = Url::parse("file:///etc/passwd").unwrap();
    assert_eq!(SystemBrowser::command("true", &[]).launch(&file).await, Err(PkceRefusal::BrowserLaunchFailed));
    // One argument, whatever is in it.
    let exact = SystemBrowser::command("test", &[url.as_str(), "="]);
    assert_eq!(exact.launch(&url).await, Ok(()));
}
