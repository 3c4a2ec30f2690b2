use super::{ToolContextRefusal, ToolProgress};
use crate::json::{Json, JsonNumber, JsonObject};

/// The member of a result's `_meta` that says how the call ended.
pub const EXECUTION_META_KEY: &str = "team.knuckles/execution";

/// How a call ended. Closed: another word is refused, not guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TerminalState {
    /// It did what it was asked for.
    Succeeded,
    /// It did not, and nothing was changed that the tool did not say.
    Failed,
    /// It was given up before it did anything.
    Cancelled,
    /// An effect may have happened; nobody saw its end.
    Uncertain,
}

impl TerminalState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Succeeded, Self::Failed, Self::Cancelled, Self::Uncertain];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Uncertain => "uncertain",
        }
    }

    /// Reads the word; `None` for an unknown one.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// What an effect is found again by: 1 to 256 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReceiptReference(Box<str>);

impl ReceiptReference {
    /// Reads a reference.
    pub fn parse(text: &str) -> Result<Self, ToolContextRefusal> {
        if (1..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(Self(text.into()));
        }
        Err(ToolContextRefusal::InvalidContext { what: "a receipt reference is 1 to 256 visible ASCII characters" })
    }

    /// The reference.
    pub const fn as_str(&self) -> &str {
        &self.0
    }
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolExecutionResult {
    /// How it ended.
    pub state: TerminalState,
    /// The code of the refusal, where it did not succeed.
    pub reason: Option<&'static str>,
    /// The last progress, whether the client was told of it or not.
    pub progress: Option<ToolProgress>,
    /// What its effect is found again by.
    pub receipt: Option<ReceiptReference>,
    /// Notices that did not reach the client.
    pub lost: u32,
}

impl ToolExecutionResult {
    /// An end without progress, effect or loss.
    pub const fn plain(state: TerminalState, reason: Option<&'static str>) -> Self {
        Self { state, reason, progress: None, receipt: None, lost: 0 }
    }

    /// The sequence of the last progress; 0 when there was none.
    pub fn last_sequence(&self) -> u64 {
        self.progress.as_ref().map_or(0, |progress| progress.sequence)
    }

    /// The value of [`EXECUTION_META_KEY`], bound to the request it belongs to.
    pub fn meta(&self, request: Option<&str>) -> Json {
        let mut out = JsonObject::from([
            ("state".to_owned(), self.state.as_str().into()),
            ("lastSequence".to_owned(), self.last_sequence().into()),
        ]);
        let mut put = |name: &str, value: Option<Json>| {
            if let Some(value) = value {
                out.insert(name.to_owned(), value);
            }
        };
        put("request", request.map(Json::from));
        put("reason", self.reason.map(Json::from));
        put("receipt", self.receipt.as_ref().map(|receipt| receipt.as_str().into()));
        put("lostNotices", (self.lost > 0).then(|| u64::from(self.lost).into()));
        put("progress", self.progress.as_ref().map(summary));
        out.into()
    }
}

fn summary(progress: &ToolProgress) -> Json {
    let number = |value| JsonNumber::from_f64(value).map_or(Json::Null, Json::Number);
    let mut out = JsonObject::from([("completed".to_owned(), number(progress.completed))]);
    if let Some(total) = progress.total {
        out.insert("total".to_owned(), number(total));
    }
    if let Some(message) = &progress.message {
        out.insert("message".to_owned(), message.as_str().into());
    }
    out.into()
}
