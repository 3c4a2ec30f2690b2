//! From a challenge to the authorization server.

use scion_domain::auth::{
    AuthRefusal, AuthorizationServer, BearerChallenge, ResourceMetadata, covers, read_authorization_server,
    read_resource_metadata, resource_metadata_urls, server_metadata_urls,
};
use scion_domain::http::Url;

use crate::Authority;
use crate::authority::named;

/// Where tokens for a resource come from.
pub(super) struct Found {
    pub resource: ResourceMetadata,
    pub server: AuthorizationServer,
}

pub(super) async fn find(
    authority: &Authority,
    server: &Url,
    challenge: Option<&BearerChallenge>,
) -> Result<Found, AuthRefusal> {
    let resource = resource(authority, server, challenge).await?;
    // The first is taken: which of several to trust is not ours to guess, and the resource put it first.
    let issuer = resource.servers.first().ok_or_else(|| unsuitable(server, "an authorization server"))?;
    for url in server_metadata_urls(issuer) {
        if let Some(body) = authority.find_document(&url).await? {
            let server = read_authorization_server(issuer, &body)
                .map_err(|what| AuthRefusal::Malformed { authority: issuer.origin(), what })?;
            return Ok(Found { resource, server });
        }
    }
    Err(unsuitable(issuer.url(), "its metadata (RFC 8414)"))
}

/// The metadata of the resource. Where the challenge says where it is, nowhere else is looked.
async fn resource(
    authority: &Authority,
    server: &Url,
    challenge: Option<&BearerChallenge>,
) -> Result<ResourceMetadata, AuthRefusal> {
    let places = match challenge.and_then(|challenge| challenge.resource_metadata.as_ref()) {
        Some(url) => vec![url.url().clone()],
        None => resource_metadata_urls(server),
    };
    for url in places {
        let Some(body) = authority.find_document(&url).await? else { continue };
        let metadata =
            read_resource_metadata(&body).map_err(|what| AuthRefusal::Malformed { authority: named(&url), what })?;
        if !covers(&metadata.resource, server) {
            return Err(AuthRefusal::ForeignResource { resource: named(server) });
        }
        return Ok(metadata);
    }
    Err(unsuitable(server, "its metadata (RFC 9728)"))
}

pub(super) fn unsuitable(url: &Url, what: &'static str) -> AuthRefusal {
    AuthRefusal::Unsuitable { authority: named(url), what }
}
