//! Names that are written into query text (SDK-CONNECTOR-CONTROL-R901). A query has places where no parameter can stand, so a name
//! goes there only as one of these types, and becomes one only by passing its gate.

use std::fmt;

use crate::refusals;

refusals! {
    /// Why a text is no name for a query. The text is not repeated: it may be an attack, or a secret in the wrong place.
    pub enum IdentifierRefusal {
        /// Nothing there, or more than the bound of its kind.
        Length { kind: &'static str, limit: usize } => "identifier_length", CallerMistake, Never,
            "the {kind} name is empty or longer than {limit} characters", "shorten it";
        /// A character that could end the name inside a query.
        Character { kind: &'static str } => "identifier_character", CallerMistake, Never,
            "the {kind} name has a character that names do not have", "use letters of ASCII, digits and `_`, and no digit first";
    }
}

macro_rules! identifier {
    ($(#[$meta:meta])* $name:ident, $kind:literal, $limit:literal) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The longest name, in characters.
            pub const MAX_CHARACTERS: usize = $limit;

            /// Passes a text through the gate: an ASCII letter or `_`, then letters, digits and `_`.
            pub fn parse(text: &str) -> Result<Self, IdentifierRefusal> {
                if !(1..=$limit).contains(&text.chars().count()) {
                    return Err(IdentifierRefusal::Length { kind: $kind, limit: $limit });
                }
                let word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if !word || text.starts_with(|first: char| first.is_ascii_digit()) {
                    return Err(IdentifierRefusal::Character { kind: $kind });
                }
                Ok(Self(text.to_owned()))
            }

            /// The name as it was.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

identifier!(
    /// The name of a graph, a label or a property, at most 128 characters.
    GraphIdentifier, "graph", 128
);
identifier!(
    /// The name of a table, a column or a schema, at most 63 characters: what PostgreSQL keeps of a name.
    SqlIdentifier, "SQL", 63
);

impl SqlIdentifier {
    /// The name in double quotes, as standard SQL writes it: reserved words and capitals stay what they are.
    pub fn quoted(&self) -> String {
        format!("\"{}\"", self.0)
    }

    /// The name in back quotes, as MariaDB and MySQL write it.
    pub fn back_quoted(&self) -> String {
        format!("`{}`", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::refusal::Refusal as _;

    /// Proves: SDK-CONNECTOR-CONTROL-R901.1, SDK-CONNECTOR-CONTROL-R901.2
    #[test]
    fn a_name_comes_out_quoted_and_bounds_count_characters() {
        let name = SqlIdentifier::parse("Order_2").unwrap();
        assert_eq!((name.quoted().as_str(), name.back_quoted().as_str()), ("\"Order_2\"", "`Order_2`"));
        assert_eq!(SqlIdentifier::parse("select").unwrap().quoted(), "\"select\"");
        assert!(SqlIdentifier::parse(&"a".repeat(63)).is_ok());
        let long = SqlIdentifier::parse(&"a".repeat(64)).unwrap_err();
        assert_eq!(long.to_string(), "the SQL name is empty or longer than 63 characters");
        assert!(GraphIdentifier::parse(&"a".repeat(128)).is_ok() && GraphIdentifier::parse(&"a".repeat(129)).is_err());
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R901.4, SDK-CONNECTOR-CONTROL-R901.5
    #[test]
    fn hostile_names_are_refused_without_an_echo() {
        for hostile in [
            "",
            " ",
            "1a",
            "a b",
            "a\"; DROP TABLE users; --",
            "a`b",
            "a'b",
            "a\\",
            "a;b",
            "a\n",
            "a\0",
            "a-b",
            "a.b",
            "ä",
            "a\u{202e}b",
            "a/*",
            "{x}",
            "<iri>",
            "ａ",
            "a\u{301}",
            "hunter2!",
        ] {
            for refusal in [SqlIdentifier::parse(hostile).unwrap_err(), GraphIdentifier::parse(hostile).unwrap_err()] {
                let code = if hostile.is_empty() { "identifier_length" } else { "identifier_character" };
                assert_eq!(refusal.code(), code, "{hostile:?}");
                let shown = format!("{refusal} {refusal:?} {}", refusal.next_step());
                assert!(hostile.trim().len() < 3 || !shown.contains(hostile), "{shown}");
            }
        }
    }

    proptest! {
        /// Proves: SDK-CONNECTOR-CONTROL-R901.4
        #[test]
        fn what_passes_cannot_leave_its_quotes(text in any::<String>()) {
            if let Ok(name) = SqlIdentifier::parse(&text) {
                prop_assert_eq!(name.quoted().matches('"').count(), 2);
                prop_assert_eq!(name.back_quoted().matches('`').count(), 2);
                prop_assert_eq!(name.as_str(), text.as_str());
            }
        }
    }
}
