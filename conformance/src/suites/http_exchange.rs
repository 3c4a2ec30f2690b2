//! The suite of [`HttpDialer`] and [`HttpExchange`], over real sockets on loopback. It brings its own servers, so that any
//! implementation can be run on it; it must not run in paused time.
//!
//! What needs TLS is not here: that https never becomes http, and certificates.

mod bounds;
mod server;

use std::sync::Arc;
use std::time::Duration;

use scion_domain::egress::EgressPolicy;
use scion_domain::http::{
    Bytes, ExchangeLimits, HeaderValue, HttpProfile, HttpRefusal, Method, OutboundRequest, RedirectRule, Url, header,
};
use scion_ports::{HttpDialer, HttpExchange};

use crate::report::Report;
use crate::{ensure, must};
use server::{Server, Then};

type Checked = Result<(), String>;

/// A text that must not come out anywhere.
const SECRET: &str = "correct-horse-battery-staple";

/// How long a check waits before it calls an exchange hung.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs every check.
pub async fn run(dialer: &dyn HttpDialer) -> Report {
    let mut report = Report::new("HttpExchange");
    report.add("O1", "a_refused_destination_is_not_dialled", refused_destination(dialer).await);
    report.add("O1", "a_redirect_is_checked_like_a_first_request", refused_redirect(dialer).await);
    report.add("O2", "the_body_is_bounded", bounds::body(dialer).await);
    report.add("O2", "a_decoded_body_is_bounded", bounds::decoded_body(dialer).await);
    report.add("O2", "header_fields_are_counted", bounds::header_count(dialer).await);
    report.add("O2", "header_fields_are_weighed", bounds::header_weight(dialer).await);
    report.add("O2", "redirects_are_counted", bounds::redirects(dialer).await);
    report.add("O2", "a_connection_stands_in_time", bounds::connect(dialer).await);
    report.add("O2", "silence_ends_the_exchange", bounds::idle(dialer).await);
    report.add("O2", "the_total_ends_the_exchange", bounds::total(dialer).await);
    report.add("O3", "redirects_follow_the_rule", redirect_rule(dialer).await);
    report.add("O3", "credentials_stay_at_their_origin", credentials(dialer).await);
    report.add("O4", "every_status_is_an_answer", statuses(dialer).await);
    report.add("O4", "no_answer_is_a_refusal_that_says_what_is_known", no_answer(dialer).await);
    report.add("O5", "nothing_secret_is_shown", hidden(dialer).await);
    report.add("O6", "dropping_a_request_ends_it", dropped_request(dialer).await);
    report.add("BodyStream O1", "the_end_of_a_body_stays", body_end(dialer).await);
    report.add("BodyStream O2", "dropping_a_body_ends_the_exchange", dropped_body(dialer).await);
    report.add("HttpDialer", "a_profile_nobody_configured_is_refused", unknown_profile(dialer).await);
    report
}

/// A client that may reach loopback.
async fn open(dialer: &dyn HttpDialer) -> Result<Arc<dyn HttpExchange>, String> {
    let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
    Ok(must!(dialer.open(&HttpProfile { egress, ..HttpProfile::default() }).await, "open"))
}

fn request(url: Url) -> OutboundRequest {
    let limits = ExchangeLimits { connect: PATIENCE, idle: PATIENCE, total: PATIENCE * 2, ..ExchangeLimits::default() };
    OutboundRequest { limits, ..OutboundRequest::new(Method::GET, url) }
}

/// Sends and reads to the end; an exchange that outlives the patience of the suite is an error of the check.
async fn whole(
    client: &dyn HttpExchange,
    request: OutboundRequest,
) -> Result<Result<(u16, Bytes), HttpRefusal>, String> {
    let exchange = async {
        let mut answer = client.send(request).await?;
        Ok((answer.head.status.as_u16(), answer.bytes().await?))
    };
    tokio::time::timeout(PATIENCE, exchange).await.map_err(|_| "the exchange hangs".to_owned())
}

