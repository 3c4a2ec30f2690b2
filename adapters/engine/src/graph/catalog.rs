//! Registering a server and attesting its catalog (`wire/engine-protocol.md` 6.1, steps 1 to 5).

use scion_domain::canonical::peer_json;
use scion_domain::digest::sha256;
use scion_domain::engine::EngineRefusal;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::json::Json;
use scion_domain::pack::CatalogBinding;

use super::Inner;
use crate::client::{Call, Repeats};
use crate::envelope::persistence_id;
use crate::{Body, COMMONS, Value};

/// How long a registration stays without a sign of life, in seconds.
const LEASE_SECONDS: u64 = 3600;
/// Entries of the registry in one page.
const PAGE: u64 = 256;

pub(super) const PACK: &str = "ConnectorPack";

struct Registered {
    revision: u64,
    digest: String,
    config: Digest256,
}

impl Inner {
    /// One operation on packs.
    pub(super) async fn pack_op(&self, op: &str, request: Value, key: Option<&str>) -> Result<Value, EngineRefusal> {
        let body = Body::with(PACK, [("op", Value::map([("op", op.into()), ("request", request)]))]);
        let repeats = if key.is_some() { Repeats::ByKey } else { Repeats::Freely };
        self.client.call(Call { graph: COMMONS, body, idempotency_key: key, repeats }).await
    }

    /// The context of a change. The engine replaces all of it but the tenant and the key by what it has verified itself; the rest is
    /// the same for the same key, so that an interrupted import can be taken up again.
    pub(super) fn context(&self, key: &str) -> Value {
        let principal = self.client.principal();
        Value::map([
            ("request_id", Value::Natural(1)),
            ("principal", principal.into()),
            ("caller_principal", principal.into()),
            ("attempt_nonce", sha256(key.as_bytes()).to_hex().into()),
            ("tenant_id", self.client.tenant().into()),
            ("actor_scope", "connector".into()),
            ("purpose_id", "provision".into()),
            ("policy_revision", "policy:current".into()),
            ("policy_digest", Digest256::ZERO.to_hex().into()),
            ("policy_decision_id", "scion".into()),
            ("idempotency_key", key.into()),
            ("expected_revision", Value::Nil),
            ("trace_id", Value::Nil),
            ("created_at_ms", Value::Natural(1)),
        ])
    }

    /// Registers the connector's server, binds this principal as its importer where nobody is bound, and attests what the server
    /// publishes.
    pub(super) async fn attest(
        &self,
        connector: &ConnectorName,
        importer: Option<&str>,
        server_entry: Digest256,
        families: Digest256,
    ) -> Result<CatalogBinding, EngineRefusal> {
        let registered = self.register(connector).await?;
        if importer.is_none() {
            let key = format!("scion:bind:{connector}");
            let request = Value::map([
                ("context", self.context(&key)),
                ("connector", connector.as_str().into()),
                ("importer", persistence_id(self.client.principal()).into()),
            ]);
            self.pack_op("bind", request, Some(&key)).await?;
        }
        let asked =
            Value::map([("tenant_id", self.client.tenant().into()), ("server_name", connector.as_str().into())]);
        let current = self.pack_op("catalog_binding_status", asked, None).await?;
        let generation = current.get("catalog_generation").and_then(Value::as_natural);
        let key = format!(
            "scion:attest:{connector}:{}:{}:{}",
            families.to_hex(),
            registered.revision,
            generation.map_or_else(|| "new".to_owned(), |number| number.to_string())
        );
        let request = Value::map([
            ("context", self.context(&key)),
            ("connector", connector.as_str().into()),
            ("server_name", connector.as_str().into()),
            ("server_entry_digest", server_entry.to_hex().into()),
            ("registry_revision", registered.revision.into()),
            ("registry_digest", registered.digest.into()),
            ("registration_config_digest", registered.config.to_hex().into()),
            ("four_family_digest", families.to_hex().into()),
            ("expected_catalog_generation", generation.into()),
        ]);
        let attested = self.pack_op("attest_self_served_catalog", request, Some(&key)).await?;
        read_binding(&attested).ok_or(EngineRefusal::Malformed { method: PACK })
    }

    async fn register(&self, connector: &ConnectorName) -> Result<Registered, EngineRefusal> {
        let malformed = || EngineRefusal::Malformed { method: "ListRegisteredServers" };
        let url = format!("mcp-ref://{connector}");
        let body = Body::with(
            "RegisterServer",
            [
                ("name", connector.as_str().into()),
                ("url", url.as_str().into()),
                ("resources_json", "".into()),
                ("ttl_secs", LEASE_SECONDS.into()),
                ("transport", "unspecified".into()),
                ("desired", "enabled".into()),
            ],
        );
        self.client.call(Call { graph: COMMONS, body, idempotency_key: None, repeats: Repeats::ByKey }).await?;
        let mut cursor = Value::Nil;
        // The registry holds one entry a connector; the bound is for a peer that never ends.
        for _ in 0..256 {
            let request = Value::map([("limit", PAGE.into()), ("cursor", cursor)]);
            let body = Body::with("ListRegisteredServers", [("request", request)]);
            let page = self
                .client
                .call(Call { graph: COMMONS, body, idempotency_key: None, repeats: Repeats::Freely })
                .await?;
            let entries = page.get("entries").and_then(Value::as_list).ok_or_else(malformed)?;
            let found =
                entries.iter().find(|entry| entry.get("name").and_then(Value::as_text) == Some(connector.as_str()));
            if let Some(found) = found {
                let resources =
                    found.get("resources").map_or(Some(Json::Null), Value::to_json).ok_or_else(malformed)?;
                let url = found.get("url").and_then(Value::as_text).unwrap_or(&url);
                let config = Json::from([("resources", resources), ("url", Json::from(url))]);
                return Ok(Registered {
                    revision: page.get("registry_revision").and_then(Value::as_natural).ok_or_else(malformed)?,
                    digest: page.get("registry_digest").and_then(Value::as_text).ok_or_else(malformed)?.to_owned(),
                    config: sha256(peer_json(&config).as_bytes()),
                });
            }
            let Some(next) = page.get("next_cursor") else { break };
            let part = |name: &str| next.get(name).cloned().unwrap_or(Value::Nil);
            cursor = Value::map([
                ("after_name", part("after_name")),
                ("registry_revision", part("registry_revision")),
                ("registry_digest", part("registry_digest")),
            ]);
        }
        Err(malformed())
    }
}

pub(super) fn read_binding(value: &Value) -> Option<CatalogBinding> {
    let number = |name: &str| value.get(name)?.as_natural();
    let digest = |name: &str| Digest256::parse_hex(value.get(name)?.as_text()?).ok();
    Some(CatalogBinding {
        configuration_revision: number("configuration_revision")?,
        catalog_generation: number("catalog_generation")?,
        snapshot_digest: digest("snapshot_digest")?,
        child_connection_generation: number("child_connection_generation")?,
        authorization_scope_digest: digest("authorization_scope_digest")?,
    })
}
