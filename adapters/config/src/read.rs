//! The typed walk from a tree to a configuration.

use std::collections::{BTreeMap, HashMap};

use scion_domain::config::{
    ClientCredentials, ConfigProblems, ConfigRefusal, ConnectorConfig, EndpointSpec, EndpointTarget, RunnerConfig,
    RunnerSettings, auth_url, endpoint_url,
};
use scion_domain::credential::SecretRef;
use scion_domain::id::{ConnectorName, StreamName};

use crate::fields;
use crate::scalar;
use crate::tree::Node;
use crate::walk::{At, Fields, Walk, join};

const CONCURRENCY: u32 = 256;
const PAGES: u32 = 1_000_000;

/// Reads the document; every problem in it is reported.
pub(crate) fn runner_config(root: &Node, file: &str) -> Result<RunnerConfig, ConfigProblems> {
    let mut walk = Walk::default();
    let config = document(&mut walk, &At { node: root, path: String::new() });
    walk.finish(file)?;
    // A walk that gives nothing has noted why; the second refusal is for a reader that forgets to.
    config.ok_or_else(|| ConfigProblems::of_file(file, ConfigRefusal::Empty))
}

fn document(walk: &mut Walk, at: &At<'_>) -> Option<RunnerConfig> {
    if at.is_null() {
        walk.refuse(at, ConfigRefusal::Empty);
        return None;
    }
    let top = walk.fields(at, fields::DOCUMENT)?;
    let settings = match top.get("settings") {
        Some(at) => settings(walk, &at),
        None => Some(RunnerSettings::default()),
    };
    let connectors = match top.get("connectors") {
        Some(at) => connectors(walk, &at),
        None => Some(Vec::new()),
    };
    Some(RunnerConfig { settings: settings?, connectors: connectors? })
}

fn settings(walk: &mut Walk, at: &At<'_>) -> Option<RunnerSettings> {
    let set = walk.fields(at, fields::SETTINGS)?;
    let silent = RunnerSettings::default();
    let max_concurrency = match set.get("max_concurrency") {
        None => Some(silent.max_concurrency),
        Some(at) => walk.take(&at, scalar::count(at.node, CONCURRENCY, "1 to 256")).map(|count| count as usize),
    };
    let backoff_initial = walk.or(&set, "backoff_initial_seconds", silent.backoff_initial, scalar::seconds);
    let backoff_max = walk.or(&set, "backoff_max_seconds", silent.backoff_max, scalar::seconds);
    let registry_refresh = walk.or(&set, "registry_refresh_seconds", silent.registry_refresh, scalar::seconds);
    let (backoff_initial, backoff_max) = (backoff_initial?, backoff_max?);
    if backoff_max < backoff_initial {
        let place = set.get("backoff_max_seconds").or_else(|| set.get("backoff_initial_seconds"));
        walk.refuse(&place.unwrap_or(set.at), ConfigRefusal::BackoffOrder);
    }
    Some(RunnerSettings {
        max_concurrency: max_concurrency?,
        backoff_initial,
        backoff_max,
        registry_refresh: registry_refresh?,
    })
}

fn connectors(walk: &mut Walk, at: &At<'_>) -> Option<Vec<ConnectorConfig>> {
    let items = walk.items(at)?;
    let mut lines: HashMap<ConnectorName, usize> = HashMap::new();
    let mut out = Vec::with_capacity(items.len());
    let mut whole = true;
    for item in &items {
        match connector(walk, item, &mut lines) {
            Some(connector) => out.push(connector),
            None => whole = false,
        }
    }
    whole.then_some(out)
}

