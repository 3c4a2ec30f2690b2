//! Canonical JSON: one byte sequence per value, for digests and signatures.
//!
//! | form | keys | text | numbers | used for |
//! |---|---|---|---|---|
//! | [`peer_json`] | by code point | ASCII, `\uXXXX` | as the Python peer writes them | fingerprints, packs, signatures |
//! | [`peer_json_unescaped`] | by code point | UTF-8 | as the Python peer writes them | schema disclosure |
//! | [`rfc8785`] | by UTF-16 unit | UTF-8 | IEEE doubles, ECMAScript text | everything of our own that others verify |
//! | [`lossless_json`] | by code point | ASCII, `\uXXXX` | exact decimal value | content digests of records |
//!
//! Every form is written in one pass over the value, without an intermediate tree; the `write_*` functions append to a
//! buffer the caller reuses. Recursion is as deep as the value, which the reader bounds
//! ([`JsonLimits::max_depth`](crate::json::JsonLimits::max_depth)).

pub(crate) mod decimal;
mod numbers;
mod text;

#[cfg(test)]
pub(crate) mod tests;

use crate::json::{Json, JsonNumber, JsonObject};
use crate::refusals;

pub(crate) use text::write_text;

refusals! {
    /// Why a value has no canonical form.
    pub enum CanonicalRefusal {
        /// A number is outside the range of a double, where the form needs a double.
        NotFinite { pointer: String } => "canonical_not_finite", PeerMisbehaved, Never,
            "the number at `{pointer}` is outside the range of a 64-bit float", "send it as text, or inside the range";
    }
}

impl CanonicalRefusal {
    fn within(self, step: &str) -> Self {
        let Self::NotFinite { pointer } = self;
        Self::NotFinite { pointer: format!("/{}{pointer}", step.replace('~', "~0").replace('/', "~1")) }
    }
}

/// The peer's form (`wire/mcp-surface.md` 8.1). A decimal is rounded to the nearest double, as the peer rounds it, and one
/// outside its range is written `Infinity`; an integer keeps every digit.
pub fn peer_json(value: &Json) -> String {
    let mut out = String::new();
    write_peer_json(value, &mut out);
    out
}

/// [`peer_json`], appended to a buffer.
pub fn write_peer_json(value: &Json, out: &mut String) {
    infallible(write::<Peer>(value, out));
}

/// The peer's form, refusing a number that has no finite double.
pub fn peer_json_strict(value: &Json) -> Result<String, CanonicalRefusal> {
    let mut out = String::new();
    write::<PeerStrict>(value, &mut out)?;
    Ok(out)
}

/// The peer's form with text left as UTF-8.
pub fn peer_json_unescaped(value: &Json) -> String {
    let mut out = String::new();
    infallible(write::<PeerUnescaped>(value, &mut out));
    out
}

/// The JSON Canonicalization Scheme of RFC 8785. Numbers are IEEE doubles there: a longer decimal or an integer above 2^53
/// is written as its nearest double, and a number outside the range is refused. Never use it to tell records apart.
pub fn rfc8785(value: &Json) -> Result<String, CanonicalRefusal> {
    let mut out = String::new();
    write::<Rfc8785>(value, &mut out)?;
    Ok(out)
}

/// Our own form for content digests: the peer's form with exact numbers.
///
/// A number is its decimal value: significant digits without leading or trailing zeros, then `e` and the exponent of the
/// last digit unless that is 0. So `1`, `1.0`, `1.00` and `10e-1` are one value (`1`), and no two different values share a
/// text, at any length and magnitude: `1e400` stays `1e400`. Negative zero is its own value (`-0`, however written),
/// because the source said something else than zero; at worst one record is submitted once more. An exponent of more than
/// 30 digits is kept as it was written.
pub fn lossless_json(value: &Json) -> String {
    let mut out = String::new();
    write_lossless_json(value, &mut out);
    out
}

/// [`lossless_json`], appended to a buffer.
pub fn write_lossless_json(value: &Json, out: &mut String) {
    infallible(write::<Lossless>(value, out));
}

