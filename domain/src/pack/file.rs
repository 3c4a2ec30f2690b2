//! A pack as one file: what a publisher hands out and a reader checks before it trusts a byte of it.
//!
//! Eight bytes `SCIONPK1`; three lengths of four bytes, most significant first; then the release manifest, the index and the facts,
//! each as canonical JSON; then the archive up to the end. The manifest follows from everything else, so a file whose parts do not
//! belong together is refused, signed or not.

use super::{CatalogBinding, EntryKind, PackArchive, PackIndex, PackProducer, PackRefusal, ToolContractFacts};
use crate::canonical::peer_json;
use crate::digest::{self, sha256};
use crate::id::{ConnectorName, Digest256};
use crate::integrity::{
    IntegrityRefusal, ReleaseSigner, RotationLedger, SignerLocks, VerifiedRelease, graph_hash, verify_release,
};
use crate::json::{Json, JsonLimits, JsonObject, parse_with};
use crate::model::{PackEntry, PackImport, PackServer};
use crate::time::Timestamp;

const MAGIC: &[u8; 8] = b"SCIONPK1";
const HEAD: usize = MAGIC.len() + 3 * 4;
/// The most bytes of manifest, index and facts.
const MAX_PARTS: [usize; 3] = [4 << 20, 32 << 20, 32 << 20];
/// The most bytes of a pack file.
pub const MAX_PACK_FILE_BYTES: usize =
    HEAD + MAX_PARTS[0] + MAX_PARTS[1] + MAX_PARTS[2] + super::MAX_ARCHIVE_BYTES + (1 << 20);
/// What a refusal calls the file.
const FILE: &str = "the pack file";

/// Which release a pack is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseMark {
    /// Grows with each release of the connector, from 1; 0 for a build that is no release.
    pub sequence: u64,
    /// After this nobody should take it for the newest.
    pub expires: Option<Timestamp>,
}

/// A pack file that was built or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackFile {
    manifest: JsonObject,
    index: PackIndex,
    facts: String,
    archive: Vec<u8>,
    server: PackServer,
    entries: Vec<PackEntry>,
    mark: ReleaseMark,
}

impl PackFile {
    /// Lays a captured pack out.
    pub fn build(
        connector: &ConnectorName,
        server: &PackServer,
        entries: &[PackEntry],
        producer: &PackProducer,
        mark: ReleaseMark,
    ) -> Result<Self, PackRefusal> {
        let archive = PackArchive::build(connector, server, entries)?;
        let index = archive.index(&UNBOUND, "", producer);
        let facts: JsonObject =
            entries.iter().filter_map(|entry| Some((entry.uri.clone(), entry.facts.as_ref()?.to_json()))).collect();
        Self::of_parts(index, peer_json(&Json::Object(facts)), archive.into_bytes(), mark, None)
    }

    /// Reads a file. A truncated or changed one is refused, whatever it holds.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PackRefusal> {
        if bytes.len() > MAX_PACK_FILE_BYTES {
            return Err(PackRefusal::TooLarge { what: "more bytes than a pack file may have" });
        }
        let rest = bytes.strip_prefix(MAGIC).ok_or(bad("it is none of this version"))?;
        let (lengths, mut rest) = rest.split_at_checked(HEAD - MAGIC.len()).ok_or(bad("it is cut off"))?;
        let mut parts: [&[u8]; 3] = [&[]; 3];
        for ((part, limit), length) in parts.iter_mut().zip(MAX_PARTS).zip(lengths.chunks_exact(4)) {
            let length = length.iter().fold(0_usize, |sum, byte| (sum << 8) | usize::from(*byte));
            if length > limit {
                return Err(PackRefusal::TooLarge { what: "a part that is longer than it may be" });
            }
            (*part, rest) = rest.split_at_checked(length).ok_or(bad("it is cut off"))?;
        }
        let Ok(Json::Object(manifest)) = parse_with(parts[0], JsonLimits::DEFAULT) else {
            return Err(bad("its manifest is not a JSON object"));
        };
        // One file has one spelling, so that a changed byte is a changed file even where JSON would not mind.
        if peer_json(&Json::Object(manifest.clone())).as_bytes() != parts[0] {
            return Err(bad("its manifest is not canonical JSON"));
        }
        let index = PackIndex::from_text(parts[1])?;
        if index.to_text().as_bytes() != parts[1] || index.catalog != UNBOUND || !index.archive.blob_digest.is_empty() {
            return Err(bad("its index is not written in the one form"));
        }
        let facts = String::from_utf8(parts[2].to_vec()).map_err(|_| bad("its facts are not UTF-8"))?;
        Self::of_parts(index, facts, rest.to_vec(), mark_of(&manifest)?, Some(manifest))
    }

    fn of_parts(
        index: PackIndex,
        facts: String,
        archive: Vec<u8>,
        mark: ReleaseMark,
        manifest: Option<JsonObject>,
    ) -> Result<Self, PackRefusal> {
        let (server, mut entries) = index.open(&archive)?;
        take_facts(&facts, &mut entries)?;
        let computed = manifest_of(&index, &server, &facts, &entries, &mark);
        if let Some(given) = &manifest {
            let unsigned = given.iter().filter(|(name, _)| *name != "signature");
            if !unsigned.eq(computed.iter()) {
                return Err(bad("its manifest does not describe its content"));
            }
        }
        Ok(Self { manifest: manifest.unwrap_or(computed), index, facts, archive, server, entries, mark })
    }

    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (manifest, index) = (peer_json(&Json::Object(self.manifest.clone())), self.index.to_text());
        let parts = [manifest.as_bytes(), index.as_bytes(), self.facts.as_bytes()];
        let size = HEAD + parts.iter().map(|part| part.len()).sum::<usize>() + self.archive.len();
        let mut out = Vec::with_capacity(size);
        out.extend_from_slice(MAGIC);
        for part in parts {
            out.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        }
        for part in parts {
            out.extend_from_slice(part);
        }
        out.extend_from_slice(&self.archive);
        out
    }

    /// Signs its manifest ([`ReleaseSigner::sign`]).
    pub fn sign(
        &mut self,
        signer: &ReleaseSigner,
        locks: &mut SignerLocks,
        ledger: &RotationLedger,
    ) -> Result<(), IntegrityRefusal> {
        self.manifest.remove("signature");
        self.manifest = signer.sign(&self.manifest, locks, ledger)?;
        Ok(())
    }

    /// Checks the signature against the locked keys ([`verify_release`]).
    pub fn verify(&self, locks: &SignerLocks, ledger: &RotationLedger) -> Result<VerifiedRelease, IntegrityRefusal> {
        verify_release(&self.manifest, locks, ledger)
    }

    /// The manifest.
    pub const fn manifest(&self) -> &JsonObject {
        &self.manifest
    }

    /// What it holds, without the bytes.
    pub const fn index(&self) -> &PackIndex {
        &self.index
    }

    /// The connector.
    pub const fn connector(&self) -> &ConnectorName {
        &self.index.connector
    }

    /// The server as it named itself.
    pub const fn server(&self) -> &PackServer {
        &self.server
    }

    /// The entries, in the order of their URIs' bytes.
    pub fn entries(&self) -> &[PackEntry] {
        &self.entries
    }

    /// Which release it is.
    pub const fn mark(&self) -> &ReleaseMark {
        &self.mark
    }

    /// Whether it is signed at all; by whom, [`verify`](Self::verify) says.
    pub fn is_signed(&self) -> bool {
        self.manifest.contains_key("signature")
    }

    /// The digest a store answers with.
    pub fn pack_digest(&self) -> Digest256 {
        digest::pack(&self.import(None, false))
    }

    /// The request to accept it.
    pub fn import(&self, expected_revision: Option<u64>, allow_mass_withdrawal: bool) -> PackImport {
        PackImport {
            connector: self.connector().clone(),
            server: self.server.clone(),
            entries: self.entries.clone(),
            expected_revision,
            allow_mass_withdrawal,
        }
    }
}

