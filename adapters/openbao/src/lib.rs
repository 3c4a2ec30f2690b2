//! Secrets of an OpenBao or Vault server.
