//! The state machine.

use url::Url;

use super::WalkRefusal;
use super::link::next_link;
use super::options::{WalkMode, WalkOptions};
use super::target::absolute;
use crate::json::{Json, JsonObject, read_dotted, to_compact};
use crate::pagination::SeenPositions;

type Step<T> = Result<T, WalkRefusal>;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkRequest {
    /// The URL: the first one, or the one the server named, as it named it.
    pub url: String,
    /// Query parameters to add; empty for a URL the server named.
    pub params: JsonObject,
}

/// Why a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEnd {
    /// The server has no more.
    Exhausted,
    /// As many pages as allowed were read.
    PageBudget,
    /// As many items as allowed were read, and there may be more.
    ItemBudget,
    /// The server leads back to a page that was read.
    Loop,
}

impl WalkEnd {
    /// A few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "no more data",
            Self::PageBudget => "the page bound is reached",
            Self::ItemBudget => "the item bound is reached",
            Self::Loop => "the server leads back to a page that was read",
        }
    }
}

/// What a walk brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkResult {
    /// The items.
    pub data: Vec<Json>,
    /// Pages read.
    pub pages: usize,
    /// Why it ended.
    pub end: WalkEnd,
    /// The cursor a later walk can go on from: cursor mode, ended by a bound, between two pages.
    pub next_cursor: Option<Json>,
}

impl WalkResult {
    /// There may be more than `data` holds.
    pub fn truncated(&self) -> bool {
        self.end != WalkEnd::Exhausted
    }

    /// The items of a walk that saw everything; refuses any other.
    pub fn complete(self) -> Step<Vec<Json>> {
        if self.truncated() {
            return Err(WalkRefusal::Incomplete { end: self.end.as_str(), items: self.data.len() });
        }
        Ok(self.data)
    }

    /// `{data, count, truncated, next_cursor}`.
    pub fn to_json(&self) -> Json {
        Json::from([
            ("data", self.data.clone().into()),
            ("count", u64::try_from(self.data.len()).unwrap_or(u64::MAX).into()),
            ("truncated", self.truncated().into()),
            ("next_cursor", self.next_cursor.clone().into()),
        ])
    }
}

/// A walk under way.
#[derive(Clone, Debug)]
pub struct Walk {
    options: WalkOptions,
    base: Option<Url>,
    pending: Option<WalkRequest>,
    place: u64,
    seen: SeenPositions,
    result: WalkResult,
    /// Items handed out by `take_items`.
    taken: usize,
}

impl Walk {
    /// A walk that starts at `url`.
    pub fn start(url: &str, options: WalkOptions) -> Step<Self> {
        let base = match &options.base_url {
            Some(base) => {
                Some(absolute(base).ok_or(WalkRefusal::NeedsBase)?.join(url).map_err(|_| WalkRefusal::NeedsBase)?)
            }
            None => absolute(url),
        };
        if base.is_none() && matches!(options.mode, WalkMode::Link | WalkMode::NextUrl) {
            return Err(WalkRefusal::NeedsBase);
        }
        let place = if options.mode == WalkMode::Page { options.start_page } else { 0 };
        let result = WalkResult { data: Vec::new(), pages: 0, end: WalkEnd::Exhausted, next_cursor: None };
        let mut walk = Self { options, base, pending: None, place, seen: SeenPositions::new(), result, taken: 0 };
        let first = WalkRequest { url: url.to_owned(), params: walk.counted(place) };
        walk.note(&first);
        walk.pending = Some(first);
        Ok(walk)
    }

    /// What to request now; `None` when the walk has ended.
    pub fn request(&self) -> Option<&WalkRequest> {
        self.pending.as_ref()
    }

    /// Takes the answer: the decoded body and the `Link` header, when there is one.
    pub fn accept(&mut self, data: &Json, link: Option<&str>) -> Step<()> {
        let request = self.pending.take().ok_or(WalkRefusal::Ended)?;
        self.result.pages += 1;
        let page = self.result.pages;
        let items = self.items(data)?;
        let next = self.next(&request, data, link, &items)?;
        let room = self.options.max_items.map_or(usize::MAX, |max| max.saturating_sub(self.count()));
        let cut = items.len() > room;
        self.result.data.extend(items.into_iter().take(room));
        let full = self.options.max_items == Some(self.count());
        let Some((request, place, cursor)) = next else {
            self.result.end = if cut { WalkEnd::ItemBudget } else { WalkEnd::Exhausted };
            return Ok(());
        };
        if !self.note(&request) {
            self.result.end = WalkEnd::Loop;
        } else if cut || full {
            self.result.end = WalkEnd::ItemBudget;
            self.result.next_cursor = cursor.filter(|_| !cut);
        } else if page >= self.options.max_pages.max(1) {
            self.result.end = WalkEnd::PageBudget;
            self.result.next_cursor = cursor;
        } else {
            self.place = place;
            self.pending = Some(request);
        }
        Ok(())
    }

    /// Hands out the items kept so far, so that a long walk need not hold them; bounds still count them.
    pub fn take_items(&mut self) -> Vec<Json> {
        let items = std::mem::take(&mut self.result.data);
        self.taken += items.len();
        items
    }

    /// Items kept so far, handed out or not.
    pub fn count(&self) -> usize {
        self.taken + self.result.data.len()
    }

    /// Why the walk ended; `None` while it goes on.
    pub fn end(&self) -> Option<WalkEnd> {
        self.pending.is_none().then_some(self.result.end)
    }

    /// What the walk brought so far; of a walk that has not ended, as if it ended now at its page bound.
    pub fn finish(mut self) -> WalkResult {
        if self.pending.is_some() {
            self.result.end = WalkEnd::PageBudget;
        }
        self.result
    }

