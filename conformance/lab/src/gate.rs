use std::sync::Arc;

use tokio::sync::watch;

/// Holds answers back until a test opens it; it stays open then. Clones are one gate.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Default for Gate {
    fn default() -> Self {
        Self::closed()
    }
}

impl Gate {
    /// A gate that holds everything.
    pub fn closed() -> Self {
        Self(Arc::new(watch::channel(false).0))
    }

    /// Lets everything through from now on.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Waits for it to be open.
    pub async fn wait(&self) {
        // The sender lives in self, so the channel cannot close.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}
