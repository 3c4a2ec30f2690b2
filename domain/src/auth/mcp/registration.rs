//! Dynamic client registration (RFC 7591).

use super::server::ClientMethod;
use crate::auth::{ClientAuth, MAX_TOKEN_BYTES};
use crate::json::{Json, JsonLimits, parse_with, to_compact};
use crate::secret::Secret;

/// The largest answer that is read, in bytes.
pub const MAX_REGISTRATION_BYTES: usize = 64 << 10;

/// What a client says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMetadata<'a> {
    /// A name for people, who see it when they log in.
    pub name: &'a str,
    /// Where logins come back to.
    pub redirect_url: &'a str,
    /// How it proves itself; `None` for not at all.
    pub method: Option<ClientAuth>,
    /// The scopes it will ask for, separated by blanks, or empty.
    pub scope: &'a str,
}

impl ClientMetadata<'_> {
    /// The body of the request, JSON.
    pub fn body(&self) -> String {
        let list = |words: &[&str]| Json::from(words.iter().map(|&word| Json::from(word)).collect::<Vec<_>>());
        let mut members = vec![
            // A redirect to this machine is one of a native application.
            ("application_type", Json::from("native")),
            ("client_name", Json::from(self.name)),
            ("redirect_uris", list(&[self.redirect_url])),
            ("grant_types", list(&["authorization_code", "refresh_token"])),
            ("response_types", list(&["code"])),
            ("token_endpoint_auth_method", word(self.method).into()),
        ];
        if !self.scope.is_empty() {
            members.push(("scope", self.scope.into()));
        }
        to_compact(&Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
    }
}

const fn word(method: Option<ClientAuth>) -> &'static str {
    match method {
        None => "none",
        Some(ClientAuth::Post) => "client_secret_post",
        Some(ClientAuth::Basic) => "client_secret_basic",
        Some(ClientAuth::PrivateKeyJwt) => "private_key_jwt",
    }
}

/// A client as the server registered it.
#[derive(Clone, Debug)]
pub struct Registered {
    /// Its id.
    pub id: String,
    /// Its secret, where it proves itself with one.
    pub secret: Option<Secret<String>>,
    /// How it proves itself; `None` for not at all.
    pub method: Option<ClientAuth>,
}

/// Reads the answer to a request that asked for a method; the word goes into a refusal. The server has the last word about the
/// method.
pub fn read_registration(body: &[u8], asked: Option<ClientAuth>) -> Result<Registered, &'static str> {
    let limits = JsonLimits { max_bytes: MAX_REGISTRATION_BYTES, max_depth: 16, max_number_chars: 64 };
    let Ok(Json::Object(mut members)) = parse_with(body, limits) else { return Err("registration") };
    let id = match members.remove("client_id") {
        Some(Json::String(id)) if (1..=2048).contains(&id.len()) && !id.chars().any(char::is_control) => id,
        _ => return Err("client_id"),
    };
    let method = match members.get("token_endpoint_auth_method") {
        None | Some(Json::Null) => asked,
        Some(Json::String(text)) => ClientMethod::parse(text).ok_or("token_endpoint_auth_method")?.proof(),
        Some(_) => return Err("token_endpoint_auth_method"),
    };
    let secret = match members.remove("client_secret") {
        Some(Json::String(text)) if (1..=MAX_TOKEN_BYTES).contains(&text.len()) => Some(Secret::new(text)),
        None | Some(Json::Null) => None,
        Some(_) => return Err("client_secret"),
    };
    match method {
        // A secret that is not asked for is not kept.
        None => Ok(Registered { id, secret: None, method }),
        Some(ClientAuth::PrivateKeyJwt) => Err("token_endpoint_auth_method"),
        Some(_) if secret.is_none() => Err("client_secret"),
        Some(_) => Ok(Registered { id, secret, method }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_says_what_the_client_does() {
        let metadata =
            ClientMetadata { name: "desk", redirect_url: "http://127.0.0.1:1/callback", method: None, scope: "a b" };
        assert_eq!(
            metadata.body(),
            r#"{"application_type":"native","client_name":"desk","grant_types":["authorization_code","refresh_token"],"redirect_uris":["http://127.0.0.1:1/callback"],"response_types":["code"],"scope":"a b","token_endpoint_auth_method":"none"}"#
        );
    }

    #[test]
    fn the_server_has_the_last_word_about_the_method() {
        let read = |body: &str, asked| read_registration(body.as_bytes(), asked);
        let public = read(r#"{"client_id":"c","client_secret":"s"}"#, None).unwrap();
        assert!(public.secret.is_none() && public.method.is_none());
        let post =
            read(r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#, None);
        assert_eq!(post.unwrap().method, Some(ClientAuth::Post));
        for (body, what) in [
            (r#"{"client_secret":"s"}"#, "client_id"),
            (r#"{"client_id":"c"}"#, "client_secret"),
            (r#"{"client_id":"c","token_endpoint_auth_method":"tls_client_auth"}"#, "token_endpoint_auth_method"),
            ("[]", "registration"),
        ] {
            assert_eq!(read(body, Some(ClientAuth::Basic)).map(drop), Err(what), "{body}");
        }
        let shown = format!("{:?}", read(r#"{"client_id":"c","client_secret":"hunter2"}"#, Some(ClientAuth::Basic)));
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
