//! Cases no vector has.

use std::net::{IpAddr, SocketAddr};

use crate::egress::{
    AddressClass, EgressHost, EgressPolicy, EgressRefusal, Plaintext, RedirectWalk, check_destination, parse_url,
    validate_base_url,
};
use crate::http::{Method, StatusCode, Url};
use crate::refusal::Refusal;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn with(loopback: bool, private: &[&str]) -> EgressPolicy {
    EgressPolicy {
        allow_loopback: loopback,
        allowed_private_hosts: private.iter().map(|host| (*host).to_owned()).collect(),
        ..EgressPolicy::default()
    }
}

#[test]
fn ipv4_inside_ipv6_is_never_dialled() {
    for text in [
        "::127.0.0.1",
        "::10.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::a00:1",
        "64:ff9b:1:ffff::1",
        "2002:a00:1::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2606:4700::5efe:a00:1",
        "2606:4700::200:5efe:a00:1",
        "fd00::5efe:a00:1",
        "fe80::5efe:a00:1",
    ] {
        assert_eq!(AddressClass::of(ip(text)), AddressClass::CarriesIpv4, "{text}");
        assert!(!AddressClass::may_be_listed(ip(text)), "{text}");
    }
    for text in ["::ffff:0:7f00:1", "fec0::1", "feff::1", "100::1", "5f00::1"] {
        assert_eq!(AddressClass::of(ip(text)), AddressClass::Reserved, "{text}");
    }
}

