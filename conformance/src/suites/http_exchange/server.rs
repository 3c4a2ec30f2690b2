//! A server that answers every connection with the same bytes.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scion_domain::http::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What comes after the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The connection closes.
    Close,
    /// Nothing, until the client closes.
    Hold,
    /// A byte from time to time, until the client closes.
    Drip,
}

/// It ends when dropped, and its connections with it.
pub(super) struct Server {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    heads: Mutex<Vec<String>>,
    connections: AtomicUsize,
    open: AtomicUsize,
}

impl Server {
    pub(super) async fn always(answer: &[u8], then: Then) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::default());
        let (shared, answer) = (Arc::clone(&state), answer.to_vec());
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                shared.open.fetch_add(1, Ordering::SeqCst);
                let (shared, answer) = (Arc::clone(&shared), answer.clone());
                connections.spawn(async move {
                    // A connection that breaks is closed all the same.
                    let _ = serve(stream, &shared, &answer, then).await;
                    shared.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Ok(Self { address, state, task })
    }

    pub(super) async fn redirect(status: u16, place: &str) -> io::Result<Self> {
        let raw = format!("HTTP/1.1 {status} Moved\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n");
        Self::always(raw.as_bytes(), Then::Close).await
    }

    pub(super) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).expect("an address and a path make a URL")
    }

    pub(super) fn heads(&self) -> Vec<String> {
        self.state.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Waits until the client closed every connection.
    pub(super) async fn closes_within(&self, patience: Duration) -> bool {
        let closed = async {
            while self.state.open.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(patience, closed).await.is_ok()
    }

    /// Stops listening.
    pub(super) async fn stop(&mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, state: &State, answer: &[u8], then: Then) -> io::Result<()> {
    let mut head = Vec::new();
    // TLS greetings have no end that is known here; nothing is answered to them.
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > 64 * 1024 || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut missing = announced(&text).saturating_sub(text.split_once("\r\n\r\n").map_or(0, |(_, body)| body.len()));
    state.heads.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    let mut rest = [0; 4096];
    while missing > 0 {
        match stream.read(&mut rest).await? {
            0 => return Ok(()),
            read => missing = missing.saturating_sub(read),
        }
    }
    stream.write_all(answer).await?;
    match then {
        Then::Close => stream.shutdown().await,
        Then::Hold => {
            while stream.read(&mut rest).await? > 0 {}
            Ok(())
        }
        Then::Drip => loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            stream.write_all(b".").await?;
        },
    }
}

fn announced(head: &str) -> usize {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or_default()
}
