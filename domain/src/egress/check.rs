//! The checks of one request.

use std::net::{IpAddr, SocketAddr};

use url::Host;

use super::host::{is_localhost, is_name, without_final_dot};
use super::target::Reach;
use super::{AddressClass, CompiledEgress, EgressHost, EgressPolicy, EgressRefusal, MAX_URL_BYTES, Target, TargetHost};
use crate::http::Url;

/// Addresses a name may have.
pub const MAX_ANSWERS: usize = 64;

/// Where plain http may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Plaintext {
    /// To loopback and to listed private hosts.
    #[default]
    PrivateOnly,
    /// Anywhere the addresses allow: documents that are read without a credential.
    Anywhere,
}

/// Checks a host by its text alone, before anything is resolved (SDK-CONNECTOR-CONTROL-R028.1). A policy that does not pin
/// refuses nothing. A name that passes may still resolve to a refused address.
pub fn check_destination(host: &str, policy: &EgressPolicy) -> Result<(), EgressRefusal> {
    let compiled = policy.compile()?;
    if !compiled.pin {
        return Ok(());
    }
    match EgressHost::parse(host)? {
        EgressHost::Name(name) => compiled.reach_of_name(&name).map(drop),
        EgressHost::Address(address) => compiled.check_address(address, compiled.reach_of_address(address)),
    }
}

