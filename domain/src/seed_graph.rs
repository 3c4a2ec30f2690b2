//! The seed graph: who this instance is, which objects it has, and what they refer to (SDK-CONNECTOR-CONTROL-R068). It never
//! holds rows of data.

mod emit;
mod json;
mod refusal;

pub(crate) use emit::escaped;
pub use emit::{SeedGraph, SeedPart};
pub use refusal::SeedRefusal;

use std::collections::BTreeMap;

use crate::id::ConnectorName;
use crate::json::Json;

/// The most triples of a seed graph.
pub const MAX_SEED_TRIPLES: usize = 50_000;
/// The most bytes of a seed graph.
pub const MAX_SEED_BYTES: usize = 8 << 20;
/// The longest text of a property, in characters. What is longer is data, not identity.
pub const MAX_SEED_TEXT: usize = 4096;

/// Where the seed graph of a connector is served.
pub fn seed_uri(connector: &ConnectorName) -> String {
    format!("seed://{connector}/seed.ttl")
}

/// Properties by their IRI. A value is a scalar; a list or an object is refused when the graph is written.
pub type SeedProperties = BTreeMap<String, Json>;

/// The declaration of a seed graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedGraphDeclaration {
    instance_iri: String,
    identity: SeedIdentity,
    catalog: Vec<SeedObject>,
    references: Vec<SeedReference>,
}

/// What the instance is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeedIdentity {
    /// Its class.
    pub class: Option<String>,
    /// Its name for people.
    pub label: Option<String>,
    /// What else is known of it.
    pub properties: SeedProperties,
}

/// An object the instance has, as its discovery found it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeedObject {
    /// The object.
    pub iri: String,
    /// Its class.
    pub class: String,
    /// Its name for people.
    pub label: Option<String>,
    /// What else is known of it.
    pub properties: SeedProperties,
}

/// A reference from one thing to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeedReference {
    /// From.
    pub subject: String,
    /// How.
    pub predicate: String,
    /// To.
    pub object: String,
}

impl SeedGraphDeclaration {
    /// A declaration for an instance; a blank IRI, or one that is none, is refused.
    pub fn new(instance_iri: impl Into<String>) -> Result<Self, SeedRefusal> {
        let instance_iri = instance_iri.into();
        if !is_iri(&instance_iri) {
            return Err(SeedRefusal::Instance);
        }
        Ok(Self { instance_iri, identity: SeedIdentity::default(), catalog: Vec::new(), references: Vec::new() })
    }

    /// Says what the instance is.
    #[must_use]
    pub fn identity(mut self, identity: SeedIdentity) -> Self {
        self.identity = identity;
        self
    }

    /// Adds an object to the catalog.
    #[must_use]
    pub fn object(mut self, object: SeedObject) -> Self {
        self.catalog.push(object);
        self
    }

    /// Adds a reference.
    #[must_use]
    pub fn reference(
        mut self,
        subject: impl Into<String>,
        predicate: impl Into<String>,
        object: impl Into<String>,
    ) -> Self {
        self.references.push(SeedReference {
            subject: subject.into(),
            predicate: predicate.into(),
            object: object.into(),
        });
        self
    }

    /// The instance.
    pub fn instance_iri(&self) -> &str {
        &self.instance_iri
    }

    /// What it is.
    pub const fn identity_of(&self) -> &SeedIdentity {
        &self.identity
    }

    /// Its objects, as declared.
    pub fn catalog(&self) -> &[SeedObject] {
        &self.catalog
    }

    /// Its references, as declared.
    pub fn references(&self) -> &[SeedReference] {
        &self.references
    }
}

/// Whether a text is an absolute IRI that Turtle can write between `<` and `>`.
pub(crate) fn is_iri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut first = scheme.bytes();
    text.len() <= 2048
        && !rest.is_empty()
        && first.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && first.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !rest.chars().any(|c| c.is_control() || c.is_whitespace() || "<>\"{}|^`\\".contains(c))
}