async fn refused_destination(dialer: &dyn HttpDialer) -> Checked {
    let server = must!(Server::always(b"HTTP/1.1 200 OK\r\n\r\n", Then::Close).await, "listen");
    let client = must!(dialer.open(&HttpProfile::default()).await, "open");
    match whole(&*client, request(server.url("/"))).await? {
        Err(refusal @ HttpRefusal::Destination { .. }) => {
            ensure!(refusal.before_sending(), "a refused destination may have been sent to");
        }
        other => return Err(format!("loopback under a strict policy: {other:?}")),
    }
    ensure!(server.connections() == 0, "a refused destination was dialled");
    Ok(())
}

async fn refused_redirect(dialer: &dyn HttpDialer) -> Checked {
    let inside = must!(Server::always(b"HTTP/1.1 200 OK\r\n\r\n", Then::Close).await, "listen");
    let place = format!("http://localhost:{}/", inside.url("/").port().unwrap_or_default());
    let outside = must!(Server::redirect(302, &place).await, "listen");
    let allowed_private_hosts = vec!["127.0.0.1".to_owned()];
    let egress = EgressPolicy { allowed_private_hosts, ..EgressPolicy::default() };
    let client = must!(dialer.open(&HttpProfile { egress, ..HttpProfile::default() }).await, "open");
    let request = OutboundRequest { redirects: RedirectRule::Follow(3), ..request(outside.url("/")) };
    match whole(&*client, request).await? {
        Err(refusal) => ensure!(!refusal.before_sending(), "{refusal:?} denies the first request"),
        Ok(answer) => return Err(format!("a redirect to a refused place was followed to {answer:?}")),
    }
    ensure!(inside.connections() == 0, "a refused redirect was dialled");
    Ok(())
}

async fn redirect_rule(dialer: &dyn HttpDialer) -> Checked {
    let client = open(dialer).await?;
    let end = must!(Server::always(b"HTTP/1.1 200 OK\r\n\r\nend", Then::Close).await, "listen");
    let start = must!(Server::redirect(302, end.url("/end").as_str()).await, "listen");
    let returned = must!(whole(&*client, request(start.url("/"))).await?, "send");
    ensure!(returned.0 == 302 && end.connections() == 0, "a redirect was followed unasked");
    let follow = OutboundRequest { redirects: RedirectRule::Follow(1), ..request(start.url("/")) };
    let mut answer = must!(client.send(follow).await, "follow");
    ensure!(must!(answer.bytes().await, "read") == "end", "a redirect was not followed");
    ensure!(answer.head.redirects == 1 && answer.head.url == end.url("/end"), "the head names another place");
    Ok(())
}

async fn credentials(dialer: &dyn HttpDialer) -> Checked {
    let client = open(dialer).await?;
    let away = must!(Server::always(b"HTTP/1.1 200 OK\r\n\r\n", Then::Close).await, "listen");
    let home = must!(Server::redirect(302, away.url("/").as_str()).await, "listen");
    let mut sent = OutboundRequest { redirects: RedirectRule::Follow(1), ..request(home.url("/")) };
    let mut marked = HeaderValue::from_static(SECRET);
    marked.set_sensitive(true);
    sent.headers.insert("x-vendor-key", marked);
    for name in [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION] {
        sent.headers.insert(name, HeaderValue::from_static(SECRET));
    }
    sent.headers.insert("x-note", HeaderValue::from_static("kept"));
    must!(whole(&*client, sent).await?, "send");
    ensure!(home.heads().first().is_some_and(|head| head.contains(SECRET)), "the first request lacks its credentials");
    let heads = away.heads();
    let arrived = heads.first().ok_or("the redirect was not followed")?;
    ensure!(!arrived.contains(SECRET), "credentials reached another origin");
    ensure!(arrived.contains("kept"), "a harmless header field was dropped");
    Ok(())
}

async fn statuses(dialer: &dyn HttpDialer) -> Checked {
    let client = open(dialer).await?;
    for status in [201, 302, 400, 401, 404, 429, 500, 503] {
        let raw = format!("HTTP/1.1 {status} Word\r\ncontent-length: 2\r\n\r\nok");
        let server = must!(Server::always(raw.as_bytes(), Then::Close).await, "listen");
        let answer = must!(whole(&*client, request(server.url("/"))).await?, "an answer");
        ensure!(answer == (status, Bytes::from_static(b"ok")), "{status} became {answer:?}");
    }
    Ok(())
}