/// [`write_lossless_json`] of an object.
pub fn write_lossless_object(members: &JsonObject, out: &mut String) {
    infallible(write_object::<Lossless>(members, out));
}

/// The text of a checkpoint position: the peer's form in UTF-8, except that a number which no double holds is written
/// exactly, so that two positions never share a digest (`wire/engine-protocol.md` 5).
pub(crate) fn position_json(value: &Json) -> String {
    let mut out = String::new();
    infallible(write::<Position>(value, &mut out));
    out
}

/// Forms whose numbers always have a text never refuse.
fn infallible(result: Result<(), CanonicalRefusal>) {
    debug_assert_eq!(result, Ok(()));
    drop(result);
}

trait Form {
    const ASCII: bool;
    const UTF16_ORDER: bool = false;
    fn number(number: &JsonNumber, out: &mut String) -> Result<(), CanonicalRefusal>;
}

struct Peer;
struct PeerStrict;
struct PeerUnescaped;
struct Rfc8785;
struct Lossless;
struct Position;

impl Form for Peer {
    const ASCII: bool = true;
    fn number(number: &JsonNumber, out: &mut String) -> Result<(), CanonicalRefusal> {
        numbers::write_python(number, out);
        Ok(())
    }
}

impl Form for PeerStrict {
    const ASCII: bool = true;
    fn number(number: &JsonNumber, out: &mut String) -> Result<(), CanonicalRefusal> {
        if numbers::write_python(number, out) { Ok(()) } else { Err(not_finite()) }
    }
}

impl Form for PeerUnescaped {
    const ASCII: bool = false;
    fn number(number: &JsonNumber, out: &mut String) -> Result<(), CanonicalRefusal> {
        Peer::number(number, out)
    }
}

impl Form for Rfc8785 {
    const ASCII: bool = false;
    const UTF16_ORDER: bool = true;
    fn number(number: &JsonNumber, out: &mut String) -> Result<(), CanonicalRefusal> {
        let value = number.as_f64();
        if !value.is_finite() {
            return Err(not_finite());
        }
        out.push_str(ryu_js::Buffer::new().format_finite(value));
        Ok(())
    }
}

impl Form for Lossless {
    const ASCII: bool = true;
    fn number(number: &JsonNumber, out: &mut String) -> Result<(), CanonicalRefusal> {
        decimal::write_normal(number.as_text(), out);
        Ok(())
    }
}

impl Form for Position {
    const ASCII: bool = false;
    fn number(number: &JsonNumber, out: &mut String) -> Result<(), CanonicalRefusal> {
        if number.is_integer() || decimal::fits_double(number) {
            numbers::write_python(number, out);
        } else {
            decimal::write_normal(number.as_text(), out);
        }
        Ok(())
    }
}

fn not_finite() -> CanonicalRefusal {
    CanonicalRefusal::NotFinite { pointer: String::new() }
}

fn write<F: Form>(value: &Json, out: &mut String) -> Result<(), CanonicalRefusal> {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => F::number(number, out)?,
        Json::String(text) => write_text(text, out, F::ASCII),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write::<F>(item, out).map_err(|refusal| refusal.within(&index.to_string()))?;
            }
            out.push(']');
        }
        Json::Object(members) => write_object::<F>(members, out)?,
    }
    Ok(())
}

fn write_object<F: Form>(members: &JsonObject, out: &mut String) -> Result<(), CanonicalRefusal> {
    out.push('{');
    if F::UTF16_ORDER && members.keys().any(|key| text::utf16_order_differs(key)) {
        let mut sorted: Vec<_> = members.iter().collect();
        sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        write_members::<F>(sorted.into_iter(), out)?;
    } else {
        write_members::<F>(members.iter(), out)?;
    }
    out.push('}');
    Ok(())
}

fn write_members<'v, F: Form>(
    members: impl Iterator<Item = (&'v String, &'v Json)>,
    out: &mut String,
) -> Result<(), CanonicalRefusal> {
    for (index, (key, item)) in members.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(key, out, F::ASCII);
        out.push(':');
        write::<F>(item, out).map_err(|refusal| refusal.within(key))?;
    }
    Ok(())
}
