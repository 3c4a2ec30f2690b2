//! The patterns, in the order in which they run. All are linear in the length of the text.

use std::sync::LazyLock;

use regex::Regex;

use super::report::{Finding, GuardReport};
use super::summary::Summary;

/// A pattern and the conditions the regular expression cannot state.
pub(super) struct Pattern {
    pub(super) finding: Finding,
    regex: Regex,
    /// Whether the text can match at all.
    possible: fn(&Summary, &str) -> bool,
    /// Whether a match counts: text before it, the match, text after it.
    accept: fn(&str, &str, &str) -> bool,
    /// Whether a match that does not count can hide none that does, so that the search goes on behind it. Without this
    /// the match is of bounded length.
    skip_whole: bool,
}

/// All patterns, in order.
pub(super) static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    // Word boundaries are ASCII ones: Unicode ones make the automaton fall back to a slow engine. Paths end at the very
    // characters behind which one may start, so that a rejected match can be skipped whole.
    const BODY: &str = r#"[^\s"'`()<>\[\]{},;|=:]"#;
    let always: fn(&str, &str, &str) -> bool = |_, _, _| true;
    let bounded = |finding, regex: &str, possible, accept| Pattern {
        finding,
        regex: compile(regex),
        possible,
        accept,
        skip_whole: false,
    };
    let path = |finding, regex: &str, possible, accept| Pattern {
        finding,
        regex: compile(&regex.replace("BODY", BODY)),
        possible,
        accept,
        skip_whole: true,
    };
    vec![
        bounded(Finding::Ssn, r"(?-u:\b)[0-9]{3}-[0-9]{2}-[0-9]{4}(?-u:\b)", |s, _| s.number(9), always),
        bounded(Finding::TaxId, r"(?-u:\b)[0-9]{2}-[0-9]{7}(?-u:\b)", |s, _| s.number(9), always),
        bounded(Finding::CreditCard, r"(?-u:\b)(?:[0-9]{4}[- ]?){3}[0-9]{4}(?-u:\b)", |s, _| s.number(16), always),
        path(Finding::Email, r"[\w.%+\-]+@[\w.\-]+\.[^\W\d_]{2,}", |s, _| s.mail(), always),
        path(Finding::ApiToken, API_TOKEN, |s, _| s.token(), always),
        path(
            Finding::BearerToken,
            r"(?-u:\b)(?:[Bb]earer|BEARER)\s+[A-Za-z0-9._~+/\-]{8,}=*",
            |s, text| s.bearer() && (text.contains("earer") || text.contains("EARER")),
            always,
        ),
        bounded(
            Finding::Phone,
            r"(?:\+?1[-. ]?)?(?:\([0-9]{3}\)|[0-9]{3})[-. ]?[0-9]{3}[-. ]?[0-9]{4}",
            |s, _| s.number(10),
            |before, _, after| apart(before, after, &['.', '-'], |c| c.is_ascii_digit()),
        ),
        path(
            Finding::WindowsUserPath,
            r"(?-u:\b)[A-Za-z]:[\\/]+(?:[Uu]sers|USERS)[\\/]+BODY+",
            |s, _| s.drive(),
            always,
        ),
        path(Finding::WindowsAbsolutePath, r"(?-u:\b)[A-Za-z]:\\+BODY+", |s, _| s.drive(), always),
        path(Finding::PosixUserPath, r"/(?:home|Users)/BODY+", |s, _| s.slash(), starts_path),
        path(
            Finding::PosixLocalPath,
            r"/(?:mnt|srv|media|opt|root|tmp|var|private|Volumes|workspace)/BODY+",
            |s, _| s.slash(),
            starts_path,
        ),
        path(
            Finding::FileUri,
            r#"(?-u:\b)(?:file|FILE|File)://[^\s"'<>]+"#,
            |s, text| s.slash() && (text.contains("ile://") || text.contains("ILE://")),
            always,
        ),
        bounded(
            Finding::Ipv4,
            r"(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])",
            |s, _| s.ipv4(),
            |before, _, after| apart(before, after, &['.'], |c| c.is_ascii_digit()),
        ),
        bounded(
            Finding::MacAddress,
            r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}",
            |s, _| s.mac(),
            |before, _, after| apart(before, after, &[':', '-'], |c| c.is_ascii_hexdigit()),
        ),
        bounded(
            Finding::Iban,
            r"(?-u:\b)[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?-u:\b)",
            |s, _| s.account(),
            // Words of four capitals look like a spaced account number; a check number tells them apart.
            |_, found, _| !found.contains(' ') || iban_checks(found),
        ),
    ]
});

const API_TOKEN: &str = concat!(
    r"(?-u:\b)(?:sk-[A-Za-z0-9_\-]{16,}",
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"|gh[pousr]_[A-Za-z0-9]{16,}",
    r"|github_pat_[A-Za-z0-9_]{16,}",
    r"|glpat-[A-Za-z0-9_\-]{10,}",
    r"|xox[abeoprs]-[A-Za-z0-9\-]{10,}",
    r"|AKIA[0-9A-Z]{16}",
    r"|AIza[0-9A-Za-z_\-]{30,}",
    r"|eyJ[A-Za-z0-9_\-]{11,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*)",
);

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns of this file are valid, a test compiles them all")
}

/// Whether a match touches neither a word nor, over one of the joints, more of its own kind.
fn apart(before: &str, after: &str, joints: &[char], more: fn(char) -> bool) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let joined = |mut outward: [Option<char>; 2]| match outward[0].take() {
        Some(c) if word(c) => true,
        Some(c) if joints.contains(&c) => outward[1].is_some_and(more),
        _ => false,
    };
    let (mut back, mut on) = (before.chars().rev(), after.chars());
    !joined([back.next(), back.next()]) && !joined([on.next(), on.next()])
}

