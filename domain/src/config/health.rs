//! Where the health listener binds (`--health-addr`, `RUNNER_HEALTH_ADDR`).

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::refusals;

refusals! {
    /// Why a health address is refused.
    pub enum HealthAddressRefusal {
        /// Neither a port nor a host with a port.
        Malformed => "health_address_malformed", CallerMistake, Never,
            "the health address is not PORT or HOST:PORT", "write 9100, 127.0.0.1:9100 or [::1]:9100";
        /// The port does not exist.
        BadPort => "health_port_out_of_range", CallerMistake, Never,
            "the health port is not a number from 0 to 65535", "choose a free port, for example 9100";
        /// Other machines could reach it.
        NotLoopback { host: String } => "health_not_loopback", Denied, Never,
            "the health address {host} can be reached from other machines",
            "bind 127.0.0.1, or pass --health-allow-non-loopback if that is meant";
    }
}

/// A host and a port to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthAddress {
    /// An address or a name, without brackets.
    pub host: String,
    /// The port; 0 lets the system choose.
    pub port: u16,
}

impl HealthAddress {
    /// Where a bare port binds.
    pub const DEFAULT_HOST: &'static str = "127.0.0.1";

    /// Parses `PORT`, `HOST:PORT` or `[IPV6]:PORT`; outer blanks are trimmed.
    pub fn parse(text: &str) -> Result<Self, HealthAddressRefusal> {
        let text = text.trim();
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Self { host: Self::DEFAULT_HOST.to_owned(), port: port(text)? });
        }
        let (host, digits) = text.rsplit_once(':').ok_or(HealthAddressRefusal::Malformed)?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(HealthAddressRefusal::Malformed);
        }
        let host = match host.strip_prefix('[') {
            Some(inner) => inner
                .strip_suffix(']')
                .filter(|inner| inner.parse::<Ipv6Addr>().is_ok())
                .ok_or(HealthAddressRefusal::Malformed)?,
            None => Some(host).filter(|host| is_name(host)).ok_or(HealthAddressRefusal::Malformed)?,
        };
        Ok(Self { host: host.to_owned(), port: port(digits)? })
    }

    /// Whether only this machine can reach it: `localhost` or a loopback address. Any other name is not, whatever it
    /// resolves to now.
    pub fn is_loopback(&self) -> bool {
        match self.host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => {
                address.is_loopback() || address.to_ipv4_mapped().is_some_and(|mapped| mapped.is_loopback())
            }
            Ok(IpAddr::V4(address)) => address.is_loopback(),
            Err(_) => self.host.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Refuses an address other machines can reach, unless that is allowed.
    pub fn check_bind(&self, allow_non_loopback: bool) -> Result<(), HealthAddressRefusal> {
        if allow_non_loopback || self.is_loopback() {
            return Ok(());
        }
        Err(HealthAddressRefusal::NotLoopback { host: self.host.clone() })
    }
}

impl fmt::Display for HealthAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

fn port(digits: &str) -> Result<u16, HealthAddressRefusal> {
    digits.parse().map_err(|_| HealthAddressRefusal::BadPort)
}

fn is_name(host: &str) -> bool {
    (1..=253).contains(&host.len())
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, parse};

    fn vectors(section: &str) -> Vec<Json> {
        let text = include_str!("../../../conformance/vectors/runner.json");
        let cases = parse(text).unwrap().get(section).unwrap().as_array().unwrap().to_vec();
        assert!(!cases.is_empty());
        cases
    }

    #[test]
    fn every_address_of_the_vectors() {
        for case in vectors("health_addresses") {
            let input = case.get("input").unwrap().as_str().unwrap();
            let read = HealthAddress::parse(input);
            let expected = case.get("ok").and_then(Json::as_array);
            match expected {
                // Deviation: a port above 65535 is refused when read.
                Some(_) if input == "99999999" => assert_eq!(read, Err(HealthAddressRefusal::BadPort)),
                Some(pair) => {
                    let address = read.unwrap();
                    assert_eq!(Some(address.host.as_str()), pair[0].as_str(), "{input}");
                    assert_eq!(Some(u64::from(address.port)), pair[1].as_number().unwrap().as_u64(), "{input}");
                    assert_eq!(HealthAddress::parse(&address.to_string()), Ok(address));
                }
                None => assert!(read.is_err(), "{input}"),
            }
        }
    }

    #[test]
    fn every_bind_of_the_vectors() {
        for case in vectors("health_bind") {
            let address = HealthAddress { host: case.get("host").unwrap().as_str().unwrap().to_owned(), port: 0 };
            let allowed = address.check_bind(case.get("allow").unwrap().as_bool().unwrap());
            assert_eq!(allowed.is_ok(), case.get("ok").is_some(), "{address}");
        }
        for host in ["::", "example.org", "10.0.0.1", "::ffff:10.0.0.1"] {
            assert!(!HealthAddress { host: host.into(), port: 1 }.is_loopback(), "{host}");
        }
        assert!(HealthAddress { host: "::1".into(), port: 1 }.is_loopback());
    }
}
