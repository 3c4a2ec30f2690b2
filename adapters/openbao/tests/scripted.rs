//! What a real server cannot be made to do on time: leases to the second, standbys, silence, and callers that go away.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, KvVersion, SecretRef, StoreLogin, StoreSettings};
use scion_domain::http::{Bytes, HeaderMap, HttpRefusal, OutboundRequest, ResponseHead, StatusCode};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_openbao::OpenBao;
use scion_ports::{BodyStream, CredentialProvider, HttpExchange, InboundResponse};
use tokio::time::Instant;

const TEXT: &str = "openbao://apps/desk-mcp/api#token";

/// A store with leases: tokens are numbered and die when their time is over or they are revoked.
struct Fake {
    lives: Mutex<HashMap<String, Instant>>,
    next: AtomicU64,
    /// Of a login and of a renewal.
    seconds: AtomicU64,
    renewed_seconds: AtomicU64,
    renewable: AtomicBool,
    logins: AtomicUsize,
    renewals: AtomicUsize,
    reads: AtomicUsize,
    /// How long each call takes.
    delay: Mutex<Duration>,
    /// The status of every login, renewal and read, where it is not 200.
    login_status: Mutex<u16>,
    renew_status: Mutex<u16>,
    read_status: Mutex<u16>,
    requests: Mutex<Vec<OutboundRequest>>,
}

struct Whole(Option<Bytes>);

#[async_trait]
impl BodyStream for Whole {
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal> {
        Ok(self.0.take())
    }
}

impl Fake {
    fn new(seconds: u64) -> Arc<Self> {
        Arc::new(Self {
            lives: Mutex::default(),
            next: AtomicU64::new(0),
            seconds: AtomicU64::new(seconds),
            renewed_seconds: AtomicU64::new(seconds),
            renewable: AtomicBool::new(true),
            logins: AtomicUsize::new(0),
            renewals: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
            delay: Mutex::new(Duration::from_millis(1)),
            login_status: Mutex::new(200),
            renew_status: Mutex::new(200),
            read_status: Mutex::new(200),
            requests: Mutex::default(),
        })
    }

    fn counts(&self) -> (usize, usize, usize) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        (count(&self.logins), count(&self.renewals), count(&self.reads))
    }

    fn lease(&self, token: &str, seconds: u64) -> String {
        self.lives.lock().unwrap().insert(token.to_owned(), Instant::now() + Duration::from_secs(seconds));
        let renewable = self.renewable.load(Ordering::SeqCst);
        format!(r#"{{"auth":{{"client_token":"{token}","lease_duration":{seconds},"renewable":{renewable}}}}}"#)
    }

    fn answer(&self, request: &OutboundRequest) -> (u16, String) {
        let token = request.headers.get("x-vault-token").map(|value| value.to_str().unwrap().to_owned());
        let alive = token
            .as_ref()
            .is_some_and(|token| self.lives.lock().unwrap().get(token).is_some_and(|until| Instant::now() < *until));
        match request.url.path() {
            "/v1/auth/approle/login" => {
                self.logins.fetch_add(1, Ordering::SeqCst);
                let status = *self.login_status.lock().unwrap();
                let token = format!("t{}", self.next.fetch_add(1, Ordering::SeqCst));
                (status, self.lease(&token, self.seconds.load(Ordering::SeqCst)))
            }
            "/v1/auth/token/renew-self" => {
                self.renewals.fetch_add(1, Ordering::SeqCst);
                let status = *self.renew_status.lock().unwrap();
                match (status, alive) {
                    (200, false) => (403, String::new()),
                    (200, true) => (200, self.lease(&token.unwrap(), self.renewed_seconds.load(Ordering::SeqCst))),
                    (status, _) => (status, String::new()),
                }
            }
            "/v1/auth/token/lookup-self" => (if alive { 200 } else { 403 }, r#"{"data":{}}"#.to_owned()),
            "/v1/apps/data/desk-mcp/api" => {
                self.reads.fetch_add(1, Ordering::SeqCst);
                let status = *self.read_status.lock().unwrap();
                let status = if status == 200 && !alive { 403 } else { status };
                (status, r#"{"data":{"data":{"token":"value"},"metadata":{}}}"#.to_owned())
            }
            other => panic!("{other}"),
        }
    }
}

#[async_trait]
impl HttpExchange for Fake {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        let delay = *self.delay.lock().unwrap();
        tokio::time::sleep(delay).await;
        let (status, body) = self.answer(&request);
        let head = ResponseHead {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            url: request.url.clone(),
            redirects: 0,
        };
        self.requests.lock().unwrap().push(request);
        Ok(InboundResponse { head, body: Box::new(Whole(Some(Bytes::from(body)))) })
    }
}

struct Role;

#[async_trait]
impl CredentialProvider for Role {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        Ok(Secret::new(format!("hunter2 of {}", request.reference)))
    }
}

