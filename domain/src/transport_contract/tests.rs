use std::collections::BTreeSet;

use super::*;
use crate::auth::{ApiKey, Bearer, NoAuth};
use crate::json::Json;
use crate::refusal::Refusal as _;

fn contract(protocol: AccessKind) -> TransportContract {
    let stream = protocol.is_stream();
    TransportContract {
        protocol,
        auth_model: AuthModel::Bearer,
        paging: if stream { ResourcePagination::None } else { ResourcePagination::Cursor },
        streaming: if stream { StreamMode::Push } else { StreamMode::None },
        pushdown: BTreeSet::from([if stream { Pushdown::TimeRange } else { Pushdown::Filter }]),
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R069.1
#[test]
fn a_transport_contract_of_every_protocol_reads_back_and_unknown_words_are_refused() {
    for protocol in AccessKind::ALL {
        let one = contract(*protocol);
        assert_eq!(TransportContract::from_json(&one.to_json()), Ok(one));
        for paging in ResourcePagination::ALL {
            for auth in AuthModel::ALL {
                for pushdown in Pushdown::ALL {
                    let pushdown = BTreeSet::from([*pushdown, Pushdown::Limit]);
                    let one = TransportContract { paging: *paging, auth_model: *auth, pushdown, ..contract(*protocol) };
                    let read = TransportContract::from_json(&one.to_json());
                    if protocol.is_stream() {
                        assert_eq!(read.unwrap_err().code(), "transport_stream_contract");
                    } else {
                        assert_eq!(read, Ok(one));
                    }
                }
            }
        }
    }
    let good = contract(AccessKind::HttpEndpoint).to_json();
    let with = |member: &str, value: Json| {
        let mut members = good.as_object().unwrap().clone();
        members.insert(member.to_owned(), value);
        TransportContract::from_json(&Json::Object(members)).unwrap_err().to_string()
    };
    for (member, value) in [
        ("protocol", "soap".into()),
        ("pushdown", vec![Json::from("filter"), "group".into()].into()),
        ("pushdown", "filter".into()),
        ("auth_model", "hunter2".into()),
        ("paging", "link".into()),
        ("streaming", Json::Null),
        ("colour", "red".into()),
    ] {
        let refusal = with(member, value);
        assert!(refusal.starts_with(member) && !refusal.contains("hunter2"), "{refusal}");
    }
    assert_eq!(
        with("streaming", "push".into()),
        TransportContractRefusal::Stream { protocol: "http_endpoint" }.to_string()
    );
}

#[test]
fn auth_models_are_the_words_of_auth_declarations() {
    let declarations = [AuthDeclaration::from(NoAuth), Bearer::env("T").into(), ApiKey::header("x-key").into()];
    for declaration in &declarations {
        assert_eq!(AuthModel::from(declaration).as_str(), declaration.kind());
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R069.2
#[test]
fn a_registry_has_one_transport_per_protocol_and_streams_are_cut_by_time_alone() {
    let http = Transport::new(AccessKind::HttpEndpoint, "scion_client", "1.2.3")
        .auth([AuthModel::Bearer])
        .pages([ResourcePagination::Cursor])
        .pushes_down([Pushdown::Filter, Pushdown::Limit]);
    let kafka =
        Transport::new(AccessKind::KafkaTopic, "kafka", "1").auth([AuthModel::Bearer]).streams([StreamMode::Push]);
    let mut registry = TransportRegistry::default();
    registry.register(http.clone()).unwrap();
    registry.register(kafka.clone()).unwrap();
    assert_eq!(registry.register(http).unwrap_err().code(), "duplicate_transport");
    assert_eq!(registry.iter().count(), 2);
    let filtering = Transport::new(AccessKind::SseStream, "sse", "1").pushes_down([Pushdown::Filter]);
    assert_eq!(registry.register(filtering).unwrap_err().code(), "transport_stream_contract");

    let wanted = contract(AccessKind::HttpEndpoint);
    assert_eq!(registry.require(&wanted).unwrap().module, "scion_client");
    let refused = |contract: &TransportContract| registry.require(contract).unwrap_err().code();
    assert_eq!(refused(&contract(AccessKind::SqlQuery)), "transport_unimplemented");
    let joins = TransportContract { pushdown: BTreeSet::from([Pushdown::Join]), ..wanted.clone() };
    assert_eq!(refused(&joins), "pushdown_unsupported");
    assert_eq!(
        registry.require(&joins).unwrap_err().to_string(),
        "the transport of `http_endpoint` does not push down `join`"
    );
    let paged = TransportContract { paging: ResourcePagination::Offset, ..wanted.clone() };
    assert_eq!(refused(&paged), "transport_feature_unsupported");
    let basic = TransportContract { auth_model: AuthModel::Basic, ..wanted.clone() };
    assert_eq!(refused(&basic), "transport_feature_unsupported");
    let stream = contract(AccessKind::KafkaTopic);
    assert_eq!(registry.require(&stream), Ok(&kafka));
    for pushdown in [vec![], vec![Pushdown::Filter], vec![Pushdown::Filter, Pushdown::TimeRange]] {
        let filtered = TransportContract { pushdown: pushdown.into_iter().collect(), ..stream.clone() };
        assert_eq!(refused(&filtered), "transport_stream_contract");
    }
    let matrix = registry.matrix([&stream, &wanted, &wanted]).unwrap();
    assert_eq!(
        crate::json::to_compact(&matrix),
        r#"[{"protocol":"http_endpoint","transport":"scion_client","version":"1.2.3"},{"protocol":"kafka_topic","transport":"kafka","version":"1"}]"#
    );
    assert_eq!(registry.matrix([&contract(AccessKind::A2aSkill)]).unwrap_err().code(), "transport_unimplemented");
}
