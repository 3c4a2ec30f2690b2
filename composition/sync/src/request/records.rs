//! Records with their privacy guard, access properties, provenance and digests.

use std::fmt::Write as _;
use std::sync::Arc;

use scion_domain::digest;
use scion_domain::id::{Digest256, MappingReference, RecordId, RecordType};
use scion_domain::ingest::{Document, Entity, IngestRefusal};
use scion_domain::json::JsonObject;
use scion_domain::model::{EntityRef, Provenance, SourceRecord};
use scion_domain::privacy::PersistencePrivacyGuard;

use crate::ingest::IngestBinding;

/// The longest text of the wire, in bytes.
const MAX_TEXT: usize = 8192;

pub(super) struct RecordMaker<'b> {
    binding: &'b IngestBinding,
    guard: PersistencePrivacyGuard,
    shape: Digest256,
}

impl<'b> RecordMaker<'b> {
    pub(super) fn new(binding: &'b IngestBinding) -> Self {
        Self { binding, guard: binding.privacy_guard(), shape: binding.shape_digest() }
    }

    pub(super) fn record(&self, index: usize, entity: Entity) -> Result<SourceRecord, IngestRefusal> {
        let record_type =
            RecordType::parse(&entity.node_type).map_err(|_| IngestRefusal::EntityWithoutType { index })?;
        let mut payload = self.guarded(entity.properties);
        payload.extend(entity.access.as_ref().unwrap_or(&self.binding.access).properties());
        let relations = entity.complete_relations.iter();
        let relations = relations
            .map(|name| scion_domain::id::RelationReference::of(&self.binding.connector, &record_type, name))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(SourceRecord {
            mapping_reference: MappingReference::of(&self.binding.connector, &record_type)?,
            content_digest: digest::record_content(&self.shape, &payload),
            payload,
            updated_at: entity.updated_at,
            provenance: self.provenance(&entity.id),
            complete_relations: Arc::from(relations),
            entity: EntityRef { stream: self.binding.stream.clone(), record_id: RecordId::parse(&entity.id)? },
        })
    }

    pub(super) fn guarded(&self, mut properties: JsonObject) -> JsonObject {
        self.guard.apply(&mut properties);
        properties
    }

    pub(super) fn provenance(&self, id: &str) -> Provenance {
        Provenance {
            connector: self.binding.connector.clone(),
            adapter_kind: self.binding.adapter_kind.clone(),
            server: self.binding.server.clone(),
            tool: self.binding.tool.clone(),
            tool_schema_sha256: self.binding.local_contract().unwrap_or(self.shape),
            source_uri: self.source_uri(id),
        }
    }

    /// `ingest://<connector>/<stream>/<id>`, the id percent-encoded; its digest stands for one that is too long.
    fn source_uri(&self, id: &str) -> String {
        let mut uri = format!("ingest://{}/{}/", self.binding.connector, self.binding.stream);
        let start = uri.len();
        for byte in id.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b':' | b'@') {
                uri.push(char::from(byte));
            } else {
                // Writing to a String cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
        if uri.len() > MAX_TEXT {
            uri.truncate(start);
            let _ = write!(uri, "sha256:{}", digest::sha256(id.as_bytes()));
        }
        uri
    }
}

/// A document as the entity it is in the graph.
pub(super) fn document_entity(document: Document) -> Entity {
    let mut properties = document.properties;
    if !document.title.is_empty() {
        properties.insert("title".to_owned(), document.title.into());
    }
    properties.insert("text".to_owned(), document.text.into());
    Entity {
        id: document.id,
        node_type: document.doc_type,
        properties,
        updated_at: document.updated_at,
        access: document.access,
        reference: false,
        complete_relations: document.complete_relations,
    }
}
