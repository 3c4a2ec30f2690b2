//! What the server may ask of us, and what it tells us.

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProtocolVersion, ResourceUpdatedNotificationParam,
};
use rmcp::service::NotificationContext;
use scion_domain::mcp::ServerChange;

use crate::changes::ChangeHub;

/// A client without capabilities: it declines whatever a server asks and passes change notifications on.
pub(crate) struct Listener {
    pub(crate) hub: Arc<ChangeHub>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let itself = Implementation::new("scion", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), itself).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hub.publish(&ServerChange::Tools);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hub.publish(&ServerChange::Prompts);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hub.publish(&ServerChange::Resources);
    }

    async fn on_resource_updated(&self, updated: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.hub.publish(&ServerChange::Resource(updated.uri));
    }
}
