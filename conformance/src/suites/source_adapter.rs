//! The suite of [`SourceAdapter`].

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::json::{Json, JsonObject};
use scion_domain::model::IngestMode;
use scion_domain::source::{PageRequest, SourcePage, SourceRefusal};
use scion_ports::SourceAdapter;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// More pages than any fixture source has.
const MAX_PAGES: usize = 1000;

/// Makes sources to test. The system behind each holds the records of [`records`](Self::records).
#[async_trait]
pub trait SourceFixture: Send + Sync {
    /// A source over a system with at least three pages.
    async fn open(&self) -> Arc<dyn SourceAdapter>;

    /// A source over an empty system.
    async fn empty(&self) -> Arc<dyn SourceAdapter>;

    /// A source whose system hands out the same position for ever.
    async fn looping(&self) -> Arc<dyn SourceAdapter>;

    /// A source whose system denies every page.
    async fn denied(&self) -> Arc<dyn SourceAdapter>;

    /// Changes the contract of the system behind a source opened before.
    async fn change_contract(&self, source: &Arc<dyn SourceAdapter>);

    /// Every record of the system, by id. At least one holds the number `12345678901234567890.5`.
    fn records(&self) -> BTreeMap<String, JsonObject>;
}

/// Runs every check.
pub async fn run(fixture: &dyn SourceFixture) -> Report {
    let mut report = Report::new("SourceAdapter");
    report.add("O1", "a_walk_yields_every_record_once", walk_all(fixture).await);
    report.add("O1", "an_empty_source_ends_at_once", walk_empty(fixture).await);
    report.add("O1", "a_loop_is_refused", walk_loop(fixture).await);
    report.add("O2", "a_page_can_be_read_again", again(fixture).await);
    report.add("O3", "payloads_keep_their_numbers", numbers(fixture).await);
    report.add("O4", "the_raw_count_covers_the_records", raw_count(fixture).await);
    report.add("O5", "denied_is_not_empty", denied(fixture).await);
    report.add("O6", "the_contract_is_the_live_one", contract(fixture).await);
    report.add("O7", "pages_keep_to_the_declared_modes", modes(fixture).await);
    report.add("O8", "a_foreign_position_is_refused", foreign(fixture).await);
    report
}

fn start() -> PageRequest {
    PageRequest { position: Json::Object(JsonObject::new()), watermark: None }
}

async fn walk(source: &Arc<dyn SourceAdapter>) -> Result<Vec<SourcePage>, SourceRefusal> {
    let mut pages = Vec::new();
    let mut request = start();
    while pages.len() < MAX_PAGES {
        let page = source.read_page(&request).await?;
        let next = page.next_position.clone();
        pages.push(page);
        match next {
            Some(position) => request.position = position,
            None => break,
        }
    }
    Ok(pages)
}

async fn walk_all(fixture: &dyn SourceFixture) -> Checked {
    let source = fixture.open().await;
    let pages = must!(walk(&source).await, "walk");
    ensure!(pages.len() >= 3, "the fixture has only {} pages", pages.len());
    let mut ids = HashSet::new();
    for record in pages.iter().flat_map(|page| &page.records) {
        ensure!(ids.insert(record.id.to_string()), "{} came twice", record.id);
    }
    let expected: HashSet<String> = fixture.records().into_keys().collect();
    ensure!(ids == expected, "{} records came, {} are there", ids.len(), expected.len());
    Ok(())
}

async fn walk_empty(fixture: &dyn SourceFixture) -> Checked {
    let pages = must!(walk(&fixture.empty().await).await, "walk of an empty source");
    ensure!(pages.iter().all(|page| page.records.is_empty()), "an empty source has records");
    ensure!(pages.len() <= 2, "an empty source has {} pages", pages.len());
    Ok(())
}

async fn walk_loop(fixture: &dyn SourceFixture) -> Checked {
    match walk(&fixture.looping().await).await {
        Err(SourceRefusal::PositionRepeats { .. }) => Ok(()),
        Err(other) => Err(format!("a loop was refused with {other}")),
        Ok(pages) => Err(format!("a loop was followed for {} pages", pages.len())),
    }
}

async fn again(fixture: &dyn SourceFixture) -> Checked {
    let source = fixture.open().await;
    let first = must!(source.read_page(&start()).await, "first page");
    let Some(position) = first.next_position.clone() else { return Err("the fixture has one page".into()) };
    let second = PageRequest { position, watermark: None };
    let once = must!(source.read_page(&second).await, "second page");
    let twice = must!(source.read_page(&second).await, "second page again");
    ensure!(once == twice, "the same position gave another page");
    Ok(())
}

async fn numbers(fixture: &dyn SourceFixture) -> Checked {
    let pages = must!(walk(&fixture.open().await).await, "walk");
    let expected = fixture.records();
    for record in pages.iter().flat_map(|page| &page.records) {
        ensure!(Some(&record.payload) == expected.get(record.id.as_str()), "the payload of {} differs", record.id);
    }
    Ok(())
}

async fn raw_count(fixture: &dyn SourceFixture) -> Checked {
    let pages = must!(walk(&fixture.open().await).await, "walk");
    for page in &pages {
        ensure!(page.raw_count >= page.records.len(), "{} records, raw count {}", page.records.len(), page.raw_count);
    }
    let raw: usize = pages.iter().map(|page| page.raw_count).sum();
    ensure!(raw >= fixture.records().len(), "the raw counts add up to {raw}");
    Ok(())
}

async fn denied(fixture: &dyn SourceFixture) -> Checked {
    match fixture.denied().await.read_page(&start()).await {
        Err(_) => Ok(()),
        Ok(page) => Err(format!("a denied read gave a page of {} records", page.records.len())),
    }
}

async fn contract(fixture: &dyn SourceFixture) -> Checked {
    let source = fixture.open().await;
    let before = must!(source.contract().await, "contract");
    let same = must!(source.contract().await, "contract again");
    ensure!(before == same, "the contract moves by itself");
    fixture.change_contract(&source).await;
    let after = must!(source.contract().await, "contract after the change");
    ensure!(before.fingerprint != after.fingerprint, "the contract is a remembered one");
    Ok(())
}

async fn modes(fixture: &dyn SourceFixture) -> Checked {
    let source = fixture.open().await;
    let declared = source.describe().clone();
    for page in must!(walk(&source).await, "walk") {
        let mode = page.mode.unwrap_or(IngestMode::Full);
        ensure!(mode != IngestMode::Delta || declared.delta, "a delta page from a source without delta");
        ensure!(
            mode != IngestMode::Reconcile || declared.reconcile,
            "a reconcile page from a source without reconcile"
        );
        ensure!(page.withdrawals.is_empty() || mode == IngestMode::Delta, "withdrawals outside a delta page");
        ensure!(page.live_ids.is_none() || mode == IngestMode::Reconcile, "live ids outside a reconcile page");
    }
    Ok(())
}

async fn foreign(fixture: &dyn SourceFixture) -> Checked {
    let source = fixture.open().await;
    for position in [Json::from("page 2"), Json::from([("elsewhere", Json::from(true))])] {
        match source.read_page(&PageRequest { position, watermark: None }).await {
            Err(SourceRefusal::BadPosition { .. }) => {}
            Err(other) => return Err(format!("a foreign position was refused with {other}")),
            Ok(_) => return Err("a foreign position was read".into()),
        }
    }
    Ok(())
}
