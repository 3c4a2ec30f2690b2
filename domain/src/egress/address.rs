//! What an address is for, by the special-purpose registries of IANA (RFC 6890).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The use of an address. Only [`AddressClass::Public`] is dialled without a word of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressClass {
    /// Globally routed.
    Public,
    /// This machine: 127/8 and `::1`.
    Loopback,
    /// RFC 1918.
    Private,
    /// Carrier-grade NAT, RFC 6598.
    Shared,
    /// fc00::/7, RFC 4193.
    UniqueLocal,
    /// 169.254/16 and fe80::/10.
    LinkLocal,
    /// The credential service of a cloud, wherever it lies. Never dialled, listed or not.
    Metadata,
    /// An IPv6 form that carries an IPv4 address: compatible, NAT64, 6to4, Teredo, ISATAP. A mapped one is classed by the
    /// address it carries, because the system dials that.
    CarriesIpv4,
    /// 224/4 and ff00::/8.
    Multicast,
    /// 0/8 and `::`.
    Unspecified,
    /// Documentation, benchmarks, protocol assignments, and space nobody has been given.
    Reserved,
}

/// Metadata services outside link-local space: Azure, Alibaba.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(100, 100, 100, 200)];
/// Amazon (instances, pods), Google, Oracle, Scaleway.
const METADATA_V6: [Ipv6Addr; 5] = [
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0023),
    Ipv6Addr::new(0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042),
];
/// 169.254.169.254 and its neighbours for containers (.170.2, .170.23).
const METADATA_LINK_LOCAL: [[u8; 2]; 3] = [[169, 254], [170, 2], [170, 23]];

impl AddressClass {
    /// The class of an address.
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    const fn of_v4(address: Ipv4Addr) -> Self {
        let [a, b, c, d] = address.octets();
        match (a, b, c) {
            (0, ..) => Self::Unspecified,
            (127, ..) => Self::Loopback,
            (10, ..) | (172, 16..=31, _) | (192, 168, _) => Self::Private,
            (169, 254, _) => {
                let mut at = 0;
                while at < METADATA_LINK_LOCAL.len() {
                    if METADATA_LINK_LOCAL[at][0] == c && METADATA_LINK_LOCAL[at][1] == d {
                        return Self::Metadata;
                    }
                    at += 1;
                }
                Self::LinkLocal
            }
            (100, 64..=127, _) | (168, 63, 129) => {
                let bits = address.to_bits();
                if bits == METADATA_V4[0].to_bits() || bits == METADATA_V4[1].to_bits() {
                    Self::Metadata
                } else if a == 100 {
                    Self::Shared
                } else {
                    Self::Public
                }
            }
            (224..=239, ..) => Self::Multicast,
            (240..=255, ..) | (192, 0, 0 | 2) | (192, 88, 99) | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => {
                Self::Reserved
            }
            _ => Self::Public,
        }
    }

    const fn of_v6(address: Ipv6Addr) -> Self {
        if let Some(mapped) = address.to_ipv4_mapped() {
            return Self::of_v4(mapped);
        }
        let s = address.segments();
        let bits = address.to_bits();
        if bits <= 1 {
            return if bits == 0 { Self::Unspecified } else { Self::Loopback };
        }
        let compatible = bits >> 32 == 0;
        let nat64 =
            s[0] == 0x0064 && s[1] == 0xff9b && (s[2] == 1 || (s[2] == 0 && s[3] == 0 && s[4] == 0 && s[5] == 0));
        let teredo = s[0] == 0x2001 && s[1] == 0;
        let isatap = s[4] & 0xfdff == 0 && s[5] == 0x5efe;
        if compatible || nat64 || teredo || isatap || s[0] == 0x2002 {
            return Self::CarriesIpv4;
        }
        let mut at = 0;
        while at < METADATA_V6.len() {
            if METADATA_V6[at].to_bits() == bits {
                return Self::Metadata;
            }
            at += 1;
        }
        match s[0] {
            0xfc00..=0xfdff => Self::UniqueLocal,
            0xfe80..=0xfebf => Self::LinkLocal,
            0xff00..=0xffff => Self::Multicast,
            // Protocol assignments, documentation.
            0x2001 if s[1] < 0x0200 || s[1] == 0x0db8 => Self::Reserved,
            0x3fff if s[1] < 0x1000 => Self::Reserved,
            0x2000..=0x3fff => Self::Public,
            _ => Self::Reserved,
        }
    }

    /// Whether a listed host may be there: loopback, RFC 1918, RFC 6598, fc00::/7. A mapped form counts for loopback only.
    pub const fn may_be_listed(address: IpAddr) -> bool {
        let mapped = matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some());
        match Self::of(address) {
            Self::Loopback => true,
            Self::Private | Self::Shared | Self::UniqueLocal => !mapped,
            _ => false,
        }
    }

    /// A word for refusals.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "carrier-grade NAT",
            Self::UniqueLocal => "unique local",
            Self::LinkLocal => "link-local",
            Self::Metadata => "metadata service",
            Self::CarriesIpv4 => "IPv4 inside IPv6",
            Self::Multicast => "multicast",
            Self::Unspecified => "unspecified",
            Self::Reserved => "reserved",
        }
    }
}
