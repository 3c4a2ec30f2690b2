use async_trait::async_trait;
use scion_domain::messaging::{Message, MessageRefusal, StreamBounds};

/// Durable streams of messages, read by groups that remember how far they are.
///
/// Obligations:
/// - **O1** Offsets of a stream start at 0 and grow by one per message. A read answers the messages from an offset on in
///   order: at most `limit`, at least one if there is one; past the end none. Streams are separate.
/// - **O2** A returned publish, commit or trim is durable.
/// - **O3** The committed offset is the next one a group wants to read: `None` before its first commit, each group of each
///   stream for itself.
/// - **O4** A commit behind the committed offset is [`MessageRefusal::Behind`] and changes nothing; the same one again is
///   accepted. A group has one consumer at a time.
/// - **O5** `declare` sets the bounds of a stream, again and again; publishing to a stream nobody declared declares it
///   without any. `trim` lets go what the bounds no longer keep and says how many; offsets never start anew, and a read
///   from one that is gone starts at the oldest kept.
/// - **O6** Names have 1 to 512 bytes, messages at most 256 KiB, `limit` is 1 to 1000; otherwise [`MessageRefusal::Invalid`].
#[async_trait]
pub trait MessageStream: Send + Sync {
    /// Sets the bounds of a stream, making it if need be.
    async fn declare(&self, stream: &str, bounds: StreamBounds) -> Result<(), MessageRefusal>;

    /// Adds a message; answers its offset. `now_ms` is the time since the Unix epoch, from which the message ages.
    async fn publish(&self, stream: &str, payload: &[u8], now_ms: i64) -> Result<u64, MessageRefusal>;

    /// Messages from an offset on.
    async fn read(&self, stream: &str, from: u64, limit: usize) -> Result<Vec<Message>, MessageRefusal>;

    /// Remembers the next offset a group wants to read.
    async fn commit(&self, stream: &str, group: &str, next: u64) -> Result<(), MessageRefusal>;

    /// The next offset a group wants to read.
    async fn committed(&self, stream: &str, group: &str) -> Result<Option<u64>, MessageRefusal>;

    /// Lets go what the bounds no longer keep.
    async fn trim(&self, stream: &str, now_ms: i64) -> Result<u64, MessageRefusal>;
}
