use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::ClientConfig;
use scion_domain::http::HttpRefusal;
use scion_domain::secret::Secret;
use scion_domain::tls::TlsProfile;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::build;
use crate::material::{self, Credentials};

/// How a TLS profile stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsStatus {
    /// How often material was taken into use; 0 before the first connection.
    pub generation: u64,
    /// Why the newest material was not taken, while the older stays in use.
    pub problem: Option<HttpRefusal>,
}

/// A profile with its material, ready for connections. It shows no material.
#[derive(Clone)]
pub struct ResolvedTlsProfile {
    name: Arc<str>,
    config: Arc<ClientConfig>,
    generation: u64,
}

impl ResolvedTlsProfile {
    /// The name it was selected by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which generation of the material this is.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// For the connector only: the configuration never leaves this crate, so that nobody changes it.
    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.config)
    }
}

impl std::fmt::Debug for ResolvedTlsProfile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResolvedTlsProfile")
            .field("name", &self.name)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

/// Keeps the newest usable material of one profile.
pub(crate) struct TlsSource {
    name: Arc<str>,
    profile: TlsProfile,
    credentials: Option<Credentials>,
    every: Duration,
    hasher: RandomState,
    /// When material was read last; held while it is read.
    read_at: Mutex<Option<Instant>>,
    current: RwLock<Current>,
}

#[derive(Default)]
struct Current {
    resolved: Option<ResolvedTlsProfile>,
    /// Hash of the material in use, and of the newest that could not be used.
    print: u64,
    refused: Option<u64>,
    problem: Option<HttpRefusal>,
}

impl TlsSource {
    pub(crate) fn new(name: &str, profile: TlsProfile, credentials: Option<Credentials>, every: Duration) -> Self {
        Self {
            name: name.into(),
            profile,
            credentials,
            every,
            hasher: RandomState::new(),
            read_at: Mutex::new(None),
            current: RwLock::default(),
        }
    }

    /// The material for the next connection, read again when it is older than the interval. A connection never waits for
    /// another one's reading once there is material to use.
    pub(crate) async fn resolve(&self) -> Result<ResolvedTlsProfile, HttpRefusal> {
        let ready = self.resolved();
        let mut read_at = match (&ready, self.read_at.try_lock()) {
            (_, Ok(read_at)) => read_at,
            (Some(ready), Err(_)) => return Ok(ready.clone()),
            (None, Err(_)) => self.read_at.lock().await,
        };
        if let Some(resolved) = self.resolved() {
            let constant = self.profile.materials().next().is_none();
            if constant || read_at.is_some_and(|at| at.elapsed() < self.every) {
                return Ok(resolved);
            }
        }
        let outcome = self.read().await;
        *read_at = Some(Instant::now());
        match (outcome, self.resolved()) {
            (Ok(()), Some(resolved)) => Ok(resolved),
            (Err(refusal), Some(resolved)) => {
                self.report(refusal);
                Ok(resolved)
            }
            (Err(refusal), None) => Err(refusal),
            (Ok(()), None) => Err(self.unusable("material")),
        }
    }

    pub(crate) fn status(&self) -> TlsStatus {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let generation = current.resolved.as_ref().map_or(0, |resolved| resolved.generation);
        TlsStatus { generation, problem: current.problem.clone() }
    }

    fn resolved(&self) -> Option<ResolvedTlsProfile> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).resolved.clone()
    }

    async fn read(&self) -> Result<(), HttpRefusal> {
        let mut material: Vec<Secret<Vec<u8>>> = Vec::new();
        for (part, source) in self.profile.materials() {
            let read = material::read(source, self.credentials.as_ref()).await;
            material.push(read.ok_or_else(|| self.unusable(part))?);
        }
        let slices: Vec<&[u8]> = material.iter().map(|piece| piece.expose().as_slice()).collect();
        let print = self.print(&slices);
        {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            if current.resolved.is_some() && current.print == print {
                (current.refused, current.problem) = (None, None);
                return Ok(());
            }
            if current.refused == Some(print) {
                return current.problem.clone().map_or(Ok(()), Err);
            }
        }
        let built = build::config(&self.profile, &slices).await.map_err(|what| self.unusable(what));
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        match built {
            Ok(config) => {
                let generation = current.resolved.as_ref().map_or(0, |resolved| resolved.generation) + 1;
                current.resolved =
                    Some(ResolvedTlsProfile { name: Arc::clone(&self.name), config: Arc::new(config), generation });
                (current.print, current.refused, current.problem) = (print, None, None);
                Ok(())
            }
            Err(refusal) => {
                current.refused = current.resolved.is_some().then_some(print);
                Err(refusal)
            }
        }
    }

    fn report(&self, refusal: HttpRefusal) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.problem.as_ref() != Some(&refusal) {
            tracing::warn!(profile = &*self.name, "{refusal}; the material before it stays in use");
            current.problem = Some(refusal);
        }
    }

    fn print(&self, material: &[&[u8]]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        for piece in material {
            hasher.write_usize(piece.len());
            hasher.write(piece);
        }
        hasher.finish()
    }

    fn unusable(&self, what: &'static str) -> HttpRefusal {
        HttpRefusal::Profile { kind: "TLS", name: self.name.to_string(), what }
    }
}
