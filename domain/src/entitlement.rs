//! Which backend resources a caller may reach (SDK-CONNECTOR-CONTROL-R025, R036): from the capabilities of a verified caller to a
//! subset of a catalogue. Nothing here reads the catalogue before the caller is known to be somebody.

use std::collections::BTreeSet;

use crate::id::TenantId;
use crate::json::Json;
use crate::refusals;
use crate::served_security::VerifiedToken;
use crate::surface::CallerIdentity;

refusals! {
    /// Why nothing is resolved.
    pub enum EntitlementRefusal {
        /// Nobody verified the caller.
        Unauthenticated => "entitlement_unauthenticated", Denied, Never,
            "the caller is not authenticated, so it may reach nothing", "authenticate first";
        /// The caller belongs to no tenant.
        NoTenant => "entitlement_no_tenant", Denied, Never,
            "the caller belongs to no tenant, so it may reach nothing", "use a credential with a tenant";
        /// A kind of resource that is no word.
        Kind => "entitlement_kind", CallerMistake, Never,
            "a kind of resource is not one word", "use lower-case letters, digits, `_` and `-`";
    }
}

/// Capabilities that reach everything of every kind.
const SUPER: [&str; 2] = ["admin", "system"];

/// Who asks, as its verifier says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntitlementActor {
    /// Whether it was verified.
    pub authenticated: bool,
    /// Its tenant.
    pub tenant: Option<TenantId>,
    /// Its roles, groups and capabilities.
    pub capabilities: BTreeSet<String>,
}

/// The claims that hold capabilities: a list of texts, or one text.
const CAPABILITY_CLAIMS: [&str; 2] = ["roles", "groups"];

impl EntitlementActor {
    /// The caller of a served operation: the tenant its listener made sure of, and the roles and groups of its verified token.
    /// Claims of other types give nothing; scopes are no capabilities.
    pub fn of(caller: &CallerIdentity, token: &VerifiedToken) -> Self {
        let mut capabilities = BTreeSet::new();
        for claim in CAPABILITY_CLAIMS {
            match token.claims.get(claim) {
                Some(Json::String(one)) => capabilities.extend([one.clone()]),
                Some(Json::Array(many)) => capabilities.extend(many.iter().filter_map(Json::as_str).map(str::to_owned)),
                _ => {}
            }
        }
        capabilities.remove("");
        Self { authenticated: true, tenant: Some(caller.tenant.clone()), capabilities }
    }

    fn check(&self) -> Result<(), EntitlementRefusal> {
        match (self.authenticated, &self.tenant) {
            (false, _) => Err(EntitlementRefusal::Unauthenticated),
            (true, None) => Err(EntitlementRefusal::NoTenant),
            (true, Some(_)) => Ok(()),
        }
    }
}

/// One resource of a catalogue. A resource inside another, a client of a realm or a collection of a vault, names that one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CatalogueEntry {
    /// Its kind, which is the namespace of the capabilities for it: `realm`, `host`, `vault`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The kind and name of the resource it is in.
    pub inside: Option<(String, String)>,
}

impl CatalogueEntry {
    /// A resource of its own.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), name: name.into(), inside: None }
    }

    /// The same resource inside another.
    #[must_use]
    pub fn inside(mut self, kind: impl Into<String>, name: impl Into<String>) -> Self {
        self.inside = Some((kind.into(), name.into()));
        self
    }
}

/// The resources that a caller's capabilities entitle it to, in the catalogue's order. `catalogue` is called only for a
/// verified caller of a tenant.
///
/// - `realm:sales` is that realm, with what is inside it;
/// - `realm:*` is every realm, with what is inside;
/// - `sales`, a bare name, is everything of that name, whatever its kind, so that a fleet without namespaces needs no set-up;
/// - `admin` and `system` are everything.
///
/// A resource inside another is also reached by its full name, `client:sales/portal`. Nothing that matches is nothing at all.
pub fn entitled<'c, I: IntoIterator<Item = &'c CatalogueEntry>>(
    actor: &EntitlementActor,
    catalogue: impl FnOnce() -> I,
) -> Result<Vec<&'c CatalogueEntry>, EntitlementRefusal> {
    actor.check()?;
    if actor.capabilities.is_empty() {
        return Ok(Vec::new());
    }
    let everything = SUPER.iter().any(|word| actor.capabilities.contains(*word));
    let mut found = Vec::new();
    for entry in catalogue() {
        let kind = |kind: &str| {
            let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
            !kind.is_empty() && kind.bytes().all(word)
        };
        if !kind(&entry.kind) || !entry.inside.as_ref().is_none_or(|(outer, _)| kind(outer)) {
            return Err(EntitlementRefusal::Kind);
        }
        if everything || reaches(&actor.capabilities, entry) {
            found.push(entry);
        }
    }
    Ok(found)
}

