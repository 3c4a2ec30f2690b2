//! Use case: from a connector declaration to a tool surface
