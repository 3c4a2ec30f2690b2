use std::collections::{BTreeMap, BTreeSet};

use super::{AuthModel, Pushdown, StreamMode, TransportContract, TransportContractRefusal};
use crate::json::Json;
use crate::resource_descriptor::{AccessKind, ResourcePagination};

/// What carries a protocol, and what it can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The protocol.
    pub protocol: AccessKind,
    /// The module that carries it, for example `scion_mcp_client`.
    pub module: &'static str,
    /// The version of that module.
    pub version: &'static str,
    /// The auth models it knows.
    pub auth_models: BTreeSet<AuthModel>,
    /// The paginations it knows.
    pub paging: BTreeSet<ResourcePagination>,
    /// How events can arrive.
    pub streaming: BTreeSet<StreamMode>,
    /// What it can push down.
    pub pushdown: BTreeSet<Pushdown>,
}

impl Transport {
    /// A transport that answers one query at a time without credentials. A protocol that streams pushes down `time_range`.
    pub fn new(protocol: AccessKind, module: &'static str, version: &'static str) -> Self {
        let stream = protocol.is_stream();
        Self {
            protocol,
            module,
            version,
            auth_models: BTreeSet::from([AuthModel::NoAuth]),
            paging: BTreeSet::from([ResourcePagination::None]),
            streaming: if stream { BTreeSet::new() } else { BTreeSet::from([StreamMode::None]) },
            pushdown: if stream { BTreeSet::from([Pushdown::TimeRange]) } else { BTreeSet::new() },
        }
    }

    /// The same with further auth models.
    #[must_use]
    pub fn auth(mut self, models: impl IntoIterator<Item = AuthModel>) -> Self {
        self.auth_models.extend(models);
        self
    }

    /// The same with further paginations.
    #[must_use]
    pub fn pages(mut self, paging: impl IntoIterator<Item = ResourcePagination>) -> Self {
        self.paging.extend(paging);
        self
    }

    /// The same with further ways of streaming.
    #[must_use]
    pub fn streams(mut self, modes: impl IntoIterator<Item = StreamMode>) -> Self {
        self.streaming.extend(modes);
        self
    }

    /// The same with further pushdown.
    #[must_use]
    pub fn pushes_down(mut self, pushdown: impl IntoIterator<Item = Pushdown>) -> Self {
        self.pushdown.extend(pushdown);
        self
    }
}

/// The transports there are: one per protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportRegistry(BTreeMap<AccessKind, Transport>);

impl TransportRegistry {
    /// Adds the transport of a protocol.
    ///
    /// # Errors
    /// `duplicate_transport` for a second one; `transport_stream_contract` when a stream transport pushes down anything but
    /// `time_range`, or has pages.
    pub fn register(&mut self, transport: Transport) -> Result<(), TransportContractRefusal> {
        let protocol = transport.protocol.as_str();
        let time_only = transport.pushdown.iter().all(|one| *one == Pushdown::TimeRange);
        let paged = transport.paging.iter().any(|paging| *paging != ResourcePagination::None);
        if transport.protocol.is_stream() && (!time_only || paged) {
            return Err(TransportContractRefusal::Stream { protocol });
        }
        if self.0.contains_key(&transport.protocol) {
            return Err(TransportContractRefusal::Duplicate { protocol });
        }
        self.0.insert(transport.protocol, transport);
        Ok(())
    }

    /// The transport of a protocol.
    pub fn get(&self, protocol: AccessKind) -> Option<&Transport> {
        self.0.get(&protocol)
    }

    /// Every transport, by protocol.
    pub fn iter(&self) -> impl Iterator<Item = &Transport> {
        self.0.values()
    }

    /// The transport that can do what a contract asks.
    ///
    /// # Errors
    /// `transport_unimplemented`, `pushdown_unsupported`, `transport_feature_unsupported`, or `transport_stream_contract` for a
    /// contract that is half a stream.
    pub fn require(&self, contract: &TransportContract) -> Result<&Transport, TransportContractRefusal> {
        let protocol = contract.protocol.as_str();
        if !contract.is_consistent() {
            return Err(TransportContractRefusal::Stream { protocol });
        }
        let transport = self.get(contract.protocol).ok_or(TransportContractRefusal::Unimplemented { protocol })?;
        if let Some(pushdown) = contract.pushdown.difference(&transport.pushdown).next() {
            return Err(TransportContractRefusal::Pushdown { protocol, pushdown: pushdown.as_str() });
        }
        let feature = |known: bool, member, word| {
            if known { Ok(()) } else { Err(TransportContractRefusal::Feature { protocol, member, word }) }
        };
        feature(transport.paging.contains(&contract.paging), "paging", contract.paging.as_str())?;
        feature(transport.streaming.contains(&contract.streaming), "streaming", contract.streaming.as_str())?;
        feature(transport.auth_models.contains(&contract.auth_model), "auth model", contract.auth_model.as_str())?;
        Ok(transport)
    }

    /// The matrix of what contracts declare, for a report: `[{protocol, transport, version}]`, each protocol once.
    ///
    /// # Errors
    /// As [`TransportRegistry::require`], for the first contract that cannot be carried.
    pub fn matrix<'c>(
        &self,
        contracts: impl IntoIterator<Item = &'c TransportContract>,
    ) -> Result<Json, TransportContractRefusal> {
        let mut rows = BTreeMap::new();
        for contract in contracts {
            let transport = self.require(contract)?;
            rows.insert(
                transport.protocol,
                Json::from([
                    ("protocol", transport.protocol.as_str().into()),
                    ("transport", transport.module.into()),
                    ("version", transport.version.into()),
                ]),
            );
        }
        Ok(rows.into_values().collect::<Vec<_>>().into())
    }
}
