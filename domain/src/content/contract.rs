//! The contract by which data resources can be read where they are: one Turtle text in the flat form of access contracts
//! (`wire/mcp-surface.md` 8.8).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::declaration::descriptor::Descriptor;
use crate::id::ConnectorName;
use crate::seed_graph::{escaped, is_iri};

/// The vocabulary of access contracts.
pub const ACCESS_VOCABULARY: &str = "https://knuckles-team.github.io/agent-connector-sdk/access#";

/// The URI of a connector's contract.
pub fn contract_uri(connector: &ConnectorName) -> String {
    format!("contract://{connector}")
}

/// The contract: per descriptor its class, way of access, operation, key field and pagination, then one statement group
/// per field that stands for a property. Sorted, so that the order of the descriptors does not matter. A descriptor
/// without a class has no contract: there is nothing to query it by.
pub fn contract_turtle(connector: &ConnectorName, descriptors: &[Descriptor]) -> String {
    let mut sorted: Vec<&Descriptor> = descriptors.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut out = format!("@prefix ac: <{ACCESS_VOCABULARY}> .\n");
    for data in sorted {
        let Some(class) = data.ontology_class.as_deref().filter(|class| is_iri(class)) else { continue };
        let subject = format!("{}/{}", contract_uri(connector), escaped_iri(&data.name));
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        line("");
        line(&format!("<{subject}> a ac:AccessContract ;"));
        line(&format!("    ac:classIri <{class}> ;"));
        line(&format!("    ac:sourceId \"{connector}\" ;"));
        line(&format!("    ac:entity \"{}\" ;", escaped(&data.name)));
        line(&format!("    ac:keyField \"{}\" ;", escaped(&data.key_field)));
        line(&format!("    ac:accessKind \"{}\" ;", escaped(&data.access_kind)));
        line(&format!("    ac:operation \"{}\" ;", escaped(&data.operation)));
        let parameters: BTreeSet<&str> =
            data.arguments.keys().chain(&data.pagination_param).map(String::as_str).collect();
        for parameter in parameters {
            line(&format!("    ac:parameter \"{}\" ;", escaped(parameter)));
        }
        if let Some(reference) = &data.credential_ref {
            line(&format!("    ac:authRef \"{}\" ;", escaped(reference)));
        }
        line(&format!("    ac:pagination \"{}\" .", escaped(&data.pagination)));
        let mut fields: Vec<_> = data.fields.iter().collect();
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        for field in fields {
            let Some(property) = field.ontology_property.as_deref().filter(|property| is_iri(property)) else {
                continue;
            };
            line(&format!(
                "<{subject}/{}> ac:contract <{subject}> ; ac:property <{property}> ; ac:field \"{}\" .",
                escaped_iri(&field.name),
                escaped(&field.name)
            ));
        }
    }
    out
}

/// A name as a segment of an IRI.
fn escaped_iri(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
