//! Secrets of an OpenBao or Vault server.
//!
//! [`OpenBao`] implements the port `CredentialProvider` for `openbao://MOUNT/PATH#FIELD[@VERSION]` references: key-value engines
//! of both versions, namespaces, logins by token, AppRole and Kubernetes. It speaks through an `HttpExchange`, so that egress
//! policy, TLS and bounds are those of the one dialer.
//!
//! No secret is kept: each resolution reads it again. What is kept is the token of the login, which is renewed at two thirds of
//! its life and replaced when it dies.

mod answer;
mod client;
mod fault;
mod login;
mod session;
mod store;

pub use store::OpenBao;
