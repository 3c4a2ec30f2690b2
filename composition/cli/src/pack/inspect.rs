//! `scion pack inspect`.

use scion_domain::json::Json;
use scion_domain::pack::{ArchivedEntry, PackFile};

use super::args::InspectArgs;
use super::files;
use crate::commands::{Outcome, done};
use crate::output::{print, printable};
use crate::table;

/// The characters of a digest that a person compares.
const SHORT: usize = 12;

pub(super) fn main(args: &InspectArgs) -> Outcome {
    let file = files::pack(&args.file)?;
    done(print(&if args.json { files::document_line(&document(&file)) } else { text(&file) }))
}

fn document(file: &PackFile) -> Json {
    let entry = |entry: &ArchivedEntry| {
        Json::from([
            ("kind", Json::from(entry.kind.as_str())),
            ("uri", entry.uri.as_str().into()),
            ("name", entry.name.as_str().into()),
            ("media_type", entry.media_type.as_str().into()),
            ("bytes", entry.body.length.into()),
            ("sha256", entry.body.sha256.to_hex().into()),
            ("digest", entry.digest().to_hex().into()),
            ("annotations", entry.annotations.to_json()),
        ])
    };
    Json::from([
        ("manifest", Json::Object(file.manifest().clone())),
        ("pack_digest", file.pack_digest().to_hex().into()),
        ("server", file.server().name.as_str().into()),
        ("entries", file.index().entries.iter().map(entry).collect::<Vec<_>>().into()),
    ])
}

fn text(file: &PackFile) -> String {
    let (server, mark) = (file.server(), file.mark());
    let signer = file.manifest().get("signature").and_then(|signature| signature.get("signer")).and_then(Json::as_str);
    let signed = signer.map_or_else(
        || "not signed".to_owned(),
        |signer| format!("claims to be signed by {signer}; `scion pack verify` checks it"),
    );
    let expires = mark.expires.as_ref().map_or_else(String::new, |time| format!(", good until {time}"));
    let head = format!(
        "{} from {} {}\nrelease {}{expires}, {signed}\npack {}\n\n",
        file.connector(),
        server.name,
        server.version,
        mark.sequence,
        file.pack_digest().to_hex()
    );
    let rows: Vec<Vec<String>> = file.index().entries.iter().map(row).collect();
    let head: String = head.lines().map(|line| printable(line) + "\n").collect();
    head + &table::render(&["kind", "uri", "bytes", "digest", "annotations"], &rows, &[2])
}

fn row(entry: &ArchivedEntry) -> Vec<String> {
    let digest = entry.digest().to_hex();
    vec![
        entry.kind.as_str().to_owned(),
        entry.uri.clone(),
        entry.body.length.to_string(),
        digest[..SHORT].to_owned(),
        annotations(entry),
    ]
}

fn annotations(entry: &ArchivedEntry) -> String {
    let hints = &entry.annotations;
    let mut words: Vec<String> = [
        (hints.read_only_hint == Some(true), "read-only"),
        (hints.destructive_hint == Some(true), "destructive"),
        (hints.idempotent_hint == Some(true), "idempotent"),
        (hints.open_world_hint == Some(true), "open-world"),
    ]
    .into_iter()
    .filter(|(holds, _)| *holds)
    .map(|(_, word)| word.to_owned())
    .collect();
    if !hints.required_scopes.is_empty() {
        words.push(format!("scopes {}", hints.required_scopes.iter().cloned().collect::<Vec<_>>().join(" ")));
    }
    words.join(", ")
}
