//! The index of a pack: what an archive holds, as the engine reads it (`wire/engine-protocol.md` 6.2).

use super::archive::{MAX_ENTRIES, Section, pack_digest, server_uri};
use super::{ArchivedEntry, CatalogBinding, EntryKind, PackAnnotations, PackArchive, PackRefusal};
use crate::canonical::write_text;
use crate::digest::sha256;
use crate::id::{ConnectorName, Digest256};
use crate::json::{Json, JsonLimits, JsonObject, parse_with};
use crate::model::{PackEntry, PackReference, PackServer};

/// The version of the index's form.
pub const INDEX_VERSION: u64 = 2;

/// Who built a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackProducer {
    /// The program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The archive an index belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveRef {
    /// What the blob store calls it; the engine's own text, opaque here.
    pub blob_digest: String,
    /// Its bytes.
    pub length: u64,
    /// SHA-256 of them.
    pub sha256: Digest256,
}

/// An index, its members in the order the engine signs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackIndex {
    /// The connector.
    pub connector: ConnectorName,
    /// The server's own entry.
    pub server: ArchivedEntry,
    /// The version the server gives itself.
    pub server_package_version: String,
    /// The archive.
    pub archive: ArchiveRef,
    /// The other entries, in the order of their URIs' bytes.
    pub entries: Vec<ArchivedEntry>,
    /// Who built it.
    pub producer: PackProducer,
    /// What it is bound to.
    pub catalog: CatalogBinding,
    /// The engine's digest.
    pub pack_digest: Digest256,
}

impl PackArchive {
    /// The index for an archive that was stored under this blob digest.
    pub fn index(&self, catalog: &CatalogBinding, blob_digest: &str, producer: &PackProducer) -> PackIndex {
        PackIndex {
            connector: self.connector.clone(),
            server: self.server.clone(),
            server_package_version: self.server_version.clone(),
            archive: ArchiveRef {
                blob_digest: blob_digest.to_owned(),
                length: self.bytes.len() as u64,
                sha256: self.sha256(),
            },
            entries: self.entries.clone(),
            producer: producer.clone(),
            catalog: catalog.clone(),
            pack_digest: self.digest(catalog),
        }
    }
}

impl PackIndex {
    /// The text, members in the engine's order, without spaces.
    pub fn to_text(&self) -> String {
        let mut out = Text::default();
        out.object(|out| {
            out.member("schema_version").raw(&INDEX_VERSION.to_string());
            out.member("connector").text(self.connector.as_str());
            entry_text(&self.server, out.member("server"));
            out.member("server_package_version").text(&self.server_package_version);
            out.member("archive").object(|out| {
                out.member("blob_digest").text(&self.archive.blob_digest);
                out.member("length").raw(&self.archive.length.to_string());
                out.member("sha256").text(&self.archive.sha256.to_hex());
            });
            out.member("entries").list(&self.entries, entry_text);
            out.member("producer").object(|out| {
                out.member("name").text(&self.producer.name);
                out.member("version").text(&self.producer.version);
            });
            out.member("catalog").object(|out| {
                let binding = &self.catalog;
                out.member("configuration_revision").raw(&binding.configuration_revision.to_string());
                out.member("catalog_generation").raw(&binding.catalog_generation.to_string());
                out.member("snapshot_digest").text(&binding.snapshot_digest.to_hex());
                out.member("child_connection_generation").raw(&binding.child_connection_generation.to_string());
                out.member("authorization_scope_digest").text(&binding.authorization_scope_digest.to_hex());
            });
            out.member("pack_digest").text(&self.pack_digest.to_hex());
        });
        out.out
    }

    /// Reads an index. Unknown members, entries out of order and a digest that does not follow from the rest are refused.
    pub fn from_text(text: &[u8]) -> Result<Self, PackRefusal> {
        let bad = |what| PackRefusal::Malformed { uri: "the index".to_owned(), what };
        let value = parse_with(text, JsonLimits::DEFAULT).map_err(|_| bad("not JSON"))?;
        let read = Reader::of(&value, &INDEX_MEMBERS, "the index")?;
        if read.number("schema_version")? != INDEX_VERSION {
            return Err(bad("another version than 2"));
        }
        let connector =
            ConnectorName::parse(read.text("connector")?).map_err(|_| bad("a connector with a bad name"))?;
        let entries = read.list("entries")?;
        if entries.len() > MAX_ENTRIES {
            return Err(PackRefusal::TooLarge { what: "more than 8192 entries" });
        }
        let archive = read.inner("archive", &["blob_digest", "length", "sha256"])?;
        let producer = read.inner("producer", &["name", "version"])?;
        let index = Self {
            server: read_entry(read.value("server")?)?,
            server_package_version: read.text("server_package_version")?.to_owned(),
            archive: ArchiveRef {
                blob_digest: archive.text("blob_digest")?.to_owned(),
                length: archive.number("length")?,
                sha256: archive.digest("sha256")?,
            },
            entries: entries.iter().map(read_entry).collect::<Result<_, _>>()?,
            producer: PackProducer {
                name: producer.text("name")?.to_owned(),
                version: producer.text("version")?.to_owned(),
            },
            catalog: read_catalog(&read)?,
            pack_digest: read.digest("pack_digest")?,
            connector,
        };
        index.check()?;
        Ok(index)
    }

