//! Reading a declaration from JSON.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    AccessPolicy, ConnectorPackDeclaration, MAX_PACK_DECLARATION_BYTES, MAX_PACK_ITEMS, PackDeclarationRefusal,
    PackTool, PackToolFacts, PrivacyClass, ProvenanceRequirement, SourceObject, SourceRelation,
};
use crate::access_contract::{AccessContract, CostHint};
use crate::declaration::descriptor::OntologyTerms;
use crate::id::ConnectorName;
use crate::json::{Json, JsonLimits, JsonObject, parse_with};
use crate::pack::{DeclaredBy, SideEffect};
use crate::resource_descriptor::{AccessKind, ResourcePagination};
use crate::transport_contract::{AuthModel, Pushdown, StreamMode};

type Read<T> = Result<T, PackDeclarationRefusal>;

impl ConnectorPackDeclaration {
    /// Reads a declaration. With terms, each class must be one that the ontology declares.
    ///
    /// # Errors
    /// The first field that is not acceptable, by its path. No value is shown.
    pub fn from_text(text: &[u8], terms: Option<&OntologyTerms>) -> Read<Self> {
        if text.len() > MAX_PACK_DECLARATION_BYTES {
            return Err(PackDeclarationRefusal::TooLarge {
                field: "the document".to_owned(),
                limit: MAX_PACK_DECLARATION_BYTES,
            });
        }
        let limits = JsonLimits { max_bytes: MAX_PACK_DECLARATION_BYTES, ..JsonLimits::DEFAULT };
        let document = parse_with(text, limits).map_err(|refusal| PackDeclarationRefusal::NotJson { refusal })?;
        Self::from_json(&document, terms)
    }

    /// Reads a declaration that was parsed.
    ///
    /// # Errors
    /// As [`Self::from_text`].
    pub fn from_json(document: &Json, terms: Option<&OntologyTerms>) -> Read<Self> {
        let mut at = Members::of("", document)?;
        let connector = at.need("connector")?;
        let connector = ConnectorName::parse(connector).map_err(|_| at.wrong("connector"))?;
        let mut out = Self::new(connector, at.need("contract_version")?);
        out.features = at.texts("features")?;
        out.sources = at.items("sources", "id", source)?;
        out.contracts = at.items("contracts", "contract_iri", contract)?;
        out.tools = at.items("tools", "name", tool)?;
        out.prompts = at.items("prompts", "name", |at| at.texts("classes"))?;
        out.skills = at.items("skills", "name", |at| at.texts("classes"))?;
        at.end()?;
        out.check(terms)?;
        Ok(out)
    }
}

fn source(at: &mut Members<'_>) -> Read<SourceObject> {
    let key = match at.take("key") {
        None => return Err(PackDeclarationRefusal::NoKey { field: at.path("key") }),
        Some(key) => at.as_text("key", key)?.to_owned(),
    };
    Ok(SourceObject {
        record_type: at.need("record_type")?.to_owned(),
        class: match at.take("class") {
            None => return Err(PackDeclarationRefusal::Class { field: at.path("class") }),
            Some(class) => at.as_text("class", class)?.to_owned(),
        },
        key,
        fields: at.items("fields", "field", |at| at.need("property").map(str::to_owned))?,
        cursor_field: at.text("cursor_field")?.map(str::to_owned),
        incremental: at.flag("incremental")?.unwrap_or_default(),
        access_policy: at.word("access_policy", AccessPolicy::parse)?.unwrap_or(AccessPolicy::Connector),
        privacy: at.words("privacy", PrivacyClass::parse)?.unwrap_or_default(),
        provenance: at
            .words("provenance", ProvenanceRequirement::parse)?
            .unwrap_or_else(|| ProvenanceRequirement::ALL.iter().copied().collect()),
        relations: at.set("relations", |at| {
            Ok(SourceRelation {
                relationship: at.need("relationship")?.to_owned(),
                field: at.need("field")?.to_owned(),
                target: at.need("target")?.to_owned(),
            })
        })?,
    })
}

