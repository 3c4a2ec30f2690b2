use proptest::prelude::*;

use crate::base64;
use crate::digest::{framed, sha256};
use crate::id::{ConnectorName, Digest256};
use crate::json::Json;
use crate::model::{PackEntry, PackReference, PackServer};
use crate::pack::{
    CatalogBinding, PackAnnotations, PackArchive, PackIndex, PackProducer, PackRefusal, annotations_digest,
    catalog_digest, import_key, references_digest,
};
use crate::test_vectors::{load, section, text};

fn number(value: &Json, name: &str) -> u64 {
    value.get(name).and_then(Json::as_number).and_then(crate::json::JsonNumber::as_u64).unwrap()
}

fn digest(value: &Json, name: &str) -> Digest256 {
    Digest256::parse_hex(text(value, name)).unwrap()
}

fn connector(name: &str) -> ConnectorName {
    ConnectorName::parse(name).unwrap()
}

pub(super) fn binding(file: &Json) -> CatalogBinding {
    let value = file.get("catalog").and_then(|catalog| catalog.get("binding")).unwrap();
    CatalogBinding {
        configuration_revision: number(value, "configuration_revision"),
        catalog_generation: number(value, "catalog_generation"),
        snapshot_digest: digest(value, "snapshot_digest"),
        child_connection_generation: number(value, "child_connection_generation"),
        authorization_scope_digest: digest(value, "authorization_scope_digest"),
    }
}

fn cut(bytes: &[u8], section: &Json) -> Vec<u8> {
    let at = usize::try_from(number(section, "offset")).unwrap();
    bytes[at..at + usize::try_from(number(section, "length")).unwrap()].to_vec()
}

/// The entries of a pack of the vectors; the bytes are cut out of its archive.
fn entries(pack: &Json, bytes: &[u8]) -> Vec<PackEntry> {
    let read = |entry: &Json| {
        let schema = |name: &str| entry.get(name).filter(|schema| !schema.is_null()).map(|schema| cut(bytes, schema));
        let uri = text(entry, "uri").to_owned();
        PackEntry {
            kind: text(entry, "kind").to_owned(),
            name: text(entry, "name").to_owned(),
            media_type: text(entry, "media_type").to_owned(),
            body: cut(bytes, entry.get("body").unwrap()),
            input_schema: schema("input_schema"),
            output_schema: schema("output_schema"),
            annotations: PackAnnotations::from_json(&uri, entry.get("annotations").unwrap()).unwrap(),
            uri,
            ..PackEntry::default()
        }
    };
    section(pack, "entries").iter().filter(|entry| text(entry, "kind") != "mcp_server").map(read).collect()
}

fn server(pack: &Json) -> PackServer {
    PackServer { name: String::new(), version: text(pack, "server_package_version").to_owned() }
}

