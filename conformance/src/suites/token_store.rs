//! The suite of [`TokenStore`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::secret::Secret;
use scion_domain::work::{StoredTokens, WorkRefusal};
use scion_ports::TokenStore;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// The token every check saves.
pub const TOKEN: &str = "access-correct-horse";

const SHORT: Duration = Duration::from_millis(40);
const LONG: Duration = Duration::from_secs(20);

/// Makes stores to test.
#[async_trait]
pub trait TokenStoreFixture: Send + Sync {
    /// A fresh, empty store.
    async fn open(&self) -> Arc<dyn TokenStore>;

    /// The same store, as another process or the next start sees it.
    async fn reopen(&self, store: &Arc<dyn TokenStore>) -> Arc<dyn TokenStore>;
}

/// Runs every check.
pub async fn run(fixture: &dyn TokenStoreFixture) -> Report {
    let mut report = Report::new("TokenStore");
    report.add("O1", "saved_tokens_survive_a_restart", restart(fixture).await);
    report.add("O2", "a_save_needs_the_expected_version", versions(fixture).await);
    report.add("O2", "one_of_two_savers_wins", race(fixture).await);
    report.add("O2", "a_forgotten_version_is_not_used_again", forgotten(fixture).await);
    report.add("O3", "no_token_in_a_refusal_or_debug_text", hidden(fixture).await);
    report.add("O4", "one_holder_at_a_time", exclusive(fixture).await);
    report.add("O4", "accounts_do_not_hold_each_other_off", accounts(fixture).await);
    report.add("O5", "a_wait_ends_with_its_limit", limit(fixture).await);
    report
}

fn tokens(access: &str) -> StoredTokens {
    StoredTokens {
        access: Secret::new(access.to_owned()),
        refresh: Some(Secret::new(format!("refresh of {access}"))),
        expires_at_ms: 1_800_000_000_123,
    }
}

async fn restart(fixture: &dyn TokenStoreFixture) -> Checked {
    let store = fixture.open().await;
    ensure!(must!(store.load("a").await, "load").is_none(), "an empty store has an account");
    let version = must!(store.save("a", None, &tokens(TOKEN)).await, "save");
    let store = fixture.reopen(&store).await;
    let Some((found, kept)) = must!(store.load("a").await, "load") else { return Err("nothing was kept".into()) };
    let refresh = kept.refresh.as_ref().map(|token| token.expose().clone());
    ensure!(found == version && kept.access.expose() == TOKEN, "another version or token was kept");
    ensure!(refresh == Some(format!("refresh of {TOKEN}")), "another refresh token was kept");
    ensure!(kept.expires_at_ms == 1_800_000_000_123, "another expiry was kept");
    ensure!(must!(store.load("b").await, "load").is_none(), "another account shows the tokens");
    Ok(())
}

fn conflict(result: &Result<u64, WorkRefusal>) -> Checked {
    match result {
        Err(WorkRefusal::Conflict { .. }) => Ok(()),
        other => Err(format!("a save over another version was answered with {other:?}")),
    }
}

async fn versions(fixture: &dyn TokenStoreFixture) -> Checked {
    let store = fixture.open().await;
    conflict(&store.save("a", Some(1), &tokens("x")).await)?;
    let first = must!(store.save("a", None, &tokens("1")).await, "save");
    conflict(&store.save("a", None, &tokens("x")).await)?;
    conflict(&store.save("a", Some(first.wrapping_add(7)), &tokens("x")).await)?;
    let second = must!(store.save("a", Some(first), &tokens("2")).await, "replace");
    ensure!(second != first, "the version did not change");
    conflict(&store.save("a", Some(first), &tokens("x")).await)?;
    let kept = must!(store.load("a").await, "load");
    ensure!(kept.is_some_and(|(v, kept)| v == second && kept.access.expose() == "2"), "a refused save was kept");
    Ok(())
}

async fn race(fixture: &dyn TokenStoreFixture) -> Checked {
    let store = fixture.open().await;
    let other = fixture.reopen(&store).await;
    let first = must!(store.save("a", None, &tokens("0")).await, "save");
    let (one, two) = (tokens("1"), tokens("2"));
    let (one, two) = tokio::join!(store.save("a", Some(first), &one), other.save("a", Some(first), &two));
    ensure!(one.is_ok() != two.is_ok(), "{one:?} and {two:?} over one version");
    let kept = must!(store.load("a").await, "load").map(|(_, kept)| kept.access.expose().clone());
    let winner = if one.is_ok() { "1" } else { "2" };
    ensure!(kept.as_deref() == Some(winner), "the loser's tokens were kept");
    Ok(())
}

async fn forgotten(fixture: &dyn TokenStoreFixture) -> Checked {
    let store = fixture.open().await;
    let first = must!(store.save("a", None, &tokens("1")).await, "save");
    must!(store.forget("a").await, "forget");
    must!(store.forget("a").await, "forget again");
    ensure!(must!(store.load("a").await, "load").is_none(), "a forgotten account is there");
    let second = must!(store.save("a", None, &tokens("2")).await, "save");
    ensure!(second != first, "a version was used twice");
    conflict(&store.save("a", Some(first), &tokens("x")).await)
}

async fn hidden(fixture: &dyn TokenStoreFixture) -> Checked {
    let store = fixture.open().await;
    must!(store.save("a", None, &tokens(TOKEN)).await, "save");
    let loaded = store.load("a").await;
    let refused = store.save("a", None, &tokens(TOKEN)).await;
    let shown = format!("{loaded:?} {refused:?}");
    ensure!(!shown.contains(TOKEN), "a token is shown");
    Ok(())
}

async fn exclusive(fixture: &dyn TokenStoreFixture) -> Checked {
    let store = fixture.open().await;
    let other = fixture.reopen(&store).await;
    let held = must!(store.exclusive("a", LONG).await, "hold");
    ensure!(store.exclusive("a", SHORT).await.is_err(), "two holders of one handle");
    ensure!(other.exclusive("a", SHORT).await.is_err(), "two holders of two handles");
    must!(other.save("a", None, &tokens("1")).await, "a save beside a holder");
    let waiting = tokio::time::timeout(LONG, other.exclusive("a", LONG));
    let release = async {
        tokio::time::sleep(SHORT).await;
        drop(held);
    };
    let (waited, ()) = tokio::join!(waiting, release);
    match waited {
        Ok(Ok(_)) => Ok(()),
        _ => Err("a dropped guard does not let the next one in".into()),
    }
}

async fn accounts(fixture: &dyn TokenStoreFixture) -> Checked {
    let store = fixture.open().await;
    let _held = must!(store.exclusive("a", LONG).await, "hold");
    must!(store.exclusive("b", SHORT).await, "hold another account");
    Ok(())
}

async fn limit(fixture: &dyn TokenStoreFixture) -> Checked {
    let store = fixture.open().await;
    let _held = must!(store.exclusive("a", LONG).await, "hold");
    match tokio::time::timeout(LONG, store.exclusive("a", SHORT)).await {
        Ok(Err(WorkRefusal::Unreachable { .. })) => Ok(()),
        Ok(other) => Err(format!("a wait over its limit was answered with {other:?}")),
        Err(_) => Err("a wait does not end".into()),
    }
}
