//! Logins in a browser against an identity provider, everything over real sockets: the S256 exchange, the bound callback, the store,
//! and one authenticated request.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use common::{MovedClock, World, desk, header};
use scion_auth::{LoginPolicy, OutboundAuth, PkceAuthManager, account_of};
use scion_domain::auth::{
    AuthDeclaration, AuthRefusal, ClientCredentials, Pkce, PkceBinding, PkceRefusal, ProviderTokenProfile, TokenForm,
};
use scion_domain::http::{Method, OutboundRequest, StatusCode, Url};
use scion_domain::id::Digest256;
use scion_domain::secret::Secret;
use scion_domain::work::{StoredTokens, WorkRefusal};
use scion_jwt::Jwt;
use scion_lab::{Gate, Idp, IdpClient, Twist};
use scion_local::{FileTokenStore, LoopbackCallback, SystemBrowser};
use scion_ports::{AccountGuard, BrowserLauncher, CeremonyAuthority, Clock as _, HttpExchange, TokenStore};

/// A person: opens the address, is logged in at the provider, and follows the redirect back.
struct Person {
    exchange: Arc<dyn HttpExchange>,
    callbacks: Mutex<Vec<Url>>,
    follow: bool,
}

impl Person {
    async fn get(exchange: &dyn HttpExchange, url: Url) -> (StatusCode, Option<Url>) {
        let answer = exchange.send(OutboundRequest::new(Method::GET, url)).await.unwrap();
        let location = answer.head.headers.get("location").map(|value| Url::parse(value.to_str().unwrap()).unwrap());
        (answer.head.status, location)
    }
}

#[async_trait]
impl BrowserLauncher for Person {
    async fn launch(&self, url: &Url) -> Result<(), PkceRefusal> {
        let (_, location) = Self::get(self.exchange.as_ref(), url.clone()).await;
        let Some(callback) = location else { return Ok(()) };
        self.callbacks.lock().unwrap().push(callback.clone());
        if self.follow {
            let (status, _) = Self::get(self.exchange.as_ref(), callback).await;
            assert_eq!(status, StatusCode::OK);
        }
        Ok(())
    }
}

/// A token store that can be broken.
struct Breakable {
    inner: FileTokenStore,
    broken: AtomicBool,
    lossy: AtomicBool,
}

#[async_trait]
impl TokenStore for Breakable {
    async fn load(&self, account: &str) -> Result<Option<(u64, StoredTokens)>, WorkRefusal> {
        self.inner.load(account).await
    }

    async fn save(&self, account: &str, expected: Option<u64>, tokens: &StoredTokens) -> Result<u64, WorkRefusal> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(WorkRefusal::Unreachable { what: "the disk" });
        }
        if self.lossy.load(Ordering::SeqCst) {
            return Ok(7);
        }
        self.inner.save(account, expected, tokens).await
    }

    async fn forget(&self, account: &str) -> Result<(), WorkRefusal> {
        self.inner.forget(account).await
    }

    async fn exclusive(&self, account: &str, limit: Duration) -> Result<AccountGuard, WorkRefusal> {
        self.inner.exclusive(account, limit).await
    }
}

/// A host that grants logins until it does not.
#[derive(Default)]
struct Host {
    asked: Mutex<usize>,
    revoke_after: Mutex<Option<usize>>,
}

#[async_trait]
impl CeremonyAuthority for Host {
    async fn confirm(&self, _binding: &PkceBinding) -> Result<(), PkceRefusal> {
        let mut asked = self.asked.lock().unwrap();
        *asked += 1;
        match *self.revoke_after.lock().unwrap() {
            Some(limit) if *asked > limit => Err(PkceRefusal::Revoked),
            _ => Ok(()),
        }
    }
}

/// A host that takes its time before it answers, or never answers.
struct Slow(Option<(Arc<MovedClock>, i64)>);

