//! Calling vendor APIs: the governed client over this machine's dialer, clocks, randomness and secrets.
//!
//! ```no_run
//! use futures_util::StreamExt as _;
//! use scion::http::{Bearer, BuildClient as _, ClientRefusal, GovernedClient, LinkHeader, Paged, per_second};
//!
//! #[derive(serde::Deserialize)]
//! struct Repo {
//!     full_name: String,
//! }
//!
//! async fn names() -> Result<Vec<String>, ClientRefusal> {
//!     let client = GovernedClient::builder("github")
//!         .base_url("https://api.github.com")?
//!         .auth(Bearer::env("GITHUB_TOKEN"))
//!         .rate_limit(per_second(10))
//!         .build()
//!         .await?;
//!     let mut repos: Paged<Repo> = client.get("/user/repos").pages(LinkHeader).items();
//!     let mut names = Vec::new();
//!     while let Some(repo) = repos.next().await {
//!         names.push(repo?.full_name);
//!     }
//!     Ok(names)
//! }
//! ```
//!
//! A program with TLS or proxy profiles, with a secret store or with token storage makes its own [`ClientPorts`] with [`ports`] and
//! builds with [`ClientBuilder::build_with`].

use std::sync::{Arc, OnceLock};

use scion_domain::json::Json;
use scion_local::{EnvCredentials, SystemClock, SystemEntropy};
use scion_ports::{AuthFactory, HttpDialer};
use serde::Serialize;

pub use scion_auth::OutboundAuth;
pub use scion_client::{
    AirGap, ClientBuilder, ClientPorts, ClientRefusal, Cursor, Envelope, GovernedClient, LinkHeader, NextUrl, Offset,
    Pacing, PageNumber, Paged, Rate, RateSnapshot, Request, Response, RunFailure, Runner, SafeCall, SinceId, pages,
    per_minute, per_second,
};
pub use scion_domain::auth::{
    ApiKey, AuthDeclaration, Basic, Bearer, ClientCredentials, NoAuth, Pkce, RefreshToken, SessionLogin, TokenExchange,
};
pub use scion_domain::http::HttpProfile;
pub use scion_http::Dialer;

/// Ports over a dialer and a factory of credentials, with the clock and the randomness of this machine.
pub fn ports(dialer: impl HttpDialer + 'static, auth: impl AuthFactory + 'static) -> ClientPorts {
    ClientPorts {
        dialer: Arc::new(dialer),
        auth: Arc::new(auth),
        clock: Arc::new(SystemClock::new()),
        entropy: Arc::new(SystemEntropy),
    }
}

/// The ports of this machine, one set for the process: no TLS and proxy profiles, secrets in environment variables, tokens in
/// memory.
pub fn system_ports() -> &'static ClientPorts {
    static PORTS: OnceLock<ClientPorts> = OnceLock::new();
    PORTS.get_or_init(|| {
        let credentials = Arc::new(EnvCredentials::of_process());
        let auth = OutboundAuth::new(credentials, Arc::new(SystemClock::new()), Arc::new(SystemEntropy));
        ports(Dialer::builder().build(), auth)
    })
}

/// Builds a client with the ports of this machine.
pub trait BuildClient: Sized {
    /// Opens the client over [`system_ports`].
    fn build(self) -> impl Future<Output = Result<GovernedClient, ClientRefusal>> + Send;
}

impl BuildClient for ClientBuilder {
    async fn build(self) -> Result<GovernedClient, ClientRefusal> {
        self.build_with(system_ports()).await
    }
}

/// Posts JSON to a URL that is not a client's own, over [`system_ports`]; see [`scion_client::safe_post_json`].
pub async fn safe_post_json<T: Serialize + ?Sized>(
    url: &str,
    body: &T,
    call: &SafeCall,
) -> Result<Json, ClientRefusal> {
    scion_client::safe_post_json(system_ports(), url, body, call).await
}

/// Reads JSON from a URL that is not a client's own, over [`system_ports`]; see [`scion_client::safe_get_json`].
pub async fn safe_get_json(url: &str, call: &SafeCall) -> Result<Json, ClientRefusal> {
    scion_client::safe_get_json(system_ports(), url, call).await
}
