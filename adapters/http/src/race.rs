//! Dialling several checked addresses: the next one starts when the one before failed or is slow (RFC 8305, without its sorting).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// How long one address has before the next is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

/// The first connection that stands, and the address it was dialled with. The caller bounds the time.
pub(crate) async fn connect(addresses: &[SocketAddr]) -> io::Result<(TcpStream, SocketAddr)> {
    if let [only] = addresses {
        return dial(*only).await;
    }
    let mut waiting = addresses.iter();
    let mut running = FuturesUnordered::new();
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    loop {
        match waiting.next() {
            Some(address) => running.push(dial(*address)),
            None if running.is_empty() => return Err(last),
            None => {}
        }
        let more = waiting.len() > 0;
        tokio::select! {
            Some(outcome) = running.next() => match outcome {
                Ok(connected) => return Ok(connected),
                Err(error) => last = error,
            },
            () = sleep(STAGGER), if more => {}
        }
    }
}

async fn dial(address: SocketAddr) -> io::Result<(TcpStream, SocketAddr)> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok((stream, address))
}
