use std::time::Duration;

use crate::answer::Answer;
use crate::bomb::Coding;
use crate::gate::Gate;

/// What a server does with one request.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Answers faithfully.
    Answer(Answer),
    /// Answers this status with everything it received, secrets included, in body, header fields and reason.
    Echo(u16),
    /// Waits, then does the other.
    After(Duration, Box<Behaviour>),
    /// Waits until the gate opens, then does the other.
    Gated(Gate, Box<Behaviour>),
    /// Reads the request and says nothing, for ever.
    StallBeforeHead,
    /// Sends half of a head and nothing more, for ever.
    StallInHead,
    /// Sends the head and half of the body, and nothing more, for ever.
    StallInBody(Answer),
    /// Sends the answer byte by byte with a pause after each.
    Drip(Duration, Answer),
    /// Sends a head at once, then one byte of an endless body after each pause.
    DripForEver(Duration),
    /// Header fields without end.
    EndlessHeaders,
    /// One header field of this many bytes.
    HugeHeader(usize),
    /// This many short header fields.
    ManyHeaders(usize),
    /// A body without end, in chunks.
    EndlessBody,
    /// A body without end that ends with the connection.
    EndlessClose,
    /// Chunk extensions without end, before the first byte of the body.
    EndlessChunkExtension,
    /// Trailers without end.
    EndlessTrailers,
    /// Interim answers (103) without end.
    EndlessInterim,
    /// Zeros, encoded once per coding, first coding innermost; the size is the decoded one.
    Bomb(Vec<Coding>, u64),
    /// A body that is not what its `Content-Encoding` says.
    Lie(Lie),
    /// These bytes, then the connection closes.
    Raw(Vec<u8>),
    /// These bytes, then silence for ever.
    RawThenHold(Vec<u8>),
    /// Closes the connection without an answer.
    CloseBeforeHead,
    /// Resets the connection without an answer.
    ResetBeforeHead,
    /// Sends the head and half of the body, then resets the connection.
    ResetInBody(Answer),
}

/// A lie about the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// More bytes are announced than sent; the connection closes.
    LengthTooLong,
    /// Fewer bytes are announced than sent; what follows looks like another answer.
    LengthTooShort,
    /// Two different lengths.
    TwoLengths,
    /// A length and chunks.
    LengthAndChunks,
    /// A length that is no number.
    LengthGarbage,
    /// A length of 2^64 and more.
    LengthOverflow,
    /// A negative length.
    LengthNegative,
    /// A chunk size that is no number.
    ChunkGarbage,
    /// A chunk size of 2^64 and more.
    ChunkOverflow,
    /// A chunk that is longer than its size.
    ChunkTooShort,
    /// Chunks that never reach the last one; the connection closes.
    ChunkUnfinished,
    /// Announced as this coding, sent as plain text.
    Encoding(Coding),
    /// This coding, cut in the middle; the length of what is sent is right.
    EncodingCut(Coding),
    /// A coding nobody knows.
    EncodingUnknown,
    /// Forty codings in a row.
    EncodingMany,
    /// No HTTP at all.
    NotHttp,
    /// A status line with a status of four digits.
    Status,
    /// Another line folded into a header value, and control bytes in another.
    HeaderBytes,
    /// Nothing after the interim answer 100.
    OnlyInterim,
    /// 101 without being asked.
    Upgrade,
}

impl From<Answer> for Behaviour {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl Lie {
    /// Every lie that needs no encoder.
    pub const ALL: &'static [Self] = &[
        Self::LengthTooLong,
        Self::LengthTooShort,
        Self::TwoLengths,
        Self::LengthAndChunks,
        Self::LengthGarbage,
        Self::LengthOverflow,
        Self::LengthNegative,
        Self::ChunkGarbage,
        Self::ChunkOverflow,
        Self::ChunkTooShort,
        Self::ChunkUnfinished,
        Self::Encoding(Coding::Gzip),
        Self::Encoding(Coding::Deflate),
        Self::Encoding(Coding::Brotli),
        Self::Encoding(Coding::Zstd),
        Self::EncodingCut(Coding::Gzip),
        Self::EncodingCut(Coding::Deflate),
        Self::EncodingCut(Coding::Brotli),
        Self::EncodingCut(Coding::Zstd),
        Self::EncodingUnknown,
        Self::EncodingMany,
        Self::NotHttp,
        Self::Status,
        Self::HeaderBytes,
        Self::OnlyInterim,
        Self::Upgrade,
    ];