fn tool(at: &mut Members<'_>) -> Read<PackTool> {
    let classes = at.texts("classes")?;
    let Some(read_only) = at.flag("read_only")? else { return Ok(PackTool { classes, facts: None }) };
    let facts = PackToolFacts {
        read_only,
        side_effects: at.words("side_effects", SideEffect::parse)?.ok_or_else(|| at.wrong("side_effects"))?,
        schema_tokens: at.whole("schema_tokens")?.ok_or_else(|| at.wrong("schema_tokens"))?,
        declared_by: at.word("declared_by", declared_by)?.ok_or_else(|| at.wrong("declared_by"))?,
        readable_form: match (at.text("readable_template")?.map(str::to_owned), at.whole("readable_chars")?) {
            (Some(template), Some(most)) => Some((template, most)),
            (None, None) => None,
            (None, _) => return Err(at.wrong("readable_template")),
            (_, None) => return Err(at.wrong("readable_chars")),
        },
    };
    let writes = facts.side_effects.iter().any(|effect| effect.writes());
    let beside = facts.side_effects.contains(&SideEffect::None) && facts.side_effects.len() > 1;
    if facts.side_effects.is_empty() || (read_only && writes) || beside {
        return Err(at.wrong("side_effects"));
    }
    Ok(PackTool { classes, facts: Some(facts) })
}

fn declared_by(word: &str) -> Option<DeclaredBy> {
    [DeclaredBy::Connector, DeclaredBy::McpHint, DeclaredBy::Default].into_iter().find(|by| by.as_str() == word)
}

fn contract(at: &mut Members<'_>) -> Read<AccessContract> {
    let kind = at.word("access_kind", AccessKind::parse)?.ok_or_else(|| at.wrong("access_kind"))?;
    let class = at.need("class_iri")?.to_owned();
    let operation = at.need("operation")?.to_owned();
    Ok(AccessContract {
        source_id: at.need("source_id")?.to_owned(),
        entity: at.need("entity")?.to_owned(),
        key_field: at.need("key_field")?.to_owned(),
        parameters: at.texts("parameters")?,
        pagination: at.word("pagination", ResourcePagination::parse)?.unwrap_or(ResourcePagination::None),
        streaming: at.word("streaming", StreamMode::parse)?.unwrap_or(StreamMode::None),
        pushdown: at.words("pushdown", Pushdown::parse)?.unwrap_or_default(),
        auth_model: at.word("auth_model", AuthModel::parse)?.unwrap_or(AuthModel::NoAuth),
        auth_ref: at.text("auth_ref")?.map(str::to_owned),
        rate_limit_per_minute: at.whole("rate_limit_per_minute")?,
        freshness_seconds: at.whole("freshness_seconds")?,
        cost_hint: at.word("cost_hint", CostHint::parse)?.unwrap_or(CostHint::Unknown),
        predicates: at.set("predicates", |at| Ok((at.need("property")?.to_owned(), at.need("field")?.to_owned())))?,
        ..AccessContract::new(at.id.clone(), class, kind, operation)
    })
}

/// The members of one object. Each is taken once; what is left at the end is unknown.
struct Members<'j> {
    path: String,
    /// The value of the member that names the object, where it is one of a list.
    id: String,
    left: BTreeMap<&'j str, &'j Json>,
}

impl<'j> Members<'j> {
    fn of(path: &str, value: &'j Json) -> Read<Self> {
        let members: &JsonObject =
            value.as_object().ok_or_else(|| PackDeclarationRefusal::Member { field: path.to_owned() })?;
        let left = members.iter().filter(|(_, value)| !value.is_null());
        let left = left.map(|(name, value)| (name.as_str(), value)).collect();
        Ok(Self { path: path.to_owned(), id: String::new(), left })
    }

    fn path(&self, member: &str) -> String {
        let member: String = member.chars().take(64).flat_map(char::escape_debug).collect();
        if self.path.is_empty() { member } else { format!("{}.{member}", self.path) }
    }

    fn wrong(&self, member: &str) -> PackDeclarationRefusal {
        PackDeclarationRefusal::Member { field: self.path(member) }
    }

