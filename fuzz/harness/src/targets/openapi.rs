//! Descriptions of APIs.

use scion_domain::client_profile::ClientProfile;
use scion_domain::json::JsonObject;
use scion_openapi::{ConvertOptions, Operation, convert, request_plan};

/// Every operation is converted or refused, every tool passes the client profile, and a call without arguments never panics.
pub fn openapi(data: &[u8]) {
    if data.len() > 1 << 16 {
        return;
    }
    let Ok(model) = convert(data, &ConvertOptions::default()) else { return };
    assert_eq!(model.report.operations, model.operations.len() + model.report.refused.len());
    let tools: Vec<_> = model.operations.iter().map(Operation::tool).collect();
    assert_eq!(ClientProfile::COMMON.check_listing(&tools), []);
    for operation in &model.operations {
        let _ = request_plan(operation, &JsonObject::new());
    }
}
