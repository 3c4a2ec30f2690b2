//! What settings can be refused for.

use std::fmt;

use crate::refusal::Refusal as _;
use crate::refusals;

refusals! {
    /// Why a setting is refused. Variables are named; values never are.
    pub enum SettingRefusal {
        /// Not one of the known words.
        UnknownWord { variable: &'static str, known: &'static str } => "setting_unknown_word", CallerMistake, Never,
            "{variable} is not one of {known}", "use one of them";
        /// Not a boolean.
        NotBoolean { variable: &'static str } => "setting_not_boolean", CallerMistake, Never,
            "{variable} is not a boolean", "write true or false";
        /// Not a number in range.
        OutOfRange { variable: &'static str, low: u64, high: u64 } => "setting_out_of_range", CallerMistake, Never,
            "{variable} is not a whole number from {low} to {high}", "choose a value in that range";
        /// A literal where a reference belongs.
        NotAReference { variable: &'static str } => "setting_not_a_reference", CallerMistake, Never,
            "{variable} holds no secret reference", "write env://NAME or openbao://MOUNT/PATH#FIELD; if a secret stood here, rotate it";
        /// Something is needed because of something else.
        Needs { variable: &'static str, needs: &'static str } => "setting_needs", CallerMistake, Never,
            "{variable} also needs {needs}", "set both or neither";
        /// Two settings exclude each other.
        Excludes { variable: &'static str, other: &'static str } => "setting_excludes", CallerMistake, Never,
            "{variable} and {other} exclude each other", "keep one of the two";
        /// Other machines can reach the listener.
        Exposed { needs: &'static str } => "setting_exposed", Denied, Never,
            "HOST can be reached from other machines, which needs {needs}", "set it, or listen on 127.0.0.1";
    }
}

refusals! {
    /// Why a configuration document is refused. Keys are named; values never are.
    pub enum DocumentRefusal {
        /// Not an object.
        NotAnObject => "config_document_not_object", CallerMistake, Never,
            "a configuration document is one JSON object", "write an object of names and values";
        /// A key that is no environment name.
        BadKey => "config_document_bad_key", CallerMistake, Never,
            "a key of the configuration document is no environment name", "use letters, digits and `_`, not starting with a digit";
        /// Null, a list or an object.
        NotScalar { key: String } => "config_document_not_scalar", CallerMistake, Never,
            "`{key}` holds neither text nor number nor boolean", "write lists as text with commas";
        /// A NUL in a value.
        Nul { key: String } => "config_document_nul", CallerMistake, Never,
            "`{key}` contains NUL", "remove it";
        /// A literal where the name says secret.
        NotAReference { key: String } => "config_document_not_a_reference", CallerMistake, Never,
            "`{key}` is named like a secret and holds no reference", "write env://NAME or openbao://MOUNT/PATH#FIELD; if a secret stood here, rotate it";
    }
}

/// Everything that is wrong with one set of settings; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsProblems {
    /// The problems, in the order of the sections.
    pub problems: Vec<SettingRefusal>,
}

impl fmt::Display for SettingsProblems {
    /// One line for each problem, with its next step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line = if index > 0 { "\n" } else { "" };
            write!(f, "{line}{problem} [{}]: {}", problem.code(), problem.next_step())?;
        }
        Ok(())
    }
}

impl std::error::Error for SettingsProblems {}
