//! The one configuration of this process (SDK-CONNECTOR-CONTROL-R029).

use std::sync::OnceLock;

use scion_domain::settings::{AgentConfig, SettingsProblems};

use crate::process_environment;

static CONFIG: OnceLock<Result<AgentConfig, SettingsProblems>> = OnceLock::new();

/// The configuration of this process. It is read from the environment and checked at the first call; every later call
/// gives the same instance, or the same problems.
pub fn agent_config() -> Result<&'static AgentConfig, &'static SettingsProblems> {
    CONFIG.get_or_init(|| AgentConfig::from_environment(&process_environment())).as_ref()
}

/// Makes a configuration the one of this process, for a host that builds it itself, as from a configuration document.
/// Gives it back when there is one already.
pub fn install_agent_config(config: AgentConfig) -> Result<&'static AgentConfig, Box<AgentConfig>> {
    let mut installed = false;
    let held = CONFIG.get_or_init(|| {
        installed = true;
        Ok(config.clone())
    });
    match held {
        Ok(held) if installed => Ok(held),
        _ => Err(Box::new(config)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Proves: SDK-CONNECTOR-CONTROL-R029
    #[test]
    fn every_call_site_sees_the_same_instance() {
        let environment = BTreeMap::from([("PORT".to_owned(), "9000".to_owned())]);
        let config = AgentConfig::from_environment(&environment).unwrap();
        let installed = install_agent_config(config.clone()).unwrap();
        let other_threads: Vec<_> = (0..4).map(|_| std::thread::spawn(agent_config)).collect();
        for seen in other_threads.into_iter().map(|thread| thread.join().unwrap()).chain([agent_config()]) {
            assert!(std::ptr::eq(seen.unwrap(), installed));
        }
        assert_eq!(installed.transport.port, 9000);
        assert_eq!(install_agent_config(config.clone()), Err(Box::new(config)));
    }
}
