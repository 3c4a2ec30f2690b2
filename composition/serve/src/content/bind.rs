//! Content bound to one connector: the catalogue, the prompts and the templates it serves.

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::content::{
    ContentCatalogue, ContentItem, ContentRefusal, ContentSurface, PromptFile, PromptKind, SURFACES_META_KEY, Template,
};
use scion_domain::declaration::descriptor::data_resources;
use scion_domain::declaration::{ConnectorDeclaration, DECLARATION_MEDIA_TYPE, DECLARATION_URI};
use scion_domain::json::{Json, JsonObject, to_spaced};
use scion_domain::mcp::{
    Completion, CompletionRequest, CompletionTarget, MAX_COMPLETIONS, PromptBody, PromptDescription, ResourceBody,
    ResourceDescription, ResourceTemplate, ToolDescription,
};
use scion_domain::pack_declaration::{LiveConnector, PackTool};
use scion_domain::surface::SurfaceRefusal;

use super::ServedContent;

/// The built-in prompt.
pub(super) const STATUS_PROMPT: &str = "connector-status";

const CAPABILITY: &str = "connector://capability/";

/// The key of a seed resource's three parts in its `_meta`.
const SEED_META_KEY: &str = "team.knuckles/seed";

/// Everything a connector serves beside its tools, ready to be given out.
#[derive(Debug)]
pub(crate) struct Bound {
    connector: String,
    catalogue: ContentCatalogue,
    listing: Vec<ResourceDescription>,
    prompts: BTreeMap<String, PromptFile>,
    templates: Vec<ResourceTemplate>,
}

impl Bound {
    /// Binds content; without any, only the declaration is there. `base` holds no descriptors yet.
    pub(crate) fn new(
        base: &ConnectorDeclaration,
        tools: &[ToolDescription],
        content: Option<&ServedContent>,
    ) -> Result<Self, ContentRefusal> {
        let connector = &base.connector;
        let declared = content.map_or(&[][..], |content| &content.data);
        let data = data_resources(base, tools, declared, content.and_then(ServedContent::terms))?;
        let mut catalogue = ContentCatalogue::default();
        catalogue.tools(connector, tools);
        catalogue.data(&data, content.is_some_and(|content| !content.data_unlisted));
        let mut prompts = Vec::new();
        let mut templates = Vec::new();
        if let Some(content) = content {
            prompts.push(status_prompt(connector.as_str()));
            prompts.extend(content.prompts.iter().cloned());
            templates.push(capability_template());
            add(&mut catalogue, connector.as_str(), content);
            templates.extend(content.skills.iter().map(|skill| skill_template(&skill.header.name)));
        }
        catalogue.prompts(connector, &prompts);
        let pack_tool = |tool: &ToolDescription| {
            let entry = scion_domain::pack::tool_entry(connector, tool).ok();
            (tool.name.clone(), entry.as_ref().map(PackTool::of_entry).unwrap_or_default())
        };
        let skills = content.into_iter().flat_map(|content| &content.skills);
        catalogue.contract(LiveConnector {
            declaration: base,
            descriptors: &data,
            tools: &tools.iter().map(pack_tool).collect(),
            prompts: &prompts.iter().map(|prompt| prompt.name.clone()).collect(),
            skills: &skills.map(|skill| skill.header.name.clone()).collect(),
            terms: None,
        })?;
        let descriptors = data.iter().map(scion_domain::declaration::descriptor::Descriptor::to_json).collect();
        let text = ConnectorDeclaration { descriptors, ..base.clone() }.to_text();
        let manifest = ContentItem::resource(DECLARATION_URI, "connector-resources", DECLARATION_MEDIA_TYPE, text)
            .described("Sources, mappings and data resources of this connector.")
            .meta(SURFACES_META_KEY, catalogue.surfaces_json())
            .packed("resource");
        catalogue.extend([manifest]);
        // The declaration first: it is what a runner reads.
        let (mut listing, rest): (Vec<_>, Vec<_>) =
            catalogue.listing().into_iter().partition(|listed| listed.uri == DECLARATION_URI);
        listing.extend(rest);
        let prompts = prompts.into_iter().map(|prompt| (prompt.name.clone(), prompt)).collect();
        Ok(Self { connector: connector.to_string(), catalogue, listing, prompts, templates })
    }

    pub(crate) const fn catalogue(&self) -> &ContentCatalogue {
        &self.catalogue
    }

