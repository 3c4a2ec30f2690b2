//! Which security schemes of a document are used, by what an operator gives: `SCHEME`, `SCHEME=REFERENCE[,REFERENCE]`, a reference
//! alone, or `none`. A secret itself is never taken, and a text that is none of these is never repeated.

use std::collections::BTreeSet;

use scion_domain::auth::AuthDeclaration;
use scion_domain::credential::SecretRef;
use scion_domain::openapi::SetupRefusal;

use crate::curated::CuratedApi;
use crate::security::{SchemeKind, SecurityScheme};

/// The most ways that are listed in one refusal.
const MAX_WAYS: usize = 6;

/// How requests are authenticated.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ChosenAuth {
    /// The declarations, all of which go with every request; none when the API is called without.
    pub declarations: Vec<AuthDeclaration>,
    /// The names of the schemes.
    pub schemes: Vec<String>,
    /// The secrets, to be looked for before serving.
    pub references: Vec<SecretRef>,
    /// The tools that want another scheme, or one more.
    pub unmet: Vec<String>,
}

/// Chooses. `owner` is what the names of environment variables begin with, `client_id` what was registered for OAuth.
pub fn choose_auth(
    api: &CuratedApi,
    given: &[String],
    owner: &str,
    client_id: Option<&str>,
) -> Result<ChosenAuth, SetupRefusal> {
    if given.iter().any(|text| text.trim() == "none") {
        return Ok(ChosenAuth { unmet: wanting(api, &[]), ..ChosenAuth::default() });
    }
    if given.is_empty() {
        let wanting = wanting(api, &[]);
        return if wanting.is_empty() {
            Ok(ChosenAuth::default())
        } else {
            Err(SetupRefusal::AuthNeeded { ways: ways(api, owner) })
        };
    }
    let mut chosen = ChosenAuth::default();
    for text in given {
        let (scheme, references) = meant(api, text.trim())?;
        let secrets = scheme.secrets(owner).into_iter();
        let references = references.unwrap_or_else(|| secrets.map(|name| SecretRef::Env { name }).collect());
        let scopes = scopes(api, &scheme.name);
        chosen.declarations.push(scheme.declare_from(&references, client_id, &scopes)?);
        chosen.schemes.push(scheme.name.clone());
        chosen.references.extend(references);
    }
    chosen.unmet = wanting(api, &chosen.schemes);
    Ok(chosen)
}

/// The scheme a text means, and the references in it.
fn meant(api: &CuratedApi, text: &str) -> Result<(SecurityScheme, Option<Vec<SecretRef>>), SetupRefusal> {
    if let Some(scheme) = api.security_schemes.get(text) {
        return Ok((scheme.clone(), None));
    }
    let unknown = || SetupRefusal::AuthUnknown { known: names(api) };
    if let Ok(reference) = SecretRef::parse(text) {
        let wanted: BTreeSet<&str> = wanted(api).flatten().collect();
        let usable = |scheme: &&SecurityScheme| scheme.secrets("").len() == 1;
        let in_use: Vec<&SecurityScheme> = api
            .security_schemes
            .values()
            .filter(usable)
            .filter(|scheme| wanted.contains(scheme.name.as_str()))
            .collect();
        let all: Vec<&SecurityScheme> = api.security_schemes.values().filter(usable).collect();
        return match (in_use.as_slice(), all.as_slice()) {
            ([only], _) | ([], [only]) => Ok(((*only).clone(), Some(vec![reference]))),
            // A document that is silent about authentication leaves the usual form.
            ([], []) if api.security_schemes.is_empty() => {
                let scheme = SecurityScheme { name: "bearer".to_owned(), kind: SchemeKind::Bearer };
                Ok((scheme, Some(vec![reference])))
            }
            (several, all) => {
                let listed = if several.is_empty() { all } else { several };
                let known: Vec<String> = listed.iter().map(|scheme| crate::text::shortened(&scheme.name, 64)).collect();
                Err(SetupRefusal::AuthScheme {
                    known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
                })
            }
        };
    }
    let (name, references) = text.split_once('=').ok_or_else(unknown)?;
    let scheme = api.security_schemes.get(name).ok_or_else(unknown)?;
    let references = references.split(',').map(|text| SecretRef::parse(text).map_err(|_| unknown()));
    Ok((scheme.clone(), Some(references.collect::<Result<_, _>>()?)))
}