fn open(fake: &Arc<Fake>) -> Arc<OpenBao> {
    let named = |name: &str| SecretRef::Env { name: name.to_owned() };
    let login = StoreLogin::app_role(named("ROLE_ID"), named("SECRET_ID"));
    let mut settings = StoreSettings::new("https://bao.example/base", login).unwrap();
    settings.address.set_path("/");
    settings.namespace = Some("team/a".into());
    settings.kv.insert("apps".into(), KvVersion::V2);
    let owner = ConnectorName::parse("scion").unwrap();
    Arc::new(OpenBao::new(&settings, fake.clone(), Arc::new(Role), owner).unwrap())
}

fn resolve(store: &Arc<OpenBao>) -> Pin<Box<dyn Future<Output = Result<String, CredentialRefusal>> + Send>> {
    let store = store.clone();
    Box::pin(async move {
        let connector = ConnectorName::parse("desk-mcp").unwrap();
        let request = CredentialRequest { connector, reference: SecretRef::parse(TEXT).unwrap() };
        store.resolve(&request).await.map(|value| value.expose().clone())
    })
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_at_two_thirds_of_its_life() {
    let fake = Fake::new(300);
    let store = open(&fake);
    resolve(&store).await.unwrap();
    tokio::time::advance(Duration::from_secs(199)).await;
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts(), (1, 0, 2));
    tokio::time::advance(Duration::from_secs(1)).await;
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts(), (1, 1, 3));
    // The life starts anew with the renewal.
    tokio::time::advance(Duration::from_secs(199)).await;
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts(), (1, 1, 4));
    // A lease nobody looked after is dead, and its token with it: another login.
    tokio::time::advance(Duration::from_secs(301)).await;
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts(), (2, 1, 5));
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_looked_after_while_nothing_is_resolved() {
    let fake = Fake::new(300);
    let store = open(&fake);
    resolve(&store).await.unwrap();
    let keeping = tokio::spawn({
        let store = store.clone();
        async move { store.keep_renewed().await }
    });
    tokio::time::sleep(Duration::from_secs(1000)).await;
    let (logins, renewals, _) = fake.counts();
    assert_eq!((logins, renewals), (1, 4), "at 200, 400, 600 and 800 seconds");
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts().0, 1);
    keeping.abort();
}

