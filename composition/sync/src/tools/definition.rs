//! One ingest tool as data.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, JsonObject};

use super::ToolArgument;
use crate::mapping::Mapped;
use crate::stream::{CursorPage, SyncPlan};

/// What a source hands out.
#[derive(Clone, Debug)]
pub enum ToolYield {
    /// Records of the tool's kind.
    Records(Vec<Json>),
    /// What the source mapped itself.
    Mapped(Mapped),
}

impl From<Vec<Json>> for ToolYield {
    fn from(records: Vec<Json>) -> Self {
        Self::Records(records)
    }
}

impl From<Mapped> for ToolYield {
    fn from(mapped: Mapped) -> Self {
        Self::Mapped(mapped)
    }
}

type Once<C> = dyn Fn(Arc<C>, JsonObject) -> BoxFuture<'static, Result<ToolYield, IngestRefusal>> + Send + Sync;
type Paged<C> =
    dyn Fn(Arc<C>, JsonObject, Option<Json>) -> BoxFuture<'static, Result<CursorPage, IngestRefusal>> + Send + Sync;

/// Where a tool's records come from.
pub enum ToolSource<C> {
    /// One call.
    Once(Arc<Once<C>>),
    /// A walk over pages.
    Paged {
        /// Reads the page at a cursor.
        fetch: Arc<Paged<C>>,
        /// How the walk goes.
        plan: SyncPlan,
    },
}

impl<C> Clone for ToolSource<C> {
    fn clone(&self) -> Self {
        match self {
            Self::Once(source) => Self::Once(Arc::clone(source)),
            Self::Paged { fetch, plan } => Self::Paged { fetch: Arc::clone(fetch), plan: plan.clone() },
        }
    }
}

/// One ingest tool. [`ingest_registration`](super::ingest_registration) checks it.
pub struct IngestTool<C> {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) kind: Option<String>,
    pub(super) arguments: Vec<ToolArgument>,
    pub(super) source: ToolSource<C>,
}

impl<C> Clone for IngestTool<C> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            kind: self.kind.clone(),
            arguments: self.arguments.clone(),
            source: self.source.clone(),
        }
    }
}

impl<C: Send + Sync + 'static> IngestTool<C> {
    /// A tool whose source is called once with the client and the call's arguments.
    pub fn once<F, Fut, Y>(name: impl Into<String>, title: impl Into<String>, source: F) -> Self
    where
        F: Fn(Arc<C>, JsonObject) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Y, IngestRefusal>> + Send + 'static,
        Y: Into<ToolYield>,
    {
        let source = move |client, arguments| -> BoxFuture<'static, Result<ToolYield, IngestRefusal>> {
            let answer = source(client, arguments);
            Box::pin(async move { answer.await.map(Into::into) })
        };
        Self::new(name.into(), title.into(), ToolSource::Once(Arc::new(source)))
    }

    /// A tool that walks pages. It needs a kind.
    pub fn paged<F, Fut>(name: impl Into<String>, title: impl Into<String>, plan: SyncPlan, fetch: F) -> Self
    where
        F: Fn(Arc<C>, JsonObject, Option<Json>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CursorPage, IngestRefusal>> + Send + 'static,
    {
        let fetch = move |client, arguments, cursor| -> BoxFuture<'static, Result<CursorPage, IngestRefusal>> {
            Box::pin(fetch(client, arguments, cursor))
        };
        Self::new(name.into(), title.into(), ToolSource::Paged { fetch: Arc::new(fetch), plan })
    }

    fn new(name: String, title: String, source: ToolSource<C>) -> Self {
        Self { name, title, description: String::new(), kind: None, arguments: Vec::new(), source }
    }

    /// The record kind of its records; the stream needs a mapper of it.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// What it does, for people and models.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: ToolArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}
