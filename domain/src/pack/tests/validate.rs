use proptest::prelude::*;

use crate::json::{Json, JsonObject};
use crate::pack::{EntryKind, PackRefusal, resource_kind, skill_header, validate};
use crate::test_vectors::{load, section, text};

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R027
#[test]
fn entry_validation_of_the_vectors() {
    let file = load("pack.json");
    for case in section(&file, "entry_validation") {
        let (id, mut uri) = (text(case, "id"), text(case, "uri").to_owned());
        if uri == "ui://<262>" {
            uri = format!("ui://{}", "a".repeat(257));
        }
        let (media_type, body) = (text(case, "media_type"), text(case, "body"));
        let kind = match id.split_once('-').unwrap().0 {
            "skill" => Ok(Some(EntryKind::Skill)),
            "tool" => Ok(Some(EntryKind::Tool)),
            "wrong" => Ok(Some(EntryKind::Shapes)),
            _ => resource_kind(&uri),
        };
        // The cases name every tool and skill `n`.
        let checked = kind.and_then(|kind| match kind {
            Some(kind) => validate(kind, &uri, "n", media_type, body.as_bytes()),
            None => Err(PackRefusal::Scheme { uri: uri.clone() }),
        });
        assert_eq!(checked.is_ok(), case.get("ok").is_some(), "{id}: {checked:?}");
    }
}

#[test]
fn front_matter_of_the_vectors() {
    let file = load("pack.json");
    for case in section(&file, "front_matter") {
        let read = skill_header("skill://s/SKILL.md", text(case, "text").as_bytes());
        match case.get("front").unwrap() {
            Json::Null => assert!(read.is_err(), "{}", text(case, "text")),
            Json::Object(expected) => assert_eq!(&read.unwrap(), expected, "{}", text(case, "text")),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_body_that_is_not_what_its_media_type_says_is_refused_by_name() {
    let turtle = |body: &str| validate(EntryKind::Ontology, "ontology://c/a.ttl", "a", "text/turtle", body.as_bytes());
    assert!(turtle("<x> a <y> .").is_ok(), "relative to its own URI");
    assert!(matches!(turtle("<x> a"), Err(PackRefusal::Malformed { uri, .. }) if uri == "ontology://c/a.ttl"));
    assert!(resource_kind("manifest://c").is_err());
    assert!(resource_kind("skill://s/../x").is_err());
    assert_eq!(resource_kind("connector://status"), Ok(None));
    assert_eq!(resource_kind("skill://s/scripts/a.sh"), Ok(Some(EntryKind::SkillFile)));
    assert!(validate(EntryKind::SkillFile, "skill-file://s/a.bin", "a", "", &[0, 255]).is_ok());
}

proptest! {
    #[test]
    fn front_matter_readers_never_panic(body in any::<Vec<u8>>(), yaml in "[-a-z:\n |>\\[\\]{}'\"#&*!0-9]{0,80}") {
        let _ = skill_header("skill://s/SKILL.md", &body);
        let _: Result<JsonObject, _> = skill_header("skill://s/SKILL.md", format!("---\n{yaml}\n---\n").as_bytes());
    }
}