    fn check(&self) -> Result<(), PackRefusal> {
        let bad = |uri: &str, what| PackRefusal::Malformed { uri: uri.to_owned(), what };
        if self.server.kind != EntryKind::McpServer || self.server.uri != server_uri(&self.connector) {
            return Err(bad(&self.server.uri, "not the server of this connector"));
        }
        if let Some(second) = self.entries.iter().find(|entry| entry.kind == EntryKind::McpServer) {
            return Err(bad(&second.uri, "a second server"));
        }
        if let Some(pair) = self.entries.windows(2).find(|pair| pair[0].uri >= pair[1].uri) {
            return Err(bad(&pair[1].uri, "out of order"));
        }
        if pack_digest(&self.connector, &self.catalog, &self.server, &self.entries) != self.pack_digest {
            return Err(bad("the index", "a digest that its entries do not have"));
        }
        Ok(())
    }

    /// The entries behind an archive's bytes: every section where the index says, no gap, no overlap, nothing left over, and
    /// every digest right.
    pub fn open(&self, bytes: &[u8]) -> Result<(PackServer, Vec<PackEntry>), PackRefusal> {
        let bad = |uri: &str, what| PackRefusal::Malformed { uri: uri.to_owned(), what };
        if bytes.len() as u64 != self.archive.length || sha256(bytes) != self.archive.sha256 {
            return Err(bad("the archive", "not the bytes of the index"));
        }
        let mut at = 0_u64;
        let mut cut = |uri: &str, section: &Section| {
            let end = section.offset.checked_add(section.length).filter(|end| *end <= bytes.len() as u64);
            let Some(end) = end.filter(|_| section.offset == at) else {
                return Err(bad(uri, "a section that does not follow the one before"));
            };
            at = end;
            let range = usize::try_from(section.offset).ok().zip(usize::try_from(end).ok());
            let part = range.and_then(|(from, to)| bytes.get(from..to)).unwrap_or_default();
            if sha256(part) != section.sha256 {
                return Err(bad(uri, "a section with another digest"));
            }
            Ok(part.to_vec())
        };
        let mut read = |entry: &ArchivedEntry| -> Result<PackEntry, PackRefusal> {
            Ok(PackEntry {
                kind: entry.kind.as_str().to_owned(),
                uri: entry.uri.clone(),
                name: entry.name.clone(),
                media_type: entry.media_type.clone(),
                body: cut(&entry.uri, &entry.body)?,
                input_schema: entry.input_schema.as_ref().map(|section| cut(&entry.uri, section)).transpose()?,
                output_schema: entry.output_schema.as_ref().map(|section| cut(&entry.uri, section)).transpose()?,
                annotations: entry.annotations.clone(),
                references: entry.references.clone(),
                facts: None,
            })
        };
        let server = read(&self.server)?;
        let entries = self.entries.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        if at != self.archive.length {
            return Err(bad("the archive", "bytes that belong to no entry"));
        }
        let named = PackServer { name: server.name, version: self.server_package_version.clone() };
        Ok((named, entries))
    }
}

const INDEX_MEMBERS: [&str; 9] = [
    "schema_version",
    "connector",
    "server",
    "server_package_version",
    "archive",
    "entries",
    "producer",
    "catalog",
    "pack_digest",
];

const ENTRY_MEMBERS: [&str; 9] =
    ["kind", "uri", "name", "media_type", "body", "input_schema", "output_schema", "annotations", "references"];

const CATALOG_MEMBERS: [&str; 5] = [
    "configuration_revision",
    "catalog_generation",
    "snapshot_digest",
    "child_connection_generation",
    "authorization_scope_digest",
];

