//! Lists over many pages, read lazily: a page is requested when its first item is asked for.
//!
//! The six modes of the register are state machines in `scion_domain::pagination::http`; here is what carries them out over the
//! calls of a client, or over anything that implements [`PageFetch`].

mod modes;
mod stream;

use std::sync::Arc;

use scion_domain::http::header;
use scion_domain::json::Json;
use scion_domain::pagination::http::{WalkOptions, WalkRequest};
use scion_ports::async_trait;
use serde::de::DeserializeOwned;

use crate::{ClientRefusal, Request};

pub use modes::{Cursor, LinkHeader, NextUrl, Offset, PageNumber, SinceId};
pub use stream::Paged;

/// One page as it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPage {
    /// The decoded body.
    pub data: Json,
    /// The `Link` header fields, joined by commas.
    pub link: Option<String>,
}

/// Something that has pages: a client's calls, the tools of an MCP server, a test.
#[async_trait]
pub trait PageFetch: Send + Sync {
    /// Requests one page.
    async fn page(&self, request: &WalkRequest) -> Result<FetchedPage, ClientRefusal>;
}

/// A walk that is being described.
#[must_use = "pages are read by a stream"]
#[derive(Clone, Debug)]
pub struct Pages {
    request: Request,
    options: WalkOptions,
}

impl Pages {
    pub(crate) fn new(request: Request, mut options: WalkOptions) -> Self {
        options.base_url = Some(request.client.inner.options.base_url.to_string());
        Self { request, options }
    }

    /// The dotted path to the list in each page; the page itself unless set.
    pub fn items_path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.options.items_path);
        self
    }

    /// The dotted path to a "there is more" flag. Where the server sends it, it decides.
    pub fn more_path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.options.more_path);
        self
    }

    /// Ends after so many items.
    pub const fn max_items(mut self, items: usize) -> Self {
        self.options.max_items = Some(items);
        self
    }

    /// Ends after so many pages; at least 1. Without it, a thousand pages are a refusal.
    pub const fn max_pages(mut self, pages: usize) -> Self {
        self.options.max_pages = pages;
        self
    }

    /// How many items to ask for at once, in the modes that count.
    pub const fn page_size(mut self, items: u64) -> Self {
        self.options.page_size = Some(items);
        self
    }

    /// The items as a stream. An item that is not a `T` is a refusal, and the stream goes on with the next one.
    pub fn items<T: DeserializeOwned + Send + 'static>(self) -> Paged<T> {
        let Self { request, options } = self;
        if let Err(refusal) = request.checked() {
            return Paged::refused(refusal);
        }
        let url = request.call.url.to_string();
        let host = request.client.inner.host();
        Paged::over(Arc::new(CallPages { request }), &url, options, host)
    }

    /// Every item. Fewer than all there are is a refusal, whoever set the bound.
    pub async fn all<T: DeserializeOwned + Send + 'static>(self) -> Result<Vec<T>, ClientRefusal> {
        self.items().all().await
    }
}

/// The pages of a call.
struct CallPages {
    request: Request,
}

#[async_trait]
impl PageFetch for CallPages {
    async fn page(&self, wanted: &WalkRequest) -> Result<FetchedPage, ClientRefusal> {
        let mut request = self.request.clone();
        request.call.url = request.client.inner.options.follow(&wanted.url)?;
        for (name, value) in &wanted.params {
            request = match value {
                Json::Null => request,
                Json::String(text) => request.query(name, text),
                Json::Bool(flag) => request.query(name, flag),
                Json::Number(number) => request.query(name, number.as_text()),
                Json::Array(_) | Json::Object(_) => request.query(name, scion_domain::json::to_compact(value)),
            };
        }
        let whole = request.whole().await?;
        let links: Vec<&str> =
            whole.head.headers.get_all(header::LINK).iter().filter_map(|value| value.to_str().ok()).collect();
        Ok(FetchedPage { data: whole.json()?, link: (!links.is_empty()).then(|| links.join(", ")) })
    }
}
