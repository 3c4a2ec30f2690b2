//! What a connector declares beside the protocol, as a listener serves it (SDK-CONNECTOR-CONTROL-R019.2).

use std::sync::Arc;

use scion_domain::http::{Bytes, Method};
use scion_mcp_server::{HttpAnswer, HttpRoute, HttpServeOptions, Readiness, ReadinessProbe, RouteHandler};
use scion_ports::async_trait;
use scion_serve::{ReadinessCheck, Route, RouteRequest, ServedSurface};

/// Gives a listener the routes and the readiness check that a connector declares. [`run`](crate::run) does it by itself; a program
/// that calls `serve_http` does it with this.
pub fn with_declared_routes(mut options: HttpServeOptions, surface: &ServedSurface) -> HttpServeOptions {
    let declared = surface.routes().iter().map(|route| HttpRoute {
        path: route.path().to_owned(),
        methods: route.methods().to_vec(),
        handler: Arc::new(Declared(route.clone())),
    });
    options.routes.extend(declared);
    options.readiness = surface.readiness().map(|check| Arc::new(Checked(check.clone())) as Arc<dyn ReadinessProbe>);
    options
}

struct Declared(Route);

#[async_trait]
impl RouteHandler for Declared {
    async fn answer(&self, method: Method, query: &str, body: Bytes) -> HttpAnswer {
        let answer = self.0.answer(RouteRequest { method, query: query.to_owned(), body }).await;
        HttpAnswer { status: answer.status, media_type: answer.media_type, body: answer.body }
    }
}

struct Checked(ReadinessCheck);

#[async_trait]
impl ReadinessProbe for Checked {
    async fn probe(&self) -> Result<Readiness, &'static str> {
        let found = self.0.probe().await?;
        let detail = found.detail.iter().map(|(name, value)| (name.clone(), value.into())).collect();
        Ok(Readiness { ready: found.ready, detail })
    }
}
