use crate::canonical::lossless_json;
use crate::digest::framed;
use crate::id::{ConnectorName, Digest256, TenantId};
use crate::json::{Json, JsonObject};
use crate::work::ApprovalRequest;

/// The request for an approval of one destructive call. Its digest covers tenant, connector, operation and arguments, so an
/// approval given to one of them is worth nothing to another.
pub fn approval_request(
    tenant: &TenantId,
    connector: &ConnectorName,
    operation: &str,
    arguments: &JsonObject,
) -> ApprovalRequest {
    ApprovalRequest {
        tenant: tenant.clone(),
        connector: connector.clone(),
        operation: operation.to_owned(),
        arguments: arguments.clone(),
        digest: digest(tenant, connector, operation, arguments),
    }
}

fn digest(tenant: &TenantId, connector: &ConnectorName, operation: &str, arguments: &JsonObject) -> Digest256 {
    let arguments = lossless_json(&Json::Object(arguments.clone()));
    let fields = [tenant.as_str(), connector.as_str(), operation, &arguments].map(str::as_bytes);
    framed("scion/tool-approval/v1", &fields)
}
