//! The flat form of 8.8: what every reader of contracts understands, whatever Turtle parser it has.

use super::AccessContractRefusal;
use crate::turtle::{Scanner, Token, line_of};

/// Refuses Turtle beyond the flat form.
pub(super) fn check(text: &str) -> Result<(), AccessContractRefusal> {
    let mut scanner = Scanner::new(text);
    let (mut directive, mut after_semicolon, mut open, mut behind_text) = (false, false, false, false);
    loop {
        let token =
            scanner.next().map_err(|error| AccessContractRefusal::Syntax { line: line_of(text, error.offset) })?;
        let line = || line_of(text, scanner.offset());
        let form = |what| Err(AccessContractRefusal::Form { line: line(), what });
        let Some(token) = token else {
            return if open { Err(AccessContractRefusal::Syntax { line: line() }) } else { Ok(()) };
        };
        match token {
            Token::At("prefix") if !open => directive = true,
            Token::At("base") => return form("@base"),
            Token::At(_) if behind_text => return form("a language tag"),
            Token::At(_) => return Err(AccessContractRefusal::Syntax { line: line() }),
            Token::Datatype => return form("a typed literal"),
            Token::Name { prefix: "_", .. } | Token::Sign(b'[' | b']') => return form("a blank node"),
            Token::Sign(b'(' | b')') => return form("a collection"),
            Token::Sign(b';' | b'.') if after_semicolon => return form("a `;` with nothing behind it"),
            Token::Text { plain: false } => return form("a text in long or single quotes"),
            Token::Word(word) if directive || !(word == "a" || is_whole_number(word)) => {
                return form("a keyword, a truth value or a fraction");
            }
            _ => {}
        }
        after_semicolon = token == Token::Sign(b';');
        behind_text = matches!(token, Token::Text { .. });
        open = token != Token::Sign(b'.');
        directive &= open;
    }
}

fn is_whole_number(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
