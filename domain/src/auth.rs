//! How a connector proves who it is to its vendor: declarations that name secrets and never hold one, and the pure parts of
//! the protocols behind them.

mod algorithm;
mod claims;
mod declaration;
mod discovery;
mod flight;
mod grant;
mod jwks;
mod jwt;
mod key_cache;
mod kinds;
mod logins;
mod material;
mod mcp;
mod pkce;
mod profile;
mod slot;
mod static_tokens;
mod token_response;
mod url;

pub use algorithm::{JwtAlgorithm, KeyFamily};
pub use claims::{ClaimRules, SKEW_SECONDS, check_claims, check_times};
pub use declaration::AuthDeclaration;
pub use discovery::{Discovery, MAX_DISCOVERY_BYTES, discovery_url, read_discovery};
pub use flight::{Flight, Outcome, Reason, SKEW_MS, Step};
pub use grant::{ClientProof, FormRequest, Grant, about_token, assertion_claims, token_request};
pub use jwks::{IssuerKey, KeySet, MAX_JWKS_BYTES, MAX_KEYS, PublicKey};
pub use jwt::{JwtRefusal, MAX_JWT_BYTES, MIN_HMAC_BYTES, UnverifiedJwt};
pub use key_cache::{FRESH_MS, INTERVAL_MS, KeyCache, KeyStep, STALE_MS};
pub use kinds::{ApiKey, Basic, Bearer, ClientAuth, ClientCredentials, KeyPlace, NoAuth, RefreshToken, TokenExchange};
pub use logins::{LoginBody, Pkce, RedirectMode, SessionLogin, SessionToken};
pub use material::AuthMaterial;
pub use mcp::{
    AuthorizationServer, BearerChallenge, ClientMetadata, ClientMethod, MAX_CHALLENGE_BYTES, MAX_REGISTRATION_BYTES,
    Registered, ResourceMetadata, covers, read_authorization_server, read_challenge, read_registration,
    read_resource_metadata, resource_metadata_urls, select_scopes, server_metadata_urls,
};
pub use pkce::{
    Ceremony, CeremonySeed, CodeExchange, MAX_REDIRECT_BYTES, PersistReceipt, PkceAuthResult, PkceBinding,
    PkceChallenge, PkceEvidence, PkceRefusal, RedirectBinding, TOTAL_DEADLINE_MS, challenge_of,
};
pub use profile::{ProviderTokenProfile, TokenForm};
pub use slot::SecretSlot;
pub use static_tokens::{StaticToken, StaticTokens};
pub use token_response::{
    MAX_TOKEN_BODY, MAX_TOKEN_BYTES, TokenFailure, TokenResponse, read_token_failure, read_token_response,
};
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
        /// Policy or TLS refuses the connection to the authority; `code` is the code of the HTTP refusal.
        NotDialled { authority: String, code: &'static str } => "auth_not_dialled", Denied, Never,
            "{authority} may not be connected to ({code})", "see the code for what to do";
        /// The resource's metadata is not its own: following it could give its tokens to another server.
        ForeignResource { resource: String } => "auth_foreign_resource", PeerMisbehaved, Never,
            "the metadata of {resource} speaks for another resource", "report it to the operator of the server";
        /// The authorization server cannot do what a login needs; `what` says which part.
        Unsuitable { authority: String, what: &'static str } => "auth_unsuitable", PeerMisbehaved, Never,
            "{authority} does not offer {what}", "register a client there by hand, or ask its operator";
        /// A login in a browser is needed, or did not work; `code` is the code of the login's refusal.
        Login { code: &'static str } => "auth_login", CallerMistake, Never,
            "no login is ready ({code})", "see the code for what to do";
        /// The authority cannot be reached, or failed. The credential may be fine.
        Unreachable { authority: String } => "auth_unreachable", Unavailable, Later,
            "{authority} does not answer", "check the authority";
        /// The authority's answer is not what the protocol says.
        Malformed { authority: String, what: &'static str } => "auth_malformed", PeerMisbehaved, Never,
            "the answer of {authority} has a malformed {what}", "report it to the operator of the authority";
    }
}