    /// The whole list: the declaration, what else the connector serves, then the content. Where the connector serves a
    /// declaration of its own, that one stands.
    pub(crate) fn listed_with(&self, own: Vec<ResourceDescription>) -> Vec<ResourceDescription> {
        let replaced = own.iter().any(|listed| listed.uri == DECLARATION_URI);
        let (declaration, content): (Vec<_>, Vec<_>) =
            self.listing.iter().cloned().partition(|listed| listed.uri == DECLARATION_URI);
        let declaration = declaration.into_iter().filter(|_| !replaced);
        declaration.chain(own).chain(content).collect()
    }

    pub(crate) fn listing(&self) -> &[ResourceDescription] {
        &self.listing
    }

    pub(crate) fn templates(&self) -> Vec<ResourceTemplate> {
        self.templates.clone()
    }

    pub(crate) fn read(&self, uri: &str) -> Option<ResourceBody> {
        if let Some(item) = self.catalogue.get(uri)
            && (item.listed || uri.starts_with("skill://"))
        {
            return Some(item.read());
        }
        let capability = uri.strip_prefix(CAPABILITY).filter(|_| !self.templates.is_empty())?;
        let named = (1..=128).contains(&capability.len())
            && capability.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~:-".contains(&byte));
        let text = |text: &str| to_spaced(&Json::from(text));
        named.then(|| ResourceBody {
            uri: uri.to_owned(),
            media_type: Some("application/json".to_owned()),
            bytes: format!("{{\"server\": {}, \"capability\": {}}}", text(&self.connector), text(capability))
                .into_bytes(),
            meta: JsonObject::new(),
        })
    }

    pub(crate) fn prompts(&self) -> Vec<PromptDescription> {
        self.prompts.values().map(PromptFile::describe).collect()
    }

    pub(crate) fn prompt(&self, name: &str, given: &BTreeMap<String, String>) -> Result<PromptBody, SurfaceRefusal> {
        let unknown = || SurfaceRefusal::UnknownPrompt { prompt: name.chars().take(64).collect() };
        self.prompts.get(name).ok_or_else(unknown)?.body(given)
    }

    /// Values of a prompt's argument that its file names, and paths of a skill's files.
    pub(crate) fn complete(&self, request: &CompletionRequest) -> Result<Completion, SurfaceRefusal> {
        let all: Vec<&str> = match &request.target {
            CompletionTarget::Prompt(name) => {
                let unknown = || SurfaceRefusal::UnknownPrompt { prompt: name.chars().take(64).collect() };
                let prompt = self.prompts.get(name).ok_or_else(unknown)?;
                prompt.suggestions.get(&request.argument).into_iter().flatten().map(String::as_str).collect()
            }
            CompletionTarget::Template(template) => {
                let unknown = || SurfaceRefusal::UnknownResource { uri: template.chars().take(256).collect() };
                let known = self.templates.iter().find(|known| known.uri_template == *template).ok_or_else(unknown)?;
                let prefix = known.uri_template.strip_suffix("{path*}").unwrap_or("\0");
                let uris = self.catalogue.items().map(|item| item.description.uri.as_str());
                uris.filter_map(|uri| uri.strip_prefix(prefix)).filter(|path| *path != "_manifest").collect()
            }
        };
        let found: Vec<&str> = all.into_iter().filter(|value| value.starts_with(&request.value)).collect();
        Ok(Completion {
            values: found.iter().take(MAX_COMPLETIONS).map(|value| (*value).to_owned()).collect(),
            total: u32::try_from(found.len()).ok(),
            has_more: found.len() > MAX_COMPLETIONS,
        })
    }

    /// What is different from another state: the listed URIs whose entry or body changed, and whether the prompts did.
    pub(super) fn differs(&self, other: &Self) -> (BTreeSet<String>, bool) {
        let entries = |bound: &Self| -> BTreeSet<(String, String)> {
            let entry = |listed: &ResourceDescription| {
                let seen = Json::from([
                    ("name", listed.name.as_str().into()),
                    ("description", listed.description.as_deref().into()),
                    ("meta", Json::Object(listed.meta.clone())),
                ]);
                (listed.uri.clone(), to_spaced(&seen))
            };
            let files =
                bound.catalogue.items().filter(|item| !item.listed && item.description.uri.starts_with("skill://"));
            bound.listing.iter().map(entry).chain(files.map(|item| entry(&item.listing()))).collect()
        };
        let (mine, theirs) = (entries(self), entries(other));
        let uris = mine.symmetric_difference(&theirs).map(|(uri, _)| uri.clone()).collect();
        (uris, self.prompts != other.prompts)
    }
}

