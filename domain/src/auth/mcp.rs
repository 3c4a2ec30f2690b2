//! Authorization of an MCP client (MCP 2025-11-25, Authorization): what a server's challenge says, where its authorization server is,
//! how a client makes itself known there, and which scopes it asks for. All of it is text of strangers: bounded, and checked before
//! anything follows from it.

mod challenge;
mod registration;
mod resource;
mod server;

pub use challenge::{BearerChallenge, MAX_CHALLENGE_BYTES, read_challenge};
pub use registration::{ClientMetadata, MAX_REGISTRATION_BYTES, Registered, read_registration};
pub use resource::{ResourceMetadata, covers, read_resource_metadata, resource_metadata_urls};
pub use server::{AuthorizationServer, ClientMethod, read_authorization_server, server_metadata_urls};

use std::collections::BTreeSet;

/// The scopes a login asks for (MCP, Scope Selection Strategy): those of the challenge, else those the resource names, else none.
/// What was asked for before stays in, so that a step up loses nothing. `offline_access` is added where the authorization server
/// knows it and the client renews tokens.
pub fn select_scopes(
    asked_before: &BTreeSet<String>,
    challenge: Option<&BearerChallenge>,
    resource: Option<&ResourceMetadata>,
    server: &AuthorizationServer,
) -> BTreeSet<String> {
    let wanted = challenge
        .and_then(|challenge| challenge.scopes.clone())
        .or_else(|| resource.and_then(|resource| resource.scopes.clone()))
        .unwrap_or_default();
    let mut all: BTreeSet<String> = asked_before.union(&wanted).cloned().collect();
    let renews = server.scopes.as_ref().is_some_and(|scopes| scopes.contains(OFFLINE_ACCESS));
    if renews && !all.is_empty() {
        all.insert(OFFLINE_ACCESS.to_owned());
    }
    all
}

const OFFLINE_ACCESS: &str = "offline_access";

/// The most scopes of one login, and the longest of them.
const MAX_SCOPES: usize = 64;
const MAX_SCOPE: usize = 256;

/// Reads scopes separated by blanks (RFC 6749, section 3.3). `None` when a word has a character no scope has, or there are too many.
fn scopes<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    for word in words {
        let good = (1..=MAX_SCOPE).contains(&word.len())
            && word.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
        if !good || all.len() >= MAX_SCOPES {
            return None;
        }
        all.insert(word.to_owned());
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn server(scopes: Option<&[&str]>) -> AuthorizationServer {
        let issuer = crate::auth::AuthUrl::parse("issuer", "https://as.example").unwrap();
        let body = br#"{"issuer":"https://as.example","token_endpoint":"https://as.example/t"}"#;
        AuthorizationServer { scopes: scopes.map(set), ..read_authorization_server(&issuer, body).unwrap() }
    }

    fn challenge(scope: &[&str]) -> BearerChallenge {
        BearerChallenge { scopes: Some(set(scope)), ..BearerChallenge::default() }
    }

    #[test]
    fn scopes_come_from_the_challenge_then_from_the_resource_then_from_nowhere() {
        let resource = ResourceMetadata { scopes: Some(set(&["a", "b"])), ..ResourceMetadata::default() };
        let none = BTreeSet::new();
        assert_eq!(select_scopes(&none, Some(&challenge(&["c"])), Some(&resource), &server(None)), set(&["c"]));
        let silent = BearerChallenge::default();
        assert_eq!(select_scopes(&none, Some(&silent), Some(&resource), &server(None)), set(&["a", "b"]));
        assert_eq!(select_scopes(&none, None, None, &server(None)), none);
    }

    #[test]
    fn a_step_up_keeps_what_was_asked_for() {
        let more = select_scopes(&set(&["read"]), Some(&challenge(&["write"])), None, &server(None));
        assert_eq!(more, set(&["read", "write"]));
    }

    #[test]
    fn offline_access_is_asked_for_only_where_it_is_known() {
        let wanted = challenge(&["a"]);
        let with = select_scopes(&BTreeSet::new(), Some(&wanted), None, &server(Some(&["a", "offline_access"])));
        assert_eq!(with, set(&["a", "offline_access"]));
        let without = select_scopes(&BTreeSet::new(), Some(&wanted), None, &server(Some(&["a"])));
        assert_eq!(without, set(&["a"]));
    }

    #[test]
    fn strange_scopes_are_none() {
        assert_eq!(scopes(["a", "b:c"]), Some(set(&["a", "b:c"])));
        for bad in ["", "a\"b", "a\\b", "\u{e9}"] {
            assert_eq!(scopes([bad]), None, "{bad:?}");
        }
        assert_eq!(scopes(std::iter::repeat_n("a", 100)), Some(set(&["a"])), "one scope, however often");
        let many: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        assert_eq!(scopes(many.iter().map(String::as_str)), None);
    }
}
