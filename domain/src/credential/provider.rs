//! The backend a connector talks to, when it knows several: profiles that hold references only
//! (SDK-CONNECTOR-CONTROL-R014.19), and the set a connector registers in code (SDK-CONNECTOR-CONTROL-R027).

mod profile;
mod registered;

pub use profile::{ProviderProfile, ProviderProfiles, TlsReferences, TlsSelector};
pub use registered::{RegisteredProfiles, RuntimeProfile};

use crate::http::Url;
use crate::refusals;

/// The setting that holds the profiles.
pub const PROVIDER_CONFIGS: &str = "PROVIDER_CONFIGS";
/// The setting that names the selected one.
pub const AGENT_PROVIDER_PROFILE: &str = "AGENT_PROVIDER_PROFILE";

refusals! {
    /// Why there is no provider profile to work with. None of them carries a reference or a value.
    pub enum ProviderRefusal {
        /// None is selected.
        NotSelected => "provider_not_selected", CallerMistake, Never,
            "no provider profile is selected", "set AGENT_PROVIDER_PROFILE to the name of one";
        /// The selected name is not one of the profiles.
        Unknown => "provider_unknown", CallerMistake, Never,
            "the selected provider profile is not configured", "select one that is, or configure it";
        /// There are no profiles.
        NotConfigured => "provider_not_configured", CallerMistake, Never,
            "no provider profiles are configured", "set PROVIDER_CONFIGS";
        /// The document is not one JSON object of profiles with keys that occur once.
        Malformed => "provider_configs_malformed", CallerMistake, Never,
            "the provider profiles are not a JSON object of objects without repeated keys", "correct PROVIDER_CONFIGS";
        /// A bound.
        TooLarge { what: &'static str, limit: usize } => "provider_configs_too_large", CallerMistake, Never,
            "there are more than {limit} {what} in the provider profiles", "configure fewer";
        /// A name with characters it may not have.
        BadName { what: &'static str } => "provider_configs_bad_name", CallerMistake, Never,
            "the name of a {what} in the provider profiles is not usable", "use up to 64 of A-Z a-z 0-9 . _ -";
        /// A member a profile does not have.
        UnknownMember => "provider_profile_unknown_member", CallerMistake, Never,
            "a provider profile has a member it cannot have", "write endpoint, credentials, selectors, tls_profile or tls";
        /// A value that must be a reference and is not.
        Literal { field: &'static str } => "provider_profile_literal", CallerMistake, Never,
            "a {field} of a provider profile is not an env://, vault:// or secret:// reference", "store the value and refer to it";
        /// An endpoint with no TLS selector, or two; or a selector without an endpoint.
        TlsSelector => "provider_profile_tls_selector", CallerMistake, Never,
            "a provider profile with an endpoint names exactly one of tls_profile and tls", "name one of them";
        /// A reference gave no secret; `code` is the code of the runtime refusal.
        Unresolved { field: &'static str, code: &'static str } => "provider_profile_unresolved", CallerMistake, Never,
            "a {field} of the provider profile was not resolved ({code})", "see the code for what to do";
        /// The endpoint is not one.
        Endpoint => "provider_endpoint_invalid", CallerMistake, Never,
            "the endpoint of the provider profile is not an https address (or http to this machine) without user info", "correct it";
        /// A profile was used after `close`.
        Closed => "provider_profile_closed", CallerMistake, Never,
            "the provider profile is closed", "resolve it again";
        /// Two registered profiles have one name.
        Duplicate { name: String } => "provider_profile_duplicate", CallerMistake, Never,
            "two provider profiles are registered as {name}", "rename one";
    }
}

/// Whether a text can name a profile, a credential or a selector.
fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.as_bytes()[0].is_ascii_alphanumeric()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// An absolute https address, or http to this machine, without user info and fragment, at most 2,048 bytes.
pub fn provider_endpoint(text: &str) -> Result<Url, ProviderRefusal> {
    let url = Some(text.trim()).filter(|text| text.len() <= 2048).and_then(|text| Url::parse(text).ok());
    let url = url.ok_or(ProviderRefusal::Endpoint)?;
    let local = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => return Err(ProviderRefusal::Endpoint),
    };
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let scheme = url.scheme() == "https" || (url.scheme() == "http" && local);
    (plain && scheme).then_some(url).ok_or(ProviderRefusal::Endpoint)
}
