use proptest::prelude::*;

use crate::digest;
use crate::id::ConnectorName;
use crate::integrity::{IntegrityRefusal, LockDecision, ReleaseKeyRef, ReleaseSigner, RotationLedger, SignerLocks};
use crate::json::{JsonObject, parse};
use crate::mcp::{ToolDescription, ToolHints};
use crate::model::{PackEntry, PackServer};
use crate::pack::{PackFile, PackProducer, PackRefusal, ReleaseMark, tool_entry};
use crate::secret::Secret;
use crate::time::Timestamp;

pub(super) fn desk() -> ConnectorName {
    ConnectorName::parse("desk").unwrap()
}

pub(super) fn tool(name: &str, input: &str) -> PackEntry {
    let tool = ToolDescription {
        name: name.to_owned(),
        input_schema: parse(input).unwrap(),
        output_schema: Some(parse(r#"{"type": "object", "properties": {"id": {"type": "string"}}}"#).unwrap()),
        title: None,
        description: None,
        hints: ToolHints::default(),
        meta: JsonObject::new(),
    };
    tool_entry(&desk(), &tool).unwrap()
}

pub(super) fn turtle(uri: &str, body: &str) -> PackEntry {
    PackEntry {
        kind: "ontology".to_owned(),
        uri: uri.to_owned(),
        name: uri.to_owned(),
        media_type: "text/turtle".to_owned(),
        body: body.as_bytes().to_vec(),
        ..PackEntry::default()
    }
}

fn entries() -> Vec<PackEntry> {
    vec![
        turtle("ontology://desk/desk.ttl", "<https://d.example/a> <https://d.example/p> [ <https://d.example/q> 1 ] ."),
        tool("list_tickets", r#"{"type": "object", "properties": {"page": {"type": "integer"}}}"#),
    ]
}

fn server() -> PackServer {
    PackServer { name: "Desk".to_owned(), version: "1.2.0".to_owned() }
}

fn producer() -> PackProducer {
    PackProducer { name: "scion".to_owned(), version: "0".to_owned() }
}

fn built(entries: &[PackEntry]) -> PackFile {
    let mark = ReleaseMark { sequence: 3, expires: Some(Timestamp::parse("2030-01-01T00:00:00Z").unwrap()) };
    PackFile::build(&desk(), &server(), entries, &producer(), mark).unwrap()
}

fn signer() -> ReleaseSigner {
    let reference = ReleaseKeyRef::parse("vault://kv/desk/release#seed@1").unwrap();
    ReleaseSigner::new("acme", reference, &Secret::new(crate::base64::encode(&[5; 32]))).unwrap()
}

fn signed() -> (PackFile, SignerLocks) {
    let (mut file, mut locks) = (built(&entries()), SignerLocks::default());
    file.sign(&signer(), &mut locks, &RotationLedger::default()).unwrap();
    (file, locks)
}

/// Proves: SDK-CONNECTOR-CONTROL-R650
#[test]
fn what_was_written_reads_back_and_is_the_pack_a_store_accepts() {
    let (file, locks) = signed();
    let read = PackFile::from_bytes(&file.to_bytes()).unwrap();
    assert_eq!(read, file);
    assert_eq!((read.entries(), read.server(), read.mark().sequence), (entries().as_slice(), &server(), 3));
    assert!(read.entries()[1].facts.is_some(), "facts travel too");
    assert_eq!(read.pack_digest(), digest::pack(&file.import(Some(7), true)));
    let verified = read.verify(&locks, &RotationLedger::default()).unwrap();
    assert_eq!((verified.signer.as_str(), verified.decision), ("acme", LockDecision::Locked));
    let unsigned = built(&entries());
    assert_eq!(unsigned.verify(&locks, &RotationLedger::default()), Err(IntegrityRefusal::Unsigned));
}

/// Proves: SDK-CONNECTOR-CONTROL-R650
#[test]
fn a_change_of_any_byte_and_any_cut_is_refused() {
    let (file, locks) = signed();
    let bytes = file.to_bytes();
    let trusted = |bytes: &[u8]| {
        PackFile::from_bytes(bytes).is_ok_and(|file| file.verify(&locks, &RotationLedger::default()).is_ok())
    };
    assert!(trusted(&bytes));
    for at in 0..bytes.len() {
        for bit in [0x01, 0x20] {
            let mut broken = bytes.clone();
            broken[at] ^= bit;
            assert!(!trusted(&broken), "byte {at}");
        }
        assert!(PackFile::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(PackFile::from_bytes(&longer).is_err());
}

/// Proves: SDK-CONNECTOR-CONTROL-R650
#[test]
fn a_manifest_is_of_its_own_content_only() {
    let (file, _) = signed();
    let mut other = entries();
    other.pop();
    let (a, b) = (file.to_bytes(), built(&other).to_bytes());
    let manifest = |bytes: &[u8]| {
        let length = u32::from_be_bytes(bytes[8..12].try_into().unwrap()) as usize;
        (length, bytes[20..20 + length].to_vec())
    };
    let ((signed_length, signed_manifest), (length, _)) = (manifest(&a), manifest(&b));
    let mut forged = b[..8].to_vec();
    forged.extend_from_slice(&u32::try_from(signed_length).unwrap().to_be_bytes());
    forged.extend_from_slice(&b[12..20]);
    forged.extend_from_slice(&signed_manifest);
    forged.extend_from_slice(&b[20 + length..]);
    let what = "its manifest does not describe its content";
    assert_eq!(PackFile::from_bytes(&forged), Err(PackRefusal::Malformed { uri: "the pack file".to_owned(), what }));
}

#[test]
fn a_length_that_lies_is_refused_before_anything_is_kept() {
    let mut huge = b"SCIONPK1".to_vec();
    huge.extend_from_slice(&[0xff; 12]);
    assert!(matches!(PackFile::from_bytes(&huge), Err(PackRefusal::TooLarge { .. })));
    for bad in [&b""[..], b"SCIONPK", b"SCIONPK2", b"SCIONPK1", b"SCIONPK1\0\0\0\0\0\0\0\0\0\0\0\0"] {
        assert!(PackFile::from_bytes(bad).is_err());
    }
}

proptest! {
    /// Proves: SDK-CONNECTOR-CONTROL-R650
    #[test]
    fn the_order_of_a_listing_does_not_matter(names in proptest::collection::btree_set("[a-z]{1,6}", 2..6)) {
        let input = r#"{"type": "object"}"#;
        let forward: Vec<_> = names.iter().map(|name| tool(name, input)).collect();
        let backward: Vec<_> = names.iter().rev().map(|name| tool(name, input)).collect();
        let file = built(&forward);
        prop_assert_eq!(file.to_bytes(), built(&backward).to_bytes());
        prop_assert_ne!(file.to_bytes(), built(&forward[1..]).to_bytes());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), after_magic in any::<bool>()) {
        let mut all = if after_magic { b"SCIONPK1\0\0\0\x02\0\0\0\x02\0\0\0\x02{}{}{}".to_vec() } else { Vec::new() };
        all.extend(bytes);
        prop_assert!(PackFile::from_bytes(&all).is_err());
    }
}
