use super::shown::{shown, shown_name};
use crate::call::Question;
use crate::json::{Json, JsonObject};

/// The key of the question in the enveloped era.
pub const CONFIRMATION_KEY: &str = "destructive_action_confirmation";

/// The two spellings of the requested schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionForm {
    /// Up to 2025-11-25: the schema has a title.
    Handshake,
    /// 2026-07-28: it has none.
    Enveloped,
}

/// The question for one operation. The message names the operation, the connector and the arguments as they will run.
pub fn question(connector: &str, operation: &str, arguments: &JsonObject, form: QuestionForm) -> Question {
    let confirmed = Json::from([("type", "boolean".into()), ("title", "Confirmed".into())]);
    let mut schema = JsonObject::from([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), Json::from([("confirmed", confirmed)])),
        ("required".to_owned(), vec![Json::from("confirmed")].into()),
    ]);
    if form == QuestionForm::Handshake {
        schema.insert("title".to_owned(), "_DestructiveActionConfirmation".into());
    }
    let (connector, operation) = (shown_name(connector), shown_name(operation));
    let message = if arguments.is_empty() {
        format!("Run the destructive operation `{operation}` of {connector}, without arguments? It cannot be undone.")
    } else {
        format!(
            "Run the destructive operation `{operation}` of {connector} with {}? It cannot be undone.",
            shown(arguments)
        )
    };
    Question { key: CONFIRMATION_KEY.to_owned(), message, schema }
}
