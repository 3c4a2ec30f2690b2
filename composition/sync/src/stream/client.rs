//! Opening and closing the vendor's client around a piece of work (R004.31).

use std::sync::Arc;

use scion_domain::ingest::IngestRefusal;
use scion_ports::async_trait;

/// Opens and closes the client of a vendor.
#[async_trait]
pub trait ClientFactory: Send + Sync + 'static {
    /// The client.
    type Client: Send + Sync + 'static;

    /// Opens one.
    async fn open(&self) -> Result<Self::Client, IngestRefusal>;

    /// Closes one. Failures to close are the client's to log: the work is done.
    async fn close(&self, client: &Self::Client);
}

/// A factory from plain functions, for a client that opens and closes without waiting. An asynchronous client implements
/// [`ClientFactory`].
pub struct FnClient<C> {
    open: Box<dyn Fn() -> Result<C, IngestRefusal> + Send + Sync>,
    close: Box<dyn Fn(&C) + Send + Sync>,
}

impl<C> FnClient<C> {
    /// A factory from two functions.
    pub fn new(
        open: impl Fn() -> Result<C, IngestRefusal> + Send + Sync + 'static,
        close: impl Fn(&C) + Send + Sync + 'static,
    ) -> Self {
        Self { open: Box::new(open), close: Box::new(close) }
    }
}

#[async_trait]
impl<C: Send + Sync + 'static> ClientFactory for FnClient<C> {
    type Client = C;

    async fn open(&self) -> Result<C, IngestRefusal> {
        (self.open)()
    }

    async fn close(&self, client: &C) {
        (self.close)(client);
    }
}

/// Opens a client, works with it and closes it, whether the work succeeds or not. When the future is dropped in between,
/// the client is dropped without `close`.
pub async fn open_client<F, T, Fut>(factory: &F, work: impl FnOnce(Arc<F::Client>) -> Fut) -> Result<T, IngestRefusal>
where
    F: ClientFactory,
    Fut: Future<Output = Result<T, IngestRefusal>>,
{
    let client = Arc::new(factory.open().await?);
    let answer = work(Arc::clone(&client)).await;
    factory.close(&client).await;
    answer
}