fn read_catalog(index: &Reader<'_>) -> Result<CatalogBinding, PackRefusal> {
    let read = index.inner("catalog", &CATALOG_MEMBERS)?;
    Ok(CatalogBinding {
        configuration_revision: read.number("configuration_revision")?,
        catalog_generation: read.number("catalog_generation")?,
        snapshot_digest: read.digest("snapshot_digest")?,
        child_connection_generation: read.number("child_connection_generation")?,
        authorization_scope_digest: read.digest("authorization_scope_digest")?,
    })
}

fn read_entry(value: &Json) -> Result<ArchivedEntry, PackRefusal> {
    let uri = value.get("uri").and_then(Json::as_str).unwrap_or("an entry without a URI");
    let read = Reader::of(value, &ENTRY_MEMBERS, uri)?;
    let kind = EntryKind::parse(read.text("kind")?).ok_or_else(|| read.bad("a kind that no pack has"))?;
    let reference = |value: &Json| {
        let read = Reader::of(value, &["uri", "kind"], uri)?;
        Ok(PackReference { uri: read.text("uri")?.to_owned(), kind: read.text("kind")?.to_owned() })
    };
    Ok(ArchivedEntry {
        kind,
        uri: read.text("uri")?.to_owned(),
        name: read.text("name")?.to_owned(),
        media_type: read.text("media_type")?.to_owned(),
        body: read.section("body")?.ok_or_else(|| read.bad("no body"))?,
        input_schema: read.section("input_schema")?,
        output_schema: read.section("output_schema")?,
        annotations: PackAnnotations::from_json(uri, read.value("annotations")?)?,
        references: read.list("references")?.iter().map(reference).collect::<Result<_, _>>()?,
    })
}

/// Reads the members of one object; an unknown one is refused.
struct Reader<'v> {
    members: &'v JsonObject,
    uri: &'v str,
}

impl<'v> Reader<'v> {
    fn of(value: &'v Json, known: &[&str], uri: &'v str) -> Result<Self, PackRefusal> {
        let malformed = |what| PackRefusal::Malformed { uri: uri.to_owned(), what };
        let members = value.as_object().ok_or_else(|| malformed("not an object"))?;
        if members.keys().any(|name| !known.contains(&name.as_str())) {
            return Err(malformed("a member that the form does not have"));
        }
        Ok(Self { members, uri })
    }

    fn bad(&self, what: &'static str) -> PackRefusal {
        PackRefusal::Malformed { uri: self.uri.to_owned(), what }
    }

    fn value(&self, name: &str) -> Result<&'v Json, PackRefusal> {
        self.members.get(name).ok_or_else(|| self.bad("a member is missing"))
    }

    fn text(&self, name: &str) -> Result<&'v str, PackRefusal> {
        self.value(name)?.as_str().ok_or_else(|| self.bad("a member that should be text"))
    }

    fn number(&self, name: &str) -> Result<u64, PackRefusal> {
        let number = self.value(name)?.as_number().and_then(crate::json::JsonNumber::as_u64);
        number.ok_or_else(|| self.bad("a member that should be a whole number"))
    }

    fn list(&self, name: &str) -> Result<&'v [Json], PackRefusal> {
        self.value(name)?.as_array().ok_or_else(|| self.bad("a member that should be a list"))
    }

    fn digest(&self, name: &str) -> Result<Digest256, PackRefusal> {
        Digest256::parse_hex(self.text(name)?).map_err(|_| self.bad("a member that should be a digest"))
    }

    fn inner(&self, name: &str, known: &[&str]) -> Result<Self, PackRefusal> {
        Self::of(self.value(name)?, known, self.uri)
    }

    fn section(&self, name: &str) -> Result<Option<Section>, PackRefusal> {
        if self.value(name)?.is_null() {
            return Ok(None);
        }
        let read = self.inner(name, &["offset", "length", "sha256"])?;
        Ok(Some(Section {
            offset: read.number("offset")?,
            length: read.number("length")?,
            sha256: read.digest("sha256")?,
        }))
    }
}

fn entry_text(entry: &ArchivedEntry, out: &mut Text) {
    out.object(|out| {
        out.member("kind").text(entry.kind.as_str());
        out.member("uri").text(&entry.uri);
        out.member("name").text(&entry.name);
        out.member("media_type").text(&entry.media_type);
        section_text(Some(&entry.body), out.member("body"));
        section_text(entry.input_schema.as_ref(), out.member("input_schema"));
        section_text(entry.output_schema.as_ref(), out.member("output_schema"));
        annotations_text(&entry.annotations, out.member("annotations"));
        out.member("references").list(&entry.references, |reference, out| {
            out.object(|out| {
                out.member("uri").text(&reference.uri);
                out.member("kind").text(&reference.kind);
            });
        });
    });
}

