use scion_domain::tool_context::CallEvent;

/// Sees what happens in the calls of a served connector: for logs, metrics and audit trails.
///
/// Obligations:
/// - **O1** `observe` returns at once: it neither waits nor writes to anything that may block.
/// - **O2** It keeps nothing of the event beyond what it copies, and nothing it does reaches the call.
/// - **O3** Labels of its measurements come from a bounded set, whatever callers send.
pub trait CallObserver: Send + Sync {
    /// Takes one event. The events of one call come in the order of their sequence.
    fn observe(&self, event: &CallEvent<'_>);
}