/// A file is bound to no store.
const UNBOUND: CatalogBinding = CatalogBinding {
    configuration_revision: 0,
    catalog_generation: 0,
    snapshot_digest: Digest256::ZERO,
    child_connection_generation: 0,
    authorization_scope_digest: Digest256::ZERO,
};

fn bad(what: &'static str) -> PackRefusal {
    PackRefusal::Malformed { uri: FILE.to_owned(), what }
}

fn take_facts(text: &str, entries: &mut [PackEntry]) -> Result<(), PackRefusal> {
    let Ok(Json::Object(mut facts)) = parse_with(text.as_bytes(), JsonLimits::DEFAULT) else {
        return Err(bad("its facts are not a JSON object"));
    };
    for entry in entries {
        if let Some(of_entry) = facts.remove(&entry.uri) {
            entry.facts = Some(ToolContractFacts::from_json(&entry.uri, &of_entry)?);
        }
    }
    if facts.is_empty() { Ok(()) } else { Err(bad("it has facts of entries that it does not have")) }
}

fn mark_of(manifest: &JsonObject) -> Result<ReleaseMark, PackRefusal> {
    let sequence = manifest.get("sequence").and_then(Json::as_number).and_then(crate::json::JsonNumber::as_u64);
    let expires = match manifest.get("expires") {
        Some(Json::String(text)) => Some(Timestamp::parse(text).map_err(|_| bad("`expires` is no time"))?),
        Some(Json::Null) => None,
        _ => return Err(bad("`expires` is missing")),
    };
    Ok(ReleaseMark { sequence: sequence.ok_or(bad("`sequence` is missing"))?, expires })
}

fn manifest_of(
    index: &PackIndex,
    server: &PackServer,
    facts: &str,
    entries: &[PackEntry],
    mark: &ReleaseMark,
) -> JsonObject {
    let import = PackImport {
        connector: index.connector.clone(),
        server: server.clone(),
        entries: entries.to_vec(),
        expected_revision: None,
        allow_mass_withdrawal: false,
    };
    let graphs = entries.iter().filter_map(|entry| Some((entry.uri.clone(), Json::from(graph_of(entry)?.to_hex()))));
    let text = |digest: &Digest256| Json::from(digest.to_hex());
    [
        ("schema_version", Json::from(1_u64)),
        ("connector", index.connector.as_str().into()),
        ("server_version", server.version.as_str().into()),
        ("sequence", mark.sequence.into()),
        ("expires", mark.expires.as_ref().map_or(Json::Null, |time| time.to_string().into())),
        ("pack", text(&digest::pack(&import))),
        ("index", text(&sha256(index.to_text().as_bytes()))),
        ("facts", text(&sha256(facts.as_bytes()))),
        ("archive", text(&index.archive.sha256)),
        ("graphs", Json::Object(graphs.collect())),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .collect()
}

/// What a Turtle entry says, whatever its text ([`graph_hash`]); nothing when that cannot be told.
pub(super) fn graph_of(entry: &PackEntry) -> Option<Digest256> {
    let graph = [EntryKind::Ontology, EntryKind::Shapes].iter().any(|kind| kind.as_str() == entry.kind);
    (graph && entry.media_type.starts_with("text/turtle")).then(|| graph_hash(&entry.body).ok())?
}
