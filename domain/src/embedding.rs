//! Vectors of texts: what is asked of a model, and what is believed of its answer (SDK-CONNECTOR-CONTROL-R014.22).

use serde::Deserialize;

use crate::json::Json;
use crate::refusals;
use crate::settings::EmbeddingProvider;

/// The most texts of one call.
pub const MAX_TEXTS: usize = 100_000;
/// The longest text, in bytes.
pub const MAX_TEXT_BYTES: usize = 256 * 1024;
/// The most numbers of a vector.
pub const MAX_DIMENSION: usize = 65_536;

refusals! {
    /// Why texts have no vectors. None of these holds a text, a vector or words of the server.
    pub enum EmbeddingRefusal {
        /// A text or their number is out of bounds.
        Input { what: &'static str } => "embedding_input", CallerMistake, Never,
            "the texts to embed {what}", "send fewer or shorter texts, none of them empty";
        /// The answer has another form.
        Malformed => "embedding_malformed", PeerMisbehaved, Never,
            "the answer of the embedding server has another form", "check EMBEDDING_PROVIDER and EMBEDDING_BASE_URL";
        /// Not one vector for each text.
        Count { expected: usize, found: usize } => "embedding_count", PeerMisbehaved, Never,
            "{found} vectors for {expected} texts", "report it to the operator of the embedding server";
        /// A vector of another length than the others, or than the settings say.
        Dimension { expected: usize, found: usize } => "embedding_dimension", PeerMisbehaved, Never,
            "a vector of {found} numbers where {expected} are expected", "fix EMBEDDING_DIMENSION, or embed everything again with the new model";
        /// A number that is none.
        NotFinite => "embedding_not_finite", PeerMisbehaved, Never,
            "a vector has a number that is out of range", "report it to the operator of the embedding server";
    }
}

/// Checks texts before anything is sent.
pub fn check_texts<T: AsRef<str>>(texts: &[T]) -> Result<(), EmbeddingRefusal> {
    if texts.len() > MAX_TEXTS {
        return Err(EmbeddingRefusal::Input { what: "are too many" });
    }
    for text in texts {
        match text.as_ref().len() {
            0 => return Err(EmbeddingRefusal::Input { what: "have an empty one among them" }),
            bytes if bytes > MAX_TEXT_BYTES => {
                return Err(EmbeddingRefusal::Input { what: "have one that is too long" });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The body of a request for one batch.
pub fn request<T: AsRef<str>>(model: &str, texts: &[T]) -> Json {
    let input: Vec<Json> = texts.iter().map(|text| text.as_ref().into()).collect();
    Json::from([("model", model.into()), ("input", input.into())])
}

/// The path of the endpoint below a base address whose path is given.
pub fn endpoint(provider: EmbeddingProvider, base_path: &str) -> &'static str {
    let versioned = base_path.trim_end_matches('/').ends_with("/v1");
    match provider {
        EmbeddingProvider::OpenAi if versioned => "/embeddings",
        EmbeddingProvider::OpenAi => "/v1/embeddings",
        EmbeddingProvider::Ollama => "/api/embed",
    }
}

#[derive(Deserialize)]
struct OpenAi {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Ollama {
    embeddings: Vec<Vec<f32>>,
}

/// The vectors of a batch in the order of its texts, whatever order the server chose. Every vector has `dimension` numbers, or the
/// length of the first one when nothing is expected yet.
pub fn read(
    provider: EmbeddingProvider,
    body: &[u8],
    expected: usize,
    dimension: Option<usize>,
) -> Result<Vec<Vec<f32>>, EmbeddingRefusal> {
    let vectors = match provider {
        EmbeddingProvider::Ollama => {
            let answer: Ollama = serde_json::from_slice(body).map_err(|_| EmbeddingRefusal::Malformed)?;
            answer.embeddings
        }
        EmbeddingProvider::OpenAi => {
            let answer: OpenAi = serde_json::from_slice(body).map_err(|_| EmbeddingRefusal::Malformed)?;
            in_order(answer.data, expected)?
        }
    };
    if vectors.len() != expected {
        return Err(EmbeddingRefusal::Count { expected, found: vectors.len() });
    }
    let dimension = dimension.or(vectors.first().map(Vec::len)).unwrap_or_default();
    for vector in &vectors {
        if vector.len() != dimension || vector.is_empty() || vector.len() > MAX_DIMENSION {
            return Err(EmbeddingRefusal::Dimension { expected: dimension, found: vector.len() });
        }
        if !vector.iter().all(|number| number.is_finite()) {
            return Err(EmbeddingRefusal::NotFinite);
        }
    }
    Ok(vectors)
}

fn in_order(items: Vec<Item>, expected: usize) -> Result<Vec<Vec<f32>>, EmbeddingRefusal> {
    if items.len() != expected {
        return Err(EmbeddingRefusal::Count { expected, found: items.len() });
    }
    let mut slots: Vec<Option<Vec<f32>>> = vec![None; expected];
    for item in items {
        let slot = slots.get_mut(item.index).filter(|slot| slot.is_none()).ok_or(EmbeddingRefusal::Malformed)?;
        *slot = Some(item.embedding);
    }
    // As many items as slots and none twice: every slot is filled.
    Ok(slots.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OPENAI: EmbeddingProvider = EmbeddingProvider::OpenAi;

    /// Proves: SDK-CONNECTOR-CONTROL-R014.22
    #[test]
    fn vectors_come_in_the_order_of_their_texts() {
        let body = br#"{"object": "list", "data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1.5, 2e0]}], "usage": {}}"#;
        assert_eq!(read(OPENAI, body, 2, None), Ok(vec![vec![1.5, 2.0], vec![3.0, 4.0]]));
        assert_eq!(read(OPENAI, body, 2, Some(3)), Err(EmbeddingRefusal::Dimension { expected: 3, found: 2 }));
        assert_eq!(read(OPENAI, body, 3, None), Err(EmbeddingRefusal::Count { expected: 3, found: 2 }));
        let local = br#"{"embeddings": [[1, 2], [3]]}"#;
        assert_eq!(
            read(EmbeddingProvider::Ollama, local, 2, None),
            Err(EmbeddingRefusal::Dimension { expected: 2, found: 1 })
        );
    }

    #[test]
    fn odd_answers_are_refused() {
        for body in [
            "",
            "[]",
            r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#,
            r#"{"data": [{"index": 2, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#,
            r#"{"data": [{"index": -1, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#,
            r#"{"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": [1]}]}"#,
        ] {
            assert_eq!(read(OPENAI, body.as_bytes(), 2, None), Err(EmbeddingRefusal::Malformed), "{body}");
        }
        let empty = r#"{"data": [{"index": 0, "embedding": []}]}"#;
        assert_eq!(read(OPENAI, empty.as_bytes(), 1, None), Err(EmbeddingRefusal::Dimension { expected: 0, found: 0 }));
        let large = r#"{"data": [{"index": 0, "embedding": [1e39]}]}"#;
        assert_eq!(read(OPENAI, large.as_bytes(), 1, None), Err(EmbeddingRefusal::NotFinite));
    }

    #[test]
    fn texts_are_bounded_and_the_endpoint_is_found() {
        assert!(check_texts(&["a", ""]).is_err());
        assert!(check_texts(&["x".repeat(MAX_TEXT_BYTES + 1)]).is_err());
        assert!(check_texts::<&str>(&[]).is_ok());
        assert_eq!(endpoint(OPENAI, "/v1/"), "/embeddings");
        assert_eq!(endpoint(OPENAI, "/"), "/v1/embeddings");
        assert_eq!(endpoint(EmbeddingProvider::Ollama, "/"), "/api/embed");
    }

    proptest! {
        #[test]
        fn any_order_is_put_right(order in Just((0..20usize).collect::<Vec<_>>()).prop_shuffle()) {
            let items: Vec<String> = order.iter().map(|index| format!(r#"{{"index": {index}, "embedding": [{index}]}}"#)).collect();
            let body = format!(r#"{{"data": [{}]}}"#, items.join(","));
            let vectors = read(OPENAI, body.as_bytes(), 20, Some(1)).unwrap();
            let sorted = vectors.windows(2).all(|pair| pair[0][0] < pair[1][0]);
            prop_assert!(sorted && vectors.len() == 20);
        }
    }
}
