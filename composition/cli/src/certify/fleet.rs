//! Every connector of a configuration, each against its own declaration (SDK-CONNECTOR-CONTROL-R007).

use std::path::Path;
use std::sync::Arc;

use scion::certify::CertifyOptions;
use scion_domain::certification::{CertificationRefusal, refused};
use scion_domain::config::ConnectorConfig;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::args::CertifyArgs;
use super::output::Named;
use crate::connectors::Connectors;
use crate::output::Refused;
use crate::sync::place_of;

/// Certifies them side by side, as many at once as the configuration lets sync at once; the reports are in its order.
pub(super) async fn certify(
    path: &Path,
    args: &CertifyArgs,
    options: &CertifyOptions,
    connectors: &Connectors,
) -> Result<Vec<Named>, Refused> {
    let name = path.display().to_string();
    let config = scion_config::read_file(path).map_err(|problems| {
        let first = problems.problems.first();
        first.map_or_else(
            || super::misuse("the configuration cannot be read"),
            |problem| Refused::from(problem.refusal.clone()).at(&place_of(&name, problem)),
        )
    })?;
    let places = Arc::new(Semaphore::new(config.settings.max_concurrency));
    let mut running = JoinSet::new();
    for (index, connector) in config.connectors.into_iter().enumerate() {
        let mut options = options.clone();
        options.expected = Some(connector.connector.to_string());
        options.timeout = args.timeout.unwrap_or(connector.endpoint.timeout);
        let (connectors, places) = (connectors.clone(), places.clone());
        running.spawn(async move {
            let _place = places.acquire().await;
            (index, one(&connector, &options, &connectors).await)
        });
    }
    let mut reports = Vec::new();
    while let Some(ended) = running.join_next().await {
        reports.extend(ended.ok());
    }
    reports.sort_by_key(|(index, _)| *index);
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}

async fn one(config: &ConnectorConfig, options: &CertifyOptions, connectors: &Connectors) -> Named {
    let client = connectors.client(config);
    let certified = scion::certify::certify_endpoint(&*client, &config.endpoint, options).await;
    let report =
        certified.unwrap_or_else(|refusal| refused(CertificationRefusal::Server { what: refusal.to_string() }));
    Named { fallback: config.connector.to_string(), report }
}
