//! Parameters: one declaration gives both the input schema and the check of a call.

use scion_domain::json::{Json, JsonObject};
use scion_domain::surface::ArgumentRefusal;

/// The longest text argument unless [`Param::up_to`] says otherwise, in characters.
const DEFAULT_TEXT_LIMIT: usize = 65_536;

/// One parameter of a tool.
#[derive(Clone, Debug)]
pub struct Param {
    name: String,
    description: String,
    kind: Kind,
    presence: Presence,
}

#[derive(Clone, Debug)]
enum Kind {
    Text { limit: usize },
    Integer { minimum: i64, maximum: i64 },
    Flag,
}

#[derive(Clone, Debug)]
enum Presence {
    Required,
    Optional,
    Default(Json),
}

impl Param {
    /// A required text of at most 65,536 characters.
    pub fn text(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self::of(name, description, Kind::Text { limit: DEFAULT_TEXT_LIMIT })
    }

    /// A required integer of 64 bits.
    pub fn integer(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self::of(name, description, Kind::Integer { minimum: i64::MIN, maximum: i64::MAX })
    }

    /// A required `true` or `false`.
    pub fn flag(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self::of(name, description, Kind::Flag)
    }

    fn of(name: impl Into<String>, description: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), description: description.into(), kind, presence: Presence::Required }
    }

    /// Bounds an integer, both ends included. Without effect on other kinds.
    #[must_use]
    pub fn between(mut self, at_least: i64, at_most: i64) -> Self {
        if let Kind::Integer { minimum, maximum } = &mut self.kind {
            (*minimum, *maximum) = (at_least, at_most);
        }
        self
    }

    /// Bounds a text, in characters. Without effect on other kinds.
    #[must_use]
    pub fn up_to(mut self, characters: usize) -> Self {
        if let Kind::Text { limit } = &mut self.kind {
            *limit = characters;
        }
        self
    }

    /// The value when the caller is silent.
    #[must_use]
    pub fn or(mut self, default: impl Into<Json>) -> Self {
        self.presence = Presence::Default(default.into());
        self
    }

    /// The caller may be silent, and the handler sees that.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.presence = Presence::Optional;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> JsonObject {
        let mut schema = JsonObject::from([("description".to_owned(), Json::from(self.description.as_str()))]);
        let mut set = |key: &str, value: Json| {
            schema.insert(key.to_owned(), value);
        };
        match &self.kind {
            Kind::Text { limit } => {
                set("type", "string".into());
                set("maxLength", Json::from(*limit as u64));
            }
            Kind::Integer { minimum, maximum } => {
                set("type", "integer".into());
                if *minimum != i64::MIN {
                    set("minimum", Json::from(*minimum));
                }
                if *maximum != i64::MAX {
                    set("maximum", Json::from(*maximum));
                }
            }
            Kind::Flag => set("type", "boolean".into()),
        }
        if let Presence::Default(value) = &self.presence {
            set("default", value.clone());
        }
        schema
    }

    /// The value to hand to the tool; `None` when the parameter is optional and the caller is silent. `null` is silence.
    pub(crate) fn check(&self, given: Option<&Json>) -> Result<Option<Json>, ArgumentRefusal> {
        let name = || self.name.clone();
        let Some(value) = given.filter(|value| !value.is_null()) else {
            return match &self.presence {
                Presence::Required => Err(ArgumentRefusal::Missing { name: name() }),
                Presence::Optional => Ok(None),
                Presence::Default(value) => Ok(Some(value.clone())),
            };
        };
        match (&self.kind, value) {
            (Kind::Text { limit }, Json::String(text)) if text.chars().count() > *limit => {
                Err(ArgumentRefusal::TooLong { name: name(), limit: *limit })
            }
            (Kind::Text { .. }, Json::String(_)) | (Kind::Flag, Json::Bool(_)) => Ok(Some(value.clone())),
            (Kind::Integer { minimum, maximum }, Json::Number(number)) => match number.as_i64() {
                Some(whole) if (*minimum..=*maximum).contains(&whole) => Ok(Some(Json::from(whole))),
                None if !number.is_integer() => {
                    Err(ArgumentRefusal::WrongType { name: name(), expected: "a whole number" })
                }
                _ => Err(ArgumentRefusal::OutOfRange { name: name(), minimum: *minimum, maximum: *maximum }),
            },
            (Kind::Text { .. }, _) => Err(ArgumentRefusal::WrongType { name: name(), expected: "text" }),
            (Kind::Integer { .. }, _) => Err(ArgumentRefusal::WrongType { name: name(), expected: "a whole number" }),
            (Kind::Flag, _) => Err(ArgumentRefusal::WrongType { name: name(), expected: "true or false" }),
        }
    }
}

/// The closed input schema of a list of parameters.
pub(crate) fn input_schema(params: &[Param]) -> JsonObject {
    let properties: JsonObject =
        params.iter().map(|param| (param.name.clone(), Json::Object(param.schema()))).collect();
    let required: Vec<Json> = params
        .iter()
        .filter(|param| matches!(param.presence, Presence::Required))
        .map(|param| Json::from(param.name.as_str()))
        .collect();
    let mut schema = JsonObject::from([
        ("type".to_owned(), "object".into()),
        ("additionalProperties".to_owned(), false.into()),
        ("properties".to_owned(), properties.into()),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use scion_domain::refusal::Refusal as _;

    #[test]
    fn a_parameter_checks_what_its_schema_says() {
        let page = Param::integer("page", "which").between(1, 9).or(1);
        assert_eq!(page.check(None), Ok(Some(Json::from(1_i64))));
        assert_eq!(page.check(Some(&Json::Null)), Ok(Some(Json::from(1_i64))));
        assert_eq!(page.check(Some(&Json::from(9_i64))), Ok(Some(Json::from(9_i64))));
        let refused = |param: &Param, text: &str| {
            param.check(Some(&scion_domain::json::parse(text).unwrap())).unwrap_err().code()
        };
        assert_eq!(refused(&page, "10"), "argument_out_of_range");
        assert_eq!(refused(&page, "0"), "argument_out_of_range");
        assert_eq!(refused(&page, "123456789012345678901234567890"), "argument_out_of_range");
        assert_eq!(refused(&page, "1.5"), "argument_wrong_type");
        assert_eq!(refused(&page, "\"2\""), "argument_wrong_type");
        let name = Param::text("name", "whose").up_to(3);
        assert_eq!(name.check(None).unwrap_err().code(), "argument_missing");
        assert_eq!(refused(&name, "\"äöüß\""), "argument_too_long");
        assert_eq!(refused(&name, "true"), "argument_wrong_type");
        let deep = Param::flag("deep", "whether").optional();
        assert_eq!(deep.check(None), Ok(None));
        assert_eq!(refused(&deep, "\"true\""), "argument_wrong_type");
    }

    #[test]
    fn the_schema_is_closed_and_names_what_is_required() {
        let schema =
            input_schema(&[Param::text("commit", "which").up_to(64), Param::flag("deep", "whether").or(false)]);
        let text = scion_domain::json::to_compact(&Json::Object(schema));
        assert_eq!(
            text,
            r#"{"additionalProperties":false,"properties":{"commit":{"description":"which","maxLength":64,"type":"string"},"deep":{"default":false,"description":"whether","type":"boolean"}},"required":["commit"],"type":"object"}"#
        );
    }
}
