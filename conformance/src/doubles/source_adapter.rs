//! Wrong sources.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::json::{self, Json, JsonObject};
use scion_domain::model::IngestMode;
use scion_domain::source::{PageRequest, SourceContract, SourceDescription, SourcePage, SourceRefusal};
use scion_ports::SourceAdapter;

use crate::reference::MemorySource;
use crate::suites::source_adapter::SourceFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFlaw {
    /// Nothing; the reference.
    None,
    /// Drops the last record of each page.
    DropsRecords,
    /// An empty source never ends.
    EmptyNeverEnds,
    /// Follows a loop.
    FollowsLoops,
    /// A page is different the second time.
    Forgets,
    /// Rounds numbers.
    Rounds,
    /// Counts nothing.
    CountsNothing,
    /// Calls denied empty.
    DeniedIsEmpty,
    /// Remembers the contract.
    RemembersContract,
    /// Sends reconcile pages without declaring them.
    UndeclaredMode,
    /// Starts anew at a foreign position.
    GuessesPosition,
}

impl SourceFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::DropsRecords,
        Self::EmptyNeverEnds,
        Self::FollowsLoops,
        Self::Forgets,
        Self::Rounds,
        Self::CountsNothing,
        Self::DeniedIsEmpty,
        Self::RemembersContract,
        Self::UndeclaredMode,
        Self::GuessesPosition,
    ];
}

#[derive(Debug)]
struct FlawedSource {
    inner: Arc<MemorySource>,
    flaw: SourceFlaw,
    reads: Mutex<usize>,
    contract: Mutex<Option<SourceContract>>,
}

fn start() -> Json {
    Json::Object(JsonObject::new())
}

#[async_trait]
impl SourceAdapter for FlawedSource {
    fn describe(&self) -> &SourceDescription {
        self.inner.describe()
    }

    async fn contract(&self) -> Result<SourceContract, SourceRefusal> {
        let live = self.inner.contract().await?;
        if self.flaw == SourceFlaw::RemembersContract {
            let mut remembered = self.contract.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            return Ok(remembered.get_or_insert(live).clone());
        }
        Ok(live)
    }

    async fn read_page(&self, request: &PageRequest) -> Result<SourcePage, SourceRefusal> {
        let mut answer = self.inner.read_page(request).await;
        if self.flaw == SourceFlaw::GuessesPosition && matches!(answer, Err(SourceRefusal::BadPosition { .. })) {
            answer = self.inner.read_page(&PageRequest { position: start(), watermark: None }).await;
        }
        if self.flaw == SourceFlaw::FollowsLoops && matches!(answer, Err(SourceRefusal::PositionRepeats { .. })) {
            return Ok(SourcePage { next_position: Some(request.position.clone()), ..SourcePage::default() });
        }
        if self.flaw == SourceFlaw::DeniedIsEmpty && answer.is_err() {
            return Ok(SourcePage::default());
        }
        let mut page = answer?;
        let mut reads = self.reads.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *reads += 1;
        match self.flaw {
            SourceFlaw::DropsRecords => drop(page.records.pop()),
            SourceFlaw::EmptyNeverEnds if page.records.is_empty() => {
                page.next_position = Some(Json::from([("offset", Json::from(*reads as u64))]));
            }
            SourceFlaw::Forgets if *reads > 2 => page.records.clear(),
            SourceFlaw::Rounds => {
                for record in &mut page.records {
                    let rounded = Json::from(serde_json::Value::from(&Json::from(record.payload.clone())));
                    record.payload = rounded.as_object().cloned().unwrap_or_default();
                }
            }
            SourceFlaw::CountsNothing => page.raw_count = 0,
            SourceFlaw::UndeclaredMode => page.mode = Some(IngestMode::Reconcile),
            _ => {}
        }
        Ok(page)
    }
}

/// A fixture of flawed sources.
#[derive(Debug)]
pub struct FlawedSources {
    flaw: SourceFlaw,
    opened: Mutex<Option<Arc<MemorySource>>>,
}

impl FlawedSources {
    /// With a flaw.
    pub const fn new(flaw: SourceFlaw) -> Self {
        Self { flaw, opened: Mutex::new(None) }
    }

    fn make(&self, inner: MemorySource) -> Arc<dyn SourceAdapter> {
        let inner = Arc::new(inner);
        *self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(inner.clone());
        Arc::new(FlawedSource { inner, flaw: self.flaw, reads: Mutex::new(0), contract: Mutex::new(None) })
    }
}

#[async_trait]
impl SourceFixture for FlawedSources {
    async fn open(&self) -> Arc<dyn SourceAdapter> {
        self.make(MemorySource::new(self.records(), 3))
    }

    async fn empty(&self) -> Arc<dyn SourceAdapter> {
        self.make(MemorySource::new(BTreeMap::new(), 3))
    }

    async fn looping(&self) -> Arc<dyn SourceAdapter> {
        let mut source = MemorySource::new(self.records(), 3);
        source.loops = true;
        self.make(source)
    }

    async fn denied(&self) -> Arc<dyn SourceAdapter> {
        let mut source = MemorySource::new(self.records(), 3);
        source.denies = true;
        self.make(source)
    }

    async fn change_contract(&self, _source: &Arc<dyn SourceAdapter>) {
        if let Some(source) = &*self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
            source.change_contract();
        }
    }

    fn records(&self) -> BTreeMap<String, JsonObject> {
        (0..8)
            .map(|number| {
                let amount = json::parse("12345678901234567890.5").unwrap_or_default();
                let key = format!("r{number}");
                (key.clone(), JsonObject::from([("id".into(), Json::from(key)), ("amount".into(), amount)]))
            })
            .collect()
    }
}
