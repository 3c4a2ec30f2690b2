use std::time::Duration;

use crate::answer::{Answer, RETRY_AFTER_FORMS};
use crate::behaviour::{Behaviour, Lie};
use crate::bomb::Coding;

/// How an exchange with a hostile answer has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a refusal, before the body is complete.
    Refused,
    /// With a refusal when time is up.
    TimedOut,
    /// With the answer: it is correct HTTP. Whether it is a document that was asked for is a later question.
    Answered,
    /// Either way, within the bounds.
    Bounded,
}

/// One hostile answer.
#[derive(Clone, Debug)]
pub struct HostileCase {
    /// Its name.
    pub name: String,
    /// What the server does.
    pub behaviour: Behaviour,
    /// How one raw exchange has to end.
    pub ending: Ending,
    /// Whether a caller that wants a JSON document can take it for one. Where it is `false` such a caller has to refuse.
    pub document: bool,
}

/// A decoded size that no bound of a test admits.
const BOMB_BYTES: u64 = 96 * 1024 * 1024;

/// Makes the bombs of [`hostile_cases`], which takes a moment, so that no case waits for them.
pub async fn prepare_bombs() {
    for case in hostile_cases() {
        if let Behaviour::Bomb(codings, size) = case.behaviour {
            crate::encode_zeros(&codings, size).await;
        }
    }
}

/// Every hostile answer but redirects. A client is expected to have a body bound below 64 MiB, a total deadline, and the default
/// header bounds.
pub fn hostile_cases() -> Vec<HostileCase> {
    use Ending::{Answered, Bounded, Refused, TimedOut};
    let mut cases = Vec::new();
    let mut add = |name: &str, behaviour: Behaviour, ending: Ending, document: bool| {
        cases.push(HostileCase { name: name.to_owned(), behaviour, ending, document });
    };
    let document = || Answer::json(&serde_json::json!({"items": [{"id": "1"}], "ok": true}));

    add("stalls before the head", Behaviour::StallBeforeHead, TimedOut, false);
    add("stalls in the head", Behaviour::StallInHead, TimedOut, false);
    add("stalls in the body", Behaviour::StallInBody(document()), TimedOut, false);
    add(
        "drips head and body",
        Behaviour::Drip(Duration::from_millis(50), Answer::ok("[]".repeat(4096))),
        TimedOut,
        false,
    );
    add("drips a body for ever", Behaviour::DripForEver(Duration::from_millis(50)), TimedOut, false);
    add("endless interim answers", Behaviour::EndlessInterim, Refused, false);

    add("endless headers", Behaviour::EndlessHeaders, Refused, false);
    add("one huge header", Behaviour::HugeHeader(1024 * 1024), Refused, false);
    add("ten thousand headers", Behaviour::ManyHeaders(10_000), Refused, false);
    add("endless chunks", Behaviour::EndlessBody, Refused, false);
    add("endless body until close", Behaviour::EndlessClose, Refused, false);
    add("endless chunk extension", Behaviour::EndlessChunkExtension, Refused, false);
    add("endless trailers", Behaviour::EndlessTrailers, Refused, true);
    for coding in Coding::ALL {
        add(&format!("{coding:?} bomb"), Behaviour::Bomb(vec![*coding], BOMB_BYTES), Refused, false);
        add(
            &format!("{coding:?} bomb in gzip"),
            Behaviour::Bomb(vec![*coding, Coding::Gzip], BOMB_BYTES),
            Refused,
            false,
        );
    }

    for lie in Lie::ALL {
        let (ending, document) = match lie {
            // What follows the announced bytes belongs to nobody; the announced ones are an answer.
            Lie::LengthTooShort => (Answered, true),
            // RFC 9112 6.1 and 6.3: a recipient may refuse a length beside chunks, or chunks win. A coding the client did not ask for
            // and odd bytes in fields it does not read may be handed over or refused.
            Lie::LengthAndChunks | Lie::EncodingUnknown | Lie::HeaderBytes => (Bounded, true),
            // An unasked upgrade has no body; it may be an answer of status 101.
            Lie::Upgrade => (Bounded, false),
            _ => (Refused, false),
        };
        add(&format!("lie {lie:?}"), Behaviour::Lie(*lie), ending, document);
    }

    add("closes before the head", Behaviour::CloseBeforeHead, Refused, false);
    add("resets before the head", Behaviour::ResetBeforeHead, Refused, false);
    add("resets in the body", Behaviour::ResetInBody(document()), Refused, false);

    add("answers 200 with an error", Answer::error_document("lab-error").into(), Answered, true);
    add("answers HTML", Answer::html().into(), Answered, false);
    add("answers invalid UTF-8", Answer::invalid_utf8().into(), Answered, false);
    // No body may be read as null.
    add("answers nothing", Answer::status(200).into(), Answered, true);
    add("answers 204", Answer::status(204).into(), Answered, true);
    add("answers half a document", Answer::ok("{\"items\": [").into(), Answered, false);
    add(
        "answers deep nesting",
        Answer::ok("[".repeat(100_000)).header("content-type", "application/json").into(),
        Answered,
        false,
    );
    add(
        "answers an unrelated document",
        Answer::json(&serde_json::json!({"weather": [1, null, "rain"]})).into(),
        Answered,
        true,
    );
    add("answers an array", Answer::json(&serde_json::json!([1, [2, [3]]])).into(), Answered, true);
    add("answers a scalar", Answer::json(&serde_json::json!("word")).into(), Answered, true);
    add("sets cookies everywhere", document().set_cookies().into(), Answered, true);
    for status in [400, 401, 403, 404, 407, 429, 500, 503] {
        add(&format!("echoes the request with {status}"), Behaviour::Echo(status), Answered, false);
    }
    add("echoes the request with 200", Behaviour::Echo(200), Answered, true);
    add("storms with 503", Answer::status(503).header("retry-after", "0").into(), Answered, false);
    for (form, value) in RETRY_AFTER_FORMS {
        add(&format!("throttles with {form}"), Answer::throttled(value).into(), Answered, false);
    }
    cases
}

