//! The page a read tool of ours answers, and the preset members that read it.

use crate::json::{Json, JsonObject};
use crate::refusals;

refusals! {
    /// Why a value is not a tool page.
    pub enum ToolPageRefusal {
        /// Not an object.
        NotAnObject => "tool_page_not_object", PeerMisbehaved, Never,
            "a page is not an object", "answer {items, next_cursor, has_more, total}";
        /// A member that is unknown, missing or mistyped.
        Member { member: String, expected: &'static str } => "tool_page_member", PeerMisbehaved, Never,
            "`{member}` of a page must be {expected}", "answer {items, next_cursor, has_more, total}";
    }
}

/// `{items, next_cursor, has_more, total}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPage {
    /// The records.
    pub items: Vec<Json>,
    /// Where the next page starts; `None` at the end, and for pages that are counted.
    pub next_cursor: Option<String>,
    /// There is more.
    pub has_more: bool,
    /// How many there are in all, when that is known.
    pub total: Option<u64>,
}

impl ToolPage {
    /// A page with a cursor. Empty text is no cursor: "there is more" with nothing to ask for it is malformed.
    pub fn from_cursor(items: Vec<Json>, cursor: Option<&str>) -> Self {
        let next_cursor = cursor.filter(|cursor| !cursor.is_empty()).map(str::to_owned);
        Self { items, has_more: next_cursor.is_some(), next_cursor, total: None }
    }

    /// A counted page: a full one may be followed by another.
    pub fn from_window(items: Vec<Json>, page_size: usize, total: Option<u64>) -> Self {
        Self { has_more: !items.is_empty() && items.len() >= page_size, items, next_cursor: None, total }
    }

    /// Reads a page; unknown members are refused.
    pub fn from_json(value: &Json) -> Result<Self, ToolPageRefusal> {
        const KNOWN: [&str; 4] = ["items", "next_cursor", "has_more", "total"];
        let wrong = |member: &str, expected| ToolPageRefusal::Member { member: member.to_owned(), expected };
        let members = value.as_object().ok_or(ToolPageRefusal::NotAnObject)?;
        if let Some(name) = members.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            return Err(wrong(&name.chars().take(64).collect::<String>(), "left out"));
        }
        let given = |name: &str| members.get(name).filter(|value| !value.is_null());
        let items = given("items").and_then(Json::as_array).ok_or_else(|| wrong("items", "a list"))?.to_vec();
        let next_cursor = given("next_cursor").map(|value| value.as_str().ok_or_else(|| wrong("next_cursor", "text")));
        let has_more = given("has_more").map(|value| value.as_bool().ok_or_else(|| wrong("has_more", "true or false")));
        let total = given("total").map(|value| {
            let total = value.as_number().and_then(crate::json::JsonNumber::as_u64);
            total.ok_or_else(|| wrong("total", "a whole number from 0"))
        });
        Ok(Self {
            items,
            next_cursor: next_cursor.transpose()?.map(str::to_owned),
            has_more: has_more.transpose()?.unwrap_or(false),
            total: total.transpose()?,
        })
    }

    /// The wire form: every member is always there.
    pub fn to_json(&self) -> Json {
        Json::from([
            ("items", self.items.clone().into()),
            ("next_cursor", self.next_cursor.as_deref().into()),
            ("has_more", self.has_more.into()),
            ("total", self.total.into()),
        ])
    }

    /// The preset members that read pages with a cursor.
    pub fn cursor_preset(cursor_param: &str) -> JsonObject {
        members([
            ("records_path", "items".into()),
            ("pagination", "cursor".into()),
            ("cursor_param", cursor_param.into()),
            ("cursor_path", "next_cursor".into()),
            ("more_path", "has_more".into()),
        ])
    }

    /// The preset members that read pages by number.
    pub fn page_preset(page_param: &str, page_size_param: &str, page_size: u32) -> JsonObject {
        counted("page", "number", page_param, page_size_param, page_size)
    }

    /// The preset members that read pages by offset.
    pub fn offset_preset(offset_param: &str, limit_param: &str, page_size: u32) -> JsonObject {
        counted("offset", "offset", offset_param, limit_param, page_size)
    }
}

fn counted(pagination: &str, kind: &str, param: &str, size_param: &str, size: u32) -> JsonObject {
    members([
        ("records_path", "items".into()),
        ("pagination", pagination.into()),
        ("page_param", param.into()),
        ("page_size_param", size_param.into()),
        ("page_size", u64::from(size).into()),
        ("page_kind", kind.into()),
    ])
}

fn members<const N: usize>(pairs: [(&str, Json); N]) -> JsonObject {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
