//! Runs the table.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use scion_lab::{
    Answer, Behaviour, Ending, HostileCase, forget_peak_memory, hostile_cases, inside_locations, peak_memory,
    prepare_bombs, redirect_cases,
};

use crate::paths::{FetchPath, PATHS, Wants};
use crate::stage::{Stage, World, leaks, tells};

/// How many cases run side by side: most of them wait.
const SIDE_BY_SIDE: usize = 64;
/// How many cases get a second chance.
const RETRIED: usize = 12;
/// Longer than any bound a path is given, so that only a hang reaches it.
pub(crate) const HANG: Duration = Duration::from_secs(20);
/// More than what a client may hold of hostile answers, all cases side by side, and far less than they offer.
const MEMORY: u64 = 384 * 1024 * 1024;
/// What the sockets hold between a server and a client that reads no more.
const IN_BETWEEN: u64 = 20 * 1024 * 1024;
/// From this body bound on, floods are sent one after the other.
const LARGE: u64 = 8 * 1024 * 1024;

/// What is wrong with how one path met one answer; empty when nothing is.
async fn meet(world: &World, path: &'static FetchPath, case: &HostileCase) -> Vec<String> {
    let behaviour = case.behaviour.clone();
    let flood = matches!(behaviour, Behaviour::Bomb(..) | Behaviour::EndlessBody | Behaviour::EndlessClose);
    let _alone = if flood && path.holds > LARGE { Some(world.alone.lock().await) } else { None };
    let (lab, stage) = world.serve(path, move |_| behaviour.clone()).await;
    let ran = tokio::time::timeout(HANG, tokio::spawn((path.run)(stage))).await;
    let mut wrong = Vec::new();
    match ran {
        Err(_) => wrong.push("hangs".to_owned()),
        Ok(Err(panic)) => wrong.push(format!("panics: {panic}")),
        Ok(Ok(outcome)) => {
            let fits = match (path.wants, case.ending) {
                (Wants::Answer, Ending::Answered) => outcome.is_ok(),
                (Wants::Answer, Ending::Bounded) => true,
                (Wants::Document, _) => case.document || outcome.is_err(),
                (Wants::Answer, Ending::Refused | Ending::TimedOut) | (Wants::Members, _) => outcome.is_err(),
            };
            if !fits {
                wrong.push(format!("ends with {outcome:.300?}"));
            }
            if let (Wants::Answer, Ending::TimedOut, Err(text)) = (path.wants, case.ending, &outcome)
                && !text.contains("Timeout")
            {
                wrong.push(format!("should say that time is up and says {text}"));
            }
            if outcome.is_err_and(|text| leaks(&text)) {
                wrong.push("tells the secret in its refusal".to_owned());
            }
        }
    }
    if lab.bytes_sent() > path.holds + IN_BETWEEN {
        wrong.push(format!("took {} bytes", lab.bytes_sent()));
    }
    if lab.received().is_empty() {
        wrong.push("sent nothing".to_owned());
    }
    if !lab.closes_within(Duration::from_secs(3)).await {
        wrong.push("leaves its connection open".to_owned());
    }
    wrong
}

/// Runs cases side by side. What went wrong is tried once more alone: on a busy machine an honest answer can be late.
pub(crate) async fn run_all<F: Future<Output = Vec<String>>>(cases: Vec<(String, impl Fn() -> F)>) {
    let mut results: Vec<(usize, Vec<String>)> = futures_util::stream::iter(cases.iter().enumerate())
        .map(|(at, (_, case))| async move { (at, case().await) })
        .buffer_unordered(SIDE_BY_SIDE)
        .collect()
        .await;
    for (at, wrong) in results.iter_mut().filter(|(_, wrong)| !wrong.is_empty()).take(RETRIED) {
        *wrong = cases[*at].1().await;
    }
    assert!(!results.is_empty(), "no case ran");
    let wrong = results.into_iter().filter(|(_, wrong)| !wrong.is_empty());
    let wrong: BTreeMap<&String, Vec<String>> = wrong.map(|(at, wrong)| (&cases[at].0, wrong)).collect();
    assert!(wrong.is_empty(), "{} cases went wrong:\n{wrong:#?}", wrong.len());
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R001
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_path_refuses_or_bounds_every_hostile_answer() {
    let world = World::new().await;
    let cases = hostile_cases();
    prepare_bombs().await;
    forget_peak_memory();
    let before = peak_memory();
    let (world_of, cases_of) = (&world, &cases);
    let of = |path: &'static FetchPath| {
        cases_of.iter().map(move |case| (format!("{}: {}", path.name, case.name), move || meet(world_of, path, case)))
    };
    run_all(PATHS.iter().flat_map(of).collect()).await;
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before < MEMORY, "the cases held {} MiB", (after - before) >> 20);
    }
    world.assert_nobody_came_inside();
}

