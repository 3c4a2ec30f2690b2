//! The capture itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use scion_domain::canonical::peer_json;
use scion_domain::declaration::{ConnectorDeclaration, DECLARATION_MEDIA_TYPE, DECLARATION_URI};
use scion_domain::digest::sha256;
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonLimits, parse_with};
use scion_domain::mcp::{McpRefusal, ResourceBody, ResourceDescription, ToolHints};
use scion_domain::model::{PackEntry, PackServer};
use scion_domain::pack::{
    ANNOTATIONS_KEY, EntryKind, MAX_ARCHIVE_BYTES, MAX_ENTRIES, PackAnnotations, PackRefusal, skill_header, skill_of,
    tool_entry, validate,
};
use scion_ports::{CaptureRefusal, CapturedPack, Clock, McpSession, PackCapture};

use crate::data::{self, TEXT_SCHEMA};
use crate::imports::scope_imports;
use crate::plan::{self, Wanted};
use crate::prompts::ListedPrompt;

/// How far a capture may go.
#[derive(Clone, Copy, Debug)]
pub struct CaptureOptions {
    /// The time of one capture in all: 2 minutes.
    pub deadline: Duration,
    /// How many prompts and resources are read side by side: 8.
    pub parallel: usize,
    /// The most entries: 8192.
    pub max_entries: usize,
    /// The most bytes of bodies and schemas: 64 MiB.
    pub max_bytes: usize,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        Self { deadline: Duration::from_mins(2), parallel: 8, max_entries: MAX_ENTRIES, max_bytes: MAX_ARCHIVE_BYTES }
    }
}

/// Captures packs. It reads, and calls no tool.
pub struct Capturer {
    clock: Arc<dyn Clock>,
    options: CaptureOptions,
}

impl Capturer {
    /// With the default bounds.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, options: CaptureOptions::default() }
    }

    /// The same with other bounds.
    #[must_use]
    pub const fn with_options(mut self, options: CaptureOptions) -> Self {
        self.options = options;
        self
    }
}

#[async_trait]
impl PackCapture for Capturer {
    async fn capture(
        &self,
        session: &dyn McpSession,
        connector: &ConnectorName,
    ) -> Result<CapturedPack, CaptureRefusal> {
        let run = Run { session, connector, options: self.options, bytes: AtomicUsize::new(0) };
        tokio::select! {
            biased;
            captured = run.capture() => captured,
            () = self.clock.sleep(self.options.deadline) => Err(CaptureRefusal::Mcp(McpRefusal::Timeout {
                operation: "capturing the pack".to_owned(),
                seconds: self.options.deadline.as_secs(),
            })),
        }
    }
}

struct Run<'r> {
    session: &'r dyn McpSession,
    connector: &'r ConnectorName,
    options: CaptureOptions,
    bytes: AtomicUsize,
}

