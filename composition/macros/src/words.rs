//! Words an author may have meant.

/// The refusal of a word, with the closest right one.
pub(crate) fn unknown(what: &str, given: &str, known: &[&str]) -> String {
    let close = known.iter().map(|word| (distance(given, word), *word)).min().filter(|(away, _)| *away <= 2);
    match close {
        Some((_, word)) => format!("unknown {what} `{given}`; did you mean `{word}`?"),
        None => format!("unknown {what} `{given}`; known: {}", known.join(", ")),
    }
}

/// Insertions, deletions and replacements from one word to another.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.chars().enumerate() {
        let mut before = row[0];
        row[0] = at + 1;
        for (index, other) in to.iter().enumerate() {
            let replaced = before + usize::from(letter != *other);
            before = row[index + 1];
            row[index + 1] = replaced.min(before + 1).min(row[index] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn the_closest_word_is_named() {
        assert_eq!(unknown("key", "gte", &["get", "post"]), "unknown key `gte`; did you mean `get`?");
        assert_eq!(unknown("key", "colour", &["get", "post"]), "unknown key `colour`; known: get, post");
    }
}
