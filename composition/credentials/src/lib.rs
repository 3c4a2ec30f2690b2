//! Credential resolution under scope and access authority.