impl Run<'_> {
    async fn capture(&self) -> Result<CapturedPack, CaptureRefusal> {
        let tools = offered(self.session.list_tools().await)?;
        let prompts = offered(self.session.list_prompts().await)?;
        let mut plan = plan::resources(offered(self.session.list_resources().await)?)?;
        self.check_count(tools.len() + prompts.len() + plan.wanted.len())?;

        let mut entries = Vec::with_capacity(tools.len() + prompts.len() + plan.wanted.len());
        for tool in &tools {
            entries.push(self.counted(tool_entry(self.connector, tool)?)?);
        }
        let mut listed = Vec::with_capacity(prompts.len());
        for definition in prompts {
            listed.push(ListedPrompt::read(self.connector, definition)?);
        }
        // In the order of their URIs, so that of two bad entries always the same one is named.
        listed.sort_by(|a, b| a.uri.cmp(&b.uri));
        if let Some(pair) = listed.windows(2).find(|pair| pair[0].uri == pair[1].uri) {
            return Err(PackRefusal::Duplicate { uri: pair[0].uri.clone() }.into());
        }
        let captured = stream::iter(listed).map(|prompt: ListedPrompt| self.prompt(prompt));
        entries.extend(captured.buffered(self.options.parallel).try_collect::<Vec<_>>().await?);

        for skill in std::mem::take(&mut plan.manifests) {
            for file in self.files_of(&skill).await? {
                plan.wanted
                    .entry(file.uri.clone())
                    .and_modify(|known| known.hash.clone_from(&file.hash))
                    .or_insert(file);
            }
        }
        self.check_count(entries.len() + plan.wanted.len())?;
        let read = stream::iter(plan.wanted.into_values()).map(|wanted: Wanted| self.resource(wanted));
        entries.extend(read.buffered(self.options.parallel).try_collect::<Vec<_>>().await?);

        let declaration = entries.iter().find(|entry| entry.uri == DECLARATION_URI);
        let derived = declaration.map(|entry| data::entries(self.connector, &entry.body, &entries)).transpose()?;
        for entry in derived.into_iter().flatten() {
            entries.push(self.counted(entry)?);
        }
        self.check_count(entries.len())?;
        scope(&mut entries)?;
        entries.sort_by(|a, b| a.uri.cmp(&b.uri));
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].uri == pair[1].uri) {
            return Err(PackRefusal::Duplicate { uri: pair[0].uri.clone() }.into());
        }
        let identity = self.session.server();
        let server = PackServer { name: identity.name.clone(), version: identity.version.clone() };
        Ok(CapturedPack { server, entries })
    }

    fn check_count(&self, count: usize) -> Result<(), PackRefusal> {
        if count > self.options.max_entries {
            return Err(PackRefusal::TooLarge { what: "more entries than a pack may hold" });
        }
        Ok(())
    }

    fn counted(&self, entry: PackEntry) -> Result<PackEntry, CaptureRefusal> {
        let schema = |schema: &Option<Vec<u8>>| schema.as_ref().map_or(0, Vec::len);
        let size = entry.body.len() + schema(&entry.input_schema) + schema(&entry.output_schema);
        if self.bytes.fetch_add(size, Ordering::Relaxed).saturating_add(size) > self.options.max_bytes {
            return Err(PackRefusal::TooLarge { what: "more bytes than a pack may hold" }.into());
        }
        Ok(entry)
    }

    /// The files of a skill beside its `SKILL.md`, from its manifest.
    async fn files_of(&self, skill: &str) -> Result<Vec<Wanted>, CaptureRefusal> {
        let uri = format!("skill://{skill}/_manifest");
        let bad = || PackRefusal::Malformed { uri: uri.clone(), what: "no manifest of a skill" };
        let body = self.session.read_resource(&uri).await.map_err(CaptureRefusal::Mcp)?;
        let manifest = parse_with(&body.bytes, JsonLimits::DEFAULT).map_err(|_| bad())?;
        let files = manifest.get("files").and_then(Json::as_array).ok_or_else(bad)?;
        self.check_count(files.len())?;
        let mut wanted = Vec::with_capacity(files.len());
        for file in files {
            let path = file.get("path").and_then(Json::as_str).ok_or_else(bad)?;
            let uri = format!("skill://{skill}/{path}");
            if path == "SKILL.md" {
                continue;
            }
            if skill_of(&uri).is_none() || path.chars().any(|c| c.is_whitespace() || c.is_control()) {
                return Err(bad().into());
            }
            let listed =
                ResourceDescription { uri: uri.clone(), name: path.to_owned(), ..ResourceDescription::default() };
            let hash = file.get("hash").and_then(Json::as_str).map(str::to_owned);
            wanted.push(Wanted { uri, kind: EntryKind::SkillFile, listed, hash });
        }
        Ok(wanted)
    }

    async fn prompt(&self, prompt: ListedPrompt) -> Result<PackEntry, CaptureRefusal> {
        self.counted(prompt.capture(self.session).await?)
    }

    async fn resource(&self, wanted: Wanted) -> Result<PackEntry, CaptureRefusal> {
        let body = self.session.read_resource(&wanted.uri).await.map_err(CaptureRefusal::Mcp)?;
        self.counted(resource_entry(&wanted, body)?)
    }
}

