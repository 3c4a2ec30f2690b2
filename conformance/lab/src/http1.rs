//! HTTP/1.1 by hand, so that the server can break its rules.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::answer::{Answer, Framing};
use crate::behaviour::Behaviour;
use crate::bomb::encode_zeros;
use crate::received::Received;
use crate::server::{Peer, Shared, Wire};

/// Longest head and longest body a client may send to the lab.
const MAX_REQUEST: usize = 64 * 1024 * 1024;

struct Connection<'a> {
    stream: Box<dyn Wire>,
    buffer: Vec<u8>,
    peer: Peer,
    shared: &'a Shared,
}

/// Serves requests until one ends the connection.
pub(crate) async fn serve(stream: Box<dyn Wire>, peer: Peer, shared: &Shared) {
    let mut connection = Connection { stream, buffer: Vec::new(), peer, shared };
    while let Ok(Some(received)) = connection.request().await {
        let (received, behaviour) = shared.decide(received);
        if !matches!(connection.perform(behaviour, &received).await, Ok(true)) {
            break;
        }
    }
}

impl Connection<'_> {
    /// The next request; `None` at the end or when it is not HTTP.
    async fn request(&mut self) -> io::Result<Option<Received>> {
        let Some(head) = self.take_until(b"\r\n\r\n").await? else { return Ok(None) };
        let text = String::from_utf8_lossy(&head).into_owned();
        let mut lines = text.split("\r\n");
        let mut start = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target)) = (start.next(), start.next()) else { return Ok(None) };
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut received = Received {
            connection: self.peer.connection,
            method: method.to_owned(),
            target: target.to_owned(),
            headers,
            sni: self.peer.sni.clone(),
            client_certificate: self.peer.client_certificate,
            ..Received::default()
        };
        if received.header("transfer-encoding").is_some() {
            while let Some(line) = self.take_until(b"\r\n").await? {
                let size = std::str::from_utf8(&line).ok().and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
                let Some(size) = size.filter(|size| *size <= MAX_REQUEST) else { return Ok(None) };
                let Some(chunk) = self.take(size + 2).await? else { return Ok(None) };
                received.body.extend_from_slice(&chunk[..size]);
                if size == 0 {
                    break;
                }
            }
        } else if let Some(length) = received.header("content-length").and_then(|length| length.parse().ok()) {
            let Some(body) = self.take(length).await? else { return Ok(None) };
            received.body = body;
        }
        Ok(Some(received))
    }

    /// Bytes up to a mark, which is taken and left out.
    async fn take_until(&mut self, mark: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut searched: usize = 0;
        loop {
            let from = searched.saturating_sub(mark.len());
            if let Some(at) = self.buffer[from..].windows(mark.len()).position(|window| window == mark) {
                let mut taken: Vec<u8> = self.buffer.drain(..from + at + mark.len()).collect();
                taken.truncate(from + at);
                return Ok(Some(taken));
            }
            searched = self.buffer.len();
            if searched > MAX_REQUEST || !self.fill().await? {
                return Ok(None);
            }
        }
    }

    async fn take(&mut self, size: usize) -> io::Result<Option<Vec<u8>>> {
        while self.buffer.len() < size {
            if size > MAX_REQUEST || !self.fill().await? {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer.drain(..size).collect()))
    }

    async fn fill(&mut self) -> io::Result<bool> {
        Ok(self.stream.read_buf(&mut self.buffer).await? > 0)
    }

    async fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self.stream.write(bytes).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.shared.count_sent(written);
            bytes = &bytes[written..];
        }
        self.stream.flush().await
    }

    /// Sends the same bytes until the client goes away.
    async fn send_for_ever(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let many = bytes.repeat(0x8000 / bytes.len().max(1) + 1);
        loop {
            self.send(&many).await?;
            tokio::task::yield_now().await;
        }
    }

    /// Keeps silent until the client goes away.
    async fn hold(&mut self) -> io::Result<bool> {
        let mut ignored = [0; 1024];
        while self.stream.read(&mut ignored).await? > 0 {}
        Ok(false)
    }

    async fn close(&mut self) -> io::Result<bool> {
        self.stream.shutdown().await?;
        Ok(false)
    }

    fn reset(&mut self) -> bool {
        self.stream.reset_at_end();
        false
    }

    /// Does what was decided; `true` when the connection can take another request.
    async fn perform(&mut self, mut behaviour: Behaviour, received: &Received) -> io::Result<bool> {
        loop {
            behaviour = match behaviour {
                Behaviour::After(pause, next) => {
                    tokio::time::sleep(pause).await;
                    *next
                }
                Behaviour::Gated(gate, next) => {
                    gate.wait().await;
                    *next
                }
                ready => {
                    behaviour = ready;
                    break;
                }
            };
        }
        match behaviour {
            Behaviour::After(..) | Behaviour::Gated(..) => unreachable!("unwrapped above"),
            Behaviour::Answer(answer) => self.answer(&answer, received).await,
            Behaviour::Echo(status) => self.answer(&echo(status, received), received).await,
            Behaviour::StallBeforeHead => self.hold().await,
            Behaviour::StallInHead => {
                self.send(b"HTTP/1.1 200 Lab\r\ncontent-type: application/js").await?;
                self.hold().await
            }
            Behaviour::StallInBody(answer) => {
                self.half(&answer).await?;
                self.hold().await
            }
            Behaviour::Drip(pause, answer) => {
                let mut bytes = answer.head(false);
                bytes.extend_from_slice(&answer.framed_body());
                for byte in bytes {
                    self.send(&[byte]).await?;
                    tokio::time::sleep(pause).await;
                }
                self.close().await
            }
            Behaviour::DripForEver(pause) => {
                self.send(b"HTTP/1.1 200 Lab\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
                    .await?;
                loop {
                    self.send(b"1\r\n[\r\n").await?;
                    tokio::time::sleep(pause).await;
                }
            }
            Behaviour::EndlessHeaders => {
                self.send(b"HTTP/1.1 200 Lab\r\n").await?;
                self.send_for_ever(b"x-endless: and on it goes\r\n").await
            }
            Behaviour::HugeHeader(size) => {
                self.answer(&Answer::ok("{}").header("x-huge", vec![b'h'; size]), received).await
            }
            Behaviour::ManyHeaders(count) => {
                let answer = (0..count).fold(Answer::ok("{}"), |answer, at| answer.header(&format!("x-{at}"), "v"));
                self.answer(&answer, received).await
            }
            Behaviour::EndlessBody => {
                self.send(b"HTTP/1.1 200 Lab\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
                    .await?;
                let mut chunk = b"4000\r\n".to_vec();
                chunk.extend_from_slice(&[b'['; 0x4000]);
                chunk.extend_from_slice(b"\r\n");
                self.send_for_ever(&chunk).await
            }
            Behaviour::EndlessClose => {
                self.send(b"HTTP/1.1 200 Lab\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n").await?;
                self.send_for_ever(&[b'['; 0x4000]).await
            }
            Behaviour::EndlessChunkExtension => {
                self.send(b"HTTP/1.1 200 Lab\r\ntransfer-encoding: chunked\r\n\r\nb;").await?;
                self.send_for_ever(b"extension=on;").await
            }
            Behaviour::EndlessTrailers => {
                self.send(b"HTTP/1.1 200 Lab\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n").await?;
                self.send_for_ever(b"x-trailer: and on it goes\r\n").await
            }
            Behaviour::EndlessInterim => {
                self.send_for_ever(b"HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n").await
            }
            Behaviour::Bomb(codings, size) => self.answer(&bomb(&codings, size).await, received).await,
            Behaviour::Lie(lie) => {
                self.send(&lie.bytes().await).await?;
                self.close().await
            }
            Behaviour::Raw(bytes) => {
                self.send(&bytes).await?;
                self.close().await
            }
            Behaviour::RawThenHold(bytes) => {
                self.send(&bytes).await?;
                self.hold().await
            }
            Behaviour::CloseBeforeHead => self.close().await,
            Behaviour::ResetBeforeHead => Ok(self.reset()),
            Behaviour::ResetInBody(answer) => {
                self.half(&answer).await?;
                // A reset throws away what was not read yet; the half should arrive first.
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(self.reset())
            }
        }
    }

    async fn answer(&mut self, answer: &Answer, received: &Received) -> io::Result<bool> {
        let asked_to_close = received.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let keep_alive = !asked_to_close && answer.framing != Framing::Close;
        let mut bytes = answer.head(keep_alive);
        if received.method != "HEAD" {
            bytes.extend_from_slice(&answer.framed_body());
        }
        self.send(&bytes).await?;
        if keep_alive { Ok(true) } else { self.close().await }
    }

    async fn half(&mut self, answer: &Answer) -> io::Result<()> {
        let body = answer.framed_body();
        let mut bytes = answer.head(true);
        bytes.extend_from_slice(&body[..body.len() / 2]);
        self.send(&bytes).await
    }
}

/// An answer that says everything that was received, and the credential alone where a code or a type is expected.
pub(crate) fn echo(status: u16, received: &Received) -> Answer {
    let headers: Vec<String> = received.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let everything = format!("{} {} {} {}", received.method, received.target, headers.join(";"), received.text());
    let printable: String = everything.chars().filter(|char| matches!(char, ' '..='~')).take(8000).collect();
    let bearer = received.header("authorization").and_then(|value| value.split(' ').next_back());
    let last = |text: &str| text.rsplit(['=', '"', ':', '&']).find(|word| word.len() > 4).unwrap_or("none").to_owned();
    let bare = bearer.map_or_else(|| last(received.query().unwrap_or(&received.text())), str::to_owned);
    let document = serde_json::json!({
        "error": bare, "error_description": printable, "message": printable, "title": printable, "detail": printable,
        "errors": [{"message": printable, "extensions": {"code": bare}, "type": bare, "path": [bare]}],
        "type": format!("https://lab.test/problems/{bare}"), "code": bare, "instance": format!("/{bare}"), "scope": bare,
    });
    let kind = if status >= 400 { "application/problem+json" } else { "application/json" };
    Answer::status(status)
        .body(document.to_string())
        .header("content-type", kind)
        .header("x-echo", &printable)
        .header("www-authenticate", format!("Bearer error=\"{bare}\", error_description=\"{printable}\""))
}

/// An encoded answer of zeros.
pub(crate) async fn bomb(codings: &[crate::Coding], size: u64) -> Answer {
    let body = encode_zeros(codings, size).await;
    let tokens: Vec<&str> = codings.iter().map(|coding| coding.token()).collect();
    Answer::ok(body.as_slice()).header("content-type", "application/json").header("content-encoding", tokens.join(", "))
}
