use scion_domain::base64::encode_url;
use scion_domain::json::{Json, JsonObject};
use scion_domain::secret::Secret;
use scion_ports::JwtSigner;
use serde_json::{Value, json};

use super::state::{State, Twist, now};

/// Signs claims as the knobs say.
fn signed(state: &State, claims: Value, jwt: &dyn JwtSigner) -> String {
    let key = state.hidden_key.as_ref().or(state.keys.first()).expect("a provider has a key");
    let claims: JsonObject = match Json::from(claims) {
        Json::Object(claims) => claims,
        _ => JsonObject::new(),
    };
    let sign = |algorithm, secret: &str| {
        let secret = Secret::new(secret.to_owned());
        jwt.sign(algorithm, Some(&key.id), &claims, &secret).expect("the fixture key signs").expose().clone()
    };
    match state.knobs.twist {
        Twist::Unsigned => {
            let text = scion_domain::json::to_compact(&Json::Object(claims));
            format!("{}.{}.", encode_url(br#"{"alg":"none"}"#), encode_url(text.as_bytes()))
        }
        Twist::PublicKeyAsSecret => {
            // A signer refuses PEM as a shared secret, so the modulus stands for it.
            sign(
                scion_domain::auth::JwtAlgorithm::HS256,
                key.public()["n"].as_str().unwrap_or("no modulus, but 32 bytes of text"),
            )
        }
        _ => sign(key.algorithm, key.pem),
    }
}

fn claims(state: &State, client: &str, audience: &str) -> Value {
    let twist = state.knobs.twist;
    let party = if twist == Twist::OtherClient { "another-client" } else { client };
    let expires = if twist == Twist::Expired { now() - 3600 } else { now() + state.knobs.access_ttl };
    json!({
        "iss": if twist == Twist::Issuer { "https://evil.example" } else { state.issuer.as_str() },
        "aud": if twist == Twist::Audience { "somebody-else" } else { audience },
        "sub": "anna",
        "azp": party,
        "iat": now(),
        "exp": expires,
    })
}

/// Whom a token is for when nobody says.
pub(super) const AUDIENCE: &str = "https://api.example";

/// An access token of a client, for an audience.
pub(super) fn access(state: &mut State, client: &str, audience: &str, jwt: &dyn JwtSigner) -> String {
    let ttl = state.knobs.access_ttl;
    if !state.knobs.access_jwt {
        return state.new_access(client, audience, ttl);
    }
    let mut claims = claims(state, client, audience);
    claims["client_id"] = claims["azp"].clone();
    claims["jti"] = json!(state.serial("jti"));
    let token = signed(state, claims, jwt);
    state.keep_access(&token, client, audience, ttl);
    token
}

/// An ID token of a login.
pub(super) fn id_token(state: &State, client: &str, nonce: &str, jwt: &dyn JwtSigner) -> Option<String> {
    if state.knobs.twist == Twist::NoIdToken {
        return None;
    }
    let mut claims = claims(state, client, client);
    claims["nonce"] = json!(if state.knobs.twist == Twist::Nonce { "another-nonce" } else { nonce });
    Some(signed(state, claims, jwt))
}