/// What a server does not offer is an empty list.
fn offered<T>(listed: Result<Vec<T>, McpRefusal>) -> Result<Vec<T>, CaptureRefusal> {
    match listed {
        Ok(items) => Ok(items),
        Err(McpRefusal::Unsupported { .. }) => Ok(Vec::new()),
        Err(other) => Err(CaptureRefusal::Mcp(other)),
    }
}

fn resource_entry(wanted: &Wanted, body: ResourceBody) -> Result<PackEntry, PackRefusal> {
    let Wanted { uri, kind, listed, hash } = wanted;
    if hash.as_ref().is_some_and(|hash| *hash != format!("sha256:{}", sha256(&body.bytes).to_hex())) {
        return Err(PackRefusal::Malformed { uri: uri.clone(), what: "other bytes than its manifest says" });
    }
    let media_type = body
        .media_type
        .or_else(|| listed.media_type.clone())
        .unwrap_or_else(|| usual_media_type(*kind, uri).to_owned());
    let skill = skill_of(uri);
    let (uri, name) = match (kind, skill) {
        (EntryKind::Skill, Some((name, _))) => (uri.clone(), name.to_owned()),
        (EntryKind::SkillFile, Some((skill, path))) => (format!("skill-file://{skill}/{path}"), path.to_owned()),
        _ => (uri.clone(), listed.name.clone()),
    };
    validate(*kind, &uri, &name, &media_type, &body.bytes)?;
    let mut meta = listed.meta.clone();
    if *kind == EntryKind::Skill
        && let Some(declared) = skill_header(&uri, &body.bytes)?.remove(ANNOTATIONS_KEY)
    {
        meta.insert(ANNOTATIONS_KEY.to_owned(), declared);
    }
    let output_schema = match kind {
        EntryKind::Resource if uri == DECLARATION_URI => {
            Some(peer_json(&ConnectorDeclaration::json_schema()).into_bytes())
        }
        EntryKind::Resource => Some(TEXT_SCHEMA.to_vec()),
        _ => None,
    };
    Ok(PackEntry {
        kind: kind.as_str().to_owned(),
        annotations: PackAnnotations::declared(&uri, &meta, ToolHints::default(), None)?,
        name,
        media_type,
        body: body.bytes,
        output_schema,
        uri,
        ..PackEntry::default()
    })
}

const fn usual_media_type(kind: EntryKind, uri: &str) -> &'static str {
    match kind {
        EntryKind::Ontology | EntryKind::Shapes => "text/turtle",
        EntryKind::Skill => "text/markdown",
        EntryKind::SkillFile => "application/octet-stream",
        EntryKind::Resource if uri.len() != DECLARATION_URI.len() => "text/plain",
        _ => DECLARATION_MEDIA_TYPE,
    }
}

/// Takes out the imports that the pack does not hold itself, and records them.
fn scope(entries: &mut [PackEntry]) -> Result<(), PackRefusal> {
    let is_ontology = |entry: &PackEntry| entry.kind == EntryKind::Ontology.as_str();
    let held: Vec<String> = entries.iter().filter(|entry| is_ontology(entry)).map(|entry| entry.uri.clone()).collect();
    for entry in entries.iter_mut().filter(|entry| is_ontology(entry)) {
        let Ok(text) = std::str::from_utf8(&entry.body) else { continue };
        let scoped = scope_imports(&entry.uri, &entry.media_type, text, &held)?;
        let Some(changed) = scoped.text else { continue };
        entry.body = changed.into_bytes();
        entry.annotations.requires_capabilities.extend(scoped.requires);
    }
    Ok(())
}
