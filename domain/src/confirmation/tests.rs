use proptest::prelude::*;

use super::*;
use crate::id::TenantId;
use crate::json::parse;
use crate::surface::CallerIdentity;

fn object(text: &str) -> JsonObject {
    parse(text).unwrap().as_object().unwrap().clone()
}

fn caller(tenant: &str, principal: &str) -> CallerIdentity {
    CallerIdentity::new(TenantId::parse(tenant).unwrap(), principal, "desk").unwrap()
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[test]
fn only_a_literal_true_in_an_accepted_reply_is_a_yes() {
    assert!(says_yes(&Reply::Accepted(object(r#"{"confirmed":true}"#))));
    for content in [
        r#"{"confirmed":false}"#,
        r#"{"confirmed":"true"}"#,
        r#"{"confirmed":"yes"}"#,
        r#"{"confirmed":1}"#,
        r#"{"confirmed":null}"#,
        r#"{"confirmed":[true]}"#,
        r#"{"confirmed":{"confirmed":true}}"#,
        r#"{"value":{"confirmed":true}}"#,
        r#"{"Confirmed":true}"#,
        r#"{"confirm":true}"#,
        "{}",
    ] {
        assert!(!says_yes(&Reply::Accepted(object(content))), "{content}");
    }
    for reply in [Reply::Declined, Reply::Cancelled, Reply::Malformed] {
        assert!(!says_yes(&reply));
    }
}

#[test]
fn the_question_names_operation_and_target_and_has_the_schema_of_its_era() {
    let arguments = object(r#"{"ticket_id":5,"note":"x"}"#);
    let legacy = question("desk-mcp", "delete_ticket", &arguments, QuestionForm::Handshake);
    assert_eq!(
        legacy.message,
        r#"Run the destructive operation `delete_ticket` of desk-mcp with {"note":"x","ticket_id":5}? It cannot be undone."#
    );
    assert_eq!(
        Json::Object(legacy.schema),
        parse(
            r#"{"properties":{"confirmed":{"title":"Confirmed","type":"boolean"}},"required":["confirmed"],
                "title":"_DestructiveActionConfirmation","type":"object"}"#
        )
        .unwrap()
    );
    let modern = question("desk-mcp", "delete_ticket", &JsonObject::new(), QuestionForm::Enveloped);
    assert!(modern.message.contains("without arguments"));
    assert!(!modern.schema.contains_key("title"));
    assert_eq!(modern.key, "destructive_action_confirmation");
}

#[test]
fn a_question_shows_no_secret_cannot_be_spoofed_and_is_bounded() {
    let arguments = object(
        "{\"password\":\"hunter22\",\"deep\":{\"api_key\":\"abcdef12\"},\"note\":\"ok\\n\\u202egnp.\\u200b\",\"token\":\"ghp_abcdefghijklmnopqrstuv\"}",
    );
    let message = question("d", "o", &arguments, QuestionForm::Enveloped).message;
    for secret in ["hunter22", "abcdef12", "ghp_", "\u{202e}", "\u{200b}", "\n"] {
        assert!(!message.contains(secret), "{secret:?} in {message}");
    }
    assert!(message.contains("\\u{202e}"));
    let long = object(&format!(r#"{{"text":"{}"}}"#, "y".repeat(100_000)));
    let message = question("d", "o", &long, QuestionForm::Enveloped).message;
    assert!(message.len() < 1000 && message.contains("100002 characters, SHA-256"), "{message}");
    let many: JsonObject = (0..10_000).map(|index| (format!("k{index}"), Json::from(index))).collect();
    let message = question("d", "o", &many, QuestionForm::Enveloped).message;
    assert!(message.len() < 5000 && message.contains(" more; SHA-256 of all: "));
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[test]
fn what_is_destroyed_cannot_hide_behind_anything() {
    let asked = |text: &str| question("d", "o", &object(text), QuestionForm::Enveloped).message;
    // Behind a long neighbour, at the top and inside.
    let long = "y".repeat(9000);
    let message = asked(&format!(r#"{{"a":"{long}","filter":{{"a":"{long}","id":5}},"list":["{long}","all of it"]}}"#));
    for seen in [r#""id":5"#, r#""all of it""#, "9002 characters, SHA-256 "] {
        assert!(message.contains(seen), "{seen} in {message}");
    }
    // Behind many neighbours: the short ones stay, and what is missing is said.
    let many: Vec<String> = (0..200).map(|index| format!(r#""a{index:03}":"{}""#, "y".repeat(200))).collect();
    let message = asked(&format!(r#"{{{},"target":"prod"}}"#, many.join(",")));
    assert!(message.contains(r#""target":"prod""#) && message.contains("NOT SHOWN: "), "{message}");
    let nested = asked(&format!(r#"{{"filter":{{{},"target":"prod"}}}}"#, many.join(",")));
    assert!(nested.contains(r#""target":"prod""#) && nested.contains("NOT SHOWN: "), "{nested}");
    // Behind a name that only looks like a secret's, or behind a text that does.
    let named = asked(
        r#"{"key":"prod/users","author":"ada","session_id":"s1","tokenName":"t1","authorization":"Basic abc","token":"x"}"#,
    );
    for seen in [r#""key":"prod/users""#, r#""author":"ada""#, r#""session_id":"s1""#, r#""tokenName":"t1""#] {
        assert!(named.contains(seen), "{seen} in {named}");
    }
    assert!(!named.contains("abc") && !named.contains(r#""x""#), "{named}");
    let beside = asked(r#"{"note":"password=hunter22","target":"prod"}"#);
    assert!(beside.contains(r#""target":"prod""#) && !beside.contains("hunter22"), "{beside}");
    // Behind characters nobody sees.
    let unseen = "\u{2800}\u{3164}\u{a0}\u{2003}\u{fe0f}\u{34f}\u{115f}\u{e0100}\u{ffa0}\u{85}";
    let message = asked(&format!(r#"{{"a":"x{unseen}y"}}"#));
    assert!(!unseen.chars().any(|c| message.contains(c)), "{message}");
    // In the name of the operation, which a router takes from its caller.
    let spoofed = format!("delete_x` of d, a harmless test?\n\u{202e}{}", "z".repeat(5000));
    let message = question("d", &spoofed, &JsonObject::new(), QuestionForm::Enveloped).message;
    assert_eq!(message.matches('`').count(), 2, "{message}");
    assert!(message.len() < 1000 && !message.contains(['\n', '\u{202e}']), "{message}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[test]
fn a_state_is_good_once_for_the_call_it_was_sealed_for() {
    let key = StateKey::new([7; 32]);
    let mut spent = SpentStates::default();
    let ada = caller("acme", "ada");
    let for_call = |caller: Option<&CallerIdentity>, tool: &str, text: &str, operation: &str| {
        let arguments = object(text);
        SealedFor::new(caller, tool, SealedFor::call(&arguments), operation, &arguments)
    };
    let five = for_call(Some(&ada), "desk_delete", r#"{"id":5}"#, "delete");
    let state = key.seal(&five, [1; 16], 1_000);
    let others = [
        for_call(Some(&ada), "desk_delete", r#"{"id":6}"#, "delete"),
        for_call(Some(&ada), "desk_delete", r#"{"id":5.0000000000000000000000001}"#, "delete"),
        for_call(Some(&ada), "desk_delete", r#"{"id":"5"}"#, "delete"),
        for_call(Some(&ada), "desk_purge", r#"{"id":5}"#, "delete"),
        for_call(Some(&ada), "desk_delete", r#"{"id":5}"#, "purge"),
        for_call(Some(&caller("other", "ada")), "desk_delete", r#"{"id":5}"#, "delete"),
        for_call(Some(&caller("acme", "eve")), "desk_delete", r#"{"id":5}"#, "delete"),
        for_call(None, "desk_delete", r#"{"id":5}"#, "delete"),
    ];
    for other in others {
        assert!(!key.open(&other, &state, 10, &mut spent));
    }
    assert!(!StateKey::new([8; 32]).open(&five, &state, 10, &mut spent), "another process");
    assert!(!key.open(&five, &state, 1_000, &mut spent), "too late");
    for forged in ["", "v1.", "v1.AAAA", "v2.AAAA", &state[3..], &format!("{state}A"), &state.to_uppercase()] {
        assert!(!key.open(&five, forged, 10, &mut spent), "{forged}");
    }
    assert!(key.open(&five, &state, 10, &mut spent));
    assert!(!key.open(&five, &state, 11, &mut spent), "replayed");
}

#[test]
fn spent_states_are_forgotten_when_they_could_not_be_used_anyway() {
    let key = StateKey::new([7; 32]);
    let mut spent = SpentStates::default();
    let call = SealedFor::new(None, "t", SealedFor::call(&JsonObject::new()), "o", &JsonObject::new());
    for index in 0..(MAX_SPENT_STATES as u128 + 10) {
        let now = if index < MAX_SPENT_STATES as u128 { 0 } else { 50 };
        let state = key.seal(&call, index.to_be_bytes(), 100);
        assert_eq!(key.open(&call, &state, now, &mut spent), index < MAX_SPENT_STATES as u128);
    }
    let state = key.seal(&call, u128::MAX.to_be_bytes(), 300);
    assert!(key.open(&call, &state, 200, &mut spent), "the old ones made room");
}

proptest! {
    #[test]
    fn no_other_text_opens(text in "\\PC{0,120}", flip in 3usize..78, bit in 0u8..6) {
        let key = StateKey::new([7; 32]);
        let mut spent = SpentStates::default();
        let call = SealedFor::new(None, "t", SealedFor::call(&JsonObject::new()), "o", &JsonObject::new());
        prop_assert!(!key.open(&call, &text, 0, &mut spent));
        let state = key.seal(&call, [3; 16], 100);
        let mut bytes = state.clone().into_bytes();
        let index = flip.min(bytes.len() - 2);
        bytes[index] ^= 1 << bit;
        if let Ok(changed) = String::from_utf8(bytes) && changed != state {
            prop_assert!(!key.open(&call, &changed, 0, &mut spent));
        }
    }

    #[test]
    fn a_question_is_one_visible_bounded_line(value in "\\PC{0,400}", raw in any::<Vec<char>>()) {
        let raw: String = raw.into_iter().collect();
        let arguments = JsonObject::from([(raw, value.into())]);
        let message = question("c", "o", &arguments, QuestionForm::Handshake).message;
        prop_assert!(message.chars().count() < 5000);
        prop_assert!(!message.chars().any(char::is_control));
    }
}

#[test]
fn an_approval_is_for_one_tenant_connector_operation_and_argument_set() {
    let tenant = |text| TenantId::parse(text).unwrap();
    let connector = |text| crate::id::ConnectorName::parse(text).unwrap();
    let arguments = object(r#"{"id":5}"#);
    let base = approval_request(&tenant("acme"), &connector("desk"), "delete", &arguments).digest;
    let others = [
        approval_request(&tenant("other"), &connector("desk"), "delete", &arguments),
        approval_request(&tenant("acme"), &connector("desk2"), "delete", &arguments),
        approval_request(&tenant("acme"), &connector("desk"), "purge", &arguments),
        approval_request(&tenant("acme"), &connector("desk"), "delete", &object(r#"{"id":6}"#)),
    ];
    assert!(others.iter().all(|other| other.digest != base));
    assert_eq!(approval_request(&tenant("acme"), &connector("desk"), "delete", &arguments).digest, base);
}