/// Redirects inwards, to another origin, from https to http, and in circles.
///
/// Proves: SDK-CENTRALIZED-CAPABILITIES-R002, SDK-CONNECTOR-CONTROL-R028, SDK-CONNECTOR-CONTROL-R014.16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_follows_a_redirect_inwards_or_shows_its_credential_elsewhere() {
    let world = World::new().await;
    let mut redirects = redirect_cases(world.inside.port());
    let inwards = redirects.len();
    for status in [301, 302, 303, 307, 308] {
        redirects.push((
            format!("{status} elsewhere"),
            Answer::redirect(status, world.elsewhere.url_as("elsewhere.test", "/there")),
        ));
        redirects.push((format!("{status} to plain http"), Answer::redirect(status, world.plain_elsewhere())));
        redirects.push((format!("{status} in circles"), Answer::redirect(status, "/again").set_cookies()));
        redirects.push((format!("{status} nowhere"), Answer::redirect(status, "")));
        redirects.push((format!("{status} far away"), Answer::redirect(status, format!("/{}", "far/".repeat(8000)))));
    }
    let redirects: Vec<HostileCase> = redirects
        .into_iter()
        .enumerate()
        .map(|(at, (name, answer))| HostileCase {
            name,
            behaviour: answer.into(),
            // Only a path that follows nothing takes a redirect for its answer.
            ending: Ending::Bounded,
            document: at >= inwards,
        })
        .collect();
    let (world_of, redirects_of) = (&world, &redirects);
    let of = |path: &'static FetchPath| {
        redirects_of
            .iter()
            .map(move |case| (format!("{}: {}", path.name, case.name), move || meet(world_of, path, case)))
    };
    run_all(PATHS.iter().flat_map(of).collect()).await;
    world.assert_nobody_came_inside();
    world.assert_secret_stayed_home();
}

/// Documents that lead on: the next page, the key set, the token endpoint.
///
/// Proves: SDK-CENTRALIZED-CAPABILITIES-R002
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_follows_a_document_inwards() {
    let world = World::new().await;
    let inside = inside_locations(world.inside.port());
    let elsewhere = [world.elsewhere.url_as("elsewhere.test", "/there").to_string(), world.plain_elsewhere()];
    let leading: Vec<_> = PATHS.iter().filter_map(|path| path.leads.map(|leads| (path, leads))).collect();
    if leading.is_empty() {
        return;
    }
    let (world_of, inside, elsewhere) = (&world, &inside, &elsewhere);
    let of = |(path, leads): &(&'static FetchPath, Leads)| {
        let (path, leads) = (*path, *leads);
        let elsewhere = elsewhere.iter().filter(|_| !path.roams);
        inside.iter().chain(elsewhere).map(move |place| {
            (format!("{}: leads to {place}", path.name), move || follow(world_of, path, leads, place))
        })
    };
    run_all(leading.iter().flat_map(of).collect()).await;
    world.assert_nobody_came_inside();
    world.assert_secret_stayed_home();
}

type Leads = fn(&Stage, &str) -> Answer;

/// What is wrong with how one path took a document that leads somewhere else.
async fn follow(world: &World, path: &'static FetchPath, leads: Leads, place: &str) -> Vec<String> {
    let place = place.to_owned();
    let (_lab, stage) = world.serve_knowing(path, move |_, stage| leads(stage, &place).into()).await;
    match tokio::time::timeout(HANG, tokio::spawn((path.run)(stage))).await {
        Err(_) => vec!["hangs".to_owned()],
        Ok(Err(panic)) => vec![format!("panics: {panic}")],
        Ok(Ok(Err(text))) if leaks(&text) => vec!["tells the secret in its refusal".to_owned()],
        Ok(Ok(_)) => Vec::new(),
    }
}

/// A driver that fails for a reason of its own would pass every hostile case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_path_takes_an_honest_answer_and_sends_its_credential() {
    let world = World::new().await;
    for path in PATHS {
        let Some(honest) = path.honest else { continue };
        let (lab, stage) = world.serve_knowing(path, move |received, stage| honest(received, stage).into()).await;
        let outcome = (path.run)(stage).await;
        assert!(outcome.is_ok(), "{}: {outcome:?}", path.name);
        assert!(lab.received().iter().any(tells), "{}: no credential", path.name);
    }
}

/// The table itself can fail: a client without bounds and checks is caught.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_careless_path_is_caught() {
    static CARELESS: FetchPath = crate::paths::careless();
    let world = World::new().await;
    let case = |behaviour: Behaviour, ending| HostileCase { name: String::new(), behaviour, ending, document: false };
    let endless = meet(&world, &CARELESS, &case(Behaviour::EndlessBody, Ending::Refused)).await;
    assert!(endless.iter().any(|wrong| wrong.starts_with("took")), "{endless:?}");
    let telling = meet(&world, &CARELESS, &case(Behaviour::Echo(401), Ending::Refused)).await;
    assert!(telling.iter().any(|wrong| wrong.contains("secret")), "{telling:?}");
    let inwards = Answer::redirect(302, world.inside.url("/inside"));
    let _ = meet(&world, &CARELESS, &case(inwards.into(), Ending::Refused)).await;
    assert_eq!(world.inside.connections(), 1);
}
