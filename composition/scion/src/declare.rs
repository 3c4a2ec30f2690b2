//! A connector as its author declares it, before it is served.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use scion_client::{ClientBuilder, ClientPorts, ClientRefusal, GovernedClient, Pacing, Rate};
use scion_domain::auth::AuthDeclaration;
use scion_domain::content::ContentRefusal;
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{CallRefusal, HttpProfile, HttpRefusal};
use scion_domain::refusal::{Blame, Refusal, Retry};
use scion_domain::surface::{ConnectorRefusal, StartRefusal};
use scion_domain::tool_surface::{ToolPrefix, ToolSurfaceRefusal};
use scion_local::process_environment;
use scion_serve::{Connector, ConnectorBuilder, Identity, Operations, ServedContent, ServedSurface};

use crate::http::system_ports;

/// A client type of one vendor's API: it is made of a [`GovernedClient`], and its operations are tools.
pub trait Api: Operations + Sized {
    /// The client type around its client.
    fn new(client: GovernedClient) -> Self;
}

type OfClient = Box<dyn FnOnce(ClientBuilder) -> Result<ClientBuilder, ClientRefusal> + Send>;
type OfBuilder = Box<dyn FnOnce(ConnectorBuilder) -> ConnectorBuilder + Send>;
type Mount = fn(ConnectorBuilder, GovernedClient) -> ConnectorBuilder;

/// A connector as declared; [`connector!`](crate::connector) writes it. Nothing is opened or read before it is served.
///
/// # Settings
/// An operator sets, by the connector's prefix in capitals (`GITHUB` for `prefix = "github"`, or for the name `github-mcp`):
/// `GITHUB_BASE_URL`, `GITHUB_RATE_LIMIT` (`10/s`, `300/min`, `5000/h`), `GITHUB_TLS_PROFILE`, `GITHUB_PROXY_PROFILE`,
/// `GITHUB_ALLOWED_PRIVATE_HOSTS` and `GITHUB_ALLOW_LOOPBACK`. A base URL from there may name a private host or this machine,
/// because the operator wrote it; one in code must be public.
#[must_use = "a declaration does nothing until it is served with `scion::run`"]
pub struct ConnectorDeclaration {
    identity: Identity,
    prefix: Option<&'static str>,
    destroys: bool,
    mount: Mount,
    auth: AuthDeclaration,
    base_url: Option<String>,
    rate: Option<Pacing>,
    title: Option<String>,
    instructions: Option<String>,
    content: Option<Content>,
    client: Vec<OfClient>,
    configure: Vec<OfBuilder>,
}

enum Content {
    Embedded(&'static [(&'static str, &'static [u8])]),
    Read(Box<ServedContent>),
}

impl fmt::Debug for ConnectorDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectorDeclaration").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl ConnectorDeclaration {
    /// A connector over one client type.
    pub fn of<A: Api>(identity: Identity) -> Self {
        Self {
            identity,
            prefix: A::PREFIX,
            destroys: A::DESTROYS,
            mount: |builder, client| builder.operations(Arc::new(A::new(client))),
            auth: AuthDeclaration::default(),
            base_url: None,
            rate: None,
            title: None,
            instructions: None,
            content: None,
            client: Vec::new(),
            configure: Vec::new(),
        }
    }

    /// How the vendor knows the connector. It names secrets and holds none; they are read when the first call is made.
    pub fn auth(mut self, declaration: impl Into<AuthDeclaration>) -> Self {
        self.auth = declaration.into();
        self
    }

    /// Where the API is: https, and public. The operator's `<PREFIX>_BASE_URL` goes before it.
    pub fn base_url(mut self, url: &str) -> Self {
        self.base_url = Some(url.to_owned());
        self
    }

    /// How often calls may start. The operator's `<PREFIX>_RATE_LIMIT` goes before it.
    pub fn rate_limit(mut self, pacing: impl Into<Pacing>) -> Self {
        self.rate = Some(pacing.into());
        self
    }