fn names(api: &CuratedApi) -> String {
    let names: Vec<String> =
        api.security_schemes.keys().take(16).map(|name| crate::text::shortened(name, 64)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The schemes of every alternative of every served operation.
fn wanted(api: &CuratedApi) -> impl Iterator<Item = impl Iterator<Item = &str>> {
    let requirements = api.operations.iter().flat_map(|operation| &operation.operation.security);
    requirements.map(|requirement| requirement.schemes.iter().map(|(name, _)| name.as_str()))
}

/// The tools that cannot be called with these schemes alone.
fn wanting(api: &CuratedApi, schemes: &[String]) -> Vec<String> {
    let unmet = |security: &[crate::security::SecurityRequirement]| {
        let met = |requirement: &crate::security::SecurityRequirement| {
            requirement.schemes.iter().all(|(name, _)| schemes.contains(name))
        };
        !security.is_empty() && !security.iter().any(met)
    };
    let operations = api.operations.iter().filter(|operation| unmet(&operation.operation.security));
    operations.map(|operation| operation.tool.name.clone()).collect()
}

/// The scopes the served operations want of a scheme.
fn scopes(api: &CuratedApi, scheme: &str) -> Vec<String> {
    let requirements = api.operations.iter().flat_map(|operation| &operation.operation.security);
    let named = requirements.flat_map(|requirement| &requirement.schemes).filter(|(name, _)| name == scheme);
    let all: BTreeSet<&String> = named.flat_map(|(_, scopes)| scopes).collect();
    all.into_iter().cloned().collect()
}

/// Every way the document offers, with exactly what has to be set.
fn ways(api: &CuratedApi, owner: &str) -> String {
    let mut seen: BTreeSet<Vec<&str>> = BTreeSet::new();
    for names in wanted(api) {
        seen.insert(names.collect());
    }
    let mut usable = Vec::new();
    let mut others = Vec::new();
    for names in seen.into_iter().filter(|names| !names.is_empty()) {
        let schemes: Vec<Option<&SecurityScheme>> = names.iter().map(|name| api.security_schemes.get(*name)).collect();
        let way = schemes.iter().zip(&names).map(|(scheme, name)| way(*scheme, name, owner)).collect::<Vec<_>>();
        let supported = |scheme: Option<&SecurityScheme>| {
            scheme.is_some_and(|scheme| !matches!(scheme.kind, SchemeKind::Unsupported { .. }))
        };
        let list = if schemes.iter().copied().all(supported) { &mut usable } else { &mut others };
        list.push(way.join(" together with "));
    }
    usable.append(&mut others);
    let more = usable.len().saturating_sub(MAX_WAYS);
    usable.truncate(MAX_WAYS);
    let text = usable.join("; or ");
    if more > 0 { format!("{text}; or {more} more") } else { text }
}

fn way(scheme: Option<&SecurityScheme>, name: &str, owner: &str) -> String {
    let shown = crate::text::shortened(name, 64);
    let Some(scheme) = scheme else { return format!("`{shown}`, which the document does not describe") };
    if matches!(scheme.kind, SchemeKind::Unsupported { .. }) {
        return format!("`{shown}` ({})", scheme.described());
    }
    let client = if scheme.needs_client_id() { " --client-id ID" } else { "" };
    let secrets = scheme.secrets(owner);
    let set = if secrets.is_empty() { String::new() } else { format!(" with {} set", secrets.join(" and ")) };
    format!("--auth {shown}{client}{set} ({})", scheme.described())
}
