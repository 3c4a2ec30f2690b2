//! The one list behind a live listing and a pack.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{ContentRefusal, PromptFile};
use crate::canonical::peer_json;
use crate::declaration::descriptor::Descriptor;
use crate::digest::{framed, sha256};
use crate::id::{ConnectorName, Digest256};
use crate::json::{Json, JsonObject};
use crate::mcp::{ResourceBody, ResourceDescription, ToolDescription};
use crate::model::PackEntry;
use crate::pack_declaration::{ConnectorPackDeclaration, LiveConnector, contract_uri};
use crate::refusal::Refusal as _;

/// The `_meta` key with the SHA-256 of a resource's body.
pub const DIGEST_META_KEY: &str = "team.knuckles/digest";

/// The `_meta` key of `connector://resources` with count and digest of each surface.
pub const SURFACES_META_KEY: &str = "team.knuckles/surfaces";

/// The six surfaces of a connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentSurface {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
    /// Skills, by their `SKILL.md`.
    Skills,
    /// Ontologies.
    Ontology,
    /// Shapes.
    Shapes,
    /// Data resources.
    Data,
}

impl ContentSurface {
    /// Every surface.
    pub const ALL: [Self; 6] = [Self::Tools, Self::Prompts, Self::Skills, Self::Ontology, Self::Shapes, Self::Data];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Skills => "skills",
            Self::Ontology => "ontology",
            Self::Shapes => "shapes",
            Self::Data => "data",
        }
    }
}

/// How many things a surface has, and what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfaceCount {
    /// How many.
    pub count: usize,
    /// A digest over the URI and body digest of each, in URI order.
    pub digest: Digest256,
}

/// One thing a connector has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentItem {
    /// The surface it counts to.
    pub surface: Option<ContentSurface>,
    /// The kind of its entry in a pack; `None` for what is served and not packed.
    pub pack_kind: Option<&'static str>,
    /// Whether `resources/list` shows it.
    pub listed: bool,
    /// What a graph must have before it can take the entry, for example `ontology-import:<iri>`.
    pub requires: Vec<String>,
    /// How it is listed, without the digest.
    pub description: ResourceDescription,
    body: Bytes,
    digest: Digest256,
}

impl ContentItem {
    /// An item that is listed as a resource.
    pub fn resource(uri: impl Into<String>, name: impl Into<String>, media_type: &str, body: impl Into<Bytes>) -> Self {
        let tags = Json::from([("tags", Json::Array(Vec::new()))]);
        let description = ResourceDescription {
            uri: uri.into(),
            name: name.into(),
            media_type: Some(media_type.to_owned()),
            meta: JsonObject::from([("fastmcp".to_owned(), tags)]),
            ..ResourceDescription::default()
        };
        let body = body.into();
        let digest = sha256(&body);
        Self { surface: None, pack_kind: None, listed: true, requires: Vec::new(), description, body, digest }
    }

    /// The same on a surface, packed as `kind`.
    #[must_use]
    pub fn on(mut self, surface: ContentSurface, kind: &'static str) -> Self {
        (self.surface, self.pack_kind) = (Some(surface), Some(kind));
        self
    }

    /// The same, packed as `kind`.
    #[must_use]
    pub fn packed(mut self, kind: &'static str) -> Self {
        self.pack_kind = Some(kind);
        self
    }

    /// The same with the capabilities it requires.
    #[must_use]
    pub fn requiring(mut self, capabilities: Vec<String>) -> Self {
        self.requires = capabilities;
        self
    }

    /// The same with a description.
    #[must_use]
    pub fn described(mut self, text: impl Into<String>) -> Self {
        self.description.description = Some(text.into());
        self
    }

    /// The same with a member of `_meta`.
    #[must_use]
    pub fn meta(mut self, key: &str, value: Json) -> Self {
        self.description.meta.insert(key.to_owned(), value);
        self
    }

    /// Its bytes.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// SHA-256 of its bytes.
    pub const fn digest(&self) -> Digest256 {
        self.digest
    }

