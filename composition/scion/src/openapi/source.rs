//! Sources as the serving use case declares them.

use scion_openapi::{SourcePages, SourcePlan};
use scion_serve::{Edge, Mapping, Source};

/// The source of a plan.
pub(super) fn source(plan: &SourcePlan) -> Source {
    let mut source = Source::new(&plan.id, &plan.record_type, &plan.id_field);
    if !plan.records_path.is_empty() {
        source = source.records_path(&plan.records_path);
    }
    if let Some(field) = &plan.title_field {
        source = source.title_field(field);
    }
    if let Some(field) = &plan.text_field {
        source = source.text_field(field);
    }
    // A change time alone would make no sweep shorter.
    if let Some((field, Some(since))) = &plan.updated {
        source = source.cursor_field(field).incremental().preset("updated_since_param", since.as_str());
    }
    if !plan.description.is_empty() {
        source = source.description(&plan.description);
    }
    for (name, value) in &plan.arguments {
        source = source.argument(name, value.clone());
    }
    if let Some(parent) = &plan.for_each {
        source = source.for_each(&parent.source, &parent.argument, &parent.field);
    }
    for edge in &plan.edges {
        let mut declared = Edge::new(&edge.relationship, &edge.field, &edge.target_type);
        if let Some(target) = &edge.target_source {
            declared = declared.to_source(target);
        }
        source = source.edge(declared);
    }
    let mut mapping = Mapping::class(&plan.class);
    for (field, property) in &plan.fields {
        mapping = mapping.field(field, property);
    }
    paged(source, &plan.pages).mapping(mapping)
}

fn paged(source: Source, pages: &SourcePages) -> Source {
    let sized = |source: Source, size: &Option<(String, u32)>| match size {
        Some((argument, size)) => {
            source.preset("page_size_param", argument.as_str()).preset("page_size", u64::from(*size))
        }
        None => source,
    };
    match pages {
        SourcePages::One => source,
        SourcePages::Page { argument, start, size } => {
            let source = source.preset("pagination", "page").preset("page_param", argument.as_str());
            sized(source.preset("start_page", *start), size)
        }
        SourcePages::Offset { argument, size } => {
            sized(source.preset("pagination", "offset").preset("page_param", argument.as_str()), size)
        }
        SourcePages::Cursor { argument, path, size } => {
            let source = source.preset("pagination", "cursor").preset("cursor_param", argument.as_str());
            sized(source.preset("cursor_path", path.as_str()), size)
        }
    }
}
