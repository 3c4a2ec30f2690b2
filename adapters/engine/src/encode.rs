//! Canonical MessagePack (`wire/engine-protocol.md` 3): the shortest integers and headers, floats as declared, maps as written.

use rmp::encode;

use crate::Value;

/// The bytes of a value.
pub fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write(&mut out, value);
    out
}

/// Every `let _` drops a result that cannot be an error: writing to a `Vec` does not fail.
pub(crate) fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Nil => {
            let _ = encode::write_nil(out);
        }
        Value::Bool(flag) => {
            let _ = encode::write_bool(out, *flag);
        }
        Value::Negative(number) => {
            let _ = encode::write_sint(out, *number);
        }
        Value::Natural(number) => {
            let _ = encode::write_uint(out, *number);
        }
        Value::Single(number) => {
            let _ = encode::write_f32(out, *number);
        }
        Value::Double(number) => {
            let _ = encode::write_f64(out, *number);
        }
        Value::Text(text) => {
            let _ = encode::write_str(out, text);
        }
        Value::Bytes(bytes) => {
            let _ = encode::write_bin(out, bytes);
        }
        Value::List(items) => {
            let _ = encode::write_array_len(out, length(items.len()));
            for item in items {
                write(out, item);
            }
        }
        Value::Map(members) => {
            let _ = encode::write_map_len(out, length(members.len()));
            for (name, value) in members {
                let _ = encode::write_str(out, name);
                write(out, value);
            }
        }
        Value::Encoded(bytes) => out.extend_from_slice(bytes),
    }
}

/// Requests are bounded far below this, and a frame that long is never sent.
fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
