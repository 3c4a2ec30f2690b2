use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::ServerInitializeError;
use scion_domain::refusal::Refusal as _;
use scion_domain::surface::{SurfaceRefusal, TransportRefusal};

/// A client that leaves before it opens the conversation has only looked; anything else at that point is not MCP.
pub(crate) fn opening(failure: &ServerInitializeError) -> Result<(), TransportRefusal> {
    match failure {
        ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled => Ok(()),
        _ => Err(TransportRefusal::Opening),
    }
}

/// The JSON-RPC error of a request the surface does not answer. The code travels in `data`, so that "unknown" and "not now"
/// can be told apart without reading the message.
pub(crate) fn protocol(refusal: &SurfaceRefusal) -> ErrorData {
    if matches!(refusal, SurfaceRefusal::RequestState) {
        let data = serde_json::json!({ "reason": "invalid_request_state" });
        return ErrorData::new(ErrorCode::INVALID_PARAMS, "Invalid or expired requestState", Some(data));
    }
    let code = match refusal {
        SurfaceRefusal::UnknownTool { .. }
        | SurfaceRefusal::UnknownPrompt { .. }
        | SurfaceRefusal::PromptArguments { .. } => ErrorCode::INVALID_PARAMS,
        SurfaceRefusal::UnknownResource { .. } => ErrorCode::RESOURCE_NOT_FOUND,
        SurfaceRefusal::ClientCapability { .. } => ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let mut data = serde_json::json!({ "code": refusal.code() });
    match refusal {
        // The URI as it was asked for, bounded by the surface (SEP-2164).
        SurfaceRefusal::UnknownResource { uri } => data["uri"] = uri.as_str().into(),
        SurfaceRefusal::ClientCapability { capability } => {
            data["requiredCapabilities"] = serde_json::json!({ *capability: {} });
        }
        _ => {}
    }
    ErrorData::new(code, refusal.to_string(), Some(data))
}

/// The answer to a request the client has given up; nobody reads it.
pub(crate) fn cancelled() -> ErrorData {
    ErrorData::internal_error("cancelled", None)
}
