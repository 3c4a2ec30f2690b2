use std::net::{IpAddr, SocketAddr};

use scion_domain::egress::{
    AddressClass, CompiledEgress, EgressHost, EgressPolicy, Plaintext, RedirectWalk, parse_source_url, parse_url,
};
use scion_domain::http::{Method, StatusCode, Url};
use scion_domain::listener::{Authority, Cidr, Origin, is_loopback_host};

/// Lines, each a URL, a host, or a `Location`: whatever is let through is public, or of the kind the policy names; what was
/// read is written and read as the same; and two readers of a URL never see two hosts.
pub fn egress(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let strict = EgressPolicy::default();
    let open = EgressPolicy {
        allow_loopback: true,
        allowed_private_hosts: vec!["db.internal".to_owned(), "10.0.0.1".to_owned()],
        ..EgressPolicy::default()
    };
    let (Ok(strict), Ok(open)) = (strict.compile(), open.compile()) else { return };
    for line in text.lines().take(16) {
        url(line, &strict, &open);
        host(line);
    }
    follow(&text, &strict);
    let listed =
        EgressPolicy { allowed_private_hosts: text.lines().map(str::to_owned).collect(), ..EgressPolicy::default() };
    if let Ok(listed) = listed.compile() {
        assert!(listed.private_addresses().iter().copied().all(AddressClass::may_be_listed));
    }
}

fn public(address: SocketAddr) -> bool {
    AddressClass::of(address.ip()) == AddressClass::Public
}

fn url(text: &str, strict: &CompiledEgress, open: &CompiledEgress) {
    // What the library alone can read is judged by the same classes.
    if let Ok(loose) = Url::parse(text)
        && let Ok(target) = strict.check_url(&loose, Plaintext::Anywhere)
    {
        assert!(target.literal().is_none_or(public), "{text:?}");
        assert!(target.name().is_none_or(|name| !is_loopback_host(Some(name))), "{text:?}");
    }
    let Ok(read) = parse_url(text) else {
        assert!(parse_source_url(text).is_err());
        return;
    };
    assert_eq!(parse_url(read.as_str()).as_ref(), Ok(&read), "{text:?}");
    assert!(read.username().is_empty() && read.password().is_none(), "{text:?}");
    let Ok(target) = open.check_url(&read, Plaintext::PrivateOnly) else { return };
    let answers: Vec<IpAddr> = ["10.0.0.1", "127.0.0.1", "93.184.216.34"].into_iter().flat_map(str::parse).collect();
    for answer in answers {
        let Ok(addresses) = open.check_answers(&target, &[answer]) else { continue };
        let listed =
            target.name() == Some("db.internal") || target.literal().is_some_and(|a| a.ip().to_string() == "10.0.0.1");
        let near = |address: SocketAddr| AddressClass::of(address.ip()) == AddressClass::Loopback;
        let private = |address: SocketAddr| AddressClass::may_be_listed(address.ip());
        let good = |address: &SocketAddr| if listed { private(*address) } else { public(*address) || near(*address) };
        assert!(addresses.iter().all(good), "{text:?} {addresses:?}");
        assert!(target.is_tls() || addresses.iter().all(|address| private(*address)), "{text:?} {addresses:?}");
    }
}

fn host(text: &str) {
    let _ = is_loopback_host(Some(text));
    if let Ok(host) = EgressHost::parse(text) {
        let written = match &host {
            EgressHost::Name(name) => name.to_string(),
            EgressHost::Address(address) => address.to_string(),
        };
        assert_eq!(EgressHost::parse(&written), Ok(host), "{text:?}");
    }
    if let Some(authority) = Authority::parse(text) {
        assert_eq!(Authority::parse(&authority.to_string()), Some(authority), "{text:?}");
    }
    if let Some(origin) = Origin::parse(text) {
        assert_eq!(Origin::parse(&origin.to_string()), Some(origin), "{text:?}");
    }
    if let Some(network) = Cidr::parse(text) {
        assert_eq!(Cidr::parse(&network.to_string()), Some(network), "{text:?}");
    }
}

/// Follows every line as a redirect.
fn follow(text: &str, strict: &CompiledEgress) {
    let Ok(start) = parse_url("https://api.example/a/b") else { return };
    let origin = start.origin();
    let mut walk = RedirectWalk::new(start, Plaintext::PrivateOnly, 8, Method::GET, false);
    for line in text.lines() {
        let Ok(hop) = walk.step(strict, StatusCode::FOUND, line) else { continue };
        assert_eq!(hop.url.scheme(), "https", "{line:?}");
        assert!(hop.target.literal().is_none_or(public), "{line:?}");
        assert!(!hop.credentials || hop.url.origin() == origin, "{line:?}");
    }
}
