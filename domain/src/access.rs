//! Who may read one record (SDK-CONNECTOR-CONTROL-R014.13, `wire/mcp-surface.md` 8.4).

use std::collections::BTreeSet;

use crate::json::{Json, JsonObject};
use crate::refusals;

/// The marking of records whose source says nothing about access.
pub const UNCONFIGURED_MARKING: &str = "connector-unconfigured-acl";
/// The most entries of one descriptor, over all its lists.
pub const MAX_ENTRIES: usize = 10_000;

refusals! {
    /// Why an access descriptor is refused.
    pub enum AccessRefusal {
        /// Not an object.
        NotAnObject => "access_not_object", CallerMistake, Never,
            "an access descriptor is an object", "give an object with is_public, user_emails, group_ids, read_roles, markings";
        /// A member nobody knows.
        UnknownMember { member: String } => "access_unknown_member", CallerMistake, Never,
            "an access descriptor has no member `{member}`", "use is_public, user_emails, group_ids, read_roles, markings";
        /// A member of the wrong type.
        WrongType { member: &'static str, expected: &'static str } => "access_wrong_type", CallerMistake, Never,
            "`{member}` of an access descriptor is not {expected}", "fix the mapping that fills it";
        /// More entries than any list of readers needs.
        TooMany { count: usize, limit: usize } => "access_too_many", CallerMistake, Never,
            "an access descriptor has {count} entries; at most {limit} are kept", "grant groups instead of users";
    }
}

/// Who may read one record. The default is quarantine: not public, and marked as not configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalAccess {
    /// Anybody may.
    pub is_public: bool,
    /// Users, by mail address.
    pub user_emails: Vec<String>,
    /// Groups, by id.
    pub group_ids: Vec<String>,
    /// Roles, as the store names them.
    pub read_roles: Vec<String>,
    /// Handling marks.
    pub markings: Vec<String>,
}

impl Default for ExternalAccess {
    fn default() -> Self {
        Self { markings: vec![UNCONFIGURED_MARKING.to_owned()], ..Self::nobody() }
    }
}

impl ExternalAccess {
    /// World-readable.
    pub fn public() -> Self {
        Self { is_public: true, ..Self::nobody() }
    }

    /// Not public, nobody named, not marked: a start to name readers on.
    pub fn nobody() -> Self {
        let none = Vec::new;
        Self { is_public: false, user_emails: none(), group_ids: none(), read_roles: none(), markings: none() }
    }

    /// Reads a descriptor. Silent members are empty; unknown ones are refused, since one of them may be a mistyped
    /// restriction.
    pub fn from_json(value: &Json) -> Result<Self, AccessRefusal> {
        let members = value.as_object().ok_or(AccessRefusal::NotAnObject)?;
        let mut access = Self::nobody();
        for (member, value) in members {
            match member.as_str() {
                "is_public" => access.is_public = flag(value)?,
                "user_emails" => access.user_emails = texts("user_emails", value)?,
                "group_ids" => access.group_ids = texts("group_ids", value)?,
                "read_roles" => access.read_roles = texts("read_roles", value)?,
                "markings" => access.markings = texts("markings", value)?,
                _ => return Err(AccessRefusal::UnknownMember { member: member.chars().take(64).collect() }),
            }
        }
        let count = [&access.user_emails, &access.group_ids, &access.read_roles, &access.markings]
            .iter()
            .fold(0, |sum, list| sum + list.len());
        if count > MAX_ENTRIES {
            return Err(AccessRefusal::TooMany { count, limit: MAX_ENTRIES });
        }
        Ok(access)
    }

    /// The descriptor as JSON, every member written.
    pub fn to_json(&self) -> Json {
        let list = |items: &[String]| Json::Array(items.iter().map(|item| Json::from(item.as_str())).collect());
        Json::from([
            ("is_public", Json::Bool(self.is_public)),
            ("user_emails", list(&self.user_emails)),
            ("group_ids", list(&self.group_ids)),
            ("read_roles", list(&self.read_roles)),
            ("markings", list(&self.markings)),
        ])
    }

