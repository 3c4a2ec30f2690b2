//! The modes as types, with the names most APIs use.

use scion_domain::pagination::http::{WalkMode, WalkOptions};

/// The `Link` header names the next page (RFC 8288).
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkHeader;

/// An opaque cursor in the answer goes into a parameter.
#[derive(Clone, Debug)]
pub struct Cursor {
    path: String,
    param: String,
}

impl Cursor {
    /// The cursor is at `path` and goes into the parameter `param`.
    pub fn new(path: &str, param: &str) -> Self {
        Self { path: path.to_owned(), param: param.to_owned() }
    }
}

impl Default for Cursor {
    /// From `next_cursor` into `cursor`.
    fn default() -> Self {
        Self::new("next_cursor", "cursor")
    }
}

/// A page number is counted up.
#[derive(Clone, Debug)]
pub struct PageNumber {
    param: String,
    size_param: String,
    start: u64,
}

impl PageNumber {
    /// In `param`, from `start`; the size goes into `size_param`.
    pub fn new(param: &str, start: u64, size_param: &str) -> Self {
        Self { param: param.to_owned(), size_param: size_param.to_owned(), start }
    }
}

impl Default for PageNumber {
    /// `page` from 1, size in `page_size`.
    fn default() -> Self {
        Self::new("page", 1, "page_size")
    }
}

/// An offset is moved by the records received.
#[derive(Clone, Debug)]
pub struct Offset {
    param: String,
    limit_param: String,
}

impl Offset {
    /// In `param`; the size goes into `limit_param`.
    pub fn new(param: &str, limit_param: &str) -> Self {
        Self { param: param.to_owned(), limit_param: limit_param.to_owned() }
    }
}

impl Default for Offset {
    /// `offset` and `limit`.
    fn default() -> Self {
        Self::new("offset", "limit")
    }
}

/// The id of the last record goes into a parameter.
#[derive(Clone, Debug)]
pub struct SinceId {
    param: String,
    field: String,
}

impl SinceId {
    /// The id at `field` of the last record goes into `param`.
    pub fn new(field: &str, param: &str) -> Self {
        Self { param: param.to_owned(), field: field.to_owned() }
    }
}

impl Default for SinceId {
    /// From `id` into `since_id`.
    fn default() -> Self {
        Self::new("id", "since_id")
    }
}

/// A member of the answer is the next URL.
#[derive(Clone, Debug)]
pub struct NextUrl {
    path: String,
}

impl NextUrl {
    /// At a dotted path.
    pub fn at(path: &str) -> Self {
        Self { path: path.to_owned() }
    }
}

impl Default for NextUrl {
    /// At `next`.
    fn default() -> Self {
        Self::at("next")
    }
}

fn of(mode: WalkMode) -> WalkOptions {
    WalkOptions { mode, ..WalkOptions::default() }
}

impl From<LinkHeader> for WalkOptions {
    fn from(_: LinkHeader) -> Self {
        of(WalkMode::Link)
    }
}

impl From<Cursor> for WalkOptions {
    fn from(mode: Cursor) -> Self {
        Self { cursor_path: mode.path, cursor_param: mode.param, ..of(WalkMode::Cursor) }
    }
}

impl From<PageNumber> for WalkOptions {
    fn from(mode: PageNumber) -> Self {
        Self { page_param: mode.param, page_size_param: mode.size_param, start_page: mode.start, ..of(WalkMode::Page) }
    }
}

impl From<Offset> for WalkOptions {
    fn from(mode: Offset) -> Self {
        Self { offset_param: mode.param, limit_param: mode.limit_param, ..of(WalkMode::Offset) }
    }
}

impl From<SinceId> for WalkOptions {
    fn from(mode: SinceId) -> Self {
        Self { since_param: mode.param, id_field: mode.field, ..of(WalkMode::SinceId) }
    }
}

impl From<NextUrl> for WalkOptions {
    fn from(mode: NextUrl) -> Self {
        Self { next_path: mode.path, ..of(WalkMode::NextUrl) }
    }
}
