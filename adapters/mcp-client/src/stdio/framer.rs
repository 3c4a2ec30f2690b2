//! Cutting a byte stream into lines of bounded length.

use crate::scan::IdScanner;

/// What a piece of input completed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Framed {
    /// A line without its terminator is in [`LineFramer::line`].
    Line,
    /// A line longer than the bound went by; the raw `id` of the message, if it has one.
    Oversized(Option<String>),
}

/// Collects lines up to a bound. A longer line is not kept, but its end is still found, so the stream stays in step.
#[derive(Debug)]
pub(crate) struct LineFramer {
    line: Vec<u8>,
    complete: bool,
    limit: usize,
    oversized: Option<IdScanner>,
}

/// A buffer larger than this is given back after its line was taken.
const KEPT_CAPACITY: usize = 1 << 20;

impl LineFramer {
    /// A framer for lines of at most `limit` bytes, terminator excluded.
    pub(crate) fn new(limit: usize) -> Self {
        Self { line: Vec::new(), complete: false, limit, oversized: None }
    }

    /// Takes bytes up to and including the first line end. Answers how many were taken and what they completed.
    /// Call again with the rest.
    pub(crate) fn feed(&mut self, available: &[u8]) -> (usize, Option<Framed>) {
        if self.complete {
            self.next_line();
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let piece = &available[..end.unwrap_or(available.len())];
        if let Some(scanner) = &mut self.oversized {
            scanner.push(piece);
        } else if self.line.len() + piece.len() > self.limit {
            let mut scanner = IdScanner::default();
            scanner.push(&self.line);
            scanner.push(piece);
            self.line = Vec::new();
            self.oversized = Some(scanner);
        } else {
            self.line.extend_from_slice(piece);
        }
        if end.is_none() {
            return (piece.len(), None);
        }
        let framed = match self.oversized.take() {
            Some(scanner) => Framed::Oversized(scanner.id().map(str::to_owned)),
            None => Framed::Line,
        };
        self.complete = true;
        (piece.len() + 1, Some(framed))
    }

    /// The bytes of the line just completed.
    pub(crate) fn line(&self) -> &[u8] {
        self.line.strip_suffix(b"\r").unwrap_or(&self.line)
    }

    fn next_line(&mut self) {
        self.complete = false;
        if self.line.capacity() > KEPT_CAPACITY {
            self.line = Vec::new();
        } else {
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Framed, LineFramer};

    fn frame(limit: usize, chunks: &[&[u8]]) -> Vec<Result<Vec<u8>, Option<String>>> {
        let mut framer = LineFramer::new(limit);
        let mut out = Vec::new();
        for chunk in chunks {
            let mut rest = *chunk;
            while !rest.is_empty() {
                let (used, framed) = framer.feed(rest);
                rest = &rest[used..];
                match framed {
                    Some(Framed::Line) => out.push(Ok(framer.line().to_vec())),
                    Some(Framed::Oversized(id)) => out.push(Err(id)),
                    None => {}
                }
            }
        }
        out
    }

    #[test]
    fn a_line_over_the_bound_is_named_and_the_next_one_is_read() {
        let huge = br#"{"jsonrpc":"2.0","id":3,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#;
        let got = frame(40, &[b"{\"a\":1}\r\n", &huge[..30], &huge[30..], b"\n{}\n", b"tail"]);
        assert_eq!(got, [Ok(b"{\"a\":1}".to_vec()), Err(Some("3".to_owned())), Ok(b"{}".to_vec())]);
    }

    #[test]
    fn the_bound_itself_is_allowed() {
        assert_eq!(frame(4, &[b"abcd\nabcde\n"]), [Ok(b"abcd".to_vec()), Err(None)]);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_lines_of_the_whole(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..400),
            cuts in proptest::collection::vec(1_usize..40, 1..40),
            limit in 0_usize..60,
        ) {
            let mut chunks = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (head, tail) = rest.split_at((*cut).min(rest.len()));
                chunks.push(head);
                rest = tail;
            }
            let got = frame(limit, &chunks);
            let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            lines.pop();
            prop_assert_eq!(got.len(), lines.len());
            for (got, line) in got.iter().zip(lines) {
                match got {
                    Ok(kept) => prop_assert_eq!(kept.as_slice(), line.strip_suffix(b"\r").unwrap_or(line)),
                    Err(_) => prop_assert!(line.len() > limit),
                }
            }
        }
    }
}
