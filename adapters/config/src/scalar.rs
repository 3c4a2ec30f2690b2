//! What a scalar is read as.
//!
//! Plain words that YAML 1.1 and 1.2 read differently (`yes`, `off`, `0o17`, `1:30`) are never guessed: where a text is
//! expected they must stand in quotes, where a boolean is expected the known spellings count and others are refused.

use std::time::Duration;

use scion_domain::config::ConfigRefusal;

use crate::tree::{Node, Value};

/// The longest time any setting takes: ten years. Longer ones overflow clocks.
pub(crate) const MAX_SECONDS: f64 = 315_360_000.0;

/// A word for what a node is, for messages.
pub(crate) fn kind(node: &Node) -> &'static str {
    match &node.value {
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
        Value::Scalar { plain: false, .. } => "text",
        Value::Scalar { text, .. } if is_null(text) => "nothing",
        Value::Scalar { text, .. } if is_boolean_word(text) => "a boolean",
        Value::Scalar { text, .. } if is_number(text) => "a number",
        Value::Scalar { .. } => "text",
    }
}

fn wrong(expected: &'static str, node: &Node) -> ConfigRefusal {
    ConfigRefusal::WrongType { expected, found: kind(node) }
}

/// `~`, `null` or nothing at all.
pub(crate) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn is_boolean_word(text: &str) -> bool {
    ["true", "false", "yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn is_number(text: &str) -> bool {
    // Rust reads `inf`, `nan` and `infinity` too; YAML spells those with a dot.
    let digits = text.trim_start_matches(['+', '-', '.']);
    text.parse::<f64>().is_ok() && digits.starts_with(|c: char| c.is_ascii_digit())
        || ["0x", "0o", "0b"].iter().any(|prefix| text.starts_with(prefix) && text.len() > 2)
}

/// A text: quoted, or plain and not looking like something else.
pub(crate) fn text(node: &Node) -> Result<&str, ConfigRefusal> {
    match &node.value {
        Value::Scalar { text, plain } if !plain || kind(node) == "text" => Ok(text),
        _ => Err(wrong("text", node)),
    }
}

/// A boolean: `true yes on y t 1` or `false no off n f 0`, in any case, quoted or not.
pub(crate) fn boolean(node: &Node) -> Result<bool, ConfigRefusal> {
    const EXPECTED: &str = "true or false";
    match &node.value {
        Value::Scalar { text, .. } => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" | "t" | "1" => Ok(true),
            "false" | "no" | "off" | "n" | "f" | "0" => Ok(false),
            _ => Err(wrong(EXPECTED, node)),
        },
        _ => Err(wrong(EXPECTED, node)),
    }
}

/// A finite number, quoted or not; underscores may stand between digits.
fn number(node: &Node, expected: &'static str) -> Result<f64, ConfigRefusal> {
    match &node.value {
        Value::Scalar { text, .. } => {
            let text = text.trim();
            let digits = if text.contains('_') { text.replace('_', "") } else { text.to_owned() };
            let value = is_number(&digits).then(|| digits.parse::<f64>().ok()).flatten();
            value.filter(|value| value.is_finite()).ok_or_else(|| wrong(expected, node))
        }
        _ => Err(wrong(expected, node)),
    }
}

/// A positive time in seconds, fractions allowed, at most [`MAX_SECONDS`].
pub(crate) fn seconds(node: &Node) -> Result<Duration, ConfigRefusal> {
    let value = number(node, "a number of seconds")?;
    let expected = "more than 0 and at most 315360000 seconds";
    let duration = (value > 0.0 && value <= MAX_SECONDS).then(|| Duration::from_secs_f64(value));
    duration.filter(|duration| !duration.is_zero()).ok_or(ConfigRefusal::OutOfRange { expected })
}

/// A whole number from 1 to a limit.
pub(crate) fn count(node: &Node, limit: u32, expected: &'static str) -> Result<u32, ConfigRefusal> {
    let value = number(node, "a whole number")?;
    if value.fract() != 0.0 {
        return Err(wrong("a whole number", node));
    }
    if !(1.0..=f64::from(limit)).contains(&value) {
        return Err(ConfigRefusal::OutOfRange { expected });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within 1..=u32::MAX")]
    Ok(value as u32)
}
