//! The command a person may type next.

use std::path::Path;

/// Counts records by class.
const QUERY: &str =
    "SELECT ?class (COUNT(?record) AS ?records) WHERE { ?record a ?class } GROUP BY ?class ORDER BY DESC(?records)";

/// A `scion query` over what was just synchronised that works as printed; `None` when a path is not text, or nothing was kept.
pub(super) fn next_query(given: Option<&Path>, state_dir: &Path, sink: &str) -> Option<String> {
    if sink == scion::sink::EPHEMERAL {
        return None;
    }
    let mut command = program()?;
    command.push_str(" query");
    if given.is_some() {
        command.push_str(" --state-dir ");
        command.push_str(&quoted(state_dir.to_str()?));
    }
    if sink != "embedded" {
        command.push_str(" --sink ");
        command.push_str(&quoted(sink));
    }
    command.push(' ');
    command.push_str(&quoted(QUERY));
    Some(command)
}

/// `scion`, with its directory when this program was started with one.
fn program() -> Option<String> {
    let started_as = std::env::args_os().next()?;
    if Path::new(&started_as).components().count() < 2 {
        return Some("scion".to_owned());
    }
    let path = std::env::current_exe().ok()?.with_file_name("scion");
    Some(quoted(path.to_str()?))
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(quoted("/a b"), "'/a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn the_directory_is_named_when_it_was_given() {
        let given = next_query(Some(Path::new("x")), Path::new("/s/x"), "embedded").unwrap();
        assert!(given.contains(" query --state-dir /s/x 'SELECT"), "{given}");
        let silent = next_query(None, Path::new("/s/x"), "embedded").unwrap();
        assert!(silent.contains(" query 'SELECT"), "{silent}");
    }
}
