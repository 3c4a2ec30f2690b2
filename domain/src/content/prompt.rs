//! Prompt files: `prompts/<name>.json` (`wire/mcp-surface.md` 1.2).

use std::collections::{BTreeMap, BTreeSet};

use super::files::text_of;
use super::template::is_argument;
use super::{ContentRefusal, Template};
use crate::json::{Json, JsonLimits, JsonObject, parse_with};
use crate::mcp::{PromptArgument, PromptBody, PromptContent, PromptDescription, PromptMessage, PromptRole};
use crate::surface::{ArgumentRefusal, SurfaceRefusal};

/// The `_meta` key of a prompt's metadata.
pub const PROMPT_META_KEY: &str = "team.knuckles/prompt";

/// The longest value of an argument, in characters.
const MAX_VALUE: usize = 65_536;

/// The most characters that arguments bring into a prompt, which can name one of them many times.
const MAX_FILLED: usize = 1 << 20;

/// Values by the argument that may have them.
pub type Suggestions = BTreeMap<String, Vec<String>>;

/// What a prompt is for (R074.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptKind {
    /// The system prompt of an agent.
    System,
    /// One task.
    #[default]
    Task,
    /// A text that arguments complete.
    Template,
}

impl PromptKind {
    /// The word in a file and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Task => "task",
            Self::Template => "template",
        }
    }
}

/// A prompt as its file declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFile {
    /// The name of the file without its ending.
    pub name: String,
    /// `title`, else `identity.role`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `arguments`.
    pub arguments: Vec<PromptArgument>,
    /// Values that an argument may have (`arguments[].values`), for a client that completes.
    pub suggestions: Suggestions,
    /// `tags` with `prompt`, and `system` where the prompt is one, in order.
    pub tags: BTreeSet<String>,
    /// `role`, else a task.
    pub kind: PromptKind,
    /// The classes and capabilities it serves, as declared.
    pub concepts: Vec<String>,
    /// `instructions.core_directive`.
    pub directive: Template,
    /// What stands in `_meta` under [`PROMPT_META_KEY`].
    pub meta: JsonObject,
}

impl PromptFile {
    /// The largest file, in bytes.
    pub const MAX_BYTES: usize = 256 << 10;

