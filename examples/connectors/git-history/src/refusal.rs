//! Everything this connector says no to.

use scion::domain::refusals;

refusals! {
    /// Why the history is not served.
    pub enum GitRefusal {
        /// A word on the command line that means nothing.
        UnknownArgument { word: String } => "unknown_argument", CallerMistake, Never,
            "`{word}` is not an argument of this command, or was given twice", "run with --help to see the arguments";
        /// `--repo` without a path.
        NoPath => "argument_without_path", CallerMistake, Never,
            "--repo needs a path", "write --repo PATH";
        /// There is no repository at or above the path.
        NotARepository { path: String } => "not_a_repository", CallerMistake, Never,
            "there is no git repository at or above {path}", "name a folder inside a repository with --repo PATH";
        /// A commit id is not one.
        NotACommitId => "not_a_commit_id", CallerMistake, Never,
            "the commit is not named by a full commit id", "use the `id` of a record of git_list_commits";
        /// The repository does not hold the commit.
        UnknownCommit => "unknown_commit", CallerMistake, Never,
            "the repository does not hold that commit", "use the `id` of a record of git_list_commits";
        /// The repository cannot be read.
        Unreadable { what: &'static str } => "repository_unreadable", Unavailable, Later,
            "the repository's {what} cannot be read", "run `git fsck` in the repository and see what it says";
    }
}