/// Every way to write an address that leads to a port of this machine, or to a metadata service.
pub fn inside_locations(port: u16) -> Vec<String> {
    let hosts = [
        "127.0.0.1",
        "127.0.0.2",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fc00::1]",
        "inside.test",
        "user:lab@127.0.0.1",
        "lab.test@127.0.0.1",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "\u{2460}\u{2461}\u{2466}.0.0.1",
        "127\u{3002}0\u{3002}0\u{3002}1",
        "%31%32%37.0.0.1",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "169.254.1.1",
    ];
    let mut locations: Vec<String> = hosts.iter().map(|host| format!("http://{host}:{port}/inside")).collect();
    locations.extend(
        [
            "http://169.254.169.254/latest/meta-data/",
            "http://[::ffff:169.254.169.254]/latest/meta-data/",
            "http://[fd00:ec2::254]/latest/meta-data/",
            "http://2852039166/latest/meta-data/",
            "http://0xa9fea9fe/latest/meta-data/",
            "http://metadata.google.internal/computeMetadata/v1/",
            "http://100.100.100.200/latest/meta-data/",
        ]
        .map(str::to_owned),
    );
    locations.extend([
        format!("//127.0.0.1:{port}/inside"),
        format!("\\\\127.0.0.1:{port}\\inside"),
        format!("http:\\\\127.0.0.1:{port}\\inside"),
        format!("http:/127.0.0.1:{port}/inside"),
        format!("HTTP://127.0.0.1:{port}/inside"),
        format!("\thttp://127.0.0.1:{port}/inside"),
        format!("https://127.0.0.1:{port}/inside"),
        format!("ws://127.0.0.1:{port}/inside"),
        format!("ftp://127.0.0.1:{port}/inside"),
        format!("gopher://127.0.0.1:{port}/_inside"),
        "file:///etc/hostname".to_owned(),
        "data:application/json,{}".to_owned(),
        "javascript:alert(1)".to_owned(),
    ]);
    locations
}

/// Redirects inwards, one per location, over the redirecting statuses in turn.
pub fn redirect_cases(port: u16) -> Vec<(String, Answer)> {
    let statuses = [302, 301, 303, 307, 308];
    let locations = inside_locations(port).into_iter().enumerate();
    locations
        .map(|(at, location)| (location.clone(), Answer::redirect(statuses[at % statuses.len()], &location)))
        .collect()
}
