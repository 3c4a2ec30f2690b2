//! Outbound authentication: declarations become something that authenticates requests.
//!
//! [`OutboundAuth`] is the `AuthFactory`. Behind it: fixed secrets that are read again after a 401; OAuth 2 client credentials,
//! refresh tokens with rotation and token exchange; session logins; and logins in a person's browser with PKCE
//! ([`PkceAuthManager`]). Tokens are renewed 30 s before they expire, by one task for all callers, and across processes under a
//! lock of the token store. MCP servers that name their authorization server themselves are logged in to by [`McpAuthorization`]. Every exchange with an authority goes through the governed `HttpExchange` it was given.

mod authority;
mod browser;
mod cached;
mod delegation;
mod endpoint;
mod exchange;
mod factory;
mod introspection;
mod keys;
mod mcp;
mod metadata;
mod pkce;
mod profile;
mod provider;
mod refresh;
mod secrets;
mod served;
mod session;
mod static_auth;

pub use authority::Authority;
pub use delegation::Delegation;
pub use exchange::{CallerTokens, with_caller_token};
pub use factory::{LoginPolicy, OutboundAuth};
pub use introspection::Introspection;
pub use keys::{CheckRefusal, IssuerKeys};
pub use mcp::{McpAuthorization, McpClientIdentity, PersonLogin, ProgramLogin, ProgramProof, RegisteredClient};
pub use metadata::IssuerMetadata;
pub use pkce::{PkceAuthManager, PkceParts, account_of};
pub use provider::{ClientCredentialsTokenProvider, ProviderParts};
pub use served::{AuthorityExchange, ServedAuthorities};
