//! Transports as declared contracts: what a contract asks of its protocol, and what the one transport of a protocol can do
//! (SDK-CONNECTOR-CONTROL-R069.1, R069.2).

mod json;
mod registry;
#[cfg(test)]
mod tests;

pub use registry::{Transport, TransportRegistry};

use std::collections::BTreeSet;

use crate::auth::AuthDeclaration;
use crate::refusals;
use crate::resource_descriptor::{AccessKind, ResourcePagination};
use crate::words::words;

words! {
    /// What a source does itself, so that a graph need not.
    Pushdown {
        /// Leaves records out by a condition.
        Filter = "filter",
        /// Leaves fields out.
        Project = "project",
        /// Ends after some records.
        Limit = "limit",
        /// Orders records.
        Sort = "sort",
        /// Counts and sums.
        Aggregate = "aggregate",
        /// Joins records of two kinds.
        Join = "join",
        /// Leaves out what is older or newer.
        TimeRange = "time_range",
    }

    /// How events arrive.
    StreamMode {
        /// There are none: the source answers queries.
        None = "none",
        /// The reader asks for what comes after its position.
        Poll = "poll",
        /// The source sends them as they come.
        Push = "push",
    }

    /// How a reader proves who it is: the words of [`AuthDeclaration`].
    AuthModel {
        /// Not at all.
        NoAuth = "no_auth",
        /// A token in `Authorization`.
        Bearer = "bearer",
        /// A key in a header field or a query parameter.
        ApiKey = "api_key",
        /// A name and a password.
        Basic = "basic",
        /// OAuth 2 client credentials.
        ClientCredentials = "client_credentials",
        /// An OAuth 2 refresh token.
        RefreshToken = "refresh_token",
        /// A login that opens a session.
        SessionLogin = "session_login",
        /// A login in a person's browser.
        Pkce = "pkce",
        /// The caller's token, exchanged.
        TokenExchange = "token_exchange",
    }
}

impl From<&AuthDeclaration> for AuthModel {
    fn from(declaration: &AuthDeclaration) -> Self {
        match declaration {
            AuthDeclaration::NoAuth(_) => Self::NoAuth,
            AuthDeclaration::Bearer(_) => Self::Bearer,
            AuthDeclaration::ApiKey(_) => Self::ApiKey,
            AuthDeclaration::Basic(_) => Self::Basic,
            AuthDeclaration::ClientCredentials(_) => Self::ClientCredentials,
            AuthDeclaration::RefreshToken(_) => Self::RefreshToken,
            AuthDeclaration::SessionLogin(_) => Self::SessionLogin,
            AuthDeclaration::Pkce(_) => Self::Pkce,
            AuthDeclaration::TokenExchange(_) => Self::TokenExchange,
        }
    }
}

refusals! {
    /// Why a declared protocol cannot be carried.
    pub enum TransportContractRefusal {
        /// No transport of this protocol.
        Unimplemented { protocol: &'static str } => "transport_unimplemented", CallerMistake, Never,
            "there is no transport for `{protocol}`", "declare a protocol with a transport, or register one";
        /// A pushdown that the transport does not do.
        Pushdown { protocol: &'static str, pushdown: &'static str } => "pushdown_unsupported", CallerMistake, Never,
            "the transport of `{protocol}` does not push down `{pushdown}`", "leave it out of the contract";
        /// Two transports of one protocol.
        Duplicate { protocol: &'static str } => "duplicate_transport", CallerMistake, Never,
            "a second transport for `{protocol}`", "register one transport per protocol";
        /// Pages, a way of streaming or an auth model that the transport does not do.
        Feature { protocol: &'static str, member: &'static str, word: &'static str } => "transport_feature_unsupported", CallerMistake, Never,
            "the transport of `{protocol}` has no {member} `{word}`", "declare one that it has";
        /// A stream that is to filter, or a query that is to stream.
        Stream { protocol: &'static str } => "transport_stream_contract", CallerMistake, Never,
            "`{protocol}` is declared half as a stream", "a stream declares how events arrive, no pages, and `time_range` alone as pushdown; what is no stream declares neither";
        /// A document that is no transport contract.
        Member { member: String } => "transport_contract_member", CallerMistake, Never,
            "{member} of the transport contract is missing, unknown or has an unknown word", "write {{protocol, auth_model, paging, streaming, pushdown}} with words of the tables";
    }
}

/// What a contract asks of its protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportContract {
    /// The protocol.
    pub protocol: AccessKind,
    /// How the reader proves who it is.
    pub auth_model: AuthModel,
    /// How further records are asked for.
    pub paging: ResourcePagination,
    /// How events arrive.
    pub streaming: StreamMode,
    /// What the source does itself.
    pub pushdown: BTreeSet<Pushdown>,
}

impl TransportContract {
    /// Whether it is a stream altogether or not at all: a stream says how events arrive, has no pages and may be cut by time
    /// only; anything else does not stream. An access contract that is silent about streaming but names a stream protocol is
    /// not consistent.
    pub fn is_consistent(&self) -> bool {
        if self.protocol.is_stream() {
            self.streaming != StreamMode::None
                && self.paging == ResourcePagination::None
                && self.pushdown.iter().eq([&Pushdown::TimeRange])
        } else {
            self.streaming == StreamMode::None
        }
    }
}
