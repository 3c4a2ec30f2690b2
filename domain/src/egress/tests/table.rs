//! A second opinion on addresses: the plain list of blocks, compared bit by bit.

use std::net::IpAddr;

/// Blocks refused without a word of the operator, loopback aside.
const REFUSED: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/96",
    "::/3",
    "4000::/2",
    "8000::/1",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
];
const LOOPBACK: &[&str] = &["127.0.0.0/8", "::1/128"];
const PRIVATE: &[&str] =
    &["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "::1/128"];
const METADATA: &[&str] = &[
    "100.100.100.200/32",
    "fd00:ec2::254/128",
    "fd00:ec2::23/128",
    "fd00:c1::a9fe:a9fe/128",
    "fd20:ce::254/128",
    "fd00:42::42/128",
];

fn inside(address: IpAddr, blocks: &[&str]) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, false),
        IpAddr::V6(address) => (address.to_bits(), true),
    };
    let (have, six) = bits(address);
    blocks.iter().any(|block| {
        let (network, length) = block.split_once('/').unwrap();
        let (want, network_six) = bits(network.parse().unwrap());
        let length: u32 = length.parse().unwrap();
        six == network_six && (length == 0 || (have ^ want) >> (128 - length) == 0)
    })
}

fn isatap(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(a) if matches!(a.segments()[4], 0 | 0x0200) && a.segments()[5] == 0x5efe)
}

pub(super) fn is_loopback(address: IpAddr) -> bool {
    inside(address.to_canonical(), LOOPBACK)
}

pub(super) fn is_public(address: IpAddr) -> bool {
    let address = address.to_canonical();
    !inside(address, REFUSED) && !inside(address, LOOPBACK) && !isatap(address)
}

pub(super) fn may_be_listed(address: IpAddr) -> bool {
    is_loopback(address) || (inside(address, PRIVATE) && !inside(address, METADATA) && !isatap(address))
}