/// Whether a path can start here: not inside a word, a URL or another path.
fn starts_path(before: &str, _: &str, _: &str) -> bool {
    before.chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'`()<>[]{},;|=:".contains(c))
}

/// The check of ISO 13616: the number, its first four characters moved to the end and letters read as 10 to 35, leaves 1
/// when divided by 97.
fn iban_checks(found: &str) -> bool {
    let compact: Vec<u8> = found.bytes().filter(|byte| *byte != b' ').collect();
    if compact.len() < 15 {
        return false;
    }
    let rest = compact.iter().cycle().skip(4).take(compact.len()).fold(0u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    rest == 1
}

/// One run of the patterns over a text, each over what the ones before it left; `None` when nothing was found.
pub(super) fn replace_all(text: &str, wanted: fn(Finding) -> bool, report: &mut GuardReport) -> Option<String> {
    let mut summary = Summary::of(text);
    let mut clean: Option<String> = None;
    for pattern in PATTERNS.iter().filter(|pattern| wanted(pattern.finding)) {
        if let Some((replaced, count)) = pattern.replace(clean.as_deref().unwrap_or(text), &summary) {
            report.note(pattern.finding, count);
            summary = Summary::of(&replaced);
            clean = Some(replaced);
        }
    }
    clean
}

impl Pattern {
    /// The text with every match replaced, and how many there were; `None` when there is none.
    pub(super) fn replace(&self, text: &str, summary: &Summary) -> Option<(String, usize)> {
        if !(self.possible)(summary, text) {
            return None;
        }
        let (mut out, mut copied, mut count, mut from) = (String::new(), 0, 0, 0);
        while let Some(found) = self.regex.find_at(text, from) {
            if (self.accept)(&text[..found.start()], found.as_str(), &text[found.end()..]) {
                out.push_str(&text[copied..found.start()]);
                out.push_str(self.finding.marker());
                copied = found.end();
                count += 1;
                from = found.end();
            } else if self.skip_whole {
                from = found.end();
            } else {
                // Every bounded pattern starts with an ASCII character.
                from = found.start() + 1;
            }
        }
        if count == 0 {
            return None;
        }
        out.push_str(&text[copied..]);
        Some((out, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_run_in_the_order_of_the_vectors() {
        let text = include_str!("../../../conformance/vectors/redaction.json");
        let vectors = crate::json::parse(text).unwrap();
        let order: Vec<&str> = vectors
            .get("guard_pattern_order")
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|l| l.as_str().unwrap())
            .collect();
        let ours: Vec<&str> = PATTERNS.iter().map(|pattern| pattern.finding.label()).collect();
        assert_eq!(ours, order);
    }

    #[test]
    fn account_numbers_with_blanks_need_their_check_number() {
        assert!(iban_checks("GB29 NWBK 6016 1331 9268 19"));
        assert!(!iban_checks("GB28 NWBK 6016 1331 9268 19"));
        assert!(!iban_checks("US10 YEAR BOND RATE"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

        /// The cheap pass may only rule out what no pattern finds.
        #[test]
        fn no_match_is_ruled_out(text in MATCHES, around in "[ -~é]{0,3}") {
            let text = format!("{around}{text}{around}");
            let summary = Summary::of(&text);
            for pattern in PATTERNS.iter().filter(|pattern| pattern.regex.is_match(&text)) {
                proptest::prop_assert!((pattern.possible)(&summary, &text), "{:?} in {text}", pattern.finding);
            }
        }
    }

    /// What the patterns match, in all spellings.
    const MATCHES: &str = concat!(
        r"([0-9]{3}-[0-9]{2}-[0-9]{4}|[0-9]{2}-[0-9]{7}|([0-9]{4}[- ]?){3}[0-9]{4}|[a-zé.]{1,3}@[a-z-]{1,3}\.[a-z]{2,3}",
        r"|sk-[A-Za-z0-9_-]{16}|ghp_[A-Za-z0-9]{16}|glpat-[a-z]{10}|xoxb-[0-9]{10}|AKIA[0-9A-Z]{16}|AKIA[A-Z]{16}|eyJ[a-z]{11}\.eyJ[a-z]{8}\.|(B|b)earer +[a-z]{8}",
        r"|(\+?1[-. ]?)?(\([0-9]{3}\)|[0-9]{3})[-. ]?[0-9]{3}[-. ]?[0-9]{4}|[A-Za-z]:[/\\]{1,2}[Uu]sers[/\\][a-z]{1,3}",
        r"|[A-Za-z]:\\{1,2}[a-z]{1,3}|/(home|Users|mnt|var)/[a-z]|(file|FILE|File)://[a-z/]{1,3}|([0-9]{1,3}\.){3}[0-9]{1,3}",
        r"|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?)"
    );

    #[test]
    fn hostile_texts_take_linear_time() {
        // Not a timing assertion: with a quadratic search this would not end within the test run.
        let unit = ["/home/a", "1.2.3.4.", "aa:", "a@", "555-", "sk-", "C:\\", "(555)", "DE89 "];
        for piece in unit {
            let text = piece.repeat(200_000 / piece.len());
            let summary = Summary::of(&text);
            for pattern in PATTERNS.iter() {
                let _ = pattern.replace(&text, &summary);
            }
            let inside = format!("x{text}");
            for pattern in PATTERNS.iter() {
                let _ = pattern.replace(&inside, &summary);
            }
        }
    }
}
