use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_compression::Level;
use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use tokio::io::AsyncWriteExt as _;

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coding {
    /// `gzip`.
    Gzip,
    /// `deflate`, in its zlib wrapping.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

impl Coding {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Gzip, Self::Deflate, Self::Brotli, Self::Zstd];

    /// Its name in `Content-Encoding`.
    pub fn token(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

macro_rules! encoded {
    ($encoder:ident, $pieces:expr) => {{
        let mut encoder = $encoder::with_quality(Vec::new(), Level::Fastest);
        for piece in $pieces {
            encoder.write_all(piece).await.expect("a vector takes every byte");
        }
        encoder.shutdown().await.expect("a vector takes every byte");
        encoder.into_inner()
    }};
}

/// Encodes bytes.
pub async fn encode(coding: Coding, bytes: &[u8]) -> Vec<u8> {
    let pieces = [bytes];
    match coding {
        Coding::Gzip => encoded!(GzipEncoder, pieces),
        Coding::Deflate => encoded!(ZlibEncoder, pieces),
        Coding::Brotli => encoded!(BrotliEncoder, pieces),
        Coding::Zstd => encoded!(ZstdEncoder, pieces),
    }
}

const PIECE: &[u8] = &[0; 64 * 1024];

type Made = BTreeMap<(Vec<Coding>, u64), Arc<Vec<u8>>>;

/// `size` zero bytes, encoded by the codings in order. Made once per process.
pub async fn encode_zeros(codings: &[Coding], size: u64) -> Arc<Vec<u8>> {
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    let key = (codings.to_vec(), size);
    if let Some(made) = MADE.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Arc::clone(made);
    }
    let pieces =
        || std::iter::repeat_n(PIECE, usize::try_from(size.div_ceil(PIECE.len() as u64)).expect("a size of memory"));
    let mut bytes = match codings.first() {
        Some(Coding::Gzip) => encoded!(GzipEncoder, pieces()),
        Some(Coding::Deflate) => encoded!(ZlibEncoder, pieces()),
        Some(Coding::Brotli) => encoded!(BrotliEncoder, pieces()),
        Some(Coding::Zstd) => encoded!(ZstdEncoder, pieces()),
        None => pieces().flatten().copied().collect(),
    };
    for coding in codings.iter().skip(1) {
        bytes = encode(*coding, &bytes).await;
    }
    let bytes = Arc::new(bytes);
    MADE.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bomb_is_small_and_layers_make_it_smaller() {
        for coding in Coding::ALL {
            let once = encode_zeros(&[*coding], 8 << 20).await;
            assert!(once.len() < 200_000, "{coding:?}: {} bytes", once.len());
            let twice = encode_zeros(&[*coding, Coding::Gzip], 8 << 20).await;
            assert!(twice.len() < once.len(), "{coding:?}: {} then {} bytes", once.len(), twice.len());
        }
    }
}
