//! Use case: capture what a server publishes as a content pack.