#[async_trait]
impl CeremonyAuthority for Slow {
    async fn confirm(&self, _binding: &PkceBinding) -> Result<(), PkceRefusal> {
        match &self.0 {
            Some((clock, seconds)) => clock.forward(*seconds),
            None => std::future::pending().await,
        }
        Ok(())
    }
}

struct Scene {
    world: World,
    idp: Idp,
    person: Arc<Person>,
    store: Arc<Breakable>,
    host: Arc<Host>,
    _home: tempfile::TempDir,
}

const DONE: &str = "https://desk.example/done";

impl Scene {
    async fn new() -> Self {
        Self::with(true).await
    }

    async fn with(follow: bool) -> Self {
        let (world, idp) = (World::new().await, Idp::start(Jwt::new()).await);
        idp.client(IdpClient::public("app").redirect(DONE));
        idp.client(IdpClient::public("another-app"));
        let person = Arc::new(Person { exchange: world.exchange.clone(), callbacks: Mutex::default(), follow });
        let home = tempfile::tempdir().unwrap();
        let folder: PathBuf = home.path().join("tokens");
        let store = Arc::new(Breakable {
            inner: FileTokenStore::new(folder),
            broken: AtomicBool::new(false),
            lossy: AtomicBool::new(false),
        });
        Self { world, idp, person, store, host: Arc::default(), _home: home }
    }

    fn config(&self, profile: ProviderTokenProfile) -> Pkce {
        Pkce::issuer(&self.idp.issuer(), "app", "desk").scope("openid mail").profile(profile)
    }

    fn factory(&self) -> OutboundAuth {
        self.world
            .factory()
            .token_store(self.store.clone())
            .browser(Arc::new(LoopbackCallback), self.person.clone())
            .ceremony_authority(self.host.clone())
    }

    fn manager(&self, config: &Pkce) -> PkceAuthManager {
        self.factory().manager(&desk(), config.clone(), self.world.exchange.clone()).unwrap()
    }

    async fn stored(&self, config: &Pkce, caller: &str) -> Option<StoredTokens> {
        let account = account_of("desk", config, caller);
        self.store.load(&account).await.unwrap().map(|(_, tokens)| tokens)
    }

    /// The answer of a headless login: what the person copies out of the browser.
    async fn answer_of(&self, url: &Url) -> Secret<String> {
        let (_, location) = Person::get(self.world.exchange.as_ref(), url.clone()).await;
        Secret::new(location.unwrap().to_string())
    }
}

fn binding(caller: &str, reference: &str) -> PkceBinding {
    PkceBinding {
        connector: "desk".to_owned(),
        caller: caller.to_owned(),
        operation: Digest256::from_bytes([9; 32]),
        challenge_ref: reference.to_owned(),
        grant_ref: Some("grant-1".to_owned()),
    }
}

fn every_profile() -> [(ProviderTokenProfile, bool); 4] {
    [
        (ProviderTokenProfile::default(), false),
        (ProviderTokenProfile::oidc(), false),
        (ProviderTokenProfile::jwt("https://api.example"), true),
        (ProviderTokenProfile::introspected(), false),
    ]
}

