use std::fmt;
use std::net::IpAddr;

use super::{ListenerConfigRefusal, MAX_CIDRS};

/// A network; its host bits are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr {
    network: IpAddr,
    length: u8,
}

impl Cidr {
    /// Reads `address/length`, or an address as the network of itself. `None` when host bits are set.
    pub fn parse(text: &str) -> Option<Self> {
        let (network, length) = text.split_once('/').map_or((text, None), |(network, length)| (network, Some(length)));
        let network = network.parse::<IpAddr>().ok()?;
        let whole = if network.is_ipv4() { 32 } else { 128 };
        let length = match length {
            None => whole,
            Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().ok().filter(|length| *length <= whole)?
            }
            Some(_) => return None,
        };
        let cidr = Self { network, length };
        (cidr.masked(network) == Some(bits(network))).then_some(cidr)
    }

    /// Whether an address lies inside. An IPv4 address that a dual-stack socket shows as mapped is that IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.masked(address.to_canonical()) == Some(bits(self.network))
    }

    /// The address without its host bits; `None` for the other family.
    fn masked(&self, address: IpAddr) -> Option<u128> {
        if address.is_ipv4() != self.network.is_ipv4() {
            return None;
        }
        let mask = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
        Some(bits(address) & mask)
    }
}

/// The address in the high bits.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.length)
    }
}

/// Reads a list of 1 to 64 networks; sorted, each once.
pub fn cidr_list(texts: &[String]) -> Result<Vec<Cidr>, ListenerConfigRefusal> {
    const FIELD: &str = "trusted_proxy_cidrs";
    let mut networks = Vec::with_capacity(texts.len().min(MAX_CIDRS));
    for (entry, text) in texts.iter().enumerate() {
        let what = "a network without host bits";
        networks.push(Cidr::parse(text.trim_matches(' ')).ok_or(ListenerConfigRefusal::Entry {
            field: FIELD,
            entry,
            what,
        })?);
    }
    networks.sort_unstable();
    networks.dedup();
    if !(1..=MAX_CIDRS).contains(&networks.len()) {
        return Err(ListenerConfigRefusal::OutOfRange { field: FIELD, low: 1, high: MAX_CIDRS as u64 });
    }
    Ok(networks)
}
