//! Small values in the engine, with compare-and-swap.

use scion_domain::engine::EngineRefusal;
use scion_domain::sink::StoreRefusal;
use scion_ports::{KeyValueEntry, KeyValueStore, async_trait};

use crate::client::{Call, EngineClient, Repeats};
use crate::graph::store_refusal as refuse;
use crate::{Body, Value};

/// The bounds of the port, which are below the engine's own.
const MAX_KEY: usize = 1024;
const MAX_VALUE: usize = 1 << 20;
/// Entries the engine gives in one page at most.
const PAGE: usize = 1000;

/// A [`KeyValueStore`] in one graph of the engine. Values are shared by all principals of the tenant, so that a worker
/// under another name goes on where the last one stood.
#[derive(Clone, Debug)]
pub struct EngineKeyValues {
    client: EngineClient,
    graph: String,
}

impl EngineKeyValues {
    /// A store in this graph.
    pub fn new(client: EngineClient, graph: impl Into<String>) -> Self {
        Self { client, graph: graph.into() }
    }

    async fn call(&self, body: Body, repeats: Repeats) -> Result<Value, EngineRefusal> {
        self.client.call(Call { graph: &self.graph, body, idempotency_key: None, repeats }).await
    }

    /// Writes or deletes; the new version, or `None` when the expected one is not there.
    async fn swap(
        &self,
        namespace: &str,
        key: &str,
        expected: u64,
        new: Option<&[u8]>,
    ) -> Result<Option<u64>, StoreRefusal> {
        let body = Body::with(
            "KvCas",
            [
                ("namespace", namespace.into()),
                ("key", key.into()),
                ("expected_version", expected.into()),
                ("new", new.map_or(Value::Nil, |bytes| Value::Bytes(bytes.to_vec()))),
                ("shared", true.into()),
            ],
        );
        let answer = self.call(body, Repeats::ByKey).await.map_err(|no| refuse(&no))?;
        let swapped = answer.get("swapped").and_then(Value::as_bool);
        match (swapped, answer.get("version").and_then(Value::as_natural)) {
            (Some(true), Some(version)) => Ok(Some(version)),
            (Some(false), _) => Ok(None),
            _ => Err(refuse(&EngineRefusal::Malformed { method: "KvCas" })),
        }
    }
}

#[async_trait]
impl KeyValueStore for EngineKeyValues {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<KeyValueEntry>, StoreRefusal> {
        check(namespace, key, &[])?;
        let body = Body::with("KvGet", [("namespace", namespace.into()), ("key", key.into()), ("shared", true.into())]);
        match self.call(body, Repeats::Freely).await.map_err(|no| refuse(&no))? {
            Value::Nil => Ok(None),
            found => entry(&found).map(Some).ok_or_else(|| refuse(&EngineRefusal::Malformed { method: "KvGet" })),
        }
    }

    async fn compare_and_swap(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<u64>,
        value: &[u8],
    ) -> Result<u64, StoreRefusal> {
        check(namespace, key, value)?;
        if expected == Some(0) {
            // The engine takes 0 for absence; no key has it for its version.
            return Err(StoreRefusal::Conflict { key: key.to_owned() });
        }
        let swapped = self.swap(namespace, key, expected.unwrap_or(0), Some(value)).await?;
        swapped.ok_or_else(|| StoreRefusal::Conflict { key: key.to_owned() })
    }

    async fn delete(&self, namespace: &str, key: &str, expected: u64) -> Result<(), StoreRefusal> {
        check(namespace, key, &[])?;
        let conflict = || StoreRefusal::Conflict { key: key.to_owned() };
        if expected == 0 {
            return Err(conflict());
        }
        self.swap(namespace, key, expected, None).await?.map(|_| ()).ok_or_else(conflict)
    }

    async fn scan(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, KeyValueEntry)>, StoreRefusal> {
        let malformed = || refuse(&EngineRefusal::Malformed { method: "KvScan" });
        let mut found = Vec::new();
        let mut cursor = after.map(str::to_owned);
        while found.len() < limit {
            let page = PAGE.min(limit - found.len()) as u64;
            let body = Body::with(
                "KvScan",
                [
                    ("namespace", namespace.into()),
                    ("prefix", prefix.into()),
                    ("limit", page.into()),
                    ("cursor", cursor.into()),
                    ("shared", true.into()),
                ],
            );
            let answer = self.call(body, Repeats::Freely).await.map_err(|no| refuse(&no))?;
            let entries = answer.get("entries").and_then(Value::as_list).ok_or_else(malformed)?;
            for row in entries {
                let key = row.get("key").and_then(Value::as_text).ok_or_else(malformed)?;
                found.push((key.to_owned(), entry(row).ok_or_else(malformed)?));
            }
            match answer.get("next_cursor").and_then(Value::as_text) {
                Some(next) if !entries.is_empty() => cursor = Some(next.to_owned()),
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }
}

fn entry(value: &Value) -> Option<KeyValueEntry> {
    Some(KeyValueEntry {
        version: value.get("version")?.as_natural()?,
        value: value.get("value").map_or(Some(Vec::new()), Value::to_bytes)?,
    })
}

fn check(namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreRefusal> {
    if namespace.is_empty() || namespace.len() > MAX_KEY || key.is_empty() || key.len() > MAX_KEY {
        return Err(StoreRefusal::BadKey { what: "a key or its namespace has no bytes or more than 1024" });
    }
    if namespace.contains('\0') || key.contains('\0') {
        return Err(StoreRefusal::BadKey { what: "a key or its namespace holds a NUL character" });
    }
    if value.len() > MAX_VALUE {
        return Err(StoreRefusal::BadKey { what: "a value has more than 1 MiB" });
    }
    Ok(())
}