#[test]
fn metadata_services_are_never_dialled_listed_or_not() {
    for text in [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "168.63.129.16",
        "100.100.100.200",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd00:c1::a9fe:a9fe",
        "fd20:ce::254",
        "fd00:42::42",
        "::ffff:169.254.169.254",
    ] {
        assert_eq!(AddressClass::of(ip(text)), AddressClass::Metadata, "{text}");
        assert_eq!(with(true, &[text]).compile(), Err(EgressRefusal::ListEntry { entry: 0 }), "{text}");
        let egress = with(true, &["db.internal"]).compile().unwrap();
        for host in ["https://db.internal/", "https://api.example/"] {
            let target = egress.check_url(&url(host), Plaintext::PrivateOnly).unwrap();
            assert!(egress.check_answers(&target, &[ip(text)]).is_err(), "{host} {text}");
        }
        let off = EgressPolicy { pin_egress: false, ..EgressPolicy::default() }.compile().unwrap();
        let target = off.check_url(&url("https://api.example/"), Plaintext::PrivateOnly).unwrap();
        assert!(off.check_answers(&target, &[ip(text)]).is_err(), "unpinned {text}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.5
#[test]
fn unusual_spellings_are_refused_as_text() {
    for host in [
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.01",
        "127.0.0.1.",
        "1.2.3.4.5",
        "1.2.3",
        "8.8.8.0x8",
        "8.8.8.8.0x",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.⓪.⓪.①",
    ] {
        assert_eq!(EgressHost::parse(host), Err(EgressRefusal::Spelling), "{host}");
        assert!(parse_url(&format!("https://{host}/")).is_err(), "{host}");
    }
    for host in ["fe80::1%eth0", "[fe80::1%25eth0]", "::1%lo"] {
        assert_eq!(EgressHost::parse(host), Err(EgressRefusal::Spelling), "{host}");
    }
    for host in
        ["", ".", "a..b", "-a", "a-", "a b", "a/b", "[::1", "::1]", "a:b", "1::2::3", "a\u{0}", "a%2eb", "*.a", "*"]
    {
        assert_eq!(EgressHost::parse(host), Err(EgressRefusal::Host), "{host:?}");
    }
    assert_eq!(EgressHost::parse("LOCALHOST."), Ok(EgressHost::Name("localhost".into())));
    assert_eq!(EgressHost::parse("ＬＯＣＡＬＨＯＳＴ"), Ok(EgressHost::Name("localhost".into())));
    assert_eq!(EgressHost::parse("bücher.example"), Ok(EgressHost::Name("xn--bcher-kva.example".into())));
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.5
#[test]
fn tricks_with_user_info_and_separators_are_refused() {
    let refused = |text: &str| parse_url(text).unwrap_err().code();
    for text in
        ["https://api.example@10.0.0.1/", "https://@api.example/", "https://u:p@api.example", "https://a%40b@c.d"]
    {
        assert_eq!(refused(text), "egress_user_info", "{text}");
    }
    for text in
        ["https://api.example\\@10.0.0.1/", " https://api.example", "https://api.example/a b", "https://a\t.example/"]
    {
        assert_eq!(refused(text), "egress_url_text", "{text:?}");
    }
    for text in
        ["https:api.example", "https:/api.example", "javascript:alert(1)", "file:///etc/passwd", "", "//a.example"]
    {
        assert_eq!(refused(text), "egress_scheme", "{text:?}");
    }
    for text in ["https://a:0/", "https://a:65536/", "https://a:+1/", "https://a:x/"] {
        assert_eq!(refused(text), "egress_port", "{text:?}");
    }
    for text in ["https:///x", "https://?x", "https://#", "https://a:1:2/", "https://[::1]x/", "https://%6cocalhost/"] {
        assert_eq!(refused(text), "egress_host", "{text:?}");
    }
    assert_eq!(refused(&format!("https://a/{}", "x".repeat(8192))), "egress_url_too_long");
    assert_eq!(validate_base_url("https://a.example/#x", &with(false, &[])), Err(EgressRefusal::Fragment));
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.1
#[test]
fn a_check_of_text_allows_what_the_policy_names() {
    let strict = EgressPolicy::default();
    for host in ["localhost", "LocalHost.", "a.localhost", "127.0.0.1", "::1", "[::1]", "::ffff:127.0.0.1"] {
        assert_eq!(check_destination(host, &strict), Err(EgressRefusal::Loopback), "{host}");
        assert_eq!(check_destination(host, &with(true, &[])), Ok(()), "{host}");
    }
    for host in ["10.0.0.1", "172.20.0.1", "192.168.1.1", "fd00::1", "100.64.0.1"] {
        assert!(matches!(check_destination(host, &strict), Err(EgressRefusal::Private { .. })), "{host}");
        assert!(check_destination(host, &with(true, &[])).is_err(), "{host}");
        assert_eq!(check_destination(host, &with(false, &[host])), Ok(()), "{host}");
        assert!(check_destination(host, &with(false, &["10.9.9.9"])).is_err(), "{host}");
        let off = EgressPolicy { pin_egress: false, ..EgressPolicy::default() };
        assert_eq!(check_destination(host, &off), Ok(()), "{host}");
    }
}

#[test]
fn a_list_needs_the_check_that_reads_it() {
    let policy = EgressPolicy { pin_egress: false, ..with(false, &["db.internal"]) };
    assert_eq!(policy.compile(), Err(EgressRefusal::ListNeedsPin));
    assert_eq!(with(false, &["8.8.8.8"]).compile(), Err(EgressRefusal::ListEntry { entry: 0 }));
    assert_eq!(with(false, &["db", "127.1"]).compile(), Err(EgressRefusal::ListEntry { entry: 1 }));
}

#[test]
fn a_policy_is_read_and_written() {
    let policy: EgressPolicy = serde_json::from_str(r#"{"allowed_private_hosts":["db.internal"]}"#).unwrap();
    assert_eq!(policy, with(false, &["db.internal"]));
    let again: EgressPolicy = serde_json::from_str(&serde_json::to_string(&policy).unwrap()).unwrap();
    assert_eq!(again, policy);
    assert!(serde_json::from_str::<EgressPolicy>(r#"{"allow_lopback":true}"#).is_err());
}

#[test]
fn plain_http_stays_on_this_machine_or_on_the_list() {
    let strict = EgressPolicy::default().compile().unwrap();
    let loopback = with(true, &["db.internal"]).compile().unwrap();
    let plain =
        |egress: &crate::egress::CompiledEgress, text: &str| egress.check_url(&url(text), Plaintext::PrivateOnly);
    assert_eq!(plain(&strict, "http://api.example/"), Err(EgressRefusal::Plaintext));
    assert_eq!(plain(&strict, "http://93.184.216.34/"), Err(EgressRefusal::Plaintext));
    assert!(strict.check_url(&url("http://93.184.216.34/"), Plaintext::Anywhere).is_ok());
    let target = plain(&loopback, "http://api.example/").unwrap();
    assert_eq!(loopback.check_answers(&target, &[ip("93.184.216.34")]), Err(EgressRefusal::NotLoopback));
    assert!(loopback.check_answers(&target, &[ip("127.0.0.1")]).is_ok());
    let target = plain(&loopback, "https://localhost/").unwrap();
    assert_eq!(loopback.check_answers(&target, &[ip("93.184.216.34")]), Err(EgressRefusal::NotLoopback));
    assert!(plain(&loopback, "http://db.internal/").is_ok());
}

#[test]
fn the_peer_is_the_checked_address() {
    let egress = EgressPolicy::default().compile().unwrap();
    let at = |text: &str| text.parse::<SocketAddr>().unwrap();
    assert_eq!(egress.check_peer(at("8.8.8.8:443"), at("8.8.8.8:443")), Ok(()));
    assert_eq!(egress.check_peer(at("8.8.8.8:443"), at("[::ffff:8.8.8.8]:443")), Ok(()));
    assert_eq!(egress.check_peer(at("8.8.8.8:443"), at("8.8.8.9:443")), Err(EgressRefusal::PeerDiffers));
    assert_eq!(egress.check_peer(at("8.8.8.8:443"), at("8.8.8.8:80")), Err(EgressRefusal::PeerDiffers));
    let off = EgressPolicy { verify_pinned_peer: false, ..EgressPolicy::default() }.compile().unwrap();
    assert_eq!(off.check_peer(at("8.8.8.8:443"), at("8.8.8.9:443")), Ok(()));
}

#[test]
fn a_proxy_is_asked_for_checked_targets_only() {
    let egress = with(true, &["db.internal"]).compile().unwrap();
    let target = |text: &str| egress.check_url(&url(text), Plaintext::PrivateOnly).unwrap();
    let public = target("https://api.example./");
    assert_eq!(egress.check_connect(&public, None).as_deref(), Ok("api.example:443"));
    assert_eq!(egress.check_connect(&public, Some(&[ip("93.184.216.34")])).as_deref(), Ok("93.184.216.34:443"));
    assert!(egress.check_connect(&public, Some(&[ip("93.184.216.34"), ip("10.0.0.1")])).is_err());
    assert_eq!(egress.check_connect(&target("https://[2606:4700::1]/"), None).as_deref(), Ok("[2606:4700::1]:443"));
    let listed = target("https://db.internal/");
    assert_eq!(egress.check_connect(&listed, None), Err(EgressRefusal::ProxyTarget));
    assert_eq!(egress.check_connect(&listed, Some(&[ip("10.0.0.1")])).as_deref(), Ok("10.0.0.1:443"));
    assert_eq!(egress.check_connect(&target("https://localhost/"), None), Err(EgressRefusal::ProxyTarget));
    assert_eq!(egress.check_connect(&target("http://db.internal/"), None), Err(EgressRefusal::Plaintext));
}

#[test]
fn the_endpoint_an_operator_wrote_may_be_private_and_nothing_else_may() {
    let answers = |endpoint: &str, asked: &str, answer: &str| {
        let egress = EgressPolicy::for_endpoint(endpoint)?.compile()?;
        let target = egress.check_url(&url(asked), Plaintext::PrivateOnly)?;
        egress.check_answers(&target, &[ip(answer)]).map(drop)
    };
    let own = |endpoint: &str, answer: &str| answers(endpoint, endpoint, answer);
    for answer in ["93.184.216.34", "10.0.0.1", "127.0.0.1", "fd00::1"] {
        assert_eq!(own("https://mcp.Example.:8443/mcp", answer), Ok(()), "{answer}");
    }
    assert_eq!(own("http://mcp.internal/mcp", "10.0.0.1"), Ok(()));
    assert_eq!(own("http://mcp.internal/mcp", "93.184.216.34"), Err(EgressRefusal::Plaintext));
    for answer in ["169.254.169.254", "fd00:ec2::254", "224.0.0.1", "::ffff:10.0.0.1"] {
        assert!(own("https://mcp.internal/", answer).is_err(), "{answer}");
    }
    assert_eq!(own("http://localhost:8000/mcp", "127.0.0.1"), Ok(()));
    assert_eq!(own("http://localhost:8000/mcp", "10.0.0.1"), Err(EgressRefusal::NotLoopback));
    for literal in ["http://127.0.0.1:8000/", "http://[::1]/", "https://10.0.0.1/", "https://93.184.216.34/"] {
        assert_eq!(own(literal, "0.0.0.0"), Ok(()), "{literal}");
    }
    assert_eq!(own("http://93.184.216.34/", "0.0.0.0"), Err(EgressRefusal::Plaintext));
    assert!(own("https://169.254.169.254/", "0.0.0.0").is_err());
    assert!(own("https://127.1/", "127.0.0.1").is_err());
    for asked in ["https://other.internal/", "https://a.localhost/", "https://10.0.0.2/"] {
        assert!(answers("https://mcp.internal/", asked, "10.0.0.1").is_err(), "{asked}");
    }
    assert!(serde_json::from_str::<EgressPolicy>(r#"{"endpoint_host":"x"}"#).is_err());
}

fn walk(from: &str) -> RedirectWalk {
    RedirectWalk::new(url(from), Plaintext::PrivateOnly, 3, Method::GET, false)
}

#[test]
fn redirects_are_counted_checked_and_lose_credentials_elsewhere() {
    let egress = with(true, &["db.internal"]).compile().unwrap();
    let mut walk = walk("https://api.example/a/b");
    let hop = walk.step(&egress, StatusCode::FOUND, "../c?x=1#frag").unwrap();
    assert_eq!((hop.url.as_str(), hop.credentials), ("https://api.example/c?x=1", true));
    let hop = walk.step(&egress, StatusCode::FOUND, "//other.example/").unwrap();
    assert_eq!((hop.url.as_str(), hop.credentials), ("https://other.example/", false));
    // Back home: what was dropped stays dropped.
    let hop = walk.step(&egress, StatusCode::FOUND, "https://api.example/").unwrap();
    assert!(!hop.credentials);
    assert_eq!(walk.step(&egress, StatusCode::FOUND, "/x"), Err(EgressRefusal::RedirectCount));
    assert_eq!(walk.followed(), 3);
}

#[test]
fn a_redirect_goes_where_a_request_may_go() {
    let egress = EgressPolicy::default().compile().unwrap();
    for (location, code) in [
        ("http://api.example/", "egress_redirect_downgrade"),
        ("https://10.0.0.1/", "egress_private_address"),
        ("https://169.254.169.254/latest", "egress_forbidden_address"),
        ("https://[::1]/", "egress_loopback"),
        ("https://localhost/", "egress_loopback"),
        ("https://127.1/", "egress_address_spelling"),
        ("//0x7f.1/", "egress_address_spelling"),
        ("https://u:p@api.example/", "egress_user_info"),
        ("/\\10.0.0.1/", "egress_url_text"),
        ("///10.0.0.1/", "egress_host"),
        ("https:/10.0.0.1/", "egress_scheme"),
        ("file:///etc/passwd", "egress_scheme"),
        ("data:text/plain,x", "egress_scheme"),
        ("https://api.example:22x/", "egress_port"),
        ("", "egress_redirect_location"),
    ] {
        let mut walk = walk("https://api.example/");
        assert_eq!(walk.step(&egress, StatusCode::FOUND, location).unwrap_err().code(), code, "{location}");
        assert_eq!(walk.followed(), 0);
    }
    let mut walk = walk("https://api.example/");
    assert!(walk.step(&egress, StatusCode::NOT_MODIFIED, "/x").is_err());
}

#[test]
fn methods_and_bodies_follow_the_status() {
    let egress = EgressPolicy::default().compile().unwrap();
    let step = |method: Method, status: u16, location: &str| {
        let mut walk = RedirectWalk::new(url("https://api.example/"), Plaintext::PrivateOnly, 3, method, true);
        walk.step(&egress, StatusCode::from_u16(status).unwrap(), location).map(|hop| (hop.method, hop.body))
    };
    assert_eq!(step(Method::POST, 303, "/x"), Ok((Method::GET, false)));
    assert_eq!(step(Method::POST, 302, "https://b.example/x"), Ok((Method::GET, false)));
    assert_eq!(step(Method::POST, 307, "/x"), Ok((Method::POST, true)));
    assert_eq!(step(Method::PUT, 301, "/x"), Ok((Method::PUT, true)));
    assert_eq!(step(Method::HEAD, 303, "/x"), Ok((Method::HEAD, true)));
    // A body can hold a secret as a header can.
    assert_eq!(step(Method::POST, 307, "https://b.example/x"), Err(EgressRefusal::RedirectBody));
    assert_eq!(step(Method::POST, 308, "https://api.example:8443/x"), Err(EgressRefusal::RedirectBody));
}

/// The recorded figures come from an optimised build; here is only a bound that holds for any.
#[test]
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a test measures and says so")]
fn a_literal_is_checked_in_a_moment() {
    let egress = with(true, &["10.0.0.1", "db.internal"]).compile().unwrap();
    let urls = ["https://93.184.216.34/x?q=1", "https://10.0.0.1/", "https://[2606:4700:4700::1111]/"].map(url);
    let round = || {
        let start = std::time::Instant::now();
        for _ in 0..1000 {
            for url in &urls {
                assert!(egress.check_url(std::hint::black_box(url), Plaintext::PrivateOnly).is_ok());
            }
        }
        start.elapsed() / 3000
    };
    let fastest = (0..20).map(|_| round()).min().unwrap();
    println!("{fastest:?} a literal");
    assert!(fastest < std::time::Duration::from_micros(1), "{fastest:?}");
}
