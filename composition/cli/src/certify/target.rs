//! The server that the command line names.

use std::collections::BTreeMap;
use std::sync::Arc;

use scion::certify::CertifyOptions;
use scion::ports::McpConnector;
use scion_domain::config::{ClientCredentials, EndpointSpec, EndpointTarget, auth_url, endpoint_url};
use scion_domain::credential::SecretRef;
use scion_domain::id::ConnectorName;

use super::args::CertifyArgs;
use super::misuse;
use super::placeholder::{self, WithPlaceholder};
use crate::connectors::Connectors;
use crate::output::Refused;

/// On whose behalf secrets are resolved: who the server is, is known afterwards.
const OWNER: &str = "connector-certify";

/// A server to certify.
pub(super) struct Target {
    pub(super) endpoint: EndpointSpec,
    /// What to call it while it has not said who it is.
    pub(super) shown: String,
    owner: ConnectorName,
}

impl Target {
    /// Reads it; nothing is resolved yet.
    pub(super) fn of(args: &CertifyArgs) -> Result<Self, Refused> {
        let (target, shown) = match (&args.url, args.command.split_first()) {
            (Some(url), None) => (by_url(url, args)?, "server at --url".to_owned()),
            (None, Some((program, rest))) => (by_command(program, rest, args)?, program.clone()),
            _ => return Err(misuse("name the server: --url URL, --config FILE, or its command behind `--`")),
        };
        let timeout = args.timeout.unwrap_or(CertifyOptions::default().timeout);
        let owner = ConnectorName::parse(OWNER)?;
        Ok(Self { endpoint: EndpointSpec { target, timeout }, shown, owner })
    }

    /// What opens a session with it.
    pub(super) fn client(&self, connectors: &Connectors) -> Arc<dyn McpConnector> {
        let credentials = Arc::new(WithPlaceholder(connectors.credentials()));
        connectors.client_with(&self.owner, &self.endpoint, credentials)
    }
}

fn reference(flag: &str, text: Option<&String>) -> Result<String, Refused> {
    let Some(text) = text else { return Ok(String::new()) };
    // The text is not repeated: it may be a secret put in the wrong place.
    SecretRef::parse(text).map_err(|refusal| Refused::from(refusal).at(flag))?;
    Ok(text.clone())
}

fn by_url(url: &str, args: &CertifyArgs) -> Result<EndpointTarget, Refused> {
    endpoint_url(url).map_err(|refusal| Refused::from(refusal).at("--url"))?;
    let bearer_token = reference("--bearer-token", args.bearer_token.as_ref())?;
    let client_secret_ref = reference("--oidc-client-secret-ref", args.oidc_client_secret_ref.as_ref())?;
    let text = |given: &Option<String>| given.clone().unwrap_or_default();
    let client_credentials = if args.oidc_issuer.is_some() || args.oidc_token_url.is_some() {
        for (flag, given, issuer) in
            [("--oidc-issuer", &args.oidc_issuer, true), ("--oidc-token-url", &args.oidc_token_url, false)]
        {
            if let Some(given) = given {
                auth_url(given, issuer).map_err(|refusal| Refused::from(refusal).at(flag))?;
            }
        }
        Some(ClientCredentials {
            issuer: text(&args.oidc_issuer),
            token_url: text(&args.oidc_token_url),
            client_id: text(&args.oidc_client_id),
            client_secret_ref,
            audience: text(&args.oidc_audience),
            scope: text(&args.oidc_scope),
        })
    } else if args.oidc_client_id.is_some() || args.oidc_client_secret_ref.is_some() {
        return Err(misuse("an OAuth client needs --oidc-issuer or --oidc-token-url"));
    } else {
        None
    };
    Ok(EndpointTarget::Url { url: url.to_owned(), bearer_token, client_credentials })
}

fn by_command(program: &str, rest: &[String], args: &CertifyArgs) -> Result<EndpointTarget, Refused> {
    let mut env = BTreeMap::new();
    for pair in &args.env {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(misuse("--env wants NAME=REF, a variable and a reference to its value"));
        };
        check_name("--env", name)?;
        let text = reference(&format!("--env {name}"), Some(&text.to_owned()))?;
        if env.insert(name.to_owned(), text).is_some() {
            return Err(misuse(&format!("--env names `{name}` twice")));
        }
    }
    for name in &args.placeholder {
        check_name("--placeholder", name)?;
        if env.insert(name.clone(), placeholder::reference()).is_some() {
            return Err(misuse(&format!("`{name}` has a value already")));
        }
    }
    Ok(EndpointTarget::Command { command: program.to_owned(), args: rest.to_vec(), env })
}

/// The name may be a secret that was meant to stand behind `=`, so a bad one is not repeated.
fn check_name(flag: &str, name: &str) -> Result<(), Refused> {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = first && name.len() <= 128 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain { Ok(()) } else { Err(misuse(&format!("{flag} wants the name of a variable: letters, digits and `_`"))) }
}
