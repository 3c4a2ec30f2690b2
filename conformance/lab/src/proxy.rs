use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::received::Received;

/// What a proxy does.
#[derive(Clone, Debug, Default)]
pub struct ProxyPlan {
    /// The `Proxy-Authorization` value it requires; without it the answer is 407.
    pub authorization: Option<String>,
    /// Where a target `host:port` really leads; others are dialled as they are when they are addresses.
    pub routes: BTreeMap<String, SocketAddr>,
    /// Leads every tunnel here instead.
    pub misroute: Option<SocketAddr>,
    /// Answers every CONNECT with this status and no tunnel.
    pub status: Option<u16>,
    /// Takes the CONNECT and never answers.
    pub silent: bool,
}

/// A CONNECT proxy on loopback. It ends when dropped.
#[derive(Debug)]
pub struct ConnectProxy {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl ConnectProxy {
    /// Starts one.
    pub async fn start(plan: ProxyPlan) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let received = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&received);
        let task = tokio::spawn(async move {
            let mut tunnels = JoinSet::new();
            loop {
                tokio::select! {
                    Ok((stream, _)) = listener.accept() => {
                        let (plan, seen) = (plan.clone(), Arc::clone(&seen));
                        // A tunnel that breaks is the business of its two ends.
                        tunnels.spawn(async move { drop(tunnel(stream, plan, &seen).await) });
                    }
                    Some(_) = tunnels.join_next() => {}
                    else => {}
                }
            }
        });
        Self { address, received, task }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far; the target of a CONNECT is `host:port`.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The targets of every CONNECT so far.
    pub fn targets(&self) -> Vec<String> {
        self.received()
            .into_iter()
            .filter(|request| request.method == "CONNECT")
            .map(|request| request.target)
            .collect()
    }
}

impl Drop for ConnectProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn tunnel(mut stream: TcpStream, plan: ProxyPlan, seen: &Mutex<Vec<Received>>) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 64 * 1024 {
        head.push(stream.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut lines = text.split("\r\n");
    let mut start = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, target) = (start.next().unwrap_or_default(), start.next().unwrap_or_default());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let mut received = Received { method, target, headers, ..Received::default() };
    {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        received.number = seen.len();
        seen.push(received.clone());
    }
    let refuse = |status: u16| {
        format!("HTTP/1.1 {status} Lab\r\nproxy-authenticate: Basic realm=\"lab\"\r\ncontent-length: 0\r\n\r\n")
    };
    if plan.silent {
        while stream.read(&mut [0; 256]).await? > 0 {}
        return Ok(());
    }
    if let Some(status) = plan.status {
        return stream.write_all(refuse(status).as_bytes()).await;
    }
    if plan.authorization.as_deref().is_some_and(|expected| received.header("proxy-authorization") != Some(expected)) {
        return stream.write_all(refuse(407).as_bytes()).await;
    }
    let known =
        plan.misroute.or_else(|| plan.routes.get(&received.target).copied()).or_else(|| received.target.parse().ok());
    let Some(address) = known.filter(|_| received.method == "CONNECT") else {
        return stream.write_all(refuse(502).as_bytes()).await;
    };
    #[expect(clippy::disallowed_methods, reason = "a proxy dials what it is asked for")]
    let dialled = TcpStream::connect(address).await;
    let Ok(mut server) = dialled else {
        return stream.write_all(refuse(504).as_bytes()).await;
    };
    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
    tokio::io::copy_bidirectional(&mut stream, &mut server).await?;
    Ok(())
}
