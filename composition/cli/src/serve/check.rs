//! `scion serve --check`: what would be served, and what not and why.

use std::fmt::Write as _;

use scion::openapi::{CuratedApi, CuratedOperation, SourcePages};
use scion_domain::id::ConnectorName;
use scion_domain::refusal::Refusal as _;

use crate::DONE;
use crate::commands::Outcome;
use crate::output::{print, printable};
use crate::table::render;

/// The most lines of what is not served.
const MAX_REFUSED: usize = 40;

pub(super) fn show(api: &CuratedApi, name: &ConnectorName) -> Outcome {
    let mut out = format!("{name} {}\n\n", printable(&api.version));
    let rows: Vec<Vec<String>> = api.operations.iter().map(row).collect();
    out.push_str(&render(&["tool", "operation", "class", "source"], &rows, &[]));
    let _ = writeln!(
        out,
        "\n{} tools; {} left out by the curation; {} of {} operations not converted",
        api.operations.len(),
        api.left_out,
        api.report.refused.len(),
        api.report.operations
    );
    for refused in api.report.refused.iter().take(MAX_REFUSED) {
        let line = format!("  {} {}: {} [{}]", refused.method, refused.path, refused.refusal, refused.refusal.code());
        let _ = writeln!(out, "{}", printable(&line));
    }
    if api.report.refused.len() > MAX_REFUSED {
        let _ = writeln!(out, "  … {} more", api.report.refused.len() - MAX_REFUSED);
    }
    if !api.security_schemes.is_empty() {
        out.push_str("\nsecurity schemes\n");
    }
    for scheme in api.security_schemes.values() {
        let secrets = scheme.secrets(name.as_str());
        let set = if secrets.is_empty() { String::new() } else { format!("; secrets: {}", secrets.join(", ")) };
        let _ = writeln!(out, "{}", printable(&format!("  {}: {}{set}", scheme.name, scheme.described())));
    }
    print(&out)?;
    Ok(DONE)
}

fn row(operation: &CuratedOperation) -> Vec<String> {
    let hints = operation.tool.hints;
    let class = match (hints.read_only, hints.destructive) {
        (_, Some(true)) => "destructive",
        (Some(true), _) => "read",
        _ => "write",
    };
    let source = operation.source.as_ref().map_or_else(String::new, |source| {
        let pages = match &source.pages {
            SourcePages::One => "one page",
            SourcePages::Page { .. } => "by page",
            SourcePages::Offset { .. } => "by offset",
            SourcePages::Cursor { .. } => "by cursor",
        };
        let parent =
            source.for_each.as_ref().map_or_else(String::new, |parent| format!(" for each of {}", parent.source));
        format!("{} ({}, {pages}{parent})", source.id, source.record_type)
    });
    let place = format!("{} {}", operation.operation.method, operation.operation.path);
    vec![operation.tool.name.clone(), place, class.to_owned(), source]
}
