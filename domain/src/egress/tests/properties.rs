//! What holds for every input.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::table;
use crate::egress::{AddressClass, CompiledEgress, EgressHost, EgressPolicy, Plaintext, RedirectWalk, parse_url};
use crate::http::{Method, StatusCode};

/// Addresses near every edge, and any others.
fn addresses() -> impl Strategy<Value = IpAddr> {
    let blocks = prop::sample::select(vec![
        [0u8, 0],
        [10, 0],
        [100, 64],
        [100, 100],
        [127, 0],
        [168, 63],
        [169, 254],
        [172, 16],
        [172, 31],
        [192, 0],
        [192, 88],
        [192, 168],
        [198, 18],
        [198, 51],
        [203, 0],
        [224, 0],
        [255, 255],
        [8, 8],
    ]);
    let v4 = (blocks, any::<[u8; 2]>()).prop_map(|([a, b], [c, d])| Ipv4Addr::new(a, b, c, d));
    let v4 = prop_oneof![v4, any::<u32>().prop_map(Ipv4Addr::from_bits)];
    let prefixes = prop::sample::select(vec![
        0u128,
        0xffff << 32,
        0x0064_ff9b << 96,
        0x2002 << 112,
        0x2001 << 112,
        0x2001_0db8 << 96,
        0x3fff << 112,
        0xfc00 << 112,
        0xfd00_0ec2 << 96,
        0xfe80 << 112,
        0xfec0 << 112,
        0xff02 << 112,
        0x2606_4700 << 96,
        (0x2606_4700 << 96) | (0x5efe << 32),
    ]);
    let low = prop_oneof![any::<u32>().prop_map(u128::from), any::<u64>().prop_map(u128::from), 0u128..3];
    let v6 = (prefixes, low).prop_map(|(prefix, low)| Ipv6Addr::from_bits(prefix | low));
    let v6 = prop_oneof![v6, any::<u128>().prop_map(Ipv6Addr::from_bits)];
    prop_oneof![v4.prop_map(IpAddr::V4), v6.prop_map(IpAddr::V6)]
}

fn hosts() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "api.example",
        "other.example",
        "db.internal",
        "DB.Internal.",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.1",
        "0x7f.0.0.1",
        "2130706433",
        "0177.0.0.1",
        "10.0.0.1",
        "127.0.0.1.nip.io",
        "exa_mple.com",
        "u:p@api.example",
        "api.example:8443",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "１２７.0.0.1",
        "",
    ]);
    let literal = addresses().prop_map(|address| match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    });
    prop_oneof![names.prop_map(str::to_owned), literal]
}

fn locations() -> impl Strategy<Value = String> {
    let absolute =
        (prop::sample::select(vec!["https://", "http://", "//", "HTTPS://", "/", "/\\", "https:/"]), hosts())
            .prop_map(|(scheme, host)| format!("{scheme}{host}/x"));
    prop_oneof![4 => absolute, 1 => Just("/next?x=1".to_owned()), 1 => any::<String>()]
}

fn policies() -> impl Strategy<Value = EgressPolicy> {
    (any::<bool>(), any::<bool>()).prop_map(|(allow_loopback, listed)| EgressPolicy {
        allow_loopback,
        allowed_private_hosts: if listed { vec!["db.internal".into(), "10.0.0.1".into()] } else { Vec::new() },
        ..EgressPolicy::default()
    })
}

/// Whether the policy permits to dial this, by the table alone.
fn permitted(policy: &EgressPolicy, host: &str, address: IpAddr) -> bool {
    let listed = policy.allowed_private_hosts.iter().any(|entry| entry == host);
    if listed {
        table::may_be_listed(address)
    } else {
        table::is_public(address) || (policy.allow_loopback && table::is_loopback(address))
    }
}

