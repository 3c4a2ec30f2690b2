//! Content that can be replaced while it is served.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use scion_domain::content::{ContentCatalogue, ContentRefusal};
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::mcp::ToolDescription;
use scion_domain::seed_graph::SeedGraphDeclaration;

use super::{Bound, ServedContent};
use crate::changes::ChangeNotifier;

/// What a replacement changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentChange {
    /// Something in the resource list, or behind it. One list-changed notification went out.
    pub resources: bool,
    /// Something in the prompt list, or behind it. One list-changed notification went out.
    pub prompts: bool,
}

/// The content of a served surface, bound to its connector.
pub(crate) struct ContentState {
    base: ConnectorDeclaration,
    tools: Vec<ToolDescription>,
    bound: RwLock<Arc<Bound>>,
    /// What is bound now; held while it is replaced, so that replacements come one after the other.
    content: Mutex<Option<ServedContent>>,
    given: bool,
    notifier: ChangeNotifier,
}

impl ContentState {
    pub(crate) fn new(
        base: ConnectorDeclaration,
        tools: Vec<ToolDescription>,
        content: Option<ServedContent>,
        notifier: ChangeNotifier,
    ) -> Result<Self, ContentRefusal> {
        let bound = Bound::new(&base, &tools, content.as_ref())?;
        let given = content.is_some();
        Ok(Self { base, tools, bound: RwLock::new(Arc::new(bound)), content: Mutex::new(content), given, notifier })
    }

    /// Whether the connector was built with content. Nobody who asks waits for a replacement under way.
    pub(crate) const fn is_given(&self) -> bool {
        self.given
    }

    pub(crate) fn now(&self) -> Arc<Bound> {
        Arc::clone(&self.bound.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(
        &self,
        make: impl FnOnce(ServedContent) -> Result<ServedContent, ContentRefusal>,
    ) -> Result<ContentChange, ContentRefusal> {
        let mut held = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let content = make(held.clone().ok_or(ContentRefusal::NotServed)?)?;
        let next = Arc::new(Bound::new(&self.base, &self.tools, Some(&content))?);
        let (uris, prompts) = next.differs(&self.now());
        *self.bound.write().unwrap_or_else(PoisonError::into_inner) = next;
        *held = Some(content);
        let change = ContentChange { resources: !uris.is_empty(), prompts };
        if change.resources {
            self.notifier.resources();
        }
        if change.prompts {
            self.notifier.prompts();
        }
        // For those who follow single resources; the list has its one notification already.
        for uri in uris {
            self.notifier.resource(uri);
        }
        Ok(change)
    }
}

/// Replaces the content of a served surface. Cheap to clone.
///
/// A replacement is whole or not at all: what is refused leaves the old content served. Clients hear of it once per list, and
/// only when a digest, a name or a description changed.
#[derive(Clone)]
pub struct ContentHandle {
    state: Arc<ContentState>,
}

impl std::fmt::Debug for ContentHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentHandle").field("connector", &self.state.base.connector).finish_non_exhaustive()
    }
}

impl ContentHandle {
    pub(crate) const fn new(state: Arc<ContentState>) -> Self {
        Self { state }
    }

    /// Serves other content from now on.
    pub fn replace(&self, content: ServedContent) -> Result<ContentChange, ContentRefusal> {
        self.state.change(|_| Ok(content))
    }

    /// Serves another seed graph, for example after a discovery found other objects, or none.
    pub fn replace_seed(&self, declared: Option<&SeedGraphDeclaration>) -> Result<ContentChange, ContentRefusal> {
        self.state.change(|mut content| {
            content.seed = declared.map(SeedGraphDeclaration::emit).transpose()?;
            Ok(content)
        })
    }

    /// Everything that is served now, with its digests: what a pack is made of.
    pub fn catalogue(&self) -> ContentCatalogue {
        self.state.now().catalogue().clone()
    }
}
