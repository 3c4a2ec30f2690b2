//! The rules of declared descriptors.

use super::{DescriptorRefusal, OntologyTerms};
use crate::declaration::refusal::shown;
use crate::json::{Json, JsonObject};
use crate::resource_descriptor::{AccessKind, ResourcePagination, is_credential_reference, shows_secret};

/// Checks the members that are given, of each declared descriptor. Without terms, classes are not looked up.
pub fn check(declared: &[JsonObject], terms: Option<&OntologyTerms>) -> Result<(), DescriptorRefusal> {
    declared.iter().try_for_each(|members| check_one(members, terms))
}

pub(super) fn check_one(members: &JsonObject, terms: Option<&OntologyTerms>) -> Result<(), DescriptorRefusal> {
    let name = || shown(members.get("name").and_then(Json::as_str).unwrap_or("(unnamed)"));
    let given = |member: &str| members.get(member).filter(|value| !value.is_null());
    if let (Some(class), Some(terms)) = (given("ontology_class"), terms)
        && !class.as_str().is_some_and(|iri| terms.has_class(iri))
    {
        return Err(DescriptorRefusal::Unmapped { name: name() });
    }
    let known =
        |member: &str, is_word: fn(&str) -> bool| given(member).is_none_or(|value| value.as_str().is_some_and(is_word));
    if !known("access_kind", |word| AccessKind::parse(word).is_some()) {
        return Err(DescriptorRefusal::AccessKind { name: name() });
    }
    if !known("pagination", |word| ResourcePagination::parse(word).is_some()) {
        return Err(DescriptorRefusal::Pagination { name: name() });
    }
    match given("credential_ref") {
        Some(value) if !value.as_str().is_some_and(is_credential_reference) => {
            Err(DescriptorRefusal::Secret { name: name() })
        }
        // A token in an argument or an owner is as public as one in credential_ref.
        _ if shows_secret(members) => Err(DescriptorRefusal::Secret { name: name() }),
        _ => Ok(()),
    }
}
