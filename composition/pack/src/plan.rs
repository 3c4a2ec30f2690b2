//! What is read of a server, from its listings alone.

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::declaration::DECLARATION_URI;
use scion_domain::mcp::ResourceDescription;
use scion_domain::pack::{EntryKind, PackRefusal, resource_kind, skill_of};

/// One resource to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The URI it is served at.
    pub(crate) uri: String,
    /// What it becomes.
    pub(crate) kind: EntryKind,
    /// As it was listed.
    pub(crate) listed: ResourceDescription,
    /// The hash its skill's manifest gives.
    pub(crate) hash: Option<String>,
}

/// What is read.
#[derive(Debug, Default)]
pub(crate) struct ResourcePlan {
    /// Resources by URI.
    pub(crate) wanted: BTreeMap<String, Wanted>,
    /// Skills whose manifest lists their files.
    pub(crate) manifests: BTreeSet<String>,
}

/// Sorts a listing by what its entries become. The declaration is read whether it is listed or not; a URI that is listed twice is
/// refused.
pub(crate) fn resources(listed: Vec<ResourceDescription>) -> Result<ResourcePlan, PackRefusal> {
    let mut plan = ResourcePlan::default();
    let mut seen = BTreeSet::new();
    for listed in listed {
        if !seen.insert(listed.uri.clone()) {
            return Err(PackRefusal::Duplicate { uri: listed.uri });
        }
        match resource_kind(&listed.uri)? {
            Some(kind) => {
                let uri = listed.uri.clone();
                plan.wanted.insert(uri.clone(), Wanted { uri, kind, listed, hash: None });
            }
            None => {
                if let Some((skill, "_manifest")) = skill_of(&listed.uri) {
                    plan.manifests.insert(skill.to_owned());
                }
            }
        }
    }
    plan.wanted.entry(DECLARATION_URI.to_owned()).or_insert_with(|| Wanted {
        uri: DECLARATION_URI.to_owned(),
        kind: EntryKind::Resource,
        listed: ResourceDescription {
            uri: DECLARATION_URI.to_owned(),
            name: "connector-resources".to_owned(),
            ..ResourceDescription::default()
        },
        hash: None,
    });
    Ok(plan)
}