async fn no_answer(dialer: &dyn HttpDialer) -> Checked {
    let client = open(dialer).await?;
    let mut server = must!(Server::always(b"", Then::Close).await, "listen");
    match whole(&*client, request(server.url("/"))).await? {
        Ok(answer) => return Err(format!("a closed connection answered {answer:?}")),
        Err(refusal) => ensure!(!refusal.before_sending(), "{refusal:?} denies that a request went out"),
    }
    server.stop().await;
    match whole(&*client, request(server.url("/"))).await? {
        Ok(answer) => Err(format!("nobody answered {answer:?}")),
        Err(refusal) if refusal.before_sending() => Ok(()),
        Err(refusal) => Err(format!("{refusal:?} where nobody listens")),
    }
}

async fn hidden(dialer: &dyn HttpDialer) -> Checked {
    let client = open(dialer).await?;
    let noise = format!("{SECRET}\r\n\r\n");
    let failing = must!(Server::always(noise.as_bytes(), Then::Close).await, "listen");
    let raw = format!("HTTP/1.1 200 OK\r\nx-secret: {SECRET}\r\n\r\n{SECRET}");
    let answering = must!(Server::always(raw.as_bytes(), Then::Close).await, "listen");
    for server in [failing, answering] {
        let mut sent = request(server.url(&format!("/?key={SECRET}")));
        sent.method = Method::POST;
        sent.headers.insert(header::AUTHORIZATION, HeaderValue::from_static(SECRET));
        sent.body = Bytes::from_static(SECRET.as_bytes());
        let shown = match client.send(sent).await {
            Ok(answer) => format!("{answer:?}"),
            Err(refusal) => format!("{refusal:?} {refusal}"),
        };
        ensure!(!shown.contains(SECRET), "a secret is shown: {}", shown.replace(SECRET, "***"));
    }
    Ok(())
}

async fn dropped_request(dialer: &dyn HttpDialer) -> Checked {
    let client = open(dialer).await?;
    let server = must!(Server::always(b"", Then::Hold).await, "listen");
    let sent = tokio::time::timeout(Duration::from_millis(100), client.send(request(server.url("/")))).await;
    ensure!(sent.is_err(), "a silent server answered");
    ensure!(server.closes_within(PATIENCE / 3).await, "a dropped request keeps its connection");
    Ok(())
}

async fn body_end(dialer: &dyn HttpDialer) -> Checked {
    let client = open(dialer).await?;
    let whole = must!(Server::always(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", Then::Close).await, "listen");
    let mut answer = must!(client.send(request(whole.url("/"))).await, "send");
    must!(answer.bytes().await, "read");
    for _ in 0..2 {
        ensure!(answer.body.chunk().await == Ok(None), "something comes after the end");
    }
    let torn = must!(Server::always(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", Then::Close).await, "listen");
    let mut answer = must!(client.send(request(torn.url("/"))).await, "send");
    let Err(first) = answer.bytes().await else { return Err("a torn body is whole".into()) };
    for _ in 0..2 {
        ensure!(answer.body.chunk().await == Err(first.clone()), "the refusal is forgotten");
    }
    Ok(())
}

async fn dropped_body(dialer: &dyn HttpDialer) -> Checked {
    let client = open(dialer).await?;
    let server = must!(Server::always(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", Then::Hold).await, "listen");
    let answer = must!(client.send(request(server.url("/"))).await, "send");
    drop(answer);
    ensure!(server.closes_within(PATIENCE / 3).await, "a dropped body keeps its connection");
    Ok(())
}

async fn unknown_profile(dialer: &dyn HttpDialer) -> Checked {
    let name = || Some("nobody-configured-this".to_owned());
    for profile in
        [HttpProfile { tls: name(), ..HttpProfile::default() }, HttpProfile { proxy: name(), ..HttpProfile::default() }]
    {
        let refusal = dialer.open(&profile).await.err();
        ensure!(matches!(refusal, Some(HttpRefusal::UnknownProfile { .. })), "an unknown profile: {refusal:?}");
    }
    Ok(())
}
