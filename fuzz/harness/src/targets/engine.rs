//! The values that an engine sends.

use scion_engine::{DecodeLimits, decode, encode};

/// What was read is written in its canonical form, and that form is read and written as itself.
pub fn engine_value(data: &[u8]) {
    let Ok(value) = decode(data, DecodeLimits { items: 10_000, depth: 64 }) else { return };
    let canonical = encode(&value);
    let again =
        decode(&canonical, DecodeLimits::default()).unwrap_or_else(|_| panic!("what was written cannot be read"));
    assert_eq!(encode(&again), canonical);
}