    fn take(&mut self, member: &str) -> Option<&'j Json> {
        self.left.remove(member)
    }

    /// A member that must be a value: a dictionary in its place has a refusal of its own.
    fn as_text(&self, member: &str, value: &'j Json) -> Read<&'j str> {
        if value.as_object().is_some() {
            return Err(PackDeclarationRefusal::Nested { field: self.path(member) });
        }
        value.as_str().ok_or_else(|| self.wrong(member))
    }

    fn text(&mut self, member: &str) -> Read<Option<&'j str>> {
        self.take(member).map(|value| self.as_text(member, value)).transpose()
    }

    fn need(&mut self, member: &str) -> Read<&'j str> {
        self.text(member)?.ok_or_else(|| self.wrong(member))
    }

    fn flag(&mut self, member: &str) -> Read<Option<bool>> {
        self.take(member).map(|value| value.as_bool().ok_or_else(|| self.wrong(member))).transpose()
    }

    fn whole(&mut self, member: &str) -> Read<Option<u64>> {
        let number = |value: &Json| value.as_number().and_then(crate::json::JsonNumber::as_u64);
        self.take(member).map(|value| number(value).ok_or_else(|| self.wrong(member))).transpose()
    }

    fn word<T>(&mut self, member: &str, parse: fn(&str) -> Option<T>) -> Read<Option<T>> {
        self.text(member)?.map(|word| parse(word).ok_or_else(|| self.wrong(member))).transpose()
    }

    fn list(&mut self, member: &str) -> Read<Option<&'j [Json]>> {
        let Some(value) = self.take(member) else { return Ok(None) };
        if value.as_object().is_some() {
            return Err(PackDeclarationRefusal::Nested { field: self.path(member) });
        }
        let items = value.as_array().ok_or_else(|| self.wrong(member))?;
        if items.len() > MAX_PACK_ITEMS {
            return Err(PackDeclarationRefusal::TooLarge { field: self.path(member), limit: MAX_PACK_ITEMS });
        }
        Ok(Some(items))
    }

    fn words<T: Ord>(&mut self, member: &str, parse: fn(&str) -> Option<T>) -> Read<Option<BTreeSet<T>>> {
        let Some(items) = self.list(member)? else { return Ok(None) };
        let mut out = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let here = format!("{member}[{index}]");
            let word = parse(self.as_text(&here, item)?).ok_or_else(|| self.wrong(&here))?;
            if !out.insert(word) {
                return Err(PackDeclarationRefusal::Duplicate { field: self.path(&here) });
            }
        }
        Ok(Some(out))
    }

    fn texts(&mut self, member: &str) -> Read<BTreeSet<String>> {
        Ok(self.words(member, |text| Some(text.to_owned()))?.unwrap_or_default())
    }

    /// A list of objects, each named by one of its members.
    fn items<T>(
        &mut self,
        member: &str,
        name: &str,
        mut read: impl FnMut(&mut Members<'j>) -> Read<T>,
    ) -> Read<BTreeMap<String, T>> {
        let mut out = BTreeMap::new();
        for (index, item) in self.list(member)?.unwrap_or_default().iter().enumerate() {
            let mut at = Members::of(&self.path(&format!("{member}[{index}]")), item)?;
            at.id = at.need(name)?.to_owned();
            if out.contains_key(&at.id) {
                return Err(PackDeclarationRefusal::Duplicate { field: at.path(name) });
            }
            let value = read(&mut at)?;
            out.insert(at.id.clone(), value);
            at.end()?;
        }
        Ok(out)
    }

    /// A list of objects that have no name.
    fn set<T: Ord>(&mut self, member: &str, mut read: impl FnMut(&mut Members<'j>) -> Read<T>) -> Read<BTreeSet<T>> {
        let mut out = BTreeSet::new();
        for (index, item) in self.list(member)?.unwrap_or_default().iter().enumerate() {
            let mut at = Members::of(&self.path(&format!("{member}[{index}]")), item)?;
            if !out.insert(read(&mut at)?) {
                return Err(PackDeclarationRefusal::Duplicate { field: at.path.clone() });
            }
            at.end()?;
        }
        Ok(out)
    }

    fn end(&self) -> Read<()> {
        match self.left.iter().next() {
            None => Ok(()),
            Some((member, value)) if value.as_object().is_some() => {
                Err(PackDeclarationRefusal::Nested { field: self.path(member) })
            }
            Some((member, _)) => Err(self.wrong(member)),
        }
    }
}
