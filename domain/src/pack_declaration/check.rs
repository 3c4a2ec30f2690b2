//! What a declaration must be, whoever made it.

use super::{
    ConnectorPackDeclaration, MAX_PACK_ITEMS, MAX_PACK_TEXT, PackDeclarationRefusal, SourceObject, contract_uri,
};
use crate::access_contract::is_absolute_iri;
use crate::declaration::descriptor::OntologyTerms;
use crate::declaration::refusal::shown;
use crate::redaction::contains_secret;
use crate::refusal::Refusal as _;

type Checked = Result<(), PackDeclarationRefusal>;

impl ConnectorPackDeclaration {
    /// Checks everything that the types do not say. With terms, each class must be one that the ontology declares.
    ///
    /// # Errors
    /// The first field that is not acceptable.
    pub fn check(&self, terms: Option<&OntologyTerms>) -> Checked {
        text("contract_version", &self.contract_version)?;
        if self.contract_version.len() > 64 {
            return Err(PackDeclarationRefusal::TooLarge { field: "contract_version".to_owned(), limit: 64 });
        }
        for (field, count) in [
            ("features", self.features.len()),
            ("sources", self.sources.len()),
            ("contracts", self.contracts.len()),
            ("tools", self.tools.len()),
            ("prompts", self.prompts.len()),
            ("skills", self.skills.len()),
        ] {
            bound(field, count)?;
        }
        for (index, feature) in self.features.iter().enumerate() {
            text(&format!("features[{index}]"), feature)?;
        }
        for (index, (id, source)) in self.sources.iter().enumerate() {
            self.check_source(&place("sources", index, id), id, source, terms)?;
        }
        let data = format!("{}/data/", contract_uri(&self.connector));
        for (index, (iri, contract)) in self.contracts.iter().enumerate() {
            let field = place("contracts", index, iri);
            // Below one folder of its own and without a folder in it, so that no two things of a pack share an IRI.
            let own = iri.strip_prefix(&data).is_some_and(|name| !name.is_empty() && !name.contains(['/', '#', '?']));
            if *iri != contract.iri || !own {
                return Err(PackDeclarationRefusal::Member { field: format!("{field}.contract_iri") });
            }
            contract
                .check()
                .map_err(|refusal| PackDeclarationRefusal::Contract { field: field.clone(), code: refusal.code() })?;
            class(&format!("{field}.class_iri"), &contract.class, terms)?;
        }
        let tools = self.tools.iter().map(|(name, tool)| (name, &tool.classes));
        let lists: [(&str, Vec<_>); 3] = [
            ("tools", tools.collect()),
            ("prompts", self.prompts.iter().collect()),
            ("skills", self.skills.iter().collect()),
        ];
        for (list, items) in lists {
            for (index, (name, classes)) in items.into_iter().enumerate() {
                let field = place(list, index, name);
                text(&format!("{field}.name"), name)?;
                for (nth, iri) in classes.iter().enumerate() {
                    class(&format!("{field}.classes[{nth}]"), iri, terms)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_source(
        &self,
        field: &str,
        id: &str,
        source: &SourceObject,
        terms: Option<&OntologyTerms>,
    ) -> Checked {
        text(&format!("{field}.id"), id)?;
        text(&format!("{field}.record_type"), &source.record_type)?;
        class(&format!("{field}.class"), &source.class, terms)?;
        if source.key.trim().is_empty() {
            return Err(PackDeclarationRefusal::NoKey { field: format!("{field}.key") });
        }
        text(&format!("{field}.key"), &source.key)?;
        match (&source.cursor_field, source.incremental) {
            (Some(cursor), _) => text(&format!("{field}.cursor_field"), cursor)?,
            (None, true) => return Err(PackDeclarationRefusal::Member { field: format!("{field}.cursor_field") }),
            (None, false) => {}
        }
        bound(&format!("{field}.fields"), source.fields.len())?;
        for (index, (name, property)) in source.fields.iter().enumerate() {
            let field = place(&format!("{field}.fields"), index, name);
            text(&format!("{field}.field"), name)?;
            iri(&format!("{field}.property"), property)?;
        }
        bound(&format!("{field}.relations"), source.relations.len())?;
        for (index, relation) in source.relations.iter().enumerate() {
            text(&format!("{field}.relations[{index}].relationship"), &relation.relationship)?;
            text(&format!("{field}.relations[{index}].field"), &relation.field)?;
            if !self.sources.contains_key(&relation.target) {
                return Err(PackDeclarationRefusal::Target { field: format!("{field}.relations[{index}].target") });
            }
        }
        Ok(())
    }
}

/// An item of a list by its name, which stays the same however the list is ordered; by its number where the name cannot be shown.
fn place(list: &str, index: usize, name: &str) -> String {
    if name.trim().is_empty() || contains_secret(name) {
        format!("{list}[{index}]")
    } else {
        format!("{list}[{}]", shown(name))
    }
}

fn bound(field: &str, count: usize) -> Checked {
    if count > MAX_PACK_ITEMS {
        return Err(PackDeclarationRefusal::TooLarge { field: field.to_owned(), limit: MAX_PACK_ITEMS });
    }
    Ok(())
}

fn text(field: &str, text: &str) -> Checked {
    if text.trim().is_empty() {
        return Err(PackDeclarationRefusal::Member { field: field.to_owned() });
    }
    if text.len() > MAX_PACK_TEXT {
        return Err(PackDeclarationRefusal::TooLarge { field: field.to_owned(), limit: MAX_PACK_TEXT });
    }
    if contains_secret(text) {
        return Err(PackDeclarationRefusal::Secret { field: field.to_owned() });
    }
    Ok(())
}

fn iri(field: &str, iri: &str) -> Checked {
    text(field, iri)?;
    if is_absolute_iri(iri) { Ok(()) } else { Err(PackDeclarationRefusal::Member { field: field.to_owned() }) }
}

fn class(field: &str, iri: &str, terms: Option<&OntologyTerms>) -> Checked {
    if contains_secret(iri) {
        return Err(PackDeclarationRefusal::Secret { field: field.to_owned() });
    }
    if is_absolute_iri(iri) && terms.is_none_or(|terms| terms.has_class(iri)) {
        return Ok(());
    }
    Err(PackDeclarationRefusal::Class { field: field.to_owned() })
}