fn connector(walk: &mut Walk, at: &At<'_>, lines: &mut HashMap<ConnectorName, usize>) -> Option<ConnectorConfig> {
    let set = walk.fields(at, fields::CONNECTOR)?;
    let name = walk.require(&set, "connector").and_then(|at| {
        let name = walk.take(&at, name(at.node))?;
        match lines.get(&name) {
            Some(first_line) => walk.refuse(&at, ConfigRefusal::DuplicateConnector { first_line: *first_line }),
            None => drop(lines.insert(name.clone(), at.node.place.line)),
        }
        Some(name)
    });
    let endpoint = walk.require(&set, "endpoint").and_then(|at| endpoint(walk, &at));
    let presets = match set.get("presets") {
        Some(at) => streams(walk, &at),
        None => Some(Vec::new()),
    };
    let provision = walk.or(&set, "provision", true, scalar::boolean);
    let interval = walk.or(&set, "interval_seconds", ConnectorConfig::DEFAULT_INTERVAL, scalar::seconds);
    let data_resources = match set.get("data_resources") {
        Some(at) => data_resources(walk, &at),
        None => Some(BTreeMap::new()),
    };
    let mapping_reference = text_or_empty(walk, &set, "mapping_reference");
    let approval = text_or_empty(walk, &set, "empty_authoritative_approval");
    let pages = walk.or(&set, "max_pages_per_cycle", ConnectorConfig::DEFAULT_MAX_PAGES, |node| {
        scalar::count(node, PAGES, "1 to 1000000")
    });
    let leave_out = walk.or(&set, "leave_out_foreign_edges", false, scalar::boolean);
    Some(ConnectorConfig {
        connector: name?,
        endpoint: endpoint?,
        presets: presets?,
        provision: provision?,
        interval: interval?,
        data_resources: data_resources?,
        mapping_reference: mapping_reference?,
        empty_authoritative_approval: approval?,
        max_pages_per_cycle: pages?,
        leave_out_foreign_edges: leave_out?,
    })
}

fn name(node: &Node) -> Result<ConnectorName, ConfigRefusal> {
    ConnectorName::parse(scalar::text(node)?).map_err(|refusal| ConfigRefusal::BadName { refusal })
}

fn streams(walk: &mut Walk, at: &At<'_>) -> Option<Vec<StreamName>> {
    let items = walk.items(at)?;
    let read =
        |node: &Node| StreamName::parse(scalar::text(node)?).map_err(|refusal| ConfigRefusal::BadName { refusal });
    let names: Vec<_> = items.iter().map(|item| walk.take(item, read(item.node))).collect();
    names.into_iter().collect()
}

fn data_resources(walk: &mut Walk, at: &At<'_>) -> Option<BTreeMap<String, Vec<StreamName>>> {
    let mut out = BTreeMap::new();
    let mut whole = true;
    for member in walk.members(at)? {
        match streams(walk, &at.child(&member.key, &member.value)) {
            Some(names) => drop(out.insert(member.key.clone(), names)),
            None => whole = false,
        }
    }
    whole.then_some(out)
}

fn endpoint(walk: &mut Walk, at: &At<'_>) -> Option<EndpointSpec> {
    let set = walk.fields(at, fields::ENDPOINT)?;
    let timeout = walk.or(&set, "timeout_seconds", EndpointSpec::DEFAULT_TIMEOUT, scalar::seconds);
    let url = text_or_empty(walk, &set, "url");
    let command = text_or_empty(walk, &set, "command");
    let args = match set.get("args") {
        Some(at) => texts(walk, &at),
        None => Some(Vec::new()),
    };
    let env = match set.get("env") {
        Some(at) => environment(walk, &at),
        None => Some(BTreeMap::new()),
    };
    let bearer_token = reference_or_empty(walk, &set, "bearer_token");
    let credentials = match set.get("client_credentials").filter(|at| !at.is_null()) {
        Some(at) => client_credentials(walk, &at).map(Some),
        None => Some(None),
    };
    let (url, command, args, env) = (url?, command?, args?, env?);
    let (bearer_token, client_credentials) = (bearer_token?, credentials?);
    let target = match (url.is_empty(), command.is_empty()) {
        (false, true) => {
            refuse_if(walk, &set, "args", !args.is_empty(), "command");
            refuse_if(walk, &set, "env", !env.is_empty(), "command");
            if !bearer_token.is_empty() && client_credentials.is_some() {
                walk.refuse(&set.get("client_credentials")?, ConfigRefusal::TwoCredentials);
            }
            if endpoint_url(&url) == Err(ConfigRefusal::UrlCredentials) {
                walk.refuse(&set.get("url")?, ConfigRefusal::UrlCredentials);
            }
            EndpointTarget::Url { url, bearer_token, client_credentials }
        }
        (true, false) => {
            refuse_if(walk, &set, "bearer_token", !bearer_token.is_empty(), "url");
            refuse_if(walk, &set, "client_credentials", client_credentials.is_some(), "url");
            EndpointTarget::Command { command, args, env }
        }
        (none, _) => {
            let found = if none { "neither" } else { "both" };
            walk.refuse(&set.at, ConfigRefusal::EndpointChoice { found });
            return None;
        }
    };
    Some(EndpointSpec { target, timeout: timeout? })
}

fn refuse_if(walk: &mut Walk, set: &Fields<'_>, key: &str, present: bool, needs: &'static str) {
    if present {
        let at = set.get(key).unwrap_or_else(|| set.at.clone());
        walk.refuse(&at, ConfigRefusal::WrongEndpoint { needs });
    }
}

