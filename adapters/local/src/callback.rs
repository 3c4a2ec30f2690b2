//! The callback of a browser login on this machine (RFC 8252, section 7.3).

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::auth::{MAX_REDIRECT_BYTES, PkceRefusal};
use scion_domain::secret::Secret;
use scion_ports::{CallbackListener, OpenCallback};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};

/// The largest request head that is read, in bytes.
const MAX_HEAD: usize = 2 * MAX_REDIRECT_BYTES;

/// How long a connection may take to send its request.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// Connections at once; browsers open some that they never use.
const MAX_CONNECTIONS: usize = 16;

/// Callbacks that wait to be looked at.
const MAX_WAITING: usize = 4;

/// Listens on 127.0.0.1 at a port of the system's choice while a login runs. It knows `GET /callback`, answers a short page and closes.
/// Nothing of a request is logged.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopbackCallback;

const PATH: &str = "/callback";

struct Listening {
    redirect_url: String,
    callbacks: mpsc::Receiver<Secret<String>>,
    accepting: AbortHandle,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

#[async_trait]
impl CallbackListener for LoopbackCallback {
    async fn open(&self) -> Result<Box<dyn OpenCallback>, PkceRefusal> {
        let unavailable = |_| PkceRefusal::CallbackUnavailable;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(unavailable)?;
        let address = listener.local_addr().map_err(unavailable)?;
        let (sender, callbacks) = mpsc::channel(MAX_WAITING);
        let accepting = tokio::spawn(accept(listener, address, sender)).abort_handle();
        Ok(Box::new(Listening { redirect_url: format!("http://{address}{PATH}"), callbacks, accepting }))
    }
}

#[async_trait]
impl OpenCallback for Listening {
    fn redirect_url(&self) -> &str {
        &self.redirect_url
    }

    async fn answer(&mut self) -> Result<Secret<String>, PkceRefusal> {
        self.callbacks.recv().await.ok_or(PkceRefusal::CallbackUnavailable)
    }
}

async fn accept(listener: TcpListener, address: SocketAddr, sender: mpsc::Sender<Secret<String>>) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let taken = Arc::new(AtomicBool::new(false));
    // They end with this task.
    let mut connections = JoinSet::new();
    while let Ok(slot) = slots.clone().acquire_owned().await {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: go on when some are free again.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (sender, taken) = (sender.clone(), taken.clone());
        connections.spawn(async move {
            let _ = tokio::time::timeout(READ_LIMIT, serve(stream, address, &sender, &taken)).await;
            drop(slot);
        });
    }
}

/// One request on one connection.
async fn serve(
    mut stream: TcpStream,
    address: SocketAddr,
    sender: &mpsc::Sender<Secret<String>>,
    taken: &AtomicBool,
) -> std::io::Result<()> {
    let mut head = Secret::new(Vec::with_capacity(2048));
    let verdict = if read_head(&mut stream, &mut head).await? {
        judge(head.expose(), address)
    } else {
        Verdict::Refuse("431 Request Header Fields Too Large")
    };
    let (status, text) = match verdict {
        Verdict::Callback(url) => {
            // Handed over before the answer: the person reads it when the program has it.
            let first = !taken.swap(true, Ordering::AcqRel);
            match (first, sender.try_send(url)) {
                (true, Ok(())) => {
                    ("200 OK", "The answer has arrived. You can close this page and go back to the program.")
                }
                (false, Ok(())) => ("409 Conflict", "This login has its answer already. Go back to the program."),
                (_, Err(_)) => ("503 Service Unavailable", "No login waits for an answer."),
            }
        }
        Verdict::Refuse(status) => (status, "This address takes the answer of one login, and nothing else."),
    };
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>Login</title><p>{text}</p>");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         content-security-policy: default-src 'none'\r\nreferrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\n\
         connection: close\r\n\r\n{page}",
        page.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads up to the empty line; false when it does not come within the bound.
async fn read_head(stream: &mut TcpStream, head: &mut Secret<Vec<u8>>) -> std::io::Result<bool> {
    let mut piece = [0u8; 1024];
    let mut read: Vec<u8> = Vec::new();
    loop {
        let count = stream.read(&mut piece).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        read.extend_from_slice(&piece[..count]);
        let ended = read.windows(4).any(|window| window == b"\r\n\r\n");
        if ended || read.len() > MAX_HEAD {
            let within = ended && read.len() <= MAX_HEAD;
            *head = Secret::new(read);
            return Ok(within);
        }
    }
}

enum Verdict {
    Callback(Secret<String>),
    Refuse(&'static str),
}

fn judge(head: &[u8], address: SocketAddr) -> Verdict {
    let bad = Verdict::Refuse("400 Bad Request");
    let Ok(text) = std::str::from_utf8(head) else { return bad };
    let mut lines = text.split("\r\n");
    let Some((method, rest)) = lines.next().and_then(|line| line.split_once(' ')) else { return bad };
    let Some((target, version)) = rest.split_once(' ') else { return bad };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return bad;
    }
    // A page of another site that reaches this port by a name of its own (DNS rebinding) names another host.
    let mut hosts = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim());
    if hosts.next() != Some(address.to_string().as_str()) || hosts.next().is_some() {
        return bad;
    }
    let path = target.split('?').next().unwrap_or_default();
    match (path == PATH, method) {
        (false, _) => Verdict::Refuse("404 Not Found"),
        (true, "GET") => Verdict::Callback(Secret::new(format!("http://{address}{target}"))),
        (true, _) => Verdict::Refuse("405 Method Not Allowed"),
    }
}
