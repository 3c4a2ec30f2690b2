//! `scion explain`: one row of the refusal catalogue.

use scion_domain::command::CommandRefusal;
use scion_domain::refusal::{Blame, CatalogueEntry, Retry};

use crate::commands::{Outcome, done};
use crate::output::{print, printable};

pub(crate) fn main(code: &str) -> Outcome {
    let wanted = code.trim();
    let all = || scion_domain::catalogue::all().into_iter().flatten();
    let Some(entry) = all().find(|entry| entry.code.eq_ignore_ascii_case(wanted)) else {
        let hint = match closest(wanted, all().map(|entry| entry.code)) {
            Some(code) => format!("did you mean `{code}`?"),
            None => "none is close to it".to_owned(),
        };
        return Err(CommandRefusal::UnknownCode { code: printable(wanted), hint }.into());
    };
    done(print(&text(entry)))
}

fn text(entry: &CatalogueEntry) -> String {
    let blame = match entry.blame {
        Blame::CallerMistake => "whoever configured or called it",
        Blame::PeerMisbehaved => "the other side: a server, a vendor or a store",
        Blame::Unavailable => "nobody; something needed is not there right now",
        Blame::Denied => "a policy or an authority said no",
    };
    let retry = match entry.retry {
        Retry::Never => "no, something has to change first",
        Retry::Later => "yes, later",
        Retry::AfterReadback => "only after reading what is there now",
    };
    // Placeholders of the message are field names: `{tool}` says it as well as any example would.
    format!(
        "{}\n  says:      {}\n  to change: {blame}\n  try again: {retry}\n  next:      {}\n",
        entry.code, entry.message, entry.next
    )
}

/// The closest of some words, if one is near.
fn closest<'w>(word: &str, among: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let word = word.to_ascii_lowercase();
    let near = among.map(|other| (distance(&word, &other.to_ascii_lowercase()), other));
    near.min().filter(|(distance, other)| *distance <= other.len().max(word.len()) / 3).map(|(_, other)| other)
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_word() {
        assert_eq!(distance("kitten", "sitting"), 3);
        let codes = || scion_domain::catalogue::all().into_iter().flatten().map(|entry| entry.code);
        assert_eq!(closest("not_readonly", codes()), Some("not_read_only"));
        assert_eq!(closest("zzzzzzzzzz", codes()), None);
    }

    #[test]
    fn every_code_can_be_explained() {
        for entry in scion_domain::catalogue::all().into_iter().flatten() {
            assert!(text(entry).lines().count() == 5, "{}", entry.code);
        }
    }
}
