//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::refusal::GitRefusal;

/// What `--help` prints.
pub const HELP: &str = "\
git-history serves the history of a git repository over MCP (standard input and output).

Usage: git-history [--repo PATH]

  --repo PATH   the repository, or a folder inside it (default: the current folder)
  --version     print the version
  --help        print this text

It only reads. Tools: git_list_commits, git_list_authors, git_list_commit_files, git_list_tags.
The resource connector://resources declares what a sync runner may copy.
";

/// What the caller wants.
#[derive(Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Serve the repository at or above this folder.
    Serve {
        /// The folder.
        repository: PathBuf,
    },
    /// Print the help text.
    Help,
    /// Print the version.
    Version,
}

impl Arguments {
    /// Reads the words after the program name. An unknown word is refused, never ignored.
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, GitRefusal> {
        let mut repository = None;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--help" | "-h") => return Ok(Self::Help),
                Some("--version" | "-V") => return Ok(Self::Version),
                Some("--repo") if repository.is_none() => {
                    repository = Some(PathBuf::from(words.next().ok_or(GitRefusal::NoPath)?));
                }
                Some(text) if repository.is_none() && text.starts_with("--repo=") => {
                    repository = Some(PathBuf::from(&text["--repo=".len()..]));
                }
                _ => return Err(GitRefusal::UnknownArgument { word: word.to_string_lossy().into_owned() }),
            }
        }
        Ok(Self::Serve { repository: repository.unwrap_or_else(|| PathBuf::from(".")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Arguments, GitRefusal> {
        Arguments::parse(words.iter().map(OsString::from))
    }

    #[test]
    fn words_are_read_or_refused() {
        assert_eq!(parse(&[]), Ok(Arguments::Serve { repository: ".".into() }));
        assert_eq!(parse(&["--repo", "x"]), Ok(Arguments::Serve { repository: "x".into() }));
        assert_eq!(parse(&["--repo=x"]), Ok(Arguments::Serve { repository: "x".into() }));
        assert_eq!(parse(&["--help"]), Ok(Arguments::Help));
        assert_eq!(parse(&["--repo"]), Err(GitRefusal::NoPath));
        assert!(matches!(parse(&["--rep", "x"]), Err(GitRefusal::UnknownArgument { .. })));
        assert!(matches!(parse(&["--repo", "x", "--repo", "y"]), Err(GitRefusal::UnknownArgument { .. })));
    }
}
