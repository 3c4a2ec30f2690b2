//! From the errors of hyper, rustls and the policy to refusals. No text of an error is carried over.

use std::error::Error;

use rustls::AlertDescription;
use scion_domain::egress::EgressRefusal;
use scion_domain::http::{HttpRefusal, Url};
use scion_domain::refusal::Refusal as _;

/// The host of a URL for a refusal, without brackets.
pub(crate) fn host_of(url: &Url) -> String {
    host_text(url).to_owned()
}

/// The same, borrowed.
pub(crate) fn host_text(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// What the policy says about a destination.
pub(crate) fn destination(host: impl FnOnce() -> String, refusal: &EgressRefusal) -> HttpRefusal {
    match refusal {
        EgressRefusal::Scheme => HttpRefusal::Url { what: "is no absolute http or https URL" },
        EgressRefusal::UserInfo => HttpRefusal::Url { what: "holds user info" },
        EgressRefusal::TooLong => HttpRefusal::Url { what: "is longer than 8192 bytes" },
        EgressRefusal::Text | EgressRefusal::Fragment => HttpRefusal::Url { what: "cannot be read" },
        EgressRefusal::Port => HttpRefusal::Url { what: "has an impossible port" },
        EgressRefusal::Host => HttpRefusal::Url { what: "has a host that is neither a name nor an address" },
        EgressRefusal::NoAnswers => HttpRefusal::Connect { host: host() },
        other => HttpRefusal::Destination { host: host(), reason: other.code() },
    }
}

/// Why a request got no answer. `size` is the bound of the head that hyper keeps.
pub(crate) fn of_exchange(error: &hyper_util::client::legacy::Error, host: String, size: u64) -> HttpRefusal {
    if let Some(refusal) = find::<HttpRefusal>(error) {
        return refusal.clone();
    }
    if let Some(rustls::Error::AlertReceived(alert)) = find_tls(error)
        && about_certificates(*alert)
    {
        // In TLS 1.3 the server judges the client's certificate after the first bytes of the request.
        return HttpRefusal::Tls { host };
    }
    match find::<hyper::Error>(error) {
        Some(cause) if cause.is_parse_too_large() => HttpRefusal::TooLarge { host, what: "header bytes", limit: size },
        Some(cause) if cause.is_parse() => HttpRefusal::Malformed { host, what: "head" },
        // The request was handed back: nothing of it was written.
        Some(cause) if cause.is_canceled() => HttpRefusal::Connect { host },
        Some(_) if error.connect_info().is_none() => HttpRefusal::Connect { host },
        None if error.is_connect() => HttpRefusal::Connect { host },
        _ => HttpRefusal::Broken { host },
    }
}

/// Why a body ended early.
pub(crate) fn of_body(error: &hyper::Error, host: String) -> HttpRefusal {
    let lied = find_tls(error).is_none()
        && find::<std::io::Error>(error).is_some_and(|cause| {
            matches!(cause.kind(), std::io::ErrorKind::InvalidData | std::io::ErrorKind::InvalidInput)
        });
    if lied || error.is_parse() { HttpRefusal::Malformed { host, what: "body" } } else { HttpRefusal::Broken { host } }
}

/// Why a handshake failed: rustls said no, or the connection ended.
pub(crate) fn of_handshake(error: &std::io::Error, host: String) -> HttpRefusal {
    if error.get_ref().is_some_and(|cause| cause.downcast_ref::<rustls::Error>().is_some()) {
        HttpRefusal::Tls { host }
    } else {
        HttpRefusal::Connect { host }
    }
}

/// The same refusal once a request went out before: then no refusal may say that nothing was sent.
pub(crate) fn after_redirect(refusal: HttpRefusal) -> HttpRefusal {
    match refusal {
        HttpRefusal::Connect { host } => HttpRefusal::Broken { host },
        HttpRefusal::Timeout { host, phase: "connect" } => HttpRefusal::Timeout { host, phase: "redirected connect" },
        HttpRefusal::Tls { host } => HttpRefusal::Redirect { host, reason: "http_tls_failed" },
        HttpRefusal::Destination { host, reason } => HttpRefusal::Redirect { host, reason },
        other => other,
    }
}

fn about_certificates(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::NoCertificate
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError
            | AlertDescription::HandshakeFailure
    )
}

fn find_tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    find::<rustls::Error>(error).or_else(|| find::<std::io::Error>(error)?.get_ref()?.downcast_ref::<rustls::Error>())
}

fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(current) = next {
        if let Some(found) = current.downcast_ref::<T>() {
            return Some(found);
        }
        next = current.source();
    }
    None
}
