//! Every hostile answer of the lab.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use scion_domain::http::HttpRefusal;
use scion_lab::{Answer, Behaviour, Coding, Ending, Lab, Lie, hostile_cases};

use crate::support::*;

#[tokio::test]
async fn every_hostile_answer_ends_as_it_has_to() {
    let cases = hostile_cases();
    assert!(cases.len() > 50);
    let client = &*client().await;
    let running = cases.into_iter().map(|case| async move {
        let lab = Lab::always(case.behaviour).await;
        let mut request = hasty(lab.url("/?token=hunter2"));
        request.limits.total = Duration::from_secs(3);
        request.limits.idle = Duration::from_secs(1);
        let started = Instant::now();
        let outcome = whole(client, request).await;
        let right = match (case.ending, &outcome) {
            (Ending::TimedOut, Err(HttpRefusal::Timeout { .. })) | (Ending::Answered, Ok(_)) | (Ending::Bounded, _) => {
                true
            }
            (Ending::Refused, Err(refusal)) => !matches!(refusal, HttpRefusal::Timeout { .. }),
            _ => false,
        };
        let shown = format!("{outcome:?}");
        let shown = if outcome.is_err() { &*shown } else { "" };
        (case.name, right && started.elapsed() < Duration::from_secs(6) && !shown.contains("hunter2"), shown.to_owned())
    });
    let outcomes: Vec<_> = stream::iter(running).buffer_unordered(12).collect().await;
    let wrong: Vec<_> = outcomes.into_iter().filter(|(_, right, _)| !right).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn lies_about_the_encoding_are_malformed() {
    let client = client().await;
    let malformed = HttpRefusal::Malformed { host: "127.0.0.1".into(), what: "content encoding" };
    for lie in Coding::ALL.iter().flat_map(|coding| [Lie::Encoding(*coding), Lie::EncodingCut(*coding)]) {
        let lab = Lab::always(Behaviour::Lie(lie)).await;
        assert_eq!(refusal(&*client, hasty(lab.url("/"))).await, malformed, "{lie:?}");
    }
    for lie in [Lie::EncodingMany, Lie::EncodingUnknown] {
        let lab = Lab::always(Behaviour::Lie(lie)).await;
        assert_eq!(refusal(&*client, hasty(lab.url("/"))).await, malformed, "{lie:?}");
    }
    for coding in Coding::ALL {
        let mut body = scion_lab::encode(*coding, b"text").await;
        body.extend_from_slice(b"and what does not belong to it");
        let lab = Lab::always(Answer::ok(body).header("content-encoding", coding.token())).await;
        assert_eq!(refusal(&*client, hasty(lab.url("/"))).await, malformed, "{coding:?} with a tail");
    }
}

#[tokio::test]
async fn lies_about_the_length_are_malformed_or_broken() {
    let client = client().await;
    for (lie, malformed) in [
        (Lie::TwoLengths, Some("head")),
        (Lie::LengthGarbage, Some("head")),
        (Lie::LengthOverflow, Some("head")),
        (Lie::LengthNegative, Some("head")),
        (Lie::ChunkGarbage, Some("body")),
        (Lie::ChunkOverflow, Some("body")),
        (Lie::ChunkTooShort, Some("body")),
        (Lie::NotHttp, Some("head")),
        (Lie::Status, Some("head")),
        (Lie::LengthTooLong, None),
        (Lie::ChunkUnfinished, None),
    ] {
        let lab = Lab::always(Behaviour::Lie(lie)).await;
        let refused = refusal(&*client, hasty(lab.url("/"))).await;
        let host = "127.0.0.1".to_owned();
        let expected = match malformed {
            Some(what) => HttpRefusal::Malformed { host, what },
            None => HttpRefusal::Broken { host },
        };
        assert_eq!(refused, expected, "{lie:?}");
    }
}
