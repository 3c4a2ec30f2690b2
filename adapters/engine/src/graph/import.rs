//! Importing packs (`wire/engine-protocol.md` 6).

use std::collections::BTreeSet;
use std::time::Duration;

use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::digest::{self, sha256};
use scion_domain::engine::EngineRefusal;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::model::{PackEntry, PackImport, PackReceipt, PackStatus};
use scion_domain::pack::{PackArchive, PackProducer, PackRefusal, import_key};
use scion_domain::sink::SinkRefusal;

use super::accepted::Accepted;
use super::catalog::PACK;
use super::{Inner, index, refused, relations};
use crate::client::{Call, Repeats};
use crate::{Body, Value};

const DECLARATION_URI: &str = "connector://resources";
/// The schema of a resource whose server names none; the engine wants one of each.
const ANYTHING: &[u8] = b"{}";
/// How often a projection is asked for, and how long.
const PROJECTION_PAUSE: Duration = Duration::from_millis(200);
const PROJECTION_TIME: Duration = Duration::from_mins(2);

/// The head of a connector's pack as the engine has it.
struct Head {
    revision: u64,
    digest: Digest256,
}

struct EngineStatus {
    head: Option<Head>,
    importer: Option<String>,
    /// The graph that the current pack is projected into.
    projection: Option<String>,
}

