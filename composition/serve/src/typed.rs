//! Operations whose arguments and values are Rust types: the schemas come from the types, and the checks of a call with them.

mod argument;
mod check;
mod page;
mod recorded;
mod schema;

use std::any::Any;

use schemars::JsonSchema;
use scion_domain::json::Json;
use scion_domain::surface::ToolFailure;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ToolRefusal;

pub use argument::{Argument, ArgumentBuilder};
pub use page::Page;
pub use recorded::RecordSource;

/// A type that an argument of an operation can have: anything that serde reads and schemars describes. `Option<T>` makes an
/// argument optional. Types of one's own: put `#[scion::model]` on them, or derive `serde::Deserialize` and
/// `schemars::JsonSchema`.
pub trait ToolInput: DeserializeOwned + JsonSchema + Send + 'static {}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolInput for T {}

/// A type that an operation can give: anything that serde writes and schemars describes.
pub trait ToolOutput: Serialize + JsonSchema + Send + 'static {}

impl<T: Serialize + JsonSchema + Send + 'static> ToolOutput for T {}

/// What the method behind an operation returns: `Result<T, E>`, where `T` is a [`ToolOutput`] and `E` any declared refusal or a
/// [`ToolRefusal`]. An error type that is neither has no way to the caller, because its text could hold anything.
#[diagnostic::on_unimplemented(
    message = "an operation cannot return `{Self}`",
    label = "not a `Result<T, E>` that can be served",
    note = "return `Result<T, scion::ApiError>`; `?` makes an `ApiError` of every declared refusal (`scion::domain::refusals!`)"
)]
pub trait OperationAnswer {
    /// The schema of the value; `None` when it may be anything.
    fn output() -> Option<Json>;

    /// The value as JSON, or the refusal.
    fn answer(self, operation: &str) -> Result<Json, ToolRefusal>;
}

impl<T: ToolOutput, E: Into<ToolRefusal>> OperationAnswer for Result<T, E> {
    fn output() -> Option<Json> {
        let schema = schema::of_output::<T>();
        schema.as_object().is_some_and(|members| !members.is_empty()).then_some(schema)
    }

    fn answer(self, operation: &str) -> Result<Json, ToolRefusal> {
        let value = self.map_err(Into::into)?;
        if let Some(json) = (&value as &dyn Any).downcast_ref::<Json>() {
            // Not through serde, so that every digit stays.
            return Ok(json.clone());
        }
        let wrong = |_| ToolFailure::WrongShape { tool: operation.to_owned(), expected: "JSON" };
        Ok(serde_json::to_value(&value).map(Json::from).map_err(wrong)?)
    }
}

/// A value as a type; [`Json`] stays as it is, with every digit.
fn typed<T: DeserializeOwned + 'static>(value: Json) -> Option<T> {
    let mut wanted: Option<T> = None;
    if let Some(slot) = (&mut wanted as &mut dyn Any).downcast_mut::<Option<Json>>() {
        *slot = Some(value);
        return wanted;
    }
    if let Some(slot) = (&mut wanted as &mut dyn Any).downcast_mut::<Option<Option<Json>>>() {
        *slot = Some(Some(value).filter(|value| !value.is_null()));
        return wanted;
    }
    serde_json::from_value((&value).into()).ok()
}

#[cfg(test)]
mod tests;
