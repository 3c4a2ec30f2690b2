//! `scion pack build`.

use std::sync::Arc;
use std::time::Duration;

use scion::local::SystemClock;
use scion::ports::{CaptureRefusal, CapturedPack, McpSession, PackCapture as _};
use scion_domain::credential::CredentialRequest;
use scion_domain::declaration::{ConnectorDeclaration, DECLARATION_URI};
use scion_domain::id::ConnectorName;
use scion_domain::integrity::{ReleaseKeyRef, ReleaseSigner};
use scion_domain::json::Json;
use scion_domain::mcp::McpRefusal;
use scion_domain::pack::{PackFile, PackProducer, ReleaseMark};
use scion_domain::sync::SyncRefusal;
use scion_domain::time::Timestamp;
use scion_pack::Capturer;

use super::args::BuildArgs;
use super::files;
use super::target::{endpoint, misuse};
use crate::commands::{Outcome, done};
use crate::connectors::Connectors;
use crate::output::{Refused, print, printable};

/// On whose behalf secrets are resolved while the server has not said who it is.
const OWNER: &str = "scion-pack";
/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(5);

pub(super) async fn main(args: &BuildArgs) -> Outcome {
    let endpoint = endpoint(args)?;
    let named = args.connector.as_deref().map(ConnectorName::parse).transpose()?;
    let expires = args.expires.as_deref().map(Timestamp::parse).transpose();
    let expires = expires.map_err(|refusal| Refused::from(refusal).at("--expires"))?;
    let mark = ReleaseMark { sequence: args.sequence.unwrap_or(0), expires };
    let connectors = Connectors::of_process()?;
    // A bad key is found before the server is asked.
    let signer = signer(args, named.as_ref(), &connectors).await?;
    let owner = named.clone().map_or_else(|| ConnectorName::parse(OWNER), Ok)?;
    let client = connectors.client_with(&owner, &endpoint, connectors.credentials());
    let session = client.connect(&endpoint).await?;
    let captured = capture(&*session, named, endpoint.timeout).await;
    // A server that does not end by itself is killed when the session is dropped.
    let _ = tokio::time::timeout(GOODBYE, session.close()).await;
    let (connector, captured) = captured?;

    let producer = PackProducer { name: "scion".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let mut file = PackFile::build(&connector, &captured.server, &captured.entries, &producer, mark)?;
    if let (Some(signer), Some(path)) = (&signer, &args.locks) {
        let mut locks = files::locks(path, true)?;
        let before = locks.clone();
        file.sign(signer, &mut locks, &files::rotations()?)?;
        if locks != before {
            files::write(path, locks.to_text().as_bytes())?;
        }
    }
    let bytes = file.to_bytes();
    files::write(&args.out, &bytes)?;
    done(print(&told(args, &file, bytes.len())))
}

fn told(args: &BuildArgs, file: &PackFile, bytes: usize) -> String {
    let digest = file.pack_digest().to_hex();
    if args.json {
        return files::document_line(&Json::from([
            ("file", Json::from(args.out.display().to_string())),
            ("connector", file.connector().as_str().into()),
            ("entries", (file.entries().len() as u64).into()),
            ("bytes", (bytes as u64).into()),
            ("pack_digest", digest.into()),
            ("sequence", file.mark().sequence.into()),
            ("signed", file.is_signed().into()),
        ]));
    }
    let signed = if file.is_signed() { "signed" } else { "not signed" };
    let (connector, entries) = (printable(file.connector().as_str()), file.entries().len());
    format!("{}: {connector}, {entries} entries, {bytes} bytes, {signed}\npack {digest}\n", files::shown(&args.out))
}

async fn capture(
    session: &dyn McpSession,
    named: Option<ConnectorName>,
    timeout: Duration,
) -> Result<(ConnectorName, CapturedPack), Refused> {
    let connector = match named {
        Some(connector) => connector,
        None => declared(session, timeout).await?,
    };
    let captured = Capturer::new(Arc::new(SystemClock::new())).capture(session, &connector).await;
    let captured = captured.map_err(|refusal| match refusal {
        CaptureRefusal::Mcp(refusal) => Refused::from(refusal),
        CaptureRefusal::Pack(refusal) => Refused::from(refusal),
    })?;
    Ok((connector, captured))
}

async fn declared(session: &dyn McpSession, timeout: Duration) -> Result<ConnectorName, Refused> {
    let read = tokio::time::timeout(timeout, session.read_resource(DECLARATION_URI)).await;
    let body = read.unwrap_or_else(|_| {
        Err(McpRefusal::Timeout { operation: format!("reading {DECLARATION_URI}"), seconds: timeout.as_secs() })
    })?;
    let declaration = ConnectorDeclaration::from_text(&body.bytes);
    declaration.map(|declared| declared.connector).map_err(|refusal| Refused::of_sync(&SyncRefusal::from(refusal)))
}

async fn signer(
    args: &BuildArgs,
    named: Option<&ConnectorName>,
    connectors: &Connectors,
) -> Result<Option<ReleaseSigner>, Refused> {
    let (Some(signer), Some(key)) = (&args.signer, &args.key) else { return Ok(None) };
    // The scope of the key is the connector's, which has to be known before the server is believed.
    let connector = named.ok_or_else(|| misuse("--signer also needs --connector, whose scope the key is in"))?;
    let reference = ReleaseKeyRef::parse(key)?;
    let request = CredentialRequest { connector: connector.clone(), reference: reference.secret().clone() };
    let seed = connectors.credentials().resolve(&request).await?;
    Ok(Some(ReleaseSigner::new(signer, reference, &seed)?))
}
