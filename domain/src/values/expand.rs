//! Environment variables inside configuration values (SDK-CONNECTOR-CONTROL-R780.6).

use crate::redaction::is_sensitive_name;
use crate::refusals;

/// Bytes of an expanded value.
const MAX_BYTES: usize = 64 * 1024;

refusals! {
    /// Why a value is not expanded. Neither the value nor what a variable holds is repeated.
    pub enum ExpandRefusal {
        /// `${` without a name and `}`.
        Syntax => "expand_syntax", CallerMistake, Never,
            "a value has a $ that is neither ${{NAME}}, ${{NAME:-default}} nor $$", "write $$ for a dollar sign";
        /// A variable without a value and without a default.
        Unset { name: String } => "expand_unset", CallerMistake, Never,
            "{name} is not set and has no default", "set it, or write ${{NAME:-default}}";
        /// A variable that holds a secret by its name.
        Secret { name: String } => "expand_secret", CallerMistake, Never,
            "{name} looks like a secret, and values are no place for secrets", "use a reference such as env://NAME where a secret is meant";
        /// The result is too long.
        TooLong { limit: usize } => "expand_too_long", CallerMistake, Never,
            "a value expands to more than {limit} bytes", "shorten it";
    }
}

/// Replaces `${NAME}` and `${NAME:-default}` by what `lookup` says, and `$$` by `$`. What is put in is not expanded again. An
/// empty variable counts as not set. Names that hold secrets are refused: those are references, resolved where they are used.
pub fn expand(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<String, ExpandRefusal> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(tail) = after.strip_prefix('$') {
            out.push('$');
            rest = tail;
            continue;
        }
        let (inside, tail) =
            after.strip_prefix('{').and_then(|body| body.split_once('}')).ok_or(ExpandRefusal::Syntax)?;
        let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
        let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        if !first || name.len() > 128 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(ExpandRefusal::Syntax);
        }
        if is_sensitive_name(name) {
            return Err(ExpandRefusal::Secret { name: name.to_owned() });
        }
        let value = lookup(name).filter(|value| !value.is_empty()).or_else(|| default.map(str::to_owned));
        out.push_str(&value.ok_or_else(|| ExpandRefusal::Unset { name: name.to_owned() })?);
        if out.len() > MAX_BYTES {
            return Err(ExpandRefusal::TooLong { limit: MAX_BYTES });
        }
        rest = tail;
    }
    out.push_str(rest);
    if out.len() > MAX_BYTES { Err(ExpandRefusal::TooLong { limit: MAX_BYTES }) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: SDK-CONNECTOR-CONTROL-R780.6
    #[test]
    fn variables_are_put_in_once_and_secrets_never() {
        let lookup = |name: &str| match name {
            "REGION" => Some("eu".to_owned()),
            "NESTED" => Some("${REGION}".to_owned()),
            "LONG" => Some("x".repeat(MAX_BYTES + 1)),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, expected) in [
            ("plain", Ok("plain")),
            ("https://${REGION}.a.example/${REGION}", Ok("https://eu.a.example/eu")),
            ("${NESTED}", Ok("${REGION}")),
            ("$$5 and $${REGION}", Ok("$5 and ${REGION}")),
            ("${GONE:-none}${EMPTY:-}", Ok("none")),
            ("${GONE}", Err("expand_unset")),
            ("${EMPTY}", Err("expand_unset")),
            ("${API_TOKEN:-x}", Err("expand_secret")),
            ("${LONG}", Err("expand_too_long")),
            ("$REGION", Err("expand_syntax")),
            ("${REGION", Err("expand_syntax")),
            ("${}", Err("expand_syntax")),
            ("${1A}", Err("expand_syntax")),
            ("$", Err("expand_syntax")),
        ] {
            let got = expand(text, lookup);
            assert_eq!(got.as_deref().map_err(|refusal| refusal.entry().code), expected, "{text}");
        }
        let message = expand("${GONE}", lookup).unwrap_err().to_string();
        assert_eq!(message, "GONE is not set and has no default");
    }
}
