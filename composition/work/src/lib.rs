//! Use case: claim queued work, do it, and settle it.