fn texts(walk: &mut Walk, at: &At<'_>) -> Option<Vec<String>> {
    let items = walk.items(at)?;
    let texts: Vec<_> = items.iter().map(|item| walk.take(item, free_text(item.node))).collect();
    texts.into_iter().collect()
}

/// A text without NUL, which no argument, variable or header can carry.
fn free_text(node: &Node) -> Result<String, ConfigRefusal> {
    let text = scalar::text(node)?;
    if text.contains('\0') {
        return Err(ConfigRefusal::OutOfRange { expected: "text without NUL" });
    }
    Ok(text.to_owned())
}

fn text_or_empty(walk: &mut Walk, set: &Fields<'_>, key: &str) -> Option<String> {
    walk.or(set, key, String::new(), free_text)
}

fn environment(walk: &mut Walk, at: &At<'_>) -> Option<BTreeMap<String, String>> {
    let mut out = BTreeMap::new();
    let mut whole = true;
    for member in walk.members(at)? {
        let here = at.child(&member.key, &member.value);
        let usable = (1..=128).contains(&member.key.chars().count())
            && !member.key.chars().any(|c| c == '=' || c.is_whitespace() || c.is_control());
        if !usable {
            walk.note(member.place, &join(&at.path, &member.key), ConfigRefusal::BadEnvName);
        }
        match walk.take(&here, reference(&member.value)) {
            Some(reference) if usable => drop(out.insert(member.key.clone(), reference)),
            _ => whole = false,
        }
    }
    whole.then_some(out)
}

/// A secret reference in its normal form, or the empty text.
fn reference(node: &Node) -> Result<String, ConfigRefusal> {
    let text = scalar::text(node)?;
    if text.is_empty() {
        return Ok(String::new());
    }
    let reference = SecretRef::parse(text).map_err(|refusal| ConfigRefusal::NotAReference { refusal })?;
    Ok(reference.to_string())
}

fn reference_or_empty(walk: &mut Walk, set: &Fields<'_>, key: &str) -> Option<String> {
    walk.or(set, key, String::new(), reference)
}

fn client_credentials(walk: &mut Walk, at: &At<'_>) -> Option<ClientCredentials> {
    let set = walk.fields(at, fields::CREDENTIALS)?;
    let issuer = server_url(walk, &set, "issuer", true);
    let token_url = server_url(walk, &set, "token_url", false);
    let client_id = walk.require(&set, "client_id").and_then(|at| walk.take(&at, client_id(at.node)));
    let client_secret_ref = walk.require(&set, "client_secret_ref").and_then(|at| {
        let parsed = scalar::text(at.node)
            .and_then(|text| SecretRef::parse(text).map_err(|refusal| ConfigRefusal::NotAReference { refusal }));
        walk.take(&at, parsed)
    });
    let audience = text_or_empty(walk, &set, "audience");
    let scope = text_or_empty(walk, &set, "scope");
    let (issuer, token_url) = (issuer?, token_url?);
    if issuer.is_empty() == token_url.is_empty() {
        let found = if issuer.is_empty() { "neither" } else { "both" };
        walk.refuse(&set.at, ConfigRefusal::TokenSourceChoice { found });
        return None;
    }
    Some(ClientCredentials {
        issuer,
        token_url,
        client_id: client_id?,
        client_secret_ref: client_secret_ref?.to_string(),
        audience: audience?,
        scope: scope?,
    })
}

fn server_url(walk: &mut Walk, set: &Fields<'_>, key: &str, issuer: bool) -> Option<String> {
    walk.or(set, key, String::new(), |node| {
        let text = scalar::text(node)?.trim();
        if !text.is_empty() {
            auth_url(text, issuer)?;
        }
        Ok(text.to_owned())
    })
}

fn client_id(node: &Node) -> Result<String, ConfigRefusal> {
    let text = scalar::text(node)?;
    let usable = (1..=512).contains(&text.len()) && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let expected = "1 to 512 characters without blanks and controls";
    usable.then(|| text.to_owned()).ok_or(ConfigRefusal::OutOfRange { expected })
}

/// Keeps the defaults of the walk and of the model the same thing.
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn defaults_are_the_models() {
        let config = crate::read("connectors: [{connector: d, endpoint: {command: d}}]", "x.yaml").unwrap();
        assert_eq!(config.settings, RunnerSettings::default());
        assert_eq!(config.connectors[0].interval, Duration::from_mins(15));
        assert_eq!(config.connectors[0].endpoint.timeout, Duration::from_mins(1));
    }
}
