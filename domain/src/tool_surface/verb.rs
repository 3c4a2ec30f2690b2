//! The HTTP method behind an operation.

use super::ToolSurfaceRefusal;

/// An HTTP method that operations use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names of RFC 9110 section 9.3 and RFC 5789")]
pub enum Verb {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    /// Reads a method in any case; `None` for every other word.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_uppercase().as_str() {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            _ => return None,
        })
    }

    /// The method as it is sent.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// The method of a description: the first line that begins with `VERB /path`.
    fn of_text(text: &str) -> Option<Self> {
        text.lines().find_map(|line| {
            let (word, rest) = line.trim_start().split_once(char::is_whitespace)?;
            let written_large = word.bytes().all(|byte| byte.is_ascii_uppercase());
            (written_large && rest.trim_start().starts_with('/')).then(|| Self::parse(word)).flatten()
        })
    }
}

/// The method of an operation, from the first place that names one: the manifest's `http`, the declaration, a line of the
/// description that begins with `VERB /path`, or the only method the operation sends.
///
/// A blank `http` says nothing. A word that is no method is refused: guessing there would decide whether a call is asked
/// about.
pub fn detect_verb(
    operation: &str,
    manifest: Option<&str>,
    declared: Option<Verb>,
    description: &str,
    sent: &[Verb],
) -> Result<Option<Verb>, ToolSurfaceRefusal> {
    if let Some(word) = manifest.map(str::trim).filter(|word| !word.is_empty()) {
        return match Verb::parse(word) {
            Some(verb) => Ok(Some(verb)),
            None => Err(ToolSurfaceRefusal::UnknownVerb { operation: operation.to_owned() }),
        };
    }
    Ok(declared.or_else(|| Verb::of_text(description)).or_else(|| match sent {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => Some(*first),
        _ => None,
    }))
}
