//! Reading response bodies within bounds.

use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt};
use scion_domain::http::{Bytes, HttpRefusal, header};
use scion_ports::InboundResponse;

use crate::fault::{End, Fault};

/// Reads a whole body of at most `limit` bytes, until the session ends.
pub(super) async fn whole(mut response: InboundResponse, limit: usize, end: &End) -> Result<Vec<u8>, Fault> {
    let declared = response.head.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if declared.and_then(|digits| digits.parse::<u64>().ok()).is_some_and(|length| length > limit as u64) {
        return Err(Fault::TooLarge);
    }
    let mut body = Vec::new();
    loop {
        let chunk = tokio::select! {
            chunk = response.body.chunk() => chunk,
            fault = end.wait() => return Err(fault),
        };
        match chunk {
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) if chunk.len() <= limit - body.len() => body.extend_from_slice(&chunk),
            Ok(Some(_)) | Err(HttpRefusal::TooLarge { .. }) => return Err(Fault::TooLarge),
            Err(_) => return Err(Fault::Closed),
        }
    }
}

/// The pieces of a body until the session ends; the last one may be a refusal.
pub(super) fn chunks(
    response: InboundResponse,
    end: Arc<End>,
) -> impl Stream<Item = Result<Bytes, HttpRefusal>> + Send {
    stream::unfold(Some((response.body, end)), |open| async move {
        let (mut body, end) = open?;
        let chunk = tokio::select! {
            chunk = body.chunk() => chunk,
            _ = end.wait() => Ok(None),
        };
        match chunk {
            Ok(Some(chunk)) => Some((Ok(chunk), Some((body, end)))),
            Ok(None) => None,
            Err(refusal) => Some((Err(refusal), None)),
        }
    })
}

/// Why an event stream broke.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// One event is over the bound.
    TooLarge,
    /// The connection ended.
    Lost,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "an event is too large",
            Self::Lost => "the connection is lost",
        })
    }
}

impl std::error::Error for Broken {}

/// Passes the bytes of an event stream on while no event is over the bound. Events end with a blank line.
pub(super) fn bounded_events(
    chunks: impl Stream<Item = Result<Bytes, HttpRefusal>> + Send,
    limit: usize,
) -> impl Stream<Item = Result<Bytes, Broken>> + Send {
    let mut event = EventSize::default();
    chunks.map(move |chunk| {
        let chunk = chunk.map_err(|refusal| match refusal {
            HttpRefusal::TooLarge { .. } => Broken::TooLarge,
            _ => Broken::Lost,
        })?;
        if event.push(&chunk) > limit { Err(Broken::TooLarge) } else { Ok(chunk) }
    })
}

/// The size of the largest event that was open during a chunk.
#[derive(Debug, Default)]
struct EventSize {
    bytes: usize,
    /// Bytes since the last line end, so that two line ends in a row are seen across chunks.
    line: usize,
}

impl EventSize {
    fn push(&mut self, chunk: &[u8]) -> usize {
        let mut largest = 0;
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.bytes += piece.len();
            largest = largest.max(self.bytes);
            if !piece.ends_with(b"\n") {
                self.line += piece.len();
                continue;
            }
            let length = self.line + piece.len();
            self.line = 0;
            // A line of one byte is the line end alone; one of two bytes may be CR LF.
            if length <= 1 || (length == 2 && (piece == b"\r\n" || piece == b"\n")) {
                self.bytes = 0;
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::EventSize;

    #[test]
    fn an_event_is_measured_across_chunks_and_lines() {
        let mut size = EventSize::default();
        assert_eq!(size.push(b"data: ab"), 8);
        assert_eq!(size.push(b"cd\ndata: x\n"), 19);
        assert_eq!(size.push(b"\nid: 1\r\n\r"), 20);
        assert_eq!(size.push(b"\nab"), 9);
        assert_eq!(size.bytes, 2);
    }
}
