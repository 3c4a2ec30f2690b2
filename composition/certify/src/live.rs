//! Listing a server and reading its declaration.

use scion_domain::certification::{
    CertificationRefusal, CertificationReport, CertificationSubject, further_checks, judge, refused,
};
use scion_domain::config::EndpointSpec;
use scion_domain::declaration::DECLARATION_URI;
use scion_domain::mcp::{McpRefusal, ToolDescription};
use scion_ports::{McpConnector, McpSession};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

use crate::CertifyOptions;

/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(5);

/// Opens a session, certifies, and closes it. A server that cannot be reached is a report that says so; references that cannot be
/// resolved are a refusal, since nothing was tried.
pub async fn certify_endpoint(
    connector: &dyn McpConnector,
    endpoint: &EndpointSpec,
    options: &CertifyOptions,
) -> Result<CertificationReport, McpRefusal> {
    let deadline = Instant::now() + options.timeout;
    let session = match timeout_at(deadline, connector.connect(endpoint)).await {
        Ok(Ok(session)) => session,
        Ok(Err(refusal @ (McpRefusal::CredentialUnresolved { .. } | McpRefusal::CredentialUnavailable { .. }))) => {
            return Err(refusal);
        }
        Ok(Err(refusal)) => return Ok(refused(unlisted(&refusal, options))),
        Err(_) => return Ok(refused(too_long(options))),
    };
    let report = certify_by(&*session, options, deadline).await;
    // A server that does not end by itself is killed when the session is dropped.
    let _ = tokio::time::timeout(GOODBYE, session.close()).await;
    Ok(report)
}

/// Certifies the server of an open session: `tools/list`, and `connector://resources`, nothing else.
pub async fn certify(session: &dyn McpSession, options: &CertifyOptions) -> CertificationReport {
    certify_by(session, options, Instant::now() + options.timeout).await
}

async fn certify_by(session: &dyn McpSession, options: &CertifyOptions, deadline: Instant) -> CertificationReport {
    let (tools, declaration) = match timeout_at(deadline, read(session, options)).await {
        Ok(Ok(read)) => read,
        Ok(Err(refusal)) => return refused(refusal),
        Err(_) => return refused(too_long(options)),
    };
    let subject = CertificationSubject { server: session.server(), tools: &tools, declaration: &declaration };
    let mut report = judge(&subject);
    if report.listed() {
        let checks = further_checks(&subject, &report, options.expected.as_deref(), options.pins.as_ref());
        let judged = std::mem::take(&mut report.checks);
        report.add(judged.into_iter().chain(checks), options.strict);
    }
    report
}

async fn read(
    session: &dyn McpSession,
    options: &CertifyOptions,
) -> Result<(Vec<ToolDescription>, Vec<u8>), CertificationRefusal> {
    let tools = session.list_tools().await.map_err(|refusal| unlisted(&refusal, options))?;
    let body = session.read_resource(DECLARATION_URI).await.map_err(|refusal| match refusal {
        McpRefusal::Timeout { .. } => too_long(options),
        other => CertificationRefusal::NoDeclaration { what: other.to_string() },
    })?;
    Ok((tools, body.bytes))
}

fn unlisted(refusal: &McpRefusal, options: &CertifyOptions) -> CertificationRefusal {
    match refusal {
        McpRefusal::Timeout { .. } => too_long(options),
        other => CertificationRefusal::Server { what: other.to_string() },
    }
}

fn too_long(options: &CertifyOptions) -> CertificationRefusal {
    CertificationRefusal::Timeout { seconds: options.timeout.as_secs().max(1) }
}