    /// Reads `prompts/<name>.json`. Members without a meaning here (`extends`, `compose`) are left alone.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, ContentRefusal> {
        let file = format!("prompts/{name}.json");
        if name.len() > 128 {
            return Err(ContentRefusal::Path { path: file });
        }
        let limits = JsonLimits { max_bytes: Self::MAX_BYTES, max_depth: 16, ..JsonLimits::DEFAULT };
        text_of(&file, bytes)?;
        let json =
            parse_with(bytes, limits).map_err(|refusal| ContentRefusal::NotJson { file: file.clone(), refusal })?;
        let Json::Object(members) = &json else {
            return Err(ContentRefusal::Field { file, field: "the file".to_owned(), rule: "is not an object" });
        };
        Reader { file: &file, members }.prompt(name)
    }

    /// As `prompts/list` shows it.
    pub fn describe(&self) -> PromptDescription {
        let tags = Json::from(self.tags.iter().map(|tag| tag.as_str().into()).collect::<Vec<Json>>());
        let mut meta = JsonObject::from([("fastmcp".to_owned(), Json::from([("tags", tags)]))]);
        self.add_meta(&mut meta);
        PromptDescription {
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            arguments: self.arguments.clone(),
            meta,
        }
    }

    /// As `prompts/get` answers it: one message, the directive as written, with the arguments filled in where it declares any.
    pub fn body(&self, given: &BTreeMap<String, String>) -> Result<PromptBody, SurfaceRefusal> {
        self.check(given).map_err(|refusal| SurfaceRefusal::PromptArguments { prompt: self.name.clone(), refusal })?;
        let text =
            if self.arguments.is_empty() { self.directive.text().to_owned() } else { self.directive.fill(given) };
        let mut meta = JsonObject::new();
        self.add_meta(&mut meta);
        let message = PromptMessage { role: PromptRole::User, content: PromptContent::Text(text) };
        Ok(PromptBody { description: self.description.clone(), messages: vec![message], meta })
    }

    /// What stands for each required argument when nobody fills it in, as a pack captures it.
    pub fn placeholders(&self) -> BTreeMap<String, String> {
        let required = self.arguments.iter().filter(|argument| argument.required);
        required.map(|argument| (argument.name.clone(), format!("{{{{{}}}}}", argument.name))).collect()
    }

    fn check(&self, given: &BTreeMap<String, String>) -> Result<(), ArgumentRefusal> {
        if !given.keys().all(|name| self.arguments.iter().any(|argument| argument.name == *name)) {
            return Err(ArgumentRefusal::Unknown { tool: self.name.clone() });
        }
        let limit = MAX_VALUE.min(MAX_FILLED / self.directive.places().max(1));
        for argument in &self.arguments {
            match given.get(&argument.name) {
                None if argument.required => return Err(ArgumentRefusal::Missing { name: argument.name.clone() }),
                Some(value) if value.chars().count() > limit => {
                    return Err(ArgumentRefusal::TooLong { name: argument.name.clone(), limit });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_meta(&self, meta: &mut JsonObject) {
        if !self.meta.is_empty() {
            meta.insert(PROMPT_META_KEY.to_owned(), Json::Object(self.meta.clone()));
        }
    }
}

struct Reader<'a> {
    file: &'a str,
    members: &'a JsonObject,
}

type Read<T> = Result<T, ContentRefusal>;

impl<'a> Reader<'a> {
    fn refuse<T>(&self, field: &str, rule: &'static str) -> Read<T> {
        Err(ContentRefusal::Field { file: self.file.to_owned(), field: field.to_owned(), rule })
    }

    /// The value at a dotted path of at most two names; null counts as absent.
    fn at(&self, path: &str) -> Option<&'a Json> {
        let value = match path.split_once('.') {
            Some((group, name)) => self.members.get(group)?.get(name)?,
            None => self.members.get(path)?,
        };
        (!value.is_null()).then_some(value)
    }

    fn text(&self, path: &str) -> Read<Option<&'a str>> {
        match self.at(path) {
            None => Ok(None),
            Some(Json::String(text)) if text.trim().is_empty() => self.refuse(path, "is blank"),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => self.refuse(path, "is not a text"),
        }
    }

    /// A text or a list of texts.
    fn texts(&self, path: &str) -> Read<Vec<&'a str>> {
        match self.at(path) {
            Some(Json::Array(items)) => items
                .iter()
                .map(|item| match item.as_str().filter(|text| !text.trim().is_empty()) {
                    Some(text) => Ok(text),
                    None => self.refuse(path, "is not a list of texts"),
                })
                .collect(),
            _ => Ok(self.text(path)?.into_iter().collect()),
        }
    }

    fn first(&self, paths: &[&str]) -> Read<Option<&'a str>> {
        paths.iter().map(|path| self.text(path)).find(|found| !matches!(found, Ok(None))).unwrap_or(Ok(None))
    }

    fn group(&self, name: &str) -> Read<()> {
        match self.at(name) {
            None | Some(Json::Object(_)) => Ok(()),
            Some(_) => self.refuse(name, "is not an object"),
        }
    }

    fn prompt(&self, name: &str) -> Read<PromptFile> {
        ["identity", "instructions", "metadata"].iter().try_for_each(|group| self.group(group))?;
        let Some(directive) = self.text("instructions.core_directive")? else {
            return self.refuse("instructions.core_directive", "is missing");
        };
        let (arguments, suggestions) = self.arguments()?;
        let directive = Template::parse(directive);
        let known = |name: &&str| arguments.iter().any(|argument| argument.name == *name);
        if !arguments.is_empty() && !directive.names().iter().all(known) {
            return self.refuse("instructions.core_directive", "uses a {{name}} that `arguments` does not declare");
        }
        let kind = match self.text("role")? {
            None => PromptKind::default(),
            Some("system") => PromptKind::System,
            Some("task") => PromptKind::Task,
            Some("template") if arguments.is_empty() => {
                return self.refuse("role", "is template, but `arguments` is empty");
            }
            Some("template") => PromptKind::Template,
            Some(_) => return self.refuse("role", "is none of system, task and template"),
        };
        let mut targets = Vec::new();
        for path in ["systemPromptFor", "serves", "ontology_class"] {
            targets.push((path, self.texts(path)?));
        }
        let concepts = self.texts("concepts")?;
        for (field, iris) in [("concepts", &concepts), ("ontology_class", &targets[2].1)] {
            if !iris.iter().all(|iri| is_iri(iri)) {
                return self.refuse(field, "is not an IRI");
            }
        }
        let mut tags: BTreeSet<String> = self.texts("tags")?.into_iter().map(str::to_owned).collect();
        tags.insert("prompt".to_owned());
        if kind == PromptKind::System || targets.iter().any(|(_, found)| !found.is_empty()) {
            tags.insert("system".to_owned());
        }
        let target = targets.iter().find(|(_, found)| !found.is_empty()).and_then(|(path, _)| self.at(path));
        let meta = self.meta(target, &concepts)?;
        let mut all: Vec<String> = Vec::new();
        for concept in concepts.iter().chain(targets.iter().flat_map(|(_, found)| found)) {
            if !all.iter().any(|known| known == concept) {
                all.push((*concept).to_owned());
            }
        }
        Ok(PromptFile {
            name: name.to_owned(),
            title: self.first(&["title", "identity.role"])?.map(str::to_owned),
            description: self.text("description")?.map(str::to_owned),
            arguments,
            suggestions,
            tags,
            kind,
            concepts: all,
            directive,
            meta,
        })
    }

    fn arguments(&self) -> Read<(Vec<PromptArgument>, Suggestions)> {
        let mut suggestions = BTreeMap::new();
        let Some(given) = self.at("arguments") else { return Ok((Vec::new(), suggestions)) };
        let Some(items) = given.as_array() else { return self.refuse("arguments", "is not a list") };
        if items.len() > 64 {
            return Err(ContentRefusal::TooMany { what: "arguments of a prompt", limit: 64 });
        }
        let mut out: Vec<PromptArgument> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let field = |member: &str| format!("arguments[{index}].{member}");
            let Json::Object(members) = item else {
                return self.refuse(&format!("arguments[{index}]"), "is not an object");
            };
            let text = |member: &str| match members.get(member) {
                None | Some(Json::Null) => Ok(None),
                Some(Json::String(text)) if !text.trim().is_empty() => Ok(Some(text.clone())),
                Some(_) => self.refuse(&field(member), "is not a text"),
            };
            let Some(name) = text("name")? else { return self.refuse(&field("name"), "is missing") };
            if !is_argument(&name) {
                return self
                    .refuse(&field("name"), "is not a letter or `_`, then at most 63 letters, digits, `_` or `-`");
            }
            if out.iter().any(|known| known.name == name) {
                return self.refuse(&field("name"), "is declared twice");
            }
            let required = match members.get("required") {
                None | Some(Json::Null) => false,
                Some(Json::Bool(required)) => *required,
                Some(_) => return self.refuse(&field("required"), "is neither true nor false"),
            };
            if let Some(values) = members.get("values").filter(|values| !values.is_null()) {
                let texts = values.as_array().filter(|values| values.len() <= 256);
                let texts = texts.and_then(|texts| texts.iter().map(|text| text.as_str().map(str::to_owned)).collect());
                let Some(texts) = texts else {
                    return self.refuse(&field("values"), "is not a list of at most 256 texts");
                };
                suggestions.insert(name.clone(), texts);
            }
            out.push(PromptArgument { name, title: text("title")?, description: text("description")?, required });
        }
        Ok((out, suggestions))
    }

    /// The scalars of `metadata` under their own names, then the known members, which win.
    fn meta(&self, target: Option<&Json>, concepts: &[&str]) -> Read<JsonObject> {
        let mut meta = JsonObject::new();
        if let Some(Json::Object(members)) = self.at("metadata") {
            let scalar = |value: &Json| matches!(value, Json::Bool(_) | Json::Number(_) | Json::String(_));
            meta.extend(
                members.iter().filter(|(_, value)| scalar(value)).map(|(key, value)| (key.clone(), value.clone())),
            );
        }
        // The two spellings of one member.
        meta.remove("use_case");
        let mut put = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                meta.insert(key.to_owned(), value.into());
            }
        };
        put("role", self.text("identity.role")?);
        for key in ["goal", "topic", "tone", "style"] {
            put(key, self.first(&[&format!("identity.{key}"), key, &format!("instructions.{key}")])?);
        }
        put("version", self.first(&["prompt_version", "version"])?);
        put("useCase", self.first(&["useCase", "metadata.useCase", "use_case", "metadata.use_case"])?);
        // Said only where the file says it, so that a file of the peer gives the peer's metadata.
        put("promptRole", self.text("role")?);
        if let Some(target) = target {
            meta.insert("systemPromptFor".to_owned(), target.clone());
        }
        if !concepts.is_empty() {
            meta.insert("concepts".to_owned(), concepts.iter().map(|iri| Json::from(*iri)).collect::<Vec<_>>().into());
        }
        Ok(meta)
    }
}

/// A scheme, and nothing that an IRI cannot hold.
fn is_iri(text: &str) -> bool {
    crate::seed_graph::is_iri(text)
}