    /// The record properties that carry it: `access_public`, `access_read_roles` (`group:<id>`, then `user:<mail>`, then
    /// trimmed roles) and `access_markings`; blank and repeated entries are dropped, the first order is kept.
    pub fn properties(&self) -> JsonObject {
        let groups = self.group_ids.iter().filter(|id| !id.trim().is_empty()).map(|id| format!("group:{id}"));
        let users = self.user_emails.iter().filter(|mail| !mail.trim().is_empty()).map(|mail| format!("user:{mail}"));
        let roles = self.read_roles.iter().map(|role| role.trim().to_owned());
        JsonObject::from([
            ("access_public".to_owned(), Json::Bool(self.is_public)),
            ("access_read_roles".to_owned(), distinct(groups.chain(users).chain(roles))),
            ("access_markings".to_owned(), distinct(self.markings.iter().map(|mark| mark.trim().to_owned()))),
        ])
    }
}

fn distinct(texts: impl Iterator<Item = String>) -> Json {
    let mut seen = BTreeSet::new();
    Json::Array(texts.filter(|text| !text.is_empty() && seen.insert(text.clone())).map(Json::from).collect())
}

fn flag(value: &Json) -> Result<bool, AccessRefusal> {
    let wrong = AccessRefusal::WrongType { member: "is_public", expected: "a boolean" };
    // An empty text or null would count as "no" elsewhere; here a boolean is either written or absent.
    let written = !value.is_null() && value.as_str() != Some("");
    crate::values::to_boolean(value).ok().filter(|_| written).ok_or(wrong)
}

fn texts(member: &'static str, value: &Json) -> Result<Vec<String>, AccessRefusal> {
    let wrong = AccessRefusal::WrongType { member, expected: "a list of texts" };
    let items = value.as_array().ok_or(wrong.clone())?;
    items.iter().map(|item| item.as_str().map(str::to_owned).ok_or(wrong.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn vectors(section: &str) -> Json {
        let text = include_str!("../../conformance/vectors/documents.json");
        parse(text).unwrap().get(section).unwrap().clone()
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.13
    #[test]
    fn every_descriptor_of_the_vectors_gives_its_properties() {
        let cases = vectors("access");
        assert!(!cases.as_array().unwrap().is_empty());
        for case in cases.as_array().unwrap() {
            let access = ExternalAccess::from_json(case.get("input").unwrap()).unwrap();
            assert_eq!(Some(&Json::Object(access.properties())), case.get("properties"));
            assert_eq!(ExternalAccess::from_json(&access.to_json()), Ok(access));
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.13
    #[test]
    fn unknown_and_mistyped_members_are_refused_as_in_the_vectors() {
        let cases = vectors("access_refusals");
        assert!(!cases.as_array().unwrap().is_empty());
        for case in cases.as_array().unwrap() {
            let read = ExternalAccess::from_json(case.get("input").unwrap());
            if let Some(expected) = case.get("ok") {
                assert_eq!(&read.unwrap().to_json(), expected);
                continue;
            }
            let member = case.get("error").unwrap().get("fields").unwrap().as_array().unwrap()[0].as_str();
            let member = member.unwrap().split(':').next().unwrap();
            assert!(read.unwrap_err().to_string().contains(member));
        }
        for bad in ["{\"is_public\":\"maybe\"}", "{\"is_public\":null}", "{\"markings\":[1]}", "[]", "null"] {
            assert!(ExternalAccess::from_json(&parse(bad).unwrap()).is_err(), "{bad}");
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.13
    #[test]
    fn silence_is_quarantine_and_public_is_said() {
        assert_eq!(ExternalAccess::default().to_json(), vectors("default_access"));
        assert!(!ExternalAccess::default().is_public);
        assert!(ExternalAccess::public().is_public && ExternalAccess::public().markings.is_empty());
    }
}