/// Dials as the adapter does: the addresses that would be reached for one hop.
fn dial(egress: &CompiledEgress, target: &crate::egress::Target, answers: &[IpAddr]) -> Vec<(String, IpAddr)> {
    let host = target.name().map_or_else(|| target.literal().unwrap().ip().to_string(), str::to_owned);
    let addresses = egress.check_answers(target, answers).unwrap_or_default();
    addresses.into_iter().map(|address| (host.clone(), address.ip())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R002, SDK-CONNECTOR-CONTROL-R014.5
    #[test]
    fn no_sequence_of_redirects_and_resolutions_reaches_a_refused_address(
        policy in policies(),
        first in locations(),
        hops in prop::collection::vec((locations(), prop::collection::vec(addresses(), 0..3), any::<u8>()), 0..6),
    ) {
        let egress = policy.compile().unwrap();
        let Ok(url) = parse_url(&first) else { return Ok(()) };
        let Ok(mut target) = egress.check_url(&url, Plaintext::PrivateOnly) else { return Ok(()) };
        let mut walk = RedirectWalk::new(url.clone(), Plaintext::PrivateOnly, 3, Method::GET, false);
        let mut credentials = true;
        let mut here = url;
        for (location, answers, status) in hops {
            // The resolver answers anew for each hop: a name rebinds.
            let dialled = dial(&egress, &target, &answers);
            for (host, address) in &dialled {
                prop_assert!(permitted(&policy, host, *address), "{host} {address}");
                let plain = here.scheme() == "http" && !policy.allowed_private_hosts.contains(host);
                prop_assert!(!plain || table::is_loopback(*address), "plain http to {host} {address}");
            }
            let statuses = [StatusCode::FOUND, StatusCode::SEE_OTHER, StatusCode::PERMANENT_REDIRECT];
            let Ok(hop) = walk.step(&egress, statuses[usize::from(status) % 3], &location) else { return Ok(()) };
            prop_assert!(here.scheme() == "http" || hop.url.scheme() == "https");
            prop_assert!(hop.url.origin() == here.origin() || !hop.credentials);
            prop_assert!(credentials || !hop.credentials, "credentials come back");
            prop_assert!(hop.url.username().is_empty() && hop.url.password().is_none());
            credentials = hop.credentials;
            target = hop.target;
            here = hop.url;
        }
        prop_assert!(walk.followed() <= 3);
    }

    #[test]
    fn the_class_agrees_with_the_table(address in addresses()) {
        let class = AddressClass::of(address);
        prop_assert_eq!(class == AddressClass::Public, table::is_public(address), "{} {:?}", address, class);
        prop_assert_eq!(class == AddressClass::Loopback, table::is_loopback(address), "{}", address);
        prop_assert_eq!(AddressClass::may_be_listed(address), table::may_be_listed(address), "{}", address);
    }

    /// Every other spelling of an IPv4 address is refused, also of a public one.
    #[test]
    fn only_four_decimal_numbers_spell_an_ipv4_address(bits in any::<u32>(), shape in 0usize..6) {
        let [a, b, c, d] = bits.to_be_bytes();
        let text = match shape {
            0 => bits.to_string(),
            1 => format!("{bits:#x}"),
            2 => format!("{a}.{}", bits & 0x00ff_ffff),
            3 => format!("{a}.{b}.{}", bits & 0xffff),
            4 => format!("0{a:o}.{b}.{c}.{d}"),
            _ => format!("{a}.{b}.{c}.{d:#x}"),
        };
        prop_assert!(EgressHost::parse(&text).is_err(), "{}", text);
        let url = format!("https://{text}/");
        prop_assert!(parse_url(&url).is_err(), "{}", text);
        // Read by the library it is an address, and judged as one.
        if let Ok(read) = crate::http::Url::parse(&url) {
            let egress = EgressPolicy::default().compile().unwrap();
            let passes = egress.check_url(&read, Plaintext::PrivateOnly).is_ok();
            prop_assert_eq!(passes, table::is_public(IpAddr::V4(Ipv4Addr::from_bits(bits))), "{}", text);
        }
    }

    #[test]
    fn any_text_gets_an_answer(text in any::<String>(), host in "[ -~]{0,40}") {
        let egress = EgressPolicy::default().compile().unwrap();
        for text in [text, format!("https://{host}/"), host] {
            let _ = EgressHost::parse(&text);
            if let Ok(url) = parse_url(&text) {
                let again = parse_url(url.as_str());
                prop_assert_eq!(again.as_ref(), Ok(&url));
                let _ = egress.check_url(&url, Plaintext::Anywhere);
            }
            let policy = EgressPolicy { allowed_private_hosts: vec![text], ..EgressPolicy::default() };
            let _ = policy.compile();
        }
    }
}
