//! The declaration and the tools of a simulated connector.

use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{ToolDescription, ToolHints};

use super::layout::{Kind, Layout};
use super::system::Table;

/// The name of the simulated connector.
pub(super) const CONNECTOR: &str = "sim-mcp";

/// The text of `connector://resources`.
pub(super) fn declaration(layouts: &[Layout]) -> String {
    let sources: Vec<String> = layouts.iter().map(source).collect();
    let mapping = |name: &str| format!(r#""{name}":{{"ontology_class":"{name}","fields":{{"label":"label"}}}}"#);
    let mut mappings: Vec<String> = layouts.iter().map(|layout| mapping(layout.record_type)).collect();
    mappings.push(mapping("Group"));
    format!(
        r#"{{"connector":"{CONNECTOR}","sources":[{}],"schema_mappings":{{{}}},"resources":[],"descriptors":[]}}"#,
        sources.join(","),
        mappings.join(",")
    )
}

fn source(layout: &Layout) -> String {
    let size = layout.size;
    let cursor = r#""pagination":"cursor","cursor_param":"cursor","cursor_path":"next","records_path":"items""#;
    let since = r#""updated_since_param":"since","withdrawals_path":"gone""#;
    let (members, preset) = match layout.kind {
        Kind::Page => {
            let paging = format!(r#","pagination":"page","page_param":"page","page_size":{size},"start_page":1"#);
            (paging, String::new())
        }
        Kind::Offset => {
            let paging = format!(r#","pagination":"offset","page_param":"offset","page_size":{size}"#);
            (String::new(), format!(r#"{paging},"more_path":"more","records_path":"items""#))
        }
        Kind::Whole => (String::new(), String::new()),
        Kind::Cursor => (String::new(), format!(",{cursor}")),
        Kind::Delta => (r#","cursor_field":"seq""#.to_owned(), format!(",{cursor},{since}")),
        Kind::Opaque => (String::new(), format!(r#",{cursor},{since},"checkpoint_path":"mark""#)),
        Kind::Incremental => (r#","cursor_field":"seq","incremental":true"#.to_owned(), format!(",{cursor}")),
        Kind::Reconcile => {
            (String::new(), format!(r#",{cursor},"reconcile_path":"live","authoritative_path":"complete""#))
        }
        Kind::FanOut => (r#","for_each":{"source":"alpha","argument":"parent"}"#.to_owned(), String::new()),
    };
    let after = layout.after.map_or_else(String::new, |name| format!(r#","depends_on":["{name}"]"#));
    format!(
        r#"{{"source_id":"{}","record_type":"{}","tools":["{}"],"id_field":"id"{members},"edges":[{}],"preset":{{"params_style":"args"{preset}{after}}}}}"#,
        layout.name,
        layout.record_type,
        layout.tool(),
        edges(layout).join(",")
    )
}

fn edges(layout: &Layout) -> Vec<String> {
    let mut edges = Vec::new();
    if layout.groups {
        edges.push(r#"{"relationship":"in_group","target_field":"group","target_type":"Group"}"#.to_owned());
    }
    if layout.peers {
        edges.push(format!(
            r#"{{"relationship":"peer_of","target_field":"peer","target_type":"{}","target_id_template":"{{id}}"}}"#,
            layout.record_type
        ));
    }
    if let Some(stream) = layout.other {
        let target = if stream == "alpha" { "Alpha" } else { "Beta" };
        edges.push(format!(
            r#"{{"relationship":"refers_to","target_field":"other","target_type":"{target}","target_id_template":"{{id}}","target_stream":"{stream}"}}"#
        ));
    }
    edges
}

/// The tool of a stream under its current contract.
pub(super) fn tool(table: &Table) -> ToolDescription {
    let text = || Json::from([("type", Json::from("string"))]);
    let parameters = ["page", "offset", "cursor", "since", "parent"];
    let parameters: JsonObject = parameters.iter().map(|name| ((*name).to_owned(), text())).collect();
    let mut fields: JsonObject = ["id", "label"].iter().map(|name| ((*name).to_owned(), text())).collect();
    for change in 0..table.contract {
        fields.insert(format!("extra{change}"), text());
    }
    ToolDescription {
        name: table.layout.tool(),
        title: None,
        description: None,
        input_schema: Json::from([("type", Json::from("object")), ("properties", Json::Object(parameters))]),
        output_schema: Some(Json::from([("type", Json::from("object")), ("properties", Json::Object(fields))])),
        hints: ToolHints { read_only: Some(true), destructive: Some(false), idempotent: None, open_world: None },
        meta: JsonObject::new(),
    }
}
