//! The arguments of a call on their way to an operation.

use super::ActionRefusal;
use crate::canonical::peer_json;
use crate::digest::sha256;
use crate::id::Digest256;
use crate::json::{Json, JsonLimits, JsonObject, parse_with};

/// The longest `params_json`, in characters.
pub const MAX_PARAMS_JSON: usize = 65_536;

/// The object in `params_json`; absent, blank and `{}` are the empty one.
pub fn read_params_json(given: Option<&Json>) -> Result<JsonObject, ActionRefusal> {
    let text = match given {
        None | Some(Json::Null) => return Ok(JsonObject::new()),
        Some(Json::String(text)) => text,
        Some(_) => return Err(ActionRefusal::ParamsNotObject),
    };
    if text.chars().count() > MAX_PARAMS_JSON {
        return Err(ActionRefusal::ParamsTooLong { limit: MAX_PARAMS_JSON });
    }
    if text.trim().is_empty() {
        return Ok(JsonObject::new());
    }
    match parse_with(text.as_bytes(), JsonLimits::DEFAULT) {
        Ok(Json::Object(members)) => Ok(members),
        _ => Err(ActionRefusal::ParamsNotObject),
    }
}

/// Adds opened parameters to those given on their own. One that is in both is refused, because either could be meant.
pub fn merge_params(mut given: JsonObject, more: JsonObject) -> Result<JsonObject, ActionRefusal> {
    for (name, value) in drop_nulls(more) {
        if given.insert(name, value).is_some() {
            return Err(ActionRefusal::ParamsTwice);
        }
    }
    Ok(given)
}

/// `null` in a call is silence: the operation's own default applies.
pub fn drop_nulls(mut given: JsonObject) -> JsonObject {
    given.retain(|_, value| !value.is_null());
    given
}

/// Gathers arguments the operation does not name into its one body: `data`, `payload` or `body`, when it has exactly one of
/// them, that one was not given, and it does not take arbitrary arguments itself.
pub fn fold_body(parameters: &[&str], takes_more: bool, mut given: JsonObject) -> JsonObject {
    let mut bodies = ["data", "payload", "body"].into_iter().filter(|name| parameters.contains(name));
    let (Some(body), None, false) = (bodies.next(), bodies.next(), takes_more) else { return given };
    if given.contains_key(body) {
        return given;
    }
    let unnamed: Vec<String> = given.keys().filter(|name| !parameters.contains(&name.as_str())).cloned().collect();
    if unnamed.is_empty() {
        return given;
    }
    let folded: JsonObject = unnamed.into_iter().filter_map(|name| given.remove_entry(&name)).collect();
    given.insert(body.to_owned(), folded.into());
    given
}

/// What a person's yes is bound to: the operation and its exact arguments (`wire/mcp-surface.md` 2.6). No arguments and
/// an empty object are the same.
pub fn confirmation_binding(action: &str, arguments: Option<&JsonObject>) -> Digest256 {
    let arguments = arguments.cloned().unwrap_or_default();
    sha256(peer_json(&Json::from([("action", action.into()), ("arguments", arguments.into())])).as_bytes())
}
