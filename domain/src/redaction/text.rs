//! Log lines and messages.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use url::form_urlencoded::byte_serialize;

use super::{LOG_MARKER, MESSAGE_MARKER};

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that compiles")
}

/// `Bearer abcdef`, in the usual spelling.
static SCHEME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(Bearer|Token|Basic|SSWS|Digest)[ \t]+([^\s"',;]{6,})"#));
/// `bearer abc123`, in any case: only what looks like a credential, so that prose stays readable.
static LOOSE_SCHEME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(bearer|token|basic|ssws)[ \t]+([A-Za-z0-9._~+/=\-]{6,})"));
/// `password: hunter2`, `"api_key": "…"`, `my_token=…`: a whole word, or the last word of a name of several.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(^|[^A-Za-z0-9])((?:[A-Za-z0-9]+[_.\-])*",
        r"(?:api[_\-]?key|token|secret|password|passwd|passphrase|authorization|credentials?|signature))",
        r#"(["']?[ \t]*[:=][ \t]*["']?)([^\s"',;&]{6,})"#,
    ))
});
/// The password in `scheme://user:password@host`.
static USER_INFO: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)([a-z][a-z0-9+.\-]*://[^/\s:@]*):([^/\s]+)@"));
/// Tokens that vendors made recognisable, and private keys.
static KNOWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_\-]{10,}",
        r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bsk-[A-Za-z0-9_\-]{20,}|\bxox[abeoprs]-[A-Za-z0-9\-]{10,}",
        r"|\bhv[bs]\.[A-Za-z0-9_\-]{20,}|\bAIza[A-Za-z0-9_\-]{35}",
        r"|\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*",
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
    ))
});

/// A log line without what looks like a secret, and without the known ones.
pub fn redact_log_text(text: &str, secrets: &[&str]) -> String {
    let text = redact_secrets(text, secrets, LOG_MARKER);
    let text = KNOWN.replace_all(&text, LOG_MARKER);
    let text = USER_INFO.replace_all(&text, |found: &Captures<'_>| format!("{}:{LOG_MARKER}@", &found[1]));
    let text = SCHEME.replace_all(&text, |found: &Captures<'_>| format!("{} {LOG_MARKER}", &found[1]));
    let text = LOOSE_SCHEME.replace_all(&text, |found: &Captures<'_>| {
        let value = &found[2];
        if value.len() >= 24 || value.bytes().any(|byte| byte.is_ascii_digit()) {
            format!("{} {LOG_MARKER}", &found[1])
        } else {
            found[0].to_owned()
        }
    });
    let text = PAIR.replace_all(&text, |found: &Captures<'_>| {
        // `Authorization: Bearer ***`: the word is no secret, and what follows it is gone already.
        let value = &found[4];
        let word = ["bearer", "digest", "basic", "token"].iter().any(|scheme| value.eq_ignore_ascii_case(scheme));
        if word { found[0].to_owned() } else { format!("{}{}{}{LOG_MARKER}", &found[1], &found[2], &found[3]) }
    });
    text.into_owned()
}

/// Whether [`redact_log_text`] would change the text.
pub fn contains_secret(text: &str) -> bool {
    // A lone scheme with several blanks changes too, and rightly: it is followed by a secret.
    redact_log_text(text, &[]) != text
}

/// A message for a person, without the known secrets and without what looks like one.
pub fn redact_message(text: &str, secrets: &[&str]) -> String {
    redact_log_text(&redact_secrets(text, secrets, MESSAGE_MARKER), &[])
}

/// A text without the known secrets, as they are and percent-encoded. The longest goes first, so that no rest of one is left.
pub fn redact_secrets<'t>(text: &'t str, secrets: &[&str], marker: &str) -> Cow<'t, str> {
    let mut known: Vec<String> = Vec::new();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        let encoded: String = byte_serialize(secret.as_bytes()).collect();
        if encoded != **secret {
            known.push(encoded);
        }
        known.push((*secret).to_owned());
    }
    known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let mut out = Cow::Borrowed(text);
    for secret in &known {
        if out.contains(secret.as_str()) {
            out = Cow::Owned(out.replace(secret.as_str(), marker));
        }
    }
    out
}
