use std::collections::{BTreeMap, BTreeSet};

use super::check::Check;
use super::finding::{CertificationFinding, CertificationRefusal};
use super::preset::check_preset;
use super::report::{CertificationReport, ToolVerdict};
use crate::declaration::{ConnectorDeclaration, SyncPreset};
use crate::digest::sha256;
use crate::fingerprint;
use crate::mcp::{ServerIdentity, ToolDescription};

/// What a server said about itself.
#[derive(Clone, Copy, Debug)]
pub struct CertificationSubject<'s> {
    /// The handshake.
    pub server: &'s ServerIdentity,
    /// `tools/list`.
    pub tools: &'s [ToolDescription],
    /// The bytes of `connector://resources`.
    pub declaration: &'s [u8],
}

/// The report of a server that could not be listed.
pub fn refused(refusal: CertificationRefusal) -> CertificationReport {
    CertificationReport { refusal: Some(refusal), ..CertificationReport::default() }
}

/// Compares a server with its own declaration.
pub fn judge(subject: &CertificationSubject<'_>) -> CertificationReport {
    match judged(subject) {
        Ok(report) => report,
        Err(refusal) => refused(refusal),
    }
}

fn judged(subject: &CertificationSubject<'_>) -> Result<CertificationReport, CertificationRefusal> {
    let bad = |what: String| CertificationRefusal::BadDeclaration { what };
    let declaration =
        ConnectorDeclaration::from_text(subject.declaration).map_err(|refusal| bad(refusal.to_string()))?;
    declaration.check().map_err(|refusal| bad(refusal.to_string()))?;
    let presets = declaration.presets().map_err(|refusal| bad(refusal.to_string()))?;
    let servers: BTreeSet<&str> = presets.iter().map(|preset| preset.server.as_str()).collect();
    let mut names = servers.iter();
    let Some(server) = names.next() else {
        return Err(CertificationRefusal::NoPreset { connector: declaration.connector.to_string() });
    };
    if let Some(second) = names.next() {
        let (first, second) = ((*server).to_owned(), (*second).to_owned());
        return Err(CertificationRefusal::SeveralServers { count: servers.len(), first, second });
    }
    let mut report = CertificationReport {
        connector: declaration.connector.to_string(),
        server: (*server).to_owned(),
        server_name: subject.server.name.clone(),
        server_version: subject.server.version.clone(),
        protocol_version: subject.server.protocol_version.clone(),
        declaration: Some(sha256(subject.declaration)),
        refusal: None,
        tools: tools(&presets, subject.tools),
        checks: Vec::new(),
    };
    report.checks.extend(parents(&declaration, &presets, subject.tools)?);
    report.checks.extend(blind_spots(&report, subject.tools));
    Ok(report)
}

fn tools(presets: &[SyncPreset], listed: &[ToolDescription]) -> Vec<ToolVerdict> {
    let mut by_tool: BTreeMap<&str, Vec<&SyncPreset>> = BTreeMap::new();
    for preset in presets {
        by_tool.entry(&preset.tool).or_default().push(preset);
    }
    let verdict = |(tool, mut presets): (&str, Vec<&SyncPreset>)| {
        presets.sort_by_key(|preset| preset.name.as_str());
        let mut outcome = Err(Vec::new());
        let mut found: Vec<CertificationFinding> = Vec::new();
        for preset in &presets {
            match check_preset(preset, listed) {
                Ok(pin) => outcome = Ok(pin),
                Err(more) => more.into_iter().for_each(|one| {
                    if !found.contains(&one) {
                        found.push(one);
                    }
                }),
            }
        }
        let outcome = if found.is_empty() { outcome } else { Err(found) };
        let presets = presets.iter().map(|preset| preset.name.to_string()).collect();
        ToolVerdict { tool: tool.to_owned(), presets, outcome }
    };
    by_tool.into_iter().map(verdict).collect()
}

/// The parents of fan-outs that have no preset of their own: a sync calls their tools too.
fn parents(
    declaration: &ConnectorDeclaration,
    presets: &[SyncPreset],
    listed: &[ToolDescription],
) -> Result<Vec<Check>, CertificationRefusal> {
    let mut seen: BTreeSet<String> = presets.iter().map(|preset| preset.name.to_string()).collect();
    let mut waiting: Vec<SyncPreset> = presets.to_vec();
    let mut checks = Vec::new();
    while let Some(child) = waiting.pop() {
        let parent = declaration.parent_preset(&child);
        let parent = parent.map_err(|refusal| CertificationRefusal::BadDeclaration { what: refusal.to_string() })?;
        let Some(parent) = parent.filter(|parent| seen.insert(parent.name.to_string())) else { continue };
        match check_preset(&parent, listed) {
            Ok(_) => checks.push(Check::passed("fan_out_parent", parent.tool.as_str(), crate::json::JsonObject::new())),
            Err(found) => {
                checks.extend(found.into_iter().map(|one| Check::failed("fan_out_parent", parent.tool.as_str(), one)));
            }
        }
        waiting.push(parent);
    }
    Ok(checks)
}

fn blind_spots(report: &CertificationReport, listed: &[ToolDescription]) -> Vec<Check> {
    let tools = report.tools.iter().filter(|verdict| verdict.outcome.is_ok());
    let described = tools.filter_map(|verdict| listed.iter().find(|tool| tool.name == verdict.tool));
    let spots = described.flat_map(|tool| {
        let spots = fingerprint::blind_spots(&tool.input_schema).into_iter();
        spots.map(|at| (tool.name.clone(), at))
    });
    spots
        .map(|(tool, at)| Check::warned("fingerprint", tool.clone(), CertificationFinding::BlindSpot { tool, at }))
        .collect()
}
