//! Who may call a connector that listens on the network: verifiers of bearer tokens, and the settings that choose one
//! (SDK-CONNECTOR-CONTROL-R014.18).
//!
//! - [`StaticTokenVerifier`]: a document of tokens that the operator keeps as a secret.
//! - [`KeyVerifier`]: JSON Web Tokens signed with one public key or one shared secret.
//! - [`IssuerVerifier`]: JSON Web Tokens signed with the keys an issuer publishes.
//! - [`IntrospectionVerifier`]: tokens that only their authority can read.
//!
//! Every one of them checks that the token is for this server and has not expired; the profile of the listener decides about
//! subject, tenant and scopes afterwards.

mod introspection;
mod issuer;
mod key;
mod open;
mod settings;
mod static_tokens;

use scion_ports::Clock;

pub use introspection::IntrospectionVerifier;
pub use issuer::IssuerVerifier;
pub use key::{KeyVerifier, TokenKey};
pub use open::SecurityParts;
pub use settings::ServedSecuritySettings;
pub use static_tokens::StaticTokenVerifier;

fn seconds(clock: &dyn Clock) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact for the next 285,000 years")]
    let millis = clock.unix_millis() as f64;
    millis / 1000.0
}
