//! The lines that a client of a served connector writes.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use scion_domain::json::Json;
use scion_mcp_server::{ServeOptions, serve_io};
use scion_serve::{Connector, Identity, Param, ServedSurface, Tool, ToolRefusal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The longest conversation that is tried: longer ones are refused by a bound that is tested elsewhere.
const LONGEST: usize = 1 << 16;
/// No conversation of that length takes longer.
const HANG: Duration = Duration::from_secs(10);

struct Server {
    surface: Arc<ServedSurface>,
    runtime: tokio::runtime::Runtime,
}

thread_local! {
    static SERVER: OnceCell<Option<Server>> = const { OnceCell::new() };
}

fn open() -> Option<Server> {
    let echo = Tool::read("desk_echo")
        .param(Param::text("text", "What to say"))
        .param(Param::integer("times", "How often").between(1, 9).or(1))
        .handle(|_context, args| async move { Ok::<_, ToolRefusal>(Json::from(args.text("text")?)) });
    let surface = Connector::builder(Identity::new("desk", "1")).tool(echo).build().ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    Some(Server { surface: Arc::new(surface), runtime })
}

/// The conversation ends with its stream, and whatever goes out is a line with one JSON-RPC message.
pub fn mcp_frames(data: &[u8]) {
    if data.len() > LONGEST {
        return;
    }
    SERVER.with(|server| {
        let server = server.get_or_init(open);
        let server = server.as_ref().unwrap_or_else(|| panic!("a connector of one tool can be built"));
        let talk = async {
            let (near, far) = tokio::io::duplex(LONGEST);
            let (read, write) = tokio::io::split(far);
            let serving = serve_io(server.surface.clone(), read, write, ServeOptions::default());
            let (mut answers, mut asks) = tokio::io::split(near);
            let asking = async move {
                // A server that hangs up reads no further.
                let _ = asks.write_all(data).await;
                let _ = asks.shutdown().await;
            };
            let reading = async move {
                let mut out = Vec::new();
                let _ = answers.read_to_end(&mut out).await;
                out
            };
            let ended = async move {
                // Both halves of the server's end go with it, so that the reader sees the end.
                let _ = serving.await;
            };
            Box::pin(tokio::time::timeout(HANG, async { tokio::join!(ended, asking, reading).2 })).await
        };
        let out = server.runtime.block_on(talk).unwrap_or_else(|_| panic!("the conversation does not end"));
        for line in out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message: serde_json::Value =
                serde_json::from_slice(line).unwrap_or_else(|_| panic!("a line that is no JSON went out"));
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
        }
    });
}