impl Inner {
    pub(super) async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        let status = self.engine_status(connector).await.map_err(|no| refused::store(&no))?;
        let Some(head) = status.head else { return Ok(PackStatus::default()) };
        let noted = Accepted::load(&self.notes, connector).await?.map(|(_, noted)| noted);
        let noted = noted.filter(|noted| noted.engine == head.digest);
        if let Some(noted) = &noted {
            self.remember(connector, noted.clone());
        }
        Ok(PackStatus {
            accepted_digest: noted.as_ref().map(|noted| noted.pack),
            revision: Some(head.revision),
            declaration_digest: noted.map(|noted| noted.declaration),
        })
    }

    pub(super) async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        let connector = &import.connector;
        let declaration = declaration(import)?;
        let uris: BTreeSet<String> = import.entries.iter().map(|entry| entry.uri.clone()).collect();
        if uris.len() != import.entries.len() {
            return Err(SinkRefusal::PackInvalid { what: "two entries have one URI" });
        }
        let pack_digest = digest::pack(import);
        let status = self.engine_status(connector).await.map_err(|no| refused::store(&no))?;
        let noted = Accepted::load(&self.notes, connector).await?.map(|(_, noted)| noted);
        let current = status.head.as_ref().and_then(|head| noted.filter(|noted| noted.engine == head.digest));
        if let Some(current) = &current
            && current.pack == pack_digest
        {
            self.remember(connector, current.clone());
            return Ok(PackReceipt { pack_digest, revision: current.revision, unchanged: true });
        }
        if import.expected_revision != status.head.as_ref().map(|head| head.revision) {
            return Err(SinkRefusal::PackConflict { connector: connector.to_string() });
        }
        if let Some(current) = current.filter(|_| !import.allow_mass_withdrawal) {
            current.check_withdrawal(&uris)?;
        }
        let archive = archive(import, &declaration)?;
        let sent = self.send(import, &status, &archive).await?;
        let (checks, fields) = {
            let (fields, checks) = Accepted::declared(&declaration);
            (checks, fields)
        };
        let accepted = Accepted {
            engine: sent.digest,
            revision: sent.revision,
            pack: pack_digest,
            declaration: sha256(&declaration_entry(import)?.body),
            checks,
            fields,
            uris,
        };
        accepted.save(&self.notes, connector).await?;
        self.remember(connector, accepted);
        Ok(PackReceipt { pack_digest, revision: sent.revision, unchanged: sent.unchanged })
    }

    async fn engine_status(&self, connector: &ConnectorName) -> Result<EngineStatus, EngineRefusal> {
        let malformed = || EngineRefusal::Malformed { method: PACK };
        let asked = Value::map([("tenant_id", self.client.tenant().into()), ("connector", connector.as_str().into())]);
        let status = match self.pack_op("status", asked, None).await {
            Err(EngineRefusal::Refused { code, .. }) if code.as_str() == "CONNECTOR_PACK_UNBOUND" => {
                return Ok(EngineStatus { head: None, importer: None, projection: None });
            }
            other => other?,
        };
        let head = status.get("head").map(|head| {
            let digest = head.get("pack_digest").and_then(Value::as_text);
            Some(Head {
                revision: head.get("binding_revision").and_then(Value::as_natural)?,
                digest: Digest256::parse_hex(digest?).ok()?,
            })
        });
        let importer = status.get("importer").and_then(Value::as_text).map(str::to_owned);
        let projection = status.get("projection").and_then(|state| state.get("graph")).and_then(Value::as_text);
        let projection = projection.map(str::to_owned);
        Ok(EngineStatus { head: head.map(|head| head.ok_or_else(malformed)).transpose()?, importer, projection })
    }

    async fn send(
        &self,
        import: &PackImport,
        status: &EngineStatus,
        archive: &PackArchive,
    ) -> Result<Sent, SinkRefusal> {
        let connector = &import.connector;
        if let Some(graph) = &status.projection {
            self.wake(graph).await;
        }
        let store = |no: EngineRefusal| SinkRefusal::from(refused::store(&no));
        let families = archive.sha256();
        let server = archive.server().body.sha256;
        let catalog = self.attest(connector, status.importer.as_deref(), server, families).await.map_err(store)?;
        let digest = archive.digest(&catalog);
        let upload = format!("connector-pack:{connector}:archive:{}", digest.to_hex());
        let blob = self.upload(&upload, archive.bytes()).await.map_err(store)?;
        let producer = PackProducer { name: "scion".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
        let described = archive.index(&catalog, &blob, &producer);
        let key = import_key(connector, &digest, status.head.as_ref().map(|head| head.revision));
        let expected = status.head.as_ref().map_or(Value::Nil, |head| {
            Value::map([("binding_revision", head.revision.into()), ("pack_digest", head.digest.to_hex().into())])
        });
        let request = Value::map([
            ("context", self.context(&key)),
            ("index", index::value(&described)),
            ("expected_head", expected),
            ("allow_mass_withdrawal", import.allow_mass_withdrawal.into()),
        ]);
        let sent = match self.pack_op("import", request, Some(&key)).await {
            Err(refusal) => {
                let code = refusal.engine_code().map_or("", scion_domain::engine::EngineCode::as_str);
                let conflict = matches!(code, "PACK_HEAD_CONFLICT" | "PACK_PLAN_STALE");
                if !conflict && !refusal.is_unsettled() {
                    return Err(store(refusal));
                }
                // A reply was lost: the repeated request finds the head it has moved itself. The head tells.
                match self.engine_status(connector).await.map_err(store)?.head {
                    Some(head) if head.digest == digest => Sent { digest, revision: head.revision, unchanged: false },
                    _ if conflict => return Err(SinkRefusal::PackConflict { connector: connector.to_string() }),
                    _ => return Err(store(refusal)),
                }
            }
            Ok(answer) => read_result(&answer, digest)?,
        };
        self.projected(connector, digest).await?;
        Ok(sent)
    }

    /// After a start the engine has no graph in memory, and projecting a pack into one that is not there fails. Any read loads it; one
    /// that cannot be read shows in the projection.
    async fn wake(&self, graph: &str) {
        let asked = [
            ("query", "ASK { ?s ?p ?o }".into()),
            ("base_iri", "".into()),
            ("type_convention", "".into()),
            ("explain", false.into()),
        ];
        let body = Body::with("Sparql", asked);
        let _ = self.client.call(Call { graph, body, idempotency_key: None, repeats: Repeats::Freely }).await;
    }

    /// Waits until the mapping of the pack can be used.
    async fn projected(&self, connector: &ConnectorName, digest: Digest256) -> Result<(), SinkRefusal> {
        let clock = self.client.clock();
        let until = clock.monotonic() + PROJECTION_TIME;
        let asked =
            || Value::map([("tenant_id", self.client.tenant().into()), ("connector", connector.as_str().into())]);
        loop {
            let status = self.pack_op("status", asked(), None).await.map_err(|no| refused::store(&no))?;
            let head = status.get("head").and_then(|head| head.get("pack_digest")).and_then(Value::as_text);
            if head != Some(digest.to_hex().as_str()) {
                return Err(SinkRefusal::PackConflict { connector: connector.to_string() });
            }
            let state = status.get("projection").and_then(|state| state.get("projection")).and_then(Value::as_text);
            match state {
                Some("applied") => return Ok(()),
                Some("failed") => {
                    return Err(SinkRefusal::PackInvalid { what: "the engine cannot project it into its graph" });
                }
                _ if clock.monotonic() >= until => {
                    let what = "the engine has not projected the pack in two minutes";
                    return Err(scion_domain::sink::StoreRefusal::Unavailable { what }.into());
                }
                _ => clock.sleep(PROJECTION_PAUSE).await,
            }
        }
    }
}

struct Sent {
    digest: Digest256,
    revision: u64,
    unchanged: bool,
}