    /// A name for people.
    pub fn title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// How to use the server, for models and people.
    pub fn instructions(mut self, text: &str) -> Self {
        self.instructions = Some(text.to_owned());
        self
    }

    /// Content that the binary carries ([`embed_content!`](crate::embed_content)).
    pub fn embedded_content(mut self, files: &'static [(&'static str, &'static [u8])]) -> Self {
        self.content = Some(Content::Embedded(files));
        self
    }

    /// Content from elsewhere, for example [`content::load`](crate::content::load).
    pub fn content(mut self, content: ServedContent) -> Self {
        self.content = Some(Content::Read(Box::new(content)));
        self
    }

    /// Anything else the client's builder takes: retry rules, headers, deadlines.
    pub fn client(
        mut self,
        hook: impl FnOnce(ClientBuilder) -> Result<ClientBuilder, ClientRefusal> + Send + 'static,
    ) -> Self {
        self.client.push(Box::new(hook));
        self
    }

    /// Anything else the connector's builder takes: further tools, sources, mappings, resources.
    pub fn configure(mut self, hook: impl FnOnce(ConnectorBuilder) -> ConnectorBuilder + Send + 'static) -> Self {
        self.configure.push(Box::new(hook));
        self
    }

    /// The one declared name and the version.
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What help says about it.
    #[cfg(feature = "mcp-server")]
    pub(crate) fn about(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The surface to serve, with the settings and the way out of this process.
    pub async fn surface(self) -> Result<ServedSurface, NotStarted> {
        let ports = system_ports().map_err(ClientRefusal::from)?;
        self.surface_with(&process_environment(), ports).await
    }

    /// The surface to serve, with settings and a way out of the caller's choice.
    pub async fn surface_with(
        self,
        settings: &BTreeMap<String, String>,
        ports: &ClientPorts,
    ) -> Result<ServedSurface, NotStarted> {
        let Self {
            identity,
            prefix,
            destroys,
            mount,
            auth,
            base_url,
            rate,
            title,
            instructions,
            content,
            client,
            configure,
        } = self;
        let settings = Settings::of(identity.name(), prefix, settings)?;
        let mut builder = GovernedClient::builder(identity.name()).auth(auth);
        if destroys {
            builder = builder.allow_destructive();
        }
        if let Some(pacing) = rate {
            builder = builder.rate_limit(pacing);
        }
        let mut builder = settings.apply(builder, base_url.as_deref())?;
        for hook in client {
            builder = hook(builder)?;
        }
        let opened = builder.build_with(ports).await?;
        let mut builder = mount(Connector::builder(identity), opened);
        if let Some(title) = title {
            builder = builder.title(title);
        }
        if let Some(text) = instructions {
            builder = builder.instructions(text);
        }
        builder = match content {
            None => builder,
            Some(Content::Embedded(files)) => builder.content(ServedContent::embedded(files)?),
            Some(Content::Read(content)) => builder.content(*content),
        };
        let builder = configure.into_iter().fold(builder, |builder, hook| hook(builder));
        Ok(builder.build()?)
    }
}

/// The operator's settings of one connector.
struct Settings<'s> {
    prefix: String,
    environment: &'s BTreeMap<String, String>,
}

impl<'s> Settings<'s> {
    fn of(name: &str, prefix: Option<&str>, environment: &'s BTreeMap<String, String>) -> Result<Self, NotStarted> {
        let prefix = ToolPrefix::of_service(name, prefix)?.as_str().to_ascii_uppercase();
        Ok(Self { prefix, environment })
    }

