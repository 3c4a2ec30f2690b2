//! Resources: texts a server shows, and resource models with their relations.

use scion_domain::json::{Json, JsonObject};

/// A text served under a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextResource {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) text: String,
}

impl TextResource {
    /// A resource. `connector://resources` may be served this way too: it then replaces the assembled declaration.
    pub fn new(
        uri: impl Into<String>,
        name: impl Into<String>,
        media_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self { uri: uri.into(), name: name.into(), media_type: media_type.into(), text: text.into() }
    }
}

/// A resource model of the declaration: a type and the relations it can have.
#[derive(Clone, Debug)]
pub struct ResourceModel {
    members: JsonObject,
    relations: Vec<Relation>,
}

impl ResourceModel {
    /// A model of this name.
    pub fn new(name: &str) -> Self {
        Self { members: JsonObject::from([("name".to_owned(), name.into())]), relations: Vec::new() }
    }

    /// Its label for people.
    #[must_use]
    pub fn label(mut self, label: &str) -> Self {
        self.members.insert("label".to_owned(), label.into());
        self
    }

    /// The prefix of its ids.
    #[must_use]
    pub fn id_prefix(mut self, prefix: &str) -> Self {
        self.members.insert("id_prefix".to_owned(), prefix.into());
        self
    }

    /// A relation it can have.
    #[must_use]
    pub fn relation(mut self, relation: Relation) -> Self {
        self.relations.push(relation);
        self
    }

    pub(crate) fn document(&self) -> Json {
        let mut members = self.members.clone();
        if !self.relations.is_empty() {
            let relations = self.relations.iter().map(|one| Json::Object(one.members.clone())).collect::<Vec<_>>();
            members.insert("relations".to_owned(), relations.into());
        }
        members.into()
    }
}

/// A relation of a resource model.
#[derive(Clone, Debug)]
pub struct Relation {
    members: JsonObject,
}

impl Relation {
    /// A relation that leads to the model `target`.
    pub fn new(name: &str, target: &str) -> Self {
        Self { members: JsonObject::from([("name".to_owned(), name.into()), ("target".to_owned(), target.into())]) }
    }

    /// Its label for people.
    #[must_use]
    pub fn label(mut self, label: &str) -> Self {
        self.members.insert("label".to_owned(), label.into());
        self
    }
}