impl CompiledEgress {
    /// Checks a URL. An address literal is fully checked here, without allocating; a name has its answers checked by
    /// [`check_answers`](Self::check_answers).
    pub fn check_url(&self, url: &Url, plaintext: Plaintext) -> Result<Target, EgressRefusal> {
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(EgressRefusal::TooLong);
        }
        let tls = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(EgressRefusal::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EgressRefusal::UserInfo);
        }
        let port = url.port_or_known_default().filter(|port| *port > 0).ok_or(EgressRefusal::Port)?;
        let target = |host, reach| Target { host, port, tls, reach };
        match url.host().ok_or(EgressRefusal::Host)? {
            Host::Domain(name) => {
                let name = without_final_dot(name);
                if !is_name(name) {
                    return Err(EgressRefusal::Host);
                }
                let mut reach = self.reach_of_name(name)?;
                if !tls && reach == Reach::Public && plaintext == Plaintext::PrivateOnly {
                    // Plain http to a name nobody listed is for this machine, whatever the name.
                    reach = if self.loopback { Reach::Loopback } else { return Err(EgressRefusal::Plaintext) };
                } else if !tls && reach == Reach::Endpoint && plaintext == Plaintext::PrivateOnly {
                    reach = Reach::PlainEndpoint;
                }
                Ok(target(TargetHost::Name(name.into()), reach))
            }
            Host::Ipv4(address) => self.check_literal(IpAddr::V4(address), tls, plaintext).map(|(a, r)| target(a, r)),
            Host::Ipv6(address) => self.check_literal(IpAddr::V6(address), tls, plaintext).map(|(a, r)| target(a, r)),
        }
    }

    /// Checks what a name resolved to: at most 64 answers, and every one must pass. Answers what may be dialled, in the
    /// order given, each once. For an address literal the answers are ignored.
    pub fn check_answers(&self, target: &Target, answers: &[IpAddr]) -> Result<Vec<SocketAddr>, EgressRefusal> {
        if let Some(address) = target.literal() {
            return Ok(vec![address]);
        }
        if answers.is_empty() {
            return Err(EgressRefusal::NoAnswers);
        }
        if answers.len() > MAX_ANSWERS {
            return Err(EgressRefusal::TooManyAnswers);
        }
        let mut addresses = Vec::with_capacity(answers.len());
        for answer in answers {
            self.check_address(*answer, target.reach)?;
            let address = SocketAddr::new(*answer, target.port);
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        Ok(addresses)
    }

    /// Checks that a connection ends where it was dialled; passes when the policy does not verify.
    pub fn check_peer(&self, dialled: SocketAddr, peer: SocketAddr) -> Result<(), EgressRefusal> {
        let same = dialled.port() == peer.port() && dialled.ip().to_canonical() == peer.ip().to_canonical();
        if same || !self.verify_peer { Ok(()) } else { Err(EgressRefusal::PeerDiffers) }
    }

    /// The authority to ask a proxy for with CONNECT. With answers they are checked and the first is asked for, so that the
    /// proxy resolves nothing. Without, the proxy resolves: then only a name that may be public is asked for. Plain http
    /// never goes through a proxy.
    pub fn check_connect(&self, target: &Target, answers: Option<&[IpAddr]>) -> Result<String, EgressRefusal> {
        if !target.tls {
            return Err(EgressRefusal::Plaintext);
        }
        if let Some(address) = target.literal() {
            return Ok(address.to_string());
        }
        match answers {
            Some(answers) => Ok(self.check_answers(target, answers)?[0].to_string()),
            None if matches!(target.reach, Reach::Public | Reach::Endpoint | Reach::Unchecked) => {
                Ok(target.to_string())
            }
            None => Err(EgressRefusal::ProxyTarget),
        }
    }

    fn check_literal(
        &self,
        address: IpAddr,
        tls: bool,
        plaintext: Plaintext,
    ) -> Result<(TargetHost, Reach), EgressRefusal> {
        let reach = self.reach_of_address(address);
        self.check_address(address, reach)?;
        let public = reach != Reach::Unchecked && AddressClass::of(address) == AddressClass::Public;
        if public && !tls && plaintext == Plaintext::PrivateOnly {
            return Err(EgressRefusal::Plaintext);
        }
        Ok((TargetHost::Address(address), reach))
    }

    fn reach_of_address(&self, address: IpAddr) -> Reach {
        if !self.pin {
            Reach::Unchecked
        } else if self.lists_address(address) {
            Reach::Listed
        } else if self.is_endpoint_address(address) {
            Reach::Endpoint
        } else {
            Reach::Public
        }
    }

    /// Where the answers for a name may lie; a name in lower case and without the final dot.
    fn reach_of_name(&self, name: &str) -> Result<Reach, EgressRefusal> {
        if !self.pin {
            Ok(Reach::Unchecked)
        } else if self.lists_name(name) {
            Ok(Reach::Listed)
        } else if !is_localhost(name) {
            Ok(if self.is_endpoint_name(name) { Reach::Endpoint } else { Reach::Public })
        } else if self.loopback || self.is_endpoint_name(name) {
            Ok(Reach::Loopback)
        } else {
            Err(EgressRefusal::Loopback)
        }
    }

    fn check_address(&self, address: IpAddr, reach: Reach) -> Result<(), EgressRefusal> {
        let class = AddressClass::of(address);
        match reach {
            // Whoever switched the check off has no business there either: only a server that redirects or rebinds has.
            Reach::Unchecked if class == AddressClass::Metadata => Err(EgressRefusal::Never { class: class.name() }),
            Reach::Unchecked => Ok(()),
            Reach::Listed | Reach::Endpoint | Reach::PlainEndpoint if AddressClass::may_be_listed(address) => Ok(()),
            Reach::Listed => Err(EgressRefusal::NotPrivate { class: class.name() }),
            Reach::Loopback if class == AddressClass::Loopback => Ok(()),
            Reach::Loopback => Err(EgressRefusal::NotLoopback),
            Reach::PlainEndpoint if class == AddressClass::Public => Err(EgressRefusal::Plaintext),
            Reach::Public | Reach::Endpoint | Reach::PlainEndpoint => match class {
                AddressClass::Public => Ok(()),
                AddressClass::Loopback if self.loopback => Ok(()),
                AddressClass::Loopback => Err(EgressRefusal::Loopback),
                AddressClass::Private | AddressClass::Shared | AddressClass::UniqueLocal => {
                    Err(EgressRefusal::Private { class: class.name() })
                }
                _ => Err(EgressRefusal::Never { class: class.name() }),
            },
        }
    }
}
