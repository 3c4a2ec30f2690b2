//! Imports in RDF/XML: `<owl:imports rdf:resource="…"/>`, outside comments.

use super::Found;

pub(super) fn foreign_imports(text: &str, keeps: impl Fn(&str) -> bool) -> Found {
    let mut found = Found::default();
    let mut at = 0;
    while let Some(open) = text[at..].find('<').map(|place| at + place) {
        let rest = &text[open..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>")].into_iter().find(|(start, _)| rest.starts_with(start));
        if let Some((_, end)) = skipped {
            at = rest.find(end).map_or(text.len(), |place| open + place + end.len());
            continue;
        }
        let Some(end) = rest.find('>').map(|place| open + place + 1) else { break };
        at = end;
        let Some(iri) = resource_of(&text[open..end]) else { continue };
        if keeps(iri) {
            continue;
        }
        found.iris.insert(iri.to_owned());
        // With the line it stands on.
        let start = text[..open].trim_end_matches([' ', '\t']).len();
        let whole_line = text[..start].ends_with('\n') && text[end..].starts_with('\n');
        found.removed.push(if whole_line { start..end + 1 } else { open..end });
    }
    found
}

fn resource_of(element: &str) -> Option<&str> {
    let inner = element.strip_prefix("<owl:imports")?.strip_suffix("/>")?;
    let value = inner.trim().strip_prefix("rdf:resource")?.trim_start().strip_prefix('=')?.trim();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let value = value.strip_prefix(quote)?.strip_suffix(quote)?;
    (!value.contains([quote, '&'])).then_some(value)
}
