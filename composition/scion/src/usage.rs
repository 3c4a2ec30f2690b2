//! What is wrong with a command line, in one line.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// What is wrong, with the closest right word.
pub fn describe(error: &Error) -> String {
    let one = |kind| error.get(kind).and_then(words).and_then(|words| words.into_iter().next());
    let all = |kind| error.get(kind).and_then(words).unwrap_or_default();
    let close = |kind| one(kind).map_or_else(String::new, |word| format!("; did you mean `{word}`?"));
    let text = match error.kind() {
        ErrorKind::UnknownArgument => one(ContextKind::InvalidArg).map(|word| {
            let kind = if word.starts_with('-') { "option" } else { "argument" };
            format!("unknown {kind} `{word}`{}", close(ContextKind::SuggestedArg))
        }),
        ErrorKind::InvalidSubcommand => one(ContextKind::InvalidSubcommand)
            .map(|word| format!("unknown command `{word}`{}", close(ContextKind::SuggestedSubcommand))),
        ErrorKind::MissingRequiredArgument => {
            let missing = all(ContextKind::InvalidArg);
            (!missing.is_empty()).then(|| format!("missing {}", missing.join(", ")))
        }
        ErrorKind::InvalidValue => one(ContextKind::InvalidArg).map(|argument| {
            let value = one(ContextKind::InvalidValue).unwrap_or_default();
            let known = all(ContextKind::ValidValue);
            let known = if known.is_empty() { String::new() } else { format!("; known: {}", known.join(", ")) };
            if value.is_empty() {
                format!("`{argument}` needs a value{known}")
            } else {
                format!("`{value}` is not a value of `{argument}`{known}")
            }
        }),
        ErrorKind::ValueValidation => one(ContextKind::InvalidArg).map(|argument| {
            let value = one(ContextKind::InvalidValue).unwrap_or_default();
            let source = std::error::Error::source(error).map_or_else(String::new, |why| format!(": {why}"));
            format!("`{value}` is not a value of `{argument}`{source}")
        }),
        ErrorKind::ArgumentConflict => one(ContextKind::InvalidArg).map(|argument| {
            let other = one(ContextKind::PriorArg);
            if other.as_ref().is_none_or(|other| *other == argument) {
                format!("`{argument}` stands twice")
            } else {
                format!("`{argument}` and `{}` exclude each other", other.unwrap_or_default())
            }
        }),
        _ => None,
    };
    text.unwrap_or_else(|| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        line.strip_prefix("error: ").unwrap_or(line).to_owned()
    })
}

fn words(value: &ContextValue) -> Option<Vec<String>> {
    match value {
        ContextValue::String(word) => Some(vec![word.clone()]),
        ContextValue::Strings(words) => Some(words.clone()),
        ContextValue::StyledStr(text) => Some(vec![text.to_string()]),
        ContextValue::StyledStrs(texts) => Some(texts.iter().map(ToString::to_string).collect()),
        _ => None,
    }
}
