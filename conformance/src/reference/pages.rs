//! A source in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use scion_domain::digest;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::McpRefusal;
use scion_domain::source::{PageRequest, RawRecord, SourceContract, SourceDescription, SourcePage, SourceRefusal};
use scion_ports::SourceAdapter;

use crate::fixtures::{connector, id, stream};

/// A source over a map of records, in pages of `page_size`, positions `{"offset": n}`.
#[derive(Debug)]
pub struct MemorySource {
    description: SourceDescription,
    records: BTreeMap<String, JsonObject>,
    page_size: usize,
    /// Every page names the same next position.
    pub loops: bool,
    /// Every read is denied.
    pub denies: bool,
    changed: AtomicBool,
}

impl MemorySource {
    /// A source over records.
    pub fn new(records: BTreeMap<String, JsonObject>, page_size: usize) -> Self {
        let description =
            SourceDescription { connector: connector(), stream: stream(), delta: false, reconcile: false };
        let changed = AtomicBool::new(false);
        Self { description, records, page_size, loops: false, denies: false, changed }
    }

    /// Changes the contract.
    pub fn change_contract(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    fn offset(position: &Json) -> Result<usize, SourceRefusal> {
        let bad = SourceRefusal::BadPosition { what: "it has no offset" };
        let members = position.as_object().ok_or(bad.clone())?;
        if members.is_empty() {
            return Ok(0);
        }
        let offset = members.get("offset").and_then(Json::as_number).and_then(scion_domain::json::JsonNumber::as_u64);
        offset.and_then(|offset| usize::try_from(offset).ok()).filter(|_| members.len() == 1).ok_or(bad)
    }
}

#[async_trait]
impl SourceAdapter for MemorySource {
    fn describe(&self) -> &SourceDescription {
        &self.description
    }

    async fn contract(&self) -> Result<SourceContract, SourceRefusal> {
        let kind = if self.changed.load(Ordering::Relaxed) { "integer" } else { "string" };
        let text = format!("{{\"type\":\"object\",\"properties\":{{\"output\":{{\"type\":\"{kind}\"}}}}}}");
        let schema = scion_domain::json::parse(&text).unwrap_or_default();
        let fingerprint = digest::sha256(text.as_bytes());
        Ok(SourceContract { schema, identifier_fields: vec!["id".into()], fingerprint })
    }

    async fn read_page(&self, request: &PageRequest) -> Result<SourcePage, SourceRefusal> {
        let offset = Self::offset(&request.position)?;
        if self.denies {
            return Err(McpRefusal::AccessDenied { operation: "tools/call".into() }.into());
        }
        let records: Vec<RawRecord> = self
            .records
            .iter()
            .skip(offset)
            .take(self.page_size)
            .map(|(key, payload)| RawRecord { id: id(key), payload: payload.clone(), updated_at: None })
            .collect();
        let next = offset + records.len();
        let next_position = if self.loops {
            if offset > 0 {
                return Err(SourceRefusal::PositionRepeats { tool: "memory".into() });
            }
            Some(Json::from([("offset", Json::from(1_u64))]))
        } else {
            (next < self.records.len()).then(|| Json::from([("offset", Json::from(next as u64))]))
        };
        Ok(SourcePage { raw_count: records.len(), records, next_position, ..SourcePage::default() })
    }
}