fn mini() -> (Json, PackArchive) {
    let file = load("pack.json");
    let pack = file.get("pack_reproducible").unwrap();
    let bytes = base64::decode(text(pack, "archive_base64")).unwrap();
    let mut entries = entries(pack, &bytes);
    entries.reverse();
    let archive = PackArchive::build(&connector(text(pack, "connector")), &server(pack), &entries).unwrap();
    (file, archive)
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R027, SDK-CONNECTOR-CONTROL-R008
#[test]
fn pack_archive_of_the_vectors_is_built_byte_for_byte() {
    let (file, archive) = mini();
    let pack = file.get("pack_reproducible").unwrap();
    assert_eq!(base64::encode(archive.bytes()), text(pack, "archive_base64"));
    assert_eq!(archive.sha256(), digest(pack, "archive_sha256"));
    assert_eq!(archive.digest(&binding(&file)), digest(pack, "pack_digest"));
    let described = std::iter::once(archive.server()).chain(archive.entries());
    let mut cases = 0;
    for (entry, expected) in described.zip(section(pack, "entries")) {
        assert_eq!(entry.uri, text(expected, "uri"));
        assert_eq!(entry.body.offset, number(expected.get("body").unwrap(), "offset"));
        assert_eq!(annotations_digest(&entry.annotations), digest(expected, "annotations_digest"), "{}", entry.uri);
        assert_eq!(entry.digest(), digest(expected, "entry_digest"), "{}", entry.uri);
        cases += 1;
    }
    assert_eq!(cases, section(pack, "entries").len());
}

/// The archive of the larger pack is not in the vectors, but its section digests are: everything above them is checked.
#[test]
fn pack_digests_of_the_fixture_connector_follow_from_its_sections() {
    let file = load("pack.json");
    let pack = file.get("pack_of_fixture_connector").unwrap();
    let shape = |value: &Json| crate::pack::Section {
        offset: number(value, "offset"),
        length: number(value, "length"),
        sha256: digest(value, "sha256"),
    };
    let described = |entry: &Json| {
        let schema = |name: &str| entry.get(name).filter(|schema| !schema.is_null()).map(shape);
        crate::pack::ArchivedEntry {
            kind: crate::pack::EntryKind::parse(text(entry, "kind")).unwrap(),
            uri: text(entry, "uri").to_owned(),
            name: text(entry, "name").to_owned(),
            media_type: text(entry, "media_type").to_owned(),
            body: shape(entry.get("body").unwrap()),
            input_schema: schema("input_schema"),
            output_schema: schema("output_schema"),
            annotations: PackAnnotations::from_json(text(entry, "uri"), entry.get("annotations").unwrap()).unwrap(),
            references: Vec::new(),
        }
    };
    let mut all: Vec<_> = section(pack, "entries").iter().map(described).collect();
    for (entry, expected) in all.iter().zip(section(pack, "entries")) {
        assert_eq!(annotations_digest(&entry.annotations), digest(expected, "annotations_digest"), "{}", entry.uri);
        assert_eq!(entry.digest(), digest(expected, "entry_digest"), "{}", entry.uri);
    }
    let own = all.remove(0);
    let name = connector(text(pack, "connector"));
    let whole = super::super::archive::pack_digest(&name, &binding(&file), &own, &all);
    assert_eq!(whole, digest(pack, "pack_digest"));
}

#[test]
fn pack_digest_primitives_of_the_vectors() {
    let file = load("pack.json");
    assert_eq!(catalog_digest(&binding(&file)), digest(file.get("catalog").unwrap(), "sha256"));
    for case in section(&file, "framed_digests") {
        let fields: Vec<Vec<u8>> = case.get("fields_hex").and_then(Json::as_array).unwrap().iter().map(hex).collect();
        let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        assert_eq!(framed(text(case, "domain"), &fields), digest(case, "sha256"));
    }
    for case in section(&file, "annotation_digests") {
        let annotations = PackAnnotations::from_json("x", case.get("annotations").unwrap()).unwrap();
        assert_eq!(annotations_digest(&annotations), digest(case, "sha256"), "{}", text(case, "id"));
        let again = PackAnnotations::from_json("x", &annotations.to_json()).unwrap();
        assert_eq!(again, annotations);
    }
    for case in section(&file, "reference_digests") {
        let references: Vec<PackReference> =
            case.get("references").and_then(Json::as_array).unwrap().iter().map(link).collect();
        assert_eq!(references_digest(&references), digest(case, "sha256"));
    }
    for case in section(&file, "import_keys") {
        let revision =
            case.get("expected_revision").and_then(Json::as_number).and_then(crate::json::JsonNumber::as_u64);
        let key = import_key(&connector(text(case, "connector")), &digest(case, "pack_digest"), revision);
        assert_eq!(key, text(case, "key"));
    }
}

fn link(value: &Json) -> PackReference {
    PackReference { uri: text(value, "uri").to_owned(), kind: text(value, "kind").to_owned() }
}

fn hex(value: &Json) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn entry(kind: &str, uri: &str) -> PackEntry {
    PackEntry { kind: kind.into(), uri: uri.into(), body: b"x".to_vec(), ..PackEntry::default() }
}

#[test]
fn pack_archive_refusals_of_the_vectors() {
    let file = load("pack.json");
    let build = |entries: &[PackEntry]| PackArchive::build(&connector("mini"), &PackServer::default(), entries);
    for case in section(&file, "archive_refusals") {
        let tools = [entry("tool", "tool://mini/b"), entry("tool", "tool://mini/a")];
        let [b, a] = tools.clone();
        match text(case, "id") {
            "ok" => assert_eq!(build(&tools).unwrap().entries().len() + 1, 3),
            "server-kind" => assert!(build(&[entry("manifest", "manifest://mini")]).is_err()),
            "second-server" => assert!(build(&[a, b, entry("mcp_server", "mcp-server://other")]).is_err()),
            "duplicate-uri" => {
                let twice = build(&[a.clone(), b, a]);
                assert_eq!(twice, Err(PackRefusal::Duplicate { uri: "tool://mini/a".into() }));
            }

            "server-uri-reused" => {
                let reused = build(&[a, entry("resource", "mcp-server://mini")]);
                assert_eq!(reused, Err(PackRefusal::Duplicate { uri: "mcp-server://mini".into() }));
            }
            other => panic!("no test for {other}"),
        }
    }
}

fn producer() -> PackProducer {
    PackProducer { name: "test".into(), version: "1".into() }
}

#[test]
fn pack_index_is_in_the_engines_order_and_reads_back() {
    let (file, archive) = mini();
    let index = archive.index(&binding(&file), "b10b", &producer());
    let written = index.to_text();
    assert!(
        written.starts_with(r#"{"schema_version":2,"connector":"mini","server":{"kind":"mcp_server","uri":"#),
        "{written}"
    );
    let members =
        ["\"server_package_version\"", "\"archive\"", "\"entries\"", "\"producer\"", "\"catalog\"", "\"pack_digest\""];
    let places: Vec<_> = members.iter().map(|member| written.rfind(member).unwrap()).collect();
    assert!(places.is_sorted(), "{written}");
    assert!(
        written
            .contains(r#""read_only_hint":null,"destructive_hint":null,"idempotent_hint":null,"open_world_hint":null"#)
    );
    let read = PackIndex::from_text(written.as_bytes()).unwrap();
    assert_eq!(read, index);
    let (server, entries) = read.open(archive.bytes()).unwrap();
    assert_eq!((server.name.as_str(), server.version.as_str()), ("mini", "1.0.0"));
    assert_eq!(PackArchive::build(&connector("mini"), &server, &entries).unwrap(), archive);
}

#[test]
fn an_archive_that_is_not_that_of_its_index_is_refused() {
    let (file, archive) = mini();
    let good = archive.index(&binding(&file), "b10b", &producer());
    assert!(good.open(&archive.bytes()[1..]).is_err());
    let mut gap = good.clone();
    gap.entries[0].body.offset += 1;
    assert!(gap.open(archive.bytes()).is_err());
    let mut beyond = good.clone();
    beyond.entries.last_mut().unwrap().body.length = u64::MAX;
    assert!(beyond.open(archive.bytes()).is_err());
    let mut less = good.clone();
    less.entries.pop();
    assert!(less.open(archive.bytes()).is_err());
    assert!(PackIndex::from_text(less.to_text().as_bytes()).is_err(), "its digest does not follow from its entries");
    let mut swapped = good.clone();
    swapped.entries.swap(0, 1);
    assert!(PackIndex::from_text(swapped.to_text().as_bytes()).is_err());
    let unknown = good.to_text().replacen("{\"schema_version\"", "{\"more\":1,\"schema_version\"", 1);
    assert!(PackIndex::from_text(unknown.as_bytes()).is_err());
    let mut other = archive.bytes().to_vec();
    other[0] ^= 1;
    let mut renamed = good.clone();
    renamed.archive.sha256 = sha256(&other);
    assert!(renamed.open(&other).is_err(), "the section's own digest");
}

#[test]
fn a_pack_within_its_bounds_or_none() {
    let many: Vec<_> = (0..8193).map(|at| entry("tool", &format!("tool://c/{at}"))).collect();
    let build = |entries: &[PackEntry]| PackArchive::build(&connector("c"), &PackServer::default(), entries);
    assert!(matches!(build(&many), Err(PackRefusal::TooLarge { .. })));
    let big = PackEntry { body: vec![b'x'; (64 << 20) + 1], ..entry("resource", "ui://c/a") };
    assert!(matches!(build(&[big]), Err(PackRefusal::TooLarge { .. })));
    let named = PackEntry { name: "n".repeat(257), ..entry("tool", "tool://c/a") };
    assert!(build(&[named]).is_err());
}

proptest! {
    #[test]
    fn pack_readers_never_panic(index in any::<Vec<u8>>(), bytes in any::<Vec<u8>>()) {
        if let Ok(index) = PackIndex::from_text(&index) {
            let _ = index.open(&bytes);
        }
    }

    #[test]
    fn any_order_gives_the_same_archive(order in Just((0..12_usize).collect::<Vec<_>>()).prop_shuffle(), changed in 0..12_usize) {
        let build = |entries: &[PackEntry]| PackArchive::build(&connector("c"), &PackServer::default(), entries).unwrap();
        let all: Vec<_> = (0..12).map(|at| entry("tool", &format!("tool://c/{at}"))).collect();
        let shuffled: Vec<_> = order.iter().map(|at| all[*at].clone()).collect();
        let first = build(&all);
        prop_assert_eq!(build(&shuffled), first.clone());
        let catalog = CatalogBinding {
            configuration_revision: 1, catalog_generation: 1, snapshot_digest: Digest256::ZERO,
            child_connection_generation: 1, authorization_scope_digest: Digest256::ZERO,
        };
        let mut other = shuffled;
        other[changed].annotations.read_only_hint = Some(true);
        prop_assert_ne!(build(&other).digest(&catalog), first.digest(&catalog));
    }
}
