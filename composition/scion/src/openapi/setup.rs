//! The client of an API, as its document and its operator describe it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use scion_client::{ClientPorts, ClientRefusal, GovernedClient};
use scion_domain::credential::SecretRef;
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{CallRefusal, ExchangeLimits, HttpProfile, Url};
use scion_domain::openapi::SetupRefusal;
use scion_domain::refusal::{Blame, Refusal, Retry};
use scion_openapi::{CuratedApi, SchemeKind, base_url, choose_auth};
use scion_serve::{ConnectorBuilder, Tool};

use super::call::Bound;
use super::source;
use super::together::Together;

/// How an API is reached.
#[derive(Clone, Debug)]
#[must_use]
pub struct ApiSetup {
    owner: String,
    base_url: Option<String>,
    variables: BTreeMap<String, String>,
    auth: Vec<String>,
    client_id: Option<String>,
    limits: ExchangeLimits,
    profile: HttpProfile,
}

/// Why an API cannot be reached as described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiSetupRefusal {
    /// The document and what was given beside it do not say how.
    Setup(SetupRefusal),
    /// The client cannot be opened.
    Client(ClientRefusal),
}

impl ApiSetupRefusal {
    fn inner(&self) -> &dyn Refusal {
        match self {
            Self::Setup(refusal) => refusal,
            Self::Client(refusal) => refusal,
        }
    }
}

impl std::fmt::Display for ApiSetupRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self.inner(), f)
    }
}

impl std::error::Error for ApiSetupRefusal {}

impl Refusal for ApiSetupRefusal {
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

impl From<SetupRefusal> for ApiSetupRefusal {
    fn from(refusal: SetupRefusal) -> Self {
        Self::Setup(refusal)
    }
}

impl From<ClientRefusal> for ApiSetupRefusal {
    fn from(refusal: ClientRefusal) -> Self {
        Self::Client(refusal)
    }
}

/// A tool that is not served, because the document places its operation on another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherServer {
    /// The tool.
    pub tool: String,
    /// The host, or what the document says in its place.
    pub host: String,
}

/// The largest answer, in bytes after decompression, unless set.
const ANSWER_BYTES: u64 = 8 << 20;
/// How many redirects are followed; to another origin only without the credential.
const REDIRECTS: u8 = 3;

impl ApiSetup {
    /// For the connector of this fleet name; secrets are scoped to it, and environment variables begin with it.
    pub fn new(owner: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            base_url: None,
            variables: BTreeMap::new(),
            auth: Vec::new(),
            client_id: None,
            limits: ExchangeLimits { body_bytes: ANSWER_BYTES, ..ExchangeLimits::default() },
            profile: HttpProfile::default(),
        }
    }

    /// Where the API is, in place of the document's servers. This host may be private or on this machine, since somebody wrote it
    /// down for this very purpose; a host that only the document names must be public.
    pub fn base_url(mut self, url: &str) -> Self {
        self.base_url = Some(url.to_owned());
        self
    }

    /// A value for a variable of the document's server.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// How to authenticate: `SCHEME`, `SCHEME=REFERENCE[,REFERENCE]`, a reference alone, or `none`. Given twice, both credentials go
    /// with every request. Without any, a document that wants authentication is refused with what it wants.
    pub fn auth(mut self, text: &str) -> Self {
        self.auth.push(text.to_owned());
        self
    }

    /// The client id that was registered for OAuth.
    pub fn client_id(mut self, id: &str) -> Self {
        self.client_id = Some(id.to_owned());
        self
    }

    /// The one deadline of a call, retries included; 30 s unless set.
    pub const fn total_timeout(mut self, total: Duration) -> Self {
        self.limits.total = total;
        self
    }

    /// The largest answer, in bytes after decompression; 8 MiB unless set.
    pub const fn answer_bytes(mut self, bytes: u64) -> Self {
        self.limits.body_bytes = bytes;
        self
    }

    /// TLS profile, proxy profile and private hosts.
    pub fn profile(mut self, profile: HttpProfile) -> Self {
        self.profile = profile;
        self
    }

    /// The environment variables and other references whose secrets the chosen authentication takes.
    pub fn references(&self, api: &CuratedApi) -> Result<Vec<SecretRef>, SetupRefusal> {
        Ok(choose_auth(api, &self.auth, &self.owner, self.client_id.as_deref())?.references)
    }

    /// Opens the client. Nothing is sent to the API yet.
    pub async fn open(self, api: &CuratedApi, ports: &ClientPorts) -> Result<ApiClient, ApiSetupRefusal> {
        let chosen = choose_auth(api, &self.auth, &self.owner, self.client_id.as_deref())?;
        let mut variables = api.variables.clone();
        variables.extend(self.variables.clone());
        let written = self.base_url.clone().or_else(|| api.base_url.clone());
        let address = match &written {
            Some(url) => url.clone(),
            None => base_url(&api.servers, &variables)?,
        };
        let (base, client) = self.client(&address, written.is_some(), &chosen.declarations, ports).await?;
        let mut opened = ApiClient {
            base: base.clone(),
            main: client,
            own: BTreeMap::new(),
            elsewhere: Vec::new(),
            unmet: chosen.unmet,
            schemes: chosen.schemes,
        };
        if written.is_some() {
            return Ok(opened);
        }
        for operation in api.operations.iter().filter(|operation| !operation.operation.servers.is_empty()) {
            let tool = operation.tool.name.clone();
            let stated = base_url(&operation.operation.servers, &BTreeMap::new());
            // A path alone is a place on the server of the whole document.
            let stated = match stated {
                Err(SetupRefusal::RelativeServer { url }) => base.join(&url).map(|url| url.to_string()).ok(),
                other => other.ok(),
            };
            let url = stated.and_then(|url| url.parse::<Url>().ok());
            match url {
                Some(url) if url.origin() == base.origin() => {
                    let (base, client) = self.client(url.as_str(), false, &chosen.declarations, ports).await?;
                    opened.own.insert(tool, (base, client));
                }
                other => {
                    let host = other.and_then(|url| url.host_str().map(str::to_owned));
                    opened
                        .elsewhere
                        .push(OtherServer { tool, host: host.unwrap_or_else(|| "a server of its own".to_owned()) });
                }
            }
        }
        Ok(opened)
    }

    async fn client(
        &self,
        address: &str,
        written: bool,
        declarations: &[scion_domain::auth::AuthDeclaration],
        ports: &ClientPorts,
    ) -> Result<(Url, GovernedClient), ApiSetupRefusal> {
        let mut builder = GovernedClient::builder(&self.owner)
            .base_url(address)?
            .limits(self.limits)
            .follow_redirects(REDIRECTS)
            // Whether a destructive call runs is decided by a person, before it comes here.
            .allow_destructive()
            .header("accept", "application/json, */*;q=0.5")?;
        let mut egress = EgressPolicy::default();
        if written {
            let named = EgressPolicy::for_endpoint(address.trim());
            egress = named
                .map_err(|refusal| CallRefusal::Egress { option: "base_url", reason: refusal.code() })
                .map_err(ClientRefusal::from)?;
        }
        egress.allowed_private_hosts.clone_from(&self.profile.egress.allowed_private_hosts);
        egress.allow_loopback |= self.profile.egress.allow_loopback;
        builder = builder.egress(egress);
        if let Some(name) = &self.profile.tls {
            builder = builder.tls_profile(name);
        }
        if let Some(name) = &self.profile.proxy {
            builder = builder.proxy_profile(name);
        }
        let client = match declarations {
            [] => builder.build_with(ports).await?,
            [one] => builder.auth(one.clone()).build_with(ports).await?,
            [first, ..] => {
                let together = Together::new(ports.auth.clone(), declarations.to_vec());
                let ports = ClientPorts { auth: Arc::new(together), ..ports.clone() };
                builder.auth(first.clone()).build_with(&ports).await?
            }
        };
        let mut base: Url = address
            .trim()
            .parse()
            .map_err(|_| ClientRefusal::from(CallRefusal::Option { option: "base_url", what: "is not a URL" }))?;
        if !base.path().ends_with('/') {
            let folder = format!("{}/", base.path());
            base.set_path(&folder);
        }
        Ok((base, client))
    }
}

