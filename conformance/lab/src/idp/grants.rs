use std::collections::HashMap;

use scion_domain::auth::{JwtAlgorithm, UnverifiedJwt, challenge_of};
use scion_domain::http::Url;
use scion_domain::json::Json;
use scion_ports::{JwtSigner, JwtVerifier, VerifyKey};
use serde_json::{Value, json};

use super::state::{Code, State, form, now};
use super::tokens;
use crate::{Answer, Received};

type Fields = HashMap<String, String>;

fn text<'f>(fields: &'f Fields, name: &str) -> &'f str {
    fields.get(name).map_or("", String::as_str)
}

fn no(status: u16, error: &str) -> Answer {
    Answer::status(status).with_json(&json!({ "error": error, "error_description": "secret words of the peer" }))
}

/// RFC 6749, section 4.1.1, with RFC 7636 and RFC 9207.
pub(super) fn authorize(state: &mut State, received: &Received) -> Answer {
    let fields = form(received.query().unwrap_or_default());
    let (client, redirect) = (text(&fields, "client_id").to_owned(), text(&fields, "redirect_uri").to_owned());
    // Without a good redirect address nothing is sent anywhere.
    if !state.clients.get(&client).is_some_and(|known| known.may_redirect(&redirect)) {
        return Answer::status(400);
    }
    let Ok(mut back) = Url::parse(&redirect) else { return Answer::status(400) };
    let good = text(&fields, "response_type") == "code"
        && text(&fields, "code_challenge_method") == "S256"
        && text(&fields, "code_challenge").len() == 43;
    let code = match (good, state.knobs.deny) {
        (false, _) => Err("invalid_request"),
        (true, true) => Err("access_denied"),
        (true, false) => Ok(state.serial("code")),
    };
    match &code {
        Ok(code) => back.query_pairs_mut().append_pair("code", code),
        Err(error) => back.query_pairs_mut().append_pair("error", error),
    };
    back.query_pairs_mut().append_pair("state", text(&fields, "state")).append_pair("iss", &state.issuer);
    if let Ok(code) = code {
        let challenge = text(&fields, "code_challenge").to_owned();
        state.codes.insert(code, Code { client, redirect, challenge, nonce: text(&fields, "nonce").to_owned() });
    }
    Answer::redirect(302, back.as_str())
}

/// The client that proved itself, by secret (form or header), assertion, or as a public one.
fn client(state: &mut State, received: &Received, fields: &Fields, jwt: &dyn JwtVerifier) -> Option<String> {
    let basic = received.header("authorization").and_then(|value| value.strip_prefix("Basic ")).map(|coded| {
        let url_safe = coded.replace('+', "-").replace('/', "_");
        let pair = scion_domain::base64::decode_url(url_safe.trim_end_matches('=')).unwrap_or_default();
        let pair = String::from_utf8(pair).unwrap_or_default();
        let (id, secret) = pair.split_once(':').unwrap_or_default();
        let decoded = form(&format!("id={id}&secret={secret}"));
        (text(&decoded, "id").to_owned(), text(&decoded, "secret").to_owned())
    });
    let id = basic.as_ref().map_or_else(|| text(fields, "client_id").to_owned(), |(id, _)| id.clone());
    let known = state.clients.get(&id)?.clone();
    if let Some(pem) = &known.public_key {
        let assertion = text(fields, "client_assertion");
        let allowed = [JwtAlgorithm::RS256, JwtAlgorithm::PS256, JwtAlgorithm::ES256];
        let read = UnverifiedJwt::read(assertion, &allowed).ok()?;
        jwt.verify(&read, VerifyKey::Pem(pem)).ok()?;
        let claim = |name: &str| read.claims.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let expires =
            read.claims.get("exp").and_then(Json::as_number).and_then(scion_domain::json::JsonNumber::as_u64)?;
        let endpoint = format!("{}/token", state.issuer);
        let good = claim("iss") == id && claim("sub") == id && claim("aud") == endpoint && expires >= now();
        // A second use is a theft.
        return (good && state.assertions.insert(claim("jti"))).then_some(id);
    }
    let secret = basic.map_or_else(|| text(fields, "client_secret").to_owned(), |(_, secret)| secret);
    (known.secret.unwrap_or_default() == secret).then_some(id)
}