fn add(catalogue: &mut ContentCatalogue, connector: &str, content: &ServedContent) {
    use ContentSurface::{Ontology, Shapes, Skills};
    let turtle = |kind: &'static str, surface, (file, bytes): &(String, bytes::Bytes)| {
        let uri = format!("{kind}://{connector}/{file}");
        ContentItem::resource(uri.clone(), uri, "text/turtle", bytes.clone()).on(surface, kind)
    };
    let own: BTreeSet<String> =
        content.ontologies.iter().map(|(file, _)| format!("ontology://{connector}/{file}")).collect();
    catalogue.extend(content.ontologies.iter().zip(&content.imports).map(|(file, imports)| {
        // What this connector does not bring itself, a graph must have; the parent is always among it (R073).
        let foreign = imports.iter().filter(|import| !own.contains(*import));
        turtle("ontology", Ontology, file).requiring(foreign.map(|iri| format!("ontology-import:{iri}")).collect())
    }));
    catalogue.extend(content.shapes.iter().map(|file| turtle("shapes", Shapes, file)));
    if let Some(seed) = &content.seed {
        let uri = format!("seed://{connector}/seed.ttl");
        let item = ContentItem::resource(uri.clone(), uri, "text/turtle", seed.turtle.clone())
            .described("Identity, catalog and references of this instance.")
            .meta(SEED_META_KEY, seed.parts_json())
            .packed("resource");
        catalogue.extend([item]);
    }
    for skill in &content.skills {
        let name = &skill.header.name;
        let meta = |is_manifest: bool| {
            let skill = Json::from([("name", name.as_str().into()), ("is_manifest", is_manifest.into())]);
            Json::from([("skill", skill), ("tags", Json::Array(Vec::new()))])
        };
        let manifest = format!("skill://{name}/_manifest");
        let manifest =
            ContentItem::resource(manifest, format!("{name}/_manifest"), "application/json", skill.manifest())
                .described(format!("The files of the skill {name}."))
                .meta("fastmcp", meta(true));
        catalogue.extend([manifest]);
        catalogue.extend(skill.files.iter().map(|file| {
            let (uri, label) = (format!("skill://{name}/{}", file.path), format!("{name}/{}", file.path));
            if file.path == "SKILL.md" {
                return ContentItem::resource(uri, label, "text/markdown", file.bytes.clone())
                    .described(skill.header.description.clone())
                    .meta("fastmcp", meta(false))
                    .on(Skills, "skill");
            }
            let mut item = ContentItem::resource(uri, label, "application/octet-stream", file.bytes.clone());
            item.listed = false;
            item
        }));
    }
}

fn status_prompt(connector: &str) -> PromptFile {
    PromptFile {
        name: STATUS_PROMPT.to_owned(),
        title: None,
        description: Some("Asks how this connector is.".to_owned()),
        arguments: Vec::new(),
        tags: BTreeSet::new(),
        kind: PromptKind::Task,
        concepts: Vec::new(),
        suggestions: BTreeMap::new(),
        directive: Template::parse(&format!("Report the operational status of the {connector} connector server.")),
        meta: JsonObject::new(),
    }
}

fn template(uri: String, name: String, description: String, media_type: &str) -> ResourceTemplate {
    let tags = Json::from([("tags", Json::Array(Vec::new()))]);
    ResourceTemplate {
        uri_template: uri,
        name,
        title: None,
        description: Some(description),
        media_type: Some(media_type.to_owned()),
        meta: JsonObject::from([("fastmcp".to_owned(), tags)]),
    }
}

fn capability_template() -> ResourceTemplate {
    let description = "A capability by its name, with the server that was asked.".to_owned();
    template(
        format!("{CAPABILITY}{{capability}}"),
        "_connector_capability_resource".to_owned(),
        description,
        "application/json",
    )
}

fn skill_template(name: &str) -> ResourceTemplate {
    let description = format!("A file of the skill {name}, by its path.");
    template(format!("skill://{name}/{{path*}}"), format!("{name}_files"), description, "application/octet-stream")
}
