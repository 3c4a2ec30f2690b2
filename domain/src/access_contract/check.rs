//! What a contract must be, whoever made it.

use super::{AccessContract, AccessContractRefusal, MAX_CONTRACT_TEXT, MAX_CONTRACT_VALUES, is_absolute_iri};
use crate::declaration::refusal::shown;
use crate::redaction::contains_secret;
use crate::resource_descriptor::{ResourcePagination, is_credential_reference};
use crate::transport_contract::StreamMode;

/// The IRI of a contract for a refusal: short, and without what looks like a secret.
pub(super) fn named(iri: &str) -> String {
    if is_absolute_iri(iri) && !contains_secret(iri) { format!("<{}>", shown(iri)) } else { "(unnamed)".to_owned() }
}

impl AccessContract {
    /// Checks everything that the types do not say.
    ///
    /// # Errors
    /// The first field that is not acceptable.
    pub fn check(&self) -> Result<(), AccessContractRefusal> {
        let contract = || named(&self.iri);
        let value = |field, what| Err(AccessContractRefusal::Value { contract: contract(), field, what });
        let secret = |field| Err(AccessContractRefusal::Secret { contract: contract(), field });
        for (field, iri) in [("its own IRI", &self.iri), ("classIri", &self.class)] {
            if contains_secret(iri) {
                return secret(field);
            }
            if !is_absolute_iri(iri) {
                return value(field, "an absolute IRI");
            }
        }
        let texts = [
            ("sourceId", &self.source_id),
            ("entity", &self.entity),
            ("keyField", &self.key_field),
            ("operation", &self.operation),
        ];
        let parameters = self.parameters.iter().map(|text| ("parameter", text));
        let fields = self.predicates.iter().map(|(_, field)| ("field", field));
        for (field, text) in texts.into_iter().chain(parameters).chain(fields) {
            if text.trim().is_empty() {
                return Err(AccessContractRefusal::Missing { contract: contract(), field });
            }
            if text.len() > MAX_CONTRACT_TEXT {
                return value(field, "short enough");
            }
            if contains_secret(text) || has_user_info(text) {
                return secret(field);
            }
        }
        if let Some(property) = self.predicates.iter().map(|(property, _)| property).find(|iri| !is_absolute_iri(iri)) {
            return if contains_secret(property) { secret("property") } else { value("property", "an absolute IRI") };
        }
        for (what, count) in [("parameters", self.parameters.len()), ("fields", self.predicates.len())] {
            if count > MAX_CONTRACT_VALUES {
                return Err(AccessContractRefusal::TooLarge { what, limit: MAX_CONTRACT_VALUES });
            }
        }
        if self.auth_ref.as_deref().is_some_and(|text| !is_credential_reference(text)) {
            return secret("authRef");
        }
        if self.rate_limit_per_minute == Some(0) {
            return value("rateLimitPerMinute", "at least one");
        }
        if !self.transport().is_consistent() {
            return Err(AccessContractRefusal::Stream { contract: contract() });
        }
        debug_assert!(self.streaming == StreamMode::None || self.pagination == ResourcePagination::None);
        Ok(())
    }
}

/// Whether a text is a URL that names a user: what stands before the `@` is a password more often than not.
fn has_user_info(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}