    fn text(&self, key: &str) -> Option<&'s str> {
        let text = self.environment.get(&format!("{}_{key}", self.prefix))?.trim();
        (!text.is_empty()).then_some(text)
    }

    fn apply(&self, builder: ClientBuilder, own_url: Option<&str>) -> Result<ClientBuilder, NotStarted> {
        let variable = |key: &str| format!("{}_{key}", self.prefix);
        let read = HttpProfile::from_settings(&self.prefix, |name| self.environment.get(name).cloned())?;
        let mut egress = read.egress;
        let mut builder = match (self.text("BASE_URL"), own_url) {
            (Some(url), _) => {
                let of_operator = EgressPolicy::for_endpoint(url).map_err(|refusal| {
                    // The host is left out: what cannot be read may hold anything.
                    HttpRefusal::Destination { host: variable("BASE_URL"), reason: refusal.code() }
                });
                egress = EgressPolicy {
                    allowed_private_hosts: egress.allowed_private_hosts,
                    allow_loopback: egress.allow_loopback,
                    ..of_operator.map_err(ClientRefusal::from)?
                };
                builder.base_url(url)?
            }
            (None, Some(url)) => builder.base_url(url)?,
            (None, None) => return Err(StartRefusal::NoBaseUrl { variable: variable("BASE_URL") }.into()),
        };
        builder = builder.egress(egress);
        if let Some(profile) = read.tls {
            builder = builder.tls_profile(&profile);
        }
        if let Some(profile) = read.proxy {
            builder = builder.proxy_profile(&profile);
        }
        if let Some(text) = self.text("RATE_LIMIT") {
            let rate = rate(text).ok_or_else(|| StartRefusal::Rate { variable: variable("RATE_LIMIT") })?;
            builder = builder.rate_limit(rate);
        }
        Ok(builder)
    }
}

/// `10/s`, `300/min`, `5000/h`.
fn rate(text: &str) -> Option<Rate> {
    let (count, unit) = text.split_once('/')?;
    let count: u32 = count.trim().parse().ok().filter(|count| (1..=1_000_000).contains(count))?;
    let window = match unit.trim() {
        "s" | "sec" | "second" => 1,
        "m" | "min" | "minute" => 60,
        "h" | "hour" => 3600,
        _ => return None,
    };
    Some(Rate::every(Duration::from_secs(window) / count))
}

/// Why a declared connector cannot be served. Each part keeps its own code, blame and next step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStarted {
    /// The client cannot be opened.
    Client(ClientRefusal),
    /// The content is not acceptable.
    Content(ContentRefusal),
    /// The declaration is not acceptable.
    Connector(ConnectorRefusal),
    /// The prefix makes no tool names.
    Prefix(ToolSurfaceRefusal),
    /// A setting is missing or wrong.
    Start(StartRefusal),
}

impl NotStarted {
    fn inner(&self) -> &dyn Refusal {
        match self {
            Self::Client(refusal) => refusal,
            Self::Content(refusal) => refusal,
            Self::Connector(refusal) => refusal,
            Self::Prefix(refusal) => refusal,
            Self::Start(refusal) => refusal,
        }
    }
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.inner(), f)
    }
}

impl std::error::Error for NotStarted {}

impl Refusal for NotStarted {
    fn code(&self) -> &'static str {
        self.inner().code()
    }

    fn blame(&self) -> Blame {
        self.inner().blame()
    }

    fn retry(&self) -> Retry {
        self.inner().retry()
    }

    fn next_step(&self) -> &'static str {
        self.inner().next_step()
    }
}

macro_rules! made_of {
    ($($part:ident => $variant:ident),*) => {
        $(impl From<$part> for NotStarted {
            fn from(refusal: $part) -> Self {
                Self::$variant(refusal)
            }
        })*
    };
}

made_of!(ClientRefusal => Client, ContentRefusal => Content, ConnectorRefusal => Connector, ToolSurfaceRefusal => Prefix, StartRefusal => Start);

impl From<CallRefusal> for NotStarted {
    fn from(refusal: CallRefusal) -> Self {
        Self::Client(refusal.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_and_a_unit() {
        assert_eq!(rate("10/s"), Some(Rate::every(Duration::from_millis(100))));
        assert_eq!(rate(" 300 / min "), Some(Rate::every(Duration::from_millis(200))));
        assert_eq!(rate("3600/h"), Some(Rate::every(Duration::from_secs(1))));
        for bad in ["", "10", "0/s", "-1/s", "10/fortnight", "1.5/s", "9999999/s"] {
            assert_eq!(rate(bad), None, "{bad}");
        }
    }
}
