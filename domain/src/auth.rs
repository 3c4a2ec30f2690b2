//! How a connector proves who it is to its vendor: declarations that name secrets and never hold one, and the pure parts of
//! the protocols behind them.

mod algorithm;
mod declaration;
mod kinds;
mod material;
mod profile;
mod slot;
mod url;

pub use algorithm::{JwtAlgorithm, KeyFamily};
pub use declaration::AuthDeclaration;
pub use kinds::{
    ApiKey, Basic, Bearer, ClientAuth, ClientCredentials, KeyPlace, LoginBody, NoAuth, Pkce, RedirectMode,
    RefreshToken, SessionLogin, SessionToken, TokenExchange,
};
pub use material::AuthMaterial;
pub use profile::{ProviderTokenProfile, TokenForm};
pub use slot::SecretSlot;
pub use url::{AuthUrl, issuer as parse_issuer};

use crate::refusals;

refusals! {
    /// Why a request cannot be authenticated.
    pub enum AuthRefusal {
        /// The declaration is incomplete or contradicts itself.
        Configuration { field: &'static str, what: &'static str } => "auth_configuration", CallerMistake, Never,
            "the auth declaration's {field} {what}", "complete the declaration";
        /// A secret it names was not resolved; `code` is the code of the credential refusal.
        Credential { reference: String, code: &'static str } => "auth_credential", CallerMistake, Never,
            "{reference} was not resolved ({code})", "see the code for what to do";
        /// The authority answered no: the credential is wrong, expired or revoked.
        Rejected { authority: String } => "auth_rejected", Denied, Never,
            "{authority} rejects the credential", "renew the credential or log in again";
        /// The authority cannot be reached, or failed. The credential may be fine.
        Unreachable { authority: String } => "auth_unreachable", Unavailable, Later,
            "{authority} does not answer", "check the authority";
        /// The authority's answer is not what the protocol says.
        Malformed { authority: String, what: &'static str } => "auth_malformed", PeerMisbehaved, Never,
            "the answer of {authority} has a malformed {what}", "report it to the operator of the authority";
    }
}
