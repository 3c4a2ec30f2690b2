//! The `SourceAdapter` suite on a tool read page by page.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use scion_conformance::suites::source_adapter::{self, SourceFixture};
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::McpRefusal;
use scion_ports::{McpConnector as _, SourceAdapter, async_trait};
use scion_sync::{LiveTools, McpToolSource, PageLimits};

use crate::desk::declaration;
use crate::support::{Answer, FakeServer, config, json, tool};

const SIZE: usize = 3;

/// How the system behind the source pages.
#[derive(Clone, Copy)]
enum Paging {
    Page,
    Offset,
    Cursor,
    /// Page by page under each of two parents.
    FanOut,
}

struct Tool {
    paging: Paging,
    server: Mutex<Option<FakeServer>>,
}

fn list(records: &[Json], from: usize) -> Json {
    Json::Array(records.iter().skip(from).take(SIZE).cloned().collect())
}

fn number(arguments: &JsonObject, name: &str) -> usize {
    let number = arguments.get(name).and_then(Json::as_number).and_then(scion_domain::json::JsonNumber::as_u64);
    usize::try_from(number.unwrap_or(0)).unwrap()
}

impl Paging {
    fn source(self) -> &'static str {
        match self {
            Self::Page => {
                r#"{"source_id":"rows","record_type":"Row","tools":["list_rows"],"id_field":"id","preset":{"params_style":"args",
                "pagination":"page","page_param":"page","page_size":3,"start_page":0}}"#
            }
            Self::Offset => {
                r#"{"source_id":"rows","record_type":"Row","tools":["list_rows"],"id_field":"id","preset":{"params_style":"args",
                "pagination":"offset","page_param":"offset","page_size":3}}"#
            }
            Self::Cursor => {
                r#"{"source_id":"rows","record_type":"Row","tools":["list_rows"],"id_field":"id","preset":{"params_style":"args",
                "pagination":"cursor","cursor_param":"cursor","cursor_path":"next","records_path":"items"}}"#
            }
            Self::FanOut => {
                r#"{"source_id":"rows","record_type":"Row","tools":["list_rows"],"id_field":"id",
                "for_each":{"source":"halves","argument":"half"},"preset":{"params_style":"args",
                "pagination":"page","page_param":"page","page_size":3,"start_page":0}}"#
            }
        }
    }

    fn answer(self, records: &[Json], arguments: &JsonObject, loops: bool) -> Json {
        match self {
            Self::Page => list(records, number(arguments, "page") * SIZE),
            Self::Offset => list(records, number(arguments, "offset")),
            Self::Cursor => {
                let from = arguments.get("cursor").and_then(Json::as_str).map_or(0, |text| text.parse().unwrap());
                let next = if loops { Some(3) } else { Some(from + SIZE).filter(|next| *next < records.len()) };
                let next = next.map(|next| next.to_string());
                Json::from([("items", list(records, from)), ("next", Json::from(next))])
            }
            Self::FanOut => {
                let half = arguments.get("half").and_then(Json::as_str).unwrap();
                let records = records.iter().enumerate().filter(|(index, _)| (index % 2 == 0) == (half == "even"));
                let records: Vec<Json> = records.map(|(_, record)| record.clone()).collect();
                list(&records, number(arguments, "page") * SIZE)
            }
        }
    }
}

impl Tool {
    const fn new(paging: Paging) -> Self {
        Self { paging, server: Mutex::new(None) }
    }

    async fn make(&self, records: Vec<Json>, loops: bool, denies: bool) -> Arc<dyn SourceAdapter> {
        let paging = self.paging;
        let halves = r#"{"source_id":"halves","record_type":"Half","tools":["list_halves"],"id_field":"id"}"#;
        let text = declaration(&[paging.source(), halves], &["Row", "Half"]);
        let server = FakeServer::new(&text)
            .with_tool(tool("list_rows", &["page", "offset", "cursor", "half"]), move |arguments| {
                if denies {
                    return Answer::Refuse(McpRefusal::AccessDenied { operation: "tools/call".into() });
                }
                Answer::Value(paging.answer(&records, arguments, loops))
            })
            .with_tool(tool("list_halves", &[]), |_| Answer::Value(json(r#"[{"id":"even"},{"id":"odd"}]"#)));
        *self.server.lock().unwrap() = Some(server.clone());
        let session = server.connect(&config(&[]).endpoint).await.unwrap();
        let tools = Arc::new(LiveTools::new(session.into()));
        let declaration = ConnectorDeclaration::from_text(text.as_bytes()).unwrap();
        let preset = declaration.presets().unwrap().remove(0);
        Arc::new(McpToolSource::open(&declaration, &preset, &tools, PageLimits::default()).unwrap())
    }

    fn rows(&self) -> Vec<Json> {
        self.records().into_values().map(Json::Object).collect()
    }
}

#[async_trait]
impl SourceFixture for Tool {
    async fn open(&self) -> Arc<dyn SourceAdapter> {
        self.make(self.rows(), false, false).await
    }

    async fn empty(&self) -> Arc<dyn SourceAdapter> {
        self.make(Vec::new(), false, false).await
    }

    async fn looping(&self) -> Arc<dyn SourceAdapter> {
        // Paging by number and by offset cannot hand out a position twice; a cursor can.
        Self::new(Paging::Cursor).make(self.rows(), true, false).await
    }

    async fn denied(&self) -> Arc<dyn SourceAdapter> {
        self.make(self.rows(), false, true).await
    }

    async fn change_contract(&self, _source: &Arc<dyn SourceAdapter>) {
        let server = self.server.lock().unwrap().clone().unwrap();
        server.describe("list_rows", |tool| tool.output_schema = Some(json(r#"{"type":"object"}"#)));
    }

    fn records(&self) -> BTreeMap<String, JsonObject> {
        let record = |number: u8| {
            let id = format!("r{number}");
            let members =
                [("id".to_owned(), Json::from(id.as_str())), ("amount".to_owned(), json("12345678901234567890.5"))];
            (id, JsonObject::from(members))
        };
        (0..8).map(record).collect()
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.20, SDK-SOURCE-INGEST-R004.22
#[tokio::test(start_paused = true)]
async fn a_tool_read_page_by_page_keeps_the_obligations_of_a_source() {
    for paging in [Paging::Page, Paging::Offset, Paging::Cursor, Paging::FanOut] {
        source_adapter::run(&Tool::new(paging)).await.assert_passed();
    }
}
