//! One request at a time through the protocol library: deadline, pacing, cancellation, and errors as refusals.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use scion_domain::mcp::McpRefusal;
use tokio::runtime::Handle;

use crate::fault::{End, Fault};
use crate::http::fault_in;
use crate::operation::Operation;
use crate::pace::Pacer;

/// How long the reason of a broken session may lag behind the first call that notices.
const REASON_LAG: Duration = Duration::from_secs(1);
/// How often a request that came too soon for the server is sent again, and the longest wait before that.
const RETURNS: u32 = 8;
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The sending half of a session.
pub(crate) struct Requester {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) end: Arc<End>,
    pub(crate) pacer: Pacer,
    /// The deadline of each request.
    pub(crate) timeout: Duration,
    pub(crate) limit: usize,
    /// How refusals name the server.
    pub(crate) label: String,
    /// Where cancellations are sent from when the caller is not on a runtime any more.
    pub(crate) runtime: Handle,
}

impl Requester {
    /// Sends a request and waits for its result; a server that says when to return is asked again then, within the deadline. Dropping the future cancels the request at the server.
    pub(crate) async fn request(
        &self,
        operation: Operation<'_>,
        request: ClientRequest,
    ) -> Result<ServerResult, McpRefusal> {
        self.bounded(operation, async {
            let mut returns = 0;
            loop {
                let answer = self.exchange(request.clone()).await;
                let Some(wait) = answer.as_ref().err().and_then(wait).filter(|_| returns < RETURNS) else {
                    return answer;
                };
                // The server did nothing yet, so that even a call that changes something may be sent again.
                returns += 1;
                tokio::time::sleep(wait).await;
            }
        })
        .await
    }

    async fn exchange(&self, request: ClientRequest) -> Result<ServerResult, ServiceError> {
        let handle = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let mut abandoned = Abandoned { requester: self, id: Some(handle.id.clone()) };
        let answer = handle.rx.await;
        abandoned.id = None;
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }

    /// Runs one exchange when it is its turn, within the deadline, and until the session ends.
    pub(crate) async fn bounded<T>(
        &self,
        operation: Operation<'_>,
        exchange: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpRefusal> {
        let ended = |fault: &Fault| fault.refusal(&self.label, &operation.to_string(), self.limit);
        if let Some(fault) = self.end.get() {
            return Err(ended(fault));
        }
        let _turn = tokio::select! {
            turn = self.pacer.turn() => turn,
            fault = self.end.wait() => return Err(ended(&fault)),
        };
        let result = tokio::select! {
            biased;
            result = exchange => result,
            fault = self.end.wait() => return Err(ended(&fault)),
            () = tokio::time::sleep(self.timeout) => {
                return Err(McpRefusal::Timeout { operation: operation.to_string(), seconds: self.timeout.as_secs() });
            }
        };
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.refused(operation, &error).await),
        }
    }

    async fn refused(&self, operation: Operation<'_>, error: &ServiceError) -> McpRefusal {
        let fault = match error {
            ServiceError::McpError(error) => return operation.refused(error, self.limit),
            ServiceError::UnexpectedResponse => Fault::Malformed,
            ServiceError::TransportSend(error) => match fault_in(error) {
                Some(fault) => fault,
                None => self.reason().await,
            },
            _ => self.reason().await,
        };
        fault.refusal(&self.label, &operation.to_string(), self.limit)
    }

    async fn reason(&self) -> Fault {
        tokio::time::timeout(REASON_LAG, self.end.wait()).await.unwrap_or(Fault::Closed)
    }
}

/// How long a server that limits its callers asks this one to wait; `None` for every other error, and when it does not say.
fn wait(error: &ServiceError) -> Option<Duration> {
    let ServiceError::McpError(error) = error else { return None };
    let wait = error.data.as_ref().filter(|_| error.code.0 == -32_000)?.as_u64()?;
    Some(Duration::from_millis(wait)).filter(|wait| *wait <= LONGEST_WAIT)
}

/// Tells the server about a request whose caller is gone.
struct Abandoned<'a> {
    requester: &'a Requester,
    id: Option<RequestId>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        if self.requester.end.get().is_some() {
            return;
        }
        let peer = self.requester.peer.clone();
        self.requester.runtime.spawn(async move {
            let reason = Some("nobody waits for the answer any more".to_owned());
            let notification = CancelledNotification::new(CancelledNotificationParam::new(Some(id), reason));
            // Best effort: a server that is gone needs no cancellation.
            let _ = peer.send_notification(ClientNotification::CancelledNotification(notification)).await;
        });
    }
}
