//! Texts of a document as they are shown.

/// At most so many characters, blanks drawn together, without control characters.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut chars = 0;
    let mut blank = false;
    // Four bytes a character, so that a text of megabytes is not walked through to its end.
    for c in text.chars().take(limit * 4) {
        if c.is_whitespace() || c.is_control() {
            blank = !out.is_empty();
            continue;
        }
        if chars + usize::from(blank) >= limit {
            out.push('…');
            return out;
        }
        if blank {
            out.push(' ');
            chars += 1;
            blank = false;
        }
        out.push(c);
        chars += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn texts_are_drawn_together_and_cut_between_characters() {
        assert_eq!(shortened("  a\n\tb\u{7} c ", 10), "a b c");
        assert_eq!(shortened("ééééé", 3), "ééé…");
        assert_eq!(shortened("abc", 3), "abc");
    }
}
