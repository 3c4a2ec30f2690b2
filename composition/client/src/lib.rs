//! The governed HTTP client and what is built on it.
