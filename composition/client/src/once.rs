//! One call to a place that is not a client's own: a webhook, a self-hosted endpoint an operator names.

use std::time::Duration;

use scion_domain::json::Json;
use serde::Serialize;

use crate::{ClientPorts, ClientRefusal, GovernedClient, Request};

/// How to make one call: which private hosts are meant, and its bounds. The same for reading and posting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeCall {
    /// Exact host names or addresses that may be private.
    pub allowed_private_hosts: Vec<String>,
    /// This machine may be called.
    pub allow_loopback: bool,
    /// The name of a TLS profile.
    pub tls_profile: Option<String>,
    /// The one deadline.
    pub total: Duration,
    /// The largest answer.
    pub max_bytes: u64,
}

impl Default for SafeCall {
    /// Public hosts only, 30 s, 16 MiB.
    fn default() -> Self {
        Self {
            allowed_private_hosts: Vec::new(),
            allow_loopback: false,
            tls_profile: None,
            total: Duration::from_secs(30),
            max_bytes: 16 * 1024 * 1024,
        }
    }
}

impl SafeCall {
    /// With these hosts allowed to be private.
    pub fn to_private_hosts<S: Into<String>>(hosts: impl IntoIterator<Item = S>) -> Self {
        Self { allowed_private_hosts: hosts.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    async fn client(&self, ports: &ClientPorts, url: &str) -> Result<(GovernedClient, String), ClientRefusal> {
        let origin = url.find("://").map_or(url, |scheme| {
            let rest = &url[scheme + 3..];
            &url[..scheme + 3 + rest.find(['/', '?', '#']).unwrap_or(rest.len())]
        });
        let mut builder = GovernedClient::builder("safe-call").base_url(origin)?.total_timeout(self.total);
        for host in &self.allowed_private_hosts {
            builder = builder.allow_private_host(host);
        }
        if self.allow_loopback {
            builder = builder.allow_loopback();
        }
        if let Some(profile) = &self.tls_profile {
            builder = builder.tls_profile(profile);
        }
        Ok((builder.build_with(ports).await?, url[origin.len()..].to_owned()))
    }

    async fn json(&self, request: Request) -> Result<Json, ClientRefusal> {
        request.max_bytes(self.max_bytes).json().await
    }
}

/// Posts JSON to a URL and reads JSON. The destination is checked before anything is sent, the call is not repeated once it may
/// have arrived, and an answer that is not JSON is a refusal of its own.
pub async fn safe_post_json<T: Serialize + ?Sized>(
    ports: &ClientPorts,
    url: &str,
    body: &T,
    call: &SafeCall,
) -> Result<Json, ClientRefusal> {
    let (client, path) = call.client(ports, url).await?;
    call.json(client.post(&path).json_body(body)).await
}

/// Reads JSON from a URL, under the same rules.
pub async fn safe_get_json(ports: &ClientPorts, url: &str, call: &SafeCall) -> Result<Json, ClientRefusal> {
    let (client, path) = call.client(ports, url).await?;
    call.json(client.get(&path)).await
}
