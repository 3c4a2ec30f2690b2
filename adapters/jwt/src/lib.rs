//! Signing and checking of JSON Web Tokens.