    fn digest_meta(&self) -> Json {
        format!("sha256:{}", self.digest.to_hex()).into()
    }

    /// As `resources/list` shows it: with its size and the digest of its body.
    pub fn listing(&self) -> ResourceDescription {
        let mut description = self.description.clone();
        description.size = Some(self.body.len() as u64);
        description.meta.insert(DIGEST_META_KEY.to_owned(), self.digest_meta());
        description
    }

    /// As `resources/read` answers it.
    pub fn read(&self) -> ResourceBody {
        let mut meta = self.description.meta.clone();
        meta.remove("fastmcp");
        meta.insert(DIGEST_META_KEY.to_owned(), self.digest_meta());
        ResourceBody {
            uri: self.description.uri.clone(),
            media_type: self.description.media_type.clone(),
            bytes: self.body.to_vec(),
            meta,
        }
    }
}

/// Everything a connector has, by URI. Whatever order it was made in, listing, digests and entries are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentCatalogue {
    items: BTreeMap<String, ContentItem>,
}

impl ContentCatalogue {
    /// Adds items; of two with one URI the later stays, so a caller that must not lose one asks [`Self::get`] first.
    pub fn extend(&mut self, items: impl IntoIterator<Item = ContentItem>) {
        self.items.extend(items.into_iter().map(|item| (item.description.uri.clone(), item)));
    }

    /// The tools: canonical name, description, input schema without defaults, output schema.
    pub fn tools(&mut self, connector: &ConnectorName, tools: &[ToolDescription]) {
        let item = |tool: &ToolDescription| {
            let body = peer_json(&Json::from([
                ("name", tool.name.as_str().into()),
                ("description", tool.description.as_deref().into()),
                ("input_schema", without_defaults(&tool.input_schema)),
                ("output_schema", tool.output_schema.clone().unwrap_or_default()),
            ]));
            let uri = format!("tool://{connector}/{}", tool.name);
            unlisted(uri, &tool.name, body).on(ContentSurface::Tools, "tool")
        };
        self.extend(tools.iter().map(item));
    }

    /// The prompts: canonical definition, role and concepts, and the text with its placeholders.
    pub fn prompts(&mut self, connector: &ConnectorName, prompts: &[PromptFile]) {
        let item = |prompt: &PromptFile| {
            let argument = |argument: &crate::mcp::PromptArgument| {
                Json::from([
                    ("name", argument.name.as_str().into()),
                    ("description", argument.description.as_deref().into()),
                    ("required", argument.required.into()),
                ])
            };
            let texts = |texts: Vec<&str>| Json::from(texts.into_iter().map(Json::from).collect::<Vec<_>>());
            let body = peer_json(&Json::from([
                ("name", prompt.name.as_str().into()),
                ("title", prompt.title.as_deref().into()),
                ("description", prompt.description.as_deref().into()),
                ("arguments", prompt.arguments.iter().map(argument).collect::<Vec<_>>().into()),
                ("tags", texts(prompt.tags.iter().map(String::as_str).collect())),
                ("role", prompt.kind.as_str().into()),
                ("concepts", texts(prompt.concepts.iter().map(String::as_str).collect())),
                ("meta", Json::Object(prompt.meta.clone())),
                ("text", prompt.directive.text().into()),
            ]));
            let uri = format!("prompt://{connector}/{}", prompt.name);
            unlisted(uri, &prompt.name, body).on(ContentSurface::Prompts, "prompt")
        };
        self.extend(prompts.iter().map(item));
    }

    /// The data resources. `listed`: whether each is a resource of its own beside its place in
    /// `connector://resources`.
    pub fn data(&mut self, descriptors: &[Descriptor], listed: bool) {
        let item = |data: &Descriptor| {
            let body = crate::json::to_spaced(&Json::Object(data.to_json()));
            let mut item = ContentItem::resource(data.uri.clone(), &data.name, "application/json", body)
                .on(ContentSurface::Data, "resource");
            item.listed = listed;
            item
        };
        self.extend(descriptors.iter().map(item));
    }

