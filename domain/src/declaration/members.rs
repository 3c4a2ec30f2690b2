//! Taking an object apart, member by member, with the place of each for refusals.

use std::collections::BTreeMap;
use std::fmt;

use super::refusal::{DeclarationRefusal, closest, shown};
use crate::json::{Json, JsonObject};

type Read<T> = Result<T, DeclarationRefusal>;

/// A place inside the document: `sources[0].edges[1].relationship`.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Place::Root, name) => f.write_str(&shown(name)),
            Self::Member(parent, name) => write!(f, "{parent}.{}", shown(name)),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl Place<'_> {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Root => "the declaration".to_owned(),
            other => other.to_string(),
        }
    }

    pub(super) fn wrong(&self, expected: &'static str, found: &Json) -> DeclarationRefusal {
        DeclarationRefusal::WrongType { path: self.text(), expected, found: found.kind() }
    }

    pub(super) fn bad(&self, rule: &'static str) -> DeclarationRefusal {
        DeclarationRefusal::BadValue { path: self.text(), rule }
    }
}

/// The value as an object.
pub(super) fn object<'a>(value: &'a Json, place: &Place<'_>) -> Read<&'a JsonObject> {
    value.as_object().ok_or_else(|| place.wrong("an object", value))
}

/// The value as a list.
pub(super) fn list<'a>(value: &'a Json, place: &Place<'_>) -> Read<&'a [Json]> {
    value.as_array().ok_or_else(|| place.wrong("a list", value))
}

/// An object whose members are read one by one.
pub(super) struct Members<'a> {
    object: &'a JsonObject,
    place: Place<'a>,
}

impl<'a> Members<'a> {
    /// Opens an object and refuses members that are not in `known`.
    pub(super) fn closed(value: &'a Json, place: Place<'a>, known: &[&str]) -> Read<Self> {
        let object = object(value, &place)?;
        Self::of(object, place).only(known)
    }

    /// Opens an object without looking at its member names.
    pub(super) fn of(object: &'a JsonObject, place: Place<'a>) -> Self {
        Self { object, place }
    }

    fn only(self, known: &[&str]) -> Read<Self> {
        match self.object.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(self),
            Some(name) => Err(DeclarationRefusal::UnknownMember {
                path: self.at(name).text(),
                hint: closest(name, known.iter().copied()),
            }),
        }
    }

    pub(super) fn at<'p>(&'p self, name: &'p str) -> Place<'p> {
        Place::Member(&self.place, name)
    }

    pub(super) fn bad(&self, name: &str, rule: &'static str) -> DeclarationRefusal {
        self.at(name).bad(rule)
    }

    /// The member, unless it is absent.
    pub(super) fn get(&self, name: &str) -> Option<&'a Json> {
        self.object.get(name)
    }

    /// The member, unless it is absent or `null`.
    pub(super) fn given(&self, name: &str) -> Option<&'a Json> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn need(&self, name: &str) -> Read<&'a Json> {
        self.get(name).ok_or_else(|| DeclarationRefusal::Missing { path: self.at(name).text() })
    }

    fn as_text(&self, name: &str, value: &'a Json) -> Read<&'a str> {
        value.as_str().ok_or_else(|| self.at(name).wrong("text", value))
    }

    /// A text that must be there; `low` to `high` characters.
    pub(super) fn text(&self, name: &str, low: usize, high: usize) -> Read<String> {
        let text = self.as_text(name, self.need(name)?)?;
        let count = text.chars().count();
        if count < low || count > high {
            let bound = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
            return Err(if high == usize::MAX {
                self.bad(name, "must not be empty")
            } else {
                DeclarationRefusal::OutOfRange {
                    path: format!("the length of {}", self.at(name).text()),
                    low: bound(low),
                    high: bound(high),
                }
            });
        }
        Ok(text.to_owned())
    }

    /// A text with a default; `null` is refused.
    pub(super) fn text_or(&self, name: &str, default: &str) -> Read<String> {
        match self.get(name) {
            None => Ok(default.to_owned()),
            Some(value) => self.as_text(name, value).map(str::to_owned),
        }
    }

    /// A text or `null`.
    pub(super) fn optional_text(&self, name: &str) -> Read<Option<String>> {
        self.given(name).map(|value| self.as_text(name, value).map(str::to_owned)).transpose()
    }

    /// A flag with a default.
    pub(super) fn flag_or(&self, name: &str, default: bool) -> Read<bool> {
        match self.get(name) {
            None => Ok(default),
            Some(value) => value.as_bool().ok_or_else(|| self.at(name).wrong("true or false", value)),
        }
    }

    /// A whole number from `low` to `high` with a default.
    pub(super) fn number_or(&self, name: &str, default: u64, low: u64, high: u64) -> Read<u64> {
        let Some(value) = self.get(name) else { return Ok(default) };
        let number = value.as_number().filter(|number| number.is_integer());
        let number = number.ok_or_else(|| self.at(name).wrong("a whole number", value))?;
        number.as_u64().filter(|count| (low..=high).contains(count)).ok_or_else(|| DeclarationRefusal::OutOfRange {
            path: self.at(name).text(),
            low,
            high,
        })
    }

    /// An object with a default of `{}`.
    pub(super) fn object_or_empty(&self, name: &str) -> Read<JsonObject> {
        self.get(name).map_or(Ok(JsonObject::new()), |value| object(value, &self.at(name)).cloned())
    }

    /// A map from text to text, `{}` when absent.
    pub(super) fn texts_by_name(&self, name: &str) -> Read<BTreeMap<String, String>> {
        let Some(value) = self.get(name) else { return Ok(BTreeMap::new()) };
        let place = self.at(name);
        object(value, &place)?
            .iter()
            .map(|(key, item)| {
                let text = item.as_str().ok_or_else(|| Place::Member(&place, key).wrong("text", item))?;
                Ok((key.clone(), text.to_owned()))
            })
            .collect()
    }

    /// A list of texts, empty when absent.
    pub(super) fn texts(&self, name: &str) -> Read<Vec<String>> {
        self.items(name, |item, place| item.as_str().map(str::to_owned).ok_or_else(|| place.wrong("text", item)))
    }

    /// A list of anything, empty when absent.
    pub(super) fn items<T>(&self, name: &str, read: impl Fn(&'a Json, Place<'_>) -> Read<T>) -> Read<Vec<T>> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let place = self.at(name);
        list(value, &place)?.iter().enumerate().map(|(index, item)| read(item, Place::Item(&place, index))).collect()
    }

    /// One of some words, the default when absent.
    pub(super) fn word_or<T: Copy>(&self, name: &str, words: &Words<T>) -> Read<T> {
        let Some(value) = self.get(name) else { return Ok(words.pairs[0].1) };
        let text = self.as_text(name, value)?;
        words.find(text).ok_or_else(|| DeclarationRefusal::UnknownWord {
            path: self.at(name).text(),
            known: words.list,
            hint: closest(text, words.pairs.iter().map(|pair| pair.0)),
        })
    }
}

/// A closed set of words; the first is the default.
pub(super) struct Words<T: 'static> {
    pub(super) list: &'static str,
    pub(super) pairs: &'static [(&'static str, T)],
}

impl<T: Copy> Words<T> {
    fn find(&self, text: &str) -> Option<T> {
        self.pairs.iter().find(|pair| pair.0 == text).map(|pair| pair.1)
    }
}

impl<T: Copy + PartialEq> Words<T> {
    /// The word of a value.
    pub(super) fn word(&self, value: T) -> &'static str {
        self.pairs.iter().find(|pair| pair.1 == value).map_or(self.pairs[0].0, |pair| pair.0)
    }
}
