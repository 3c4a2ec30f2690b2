//! The base URL an operator configured (SDK-CONNECTOR-CONTROL-R014.5).

use std::net::{IpAddr, SocketAddr};

use super::{EgressPolicy, EgressRefusal, Plaintext, Target, parse_source_url};
use crate::http::Url;

/// A base URL that passed, and what may be dialled for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedUrl {
    /// The URL.
    pub url: Url,
    /// Its destination.
    pub target: Target,
    /// The checked addresses; empty for a name that was not resolved yet.
    pub addresses: Vec<SocketAddr>,
}

/// Checks a base URL by its text: scheme, user info, fragment, host, literal address.
pub fn validate_base_url(text: &str, policy: &EgressPolicy) -> Result<CheckedUrl, EgressRefusal> {
    let egress = policy.compile()?;
    let url = parse_source_url(text)?;
    let target = egress.check_url(&url, Plaintext::PrivateOnly)?;
    let addresses = target.literal().into_iter().collect();
    Ok(CheckedUrl { url, target, addresses })
}

/// Checks a base URL and what its name resolved to, so that the transport dials these addresses and asks nobody again.
/// A resolver that failed has no answers.
pub fn validate_base_url_resolved(
    text: &str,
    policy: &EgressPolicy,
    answers: &[IpAddr],
) -> Result<CheckedUrl, EgressRefusal> {
    let mut checked = validate_base_url(text, policy)?;
    checked.addresses = policy.compile()?.check_answers(&checked.target, answers)?;
    Ok(checked)
}