pub(super) fn token<J: JwtSigner + JwtVerifier>(state: &mut State, received: &Received, jwt: &J) -> Answer {
    let fields = form(&received.text());
    let Some(client) = client(state, received, &fields, jwt) else { return no(401, "invalid_client") };
    match text(&fields, "grant_type") {
        "client_credentials" => good(state, &client, &fields, None, None, jwt),
        "authorization_code" => code(state, &client, &fields, jwt),
        "refresh_token" => refresh(state, &client, &fields, jwt),
        "urn:ietf:params:oauth:grant-type:token-exchange" => {
            let known = state.is_active(text(&fields, "subject_token"));
            if known { good(state, &client, &fields, None, None, jwt) } else { no(400, "invalid_grant") }
        }
        _ => no(400, "unsupported_grant_type"),
    }
}

fn good(
    state: &mut State,
    client: &str,
    fields: &Fields,
    refresh: Option<String>,
    id_token: Option<String>,
    jwt: &dyn JwtSigner,
) -> Answer {
    // RFC 8707, section 2, and RFC 8693, section 2.1.
    let audience = ["resource", "audience"].map(|name| text(fields, name)).into_iter().find(|named| !named.is_empty());
    let access = tokens::access(state, client, audience.unwrap_or(tokens::AUDIENCE), jwt);
    let mut body = json!({ "access_token": access, "token_type": "Bearer", "expires_in": state.knobs.access_ttl });
    if let Some(token) = refresh {
        body["refresh_token"] = Value::from(token);
    }
    if let Some(token) = id_token {
        body["id_token"] = Value::from(token);
    }
    Answer::json(&body).header("cache-control", "no-store")
}

fn code(state: &mut State, client: &str, fields: &Fields, jwt: &dyn JwtSigner) -> Answer {
    // Taken out first: a code is good once.
    let Some(code) = state.codes.remove(text(fields, "code")) else { return no(400, "invalid_grant") };
    let fits = code.client == client
        && code.redirect == text(fields, "redirect_uri")
        && code.challenge == challenge_of(text(fields, "code_verifier"));
    if !fits {
        return no(400, "invalid_grant");
    }
    let refresh = state.new_refresh(client, None);
    let id_token = tokens::id_token(state, client, &code.nonce, jwt);
    good(state, client, fields, Some(refresh), id_token, jwt)
}

fn refresh(state: &mut State, client: &str, fields: &Fields, jwt: &dyn JwtSigner) -> Answer {
    let rotate = state.knobs.rotate;
    let Some(found) = state.refresh.get_mut(text(fields, "refresh_token")) else { return no(400, "invalid_grant") };
    if found.client != client {
        return no(400, "invalid_grant");
    }
    let family = found.family;
    if found.used {
        // Reuse of a rotated token: somebody stole one. Nobody of the family gets anything any more.
        state.reuses += 1;
        state.refresh.retain(|_, token| token.family != family);
        return no(400, "invalid_grant");
    }
    found.used = rotate;
    let next = rotate.then(|| state.new_refresh(client, Some(family)));
    good(state, client, fields, next, None, jwt)
}

/// RFC 7662.
pub(super) fn introspect(state: &mut State, received: &Received, jwt: &dyn JwtVerifier) -> Answer {
    let fields = form(&received.text());
    if client(state, received, &fields, jwt).is_none() {
        return no(401, "invalid_client");
    }
    let known = state.access.get(text(&fields, "token")).filter(|access| access.expires > now());
    let Some(access) = known.filter(|_| !state.knobs.inactive) else {
        return Answer::json(&json!({ "active": false }));
    };
    let other = state.knobs.introspect_other_client;
    let client = if other { "another-client" } else { access.client.as_str() };
    let mut answer = json!({
        "active": true, "client_id": client, "iss": state.issuer, "aud": access.audience, "exp": access.expires
    });
    for (name, value) in &access.said {
        answer[name] = value.clone();
    }
    if let Some(members) = answer.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    Answer::json(&answer)
}

/// RFC 7009.
pub(super) fn revoke(state: &mut State, received: &Received, jwt: &dyn JwtVerifier) -> Answer {
    let fields = form(&received.text());
    if client(state, received, &fields, jwt).is_none() {
        return no(401, "invalid_client");
    }
    let token = text(&fields, "token");
    state.access.remove(token);
    if let Some(family) = state.refresh.get(token).map(|refresh| refresh.family) {
        state.refresh.retain(|_, refresh| refresh.family != family);
    }
    Answer::status(200)
}
