//! A connection as hyper sees it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Ends a connection from outside the task that reads it: from here on nothing more is read.
#[derive(Clone, Default)]
pub(crate) struct Cut(Arc<AtomicBool>);

impl Cut {
    pub(crate) fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection that can be cut.
pub(crate) struct Stream {
    wire: Wire,
    cut: Cut,
}

enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    pub(crate) fn plain(stream: TcpStream) -> Self {
        Self { wire: Wire::Plain(stream), cut: Cut::default() }
    }

    pub(crate) fn tls(stream: TlsStream<TcpStream>) -> Self {
        Self { wire: Wire::Tls(Box::new(stream)), cut: Cut::default() }
    }
}

macro_rules! delegate {
    ($self:ident, $inner:ident => $call:expr) => {
        match &mut $self.get_mut().wire {
            Wire::Plain(stream) => {
                let $inner = Pin::new(stream);
                $call
            }
            Wire::Tls(stream) => {
                let $inner = Pin::new(stream.as_mut());
                $call
            }
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.cut.0.load(Ordering::Relaxed) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        delegate!(self, inner => inner.poll_read(cx, buf))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        delegate!(self, inner => inner.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        delegate!(self, inner => inner.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.wire {
            Wire::Plain(stream) => stream.is_write_vectored(),
            Wire::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, inner => inner.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, inner => inner.poll_shutdown(cx))
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        match &self.wire {
            Wire::Tls(stream) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => Connected::new().negotiated_h2(),
            // One request at a time, so cutting ends no other.
            _ => Connected::new().extra(self.cut.clone()),
        }
    }
}
