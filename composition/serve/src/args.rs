//! The arguments of a call, as a handler reads them.

use scion_domain::json::{Json, JsonObject};
use scion_domain::surface::ArgumentRefusal;

/// Checked arguments: every [`Param`](crate::Param) of the tool has been held against its bounds, defaults are filled in,
/// and nothing else is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args(JsonObject);

impl Args {
    pub(crate) fn new(members: JsonObject) -> Self {
        Self(members)
    }

    /// A text. Refuses when it is not there.
    pub fn text(&self, name: &str) -> Result<&str, ArgumentRefusal> {
        self.get(name)?.as_str().ok_or_else(|| wrong(name, "text"))
    }

    /// An integer. Refuses when it is not there.
    pub fn integer(&self, name: &str) -> Result<i64, ArgumentRefusal> {
        self.get(name)?
            .as_number()
            .and_then(scion_domain::json::JsonNumber::as_i64)
            .ok_or_else(|| wrong(name, "a whole number"))
    }

    /// An integer that is a size or a position: not negative, or refused.
    pub fn count(&self, name: &str) -> Result<usize, ArgumentRefusal> {
        let value = self.integer(name)?;
        usize::try_from(value).map_err(|_| ArgumentRefusal::OutOfRange {
            name: name.to_owned(),
            minimum: 0,
            maximum: i64::MAX,
        })
    }

    /// A flag. Refuses when it is not there.
    pub fn flag(&self, name: &str) -> Result<bool, ArgumentRefusal> {
        self.get(name)?.as_bool().ok_or_else(|| wrong(name, "true or false"))
    }

    /// A text that may be absent.
    pub fn optional_text(&self, name: &str) -> Result<Option<&str>, ArgumentRefusal> {
        self.0.get(name).map(|_| self.text(name)).transpose()
    }

    /// An integer that may be absent.
    pub fn optional_integer(&self, name: &str) -> Result<Option<i64>, ArgumentRefusal> {
        self.0.get(name).map(|_| self.integer(name)).transpose()
    }

    /// The arguments as they are.
    pub const fn members(&self) -> &JsonObject {
        &self.0
    }

    /// The arguments as they are, for a tool with a schema of its own.
    pub fn into_object(self) -> JsonObject {
        self.0
    }

    fn get(&self, name: &str) -> Result<&Json, ArgumentRefusal> {
        self.0.get(name).ok_or_else(|| ArgumentRefusal::Missing { name: name.to_owned() })
    }
}

fn wrong(name: &str, expected: &'static str) -> ArgumentRefusal {
    ArgumentRefusal::WrongType { name: name.to_owned(), expected }
}
