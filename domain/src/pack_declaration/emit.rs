//! The contract as Turtle (SDK-CONNECTOR-CONTROL-R067.2): terms of the connector-pack and virtual-graph vocabularies, absolute IRIs,
//! no blank node, one statement a line, sorted.

use std::collections::BTreeSet;

use super::{ConnectorPackDeclaration, PackDeclarationRefusal, PackTool, SourceObject};
use crate::access_contract::{PACK_VOCABULARY, Statements, VIRTUAL_GRAPH_VOCABULARY, segment};
use crate::id::ConnectorName;

const fn cp(name: &'static str) -> (&'static str, &'static str) {
    (PACK_VOCABULARY, name)
}

const fn vg(name: &'static str) -> (&'static str, &'static str) {
    (VIRTUAL_GRAPH_VOCABULARY, name)
}

/// The URI of a connector's contract.
pub fn contract_uri(connector: &ConnectorName) -> String {
    format!("contract://{connector}")
}

impl ConnectorPackDeclaration {
    /// The body of `contract://<connector>`.
    ///
    /// # Errors
    /// As [`ConnectorPackDeclaration::check`].
    pub fn to_turtle(&self) -> Result<String, PackDeclarationRefusal> {
        self.check(None)?;
        let mut out = Statements::default();
        let root = contract_uri(&self.connector);
        let (connection, endpoint) = (format!("{root}/connection"), format!("{root}/endpoint"));
        out.class(&root, cp("ConnectorPack"));
        out.class(&root, vg("MetadataContract"));
        out.text(&root, cp("connector"), self.connector.as_str());
        out.text(&root, vg("schemaVersion"), &self.contract_version);
        out.text(&root, vg("contentDigest"), &format!("sha256:{}", self.digest().to_hex()));
        out.iri(&root, vg("contractSource"), &connection);
        out.class(&connection, vg("SourceConnection"));
        out.text(&connection, vg("sourceKind"), "mcp");
        out.iri(&connection, vg("endpointRef"), &endpoint);
        out.class(&endpoint, vg("EndpointRef"));
        out.text(&endpoint, vg("url"), &format!("mcp-server://{}", self.connector));
        for feature in &self.features {
            out.text(&root, vg("declaredCapability"), feature);
        }
        for (index, contract) in self.contracts.values().enumerate() {
            let code = |refusal: crate::access_contract::AccessContractRefusal| PackDeclarationRefusal::Contract {
                field: format!("contracts[{index}]"),
                code: crate::refusal::Refusal::code(&refusal),
            };
            contract.statements(&mut out).map_err(code)?;
            out.iri(&contract.iri, vg("mapsContract"), &root);
        }
        for (id, source) in &self.sources {
            source.statements(&mut out, &root, id);
        }
        for (name, tool) in &self.tools {
            tool.statements(&mut out, &root, name);
        }
        for (kind, class, items) in [("prompts", "Prompt", &self.prompts), ("skills", "Skill", &self.skills)] {
            for (name, classes) in items {
                named(&mut out, &root, kind, class, name, classes);
            }
        }
        Ok(out.to_turtle())
    }
}

/// Something of the surface with its name and classes; gives its IRI.
fn named(
    out: &mut Statements,
    root: &str,
    kind: &str,
    class: &'static str,
    name: &str,
    classes: &BTreeSet<String>,
) -> String {
    let subject = format!("{root}/{kind}/{}", segment(name));
    out.class(&subject, cp(class));
    out.iri(&subject, cp("pack"), root);
    out.text(&subject, cp("name"), name);
    for class in classes {
        out.iri(&subject, vg("mapsOntologyClass"), class);
    }
    subject
}

impl SourceObject {
    fn statements(&self, out: &mut Statements, root: &str, id: &str) {
        let classes = BTreeSet::from([self.class.clone()]);
        let subject = named(out, root, "sources", "SourceObject", id, &classes);
        out.text(&subject, cp("recordType"), &self.record_type);
        out.text(&subject, vg("keyField"), &self.key);
        if let Some(cursor) = &self.cursor_field {
            out.text(&subject, cp("cursorField"), cursor);
        }
        out.flag(&subject, cp("incremental"), self.incremental);
        out.text(&subject, cp("accessPolicy"), self.access_policy.as_str());
        for class in &self.privacy {
            out.text(&subject, cp("privacyClass"), class.as_str());
        }
        for path in &self.provenance {
            out.text(&subject, cp("requiresProvenance"), path.as_str());
        }
        for (field, property) in &self.fields {
            let pair = format!("{subject}/fields/{}", segment(field));
            out.iri(&subject, vg("hasPredicateFieldPair"), &pair);
            out.class(&pair, vg("PredicateFieldPair"));
            out.text(&pair, vg("field"), field);
            out.iri(&pair, vg("predicate"), property);
        }
        for relation in &self.relations {
            let (name, field, target) =
                (segment(&relation.relationship), segment(&relation.field), segment(&relation.target));
            let place = format!("{subject}/relations/{name}/{field}/{target}");
            out.iri(&subject, cp("relation"), &place);
            out.class(&place, cp("Relation"));
            out.text(&place, cp("relationship"), &relation.relationship);
            out.text(&place, vg("field"), &relation.field);
            out.iri(&place, cp("target"), &format!("{root}/sources/{target}"));
        }
    }
}

impl PackTool {
    fn statements(&self, out: &mut Statements, root: &str, name: &str) {
        let subject = named(out, root, "tools", "Tool", name, &self.classes);
        let Some(facts) = &self.facts else { return };
        out.flag(&subject, cp("readOnly"), facts.read_only);
        for effect in &facts.side_effects {
            out.text(&subject, cp("sideEffect"), effect.as_str());
        }
        out.whole(&subject, cp("schemaTokens"), facts.schema_tokens);
        out.text(&subject, cp("declaredBy"), facts.declared_by.as_str());
        if let Some((template, most)) = &facts.readable_form {
            out.text(&subject, cp("readableTemplate"), template);
            out.whole(&subject, cp("readableChars"), *most);
        }
    }
}