fn reaches(capabilities: &BTreeSet<String>, entry: &CatalogueEntry) -> bool {
    // `*` as a name would make one capability mean two things, and a colon in a bare name would let a name of one kind pass for
    // a namespaced capability of another.
    let named = |kind: &str, name: &str| {
        capabilities.contains(&format!("{kind}:*"))
            || (name != "*" && capabilities.contains(&format!("{kind}:{name}")))
            || (name != "*" && !name.contains(':') && !SUPER.contains(&name) && capabilities.contains(name))
    };
    match &entry.inside {
        None => named(&entry.kind, &entry.name),
        Some((kind, outer)) => {
            named(kind, outer)
                || capabilities.contains(&format!("{}:*", entry.kind))
                || capabilities.contains(&format!("{}:{outer}/{}", entry.kind, entry.name))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn actor(capabilities: &[&str]) -> EntitlementActor {
        EntitlementActor {
            authenticated: true,
            tenant: Some(TenantId::parse("acme").unwrap()),
            capabilities: capabilities.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    fn caller(claims: &str) -> EntitlementActor {
        let identity = CallerIdentity::new(TenantId::parse("acme").unwrap(), "ada", "assistant").unwrap();
        let claims = crate::json::parse(claims).unwrap().as_object().unwrap().clone();
        EntitlementActor::of(&identity, &VerifiedToken::from_claims(claims))
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R025
    #[test]
    fn a_served_caller_brings_the_roles_and_groups_of_its_token() {
        assert_eq!(caller(r#"{"roles":["realm:sales"],"groups":["family"]}"#), actor(&["realm:sales", "family"]));
        assert_eq!(caller(r#"{"roles":"realm:*"}"#), actor(&["realm:*"]));
        for nothing in ["{}", r#"{"roles":7,"groups":{"admin":1}}"#, r#"{"roles":["",["admin"]],"groups":""}"#] {
            assert_eq!(caller(nothing), actor(&[]), "{nothing}");
        }
        let scopes = caller(r#"{"scope":"admin","scp":["system"],"tenant":"other"}"#);
        assert_eq!(scopes, actor(&[]), "neither scopes nor a tenant of the claims count");
        let all = catalogue();
        let names: Vec<_> =
            entitled(&caller(r#"{"roles":["host:web-1"]}"#), || &all).unwrap().iter().map(|e| e.name.clone()).collect();
        assert_eq!(names, ["web-1"]);
        assert!(entitled(&caller("{}"), || &all).unwrap().is_empty());
    }

    fn catalogue() -> Vec<CatalogueEntry> {
        vec![
            CatalogueEntry::new("realm", "sales"),
            CatalogueEntry::new("client", "portal").inside("realm", "sales"),
            CatalogueEntry::new("client", "portal").inside("realm", "ops"),
            CatalogueEntry::new("realm", "ops"),
            CatalogueEntry::new("host", "web-1"),
            CatalogueEntry::new("host", "sales"),
            CatalogueEntry::new("vault", "family"),
            CatalogueEntry::new("collection", "keys").inside("vault", "family"),
        ]
    }

    fn found(capabilities: &[&str]) -> Vec<String> {
        let all = catalogue();
        let path = |entry: &&CatalogueEntry| match &entry.inside {
            Some((_, outer)) => format!("{}:{outer}/{}", entry.kind, entry.name),
            None => format!("{}:{}", entry.kind, entry.name),
        };
        entitled(&actor(capabilities), || &all).unwrap().iter().map(path).collect()
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R025
    #[test]
    fn each_form_of_a_capability_reaches_its_subset() {
        assert_eq!(found(&["host:web-1"]), ["host:web-1"]);
        assert_eq!(found(&["host:*"]), ["host:web-1", "host:sales"]);
        assert_eq!(found(&["sales"]), ["realm:sales", "client:sales/portal", "host:sales"]);
        for word in ["admin", "system"] {
            assert_eq!(found(&[word]).len(), catalogue().len());
        }
        for none in [&["host:web"][..], &["web-1:host"], &["*"], &["realm"], &[]] {
            assert!(found(none).is_empty(), "{none:?}");
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R036
    #[test]
    fn realms_hosts_and_vaults_are_catalogues() {
        assert_eq!(found(&["realm:sales"]), ["realm:sales", "client:sales/portal"]);
        assert_eq!(found(&["client:ops/portal"]), ["client:ops/portal"]);
        assert_eq!(found(&["client:*"]), ["client:sales/portal", "client:ops/portal"]);
        // A client of that name in another realm is not meant by its bare name.
        assert!(found(&["portal"]).is_empty());
        assert_eq!(found(&["vault:family"]), ["vault:family", "collection:family/keys"]);
        assert_eq!(found(&["host:web-1", "collection:family/keys"]), ["host:web-1", "collection:family/keys"]);
        assert!(found(&["vault:other"]).is_empty());
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R025
    #[test]
    fn nobody_sees_the_catalogue_before_it_is_somebody() {
        let unread = || -> Vec<&CatalogueEntry> { panic!("the catalogue was read") };
        let nobody = EntitlementActor { authenticated: false, ..actor(&["admin"]) };
        assert_eq!(entitled(&nobody, unread), Err(EntitlementRefusal::Unauthenticated));
        let homeless = EntitlementActor { tenant: None, ..actor(&["admin"]) };
        assert_eq!(entitled(&homeless, unread), Err(EntitlementRefusal::NoTenant));
        assert_eq!(entitled(&actor(&[]), unread), Ok(Vec::new()));
    }

    #[test]
    fn a_name_cannot_pass_for_another_kind_of_capability() {
        let reach = |entry: CatalogueEntry, word: &str| {
            let all = [entry];
            entitled(&actor(&[word]), || &all).map(|found| found.len())
        };
        assert_eq!(reach(CatalogueEntry::new("host", "realm:*"), "realm:*"), Ok(0));
        assert_eq!(reach(CatalogueEntry::new("host", "*"), "*"), Ok(0));
        assert_eq!(reach(CatalogueEntry::new("a:b", "c"), "admin"), Err(EntitlementRefusal::Kind));
        assert_eq!(reach(CatalogueEntry::new("client", "x").inside("", "y"), "admin"), Err(EntitlementRefusal::Kind));
    }
}
