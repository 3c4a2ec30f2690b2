//! The connector: so many tools that give back a text.

use std::io;
use std::sync::Arc;

use scion_domain::json::Json;
use scion_domain::refusal::Refusal as _;
use scion_mcp_server::{ServeOptions, serve_stdio};
use scion_serve::{Connector, Identity, Param, ServedSurface, Tool, ToolRefusal};
use tokio::net::TcpListener;

use crate::server::{DESCRIPTION, tool_name};

fn surface(tools: usize) -> io::Result<Arc<ServedSurface>> {
    let mut connector = Connector::builder(Identity::new("serve-bench", "1.0.0"));
    for index in 0..tools {
        let text = Param::text("text", "A text");
        connector = connector.tool(Tool::read(tool_name(index)).description(DESCRIPTION).param(text).handle(
            |_context, args| async move {
                let text = args.text("text")?;
                let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
                Ok::<_, ToolRefusal>(Json::from([("text", Json::from(text)), ("length", length.into())]))
            },
        ));
    }
    connector.build().map(Arc::new).map_err(|refusal| io::Error::other(refusal.code()))
}

pub(crate) async fn stdio(tools: usize) -> io::Result<()> {
    serve_stdio(surface(tools)?, ServeOptions::default()).await.map_err(|refusal| io::Error::other(refusal.code()))
}

pub(crate) async fn http(listener: TcpListener, tools: usize) -> io::Result<()> {
    scion_mcp_runner::http::serve(listener, surface(tools)?).await
}
