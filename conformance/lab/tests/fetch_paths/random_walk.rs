//! Random redirects over random name resolutions never lead inside.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HeaderValue, HttpProfile, Method, OutboundRequest, RedirectRule, header};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Lab, LabBuilder, ScriptedResolver, inside_locations};
use scion_ports::HttpDialer as _;

use crate::stage::{SECRET, Stage};

/// How many walks are tried.
const WALKS: u64 = 150;
/// Redirects of one walk.
const LIMIT: u8 = 6;

/// Marsaglia's xorshift64*: repeats for a seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// The only answer that lets a listed name be dialled.
const GOOD: &[&str] = &["127.0.0.1"];

/// What a name may resolve to. None is public alone: no test dials a stranger.
const ANSWERS: &[&[&str]] = &[
    GOOD,
    GOOD,
    GOOD,
    GOOD,
    GOOD,
    GOOD,
    GOOD,
    GOOD,
    GOOD,
    GOOD,
    &["127.0.0.1", "10.0.0.1"],
    &["93.184.215.14", "127.0.0.1"],
    &["127.0.0.1", "93.184.215.14"],
    &["169.254.169.254"],
    &["127.0.0.1", "169.254.169.254"],
    &["::ffff:127.0.0.1"],
    &["::1"],
    &["::127.0.0.1"],
    &["64:ff9b::7f00:1"],
    &["2002:7f00:1::"],
    &["fe80::1"],
    &["0.0.0.0"],
    &["::"],
    &["203.0.113.7"],
    &["224.0.0.1"],
    &[],
];

/// Names an operator listed. Only they may be reached, at whatever port.
const LISTED: &[&str] = &["a.test", "b.test", "c.test"];
/// Names nobody listed.
const UNLISTED: &[&str] = &["x.test", "y.test", "localhost", "a.test.evil.test", "xa.test"];

fn resolver(random: &mut Random) -> ScriptedResolver {
    LISTED.iter().chain(UNLISTED).fold(ScriptedResolver::new(), |resolver, name| {
        let turns: Vec<&[&str]> = (0..4).map(|_| *random.pick(ANSWERS)).collect();
        resolver.turns(name, &turns)
    })
}

