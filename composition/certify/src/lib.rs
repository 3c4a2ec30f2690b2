//! Use case: compare a live server with its own declaration.
