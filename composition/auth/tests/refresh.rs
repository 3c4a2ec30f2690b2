//! Refresh tokens: rotation, one renewal at a time over tasks and processes, and callers that go away.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::{World, header};
use scion_domain::auth::{AuthRefusal, RefreshToken};
use scion_domain::http::StatusCode;
use scion_domain::work::{StoredTokens, WorkRefusal};
use scion_jwt::Jwt;
use scion_lab::{Gate, Idp, IdpClient};
use scion_local::FileTokenStore;
use scion_ports::{AccountGuard, RequestAuth, TokenStore};

async fn provider(world: &World) -> Idp {
    let idp = Idp::start(Jwt::new()).await;
    idp.client(IdpClient::confidential("client", "secret"));
    world.vault.put("S", "secret");
    world.vault.put("R", &idp.issue_refresh("client"));
    idp
}

fn declared(idp: &Idp) -> RefreshToken {
    RefreshToken::token_url(idp.url("/token").as_str(), "client").env("R").client_secret("env://S").account("desk.main")
}

async fn token(auth: &dyn RequestAuth) -> String {
    header(&auth.material().await.unwrap(), "authorization").unwrap()
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011, SDK-CONNECTOR-CONTROL-R028.4
#[tokio::test]
async fn a_rotated_token_is_kept_and_used_next_time() {
    let world = World::new().await;
    let idp = provider(&world).await;
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(FileTokenStore::new(home.path().join("tokens")));
    let factory = world.factory().token_store(store.clone());
    let auth = world.open_with(&factory, declared(&idp)).await;
    let first = token(auth.as_ref()).await;
    world.clock.forward(271);
    let second = token(auth.as_ref()).await;
    assert_ne!(first, second);
    // A restart: the reference still holds the first token, which is used up.
    let again = world.open_with(&factory, declared(&idp)).await;
    assert_eq!(token(again.as_ref()).await, second, "a current token is taken over without asking");
    assert_eq!(idp.count("/token"), 2);
    world.clock.forward(271);
    token(again.as_ref()).await;
    assert_eq!((idp.count("/token"), idp.reuses()), (3, 0));
    idp.revoke_access();
    assert_eq!(world.call(again.as_ref(), &idp.url("/api")).await.unwrap(), StatusCode::OK);
    let kept = std::fs::read_dir(home.path().join("tokens")).unwrap().count();
    assert!(kept >= 1);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011, SDK-CONNECTOR-CONTROL-R028.4
#[tokio::test]
async fn without_a_store_rotated_tokens_stay_in_memory() {
    let world = World::new().await;
    let idp = provider(&world).await;
    let auth = world.open(declared(&idp)).await;
    for _ in 0..3 {
        assert_eq!(world.call(auth.as_ref(), &idp.url("/api")).await.unwrap(), StatusCode::OK);
        idp.revoke_access();
    }
    assert_eq!(idp.reuses(), 0);
    idp.revoke_all();
    let gone = world.call(auth.as_ref(), &idp.url("/api")).await.unwrap_err();
    assert!(matches!(gone, AuthRefusal::Rejected { .. }), "{gone}");
    // An operator puts a new token into the reference: nothing has to be restarted.
    world.vault.put("R", &idp.issue_refresh("client"));
    assert_eq!(world.call(auth.as_ref(), &idp.url("/api")).await.unwrap(), StatusCode::OK);
}

/// Calls without end do not become logins without end: vendors lock accounts for that.
///
/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn an_authority_that_says_no_is_left_alone_for_a_while() {
    let world = World::new().await;
    let idp = provider(&world).await;
    world.vault.put("R", "worn-out");
    let auth = world.open(declared(&idp)).await;
    let refused = async |calls: usize| {
        for _ in 0..calls {
            assert!(matches!(auth.material().await, Err(AuthRefusal::Rejected { .. })));
        }
        idp.count("/token")
    };
    assert_eq!(refused(50).await, 3);
    world.clock.forward(1);
    assert_eq!(refused(50).await, 4, "after a second there is one more try");
    world.clock.forward(1);
    assert_eq!(refused(50).await, 4, "and then the pause is longer");
    world.vault.put("R", &idp.issue_refresh("client"));
    world.clock.forward(40);
    auth.material().await.unwrap();
    assert_eq!(idp.count("/token"), 5);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_share_one_renewal() {
    let world = World::new().await;
    let idp = provider(&world).await;
    let auth = world.open(declared(&idp)).await;
    for round in 1..=5 {
        let tasks: Vec<_> = (0..40)
            .map(|_| {
                let auth = auth.clone();
                tokio::spawn(async move { auth.material().await.unwrap().generation })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), round);
        }
        assert_eq!(idp.count("/token"), usize::try_from(round).unwrap());
        world.clock.forward(280);
    }
    // All of them hear a 401 for the same generation.
    let generation = auth.material().await.unwrap().generation;
    let before = idp.count("/token");
    let rejected: Vec<_> = (0..40)
        .map(|_| {
            let auth = auth.clone();
            tokio::spawn(async move { auth.rejected(generation, StatusCode::UNAUTHORIZED).await.unwrap() })
        })
        .collect();
    for task in rejected {
        assert!(task.await.unwrap());
    }
    assert_eq!(idp.count("/token") - before, 1);
    assert_eq!(auth.material().await.unwrap().generation, generation + 1);
    assert_eq!(idp.reuses(), 0);
}

/// Factories with nothing in common but a folder, as processes have it, never use a refresh token twice. Their lock is the operating
/// system's; that it holds between processes is proved where it is made.
///
/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_share_one_renewal() {
    let world = World::new().await;
    let idp = provider(&world).await;
    let home = tempfile::tempdir().unwrap();
    let mut processes = Vec::new();
    for _ in 0..3 {
        let store = Arc::new(FileTokenStore::new(home.path().join("tokens")));
        processes.push(world.open_with(&world.factory().token_store(store), declared(&idp)).await);
    }
    for round in 1..=4 {
        let tasks: Vec<_> = processes
            .iter()
            .flat_map(|process| [process.clone(), process.clone()])
            .map(|process| tokio::spawn(async move { token(process.as_ref()).await }))
            .collect();
        let mut seen = Vec::new();
        for task in tasks {
            seen.push(task.await.unwrap());
        }
        seen.dedup();
        assert_eq!(seen.len(), 1, "all processes use the same token");
        assert_eq!(idp.count("/token"), round);
        world.clock.forward(271);
    }
    assert_eq!(idp.reuses(), 0);
}

/// What one process remembers is used up when another one has renewed since; a server that sees it again revokes everything.
///
/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn processes_that_renew_in_turns_never_use_a_token_twice() {
    let world = World::new().await;
    let idp = provider(&world).await;
    let home = tempfile::tempdir().unwrap();
    let mut processes = Vec::new();
    for _ in 0..2 {
        let store = Arc::new(FileTokenStore::new(home.path().join("tokens")));
        processes.push(world.open_with(&world.factory().token_store(store), declared(&idp)).await);
    }
    for round in 0..6 {
        token(processes[round % 2].as_ref()).await;
        world.clock.forward(400);
    }
    assert_eq!((idp.count("/token"), idp.reuses()), (6, 0));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn a_leader_that_goes_away_loses_no_rotated_token() {
    let world = World::new().await;
    let idp = provider(&world).await;
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(FileTokenStore::new(home.path().join("tokens")));
    let auth = world.open_with(&world.factory().token_store(store.clone()), declared(&idp)).await;
    let gate = Gate::closed();
    idp.set(|knobs| knobs.token_gate = Some(gate.clone()));
    // The provider has rotated; its answer is on the way when the only caller is cancelled.
    let cancelled = tokio::time::timeout(Duration::from_millis(300), auth.material()).await;
    assert!(cancelled.is_err());
    assert_eq!(idp.count("/token"), 1);
    gate.open();
    let material = auth.material().await.unwrap();
    assert_eq!((material.generation, idp.count("/token")), (1, 1), "the renewal went on without its caller");
    assert!(store.load("desk.main").await.unwrap().is_some());
    world.clock.forward(271);
    auth.material().await.unwrap();
    assert_eq!((idp.count("/token"), idp.reuses()), (2, 0));
}

/// Two accounts of a vendor under one client: nothing but the reference of the first token tells them apart.
///
/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn declarations_without_an_account_never_share_tokens() {
    let world = World::new().await;
    let idp = provider(&world).await;
    world.vault.put("R2", &idp.issue_refresh("client"));
    let home = tempfile::tempdir().unwrap();
    let factory = world.factory().token_store(Arc::new(FileTokenStore::new(home.path().join("tokens"))));
    let declared =
        |first: &str| RefreshToken::token_url(idp.url("/token").as_str(), "client").env(first).client_secret("env://S");
    let one = token(world.open_with(&factory, declared("R")).await.as_ref()).await;
    let two = token(world.open_with(&factory, declared("R2")).await.as_ref()).await;
    assert_ne!(one, two, "the token of another account");
    assert_eq!(token(world.open_with(&factory, declared("R")).await.as_ref()).await, one);
    assert_eq!((idp.count("/token"), idp.reuses()), (2, 0));
}

/// A store that reads and locks but cannot write.
struct FullDisk(FileTokenStore);

#[async_trait]
impl TokenStore for FullDisk {
    async fn load(&self, account: &str) -> Result<Option<(u64, StoredTokens)>, WorkRefusal> {
        self.0.load(account).await
    }

    async fn save(&self, _: &str, _: Option<u64>, _: &StoredTokens) -> Result<u64, WorkRefusal> {
        Err(WorkRefusal::Unreachable { what: "the disk" })
    }

    async fn forget(&self, account: &str) -> Result<(), WorkRefusal> {
        self.0.forget(account).await
    }

    async fn exclusive(&self, account: &str, limit: Duration) -> Result<AccountGuard, WorkRefusal> {
        self.0.exclusive(account, limit).await
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.4
#[tokio::test]
async fn a_store_that_cannot_write_does_not_lose_the_rotated_token() {
    let world = World::new().await;
    let idp = provider(&world).await;
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(FullDisk(FileTokenStore::new(home.path().join("tokens"))));
    let auth = world.open_with(&world.factory().token_store(store), declared(&idp)).await;
    for _ in 0..3 {
        assert_eq!(world.call(auth.as_ref(), &idp.url("/api")).await.unwrap(), StatusCode::OK);
        world.clock.forward(271);
    }
    assert_eq!(idp.reuses(), 0);
}