    /// Notes a request; false when it was made before.
    fn note(&mut self, request: &WalkRequest) -> bool {
        let url = self.base.as_ref().and_then(|base| base.join(&request.url).ok());
        let url = url.as_ref().map_or(request.url.as_str(), Url::as_str);
        self.seen.note_text(&format!("{url} {}", to_compact(&Json::Object(request.params.clone()))))
    }

    /// The parameters of a request the walk itself makes up.
    fn counted(&self, place: u64) -> JsonObject {
        let options = &self.options;
        let mut params = options.params.clone();
        let (name, size) = match options.mode {
            WalkMode::Page => (&options.page_param, &options.page_size_param),
            WalkMode::Offset => (&options.offset_param, &options.limit_param),
            _ => return params,
        };
        params.insert(name.clone(), place.into());
        if let Some(page_size) = options.page_size {
            params.insert(size.clone(), page_size.into());
        }
        params
    }

    fn items(&self, data: &Json) -> Step<Vec<Json>> {
        match read_dotted(data, &self.options.items_path) {
            Some(Json::Array(items)) => Ok(items.clone()),
            Some(Json::Null) => Ok(Vec::new()),
            _ => Err(WalkRefusal::NoItems { page: self.result.pages, path: self.options.items_path.clone() }),
        }
    }

    /// The next request, the count it stands for, and its cursor in cursor mode.
    fn next(
        &self,
        request: &WalkRequest,
        data: &Json,
        link: Option<&str>,
        items: &[Json],
    ) -> Step<Option<(WalkRequest, u64, Option<Json>)>> {
        let page = self.result.pages;
        let bad = |what| WalkRefusal::BadNext { page, what };
        let more = match Self::member(data, &self.options.more_path) {
            None | Some(Json::Null) => None,
            Some(Json::Bool(false)) => return Ok(None),
            Some(Json::Bool(true)) => Some(true),
            Some(_) => return Err(bad("announced by true or false")),
        };
        let with = |name: &str, value: Json| {
            let mut params = self.options.params.clone();
            params.insert(name.to_owned(), value);
            WalkRequest { url: request.url.clone(), params }
        };
        let counted = |place: Option<u64>| {
            let place = place.ok_or(bad("a number this side can count to"))?;
            let request = WalkRequest { url: request.url.clone(), params: self.counted(place) };
            Ok(Some((request, place, None)))
        };
        let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
        let goes_on = more == Some(true) || count > 0;
        match self.options.mode {
            WalkMode::Page if goes_on => counted(self.place.checked_add(1)),
            WalkMode::Offset if count == 0 && more == Some(true) => Err(WalkRefusal::NoNext { page }),
            WalkMode::Offset if goes_on => counted(self.place.checked_add(count)),
            WalkMode::Page | WalkMode::Offset => Ok(None),
            WalkMode::Cursor => match Self::member(data, &self.options.cursor_path) {
                Some(cursor @ (Json::String(_) | Json::Number(_))) if !is_no_cursor(cursor) => {
                    Ok(Some((with(&self.options.cursor_param, cursor.clone()), 0, Some(cursor.clone()))))
                }
                Some(Json::Object(_) | Json::Array(_) | Json::Bool(true)) => Err(bad("text or a number")),
                _ => Self::none(page, more),
            },
            WalkMode::SinceId => match items.last().map(|last| read_dotted(last, &self.options.id_field)) {
                None => Self::none(page, more),
                Some(Some(id @ (Json::String(_) | Json::Number(_)))) => {
                    Ok(Some((with(&self.options.since_param, id.clone()), 0, None)))
                }
                Some(_) => Err(bad("a record with an id to go on from")),
            },
            WalkMode::Link => match link.and_then(next_link) {
                None => Self::none(page, more),
                Some(target) => self.follow(request, &target).map(Some),
            },
            WalkMode::NextUrl => match Self::member(data, &self.options.next_path) {
                None | Some(Json::Null) => Self::none(page, more),
                Some(Json::String(target)) if target.is_empty() => Self::none(page, more),
                Some(Json::String(target)) => self.follow(request, target).map(Some),
                Some(_) => Err(bad("a URL")),
            },
        }
    }

    fn none<T>(page: usize, more: Option<bool>) -> Step<Option<T>> {
        if more == Some(true) { Err(WalkRefusal::NoNext { page }) } else { Ok(None) }
    }

    fn member<'a>(data: &'a Json, path: &str) -> Option<&'a Json> {
        if path.is_empty() { None } else { read_dotted(data, path) }
    }

    /// A URL the server named: relative to the page that named it, on the origin of the walk, used as it is.
    fn follow(&self, request: &WalkRequest, target: &str) -> Step<(WalkRequest, u64, Option<Json>)> {
        let page = self.result.pages;
        let bad = WalkRefusal::BadNext { page, what: "a URL" };
        if target.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(bad);
        }
        let base = self.base.as_ref().ok_or(WalkRefusal::NeedsBase)?;
        let here = base.join(&request.url).map_err(|_| bad.clone())?;
        let url = here.join(target).map_err(|_| bad.clone())?;
        if url.origin() != base.origin() {
            return Err(WalkRefusal::CrossOriginLink { page });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad);
        }
        let as_named = if Url::parse(target).is_ok() { target.to_owned() } else { url.to_string() };
        Ok((WalkRequest { url: as_named, params: JsonObject::new() }, 0, None))
    }
}

/// Empty text and zero are how APIs write "no cursor".
fn is_no_cursor(cursor: &Json) -> bool {
    match cursor {
        Json::String(text) => text.is_empty(),
        Json::Number(number) => number.as_text() == "0",
        _ => true,
    }
}
