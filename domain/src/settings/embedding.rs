//! `EMBEDDING_*`: which model makes vectors of texts (SDK-CONNECTOR-CONTROL-R014.22).

use std::collections::BTreeMap;
use std::time::Duration;

use super::reader::Reader;
use super::{SettingRefusal, SettingsProblems};
use crate::credential::SecretRef;
use crate::http::Url;

/// Who serves the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmbeddingProvider {
    /// A `/v1/embeddings` endpoint.
    OpenAi,
    /// A local model server with `/api/embed`.
    Ollama,
}

/// Which model, where, and how much at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingSettings {
    /// `EMBEDDING_PROVIDER`: `openai` (when silent) or `ollama`.
    pub provider: EmbeddingProvider,
    /// `EMBEDDING_MODEL`; needed.
    pub model: String,
    /// `EMBEDDING_BASE_URL`; `https://api.openai.com/v1`, for `ollama` `http://127.0.0.1:11434`, when silent.
    pub base_url: String,
    /// `EMBEDDING_API_KEY_REF`: a reference to the key, sent as a bearer token; none when silent.
    pub key: Option<SecretRef>,
    /// `EMBEDDING_PRIVATE_HOSTS`: exact hosts that may be private.
    pub private_hosts: Vec<String>,
    /// `EMBEDDING_ALLOW_PLAINTEXT`: http to a private host. Without it only https, and http to this machine.
    pub allow_plaintext: bool,
    /// `EMBEDDING_DIMENSION`, 1 to 65,536; the first answer decides when silent.
    pub dimension: Option<usize>,
    /// `EMBEDDING_BATCH_SIZE`: texts in one request, 1 to 2,048; 64 when silent.
    pub batch: usize,
    /// `EMBEDDING_TIMEOUT_SECONDS` of one request, 1 to 300; 30 when silent.
    pub timeout: Duration,
}

impl EmbeddingSettings {
    /// Reads and checks an environment. Blank variables count as unset.
    pub fn from_environment(environment: &BTreeMap<String, String>) -> Result<Self, SettingsProblems> {
        let mut reader = Reader::new(environment);
        let providers = [("openai", EmbeddingProvider::OpenAi), ("ollama", EmbeddingProvider::Ollama)];
        let provider = reader.word("EMBEDDING_PROVIDER", "openai, ollama", &providers);
        let silent = match provider {
            EmbeddingProvider::OpenAi => "https://api.openai.com/v1",
            EmbeddingProvider::Ollama => "http://127.0.0.1:11434",
        };
        let dimension = reader.raw(&["EMBEDDING_DIMENSION"]).is_some();
        let dimension = dimension.then(|| reader.number("EMBEDDING_DIMENSION", 1, 1, 65_536) as usize);
        let settings = Self {
            provider,
            model: reader.text(&["EMBEDDING_MODEL"]).unwrap_or_default(),
            base_url: reader.text(&["EMBEDDING_BASE_URL"]).unwrap_or_else(|| silent.to_owned()),
            key: reader.reference("EMBEDDING_API_KEY_REF"),
            private_hosts: reader.list(&["EMBEDDING_PRIVATE_HOSTS"]),
            allow_plaintext: reader.flag("EMBEDDING_ALLOW_PLAINTEXT"),
            dimension,
            batch: reader.number("EMBEDDING_BATCH_SIZE", 64, 1, 2048) as usize,
            timeout: reader.seconds("EMBEDDING_TIMEOUT_SECONDS", 30, 1, 300),
        };
        let mut problems = reader.problems;
        if settings.model.is_empty() {
            problems.push(SettingRefusal::Needs { variable: "EMBEDDING_PROVIDER", needs: "EMBEDDING_MODEL" });
        }
        problems.extend(settings.address());
        if problems.is_empty() { Ok(settings) } else { Err(SettingsProblems { problems }) }
    }

    /// Whether the address is on this machine, which may always be called by the client of these settings.
    pub fn is_local(&self) -> bool {
        Url::parse(&self.base_url).is_ok_and(|url| matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost")))
    }

    fn address(&self) -> Option<SettingRefusal> {
        let needs = |needs| Some(SettingRefusal::Needs { variable: "EMBEDDING_BASE_URL", needs });
        let Ok(url) = Url::parse(&self.base_url) else { return needs("an absolute https or http address") };
        let plain =
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        match url.scheme() {
            _ if !plain => needs("an address without user info, query and fragment"),
            "https" => None,
            "http" if self.allow_plaintext || self.is_local() => None,
            "http" => needs("EMBEDDING_ALLOW_PLAINTEXT, as it is plain http"),
            _ => needs("an absolute https or http address"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<EmbeddingSettings, SettingsProblems> {
        let environment = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        EmbeddingSettings::from_environment(&environment)
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.22
    #[test]
    fn the_settings_select_provider_model_address_key_hosts_and_plaintext() {
        let settings = read(&[
            ("EMBEDDING_PROVIDER", "ollama"),
            ("EMBEDDING_MODEL", "m"),
            ("EMBEDDING_BASE_URL", "http://models.internal:11434"),
            ("EMBEDDING_API_KEY_REF", "env://KEY"),
            ("EMBEDDING_PRIVATE_HOSTS", "models.internal, 10.0.0.5"),
            ("EMBEDDING_ALLOW_PLAINTEXT", "true"),
            ("EMBEDDING_DIMENSION", "768"),
            ("EMBEDDING_BATCH_SIZE", "8"),
        ])
        .unwrap();
        assert_eq!(settings.provider, EmbeddingProvider::Ollama);
        assert_eq!(settings.private_hosts, ["models.internal", "10.0.0.5"]);
        assert_eq!((settings.dimension, settings.batch, settings.is_local()), (Some(768), 8, false));
        let silent = read(&[("EMBEDDING_MODEL", "m")]).unwrap();
        assert_eq!((silent.base_url.as_str(), silent.dimension, silent.key), ("https://api.openai.com/v1", None, None));
        assert!(read(&[("EMBEDDING_MODEL", "m"), ("EMBEDDING_PROVIDER", "ollama")]).unwrap().is_local());
    }

    #[test]
    fn every_problem_is_told_without_its_value() {
        let problems = read(&[
            ("EMBEDDING_PROVIDER", "other"),
            ("EMBEDDING_BASE_URL", "http://models.internal/v1"),
            ("EMBEDDING_API_KEY_REF", "sk-secret"),
            ("EMBEDDING_BATCH_SIZE", "0"),
            ("EMBEDDING_DIMENSION", "0"),
        ])
        .unwrap_err();
        assert_eq!(problems.problems.len(), 6, "{problems}");
        assert!(!problems.to_string().contains("sk-secret") && !problems.to_string().contains("models.internal"));
        for bad in ["https://u:p@a.example", "ftp://a.example", "a.example", "https://a.example/?key=1"] {
            assert!(read(&[("EMBEDDING_MODEL", "m"), ("EMBEDDING_BASE_URL", bad)]).is_err(), "{bad}");
        }
    }
}
