use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use scion_domain::auth::JwtAlgorithm;
use scion_domain::http::Url;
use serde_json::{Value, json};

use crate::Gate;

/// A key of the provider.
#[derive(Clone, Debug)]
pub struct IdpKey {
    /// Its `kid`.
    pub id: String,
    /// What it signs with.
    pub algorithm: JwtAlgorithm,
    pub(super) pem: &'static str,
    jwk: &'static str,
}

impl IdpKey {
    /// RSA.
    pub fn rsa(id: &str) -> Self {
        let (pem, jwk) = (include_str!("../../../keys/rsa.pem"), include_str!("../../../keys/rsa.jwk.json"));
        Self { id: id.to_owned(), algorithm: JwtAlgorithm::RS256, pem, jwk }
    }

    /// Another RSA key.
    pub fn other_rsa(id: &str) -> Self {
        let (pem, jwk) = (include_str!("../../../keys/rsa2.pem"), include_str!("../../../keys/rsa2.jwk.json"));
        Self { id: id.to_owned(), algorithm: JwtAlgorithm::RS256, pem, jwk }
    }

    /// P-256.
    pub fn ec(id: &str) -> Self {
        let (pem, jwk) = (include_str!("../../../keys/ec256.pem"), include_str!("../../../keys/ec256.jwk.json"));
        Self { id: id.to_owned(), algorithm: JwtAlgorithm::ES256, pem, jwk }
    }

    pub(super) fn public(&self) -> Value {
        let mut jwk: Value = serde_json::from_str(self.jwk).expect("the fixture is JSON");
        jwk["kid"] = json!(self.id);
        jwk["alg"] = json!(self.algorithm.as_str());
        jwk["use"] = json!("sig");
        jwk
    }
}

/// A registered client.
#[derive(Clone, Debug)]
pub struct IdpClient {
    /// Its id.
    pub id: String,
    /// Its secret; a public client has none.
    pub secret: Option<String>,
    /// Its public key as PEM, for `private_key_jwt`.
    pub public_key: Option<String>,
    /// Its redirect addresses. One on 127.0.0.1 fits every port (RFC 8252, section 7.3).
    pub redirects: Vec<String>,
}

impl IdpClient {
    /// A client with a secret.
    pub fn confidential(id: &str, secret: &str) -> Self {
        Self { secret: Some(secret.to_owned()), ..Self::public(id) }
    }

    /// A client without one, with the loopback callback.
    pub fn public(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            secret: None,
            public_key: None,
            redirects: vec!["http://127.0.0.1/callback".to_owned()],
        }
    }

    /// A client that signs assertions.
    pub fn with_key(id: &str, public_pem: &str) -> Self {
        Self { public_key: Some(public_pem.to_owned()), ..Self::public(id) }
    }

    /// One more redirect address.
    #[must_use]
    pub fn redirect(mut self, address: &str) -> Self {
        self.redirects.push(address.to_owned());
        self
    }

    pub(super) fn may_redirect(&self, address: &str) -> bool {
        let Ok(mut url) = Url::parse(address) else { return false };
        if url.host_str() == Some("127.0.0.1") && url.scheme() == "http" {
            let _ = url.set_port(None);
        }
        self.redirects.iter().any(|own| own == address || own == url.as_str())
    }
}

/// What is wrong with the JWTs that are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Twist {
    /// Nothing.
    #[default]
    None,
    /// Another issuer.
    Issuer,
    /// Another audience.
    Audience,
    /// Another nonce.
    Nonce,
    /// Expired an hour ago.
    Expired,
    /// Not signed, `alg` `none`.
    Unsigned,
    /// Signed with the public key as a shared secret.
    PublicKeyAsSecret,
    /// Issued to another client.
    OtherClient,
    /// No ID token at all.
    NoIdToken,
}