    /// The bytes on the wire.
    pub(crate) async fn bytes(self) -> Vec<u8> {
        const DOCUMENT: &str = "{\"ok\":true}";
        let plain = |extra: &str, body: &[u8]| {
            let mut bytes = format!("HTTP/1.1 200 Lab\r\ncontent-type: application/json\r\n{extra}\r\n").into_bytes();
            bytes.extend_from_slice(body);
            bytes
        };
        let coded = |coding: &str, body: &[u8]| {
            plain(&format!("content-encoding: {coding}\r\ncontent-length: {}\r\n", body.len()), body)
        };
        let smuggled = format!("{DOCUMENT}HTTP/1.1 200 Lab\r\ncontent-length: 11\r\n\r\n{{\"bad\":666}}");
        match self {
            Self::LengthTooLong => plain("content-length: 4096\r\n", DOCUMENT.as_bytes()),
            Self::LengthTooShort => plain("content-length: 11\r\n", smuggled.as_bytes()),
            Self::TwoLengths => plain("content-length: 11\r\ncontent-length: 4\r\n", DOCUMENT.as_bytes()),
            Self::LengthAndChunks => {
                plain("content-length: 4\r\ntransfer-encoding: chunked\r\n", b"b\r\n{\"ok\":true}\r\n0\r\n\r\n")
            }
            Self::LengthGarbage => plain("content-length: eleven\r\n", DOCUMENT.as_bytes()),
            Self::LengthOverflow => plain("content-length: 18446744073709551627\r\n", DOCUMENT.as_bytes()),
            Self::LengthNegative => plain("content-length: -1\r\n", DOCUMENT.as_bytes()),
            Self::ChunkGarbage => plain("transfer-encoding: chunked\r\n", b"zz\r\n{\"ok\":true}\r\n0\r\n\r\n"),
            Self::ChunkOverflow => {
                plain("transfer-encoding: chunked\r\n", b"fffffffffffffffff\r\n{\"ok\":true}\r\n0\r\n\r\n")
            }
            Self::ChunkTooShort => plain("transfer-encoding: chunked\r\n", b"4\r\n{\"ok\":true}\r\n0\r\n\r\n"),
            Self::ChunkUnfinished => plain("transfer-encoding: chunked\r\n", b"b\r\n{\"ok\":true}\r\n"),
            Self::Encoding(coding) => coded(coding.token(), DOCUMENT.as_bytes()),
            Self::EncodingCut(coding) => {
                let whole = crate::bomb::encode(coding, DOCUMENT.repeat(500).as_bytes()).await;
                coded(coding.token(), &whole[..whole.len() / 2])
            }
            Self::EncodingUnknown => coded("x-lab-secret-sauce", DOCUMENT.as_bytes()),
            Self::EncodingMany => coded(&["gzip"; 40].join(", "), DOCUMENT.as_bytes()),
            Self::NotHttp => b"SSH-2.0-lab_1.0\r\n\0\0\0\0".to_vec(),
            Self::Status => b"HTTP/1.1 2000 Lab\r\ncontent-length: 0\r\n\r\n".to_vec(),
            Self::HeaderBytes => {
                plain("x-folded: one\r\n two\r\nx-control: a\x01\x7fb\r\ncontent-length: 11\r\n", DOCUMENT.as_bytes())
            }
            Self::OnlyInterim => b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(),
            Self::Upgrade => b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: lab\r\n\r\n".to_vec(),
        }
    }
}
