//! The server that `scion pack build` captures.

use std::collections::BTreeMap;

use scion_domain::command::CommandRefusal;
use scion_domain::config::{EndpointSpec, EndpointTarget, endpoint_url};
use scion_domain::credential::SecretRef;

use super::args::BuildArgs;
use crate::output::Refused;

pub(super) fn endpoint(args: &BuildArgs) -> Result<EndpointSpec, Refused> {
    let target = match (&args.url, args.server.split_first()) {
        (Some(url), None) => {
            endpoint_url(url).map_err(|refusal| Refused::from(refusal).at("--url"))?;
            let bearer_token = args.bearer_token.as_deref().map(|text| reference("--bearer-token", text));
            let bearer_token = bearer_token.transpose()?.unwrap_or_default();
            EndpointTarget::Url { url: url.clone(), bearer_token, client_credentials: None }
        }
        (None, Some((program, rest))) => {
            EndpointTarget::Command { command: program.clone(), args: rest.to_vec(), env: environment(&args.env)? }
        }
        _ => return Err(misuse("name the server: --url URL, or its command behind `--`")),
    };
    Ok(EndpointSpec { target, timeout: args.timeout() })
}

fn environment(pairs: &[String]) -> Result<BTreeMap<String, String>, Refused> {
    let mut env = BTreeMap::new();
    for pair in pairs {
        // Neither side is repeated: a secret may stand on the wrong one.
        let (name, text) = pair.split_once('=').ok_or_else(|| misuse("--env wants NAME=REF"))?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(misuse("--env wants the name of a variable: letters, digits and `_`"));
        }
        if env.insert(name.to_owned(), reference(&format!("--env {name}"), text)?).is_some() {
            return Err(misuse(&format!("--env names `{name}` twice")));
        }
    }
    Ok(env)
}

fn reference(flag: &str, text: &str) -> Result<String, Refused> {
    SecretRef::parse(text).map_err(|refusal| Refused::from(refusal).at(flag))?;
    Ok(text.to_owned())
}

pub(super) fn misuse(what: &str) -> Refused {
    CommandRefusal::Usage { what: what.to_owned() }.into()
}
