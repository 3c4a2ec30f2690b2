//! The key-value and progress ports.

use scion_domain::json::parse;
use scion_domain::sink::StoreRefusal;
use scion_embedded::EmbeddedGraph;
use scion_ports::{CheckpointStore, KeyValueStore};

use crate::support::*;

#[tokio::test]
async fn writes_are_guarded_by_versions_that_are_never_used_twice() {
    let desk = empty();
    let store = &desk.graph;
    let conflict = Err(StoreRefusal::Conflict { key: "k".to_owned() });
    assert_eq!(store.get("n", "k").await.unwrap(), None);
    assert_eq!(store.compare_and_swap("n", "k", Some(1), b"x").await, conflict);
    assert_eq!(store.compare_and_swap("n", "k", None, b"one").await, Ok(1));
    assert_eq!(store.compare_and_swap("n", "k", None, b"x").await, conflict);
    assert_eq!(store.compare_and_swap("n", "k", Some(1), b"two").await, Ok(2));
    assert_eq!(store.compare_and_swap("n", "k", Some(1), b"x").await, conflict);
    assert_eq!(store.delete("n", "k", 1).await, Err(StoreRefusal::Conflict { key: "k".to_owned() }));
    store.delete("n", "k", 2).await.unwrap();
    assert_eq!(store.get("n", "k").await.unwrap(), None);
    assert!(store.scan("n", "", None, 10).await.unwrap().is_empty());
    let version = store.compare_and_swap("n", "k", None, b"again").await.unwrap();
    assert!(version > 2, "{version}");
    assert_eq!(store.compare_and_swap("m", "k", None, b"other").await, Ok(1), "namespaces are separate");
    drop(desk.graph);
    let reopened = EmbeddedGraph::open(&desk.folder.path().join("graph.sqlite")).unwrap();
    let entry = reopened.get("n", "k").await.unwrap().unwrap();
    assert_eq!((entry.version, entry.value.as_slice()), (version, &b"again"[..]));
}

#[tokio::test]
async fn scans_are_in_byte_order_with_prefix_start_and_limit() {
    let desk = empty();
    for key in ["a/1", "a/10", "a/2", "a0", "A/9", "a", "a/é", "a/z"] {
        desk.graph.compare_and_swap("n", key, None, key.as_bytes()).await.unwrap();
    }
    let keys = |prefix: &'static str, after: Option<&'static str>, limit| {
        let graph = desk.graph.clone();
        async move {
            graph.scan("n", prefix, after, limit).await.unwrap().into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        }
    };
    assert_eq!(keys("a/", None, 10).await, ["a/1", "a/10", "a/2", "a/z", "a/é"]);
    assert_eq!(keys("a/", Some("a/10"), 2).await, ["a/2", "a/z"]);
    assert_eq!(keys("", None, 3).await, ["A/9", "a", "a/1"]);
    assert!(keys("a/", None, 0).await.is_empty());
}

#[tokio::test]
async fn keys_and_values_have_bounds() {
    let desk = empty();
    let store = &desk.graph;
    for key in ["", &"k".repeat(1025), "a\0b"] {
        assert!(matches!(store.compare_and_swap("n", key, None, b"").await, Err(StoreRefusal::BadKey { .. })));
    }
    store.compare_and_swap("n", &"k".repeat(1024), None, b"").await.unwrap();
    store.compare_and_swap("n", "big", None, &vec![0; 1 << 20]).await.unwrap();
    assert!(matches!(
        store.compare_and_swap("n", "big2", None, &vec![0; (1 << 20) + 1]).await,
        Err(StoreRefusal::BadKey { .. })
    ));
}

#[tokio::test]
async fn progress_documents_keep_every_digit_and_never_mix() {
    let desk = empty();
    let store = &desk.graph;
    let body = parse(r#"{"sequence":3,"position":{"n":12345678901234567890,"d":0.10},"hold":null}"#).unwrap();
    let (one, two) = (stream("a/b"), stream("a"));
    assert_eq!(store.load(&connector(), &one).await.unwrap(), None);
    assert_eq!(store.advance(&connector(), &one, None, &body).await, Ok(1));
    assert!(matches!(store.advance(&connector(), &one, None, &body).await, Err(StoreRefusal::Conflict { .. })));
    assert_eq!(store.load(&connector(), &two).await.unwrap(), None);
    let loaded = store.load(&connector(), &one).await.unwrap().unwrap();
    assert_eq!((loaded.version, &loaded.body), (1, &body));
    store.reset(&connector(), &one, 1).await.unwrap();
    assert_eq!(store.load(&connector(), &one).await.unwrap(), None);
    assert!(store.advance(&connector(), &one, None, &body).await.unwrap() > 1);
}
