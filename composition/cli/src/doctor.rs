//! `scion doctor`: checks a configuration, every server it names, and the graph, and says what is wrong, where, and what to
//! do. Nothing is changed and no tool is called.

mod connector;
mod findings;
mod graph;
mod tools;

use scion::sink::SinkRegistry;

use crate::commands::{DoctorArgs, Outcome};
use crate::connectors::Connectors;
use crate::output::Refused;
use crate::sync::place_of;
use crate::{DONE, FAILED};
use findings::Findings;

pub(crate) async fn main(args: &DoctorArgs, sinks: &SinkRegistry) -> Outcome {
    let mut findings = Findings::default();
    let config = match &args.config {
        None => None,
        Some(path) => {
            let name = path.display().to_string();
            match scion_config::read_file(path) {
                Ok(config) => {
                    let s = if config.connectors.len() == 1 { "" } else { "s" };
                    findings.ok("configuration", &format!("{name} names {} connector{s}", config.connectors.len()))?;
                    Some(config)
                }
                Err(problems) => {
                    for problem in &problems.problems {
                        findings.wrong(&place_of(&name, problem), &Refused::from(problem.refusal.clone()))?;
                    }
                    None
                }
            }
        }
    };
    let open = graph::check(args, sinks, &mut findings).await?;
    if let Some(config) = &config {
        match Connectors::of_process() {
            Err(refusal) => findings.wrong("way out", &refusal.into())?,
            Ok(connectors) => {
                for (profile, refusal) in connectors.outbound().check_profiles().await {
                    findings.wrong(&format!("TLS profile {profile}"), &refusal.into())?;
                }
                for connector in &config.connectors {
                    connector::check(connector, &connectors, open.as_ref(), &mut findings).await?;
                }
            }
        }
    }
    let wrong = findings.end()?;
    Ok(if wrong == 0 { DONE } else { FAILED })
}
