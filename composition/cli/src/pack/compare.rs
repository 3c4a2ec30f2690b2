//! `scion pack diff`.

use scion_domain::pack::{EntryChange, Fate, Impact, PackDiff};

use super::args::DiffArgs;
use super::files;
use super::target::misuse;
use crate::commands::Outcome;
use crate::output::print;
use crate::{DONE, FAILED, table};

pub(super) fn main(args: &DiffArgs) -> Outcome {
    let (old, new) = (files::pack(&args.old)?, files::pack(&args.new)?);
    if old.connector() != new.connector() {
        return Err(misuse("the packs are of two connectors"));
    }
    let diff = PackDiff::of(new.connector(), old.entries(), new.entries());
    print(&if args.json { files::document_line(&diff.to_json()) } else { text(&diff) })?;
    Ok(if diff.impact() == Impact::None { DONE } else { FAILED })
}

fn text(diff: &PackDiff) -> String {
    let verdict = match diff.impact() {
        Impact::None => "No caller notices.",
        Impact::Review => "A person has to look: callers may notice.",
        Impact::Breaks => "Callers break.",
    };
    let changed = diff.changes.len();
    let head = format!("{} entries are as they were, {changed} differ. {verdict}\n", diff.kept);
    if diff.changes.is_empty() {
        return head;
    }
    let rows: Vec<Vec<String>> = diff.changes.iter().map(row).collect();
    format!("{head}\n{}", table::render(&["impact", "what", "uri", "why"], &rows, &[]))
}

fn row(change: &EntryChange) -> Vec<String> {
    let what = match &change.fate {
        Fate::Split(names) => format!("split into {}", names.join(", ")),
        Fate::Covered(name) => format!("covered by {name}"),
        other => other.as_str().to_owned(),
    };
    vec![change.impact.as_str().to_owned(), what, change.uri.clone(), change.details.join("; ")]
}
