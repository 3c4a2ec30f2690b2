//! The stream.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt as _, stream};
use scion_domain::json::Json;
use scion_domain::pagination::http::{Walk, WalkEnd, WalkOptions, WalkRefusal};
use serde::de::DeserializeOwned;

use super::PageFetch;
use crate::ClientRefusal;
use crate::response::typed;

type Items<T> = Pin<Box<dyn Stream<Item = Result<T, ClientRefusal>> + Send>>;

/// Items of a list, page after page; nothing is requested ahead of the reader.
///
/// The stream ends when the server has no more, or at a bound the author set. A loop, a bound nobody set and a failed page end it
/// with a refusal as the last item. [`Paged::end`] tells which it was.
pub struct Paged<T> {
    items: Items<T>,
    end: Arc<Mutex<Option<WalkEnd>>>,
}

impl<T> fmt::Debug for Paged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paged").field("end", &self.end()).finish_non_exhaustive()
    }
}

struct Reading {
    fetch: Arc<dyn PageFetch>,
    walk: Walk,
    items: std::vec::IntoIter<Json>,
    end: Arc<Mutex<Option<WalkEnd>>>,
    pages_chosen: bool,
    told: bool,
}

impl Reading {
    /// The next item, the next page behind it when there is none left.
    async fn next(&mut self) -> Option<Result<Json, ClientRefusal>> {
        loop {
            if let Some(item) = self.items.next() {
                return Some(Ok(item));
            }
            if self.told {
                return None;
            }
            let Some(request) = self.walk.request() else {
                self.told = true;
                return self.ended().map(Err);
            };
            let page = match self.fetch.page(request).await {
                Ok(page) => page,
                Err(refusal) => {
                    self.told = true;
                    return Some(Err(refusal));
                }
            };
            if let Err(refusal) = self.walk.accept(&page.data, page.link.as_deref()) {
                self.told = true;
                return Some(Err(refusal.into()));
            }
            self.items = self.walk.take_items().into_iter();
        }
    }

    /// Notes how the walk ended; a refusal when nobody chose that end.
    fn ended(&self) -> Option<ClientRefusal> {
        let end = self.walk.end()?;
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
        let fine = match end {
            // There is no bound of items unless the author set it.
            WalkEnd::Exhausted | WalkEnd::ItemBudget => true,
            WalkEnd::PageBudget => self.pages_chosen,
            WalkEnd::Loop => false,
        };
        (!fine).then(|| incomplete(end, self.walk.count()))
    }
}

fn incomplete(end: WalkEnd, items: usize) -> ClientRefusal {
    WalkRefusal::Incomplete { end: end.as_str(), items }.into()
}

impl<T: DeserializeOwned + Send + 'static> Paged<T> {
    /// The items of anything that has pages; `server` names it in refusals. Reaching `max_items`, or a `max_pages` other than the
    /// default, ends the stream; reaching the default one is a refusal.
    pub fn over(fetch: Arc<dyn PageFetch>, url: &str, options: WalkOptions, server: String) -> Self {
        let pages_chosen = options.max_pages != WalkOptions::default().max_pages;
        let walk = match Walk::start(url, options) {
            Ok(walk) => walk,
            Err(refusal) => return Self::refused(refusal.into()),
        };
        let end = Arc::new(Mutex::new(None));
        let reading =
            Reading { fetch, walk, items: Vec::new().into_iter(), end: end.clone(), pages_chosen, told: false };
        let items = stream::unfold((reading, server), |(mut reading, server)| async move {
            let item = reading.next().await?;
            let item = item.and_then(|item| typed(&server, &item));
            Some((item, (reading, server)))
        });
        Self { items: Box::pin(items.fuse()), end }
    }

    pub(crate) fn refused(refusal: ClientRefusal) -> Self {
        Self { items: Box::pin(stream::iter([Err(refusal)])), end: Arc::new(Mutex::new(None)) }
    }

    /// Every item; the first refusal ends it, and fewer than all there are is one.
    pub async fn all(mut self) -> Result<Vec<T>, ClientRefusal> {
        let mut all = Vec::new();
        while let Some(item) = self.items.next().await {
            all.push(item?);
        }
        match self.end() {
            Some(WalkEnd::Exhausted) => Ok(all),
            Some(end) => Err(incomplete(end, all.len())),
            None => Err(incomplete(WalkEnd::PageBudget, all.len())),
        }
    }
}

impl<T> Paged<T> {
    /// How the walk ended; `None` while it goes on, and after a failed page.
    pub fn end(&self) -> Option<WalkEnd> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Stream for Paged<T> {
    type Item = Result<T, ClientRefusal>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.items.as_mut().poll_next(context)
    }
}
