//! The gate before destructive calls, through an in-memory client, in both eras.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::call::{Asking, CallOutcome, ChannelRefusal, LogLine, ProgressNotice, Question, Reply};
use scion_domain::json::{Json, parse};
use scion_domain::mcp::ToolCall;
use scion_domain::surface::{CallScope, SurfaceRefusal};
use scion_ports::{CallChannel, ToolSurface as _, async_trait};
use scion_serve::{Param, ServedSurface, Tool, ToolRefusal};
use support::{
    Asks, Backend, Client, WRITING, accepted, call, continued, desk, done, meta_text, object, of, scope_of, yes,
};

const KEY: &str = "destructive_action_confirmation";

fn cancelled() -> Json {
    parse(r#"{"cancelled":true,"operation":"desk_delete_ticket"}"#).unwrap()
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn asked_directly_only_a_literal_true_calls_the_backend_and_only_once() {
    let backend = Backend::default();
    let surface = desk(&backend);
    let scope = CallScope::default();
    let client = Arc::new(Client::saying(yes()));
    let result = done(&surface, &scope, &client, r#"{"ticket_id":5}"#).await;
    assert_eq!((backend.hits(), result.is_error), (1, false));
    let asked = client.questions.lock().unwrap()[0].message.clone();
    assert!(asked.contains("`desk_delete_ticket`") && asked.contains(r#"{"ticket_id":5}"#));

    let noes = [
        Ok(accepted(r#"{"confirmed":false}"#)),
        Ok(accepted(r#"{"confirmed":"true"}"#)),
        Ok(accepted(r#"{"confirmed":1}"#)),
        Ok(accepted(r#"{"confirmed":[true]}"#)),
        Ok(accepted(r#"{"confirmed":{"value":false}}"#)),
        Ok(accepted(r#"{"value":{"confirmed":true}}"#)),
        Ok(accepted("{}")),
        Ok(Reply::Declined),
        Ok(Reply::Cancelled),
        Ok(Reply::Malformed),
        Err(ChannelRefusal::Malformed),
        Err(ChannelRefusal::Closed),
        Err(ChannelRefusal::TimedOut),
        Err(ChannelRefusal::Unsupported { what: "questions" }),
    ];
    for no in noes {
        let client = Arc::new(Client::new(Asks::Direct(Some(no.clone()))));
        let result = done(&surface, &scope, &client, r#"{"ticket_id":5}"#).await;
        assert_eq!(backend.hits(), 1, "{no:?}");
        assert_eq!(result.structured, Some(cancelled()), "{no:?}");
        assert_eq!(
            (result.texts.as_slice(), result.is_error),
            (&[scion_domain::json::to_compact(&cancelled())][..], false)
        );
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn a_client_that_cannot_be_asked_is_refused_at_once() {
    let backend = Backend::default();
    let client = Arc::new(Client::new(Asks::Not));
    let result = done(&desk(&backend), &CallScope::default(), &client, r#"{"ticket_id":5}"#).await;
    assert_eq!((backend.hits(), client.questions.lock().unwrap().len()), (0, 0));
    assert_eq!(result.structured, Some(cancelled()));
    assert_eq!(
        (meta_text(&result, "state"), meta_text(&result, "reason")),
        (Some("cancelled"), Some("approval_required"))
    );
}

async fn state_of(surface: &ServedSurface, scope: &CallScope, arguments: &str) -> String {
    let Ok(CallOutcome::Asks { questions, state }) = call(surface, scope, &continued(None, &[]), arguments).await
    else {
        panic!("not asked");
    };
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].key, KEY);
    assert!(!questions[0].schema.contains_key("title"));
    state
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn a_repeated_call_needs_its_own_state_and_a_literal_true_and_works_once() {
    let backend = Backend::default();
    let surface = desk(&backend);
    let scope = scope_of("acme", "1");
    let five = r#"{"ticket_id":5}"#;
    let noes = [
        vec![(KEY, accepted(r#"{"confirmed":false}"#))],
        vec![(KEY, accepted(r#"{"confirmed":"true"}"#))],
        vec![(KEY, accepted(r#"{"confirmed":[true]}"#))],
        vec![(KEY, Reply::Declined)],
        vec![(KEY, Reply::Cancelled)],
        vec![(KEY, Reply::Malformed)],
        vec![("other", yes())],
        vec![],
    ];
    for replies in noes {
        let state = state_of(&surface, &scope, five).await;
        let result = done(&surface, &scope, &continued(Some(&state), &replies), five).await;
        assert_eq!((backend.hits(), result.structured), (0, Some(cancelled())), "{replies:?}");
        // A state is for one answer: the yes that follows a no needs a new question.
        let again = call(&surface, &scope, &continued(Some(&state), &[(KEY, yes())]), five).await;
        assert_eq!(again, Err(SurfaceRefusal::RequestState));
    }
    let without = done(&surface, &scope, &continued(None, &[(KEY, yes())]), five).await;
    assert_eq!((backend.hits(), without.structured), (0, Some(cancelled())), "an answer to no question");

    let state = state_of(&surface, &scope, five).await;
    let with = |state: &str| continued(Some(state), &[(KEY, yes())]);
    let other_process = desk(&backend);
    for (surface, scope, client, arguments) in [
        (&surface, &scope, with(&state), r#"{"ticket_id":6}"#),
        (&surface, &scope, with("v1.AAAA"), five),
        (&surface, &scope, with(""), five),
        (&surface, &scope_of("other", "1"), with(&state), five),
        (&surface, &CallScope::default(), with(&state), five),
        (&other_process, &scope, with(&state), five),
    ] {
        assert_eq!(call(surface, scope, &client, arguments).await, Err(SurfaceRefusal::RequestState));
        assert_eq!(backend.hits(), 0);
    }
    let result = done(&surface, &scope, &with(&state), five).await;
    assert_eq!((backend.hits(), result.is_error), (1, false));
    assert_eq!(call(&surface, &scope, &with(&state), five).await, Err(SurfaceRefusal::RequestState), "replayed");
    assert_eq!(backend.hits(), 1);
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test(start_paused = true)]
async fn a_person_who_never_answers_ends_with_the_time_of_the_call_and_a_state_with_its_own() {
    let backend = Backend::default();
    let surface = desk(&backend);
    let scope = CallScope::default().with_time_limit(Some(Duration::from_secs(30)));
    let client = Arc::new(Client::new(Asks::Direct(None)));
    let result = done(&surface, &scope, &client, r#"{"ticket_id":5}"#).await;
    assert_eq!((backend.hits(), meta_text(&result, "reason")), (0, Some("deadline_exceeded")));
    assert!(result.is_error && result.texts[0].starts_with("deadline_exceeded: "));

    let five = r#"{"ticket_id":5}"#;
    let state = state_of(&surface, &scope, five).await;
    tokio::time::advance(Duration::from_secs(601)).await;
    let late = call(&surface, &scope, &continued(Some(&state), &[(KEY, yes())]), five).await;
    assert_eq!((backend.hits(), late), (0, Err(SurfaceRefusal::RequestState)));
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn a_call_cancelled_while_the_person_thinks_never_reaches_the_backend() {
    let backend = Backend::default();
    let surface = Arc::new(desk(&backend));
    let client = Arc::new(Client::new(Asks::Direct(None)));
    let task = tokio::spawn({
        let (surface, client) = (Arc::clone(&surface), Arc::clone(&client));
        async move { call(&surface, &CallScope::default(), &client, r#"{"ticket_id":5}"#).await }
    });
    while client.questions.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(backend.hits(), 0);
}

#[tokio::test]
async fn what_does_not_destroy_asks_nobody_and_bad_arguments_are_refused_before_a_person_is_asked() {
    let backend = Backend::default();
    let counted = backend.clone();
    let surface = of(Tool::with_hints("desk_create_ticket", WRITING).handle(move |_context, _args| {
        counted.hit();
        async { Ok::<_, ToolRefusal>(Json::Null) }
    }));
    let client = Arc::new(Client::saying(Reply::Declined));
    done(&surface, &CallScope::default(), &client, "{}").await;
    assert_eq!((backend.hits(), client.questions.lock().unwrap().len()), (1, 0));

    let client = Arc::new(Client::saying(yes()));
    let result = done(&desk(&backend), &CallScope::default(), &client, r#"{"ticket_id":"five"}"#).await;
    assert!(result.is_error && result.texts[0].starts_with("argument_wrong_type: "));
    assert_eq!((backend.hits(), client.questions.lock().unwrap().len()), (1, 0));
}

#[tokio::test]
async fn a_no_that_does_not_fit_the_output_schema_is_an_error_in_words() {
    let schema =
        parse(r#"{"type":"object","properties":{"deleted":{"type":"boolean"}},"required":["deleted"]}"#).unwrap();
    let surface = of(support::deleting("desk_delete_ticket")
        .output_schema(schema)
        .handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::from([("deleted", true.into())])) }));
    let client = Arc::new(Client::saying(Reply::Declined));
    let result = done(&surface, &CallScope::default(), &client, r#"{"ticket_id":5}"#).await;
    assert_eq!((result.is_error, result.structured), (true, None));
}

/// A handler that decides itself what needs a yes.
fn cleaning(backend: &Backend) -> ServedSurface {
    let backend = backend.clone();
    of(Tool::with_hints("desk_clean", WRITING).param(Param::integer("age", "Days").between(1, 1000)).handle(
        move |context, args| {
            let backend = backend.clone();
            async move {
                let target = object(&format!(r#"{{"tickets_older_than_days":{}}}"#, args.integer("age")?));
                context.confirm_destructive("purge_tickets", &target).await?;
                backend.hit();
                Ok::<_, ToolRefusal>(Json::from("cleaned"))
            }
        },
    ))
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn a_handler_can_ask_for_itself_in_both_eras() {
    let backend = Backend::default();
    let surface = cleaning(&backend);
    let scope = CallScope::default();
    let age = r#"{"age":30}"#;
    let client = Arc::new(Client::saying(Reply::Declined));
    let no = done(&surface, &scope, &client, age).await;
    assert_eq!(no.structured, Some(parse(r#"{"cancelled":true,"operation":"purge_tickets"}"#).unwrap()));
    assert!(client.questions.lock().unwrap()[0].message.contains(r#"{"tickets_older_than_days":30}"#));
    done(&surface, &scope, &Arc::new(Client::new(Asks::Not)), age).await;
    assert_eq!(backend.hits(), 0);
    done(&surface, &scope, &Arc::new(Client::saying(yes())), age).await;
    assert_eq!(backend.hits(), 1);

    let state = state_of(&surface, &scope, age).await;
    let with = |state: &str| continued(Some(state), &[(KEY, yes())]);
    let other = call(&surface, &scope, &with(&state), r#"{"age":31}"#).await;
    assert_eq!((backend.hits(), other), (1, Err(SurfaceRefusal::RequestState)));
    assert_eq!(done(&surface, &scope, &with(&state), age).await.texts, ["cleaned"]);
    assert_eq!(call(&surface, &scope, &with(&state), age).await, Err(SurfaceRefusal::RequestState));
    assert_eq!(backend.hits(), 2);
}

/// A client that answers its questions one after the other, and says no to any further one.
struct OneByOne(Mutex<Vec<Reply>>, AtomicUsize);

#[async_trait]
impl CallChannel for OneByOne {
    fn wants_progress(&self) -> bool {
        false
    }

    async fn progress(&self, _notice: &ProgressNotice) -> Result<(), ChannelRefusal> {
        Ok(())
    }

    async fn log(&self, _line: &LogLine) -> Result<(), ChannelRefusal> {
        Ok(())
    }

    fn asking(&self) -> Asking<'_> {
        Asking::Direct
    }

    async fn ask(&self, _question: &Question) -> Result<Reply, ChannelRefusal> {
        self.1.fetch_add(1, Ordering::SeqCst);
        let mut replies = self.0.lock().unwrap();
        Ok(if replies.is_empty() { Reply::Declined } else { replies.remove(0) })
    }
}

/// A careless handler: it asks about one ticket, twice, and then about all of them.
fn careless(backend: &Backend, marks: bool) -> ServedSurface {
    let backend = backend.clone();
    of(Tool::with_hints("desk_clean", WRITING).handle(move |context, _args| {
        let backend = backend.clone();
        async move {
            let one = object(r#"{"ticket":1}"#);
            context.confirm_destructive("purge_ticket", &one).await?;
            context.confirm_destructive("purge_ticket", &one).await?;
            let effect = if marks { Some(context.effect(None)?) } else { None };
            backend.hit();
            if let Some(effect) = effect {
                effect.applied();
            }
            context.confirm_destructive("purge_all", &object("{}")).await?;
            backend.hit();
            Ok::<_, ToolRefusal>(Json::from("cleaned"))
        }
    }))
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn a_yes_to_one_operation_is_none_to_the_next() {
    let run = async |marks: bool, replies: Vec<Reply>| {
        let backend = Backend::default();
        let client = Arc::new(OneByOne(Mutex::new(replies), AtomicUsize::new(0)));
        let call = ToolCall { tool: "desk_clean".to_owned(), arguments: object("{}") };
        let outcome = careless(&backend, marks).call_tool(&CallScope::default(), client.clone(), call).await.unwrap();
        let CallOutcome::Done(result) = outcome else { panic!("not done") };
        (backend.hits(), client.1.load(Ordering::SeqCst), result)
    };
    let (hits, asked, _) = run(false, vec![yes(), yes()]).await;
    assert_eq!((hits, asked), (2, 2), "the same question is asked once");
    let (hits, asked, result) = run(false, vec![yes()]).await;
    assert_eq!((hits, asked), (1, 2));
    assert_eq!(result.structured, Some(parse(r#"{"cancelled":true,"operation":"purge_all"}"#).unwrap()));
    // What was done before is not called nothing.
    let (hits, _, result) = run(true, vec![yes()]).await;
    assert_eq!((hits, result.is_error, meta_text(&result, "state")), (1, true, Some("uncertain")));
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn a_repeated_call_answers_one_question_and_no_second_one() {
    let backend = Backend::default();
    let surface = careless(&backend, false);
    let scope = CallScope::default();
    let state = state_of_tool(&surface, &scope).await;
    let client = continued(Some(&state), &[(KEY, yes())]);
    let call = ToolCall { tool: "desk_clean".to_owned(), arguments: object("{}") };
    let CallOutcome::Done(result) = surface.call_tool(&scope, client, call).await.unwrap() else {
        panic!("asked again")
    };
    assert_eq!(backend.hits(), 1);
    assert_eq!(result.structured, Some(parse(r#"{"cancelled":true,"operation":"purge_all"}"#).unwrap()));
}

async fn state_of_tool(surface: &ServedSurface, scope: &CallScope) -> String {
    let call = ToolCall { tool: "desk_clean".to_owned(), arguments: object("{}") };
    match surface.call_tool(scope, continued(None, &[]), call).await {
        Ok(CallOutcome::Asks { state, .. }) => state,
        other => panic!("not asked: {other:?}"),
    }
}
