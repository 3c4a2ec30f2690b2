//! The declaration as JSON: lists of flat members, in order.

use std::collections::BTreeSet;

use super::{ConnectorPackDeclaration, PackTool, SourceObject};
use crate::access_contract::AccessContract;
use crate::json::{Json, JsonObject};

fn texts<'t>(items: impl IntoIterator<Item = &'t str>) -> Json {
    items.into_iter().map(Json::from).collect::<Vec<_>>().into()
}

fn named(name: &str, classes: &BTreeSet<String>) -> JsonObject {
    JsonObject::from([
        ("name".to_owned(), name.into()),
        ("classes".to_owned(), texts(classes.iter().map(String::as_str))),
    ])
}

impl ConnectorPackDeclaration {
    /// The document; every member is there.
    pub fn to_json(&self) -> Json {
        let item = |(name, classes): (&String, &BTreeSet<String>)| Json::Object(named(name, classes));
        Json::from([
            ("connector", self.connector.as_str().into()),
            ("contract_version", self.contract_version.as_str().into()),
            ("features", texts(self.features.iter().map(String::as_str))),
            ("sources", self.sources.iter().map(|(id, source)| source.to_json(id)).collect::<Vec<_>>().into()),
            ("contracts", self.contracts.values().map(contract).collect::<Vec<_>>().into()),
            ("tools", self.tools.iter().map(|(name, tool)| tool.to_json(name)).collect::<Vec<_>>().into()),
            ("prompts", self.prompts.iter().map(item).collect::<Vec<_>>().into()),
            ("skills", self.skills.iter().map(item).collect::<Vec<_>>().into()),
        ])
    }
}

impl SourceObject {
    fn to_json(&self, id: &str) -> Json {
        let field = |(field, property): (&String, &String)| {
            Json::from([("field", field.as_str().into()), ("property", property.as_str().into())])
        };
        let relation = |relation: &super::SourceRelation| {
            Json::from([
                ("relationship", relation.relationship.as_str().into()),
                ("field", relation.field.as_str().into()),
                ("target", relation.target.as_str().into()),
            ])
        };
        Json::from([
            ("id", id.into()),
            ("record_type", self.record_type.as_str().into()),
            ("class", self.class.as_str().into()),
            ("key", self.key.as_str().into()),
            ("fields", self.fields.iter().map(field).collect::<Vec<_>>().into()),
            ("cursor_field", self.cursor_field.as_deref().into()),
            ("incremental", self.incremental.into()),
            ("access_policy", self.access_policy.as_str().into()),
            ("privacy", texts(self.privacy.iter().map(|class| class.as_str()))),
            ("provenance", texts(self.provenance.iter().map(|path| path.as_str()))),
            ("relations", self.relations.iter().map(relation).collect::<Vec<_>>().into()),
        ])
    }
}

impl PackTool {
    fn to_json(&self, name: &str) -> Json {
        let mut members = named(name, &self.classes);
        if let Some(facts) = &self.facts {
            let form = facts.readable_form.as_ref();
            let effects = texts(facts.side_effects.iter().map(|effect| effect.as_str()));
            members.extend([
                ("read_only".to_owned(), facts.read_only.into()),
                ("side_effects".to_owned(), effects),
                ("schema_tokens".to_owned(), facts.schema_tokens.into()),
                ("declared_by".to_owned(), facts.declared_by.as_str().into()),
            ]);
            if let Some((template, most)) = form {
                members.insert("readable_template".to_owned(), template.as_str().into());
                members.insert("readable_chars".to_owned(), (*most).into());
            }
        }
        Json::Object(members)
    }
}

fn contract(contract: &AccessContract) -> Json {
    let pair = |(property, field): &(String, String)| {
        Json::from([("property", property.as_str().into()), ("field", field.as_str().into())])
    };
    let number = |number: Option<u64>| number.map_or(Json::Null, Json::from);
    Json::from([
        ("contract_iri", contract.iri.as_str().into()),
        ("class_iri", contract.class.as_str().into()),
        ("source_id", contract.source_id.as_str().into()),
        ("entity", contract.entity.as_str().into()),
        ("key_field", contract.key_field.as_str().into()),
        ("access_kind", contract.kind.as_str().into()),
        ("operation", contract.operation.as_str().into()),
        ("parameters", texts(contract.parameters.iter().map(String::as_str))),
        ("pagination", contract.pagination.as_str().into()),
        ("streaming", contract.streaming.as_str().into()),
        ("pushdown", texts(contract.pushdown.iter().map(|one| one.as_str()))),
        ("auth_model", contract.auth_model.as_str().into()),
        ("auth_ref", contract.auth_ref.as_deref().into()),
        ("rate_limit_per_minute", number(contract.rate_limit_per_minute)),
        ("freshness_seconds", number(contract.freshness_seconds)),
        ("cost_hint", contract.cost_hint.as_str().into()),
        ("predicates", contract.predicates.iter().map(pair).collect::<Vec<_>>().into()),
    ])
}
