//! What one caller sees of a surface (`wire/mcp-surface.md` 0.7). What it does not see it cannot use either.

use std::collections::BTreeSet;

use scion_domain::json::{Json, JsonObject};
use scion_domain::tool_surface::{FilterRefusal, ListingFilter, ListingPolicy, ListingView};

use crate::http::Caller;

/// The view of a caller; `None` when nothing narrows it, which costs nothing.
pub(crate) fn view<'p>(policy: &'p ListingPolicy, caller: Option<&Caller>) -> Option<ListingView<'p>> {
    let asked = match caller {
        Some(caller) if caller.lists_nothing => Err(FilterRefusal::Word),
        Some(caller) => Ok(caller.filter.as_deref().cloned().unwrap_or_default()),
        None => Ok(ListingFilter::default()),
    };
    let narrows = *policy != ListingPolicy::everything() || asked.as_ref() != Ok(&ListingFilter::default());
    narrows.then(|| ListingView::new(policy, asked))
}

/// Drops what the view does not show.
pub(crate) fn keep<T>(view: Option<&ListingView<'_>>, items: &mut Vec<T>, of: impl Fn(&T) -> (&str, &JsonObject)) {
    if let Some(view) = view {
        items.retain(|item| {
            let (name, meta) = of(item);
            view.shows(name, &tags(meta))
        });
    }
}

/// The tags of an item, where its `_meta` names any.
pub(crate) fn tags(meta: &JsonObject) -> BTreeSet<String> {
    let tags = meta.get("fastmcp").and_then(|meta| meta.get("tags")).and_then(Json::as_array).unwrap_or_default();
    tags.iter().filter_map(Json::as_str).map(str::to_owned).collect()
}