fn section_text(section: Option<&Section>, out: &mut Text) {
    let Some(section) = section else { return out.raw("null") };
    out.object(|out| {
        out.member("offset").raw(&section.offset.to_string());
        out.member("length").raw(&section.length.to_string());
        out.member("sha256").text(&section.sha256.to_hex());
    });
}

/// Every member of the closed map, `null` where nothing is known; a measured fact of a model only where there is one.
fn annotations_text(annotations: &PackAnnotations, out: &mut Text) {
    out.object(|out| {
        let lists = [
            ("provides", &annotations.provides),
            ("requires_capabilities", &annotations.requires_capabilities),
            ("modalities_in", &annotations.modalities_in),
            ("modalities_out", &annotations.modalities_out),
            ("required_scopes", &annotations.required_scopes),
        ];
        for (name, values) in lists {
            out.member(name).list(values, |value, out| out.text(value));
        }
        let hints = [
            ("read_only_hint", annotations.read_only_hint),
            ("destructive_hint", annotations.destructive_hint),
            ("idempotent_hint", annotations.idempotent_hint),
            ("open_world_hint", annotations.open_world_hint),
        ];
        for (name, hint) in hints {
            out.member(name).flag(hint);
        }
        out.member("contract_version").optional(annotations.contract_version.as_deref(), |text, out| out.text(text));
        out.member("cost").optional(annotations.cost.as_ref(), |cost, out| {
            out.object(|out| {
                out.member("currency").text(&cost.currency);
                out.member("per_call_micros").number(cost.per_call_micros);
                out.member("input_per_mtok_micros").number(cost.input_per_mtok_micros);
                out.member("output_per_mtok_micros").number(cost.output_per_mtok_micros);
            });
        });
        out.member("latency_declared").optional(annotations.latency_declared, |latency, out| {
            out.object(|out| {
                out.member("p50_ms").number(Some(latency.p50_ms));
                out.member("p95_ms").number(Some(latency.p95_ms));
            });
        });
        out.member("model").optional(annotations.model.as_ref(), model_text);
        let pin = annotations.sdk_contract_pin.map(Digest256::to_hex);
        out.member("sdk_contract_pin").optional(pin, |pin, out| out.text(&pin));
        out.member("tool_mode").optional(annotations.tool_mode, |mode, out| out.text(mode.as_str()));
    });
}

fn model_text(model: &super::ModelFacts, out: &mut Text) {
    out.object(|out| {
        out.member("provider").text(&model.provider);
        out.member("model_identity").text(&model.model_identity);
        out.member("context_window_tokens").number(Some(model.context_window_tokens));
        out.member("max_output_tokens").number(Some(model.max_output_tokens));
        out.member("supports_tools").flag(model.supports_tools);
        out.member("supports_structured_output").flag(model.supports_structured_output);
        out.member("supports_vision").flag(model.supports_vision);
        let measured =
            [("shell_proficiency", &model.shell_proficiency), ("stopping_behaviour", &model.stopping_behaviour)];
        for (name, fact) in measured {
            let Some(fact) = fact else { continue };
            out.member(name).object(|out| {
                out.member("value").text(&fact.value);
                out.member("evaluation_run_ref").object(|out| {
                    out.member("evaluation_id").text(&fact.evaluation_id);
                    out.member("digest").text(&fact.evaluation_digest);
                });
            });
        }
    });
}

/// Compact JSON whose members keep the order they are written in.
#[derive(Default)]
struct Text {
    out: String,
}

impl Text {
    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn text(&mut self, text: &str) {
        write_text(text, &mut self.out, true);
    }

    fn flag(&mut self, flag: Option<bool>) {
        self.raw(match flag {
            None => "null",
            Some(true) => "true",
            Some(false) => "false",
        });
    }

    fn number(&mut self, number: Option<u64>) {
        self.optional(number, |number, out| out.raw(&number.to_string()));
    }

    fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(T, &mut Self)) {
        match value {
            Some(value) => write(value, self),
            None => self.raw("null"),
        }
    }

    fn object(&mut self, write: impl FnOnce(&mut Self)) {
        self.out.push('{');
        write(self);
        self.out.push('}');
    }

    fn list<'v, T: 'v>(&mut self, values: impl IntoIterator<Item = &'v T>, write: impl Fn(&'v T, &mut Self)) {
        self.out.push('[');
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            write(value, self);
        }
        self.out.push(']');
    }

    fn member(&mut self, name: &str) -> &mut Self {
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        self.text(name);
        self.out.push(':');
        self
    }
}