/// What a test wants to go wrong.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Knobs {
    /// Paths that answer a status and nothing else.
    pub down: Vec<(String, u16)>,
    /// Holds the answers of the token endpoint back. What was asked has happened by then.
    pub token_gate: Option<Gate>,
    /// The token endpoint is slow.
    pub token_delay: Option<Duration>,
    /// The discovery document is of another issuer.
    pub other_issuer: Option<String>,
    /// Lifetime of access tokens, in seconds.
    pub access_ttl: u64,
    /// Access tokens are JWTs.
    pub access_jwt: bool,
    /// Each refresh gives a new refresh token, and takes the old one back; used twice, it takes the family back.
    pub rotate: bool,
    /// The person says no.
    pub deny: bool,
    /// What is wrong with JWTs.
    pub twist: Twist,
    /// Introspection says: not active.
    pub inactive: bool,
    /// Introspection names another client.
    pub introspect_other_client: bool,
    /// The resource answers 403 where it should answer 401.
    pub forbid_with_403: bool,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            down: Vec::new(),
            token_gate: None,
            token_delay: None,
            other_issuer: None,
            access_ttl: 300,
            access_jwt: false,
            rotate: true,
            deny: false,
            twist: Twist::None,
            inactive: false,
            introspect_other_client: false,
            forbid_with_403: false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Code {
    pub client: String,
    pub redirect: String,
    pub challenge: String,
    pub nonce: String,
}

#[derive(Debug)]
pub(super) struct Access {
    pub client: String,
    pub expires: u64,
    pub audience: String,
    /// What introspection says beyond that, or instead; `null` leaves a member out.
    pub said: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug)]
pub(super) struct Refresh {
    pub client: String,
    pub family: u64,
    pub used: bool,
}

#[derive(Debug)]
pub(super) struct State {
    pub issuer: String,
    pub clients: HashMap<String, IdpClient>,
    pub keys: Vec<IdpKey>,
    pub hidden_key: Option<IdpKey>,
    pub codes: HashMap<String, Code>,
    pub access: HashMap<String, Access>,
    pub refresh: HashMap<String, Refresh>,
    pub assertions: HashSet<String>,
    pub knobs: Knobs,
    pub reuses: usize,
    serial: u64,
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The fields of a form.
pub(super) fn form(text: &str) -> HashMap<String, String> {
    let mut url = Url::parse("form:").expect("a literal");
    url.set_query(Some(text));
    url.query_pairs().into_owned().collect()
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            issuer: String::new(),
            clients: HashMap::new(),
            keys: vec![IdpKey::rsa("key-1")],
            hidden_key: None,
            codes: HashMap::new(),
            access: HashMap::new(),
            refresh: HashMap::new(),
            assertions: HashSet::new(),
            knobs: Knobs::default(),
            reuses: 0,
            serial: 0,
        }
    }

    /// A name that was not used before. Guessing is not what is tested here.
    pub(super) fn serial(&mut self, kind: &str) -> String {
        self.serial += 1;
        format!("{kind}-{}", self.serial)
    }

    pub(super) fn new_access(&mut self, client: &str, audience: &str, ttl: u64) -> String {
        let token = self.serial("access");
        self.keep_access(&token, client, audience, ttl);
        token
    }

    pub(super) fn keep_access(&mut self, token: &str, client: &str, audience: &str, ttl: u64) {
        let (client, audience) = (client.to_owned(), audience.to_owned());
        let access = Access { client, expires: now() + ttl, audience, said: serde_json::Map::new() };
        self.access.insert(token.to_owned(), access);
    }

    pub(super) fn new_refresh(&mut self, client: &str, family: Option<u64>) -> String {
        let token = self.serial("refresh");
        let family = family.unwrap_or(self.serial);
        self.refresh.insert(token.clone(), Refresh { client: client.to_owned(), family, used: false });
        token
    }

    pub(super) fn is_active(&self, token: &str) -> bool {
        self.access.get(token).is_some_and(|access| access.expires > now())
    }

    pub(super) fn revoke_all(&mut self) {
        self.access.clear();
        self.refresh.clear();
        self.codes.clear();
    }
}
