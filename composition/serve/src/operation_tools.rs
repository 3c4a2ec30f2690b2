//! From bound operations to tools (SDK-CONNECTOR-CONTROL-R020).

use std::sync::Arc;

use scion_domain::surface::ConnectorRefusal;
use scion_domain::tool_surface::{
    ManifestEntry, Operation, OperationTool, ToolPrefix, ToolSurfaceRefusal, operation_tools,
};

use crate::confirm::Asks;
use crate::operations::BoundOperation;
use crate::router::closed;
use crate::tool::Handler;
use crate::{Args, Tool, ToolRefusal};

/// The operations of one client under one prefix.
pub(crate) struct OperationSet {
    pub(crate) prefix: Option<String>,
    pub(crate) operations: Vec<BoundOperation>,
}

/// The tools of all clients, with what is known of their operations.
#[derive(Default)]
pub(crate) struct OperationTools {
    pub(crate) tools: Vec<Tool>,
    pub(crate) described: Vec<OperationTool>,
}

/// One tool for each operation of each client; `service` gives the prefix where the author declared none. An entry of the
/// manifest speaks for every operation of its name, and is refused when there is none.
pub(crate) fn of_sets(
    sets: Vec<OperationSet>,
    service: &str,
    manifest: &[ManifestEntry],
) -> Result<OperationTools, ConnectorRefusal> {
    let known = |method: &str| sets.iter().any(|set| set.operations.iter().any(|o| o.operation.method == method));
    if let Some(stray) = manifest.iter().find(|entry| !known(&entry.method)) {
        let what = "there is no such operation";
        return Err(refuse(ToolSurfaceRefusal::Manifest { place: stray.method.clone(), what }));
    }
    let mut all = OperationTools::default();
    for set in sets {
        let prefix = ToolPrefix::of_service(service, set.prefix.as_deref()).map_err(refuse)?;
        let described: Vec<Operation> = set.operations.iter().map(|bound| bound.operation.clone()).collect();
        let own = manifest.iter().filter(|entry| described.iter().any(|known| known.method == entry.method));
        let own: Vec<ManifestEntry> = own.cloned().collect();
        let tools = operation_tools(&prefix, &described, &own).map_err(refuse)?;
        for (tool, bound) in tools.into_iter().zip(set.operations) {
            let entry = own.iter().find(|entry| entry.method == tool.method);
            if let Some(first) = all.described.iter().find(|other| other.name == tool.name) {
                let (first, second) = (qualified(first), qualified(&tool));
                return Err(refuse(ToolSurfaceRefusal::Collision { tool: tool.name.to_string(), first, second }));
            }
            all.described.push(tool.clone());
            all.tools.push(of_operation(tool, bound, entry));
        }
    }
    Ok(all)
}

fn qualified(tool: &OperationTool) -> String {
    format!("the operation `{}`", tool.method)
}

pub(crate) fn refuse(refusal: ToolSurfaceRefusal) -> ConnectorRefusal {
    use scion_domain::refusal::Refusal as _;
    ConnectorRefusal::Operations { code: refusal.code(), refusal }
}

fn of_operation(tool: OperationTool, bound: BoundOperation, entry: Option<&ManifestEntry>) -> Tool {
    let BoundOperation { output, sources, said, handler, .. } = bound;
    let mut hints = tool.hints;
    let mut asks = if tool.asks { Asks::Always } else { Asks::Never };
    // The manifest goes before what the operation says itself.
    let by_manifest = entry.is_some_and(|entry| entry.destructive.is_some());
    if let Some(destructive) = said.destructive.filter(|_| !by_manifest) {
        hints.destructive = Some(destructive);
        // What destroys something does not only read, and what does not is no more read-only than its verb made it.
        hints.read_only = hints.read_only.map(|reads| reads && !destructive);
        asks = if destructive { Asks::Always } else { Asks::Never };
    }
    let mut builder = Tool::with_hints(tool.name.as_str(), hints)
        .title(said.title.unwrap_or_else(|| tool.title.clone()))
        .description(tool.description.as_str())
        .input_schema(closed(tool.inputs.schema()));
    builder.meta.extend(tool.meta());
    builder.output = output;
    builder.sources = sources;
    builder.version = said.version;
    builder.operation = Some(tool.method.clone());
    builder.asks = Some(asks);
    builder.requires_actor = said.requires_actor || entry.is_some_and(|entry| entry.requires_actor);
    let inputs = tool.inputs;
    let handler: Handler = Arc::new(move |context, args| match inputs.bind(args.into_object()) {
        Ok(bound) => handler(context, Args::new(bound)),
        Err(refusal) => Box::pin(std::future::ready(Err(ToolRefusal::from(refusal)))),
    });
    Tool { spec: builder, handler }
}
