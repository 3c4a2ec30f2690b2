use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_http::Resolve;

/// Answers names by script, so that a test decides what each lookup finds. Clones are one resolver.
#[derive(Clone, Debug, Default)]
pub struct ScriptedResolver(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    names: BTreeMap<String, Vec<Vec<IpAddr>>>,
    asked: Vec<String>,
}

impl ScriptedResolver {
    /// One that knows no name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Always answers these addresses.
    #[must_use]
    pub fn name(self, name: &str, addresses: &[&str]) -> Self {
        self.turns(name, &[addresses])
    }

    /// Answers one set of addresses after the other; the last one stays. This is how a name rebinds.
    #[must_use]
    pub fn turns(self, name: &str, turns: &[&[&str]]) -> Self {
        let parse = |address: &&str| address.parse().unwrap_or_else(|_| panic!("{address} is no address"));
        let turns = turns.iter().map(|turn| turn.iter().map(parse).collect()).collect();
        self.state().names.insert(name.to_ascii_lowercase(), turns);
        self
    }

    /// The next answer for a name; `None` when the name is not known.
    pub fn next(&self, name: &str) -> Option<Vec<IpAddr>> {
        let mut state = self.state();
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        state.asked.push(name.clone());
        let turns = state.names.get_mut(&name)?;
        Some(if turns.len() > 1 { turns.remove(0) } else { turns.first().cloned().unwrap_or_default() })
    }

    /// Every name that was asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Resolve for ScriptedResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.next(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_rebinds_and_then_stays() {
        let resolver = ScriptedResolver::new().turns("Vendor.test", &[&["203.0.114.9"], &["127.0.0.1", "::1"]]);
        assert_eq!(resolver.next("vendor.test").map(|found| found.len()), Some(1));
        assert_eq!(resolver.next("vendor.test.").map(|found| found.len()), Some(2));
        assert_eq!(resolver.next("vendor.test").map(|found| found.len()), Some(2));
        assert_eq!(resolver.next("other.test"), None);
        assert_eq!(resolver.asked().len(), 4);
    }
}
