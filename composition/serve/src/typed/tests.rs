//! Schemas of types, and the checks that go with them.

use std::collections::BTreeMap;

use scion_domain::client_profile::ClientProfile;
use scion_domain::json::{JsonObject, parse, to_compact};
use scion_domain::mcp::{ToolDescription, ToolHints};
use scion_domain::refusal::Refusal as _;
use scion_domain::time::Timestamp;
use scion_domain::tool_surface::OperationInputs;
use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, PartialEq, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    /// The oldest first.
    Oldest,
    Newest,
}

#[derive(Debug, Deserialize, PartialEq, JsonSchema)]
struct Filter {
    /// What must stand in it.
    text: String,
    #[schemars(range(min = 1, max = 5))]
    level: Option<u8>,
    labels: BTreeMap<String, i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Tree {
    #[allow(dead_code, reason = "only its schema matters")]
    below: Vec<Tree>,
}

fn shown(argument: &Argument) -> String {
    to_compact(OperationInputs::of(vec![argument.field()]).schema()["properties"].get("x").unwrap())
}

fn read<T: ToolInput>(text: &str) -> Result<T, &'static str> {
    let mut given = JsonObject::from([("x".to_owned(), parse(text).unwrap())]);
    Argument::of::<T>("x").build().read(&mut given).map_err(|refusal| refusal.code())
}

#[test]
fn types_give_closed_schemas_without_references() {
    let schema = |argument: ArgumentBuilder| shown(&argument.build());
    assert_eq!(schema(Argument::of::<Option<u32>>("x")), r#"{"maximum":4294967295,"minimum":0,"type":"integer"}"#);
    assert_eq!(
        schema(Argument::of::<u32>("x").min(1).max(9).or(1)),
        r#"{"default":1,"maximum":9,"minimum":1,"type":"integer"}"#
    );
    assert_eq!(schema(Argument::of::<i64>("x")), r#"{"pattern":"^-?[0-9]+$","type":["integer","string"]}"#);
    assert_eq!(schema(Argument::of::<Option<i64>>("x").min(0).max(7)), r#"{"maximum":7,"minimum":0,"type":"integer"}"#);
    assert_eq!(schema(Argument::of::<Option<Timestamp>>("x")), r#"{"format":"date-time","type":"string"}"#);
    assert_eq!(schema(Argument::of::<Vec<String>>("x")), r#"{"items":{"type":"string"},"type":"array"}"#);
    assert_eq!(schema(Argument::of::<Json>("x").describe("any")), r#"{"description":"any"}"#);
    assert_eq!(
        schema(Argument::of::<Option<Order>>("x")),
        "{\"description\":\"`oldest`: The oldest first.\",\"enum\":[\"newest\",\"oldest\"],\"type\":\"string\"}"
    );
    let filter = schema(Argument::of::<Filter>("x"));
    assert!(
        filter.contains(r#""additionalProperties":false"#) && filter.contains(r#""required":["text","labels"]"#),
        "{filter}"
    );
    assert!(!filter.contains("$ref") && !filter.contains("title"), "{filter}");
}

#[test]
fn every_argument_type_passes_the_client_profile() {
    let arguments = [
        Argument::of::<Filter>("a").build(),
        Argument::of::<Option<Order>>("b").build(),
        Argument::of::<Vec<u64>>("c").build(),
        Argument::of::<Tree>("d").build(),
        Argument::of::<BTreeMap<String, Json>>("e").build(),
        Argument::of::<Option<Filter>>("f").build(),
        Argument::of::<f64>("g").build(),
    ];
    let inputs = OperationInputs::of(arguments.iter().map(Argument::field).collect());
    let output = <Result<Page<i64>, ToolRefusal> as OperationAnswer>::output();
    let tool = ToolDescription {
        name: "desk_list".to_owned(),
        title: None,
        description: None,
        input_schema: inputs.schema().into(),
        output_schema: output,
        hints: ToolHints::default(),
        meta: JsonObject::new(),
    };
    assert_eq!(ClientProfile::COMMON.check(&tool), []);
}

#[test]
fn arguments_are_read_as_their_types_and_refused_by_name() {
    assert_eq!(read::<u32>("7"), Ok(7));
    assert_eq!(read::<u32>("7.0"), Ok(7));
    assert_eq!(read::<Option<u32>>("null"), Ok(None));
    assert_eq!(read::<u32>("null"), Err("argument_missing"));
    assert_eq!(read::<u32>("\"7\""), Err("argument_wrong_type"));
    assert_eq!(read::<u32>("-1"), Err("argument_out_of_range"));
    assert_eq!(read::<u32>("1.5"), Err("argument_wrong_type"));
    assert_eq!(read::<u64>("\"18446744073709551615\""), Ok(u64::MAX));
    assert_eq!(read::<u64>("\"seven\""), Err("argument_wrong_type"));
    assert_eq!(read::<u64>("18446744073709551616"), Err("argument_wrong_type"));
    assert_eq!(read::<Order>("\"newest\""), Ok(Order::Newest));
    assert_eq!(read::<Order>("\"latest\""), Err("argument_wrong_type"));
    assert_eq!(read::<Timestamp>("\"2026-03-01T12:00:00Z\"").map(|time| time.unix_seconds()), Ok(1_772_366_400));
    assert_eq!(read::<Timestamp>("\"yesterday\"").map(|_| ()), Err("argument_wrong_type"));
    let exact = "123456789012345678901234567890.10";
    assert_eq!(read::<Json>(exact).map(|value| to_compact(&value)), Ok(exact.to_owned()));
    let filter = r#"{"text":"paper","labels":{"a":"9007199254740993"}}"#;
    let labels = BTreeMap::from([("a".to_owned(), 9_007_199_254_740_993)]);
    assert_eq!(read::<Filter>(filter), Ok(Filter { text: "paper".to_owned(), level: None, labels }));
    assert_eq!(read::<Filter>(r#"{"text":"p","labels":{},"lvel":1}"#), Err("argument_wrong_type"));
    assert_eq!(read::<Filter>(r#"{"text":"p","labels":{},"level":9}"#), Err("argument_out_of_range"));
    assert_eq!(read::<Filter>(r#"{"labels":{}}"#), Err("argument_missing"));
}

#[test]
fn a_default_stands_in_for_silence() {
    let argument = Argument::of::<u32>("x").or(3).build();
    assert_eq!(argument.read::<u32>(&mut JsonObject::new()), Ok(3));
}
