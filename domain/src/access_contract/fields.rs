//! The terms of both vocabularies for each field of a contract.

/// The older vocabulary of a peer. It is read and not written (decision 0033).
pub const ACCESS_VOCABULARY: &str = "https://knuckles-team.github.io/agent-connector-sdk/access#";
/// The vocabulary of connector packs. Its terms are described in `connector_pack.ttl`.
pub const PACK_VOCABULARY: &str = "http://knuckles.team/kg/connector-pack#";
/// The engine's vocabulary of virtual graphs.
pub const VIRTUAL_GRAPH_VOCABULARY: &str = "http://knuckles.team/kg/virtual-graph#";

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Class,
    Source,
    Entity,
    Key,
    Kind,
    Operation,
    Parameter,
    Pagination,
    Streaming,
    Pushdown,
    AuthModel,
    AuthRef,
    Rate,
    Freshness,
    Cost,
}

impl Field {
    pub(super) const ALL: [Self; 15] = [
        Self::Class,
        Self::Source,
        Self::Entity,
        Self::Key,
        Self::Kind,
        Self::Operation,
        Self::Parameter,
        Self::Pagination,
        Self::Streaming,
        Self::Pushdown,
        Self::AuthModel,
        Self::AuthRef,
        Self::Rate,
        Self::Freshness,
        Self::Cost,
    ];

    /// Its name, which is its term in the older vocabulary.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Class => "classIri",
            Self::Source => "sourceId",
            Self::Entity => "entity",
            Self::Key => "keyField",
            Self::Kind => "accessKind",
            Self::Operation => "operation",
            Self::Parameter => "parameter",
            Self::Pagination => "pagination",
            Self::Streaming => "streaming",
            Self::Pushdown => "pushdown",
            Self::AuthModel => "authModel",
            Self::AuthRef => "authRef",
            Self::Rate => "rateLimitPerMinute",
            Self::Freshness => "freshnessSeconds",
            Self::Cost => "costHint",
        }
    }

    /// Namespace and name of its term in a pack.
    pub(super) const fn term(self) -> (&'static str, &'static str) {
        match self {
            Self::Class => (VIRTUAL_GRAPH_VOCABULARY, "mapsOntologyClass"),
            Self::Entity => (VIRTUAL_GRAPH_VOCABULARY, "mapsEntity"),
            Self::Key => (VIRTUAL_GRAPH_VOCABULARY, "keyField"),
            other => (PACK_VOCABULARY, other.name()),
        }
    }

    /// The field of a predicate.
    pub(super) fn of(predicate: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| {
            let (namespace, name) = field.term();
            predicate.strip_prefix(namespace) == Some(name)
                || predicate.strip_prefix(ACCESS_VOCABULARY) == Some(field.name())
        })
    }
}
