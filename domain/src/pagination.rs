//! Paging, as pure functions and state machines.
//!
//! - [`preset`]: one page of an `mcp_tool` source: the arguments to ask with, the records in the answer, the next position;
//! - [`fan`]: the position of a fan-out over the records of a parent source (R004.28);
//! - [`guard`]: the set of positions seen in a sweep, so that a loop is named and not walked for ever;
//! - [`mark`]: comparing change marks as what they are (numbers, instants, text), and the checkpoint after a page;
//! - [`http`]: walkers over the pages of an HTTP API;
//! - [`ToolPage`]: the page a read tool of ours answers.
//!
//! **When a sweep ends.** The server's own word decides first: a "there is more" flag (`more_path`), a cursor. Without one, an
//! empty page ends the sweep. A page that is merely short does not, because servers cap pages below the size asked for
//! and filter after cutting; it ends the sweep only where the author *declared* how long a page of this server is
//! (`page_size` without a `page_size_param`). The count that decides is always that of the records before any filter.

pub mod extract;
pub mod fan;
pub mod guard;
pub mod http;
pub mod mark;
pub mod preset;
mod tool_page;

pub use extract::{Extracted, MAX_PAGE_RECORDS};
pub use guard::SeenPositions;
pub use tool_page::{ToolPage, ToolPageRefusal};
