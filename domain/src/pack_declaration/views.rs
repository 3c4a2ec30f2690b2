//! Views of a declaration for people: rendered, never edited (SDK-CONNECTOR-CONTROL-R067.3).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{ConnectorPackDeclaration, ViewRefusal};

/// The path of the mapping view in a connector's package.
pub const MAPPING_VIEW: &str = "ontology/mappings/source.yaml";

impl ConnectorPackDeclaration {
    /// Every view: path to text.
    pub fn views(&self) -> BTreeMap<&'static str, String> {
        BTreeMap::from([(MAPPING_VIEW, self.mapping_view())])
    }

    /// How source fields stand for properties, as YAML. Every text is quoted, so that no reader takes one for something else.
    fn mapping_view(&self) -> String {
        let mut out =
            String::from("# Rendered from the declaration of the connector. Change the declaration, not this file.\n");
        let mut line = |indent: usize, key: &str, value: &str| {
            let _ = writeln!(out, "{:indent$}{key}: {}", "", quoted(value));
        };
        line(0, "connector", self.connector.as_str());
        line(0, "contract_version", &self.contract_version);
        line(0, "declaration_digest", &format!("sha256:{}", self.digest().to_hex()));
        if self.sources.is_empty() {
            out.push_str("sources: []\n");
            return out;
        }
        out.push_str("sources:\n");
        for (id, source) in &self.sources {
            let mut line = |indent: usize, key: &str, value: &str| {
                let _ = writeln!(out, "{:indent$}{key}: {}", "", quoted(value));
            };
            line(2, "- id", id);
            line(4, "record_type", &source.record_type);
            line(4, "class", &source.class);
            line(4, "key", &source.key);
            if let Some(cursor) = &source.cursor_field {
                line(4, "cursor_field", cursor);
            }
            let _ = writeln!(out, "    incremental: {}", source.incremental);
            let _ = writeln!(out, "    access_policy: {}", quoted(source.access_policy.as_str()));
            list(&mut out, "privacy", source.privacy.iter().map(|class| class.as_str()));
            list(&mut out, "provenance", source.provenance.iter().map(|path| path.as_str()));
            section(&mut out, "fields", source.fields.is_empty());
            for (field, property) in &source.fields {
                let _ = writeln!(out, "      - field: {}\n        property: {}", quoted(field), quoted(property));
            }
            section(&mut out, "relations", source.relations.is_empty());
            for relation in &source.relations {
                let (name, field, target) =
                    (quoted(&relation.relationship), quoted(&relation.field), quoted(&relation.target));
                let _ = writeln!(out, "      - relationship: {name}\n        field: {field}\n        target: {target}");
            }
        }
        out
    }
}

/// Whether the views of a package are what the declaration gives: path to bytes, as they are on disk.
///
/// # Errors
/// The view that is missing, or the first line that differs.
pub fn views_fresh(
    files: &BTreeMap<String, Vec<u8>>,
    declaration: &ConnectorPackDeclaration,
) -> Result<(), ViewRefusal> {
    for (view, fresh) in declaration.views() {
        let found = files.get(view).ok_or(ViewRefusal::Missing { view })?;
        if found == fresh.as_bytes() {
            continue;
        }
        let mut lines = found.split(|byte| *byte == b'\n').zip(fresh.as_bytes().split(|byte| *byte == b'\n'));
        let shorter = found.split(|byte| *byte == b'\n').count().min(fresh.split('\n').count());
        let line = lines.position(|(a, b)| a != b).unwrap_or(shorter) as u64 + 1;
        return Err(ViewRefusal::Stale { view, line });
    }
    Ok(())
}

fn section(out: &mut String, key: &str, empty: bool) {
    let _ = writeln!(out, "    {key}:{}", if empty { " []" } else { "" });
}

fn list<'t>(out: &mut String, key: &str, items: impl Iterator<Item = &'t str>) {
    let items: Vec<String> = items.map(quoted).collect();
    let _ = writeln!(out, "    {key}: [{}]", items.join(", "));
}

/// A text in double quotes. What JSON escapes, YAML reads the same way.
fn quoted(text: &str) -> String {
    crate::json::to_compact(&crate::json::Json::from(text))
}
