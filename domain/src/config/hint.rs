//! The closest right word to a wrong one.

/// The word that was probably meant; `None` when none is close. A shortened or lengthened word counts as close.
pub fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // A word longer than any name is not a slip of the finger, and the comparison is quadratic.
    if word.len() > 128 {
        return None;
    }
    let folded = word.trim().to_lowercase();
    let score = |candidate: &str| {
        let lower = candidate.to_lowercase();
        let typed = strsim::jaro_winkler(&folded, &lower);
        let shortened = folded.len() >= 4 && (lower.starts_with(&folded) || folded.starts_with(&lower));
        if shortened { typed.max(0.95) } else { typed }
    };
    let best =
        known.into_iter().filter(|candidate| candidate.len() <= 256).map(|candidate| (score(candidate), candidate));
    best.filter(|(score, _)| *score >= 0.85).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
}

/// `did you mean …?`, or what is known here.
pub fn hint<'k>(word: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> String {
    if let Some(close) = closest(word, known.clone()) {
        return format!("did you mean `{close}`?");
    }
    let mut listed: Vec<&str> = known.into_iter().take(13).collect();
    let more = if listed.len() > 12 { ", …" } else { "" };
    listed.truncate(12);
    if listed.is_empty() { "there is none".to_owned() } else { format!("known here: {}{more}", listed.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_word_is_found_or_what_there_is_is_listed() {
        assert_eq!(hint("listNote", ["listNotes", "getNote"]), "did you mean `listNotes`?");
        assert_eq!(hint("LISTNOTES", ["getNote", "listNotes"]), "did you mean `listNotes`?");
        assert_eq!(hint("x", ["listNotes", "getNote"]), "known here: listNotes, getNote");
        assert_eq!(hint("x", []), "there is none");
        assert_eq!(closest(&"a".repeat(1000), ["a"]), None);
    }
}
