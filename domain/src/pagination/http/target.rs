//! Cursors that are paths: what a tool hands to its caller instead of a whole URL.

use url::Url;

use super::WalkRefusal;
use super::link::next_link;

/// An http(s) URL.
pub(super) fn absolute(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
}

/// The path and query of the next page named by a `Link` header; `None` when there is none. The target is relative to `url`
/// and must be of the origin of `base_url`.
pub fn link_cursor(url: &str, link: &str, base_url: &str) -> Result<Option<String>, WalkRefusal> {
    let Some(target) = next_link(link) else { return Ok(None) };
    let base = absolute(base_url).ok_or(WalkRefusal::NeedsBase)?;
    let here = base.join(url).map_err(|_| WalkRefusal::NeedsBase)?;
    let next = here.join(&target).map_err(|_| WalkRefusal::CrossOriginCursor)?;
    if next.origin() != base.origin() || target.chars().any(|c| c.is_control() || c == '\\') {
        return Err(WalkRefusal::CrossOriginCursor);
    }
    let query = next.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(Some(format!("{}{query}", next.path())))
}

/// Checks a cursor a caller hands back: a path of this origin, nothing that any parser takes for a host. A backslash is
/// refused: browsers and many clients read it as a slash.
pub fn cursor_target(cursor: &str) -> Result<&str, WalkRefusal> {
    let local = cursor.starts_with('/') && !cursor.starts_with("//");
    if !local || cursor.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err(WalkRefusal::CrossOriginCursor);
    }
    Ok(cursor)
}