/// Proves: SDK-CONNECTOR-CONTROL-R046, SDK-CONNECTOR-CONTROL-R046.1, SDK-CONNECTOR-CONTROL-R046.2, SDK-CONNECTOR-CONTROL-R046.5, SDK-CONNECTOR-CONTROL-R046.6, SDK-CENTRALIZED-CAPABILITIES-R013
#[tokio::test]
async fn a_login_by_loopback_ends_with_a_receipt_and_one_authenticated_request() {
    for (profile, jwt) in every_profile() {
        let scene = Scene::new().await;
        scene.idp.set(|knobs| knobs.access_jwt = jwt);
        let config = scene.config(profile);
        let manager = scene.manager(&config);
        let result = manager.login_loopback(binding("anna", "c-1")).await.unwrap();
        assert_eq!(result.operation, Digest256::from_bytes([9; 32]));
        assert_eq!(result.evidence.outcome, "ready");
        assert_eq!(result.receipt.account, account_of("desk", &config, "anna"));
        assert_eq!(*scene.host.asked.lock().unwrap(), 2, "the host is asked before and after");
        let kept = scene.stored(&config, "anna").await.unwrap();
        let auth = scene.world.vault.clone();
        auth.put("KEPT", kept.access.expose());
        let bearer = scene.world.open(scion_domain::auth::Bearer::env("KEPT")).await;
        assert_eq!(scene.world.call(bearer.as_ref(), &scene.idp.url("/api")).await.unwrap(), StatusCode::OK);
        let token_requests: Vec<_> = scene.idp.received().into_iter().filter(|r| r.path() == "/token").collect();
        assert_eq!(token_requests.len(), 1);
        assert!(token_requests[0].text().contains("code_verifier="));
        let shown = format!("{result:?}{manager:?}{}", serde_json::to_string(&result).unwrap());
        for secret in [kept.access.expose(), kept.refresh.as_ref().unwrap().expose()] {
            assert!(!shown.contains(secret.as_str()));
        }
        assert!(manager.evidence("c-1").is_none(), "it is over");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.2, SDK-CONNECTOR-CONTROL-R046.4, SDK-CONNECTOR-CONTROL-R046.6
#[tokio::test]
async fn tokens_that_break_their_profile_are_not_kept() {
    let jwt = || ProviderTokenProfile::jwt("https://api.example");
    let refresh = || ProviderTokenProfile { refresh: TokenForm::Jwt, ..ProviderTokenProfile::default() };
    let unavailable = PkceRefusal::ProviderUnavailable;
    for (profile, twist, expected) in [
        (ProviderTokenProfile::oidc(), Twist::Issuer, unavailable.clone()),
        (ProviderTokenProfile::oidc(), Twist::Audience, unavailable.clone()),
        (ProviderTokenProfile::oidc(), Twist::Nonce, PkceRefusal::StateMismatch),
        (ProviderTokenProfile::oidc(), Twist::Expired, unavailable.clone()),
        (ProviderTokenProfile::oidc(), Twist::Unsigned, unavailable.clone()),
        (ProviderTokenProfile::oidc(), Twist::PublicKeyAsSecret, unavailable.clone()),
        (ProviderTokenProfile::oidc(), Twist::OtherClient, unavailable.clone()),
        (ProviderTokenProfile::oidc(), Twist::NoIdToken, unavailable.clone()),
        (ProviderTokenProfile { id_token: false, ..jwt() }, Twist::OtherClient, PkceRefusal::StateMismatch),
        (ProviderTokenProfile { id_token: false, ..jwt() }, Twist::Audience, unavailable.clone()),
        // The provider's refresh tokens are opaque, and the profile says otherwise.
        (refresh(), Twist::None, unavailable.clone()),
    ] {
        let scene = Scene::new().await;
        scene.idp.set(|knobs| {
            knobs.access_jwt = profile.access == TokenForm::Jwt;
            knobs.twist = twist;
        });
        let config = scene.config(profile);
        let manager = scene.manager(&config);
        let refused = manager.login_loopback(binding("anna", "c-1")).await.unwrap_err();
        assert_eq!(refused, expected, "{twist:?}");
        assert!(scene.stored(&config, "anna").await.is_none());
        assert_eq!(scene.idp.count("/revoke"), 1, "what is not kept is given back");
    }
    // An access token that is no JWT where the profile says it is one.
    let scene = Scene::new().await;
    let refused = scene.manager(&scene.config(jwt())).login_loopback(binding("anna", "c-1")).await.unwrap_err();
    assert_eq!(refused, unavailable);
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4, SDK-CONNECTOR-CONTROL-R046.6
#[tokio::test]
async fn introspection_catches_revoked_tokens_and_those_of_another_client() {
    type Turn = fn(&mut scion_lab::Knobs);
    let cases: [(Turn, PkceRefusal); 3] = [
        (|knobs| knobs.inactive = true, PkceRefusal::Revoked),
        (|knobs| knobs.introspect_other_client = true, PkceRefusal::StateMismatch),
        (|knobs| knobs.down = vec![("/introspect".to_owned(), 503)], PkceRefusal::ProviderUnavailable),
    ];
    for (turn, expected) in cases {
        let scene = Scene::new().await;
        scene.idp.set(turn);
        let config = scene.config(ProviderTokenProfile::introspected());
        let refused = scene.manager(&config).login_loopback(binding("anna", "c-1")).await.unwrap_err();
        assert_eq!(refused, expected);
        assert!(scene.stored(&config, "anna").await.is_none());
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.2, SDK-CONNECTOR-CONTROL-R046.4, SDK-CONNECTOR-CONTROL-R046.6
#[tokio::test]
async fn a_headless_answer_is_bound_to_its_challenge_and_taken_once() {
    let scene = Scene::new().await;
    let config = scene.config(ProviderTokenProfile::oidc()).headless(DONE);
    let manager = scene.manager(&config);
    let challenge = manager.begin_headless(binding("anna", "c-1")).await.unwrap();
    let other = manager.begin_headless(binding("bert", "c-2")).await.unwrap();
    assert_eq!(manager.begin_headless(binding("anna", "c-1")).await.unwrap_err(), PkceRefusal::StateMismatch);
    let answer = scene.answer_of(&challenge.authorization_url).await;
    let others_answer = scene.answer_of(&other.authorization_url).await;
    // Another caller cannot use the answer, for its own challenge or for this one.
    let mut thief = binding("bert", "c-1");
    assert_eq!(manager.answer(&thief, &answer).await.unwrap_err(), PkceRefusal::StateMismatch);
    thief.connector = "other".to_owned();
    assert_eq!(manager.answer(&thief, &answer).await.unwrap_err(), PkceRefusal::StateMismatch);
    assert_eq!(manager.answer(&binding("bert", "c-2"), &answer).await.unwrap_err(), PkceRefusal::StateMismatch);
    assert_eq!(scene.idp.count("/token"), 0, "no token request follows a bad answer");
    // The stranger's login ended by its own mistake, and its right answer comes too late.
    assert!(manager.answer(&binding("bert", "c-2"), &others_answer).await.is_err());
    let result = manager.answer(&binding("anna", "c-1"), &answer).await.unwrap();
    assert_eq!(result.evidence.challenge_ref, "c-1");
    assert!(manager.answer(&binding("anna", "c-1"), &answer).await.is_err(), "a replay gets nothing");
    assert_eq!(scene.idp.count("/token"), 1);
    assert!(scene.stored(&config, "anna").await.is_some());
    assert!(scene.stored(&config, "bert").await.is_none());
    let foreign = PkceBinding { connector: "other".to_owned(), ..binding("anna", "c-3") };
    assert_eq!(manager.begin_headless(foreign).await.unwrap_err(), PkceRefusal::StateMismatch);
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4
#[tokio::test]
async fn a_replay_while_the_code_is_exchanged_ends_the_login() {
    let scene = Scene::new().await;
    let gate = Gate::closed();
    scene.idp.set(|knobs| knobs.token_gate = Some(gate.clone()));
    let config = scene.config(ProviderTokenProfile::default()).headless(DONE);
    let manager = Arc::new(scene.manager(&config));
    let challenge = manager.begin_headless(binding("anna", "c-1")).await.unwrap();
    let answer = scene.answer_of(&challenge.authorization_url).await;
    let (first, copy) = (manager.clone(), answer.clone());
    let first = tokio::spawn(async move { first.answer(&binding("anna", "c-1"), &copy).await });
    while scene.idp.count("/token") == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(manager.answer(&binding("anna", "c-1"), &answer).await.unwrap_err(), PkceRefusal::StateMismatch);
    gate.open();
    assert_eq!(first.await.unwrap().unwrap_err(), PkceRefusal::StateMismatch);
    assert!(scene.stored(&config, "anna").await.is_none());
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4, SDK-CONNECTOR-CONTROL-R046.5, SDK-CONNECTOR-CONTROL-R046.6
#[tokio::test]
async fn without_a_confirmed_store_and_fresh_authority_nothing_goes_on() {
    for lossy in [false, true] {
        let scene = Scene::new().await;
        let flag = if lossy { &scene.store.lossy } else { &scene.store.broken };
        flag.store(true, Ordering::SeqCst);
        let config = scene.config(ProviderTokenProfile::default());
        let refused = scene.manager(&config).login_loopback(binding("anna", "c-1")).await.unwrap_err();
        assert_eq!(refused, PkceRefusal::PersistenceFailed);
        assert_eq!(scene.idp.count("/token"), 1, "a successful exchange alone is insufficient");
    }
    let scene = Scene::new().await;
    *scene.host.revoke_after.lock().unwrap() = Some(1);
    let config = scene.config(ProviderTokenProfile::default());
    let refused = scene.manager(&config).login_loopback(binding("anna", "c-1")).await.unwrap_err();
    assert_eq!(refused, PkceRefusal::Revoked);
    assert!(scene.stored(&config, "anna").await.is_none(), "what may not be used is not kept");
    *scene.host.revoke_after.lock().unwrap() = Some(0);
    let refused = scene.manager(&config).login_loopback(binding("anna", "c-2")).await.unwrap_err();
    assert_eq!((refused, scene.person.callbacks.lock().unwrap().len()), (PkceRefusal::Revoked, 1));
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4
#[tokio::test]
async fn the_deadline_of_a_login_includes_what_the_host_takes_to_confirm_it() {
    let scene = Scene::new().await;
    let config = scene.config(ProviderTokenProfile::default()).headless(DONE);
    let asking = |host: Slow| {
        let factory = scene.factory().ceremony_authority(Arc::new(host));
        factory.manager(&desk(), config.clone(), scene.world.exchange.clone()).unwrap()
    };
    let before = scene.world.clock.unix_millis();
    let manager = asking(Slow(Some((scene.world.clock.clone(), 50))));
    let challenge = manager.begin_headless(binding("anna", "c-1")).await.unwrap();
    let total = challenge.deadline_ms - before;
    assert!((120_000..150_000).contains(&total), "the time of the host was added: {total}");
    let late = asking(Slow(Some((scene.world.clock.clone(), 120))));
    assert_eq!(late.begin_headless(binding("anna", "c-2")).await.unwrap_err(), PkceRefusal::Expired);
    let silent = asking(Slow(None));
    tokio::time::pause();
    assert_eq!(silent.begin_headless(binding("anna", "c-3")).await.unwrap_err(), PkceRefusal::Expired);
    assert_eq!(silent.login_loopback(binding("anna", "c-4")).await.unwrap_err(), PkceRefusal::Expired);
    assert!(silent.evidence("c-3").is_none() && silent.evidence("c-4").is_none());
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4, SDK-CONNECTOR-CONTROL-R046.6
#[tokio::test]
async fn browser_failure_denial_timeout_and_cancellation_have_their_own_words() {
    let scene = Scene::with(false).await;
    let config = scene.config(ProviderTokenProfile::default());
    let missing = scene
        .factory()
        .browser(Arc::new(LoopbackCallback), Arc::new(SystemBrowser::command("scion-no-such-browser", &[])));
    let missing = missing.manager(&desk(), config.clone(), scene.world.exchange.clone()).unwrap();
    let refused = missing.login_loopback(binding("anna", "c-1")).await.unwrap_err();
    assert_eq!(refused, PkceRefusal::BrowserLaunchFailed);
    let headless = scene.world.factory().token_store(scene.store.clone());
    let headless = headless.manager(&desk(), config.clone(), scene.world.exchange.clone()).unwrap();
    let refused = headless.login_loopback(binding("anna", "c-1")).await.unwrap_err();
    assert_eq!(refused, PkceRefusal::CallbackUnavailable);
    assert_eq!(headless.begin_headless(binding("anna", "c-1")).await.unwrap_err(), PkceRefusal::InsecureRedirect);

    // A person who never comes back: the deadline passes on the clock while nothing else happens.
    let manager = scene.manager(&scene.config(ProviderTokenProfile::default()).headless(DONE));
    let challenge = manager.begin_headless(binding("anna", "c-2")).await.unwrap();
    let answer = scene.answer_of(&challenge.authorization_url).await;
    scene.world.clock.forward(120);
    assert_eq!(manager.answer(&binding("anna", "c-2"), &answer).await.unwrap_err(), PkceRefusal::InputTimeout);
    let challenge = manager.begin_headless(binding("anna", "c-3")).await.unwrap();
    let answer = scene.answer_of(&challenge.authorization_url).await;
    assert!(manager.cancel(&binding("bert", "c-3")).is_none(), "only its caller may end it");
    assert_eq!(manager.cancel(&binding("anna", "c-3")).unwrap().outcome, "cancelled");
    assert!(manager.answer(&binding("anna", "c-3"), &answer).await.is_err());
    assert_eq!(scene.idp.count("/token"), 0);

    // Dropping a login closes it.
    let manager = Arc::new(scene.manager(&config));
    let login = tokio::time::timeout(Duration::from_millis(200), manager.login_loopback(binding("anna", "c-4"))).await;
    assert!(login.is_err() && manager.evidence("c-4").is_none());

    let scene = Scene::new().await;
    scene.idp.set(|knobs| knobs.deny = true);
    let refused = scene.manager(&config_of(&scene)).login_loopback(binding("anna", "c-1")).await.unwrap_err();
    assert_eq!(refused, PkceRefusal::Cancelled);
    scene.idp.set(|knobs| {
        knobs.deny = false;
        knobs.down = vec![("/token".to_owned(), 503)];
    });
    let refused = scene.manager(&config_of(&scene)).login_loopback(binding("anna", "c-2")).await.unwrap_err();
    assert_eq!(refused, PkceRefusal::ProviderUnavailable);
    scene.idp.set(|knobs| knobs.down = vec![("/token".to_owned(), 400)]);
    let refused = scene.manager(&config_of(&scene)).login_loopback(binding("anna", "c-3")).await.unwrap_err();
    assert_eq!(refused, PkceRefusal::Revoked);
}

fn config_of(scene: &Scene) -> Pkce {
    scene.config(ProviderTokenProfile::default())
}

/// A token endpoint that takes longer than the rest of the deadline.
///
/// Proves: SDK-CONNECTOR-CONTROL-R046.2, SDK-CONNECTOR-CONTROL-R046.4
#[tokio::test]
async fn the_deadline_ends_an_exchange_that_hangs() {
    let scene = Scene::new().await;
    scene.idp.set(|knobs| knobs.token_delay = Some(Duration::from_millis(300)));
    let config = config_of(&scene).headless(DONE);
    let manager = scene.manager(&config);
    let challenge = manager.begin_headless(binding("anna", "c-1")).await.unwrap();
    let answer = scene.answer_of(&challenge.authorization_url).await;
    let bound = binding("anna", "c-1");
    let late = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        scene.world.clock.forward(120);
    };
    let (outcome, ()) = tokio::join!(manager.answer(&bound, &answer), late);
    assert_eq!(outcome.unwrap_err(), PkceRefusal::Expired);
    assert!(scene.stored(&config, "anna").await.is_none());
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.11, SDK-CENTRALIZED-CAPABILITIES-R013
#[tokio::test]
async fn requests_use_the_login_renew_it_and_prefer_a_key_that_is_set() {
    let scene = Scene::new().await;
    let config = config_of(&scene).api_key_env("DIRECT");
    let api = scene.idp.url("/api");
    // Nobody has logged in, and a request may not start a login.
    let served = scene.world.open_with(&scene.factory(), config.clone()).await;
    let refused = served.material().await.unwrap_err();
    assert_eq!(refused, AuthRefusal::Login { code: "pkce_no_credential" });
    // A command line may: the browser opens once.
    let inline = scene.factory().login_policy(LoginPolicy::Inline);
    let auth = scene.world.open_with(&inline, config.clone()).await;
    for _ in 0..2 {
        assert_eq!(scene.world.call(auth.as_ref(), &api).await.unwrap(), StatusCode::OK);
    }
    assert_eq!((scene.idp.count("/authorize"), scene.idp.count("/token")), (1, 1));
    // What was kept serves other processes, and is renewed inside the skew window without a person.
    assert_eq!(scene.world.call(served.as_ref(), &api).await.unwrap(), StatusCode::OK);
    scene.world.clock.forward(271);
    assert_eq!(scene.world.call(served.as_ref(), &api).await.unwrap(), StatusCode::OK);
    assert_eq!((scene.idp.count("/authorize"), scene.idp.count("/token"), scene.idp.reuses()), (1, 2, 0));
    // The provider ends the session: somebody has to log in again.
    scene.idp.revoke_all();
    let ended = scene.world.call(served.as_ref(), &api).await.unwrap_err();
    assert_eq!(ended, AuthRefusal::Login { code: "pkce_interaction_required" });
    scene.world.vault.put("DIRECT", "direct-key");
    let material = served.material().await.unwrap();
    assert_eq!(header(&material, "authorization").as_deref(), Some("Bearer direct-key"));
    assert!(!served.rejected(material.generation, StatusCode::UNAUTHORIZED).await.unwrap());
    assert_eq!(scene.idp.count("/authorize"), 1);
}

/// A command that authenticates by what its options declare, as the certify command will: the same factory, another declaration.
///
/// Proves: SDK-CONNECTOR-CONTROL-R046.3
#[tokio::test]
async fn a_command_chooses_the_browser_login_by_its_declaration() {
    let scene = Scene::new().await;
    scene.idp.client(IdpClient::confidential("robot", "secret"));
    scene.world.vault.put("S", "secret");
    let issuer = scene.idp.issuer();
    let browser =
        format!(r#"{{"type":"pkce","issuer":"{issuer}","client_id":"app","token_ref":"certify","scope":"mail"}}"#);
    let robot = format!(
        r#"{{"type":"client_credentials","issuer":"{issuer}","client_id":"robot","client_secret_ref":"env://S"}}"#
    );
    let root = scene.factory().login_policy(LoginPolicy::Inline);
    for (options, logins) in [(robot, 0), (browser, 1)] {
        let declaration: AuthDeclaration = serde_json::from_str(&options).unwrap();
        let auth = scene.world.open_with(&root, declaration).await;
        assert_eq!(scene.world.call(auth.as_ref(), &scene.idp.url("/api")).await.unwrap(), StatusCode::OK);
        assert_eq!(scene.idp.count("/authorize"), logins);
    }
    // What the options lack is refused before anything is asked.
    let asked = scene.idp.received().len();
    let bare = scene.world.factory().manager(&desk(), config_of(&scene), scene.world.exchange.clone()).unwrap_err();
    assert_eq!(bare, AuthRefusal::Configuration { field: "token_ref", what: "needs a token store" });
    assert!(ClientCredentials::issuer("http://i.example", "x").validate().is_err());
    assert_eq!(scene.idp.received().len(), asked);
}
