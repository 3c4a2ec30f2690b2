//! How to walk.

use super::WalkRefusal;
use crate::json::JsonObject;

/// How an API pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WalkMode {
    /// An opaque cursor in the answer goes into a parameter.
    #[default]
    Cursor,
    /// A page number is counted up.
    Page,
    /// A record offset is moved by the records received.
    Offset,
    /// The `Link` header names the next page (RFC 8288).
    Link,
    /// The id of the last record goes into a parameter.
    SinceId,
    /// A member of the answer is the next URL.
    NextUrl,
}

impl WalkMode {
    /// All modes, in wire order.
    pub const ALL: [Self; 6] = [Self::Cursor, Self::Page, Self::Offset, Self::Link, Self::SinceId, Self::NextUrl];

    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            Self::Page => "page",
            Self::Offset => "offset",
            Self::Link => "link",
            Self::SinceId => "since_id",
            Self::NextUrl => "next_url",
        }
    }

    /// Reads a wire word.
    pub fn parse(text: &str) -> Result<Self, WalkRefusal> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or(WalkRefusal::Mode)
    }
}

/// Names, places and bounds of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkOptions {
    /// How the API pages.
    pub mode: WalkMode,
    /// Dotted path to the list; empty means the answer itself.
    pub items_path: String,
    /// Parameters of every request, other than those to a URL the server named.
    pub params: JsonObject,
    /// Dotted path to the next cursor; empty for none.
    pub cursor_path: String,
    /// The parameter with the cursor.
    pub cursor_param: String,
    /// The parameter with the page number.
    pub page_param: String,
    /// The parameter with the page size.
    pub page_size_param: String,
    /// The page size to ask for; not sent when silent. It says nothing about the end of the walk.
    pub page_size: Option<u64>,
    /// The first page number.
    pub start_page: u64,
    /// The parameter with the offset.
    pub offset_param: String,
    /// The parameter with the page size in offset mode.
    pub limit_param: String,
    /// The parameter with the last id.
    pub since_param: String,
    /// Dotted path to the id of a record.
    pub id_field: String,
    /// Dotted path to the next URL.
    pub next_path: String,
    /// Dotted path to a "there is more" flag; empty for none. Where the server sends it, it decides.
    pub more_path: String,
    /// The address the walk stays on; needed by `link` and `next_url` when the first URL is relative.
    pub base_url: Option<String>,
    /// The most items to keep.
    pub max_items: Option<usize>,
    /// The most pages to request; at least 1.
    pub max_pages: usize,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            mode: WalkMode::Cursor,
            items_path: String::new(),
            params: JsonObject::new(),
            cursor_path: "next_cursor".to_owned(),
            cursor_param: "cursor".to_owned(),
            page_param: "page".to_owned(),
            page_size_param: "page_size".to_owned(),
            page_size: None,
            start_page: 1,
            offset_param: "offset".to_owned(),
            limit_param: "limit".to_owned(),
            since_param: "since_id".to_owned(),
            id_field: "id".to_owned(),
            next_path: "next".to_owned(),
            more_path: String::new(),
            base_url: None,
            max_items: None,
            max_pages: 1000,
        }
    }
}
