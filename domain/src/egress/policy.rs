//! The policy as it is written, and as it is asked.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::host::{ends_in_number, is_name, without_final_dot};
use super::{AddressClass, EgressHost, EgressRefusal, parse_url};

/// Entries of `allowed_private_hosts`.
pub const MAX_PRIVATE_HOSTS: usize = 256;

/// The policy of one client; strict by default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EgressPolicy {
    /// Resolve, check every address, dial the checked one. Off only where something else does this: then no address is
    /// refused but those of metadata services.
    pub pin_egress: bool,
    /// Exact host names or addresses that may be private: at most 256, no wildcard, no brackets.
    pub allowed_private_hosts: Vec<String>,
    /// Whether loopback may be dialled.
    pub allow_loopback: bool,
    /// After dialling, the peer's address must be the checked one.
    pub verify_pinned_peer: bool,
    /// The one host of an endpoint that an operator wrote down ([`EgressPolicy::for_endpoint`]): it may be public, private or
    /// loopback. No document can set it.
    #[serde(skip)]
    pub endpoint_host: Option<EgressHost>,
}

impl Default for EgressPolicy {
    fn default() -> Self {
        Self {
            pin_egress: true,
            allowed_private_hosts: Vec::new(),
            allow_loopback: false,
            verify_pinned_peer: true,
            endpoint_host: None,
        }
    }
}

impl EgressPolicy {
    /// The policy for an endpoint that an operator configured by its whole URL. The operator named this host, so it may lie
    /// on this machine or in private space; plain http is for these two only. Metadata services, link-local addresses and
    /// the rest stay refused, and so does every other host that is not public.
    pub fn for_endpoint(url: &str) -> Result<Self, EgressRefusal> {
        let host = match parse_url(url)?.host() {
            Some(url::Host::Domain(name)) => EgressHost::Name(without_final_dot(name).into()),
            Some(url::Host::Ipv4(address)) => EgressHost::Address(address.into()),
            Some(url::Host::Ipv6(address)) => EgressHost::Address(address.into()),
            None => return Err(EgressRefusal::Host),
        };
        Ok(Self { endpoint_host: Some(host), ..Self::default() })
    }

    /// Reads the list of private hosts; the rest cannot be wrong.
    pub fn compile(&self) -> Result<CompiledEgress, EgressRefusal> {
        if self.allowed_private_hosts.len() > MAX_PRIVATE_HOSTS {
            return Err(EgressRefusal::ListTooLong);
        }
        if !self.pin_egress && !self.allowed_private_hosts.is_empty() {
            return Err(EgressRefusal::ListNeedsPin);
        }
        let mut compiled = CompiledEgress {
            pin: self.pin_egress,
            loopback: self.allow_loopback,
            verify_peer: self.verify_pinned_peer,
            names: Vec::new(),
            addresses: Vec::new(),
            endpoint: self.endpoint_host.clone(),
        };
        for (entry, text) in self.allowed_private_hosts.iter().enumerate() {
            let text = text.trim_matches(' ');
            if let Ok(address) = text.parse::<IpAddr>() {
                if !AddressClass::may_be_listed(address) {
                    return Err(EgressRefusal::ListEntry { entry });
                }
                compiled.addresses.push(address);
                continue;
            }
            let name = without_final_dot(text);
            if !is_name(name) || name.contains('_') || ends_in_number(name) {
                return Err(EgressRefusal::ListEntry { entry });
            }
            compiled.names.push(name.to_ascii_lowercase().into());
        }
        compiled.names.sort_unstable();
        compiled.names.dedup();
        compiled.addresses.sort_unstable();
        compiled.addresses.dedup();
        Ok(compiled)
    }
}

/// A policy ready to be asked. Cheap to clone for a client; shared by its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledEgress {
    pub(super) pin: bool,
    pub(super) loopback: bool,
    pub(super) verify_peer: bool,
    names: Vec<Box<str>>,
    addresses: Vec<IpAddr>,
    endpoint: Option<EgressHost>,
}

impl CompiledEgress {
    /// The private names, sorted, in the form they are compared in.
    pub fn private_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }

    /// The private addresses, sorted.
    pub fn private_addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    pub(super) fn is_endpoint_name(&self, name: &str) -> bool {
        matches!(&self.endpoint, Some(EgressHost::Name(endpoint)) if endpoint.as_ref() == name)
    }

    pub(super) fn is_endpoint_address(&self, address: IpAddr) -> bool {
        matches!(self.endpoint, Some(EgressHost::Address(endpoint)) if endpoint == address)
    }

    pub(super) fn lists_name(&self, name: &str) -> bool {
        self.names.binary_search_by(|listed| listed.as_ref().cmp(name)).is_ok()
    }

    pub(super) fn lists_address(&self, address: IpAddr) -> bool {
        self.addresses.binary_search(&address).is_ok()
    }
}
