//! Reading a descriptor as served.

use std::collections::BTreeMap;

use super::{Descriptor, DescriptorField, DescriptorRefusal, MappingStatus};
use crate::declaration::refusal::shown;
use crate::json::{Json, JsonObject};
use crate::resource_descriptor::{AccessKind, ResourcePagination, is_credential_reference};

impl MappingStatus {
    fn parse(word: &str) -> Option<Self> {
        [Self::Unmapped, Self::Proposed, Self::Declared].into_iter().find(|known| known.as_str() == word)
    }
}

impl Descriptor {
    /// Reads the wire form back, for one who has the declaration of a live server. Members nobody knows are left alone, as in
    /// the declaration they stand in; what a contract is made of must be there.
    pub fn from_json(members: &JsonObject) -> Result<Self, DescriptorRefusal> {
        let given = |member: &str| members.get(member).filter(|value| !value.is_null());
        let name = given("name").and_then(Json::as_str).filter(|name| !name.is_empty());
        let Some(name) = name else {
            return Err(DescriptorRefusal::Incomplete { name: "(unnamed)".to_owned(), member: "name" });
        };
        let wrong = |member: &str| DescriptorRefusal::Member { name: shown(name), member: member.to_owned() };
        let text = |member: &str| {
            given(member).map(|value| value.as_str().map(str::to_owned).ok_or_else(|| wrong(member))).transpose()
        };
        let need = |member: &'static str| {
            let found = text(member)?.filter(|text| !text.is_empty());
            found.ok_or_else(|| DescriptorRefusal::Incomplete { name: shown(name), member })
        };
        let access_kind = need("access_kind")?;
        if AccessKind::parse(&access_kind).is_none() {
            return Err(DescriptorRefusal::AccessKind { name: shown(name) });
        }
        let pagination = text("pagination")?.unwrap_or_default();
        if ResourcePagination::parse(&pagination).is_none() {
            return Err(DescriptorRefusal::Pagination { name: shown(name) });
        }
        let credential_ref = text("credential_ref")?;
        if credential_ref.as_deref().is_some_and(|text| !is_credential_reference(text)) {
            return Err(DescriptorRefusal::Secret { name: shown(name) });
        }
        let fields = given("fields").map_or(Ok(&[][..]), |value| value.as_array().ok_or_else(|| wrong("fields")))?;
        let field = |(index, item): (usize, &Json)| {
            let member = |member: &str| item.get(member).and_then(Json::as_str);
            let read = || {
                Some(DescriptorField {
                    name: member("name")?.to_owned(),
                    kind: member("type")?.to_owned(),
                    ontology_property: member("ontology_property").map(str::to_owned),
                    mapping_status: MappingStatus::parse(member("mapping_status")?)?,
                })
            };
            read().ok_or_else(|| DescriptorRefusal::Field { name: shown(name), index })
        };
        let status = need("mapping_status")?;
        Ok(Self {
            name: name.to_owned(),
            uri: need("uri")?,
            declared: need("origin")? == "declared",
            ontology_class: text("ontology_class")?,
            mapping_status: MappingStatus::parse(&status).ok_or_else(|| wrong("mapping_status"))?,
            fields: fields.iter().enumerate().map(field).collect::<Result<_, _>>()?,
            access_kind,
            operation: need("operation")?,
            get_operation: text("get_operation")?,
            arguments: given("arguments")
                .map_or(Ok(BTreeMap::new()), |value| value.as_object().cloned().ok_or_else(|| wrong("arguments")))?,
            key_field: need("key_field")?,
            pagination,
            pagination_param: text("pagination_param")?,
            read_only: given("read_only").and_then(Json::as_bool).ok_or_else(|| wrong("read_only"))?,
            owner: text("owner")?,
            credential_ref,
        })
    }
}