    /// The contract: what is ingested, what can be read where it is, and the surface, as Turtle.
    ///
    /// # Errors
    /// A name of a tool, prompt or skill that no contract can hold.
    pub fn contract(&mut self, live: LiveConnector<'_>) -> Result<(), ContentRefusal> {
        let uri = contract_uri(&live.declaration.connector);
        let body = ConnectorPackDeclaration::of_live(live).declaration.to_turtle();
        let body = body.map_err(|refusal| ContentRefusal::Contract { code: refusal.code() })?;
        let mut contract = ContentItem::resource(uri.clone(), uri, "text/turtle", body).packed("resource");
        contract.listed = false;
        self.extend([contract]);
        Ok(())
    }

    /// The item at a URI.
    pub fn get(&self, uri: &str) -> Option<&ContentItem> {
        self.items.get(uri)
    }

    /// Every item in URI order.
    pub fn items(&self) -> impl Iterator<Item = &ContentItem> {
        self.items.values()
    }

    /// What `resources/list` shows, in URI order.
    pub fn listing(&self) -> Vec<ResourceDescription> {
        self.items().filter(|item| item.listed).map(ContentItem::listing).collect()
    }

    /// The entries of a pack with exact bytes, in URI order. Framing, imports and the server's own entry are the pack's.
    pub fn pack_entries(&self) -> Vec<PackEntry> {
        let entry = |item: &ContentItem| {
            Some(PackEntry {
                kind: item.pack_kind?.to_owned(),
                uri: item.description.uri.clone(),
                media_type: item.description.media_type.clone().unwrap_or_default(),
                body: item.body.to_vec(),
                ..PackEntry::default()
            })
        };
        self.items().filter_map(entry).collect()
    }

    /// Count and digest of each of the six surfaces.
    pub fn surfaces(&self) -> BTreeMap<ContentSurface, SurfaceCount> {
        let count = |surface: ContentSurface| {
            let of = || self.items().filter(move |item| item.surface == Some(surface));
            let digests: Vec<Digest256> = of().map(ContentItem::digest).collect();
            let parts: Vec<&[u8]> = of()
                .zip(&digests)
                .flat_map(|(item, digest)| [item.description.uri.as_bytes(), digest.as_bytes().as_slice()])
                .collect();
            (surface, SurfaceCount { count: digests.len(), digest: framed("scion/content-surface/v1", &parts) })
        };
        ContentSurface::ALL.into_iter().map(count).collect()
    }

    /// The surfaces for the metadata of `connector://resources`.
    pub fn surfaces_json(&self) -> Json {
        let one = |(surface, of): (ContentSurface, SurfaceCount)| {
            let digest = format!("sha256:{}", of.digest.to_hex());
            let members = [("count", Json::from(of.count as u64)), ("digest", Json::from(digest))];
            (surface.as_str().to_owned(), Json::from(members))
        };
        Json::Object(self.surfaces().into_iter().map(one).collect::<JsonObject>())
    }
}

fn unlisted(uri: String, name: &str, body: String) -> ContentItem {
    let mut item = ContentItem::resource(uri, name, "application/json", body);
    item.listed = false;
    item
}

/// The schema without the `default` of any of its objects; a property of that name stays.
fn without_defaults(schema: &Json) -> Json {
    fn walk(value: &Json, names: bool) -> Json {
        match value {
            Json::Array(items) => items.iter().map(|item| walk(item, false)).collect::<Vec<_>>().into(),
            Json::Object(members) => {
                let kept = members.iter().filter(|(key, _)| names || *key != "default");
                let inner =
                    |key: &str| !names && matches!(key, "properties" | "patternProperties" | "$defs" | "definitions");
                Json::Object(kept.map(|(key, value)| (key.clone(), walk(value, inner(key)))).collect())
            }
            other => other.clone(),
        }
    }
    walk(schema, false)
}
