//! The archive of a pack: every section's bytes one behind the other, and what describes them (`wire/engine-protocol.md` 6.2-6.4).

use super::digests::{annotations_digest, catalog_digest, references_digest};
use super::{CatalogBinding, EntryKind, PackAnnotations, PackRefusal};
use crate::canonical::peer_json;
use crate::digest::{framed, sha256};
use crate::id::{ConnectorName, Digest256};
use crate::json::Json;
use crate::model::{PackEntry, PackReference, PackServer};

/// The most entries of a pack, its server's own not counted.
pub const MAX_ENTRIES: usize = 8192;

/// The most bytes of a pack's archive: the engine's frame limit.
pub const MAX_ARCHIVE_BYTES: usize = 64 << 20;

/// The most links of an entry, and values of a list of annotations.
pub const MAX_LIST: usize = 64;

/// The most bytes of an entry's name.
pub const MAX_NAME_BYTES: usize = 256;

/// A run of bytes in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where it starts, from 0.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u64,
    /// SHA-256 of them.
    pub sha256: Digest256,
}

/// An entry as an index describes it: everything but the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedEntry {
    /// Its kind.
    pub kind: EntryKind,
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its body.
    pub body: Section,
    /// The schema of what it takes.
    pub input_schema: Option<Section>,
    /// The schema of what it answers.
    pub output_schema: Option<Section>,
    /// What is known of it.
    pub annotations: PackAnnotations,
    /// Where it leads.
    pub references: Vec<PackReference>,
}

/// A pack in the engine's form. The server's entry comes first, the others in the order of their URIs' bytes; within an entry
/// body, input schema, output schema. No header, no padding, no gap: two equal packs have equal bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackArchive {
    pub(super) connector: ConnectorName,
    pub(super) server_version: String,
    pub(super) bytes: Vec<u8>,
    pub(super) server: ArchivedEntry,
    pub(super) entries: Vec<ArchivedEntry>,
}

/// The URI of a server's own entry.
pub fn server_uri(connector: &ConnectorName) -> String {
    format!("mcp-server://{connector}")
}

/// The idempotency key of an import (`wire/engine-protocol.md` 6.6): `connector-pack:<connector>:import:<digest>:<revision>`, the
/// revision being that of the expected head, 0 for none.
pub fn import_key(connector: &ConnectorName, pack_digest: &Digest256, expected_revision: Option<u64>) -> String {
    format!("connector-pack:{connector}:import:{}:{}", pack_digest.to_hex(), expected_revision.unwrap_or(0))
}

impl ArchivedEntry {
    /// `eg/connector-pack-entry/v1`: offsets do not count.
    pub fn digest(&self) -> Digest256 {
        let schema =
            |section: &Option<Section>| section.map_or_else(Vec::new, |section| section.sha256.as_bytes().to_vec());
        framed(
            "eg/connector-pack-entry/v1",
            &[
                self.kind.as_str().as_bytes(),
                self.uri.as_bytes(),
                self.name.as_bytes(),
                self.media_type.as_bytes(),
                self.body.sha256.as_bytes(),
                &schema(&self.input_schema),
                &schema(&self.output_schema),
                annotations_digest(&self.annotations).as_bytes(),
                references_digest(&self.references).as_bytes(),
            ],
        )
    }
}

