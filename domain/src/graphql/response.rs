//! Reading an answer.

use super::cost::CostReport;
use super::{ErrorKind, GraphQlRefusal};
use crate::json::{self, Json, JsonLimits, JsonObject};

/// How many errors are looked at; more are counted.
const MAX_ERRORS: usize = 1000;

/// An answer as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphQlResponse {
    data: Option<Json>,
    errors: usize,
    kind: Option<ErrorKind>,
    /// What the server says about cost.
    pub cost: Option<CostReport>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphQlAnswer {
    /// The data; with `errors` above zero, parts of it are null because they failed.
    pub data: JsonObject,
    /// How many errors came with it; above zero only where partial data was asked for.
    pub errors: usize,
}

impl GraphQlResponse {
    /// Reads a body.
    pub fn read(body: &[u8], limits: JsonLimits) -> Result<Self, GraphQlRefusal> {
        let value = json::parse_with(body, limits).map_err(|_| GraphQlRefusal::Malformed { what: "is not JSON" })?;
        Self::from_json(value)
    }

    /// Reads a value.
    pub fn from_json(value: Json) -> Result<Self, GraphQlRefusal> {
        let malformed = |what| Err(GraphQlRefusal::Malformed { what });
        let Json::Object(mut members) = value else { return malformed("is not an object") };
        let (errors, kind) = match members.get("errors") {
            None | Some(Json::Null) => (0, None),
            Some(Json::Array(errors)) => (errors.len(), errors.iter().take(MAX_ERRORS).map(kind_of).min()),
            Some(_) => return malformed("has errors that are no list"),
        };
        let data = match members.remove("data") {
            None | Some(Json::Null) => None,
            Some(data @ Json::Object(_)) => Some(data),
            Some(_) => return malformed("has data that is no object"),
        };
        if data.is_none() && errors == 0 {
            return malformed("has neither data nor errors");
        }
        let cost = CostReport::read(data.as_ref(), members.get("extensions"));
        Ok(Self { data, errors, kind, cost })
    }

    /// Whether the server refused because of cost or rate, without doing anything.
    pub fn is_throttled(&self) -> bool {
        self.kind == Some(ErrorKind::Throttled)
    }

    /// The result. With errors it is a refusal, unless `partial` data was asked for and there is some.
    pub fn result(self, partial: bool) -> Result<GraphQlAnswer, GraphQlRefusal> {
        if self.is_throttled() {
            return Err(GraphQlRefusal::Throttled);
        }
        match self.data {
            Some(Json::Object(data)) if self.errors == 0 || partial => Ok(GraphQlAnswer { data, errors: self.errors }),
            _ => Err(GraphQlRefusal::Errors { count: self.errors, kind: self.kind.unwrap_or(ErrorKind::Other) }),
        }
    }
}

fn kind_of(error: &Json) -> ErrorKind {
    let code = error.get("extensions").and_then(|more| more.get("code")).and_then(Json::as_str);
    let code = code.or_else(|| error.get("type").and_then(Json::as_str));
    code.map_or(ErrorKind::Other, ErrorKind::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(body: &str, partial: bool) -> Result<GraphQlAnswer, GraphQlRefusal> {
        GraphQlResponse::read(body.as_bytes(), JsonLimits::DEFAULT)?.result(partial)
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R030.1
    #[test]
    fn success_with_errors_is_a_failure_unless_partial_data_was_asked_for() {
        let both = r#"{"data": {"a": 1, "b": null}, "errors": [{"message": "token hunter2", "extensions": {"code": "FORBIDDEN"}}]}"#;
        let refused = result(both, false).unwrap_err();
        assert_eq!(refused, GraphQlRefusal::Errors { count: 1, kind: ErrorKind::Forbidden });
        assert!(!format!("{refused} {refused:?}").contains("hunter2"));
        let answer = result(both, true).unwrap();
        assert_eq!((answer.errors, answer.data.len()), (1, 2));
        let none = r#"{"data": null, "errors": [{}, {"type": "NOT_FOUND"}]}"#;
        assert_eq!(result(none, true), Err(GraphQlRefusal::Errors { count: 2, kind: ErrorKind::NotFound }));
        assert!(result(r#"{"data": {}}"#, false).is_ok());
        assert!(result(r#"{"data": {}, "errors": []}"#, false).is_ok());
    }

    #[test]
    fn a_throttle_is_told_apart() {
        for error in [r#"{"extensions": {"code": "THROTTLED"}}"#, r#"{"type": "RATE_LIMITED"}"#] {
            assert_eq!(
                result(&format!(r#"{{"errors": [{{}}, {error}], "data": {{}}}}"#), true),
                Err(GraphQlRefusal::Throttled)
            );
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for body in ["", "[]", "{}", r#"{"data": null}"#, r#"{"data": []}"#, r#"{"errors": {}}"#, "<html>"] {
            assert!(matches!(result(body, true), Err(GraphQlRefusal::Malformed { .. })), "{body}");
        }
    }
}
