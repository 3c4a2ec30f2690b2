use scion_domain::json::{Json, JsonObject};
use scion_domain::surface::ArgumentRefusal;
use scion_domain::tool_surface::InputField;

use super::{ToolInput, check, schema, typed};

/// One argument of an operation, with the schema that its type and its author give it.
#[derive(Clone, Debug)]
pub struct Argument {
    name: String,
    schema: Json,
    optional: bool,
    default: Option<Json>,
}

/// An argument that is being described.
#[derive(Clone, Debug)]
#[must_use = "finish it with `build`"]
pub struct ArgumentBuilder {
    name: String,
    raw: Json,
    description: Option<String>,
    default: Option<Json>,
}

impl Argument {
    /// An argument of the type `T`. It is optional when `T` takes `null`.
    pub fn of<T: ToolInput>(name: &str) -> ArgumentBuilder {
        ArgumentBuilder { name: name.to_owned(), raw: schema::raw_input::<T>(), description: None, default: None }
    }

    /// As the input schema of the tool shows it.
    pub fn field(&self) -> InputField {
        match &self.default {
            Some(default) => InputField::optional(&self.name, self.schema.clone(), default.clone()),
            None if self.optional => InputField::optional(&self.name, self.schema.clone(), Json::Null),
            None => InputField::required(&self.name, self.schema.clone()),
        }
    }

    /// Takes the argument out of those of a call, checked against its schema. Silence gives the default, or `None`.
    pub fn read<T: ToolInput>(&self, given: &mut JsonObject) -> Result<T, ArgumentRefusal> {
        let value = match (given.remove(&self.name).filter(|value| !value.is_null()), &self.default) {
            (Some(value), _) => check::check(&self.schema, value, &self.name)?,
            (None, Some(default)) => default.clone(),
            (None, None) if self.optional => Json::Null,
            (None, None) => return Err(ArgumentRefusal::Missing { name: self.name.clone() }),
        };
        let expected = check::expected(&self.schema);
        typed(value).ok_or_else(|| ArgumentRefusal::WrongType { name: self.name.clone(), expected })
    }
}

impl ArgumentBuilder {
    /// What it is, for people and models.
    pub fn describe(mut self, text: &str) -> Self {
        self.description = Some(text.to_owned());
        self
    }

    /// The value when the caller is silent; it may be.
    pub fn or(mut self, default: impl Into<Json>) -> Self {
        self.default = Some(default.into());
        self
    }

    /// The least value of a number.
    pub fn min(self, least: i64) -> Self {
        self.set("minimum", least.into())
    }

    /// The largest value of a number.
    pub fn max(self, most: i64) -> Self {
        self.set("maximum", most.into())
    }

    /// The most characters of a text.
    pub fn max_length(self, characters: u64) -> Self {
        self.set("maxLength", characters.into())
    }

    fn set(mut self, key: &str, value: Json) -> Self {
        if let Json::Object(members) = &mut self.raw {
            members.insert(key.to_owned(), value);
        }
        self
    }

    /// The argument.
    pub fn build(self) -> Argument {
        let (schema, optional) = schema::finish_input(&self.raw);
        let schema = match (schema, self.description) {
            (Json::Object(mut members), Some(text)) => {
                members.insert("description".to_owned(), text.into());
                Json::Object(members)
            }
            (schema, _) => schema,
        };
        Argument { name: self.name, schema, optional, default: self.default }
    }
}
