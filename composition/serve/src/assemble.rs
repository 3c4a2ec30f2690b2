//! All tools of a connector in the order of their registration: operations, written tools, actions of routers, and additional
//! tools last (SDK-CONNECTOR-CONTROL-R032).

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use scion_domain::json::Json;
use scion_domain::surface::ConnectorRefusal;
use scion_domain::tool_surface::{
    ActionSplitReport, RiskDeclaration, RouterMode, SplitOutcome, ToolName, ToolOrigin, ToolRoster, ToolSurfaceRefusal,
    ensure_classified, read_manifest, split, split_tool_classes, untyped_tools,
};

use crate::checks;
use crate::hooks::{Coercer, Registration, RegistrationContext, ToolGroup, coerced};
use crate::operation_tools::{self, OperationSet, refuse};
use crate::router::Router;
use crate::{Identity, Tool};

/// What the author declared.
#[derive(Default)]
pub(crate) struct Declared {
    pub(crate) operations: Vec<OperationSet>,
    pub(crate) manifest: Option<Json>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) routers: Vec<Router>,
    pub(crate) mode: RouterMode,
    pub(crate) additional: Vec<Tool>,
    pub(crate) risk: Option<Risk>,
    pub(crate) groups: Vec<ToolGroup>,
    pub(crate) inline: Vec<Tool>,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) coercer: Option<Coercer>,
    pub(crate) registrations: Vec<Registration>,
    pub(crate) client: Option<Arc<dyn Any + Send + Sync>>,
}

/// Who is how dangerous.
#[derive(Default)]
pub(crate) struct Risk {
    pub(crate) declared: BTreeMap<String, RiskDeclaration>,
    pub(crate) read_classes: BTreeSet<String>,
}

/// The tools, and what is known of where they come from.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) untyped: Vec<String>,
    pub(crate) report: ActionSplitReport,
    pub(crate) roster: ToolRoster,
    pub(crate) classes: BTreeMap<String, String>,
}

impl Declared {
    pub(crate) fn assemble(mut self, identity: &Identity) -> Result<(Vec<Tool>, Known), ConnectorRefusal> {
        if !self.groups.is_empty() && !self.tools.is_empty() {
            return Err(ConnectorRefusal::RegistryAndTools);
        }
        for group in std::mem::take(&mut self.groups) {
            let (tools, routers) = group.registered(&self.settings)?;
            self.tools.extend(tools);
            self.routers.extend(routers);
        }
        let manifest = self.manifest.as_ref().map(read_manifest).transpose().map_err(refuse)?;
        let operations = operation_tools::of_sets(self.operations, &identity.name, &manifest.unwrap_or_default())?;
        let (mut tools, mut known) = (Vec::new(), Known::default());
        known.untyped = untyped_tools(&operations.described).into_iter().map(ToString::to_string).collect();
        let own = match &self.coercer {
            Some(coercer) => operations.tools.into_iter().map(|tool| coerced(tool, coercer)).collect(),
            None => operations.tools,
        };
        known.add(&mut tools, own, ToolOrigin::Operation)?;
        known.add(&mut tools, self.inline, ToolOrigin::Registrar)?;
        known.add(&mut tools, self.tools, ToolOrigin::Registrar)?;

        let routers = self.routers.iter().map(Router::described).collect::<Result<Vec<_>, _>>().map_err(refuse)?;
        let served: BTreeSet<ToolName> = known.roster.tools().map(|(name, _)| name.clone()).collect();
        let (actions, report) = split(&routers, self.mode, &operations.described, &served).map_err(refuse)?;
        for entry in &report.entries {
            let SplitOutcome::Kept(reason) = entry.outcome else { continue };
            if let Some(router) = self.routers.iter().find(|router| router.spec_name() == entry.router) {
                let whole = router.keep(reason, &operations.described).map_err(refuse)?;
                known.add(&mut tools, vec![whole], ToolOrigin::Registrar)?;
            }
        }
        for action in actions {
            if let Some(router) = self.routers.iter().find(|router| router.spec_name() == action.router.as_str()) {
                known.add(&mut tools, vec![router.split(action)], ToolOrigin::Split)?;
            }
        }
        known.report = report;
        self.routers.iter().try_for_each(|router| keeps_actor(router, &known.report, &tools))?;
        known.add(&mut tools, self.additional, ToolOrigin::Additional)?;
        for registration in self.registrations {
            let names: Vec<String> = tools.iter().map(|tool| tool.spec.name.clone()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let more = registration(&RegistrationContext {
                server: &identity.name,
                version: &identity.version,
                settings: &self.settings,
                client: self.client.as_ref(),
                tools: &names,
            });
            known.add(&mut tools, more, ToolOrigin::Additional)?;
        }
        if let Some(risk) = &self.risk {
            let inherited = split_tool_classes(&risk.declared, &risk.read_classes, &known.report);
            let names = tools.iter().map(|tool| tool.spec.name.as_str());
            ensure_classified(names.clone(), &risk.declared, &inherited).map_err(refuse)?;
            let own = names.filter_map(|name| match risk.declared.get(name)? {
                RiskDeclaration::Tool(class) => Some((name.to_owned(), class.clone())),
                RiskDeclaration::Actions(_) => None,
            });
            known.classes = own.chain(inherited).collect();
        }
        Ok((tools, known))
    }
}

/// Who calls is asked for whichever tool serves an action (R902.1).
fn keeps_actor(router: &Router, report: &ActionSplitReport, tools: &[Tool]) -> Result<(), ConnectorRefusal> {
    let of_router = report.entries.iter().filter(|entry| router.requires_actor() && entry.router == router.spec_name());
    for entry in of_router {
        let Some(tool) = tools.iter().find(|tool| tool.spec.name == entry.served_by) else { continue };
        if !tool.spec.requires_actor {
            return Err(ConnectorRefusal::ActorDropped {
                router: entry.router.clone(),
                action: entry.action.clone().unwrap_or_default(),
                tool: entry.served_by.clone(),
            });
        }
    }
    Ok(())
}

impl Known {
    fn add(&mut self, all: &mut Vec<Tool>, tools: Vec<Tool>, origin: ToolOrigin) -> Result<(), ConnectorRefusal> {
        for tool in tools {
            let name = checks::name(&tool.spec.name)?;
            self.roster.add(name, origin).map_err(|refusal| match refusal {
                ToolSurfaceRefusal::Collision { tool, first, second } => {
                    ConnectorRefusal::DuplicateTool { tool, first, second }
                }
                other => refuse(other),
            })?;
            all.push(tool);
        }
        Ok(())
    }
}
