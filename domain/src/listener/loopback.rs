use std::net::{IpAddr, Ipv6Addr};

/// Whether a host to bind or to be reached under is this machine only: `localhost` in any case and with a final dot, or a
/// loopback address, IPv6 with or without brackets and zone. Every other name is not, whatever it resolves to now.
pub fn is_loopback_host(host: Option<&str>) -> bool {
    let Some(host) = host else { return false };
    let bare = host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    let text = bare.unwrap_or(host);
    if text.strip_suffix('.').unwrap_or(text).eq_ignore_ascii_case("localhost") {
        return bare.is_none();
    }
    if let Some((address, zone)) = text.split_once('%') {
        return !zone.is_empty() && address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    text.parse::<IpAddr>()
        .is_ok_and(|address| (address.is_ipv6() || bare.is_none()) && address.to_canonical().is_loopback())
}
