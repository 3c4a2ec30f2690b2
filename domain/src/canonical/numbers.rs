//! Numbers as Python's `json` writes them.

use std::fmt::Write as _;

use crate::json::JsonNumber;

/// Writes a number; false when it was written as `Infinity` or `-Infinity`.
///
/// An integer keeps its digits (`-0` is `0`, Python's integers have one zero); anything else is the nearest double.
pub(super) fn write_python(number: &JsonNumber, out: &mut String) -> bool {
    if number.is_integer() {
        out.push_str(if number.as_text() == "-0" { "0" } else { number.as_text() });
        return true;
    }
    write_python_float(number.as_f64(), out)
}

/// Python's `repr` of a float: the shortest digits that read back, positional from 1e-4 up to below 1e16.
pub(super) fn write_python_float(value: f64, out: &mut String) -> bool {
    if !value.is_finite() {
        out.push_str(if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        });
        return false;
    }
    // Rust writes `d.ddde-7`: the same shortest digits, another layout.
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    if unsigned.len() < mantissa.len() {
        out.push('-');
    }
    let (first, rest) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if !(-4..16).contains(&exponent) {
        out.push_str(unsigned);
        // Writing to a String cannot fail.
        let _ = write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs());
        return true;
    }
    let Ok(whole) = usize::try_from(exponent) else {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', exponent.unsigned_abs() as usize - 1));
        out.push_str(first);
        out.push_str(rest);
        return true;
    };
    out.push_str(first);
    if rest.len() > whole {
        out.push_str(&rest[..whole]);
        out.push('.');
        out.push_str(&rest[whole..]);
    } else {
        out.push_str(rest);
        out.extend(std::iter::repeat_n('0', whole - rest.len()));
        out.push_str(".0");
    }
    true
}