/// The opened client of an API.
#[derive(Debug)]
pub struct ApiClient {
    base: Url,
    main: GovernedClient,
    /// Clients of operations with a server of their own, by tool.
    own: BTreeMap<String, (Url, GovernedClient)>,
    elsewhere: Vec<OtherServer>,
    unmet: Vec<String>,
    schemes: Vec<String>,
}

impl ApiClient {
    /// The host the API is at.
    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// The security schemes whose credentials are sent.
    pub fn schemes(&self) -> &[String] {
        &self.schemes
    }

    /// Tools that want another scheme than those that were chosen. They are served; the API will refuse them.
    pub fn unmet(&self) -> &[String] {
        &self.unmet
    }

    /// Tools that are not served, because a credential goes to one origin only. Give the API's `base_url` to serve them there.
    pub fn elsewhere(&self) -> &[OtherServer] {
        &self.elsewhere
    }

    /// Adds the tools and sources of an API to a connector, in the order of their names.
    #[must_use]
    pub fn extend(&self, api: CuratedApi, mut builder: ConnectorBuilder) -> ConnectorBuilder {
        let schemes = api.security_schemes.values();
        let secret = schemes.filter_map(|scheme| match &scheme.kind {
            SchemeKind::QueryKey { name } => Some(name.clone()),
            _ => None,
        });
        let secret: Arc<[String]> = secret.collect();
        if let Some(text) = &api.instructions {
            builder = builder.instructions(text);
        }
        if !api.title.is_empty() {
            builder = builder.title(&api.title);
        }
        let served = |tool: &str| !self.elsewhere.iter().any(|other| other.tool == tool);
        for operation in api.operations.into_iter().filter(|operation| served(&operation.tool.name)) {
            let (base, client) =
                self.own.get(&operation.tool.name).cloned().unwrap_or((self.base.clone(), self.main.clone()));
            let described = &operation.tool;
            let mut tool = Tool::with_hints(&described.name, described.hints)
                .input_schema(described.input_schema.as_object().cloned().unwrap_or_default());
            if let Some(title) = &described.title {
                tool = tool.title(title);
            }
            if let Some(description) = &described.description {
                tool = tool.description(description);
            }
            if let Some(output) = &described.output_schema {
                tool = tool.output_schema(output.clone());
            }
            if !operation.operation.tags.is_empty() {
                let tags: Vec<_> = operation.operation.tags.iter().map(|tag| tag.as_str().into()).collect();
                tool = tool.meta("tags", tags.into());
            }
            if let Some(plan) = &operation.source {
                tool = tool.source(source::source(plan));
            }
            let bound = Arc::new(Bound { operation, client, base, secret: secret.clone() });
            builder = builder.tool(tool.handle(move |_context, args| {
                let bound = bound.clone();
                async move { bound.call(args.into_object()).await }
            }));
        }
        builder
    }
}