fn read_result(answer: &Value, digest: Digest256) -> Result<Sent, SinkRefusal> {
    let malformed = || SinkRefusal::from(refused::store(&EngineRefusal::Malformed { method: PACK }));
    let text = |name: &str| answer.get(name).and_then(Value::as_text);
    let (held, unchanged) = match text("result") {
        Some("imported") => (answer.get("receipt").ok_or_else(malformed)?, false),
        Some("unchanged") => (answer, true),
        Some("rejected") => return Err(rejected(answer)),
        _ => return Err(malformed()),
    };
    let says = held.get("pack_digest").and_then(Value::as_text);
    if says != Some(digest.to_hex().as_str()) {
        return Err(malformed());
    }
    let revision = held.get("binding_revision").and_then(Value::as_natural).ok_or_else(malformed)?;
    Ok(Sent { digest, revision, unchanged })
}

/// The first violation. The engine names an entry by its URI and a closed code; its free text stays out.
fn rejected(answer: &Value) -> SinkRefusal {
    let violations = answer.get("violations").and_then(Value::as_list).unwrap_or_default();
    let codes: Vec<&str> =
        violations.iter().filter_map(|violation| violation.get("code").and_then(Value::as_text)).collect();
    let what = match codes.first().copied().unwrap_or_default() {
        "PACK_MASS_WITHDRAWAL" => {
            return SinkRefusal::MassWithdrawal { before: violations.len(), withdrawn: violations.len() };
        }
        "MALFORMED_BODY" => "the engine finds the body of an entry malformed",
        "MISSING_TOOL_SCHEMA" => "the engine misses the schema of a tool or a resource",
        "ONTOLOGY_INVALID" | "ONTOLOGY_INCONSISTENT" => "the engine does not take its ontology",
        "ONTOLOGY_ORPHAN" => "the engine finds a class of its ontology without a parent",
        "SHAPES_INVALID" | "SHACL_VIOLATION" => "its shapes are invalid or violated",
        "UNRESOLVED_REFERENCE" | "REFERENCE_CYCLE" => "a link between its entries leads nowhere or in a circle",
        "DUPLICATE_COMPONENT_ID" => "two entries become one component",
        "INVALID_ANNOTATION" | "INVALID_FACTS" | "UNKNOWN_CAPABILITY_IRI" => "the engine does not take its annotations",
        "RETIRED_ENTRY_RETURNED" => "an entry returns that was retired",
        "PACK_TOO_LARGE" | "VALIDATION_BUDGET_EXCEEDED" => "it is larger than the engine validates",
        "IMPORTER_MISMATCH" => "another principal is bound as its importer",
        _ => "the engine rejects it",
    };
    SinkRefusal::PackInvalid { what }
}

fn declaration_entry(import: &PackImport) -> Result<&PackEntry, SinkRefusal> {
    let found = import.entries.iter().find(|entry| entry.uri == DECLARATION_URI);
    found.ok_or(SinkRefusal::PackInvalid { what: "it has no entry connector://resources" })
}

fn declaration(import: &PackImport) -> Result<ConnectorDeclaration, SinkRefusal> {
    let invalid = |what| SinkRefusal::PackInvalid { what };
    let declaration = ConnectorDeclaration::from_text(&declaration_entry(import)?.body)
        .map_err(|_| invalid("connector://resources is not a connector declaration"))?;
    if declaration.connector != import.connector {
        return Err(invalid("connector://resources names another connector"));
    }
    Ok(declaration)
}

/// The pack in the engine's form: what the engine wants beside what was captured is added, nothing is taken away.
fn archive(import: &PackImport, declaration: &ConnectorDeclaration) -> Result<PackArchive, SinkRefusal> {
    let mut entries = import.entries.clone();
    for entry in entries.iter_mut().filter(|entry| entry.kind == "resource" && entry.output_schema.is_none()) {
        entry.output_schema = Some(ANYTHING.to_vec());
    }
    entries.extend(relations::entry(&import.connector, declaration, &import.entries));
    // The engine wants a version of every server; one that gives none has the lowest.
    let mut server = import.server.clone();
    if server.version.is_empty() {
        "0".clone_into(&mut server.version);
    }
    PackArchive::build(&import.connector, &server, &entries).map_err(|refusal| SinkRefusal::PackInvalid {
        what: match refusal {
            PackRefusal::Duplicate { .. } => "two entries have one URI",
            PackRefusal::Scheme { .. } => "an entry's URI is of no kind that a pack holds",
            PackRefusal::TooLarge { .. } => "it is larger than a pack may be",
            _ => "an entry is malformed",
        },
    })
}
