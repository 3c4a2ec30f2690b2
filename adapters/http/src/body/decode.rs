//! Content codings (RFC 9110 section 8.4): gzip, deflate, br, zstd, two in a row at most.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use scion_domain::http::{Bytes, HeaderMap, HttpRefusal, header};
use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};
use tokio_util::io::{StreamReader, poll_read_buf};

use super::raw::Raw;

/// Codings in a row.
const MAX_LAYERS: usize = 2;
/// Decoded bytes in one piece.
const PIECE: usize = 16 * 1024;
/// The window of zstd, as a power of two (RFC 9659).
const ZSTD_WINDOW: u32 = 23;

/// A coding the adapter decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The codings of an answer in the order they were applied.
pub(super) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, &'static str> {
    let mut found = Vec::new();
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let text = value.to_str().map_err(|_| "content encoding")?;
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let coding = match word {
                word if word.eq_ignore_ascii_case("identity") => continue,
                word if word.eq_ignore_ascii_case("gzip") || word.eq_ignore_ascii_case("x-gzip") => Coding::Gzip,
                word if word.eq_ignore_ascii_case("deflate") => Coding::Deflate,
                word if word.eq_ignore_ascii_case("br") => Coding::Brotli,
                word if word.eq_ignore_ascii_case("zstd") => Coding::Zstd,
                _ => return Err("content encoding"),
            };
            if found.len() == MAX_LAYERS {
                return Err("content encoding");
            }
            found.push(coding);
        }
    }
    Ok(found)
}

type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// A body behind its decoders.
pub(super) struct Decoded {
    reader: Reader,
    buffer: tokio_util::bytes::BytesMut,
}

impl Decoded {
    pub(super) fn new(raw: Raw, codings: &[Coding]) -> Self {
        let mut outermost = codings.iter().rev();
        let raw = StreamReader::new(raw);
        let mut reader = match outermost.next() {
            Some(coding) => layer(*coding, raw),
            None => Box::new(raw),
        };
        for coding in outermost {
            reader = layer(*coding, BufReader::with_capacity(PIECE, reader));
        }
        Self { reader, buffer: tokio_util::bytes::BytesMut::new() }
    }

    /// The next decoded piece. `Err(None)` means that it is not what its coding says.
    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Option<HttpRefusal>>> {
        self.buffer.reserve(PIECE);
        let read = ready!(poll_read_buf(Pin::new(&mut self.reader), cx, &mut self.buffer));
        Poll::Ready(match read {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(self.buffer.split().freeze())),
            Err(error) => Err(error.get_ref().and_then(|cause| cause.downcast_ref::<HttpRefusal>()).cloned()),
        })
    }
}

fn layer<R: AsyncBufRead + Send + Unpin + 'static>(coding: Coding, from: R) -> Reader {
    match coding {
        Coding::Gzip => {
            let mut decoder = GzipDecoder::new(from);
            decoder.multiple_members(true);
            Strict::boxed(decoder, GzipDecoder::get_mut)
        }
        Coding::Deflate => Strict::boxed(ZlibDecoder::new(from), ZlibDecoder::get_mut),
        Coding::Brotli => Strict::boxed(BrotliDecoder::new(from), BrotliDecoder::get_mut),
        Coding::Zstd => {
            let mut decoder = ZstdDecoder::with_params(from, &[DParameter::window_log_max(ZSTD_WINDOW)]);
            decoder.multiple_members(true);
            Strict::boxed(decoder, ZstdDecoder::get_mut)
        }
    }
}

/// A decoder whose input ends where its output ends, and that takes no input for no output.
struct Strict<D, R> {
    decoder: D,
    input: fn(&mut D) -> &mut R,
    started: bool,
}

impl<D, R> Strict<D, R>
where
    D: AsyncRead + Send + Unpin + 'static,
    R: AsyncBufRead + Send + Unpin + 'static,
{
    fn boxed(decoder: D, input: fn(&mut D) -> &mut R) -> Reader {
        Box::new(Self { decoder, input, started: false })
    }

    fn poll_input_ended(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let rest = ready!(Pin::new((self.input)(&mut self.decoder)).poll_fill_buf(cx))?;
        Poll::Ready(Ok(rest.is_empty()))
    }
}

impl<D, R> AsyncRead for Strict<D, R>
where
    D: AsyncRead + Send + Unpin + 'static,
    R: AsyncBufRead + Send + Unpin + 'static,
{
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.started {
            if ready!(self.poll_input_ended(cx))? {
                return Poll::Ready(Ok(()));
            }
            self.started = true;
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.decoder).poll_read(cx, buf))?;
        if buf.filled().len() == before && buf.remaining() > 0 && !ready!(self.poll_input_ended(cx))? {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use scion_domain::http::HeaderValue;

    use super::*;

    fn read(values: &[&str]) -> Result<Vec<Coding>, &'static str> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::CONTENT_ENCODING, HeaderValue::from_str(value).unwrap());
        }
        codings(&headers)
    }

    #[test]
    fn codings_are_read_in_order_and_two_at_most() {
        assert_eq!(read(&[]), Ok(vec![]));
        assert_eq!(read(&["identity, ,"]), Ok(vec![]));
        assert_eq!(read(&["GZIP"]), Ok(vec![Coding::Gzip]));
        assert_eq!(read(&["deflate, br"]), Ok(vec![Coding::Deflate, Coding::Brotli]));
        assert_eq!(read(&["x-gzip", "identity", "zstd"]), Ok(vec![Coding::Gzip, Coding::Zstd]));
        for bad in [&["gzip, gzip, gzip"][..], &["gzip", "br", "zstd"], &["compress"], &["gzip;q=1"], &["\u{e9}"]] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }
}
