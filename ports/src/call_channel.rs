use async_trait::async_trait;
use scion_domain::call::{Asking, ChannelRefusal, LogLine, ProgressNotice, Question, Reply};

/// The way from a tool under way back to the client that called it.
///
/// Obligations:
/// - **O1** Messages arrive in the order of the calls that sent them, and before the result of the call.
/// - **O2** Without a progress token `wants_progress` is false and `progress` sends nothing.
/// - **O3** A line below the level the client asked for is not sent; that is no refusal.
/// - **O4** `ask` sends a question only under [`Asking::Direct`]; otherwise it is refused as unsupported.
/// - **O5** Nothing waits without bound for a client that does not read: what cannot be delivered is
///   [`ChannelRefusal::Closed`] or [`ChannelRefusal::TimedOut`].
#[async_trait]
pub trait CallChannel: Send + Sync {
    /// Whether the client gave a progress token.
    fn wants_progress(&self) -> bool;

    /// Tells how far the call has come. Order and growth are the caller's business.
    async fn progress(&self, notice: &ProgressNotice) -> Result<(), ChannelRefusal>;

    /// Sends a log line.
    async fn log(&self, line: &LogLine) -> Result<(), ChannelRefusal>;

    /// How the client can be asked.
    fn asking(&self) -> Asking<'_>;

    /// Asks and waits for the reply.
    async fn ask(&self, question: &Question) -> Result<Reply, ChannelRefusal>;
}

/// No way back: no progress, no log, no questions. For callers in the same process and for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoChannel;

#[async_trait]
impl CallChannel for NoChannel {
    fn wants_progress(&self) -> bool {
        false
    }

    async fn progress(&self, _notice: &ProgressNotice) -> Result<(), ChannelRefusal> {
        Ok(())
    }

    async fn log(&self, _line: &LogLine) -> Result<(), ChannelRefusal> {
        Ok(())
    }

    fn asking(&self) -> Asking<'_> {
        Asking::Unsupported
    }

    async fn ask(&self, _question: &Question) -> Result<Reply, ChannelRefusal> {
        Err(ChannelRefusal::Unsupported { what: "questions" })
    }
}
