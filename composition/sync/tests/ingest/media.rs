use scion_domain::id::Digest256;
use scion_domain::ingest::MediaAsset;
use scion_domain::json::JsonObject;
use scion_domain::sink::SinkRefusal;
use scion_sync::ingest::{KnowledgeIngest, MAX_MEDIA_BYTES, MediaVault};
use scion_sync::stream::{Counts, SourceStream};

use crate::graph::{RuntimeClock, code, desk};

fn photo(data: Vec<u8>) -> MediaAsset {
    MediaAsset {
        id: "photo-1".into(),
        node_type: MediaAsset::TYPE.into(),
        name: "desk.png".into(),
        mime_type: "image/png".into(),
        data,
        properties: JsonObject::from([("width".to_owned(), 3u64.into())]),
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.32
#[tokio::test]
async fn media_keeps_bytes_and_commits_their_record() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).ingest(service);
    let data: Vec<u8> = (0..1_300_000u32).map(|n| (n % 251) as u8).collect();
    assert_eq!(stream.media(photo(data.clone())).await.unwrap(), Some(Counts { nodes: 1, edges: 0 }));
    let record = graph.record("photo-1");
    assert_eq!((&record["mime_type"], &record["byte_length"]), (&"image/png".into(), &1_300_000u64.into()));
    assert_eq!(record["width"], 3u64.into());
    let digest = Digest256::parse_hex(record["content_sha256"].as_str().unwrap()).unwrap();
    let vault = MediaVault::new(graph.clone());
    assert_eq!(vault.get(digest).await.unwrap(), Some(data.clone()));
    assert_eq!(vault.get(Digest256::ZERO).await.unwrap(), None);
    stream.media(photo(data)).await.unwrap();
    assert_eq!(graph.read(|state| state.values.len()), 4, "three chunks and the size, once");
}

/// Proves: SDK-SOURCE-INGEST-R004.32
#[tokio::test]
async fn empty_and_homeless_media_is_refused() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding.clone()).ingest(service);
    assert_eq!(code(stream.media(photo(vec![])).await), "ingest_empty");
    assert_eq!(code(stream.media(photo(vec![0; MAX_MEDIA_BYTES + 1])).await), "ingest_change_set_too_large");
    graph.write(|state| state.refuse_next = Some(SinkRefusal::CursorPolicy { stream: "s".into() }));
    assert_eq!(code(stream.media(photo(vec![1])).await), "CURSOR_POLICY_VIOLATION");
    assert!(graph.ids().is_empty(), "bytes without a record are not seen");
    let clock = std::sync::Arc::new(RuntimeClock::new());
    let homeless = KnowledgeIngest::new(scion_sync::Committer::new(graph.clone(), graph.clone(), clock));
    let stream = SourceStream::new(binding).ingest(std::sync::Arc::new(homeless));
    assert_eq!(code(stream.media(photo(vec![1])).await), "ingest_no_media_store");
}

#[tokio::test]
async fn damaged_bytes_are_not_handed_out() {
    let (graph, service, binding) = desk();
    SourceStream::new(binding).ingest(service).media(photo(vec![1, 2, 3])).await.unwrap();
    let digest = graph.record("photo-1")["content_sha256"].as_str().map(Digest256::parse_hex).unwrap().unwrap();
    graph.write(|state| {
        let chunk = state.values.iter_mut().find(|(key, _)| key.ends_with("00000000")).unwrap();
        chunk.1.value = vec![1, 2, 4];
    });
    assert_eq!(code(MediaVault::new(graph.clone()).get(digest).await), "store_corrupt");
}
