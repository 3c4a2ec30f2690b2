//! `WWW-Authenticate` (RFC 9110, section 11.6.1) with the scheme Bearer (RFC 6750, section 3; RFC 9728, section 5.1).

use std::collections::BTreeSet;

use crate::auth::AuthUrl;

/// The longest field value that is read, in bytes.
pub const MAX_CHALLENGE_BYTES: usize = 8 << 10;

/// What a server asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BearerChallenge {
    /// Where the resource's metadata is. An address that is not one of an authority is left out.
    pub resource_metadata: Option<AuthUrl>,
    /// The scopes the request needs; `None` when it does not say, or says something no scope looks like.
    pub scopes: Option<BTreeSet<String>>,
    /// Whether the token is good and its scopes are too few (`insufficient_scope`).
    pub insufficient_scope: bool,
}

/// The first Bearer challenge among the values of a response.
pub fn read_challenge<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<BearerChallenge> {
    values.into_iter().filter(|value| value.len() <= MAX_CHALLENGE_BYTES).find_map(of_value)
}

fn of_value(value: &str) -> Option<BearerChallenge> {
    let mut reader = Reader { rest: value };
    let mut found: Option<BearerChallenge> = None;
    loop {
        reader.skip(&[' ', '\t', ',']);
        if reader.rest.is_empty() {
            return found;
        }
        let word = reader.token()?;
        reader.skip(&[' ', '\t']);
        if let Some(rest) = reader.rest.strip_prefix('=').filter(|rest| !rest.starts_with('=')) {
            reader.rest = rest.trim_start_matches([' ', '\t']);
            let text = reader.value()?;
            if let Some(challenge) = &mut found {
                take(challenge, &word, &text);
            }
        } else if found.is_some() {
            // The next challenge begins: the first Bearer one is complete.
            return found;
        } else if word.eq_ignore_ascii_case("bearer") {
            found = Some(BearerChallenge::default());
        } else {
            // A scheme of another kind; a token68 behind it holds nothing for us.
            reader.skip_token68();
        }
    }
}

fn take(challenge: &mut BearerChallenge, name: &str, text: &str) {
    match name.to_ascii_lowercase().as_str() {
        "resource_metadata" => challenge.resource_metadata = AuthUrl::parse("resource_metadata", text).ok(),
        "scope" => challenge.scopes = super::scopes(text.split(' ').filter(|word| !word.is_empty())),
        "error" => challenge.insufficient_scope = text == "insufficient_scope",
        _ => {}
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self, letters: &[char]) {
        self.rest = self.rest.trim_start_matches(letters);
    }

    fn token(&mut self) -> Option<String> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
        let end = self.rest.find(|letter| !plain(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }

    fn skip_token68(&mut self) {
        let end = self.rest.find(',').unwrap_or(self.rest.len());
        let candidate = self.rest.get(..end).unwrap_or_default().trim();
        let body = candidate.trim_end_matches('=');
        if !body.is_empty() && body.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._~+/".contains(letter)) {
            self.rest = self.rest.get(end..).unwrap_or_default();
        }
    }

    /// A token or a quoted string.
    fn value(&mut self) -> Option<String> {
        let Some(quoted) = self.rest.strip_prefix('"') else { return self.token() };
        let mut text = String::new();
        let mut letters = quoted.char_indices();
        while let Some((index, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = quoted.get(index + 1..).unwrap_or_default();
                    return Some(text);
                }
                '\\' => text.push(letters.next()?.1),
                letter => text.push(letter),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(value: &str) -> Option<BearerChallenge> {
        read_challenge([value])
    }

    #[test]
    fn the_parameters_of_a_bearer_challenge() {
        let found = read(
            r#"Bearer error="insufficient_scope", scope="files:read files:write", resource_metadata="https://mcp.example/.well-known/x", error_description="no, \"really\"""#,
        )
        .unwrap();
        assert!(found.insufficient_scope);
        assert_eq!(found.scopes.unwrap().into_iter().collect::<Vec<_>>(), ["files:read", "files:write"]);
        assert_eq!(found.resource_metadata.unwrap().as_text(), "https://mcp.example/.well-known/x");
    }

    #[test]
    fn it_is_found_among_other_schemes() {
        for value in [
            r#"Basic realm="a, b", Bearer scope=x"#,
            r#"Negotiate dG9rZW4=, bearer scope="x""#,
            r#"Negotiate, Bearer scope = "x", Digest scope="y""#,
            r#", ,Bearer scope="x""#,
        ] {
            let scopes = read(value).unwrap_or_else(|| panic!("{value}")).scopes;
            assert_eq!(scopes.unwrap().into_iter().collect::<Vec<_>>(), ["x"], "{value}");
        }
        assert_eq!(read_challenge(["Basic realm=\"a\"", "Bearer"]), Some(BearerChallenge::default()));
    }

    #[test]
    fn what_is_none_gives_none() {
        for value in ["", "Basic realm=\"Bearer scope=x\"", "Bearer scope=\"x", "Bearer scope=\"x\\"] {
            assert_eq!(read(value), None, "{value}");
        }
        assert_eq!(read(&format!("Bearer a=\"{}\"", "x".repeat(MAX_CHALLENGE_BYTES))), None);
        let plain = read("Bearer resource_metadata=\"http://mcp.example/x\", scope=\"a\u{7}\"").unwrap();
        assert_eq!(plain, BearerChallenge::default(), "an address without TLS and a scope that is none are left out");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in ".{0,200}") {
            let _ = read(&text);
            let _ = read(&format!("Bearer {text}"));
        }
    }
}
