//! From bound operations to tools (SDK-CONNECTOR-CONTROL-R020).

use std::sync::Arc;

use scion_domain::surface::ConnectorRefusal;
use scion_domain::tool_surface::{Operation, OperationTool, ToolPrefix, ToolSurfaceRefusal, operation_tools};

use crate::confirm::Asks;
use crate::operations::BoundOperation;
use crate::tool::Handler;
use crate::{Args, Tool, ToolRefusal};

/// The operations of one client under one prefix.
pub(crate) struct OperationSet {
    pub(crate) prefix: Option<String>,
    pub(crate) operations: Vec<BoundOperation>,
}

impl OperationSet {
    /// One tool for each operation; `service` gives the prefix where the author declared none.
    pub(crate) fn into_tools(self, service: &str) -> Result<Vec<Tool>, ConnectorRefusal> {
        let prefix = ToolPrefix::of_service(service, self.prefix.as_deref()).map_err(refuse)?;
        let described: Vec<Operation> = self.operations.iter().map(|bound| bound.operation.clone()).collect();
        let tools = operation_tools(&prefix, &described, &[]).map_err(refuse)?;
        Ok(tools.into_iter().zip(self.operations).map(|(tool, bound)| of_operation(tool, bound)).collect())
    }
}

fn refuse(refusal: ToolSurfaceRefusal) -> ConnectorRefusal {
    use scion_domain::refusal::Refusal as _;
    ConnectorRefusal::Operations { code: refusal.code(), refusal }
}

fn of_operation(tool: OperationTool, bound: BoundOperation) -> Tool {
    let BoundOperation { output, sources, said, handler, .. } = bound;
    let mut hints = tool.hints;
    let mut asks = if tool.asks { Asks::Always } else { Asks::Never };
    if let Some(destructive) = said.destructive {
        hints.destructive = Some(destructive);
        // What destroys something does not only read, and what does not is no more read-only than its verb made it.
        hints.read_only = hints.read_only.map(|reads| reads && !destructive);
        asks = if destructive { Asks::Always } else { Asks::Never };
    }
    let mut builder = Tool::with_hints(tool.name.as_str(), hints)
        .title(said.title.unwrap_or_else(|| tool.title.clone()))
        .description(tool.description.as_str())
        .input_schema(tool.inputs.schema());
    builder.meta.extend(tool.meta());
    builder.output = output;
    builder.sources = sources;
    builder.version = said.version;
    builder.operation = Some(tool.method.clone());
    builder.asks = Some(asks);
    let inputs = tool.inputs;
    let handler: Handler = Arc::new(move |context, args| match inputs.bind(args.into_object()) {
        Ok(bound) => handler(context, Args::new(bound)),
        Err(refusal) => Box::pin(std::future::ready(Err(ToolRefusal::from(refusal)))),
    });
    Tool { spec: builder, handler }
}