/// Somewhere to send a client next.
fn place(random: &mut Random, port: u16, inside: u16, spelled: &[String]) -> String {
    let scheme = if random.below(5) == 0 { "https" } else { "http" };
    match random.below(12) {
        0..=6 => format!("http://{}:{port}/next", random.pick(LISTED)),
        7 | 8 => "/again?with=query".to_owned(),
        9 => format!("{scheme}://{}:{}/", random.pick(UNLISTED), *random.pick(&[port, inside])),
        _ => random.pick(spelled).clone(),
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R028, SDK-CONNECTOR-CONTROL-R014.16, SDK-CENTRALIZED-CAPABILITIES-R002
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_walk_of_redirects_and_resolutions_reaches_a_refused_address() {
    let mut inside = vec![Lab::always(Answer::ok("inside")).await];
    if std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        inside.push(LabBuilder::default().on(IpAddr::V6(Ipv6Addr::LOCALHOST)).always(Answer::ok("inside")).await);
    }
    let ports: Vec<u16> = inside.iter().map(Lab::port).collect();
    let spelled: Vec<String> = ports.iter().flat_map(|port| inside_locations(*port)).collect();
    let mut answered = 0;
    let mut hops = 0;
    for seed in 0..WALKS {
        let random = Arc::new(Mutex::new(Random::new(seed)));
        let names = resolver(&mut random.lock().unwrap());
        let (dice, ports, spelled) = (Arc::clone(&random), ports.clone(), spelled.clone());
        let lab = Lab::scripted(move |received| {
            let mut random = dice.lock().unwrap();
            let port = received.header("host").and_then(|host| host.rsplit(':').next()?.parse().ok()).unwrap_or(80);
            if random.below(4) == 0 {
                return Answer::ok("arrived").into();
            }
            let inside = *random.pick(&ports);
            let location = place(&mut random, port, inside, &spelled);
            let answer = Answer::redirect(*random.pick(&[301, 302, 303, 307, 308]), location);
            // A closed connection makes the next hop resolve again.
            Behaviour::Answer(if random.below(2) == 0 { answer.framing(scion_lab::Framing::Close) } else { answer })
        })
        .await;
        let dialer = Dialer::builder().resolver(Arc::new(names)).build();
        let egress = EgressPolicy {
            allowed_private_hosts: LISTED.iter().map(|name| (*name).to_owned()).collect(),
            ..EgressPolicy::default()
        };
        let client = dialer.open(&HttpProfile { egress, ..HttpProfile::default() }).await.unwrap();
        for _ in 0..4 {
            let (start, method) = {
                let mut random = random.lock().unwrap();
                (*random.pick(LISTED), random.pick(&[Method::GET, Method::POST, Method::DELETE]).clone())
            };
            let mut request = OutboundRequest::new(method, lab.url_as(start, "/start"));
            request.redirects = RedirectRule::Follow(LIMIT);
            request.limits.total = Duration::from_secs(5);
            let mut bearer = HeaderValue::from_str(&format!("Bearer {SECRET} for {start}")).unwrap();
            bearer.set_sensitive(true);
            request.headers.insert(header::AUTHORIZATION, bearer);
            if let Ok(mut answer) = client.send(request).await {
                assert!(answer.head.redirects <= LIMIT, "seed {seed}");
                answered += u32::from(answer.bytes().await.is_ok());
            }
        }
        for (at, server) in inside.iter().enumerate() {
            assert_eq!(server.connections(), 0, "seed {seed} leads to inside server {at}: {:?}", server.received());
        }
        for received in lab.received() {
            hops += u32::from(received.path() != "/start");
            if let Some(bearer) = received.header("authorization") {
                let meant = bearer.rsplit(' ').next().unwrap();
                let host = received.header("host").unwrap_or_default();
                assert!(
                    host.starts_with(&format!("{meant}:")),
                    "seed {seed}: the credential of {meant} came to {host}"
                );
            }
        }
    }
    // Otherwise nothing was walked at all.
    assert!(answered > 50 && hops > 100, "{answered} answers, {hops} redirects");
}

/// A name that was fine a moment ago: each new connection is checked anew.
///
/// Proves: SDK-CONNECTOR-CONTROL-R028.2
#[tokio::test]
async fn a_name_that_rebinds_is_refused_at_its_next_connection() {
    let lab = Lab::always(Answer::ok("first").framing(scion_lab::Framing::Close)).await;
    for second in [
        &["169.254.169.254"][..],
        &["93.184.215.14"],
        &["127.0.0.1", "93.184.215.14"],
        &["0.0.0.0"],
        &["::ffff:10.0.0.1"],
    ] {
        let names = ScriptedResolver::new().turns("a.test", &[&["127.0.0.1"], second]);
        let dialer = Dialer::builder().resolver(Arc::new(names.clone())).build();
        let egress = EgressPolicy { allowed_private_hosts: vec!["a.test".to_owned()], ..EgressPolicy::default() };
        let profile = HttpProfile { egress, ..HttpProfile::default() };
        let client = dialer.open(&profile).await.unwrap();
        let request = || OutboundRequest {
            limits: Stage::limits(),
            ..OutboundRequest::new(Method::GET, lab.url_as("a.test", "/"))
        };
        let before = lab.connections();
        let mut answer = client.send(request()).await.unwrap();
        assert_eq!(answer.bytes().await.unwrap(), "first");
        let refusal = client.send(request()).await.err().unwrap();
        assert!(refusal.to_string().contains("may not be dialled"), "{second:?}: {refusal}");
        assert_eq!((names.asked().len(), lab.connections() - before), (2, 1));
    }
}