/// The server has a longest life: renewals give less and less. Before the end there is another login.
#[tokio::test(start_paused = true)]
async fn at_the_longest_life_there_is_another_login() {
    let fake = Fake::new(300);
    let store = open(&fake);
    resolve(&store).await.unwrap();
    fake.renewed_seconds.store(100, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(200)).await;
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts(), (1, 1, 2));
    tokio::time::advance(Duration::from_secs(67)).await;
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts(), (2, 1, 3), "the old lease had 33 seconds left");
    // What cannot be renewed at all is replaced at two thirds as well.
    let fake = Fake::new(300);
    fake.renewable.store(false, Ordering::SeqCst);
    let store = open(&fake);
    resolve(&store).await.unwrap();
    tokio::time::advance(Duration::from_secs(200)).await;
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts(), (2, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_renew_now_is_asked_again_later() {
    let fake = Fake::new(300);
    let store = open(&fake);
    resolve(&store).await.unwrap();
    *fake.renew_status.lock().unwrap() = 503;
    tokio::time::advance(Duration::from_secs(200)).await;
    for _ in 0..10 {
        assert_eq!(resolve(&store).await.as_deref(), Ok("value"), "the token lives for 100 seconds more");
    }
    assert_eq!(fake.counts(), (1, 1, 11), "one attempt, and the next when a third of the rest is over");
    tokio::time::advance(Duration::from_secs(34)).await;
    *fake.renew_status.lock().unwrap() = 200;
    resolve(&store).await.unwrap();
    assert_eq!(fake.counts(), (1, 2, 12));
}

#[tokio::test(start_paused = true)]
async fn many_callers_make_one_login_and_share_its_failure() {
    let fake = Fake::new(300);
    let store = open(&fake);
    *fake.delay.lock().unwrap() = Duration::from_millis(50);
    *fake.login_status.lock().unwrap() = 503;
    let together = |store: &Arc<OpenBao>| (0..50).map(|_| tokio::spawn(resolve(store))).collect::<Vec<_>>();
    for task in together(&store) {
        assert!(matches!(task.await.unwrap(), Err(CredentialRefusal::Unavailable { .. })));
    }
    assert_eq!(fake.counts(), (1, 0, 0));
    *fake.login_status.lock().unwrap() = 200;
    for task in together(&store) {
        assert_eq!(task.await.unwrap().as_deref(), Ok("value"));
    }
    assert_eq!(fake.counts(), (2, 0, 50));
    // The token dies; all notice at once and one of them logs in.
    tokio::time::advance(Duration::from_secs(2)).await;
    fake.lives.lock().unwrap().clear();
    for task in together(&store) {
        assert_eq!(task.await.unwrap().as_deref(), Ok("value"));
    }
    assert_eq!(fake.counts().0, 3);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_in_the_middle_of_a_login_takes_nobody_with_it() {
    let fake = Fake::new(300);
    let store = open(&fake);
    *fake.delay.lock().unwrap() = Duration::from_secs(1);
    let first = tokio::spawn(resolve(&store));
    tokio::time::sleep(Duration::from_millis(500)).await;
    let second = tokio::spawn(resolve(&store));
    tokio::time::sleep(Duration::from_millis(100)).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert_eq!(second.await.unwrap().as_deref(), Ok("value"));
    assert_eq!(fake.counts(), (1, 0, 1), "the first never got as far as the server");
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_denies_makes_no_storm_of_logins() {
    let fake = Fake::new(300);
    let store = open(&fake);
    *fake.read_status.lock().unwrap() = 403;
    for _ in 0..20 {
        assert!(matches!(resolve(&store).await, Err(CredentialRefusal::Denied { .. })));
    }
    assert_eq!(fake.counts(), (1, 0, 20));
}

#[tokio::test(start_paused = true)]
async fn each_status_is_unavailable_or_denied_or_missing() {
    let fake = Fake::new(300);
    let store = open(&fake);
    for status in [307, 408, 412, 425, 429, 472, 473, 500, 501, 502, 503, 504] {
        *fake.read_status.lock().unwrap() = status;
        let refused = resolve(&store).await;
        assert!(matches!(refused, Err(CredentialRefusal::Unavailable { .. })), "{status}: {refused:?}");
    }
    for (status, unusable) in [(400, true), (405, true), (401, false), (403, false)] {
        *fake.read_status.lock().unwrap() = status;
        match resolve(&store).await {
            Err(CredentialRefusal::Unusable { .. }) if unusable => {}
            Err(CredentialRefusal::Denied { .. }) if !unusable => {}
            other => panic!("{status}: {other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_deadline_covers_login_and_read() {
    let fake = Fake::new(300);
    let store = open(&fake);
    *fake.delay.lock().unwrap() = Duration::from_secs(6);
    let start = Instant::now();
    assert!(matches!(resolve(&store).await, Err(CredentialRefusal::Unavailable { .. })));
    assert_eq!(start.elapsed(), Duration::from_secs(10));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test(start_paused = true)]
async fn every_request_is_marked_bounded_and_shows_no_secret() {
    let fake = Fake::new(300);
    let store = open(&fake);
    resolve(&store).await.unwrap();
    let requests = fake.requests.lock().unwrap();
    assert_eq!(requests.len(), 2);
    for request in requests.iter() {
        assert_eq!(request.headers["x-vault-request"], "true");
        assert_eq!(request.headers["x-vault-namespace"], "team/a");
        assert_eq!(request.limits.body_bytes, 1024 * 1024);
        assert!(request.limits.total <= Duration::from_secs(10));
        assert!(!format!("{:?}", request.headers).contains("t0"));
    }
    let login: serde_json::Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(login["secret_id"], "hunter2 of env://SECRET_ID");
    assert!(requests[0].headers.get("x-vault-token").is_none());
    assert!(requests[1].headers["x-vault-token"].is_sensitive());
    assert_eq!(format!("{store:?}"), "OpenBao");
}
