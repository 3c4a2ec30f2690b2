//! Shapes, validated by a real engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use scion_conformance::suites::shacl::{self, ShaclFixture};
use scion_domain::shapes::ShapesRefusal;
use scion_engine::{COMMONS, EngineOptions, EngineShapes};
use scion_ports::{ShaclValidator, async_trait};
use support::{Engine, Mode};

struct Validators(Engine);

#[async_trait]
impl ShaclFixture for Validators {
    async fn open(&self) -> Arc<dyn ShaclValidator> {
        Arc::new(EngineShapes::new(self.0.client_with(&["validation:read"], EngineOptions::default()), COMMONS))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_of_shapes_passes_on_the_engine() {
    let Some(engine) = Engine::start(Mode::Signed).await else { return };
    let without = EngineShapes::new(engine.client_with(&["kv:read"], EngineOptions::default()), COMMONS);
    assert_eq!(without.validate(shacl::SHAPES, "").await, Err(ShapesRefusal::Denied));
    shacl::run(&Validators(engine)).await.assert_passed();
}
