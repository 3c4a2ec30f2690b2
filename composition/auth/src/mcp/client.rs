//! Which client logs in.

use std::sync::Arc;

use scion_domain::auth::{
    AuthRefusal, ClientAuth, ClientMetadata, Registered, TokenFailure, parse_issuer, read_registration,
    read_token_failure,
};
use scion_domain::credential::SecretSource;
use scion_ports::JwtSigner;

use super::discovery::{Found, unsuitable};
use super::{PersonLogin, ProgramLogin, ProgramProof};
use crate::Authority;
use crate::endpoint::{AssertionKey, Client};

/// A program's own client.
pub(super) fn of_program(
    program: &ProgramLogin,
    found: &Found,
    signer: Option<&Arc<dyn JwtSigner>>,
) -> Result<Client, AuthRefusal> {
    let id = program.id.clone();
    match &program.proof {
        ProgramProof::Secret(secret) => {
            Ok(Client { id, method: secret_method(found)?, secret: Some(secret.clone()), assertion: None })
        }
        ProgramProof::Key { key, algorithm, key_id } => {
            let missing = AuthRefusal::Configuration { field: "proof", what: "needs a signer, and none is configured" };
            let signer = signer.cloned().ok_or(missing)?;
            let audience = Some(parse_issuer("issuer", &found.server.endpoints.issuer)?);
            let assertion = AssertionKey { signer, algorithm: *algorithm, key_id: key_id.clone(), audience };
            Ok(Client { id, method: ClientAuth::PrivateKeyJwt, secret: Some(key.clone()), assertion: Some(assertion) })
        }
    }
}

/// The client of a person's login that comes back to an address.
pub(super) async fn of_person(
    person: &PersonLogin,
    found: &Found,
    redirect_url: &str,
    scope: &str,
    authority: &Authority,
) -> Result<Client, AuthRefusal> {
    if let Some(registered) = &person.registered {
        let secret = registered.secret.clone();
        let method = if secret.is_some() { secret_method(found)? } else { ClientAuth::Post };
        return Ok(Client { id: registered.id.clone(), method, secret, assertion: None });
    }
    if let Some(url) = person.metadata_url.as_ref().filter(|_| found.server.metadata_documents) {
        return Ok(public(url.as_text().to_owned()));
    }
    let place = found.server.endpoints.token.url();
    let url = found.server.registration.as_ref().ok_or_else(|| unsuitable(place, "client registration"))?;
    let asked = found.server.registered_method();
    let metadata = ClientMetadata { name: &person.name, redirect_url, method: asked, scope };
    let (status, body) = authority.post_json(url, metadata.body()).await?;
    let malformed = |what| AuthRefusal::Malformed { authority: url.origin(), what };
    if !matches!(status, 200 | 201) {
        return Err(match read_token_failure(status, &body) {
            TokenFailure::Unreachable => AuthRefusal::Unreachable { authority: url.origin() },
            _ => unsuitable(url.url(), "client registration to everybody"),
        });
    }
    let Registered { id, secret, method } = read_registration(&body, asked).map_err(malformed)?;
    let Some(method) = method else { return Ok(public(id)) };
    Ok(Client { id, method, secret: secret.map(SecretSource::Literal), assertion: None })
}

/// A client without a secret; its method is never looked at.
const fn public(id: String) -> Client {
    Client { id, method: ClientAuth::Post, secret: None, assertion: None }
}

fn secret_method(found: &Found) -> Result<ClientAuth, AuthRefusal> {
    found
        .server
        .secret_method()
        .map_err(|_| unsuitable(found.server.endpoints.token.url(), "a way for a client to prove itself with a secret"))
}
