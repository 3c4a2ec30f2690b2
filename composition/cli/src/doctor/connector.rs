//! One configured connector: its references, its server, its declaration, and what the graph has accepted of it.

use std::time::Duration;

use scion::ports::McpSession;
use scion::sink::OpenSink;
use scion_domain::config::{ConnectorConfig, EndpointTarget, endpoint_url};
use scion_domain::credential::{CredentialRequest, SecretRef};
use scion_domain::declaration::{ConnectorDeclaration, DECLARATION_URI, selection};
use scion_domain::digest;
use scion_domain::mcp::{McpRefusal, ResourceBody};
use scion_domain::sink::SinkRefusal;
use scion_domain::sync::SyncRefusal;

use super::findings::Findings;
use super::tools;
use crate::connectors::Connectors;
use crate::output::Refused;

/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(5);

/// Checks everything about a connector that can be checked without calling a tool.
pub(super) async fn check(
    config: &ConnectorConfig,
    connectors: &Connectors,
    graph: Option<&OpenSink>,
    findings: &mut Findings,
) -> Result<(), Refused> {
    let name = config.connector.as_str();
    if !references(config, connectors, findings).await? {
        return Ok(());
    }
    if let EndpointTarget::Url { url, .. } = &config.endpoint.target
        && let Err(refusal) = endpoint_url(url)
    {
        findings.wrong(&format!("{name} endpoint.url"), &refusal.into())?;
        return Ok(());
    }
    let session = match connectors.client(config).connect(&config.endpoint).await {
        Ok(session) => session,
        Err(refusal) => {
            findings.wrong(&format!("{name} server"), &refusal.into())?;
            return Ok(());
        }
    };
    let server = session.server();
    let (title, version, protocol) = (&server.name, &server.version, &server.protocol_version);
    findings.ok(&format!("{name} server"), &format!("{title} {version} answers, MCP {protocol}"))?;
    let told = declaration(config, &*session, graph, findings).await;
    // A server that does not end by itself is killed when the session is dropped.
    let _ = tokio::time::timeout(GOODBYE, session.close()).await;
    told
}

/// Whether every reference resolves; values are dropped at once.
async fn references(
    config: &ConnectorConfig,
    connectors: &Connectors,
    findings: &mut Findings,
) -> Result<bool, Refused> {
    let name = config.connector.as_str();
    let provider = connectors.credentials();
    let references = crate::connectors::references(config);
    let mut all = true;
    for (setting, text) in &references {
        let resolved = match SecretRef::parse(text) {
            Err(refusal) => Err(Refused::from(refusal)),
            Ok(reference) => {
                let request = CredentialRequest { connector: config.connector.clone(), reference };
                provider.resolve(&request).await.map(drop).map_err(Refused::from)
            }
        };
        if let Err(refused) = resolved {
            all = false;
            findings.wrong(&format!("{name} {setting}"), &refused)?;
        }
    }
    if all && !references.is_empty() {
        let s = if references.len() == 1 { "" } else { "s" };
        findings.ok(&format!("{name} references"), &format!("{} reference{s} can be resolved", references.len()))?;
    }
    Ok(all)
}

async fn declaration(
    config: &ConnectorConfig,
    session: &dyn McpSession,
    graph: Option<&OpenSink>,
    findings: &mut Findings,
) -> Result<(), Refused> {
    let subject = format!("{} declaration", config.connector);
    let read = tokio::time::timeout(config.endpoint.timeout, session.read_resource(DECLARATION_URI)).await;
    let body = match read {
        Ok(Ok(body)) => body,
        Ok(Err(refusal)) => return Ok(findings.wrong(&subject, &refusal.into())?),
        Err(_) => {
            let operation = format!("reading {DECLARATION_URI}");
            let refusal = McpRefusal::Timeout { operation, seconds: config.endpoint.timeout.as_secs() };
            return Ok(findings.wrong(&subject, &refusal.into())?);
        }
    };
    let declared = match ConnectorDeclaration::from_text(&body.bytes) {
        Ok(declared) => declared,
        Err(refusal) => return Ok(findings.wrong(&subject, &Refused::of_sync(&SyncRefusal::from(refusal)))?),
    };
    let presets = match selection::select(&declared, config) {
        Ok(presets) => presets,
        Err(refusal) => return Ok(findings.wrong(&subject, &Refused::of_sync(&SyncRefusal::from(refusal)))?),
    };
    let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
    let s = if declared.sources.len() == 1 { "" } else { "s" };
    let what = format!("{} source{s} declared; synchronised: {}", declared.sources.len(), names.join(", "));
    findings.ok(&subject, &what)?;
    contract(config, body, graph, findings).await?;
    tools::check(config, session, &declared, &presets, findings).await
}

/// Whether batches would be sent under the declaration that is served now.
async fn contract(
    config: &ConnectorConfig,
    body: ResourceBody,
    graph: Option<&OpenSink>,
    findings: &mut Findings,
) -> Result<(), Refused> {
    let subject = format!("{} contract", config.connector);
    let accepted = match graph {
        Some(graph) => match graph.sink.pack_status(&config.connector).await {
            Ok(status) => status.declaration_digest,
            Err(refusal) => return Ok(findings.wrong(&subject, &refusal.into())?),
        },
        None => None,
    };
    if accepted == Some(digest::sha256(&body.bytes)) {
        findings.ok(&subject, "the graph has accepted this declaration")?;
    } else if config.provision {
        findings.note(&subject, "the declaration is new to the graph; the next cycle imports it")?;
    } else {
        let refusal = SinkRefusal::ContractNotAccepted { connector: config.connector.to_string() };
        findings.wrong(&subject, &refusal.into())?;
    }
    Ok(())
}
