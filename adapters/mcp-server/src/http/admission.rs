//! From a request to its caller.

use std::sync::Arc;

use http::HeaderMap;
use scion_domain::served_security::{AccessDenied, Unauthenticated, bearer};
use scion_domain::surface::{CallerIdentity, PresentedToken};

use super::Security;

/// What the transport knows of the caller of a request. Handlers find it among the extensions of the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller {
    pub(crate) identity: Option<CallerIdentity>,
    pub(crate) token: Option<Arc<PresentedToken>>,
    pub(crate) session: Option<Arc<str>>,
    pub(crate) filter: Option<Arc<scion_domain::tool_surface::ListingFilter>>,
    /// The filter was not understood, so that nothing is listed.
    pub(crate) lists_nothing: bool,
}

/// How a request is not let in.
pub(super) enum NotAdmitted {
    Unknown(Unauthenticated),
    Denied(AccessDenied),
}

/// Looks into the credential. Without a check everybody is nobody.
pub(super) async fn admit(security: &Security, headers: &HeaderMap) -> Result<Caller, NotAdmitted> {
    let Security::Verified { verifier, profile } = security else { return Ok(Caller::default()) };
    let text = bearer(headers).map_err(NotAdmitted::Unknown)?;
    let verified = verifier.verify(&text).await.map_err(|refusal| NotAdmitted::Unknown(refusal.into()))?;
    let identity = profile.caller(&verified).map_err(NotAdmitted::Denied)?;
    let token = Some(Arc::new(PresentedToken { text, verified }));
    Ok(Caller { identity: Some(identity), token, ..Caller::default() })
}
