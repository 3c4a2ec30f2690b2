//! The table: which calls send requests, and what drives each of them.

use std::future::Future;
use std::pin::Pin;

use scion_lab::{Answer, Received};

use crate::stage::Stage;

mod auth;
mod built_on;
mod client;
mod mcp;
mod openbao;
mod proxy;
mod raw;

/// How a fetch path ended: with something, or with the whole text of a refusal, `Display` and `Debug`.
pub(crate) type Outcome = Result<String, String>;

/// One fetch path.
pub(crate) struct FetchPath {
    /// Its name.
    pub(crate) name: &'static str,
    /// The bytes of the largest body it takes.
    pub(crate) holds: u64,
    /// What it takes for an answer.
    pub(crate) wants: Wants,
    /// Whether it is only for https.
    pub(crate) tls: bool,
    /// Faithful answers to the requests that come before the one under test; `None` lets the hostile answer happen.
    pub(crate) prologue: fn(&Received, &Stage) -> Option<Answer>,
    /// A faithful document that leads the path to another address, for paths that follow what they read.
    pub(crate) leads: Option<fn(&Stage, &str) -> Answer>,
    /// Whether the standard it follows lets a document send its credential to another public host.
    pub(crate) roams: bool,
    /// The answer it hopes for, to every request; `None` when there is none.
    pub(crate) honest: Option<fn(&Received, &Stage) -> Answer>,
    /// Drives it once against the server of the stage, with [`SECRET`](crate::stage::SECRET) as its credential.
    pub(crate) run: fn(Stage) -> Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

/// The body bound of [`Stage::limits`](crate::stage::Stage::limits).
pub(crate) const SMALL: u64 = 1024 * 1024;

/// What a fetch path takes for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Any answer, of any status: the ending is exactly the one of the case.
    Answer,
    /// A JSON document with a good status.
    Document,
    /// More than a JSON document: one with certain members. Nothing of the catalogue is one.
    Members,
}

/// Calls of `HttpExchange::send` in one file.
pub(crate) struct Calls {
    /// The file.
    pub(crate) file: &'static str,
    /// How many calls it has.
    pub(crate) count: usize,
    /// The fetch paths that drive them.
    pub(crate) paths: &'static [&'static str],
}

/// Every call of `HttpExchange::send`.
pub(crate) const CALLS: &[Calls] = &[
    Calls {
        file: "composition/client/src/send.rs",
        count: 1,
        paths: &[
            "client get",
            "client get with a key in its query",
            "client post",
            "client envelope",
            "client stream",
            "pages of links",
            "pages of next urls",
            "pages of cursors",
            "safe_get_json",
            "safe_post_json",
            "graphql query",
            "graphql pages",
            "embeddings",
            "payment",
        ],
    },
    Calls { file: "composition/client/src/air_gap.rs", count: 1, paths: &["air gap"] },
    // Three calls: two of them end in the third.
    Calls {
        file: "adapters/openbao/src/client.rs",
        count: 3,
        paths: &["openbao secret", "openbao token", "openbao mount", "openbao login"],
    },
    Calls {
        file: "composition/auth/src/authority.rs",
        count: 1,
        paths: &[
            "auth token",
            "auth discovery",
            "auth keys",
            "auth login",
            "auth refresh",
            "auth exchange",
            "auth key discovery",
            "auth login by cookie",
        ],
    },
    Calls {
        file: "adapters/mcp-client/src/http/request.rs",
        count: 1,
        paths: &["mcp handshake", "mcp listing", "mcp change stream"],
    },
    Calls { file: "composition/scion/src/outbound.rs", count: 1, paths: &["endpoint of an operator"] },
];

/// Calls of another `send`, with what they are.
pub(crate) const NO_FETCHES: &[(&str, usize, &str)] = &[
    ("adapters/mcp-client/src/http.rs", 1, "hands a message to the protocol library"),
    ("composition/scion/src/openapi/call.rs", 1, "a request of the governed client, whose own call is in the table"),
];

/// Every fetch path.
pub(crate) const PATHS: &[FetchPath] = &[
    raw::GET,
    raw::POST,
    raw::FOLLOW,
    raw::TLS,
    proxy::TUNNEL,
    proxy::CONNECT,
    client::GET,
    client::GET_KEY,
    client::POST,
    client::ENVELOPE,
    client::STREAM,
    client::LINKS,
    client::NEXT_URLS,
    client::CURSORS,
    client::SAFE_GET,
    client::SAFE_POST,
    client::AIR_GAP,
    built_on::QUERY,
    built_on::CONNECTION,
    built_on::EMBEDDINGS,
    built_on::PAYMENT,
    openbao::SECRET_READ,
    openbao::MOUNT,
    openbao::LOOK,
    openbao::LOGIN,
    auth::TOKEN,
    auth::DISCOVERY,
    auth::KEYS,
    auth::LOGIN,
    mcp::HANDSHAKE,
    mcp::LISTING,
    mcp::CHANGES,
    mcp::ENDPOINT,
    auth::REFRESH,
    auth::EXCHANGE,
    auth::KEY_DISCOVERY,
    auth::COOKIE,
];

/// Paths that drive the dialer itself and not a call of it.
pub(crate) const OF_THE_DIALER: &[&str] =
    &["raw get", "raw post", "raw redirects", "raw tls", "raw through a proxy", "raw to a hostile proxy"];

/// A path without any care, to show that the table can fail.
pub(crate) const fn careless() -> FetchPath {
    FetchPath {
        name: "careless",
        holds: SMALL,
        wants: Wants::Answer,
        tls: false,
        prologue: no_prologue,
        leads: None,
        roams: false,
        honest: None,
        run: |stage| Box::pin(raw::careless(stage)),
    }
}

pub(crate) fn no_prologue(_: &Received, _: &Stage) -> Option<Answer> {
    None
}

/// The whole text of a refusal.
pub(crate) fn text(refusal: &(impl std::fmt::Display + std::fmt::Debug)) -> String {
    format!("{refusal} {refusal:?}")
}