impl PackArchive {
    /// Lays the entries out. Their order does not matter. An entry without a name is named after its URI; a server that does
    /// not name itself is named after the connector.
    pub fn build(connector: &ConnectorName, server: &PackServer, entries: &[PackEntry]) -> Result<Self, PackRefusal> {
        if entries.len() > MAX_ENTRIES {
            return Err(PackRefusal::TooLarge { what: "more than 8192 entries" });
        }
        let mut sorted: Vec<&PackEntry> = entries.iter().collect();
        sorted.sort_by(|a, b| a.uri.cmp(&b.uri));
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].uri == pair[1].uri) {
            return Err(PackRefusal::Duplicate { uri: pair[0].uri.clone() });
        }
        let own = server_entry(connector, server);
        if let Some(second) = sorted.iter().find(|entry| entry.uri == own.uri) {
            return Err(PackRefusal::Duplicate { uri: second.uri.clone() });
        }
        let size = sorted.iter().map(|entry| size_of(entry)).fold(0, usize::saturating_add);
        if size > MAX_ARCHIVE_BYTES {
            return Err(PackRefusal::TooLarge { what: "more than 64 MiB" });
        }
        let mut bytes = Vec::with_capacity(size + own.body.len());
        let first = lay(&own, EntryKind::McpServer, &mut bytes);
        let mut laid = Vec::with_capacity(sorted.len());
        for entry in sorted {
            laid.push(lay(entry, checked_kind(entry)?, &mut bytes));
        }
        Ok(Self {
            connector: connector.clone(),
            server_version: server.version.clone(),
            bytes,
            server: first,
            entries: laid,
        })
    }

    /// The connector.
    pub const fn connector(&self) -> &ConnectorName {
        &self.connector
    }

    /// The version the server gives itself.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, to send them.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// SHA-256 of the bytes.
    pub fn sha256(&self) -> Digest256 {
        sha256(&self.bytes)
    }

    /// The server's own entry.
    pub const fn server(&self) -> &ArchivedEntry {
        &self.server
    }

    /// The other entries, in the order of their URIs' bytes.
    pub fn entries(&self) -> &[ArchivedEntry] {
        &self.entries
    }

    /// The engine's digest of the pack under a binding (`eg/connector-pack/v2`). It is not [`crate::digest::pack`], which knows
    /// no binding and covers more.
    pub fn digest(&self, catalog: &CatalogBinding) -> Digest256 {
        pack_digest(&self.connector, catalog, &self.server, &self.entries)
    }
}

pub(super) fn pack_digest(
    connector: &ConnectorName,
    catalog: &CatalogBinding,
    server: &ArchivedEntry,
    entries: &[ArchivedEntry],
) -> Digest256 {
    let (catalog, server, count) = (catalog_digest(catalog), server.digest(), (entries.len() as u64).to_be_bytes());
    let digests: Vec<Digest256> = entries.iter().map(ArchivedEntry::digest).collect();
    let mut fields: Vec<&[u8]> = vec![connector.as_str().as_bytes(), catalog.as_bytes(), server.as_bytes(), &count];
    fields.extend(digests.iter().map(|digest| digest.as_bytes().as_slice()));
    framed("eg/connector-pack/v2", &fields)
}

/// The entry of the server itself: the canonical JSON of its name and version.
pub fn server_entry(connector: &ConnectorName, server: &PackServer) -> PackEntry {
    let name = if server.name.is_empty() { connector.as_str() } else { &server.name };
    let body = [("name", name), ("version", server.version.as_str())].map(|(key, text)| (key, Json::from(text)));
    PackEntry {
        kind: EntryKind::McpServer.as_str().to_owned(),
        uri: server_uri(connector),
        name: name.to_owned(),
        media_type: "application/json".to_owned(),
        body: peer_json(&Json::from(body)).into_bytes(),
        ..PackEntry::default()
    }
}

fn size_of(entry: &PackEntry) -> usize {
    let schema = |schema: &Option<Vec<u8>>| schema.as_ref().map_or(0, Vec::len);
    entry.body.len().saturating_add(schema(&entry.input_schema)).saturating_add(schema(&entry.output_schema))
}

fn checked_kind(entry: &PackEntry) -> Result<EntryKind, PackRefusal> {
    let malformed = |what| PackRefusal::Malformed { uri: entry.uri.clone(), what };
    let kind = EntryKind::parse(&entry.kind).ok_or_else(|| malformed("a kind that no pack has"))?;
    if kind == EntryKind::McpServer {
        return Err(malformed("a second server"));
    }
    if entry.name.len() > MAX_NAME_BYTES {
        return Err(malformed("a name of more than 256 bytes"));
    }
    if entry.references.len() > MAX_LIST {
        return Err(malformed("more than 64 links"));
    }
    Ok(kind)
}

fn lay(entry: &PackEntry, kind: EntryKind, bytes: &mut Vec<u8>) -> ArchivedEntry {
    let mut put = |part: &[u8]| {
        let section = Section { offset: bytes.len() as u64, length: part.len() as u64, sha256: sha256(part) };
        bytes.extend_from_slice(part);
        section
    };
    ArchivedEntry {
        kind,
        uri: entry.uri.clone(),
        name: if entry.name.is_empty() { entry.uri.clone() } else { entry.name.clone() },
        media_type: entry.media_type.clone(),
        body: put(&entry.body),
        input_schema: entry.input_schema.as_deref().map(&mut put),
        output_schema: entry.output_schema.as_deref().map(&mut put),
        annotations: entry.annotations.clone(),
        references: entry.references.clone(),
    }
}
