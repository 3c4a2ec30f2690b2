//! Declared content: read once, checked whole, then served as exact bytes.

mod bind;
mod handle;
mod ontology;

pub use handle::{ContentChange, ContentHandle};
pub use scion_domain::content::front_matter;

pub(crate) use bind::Bound;
pub(crate) use handle::ContentState;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use scion_domain::content::{ContentFiles, ContentRefusal, Place, PromptFile, Skill, SkillFile, place};
use scion_domain::declaration::descriptor::OntologyTerms;
use scion_domain::json::JsonObject;
use scion_domain::seed_graph::{SeedGraph, SeedGraphDeclaration};

/// The IRI every packaged ontology imports (R073).
pub const PARENT_ONTOLOGY: &str = "http://knuckles.team/kg";

/// The most prompts, and the most skills.
const MAX_OF_A_KIND: usize = 512;

/// The content of a connector: skills, prompts, ontologies, shapes, a seed graph and declared data resources.
///
/// Whatever made it was well-formed to the last file; the first fault is the refusal, with file and field. It does not know its
/// connector, so the same content can be given to [`ConnectorBuilder::content`](crate::ConnectorBuilder::content) or, later, to
/// [`ContentHandle::replace`].
///
/// ```
/// use scion_domain::seed_graph::{SeedGraphDeclaration, SeedObject};
/// use scion_serve::{Connector, Identity, ServedContent};
///
/// // What `scion::embed_content!("content")` gives.
/// static FILES: &[(&str, &[u8])] = &[
///     ("skills/triage/SKILL.md", b"---\nname: triage\ndescription: Sort tickets by urgency.\n---\n# Triage\n"),
///     ("prompts/daily.json", br#"{"instructions": {"core_directive": "List yesterday's tickets."}}"#),
/// ];
/// let queue = |name: &str| SeedObject {
///     iri: format!("https://desk.example/queues/{name}"),
///     class: "https://desk.example/ns#Queue".to_owned(),
///     ..SeedObject::default()
/// };
/// let seed = SeedGraphDeclaration::new("https://desk.example/eu")?.object(queue("mail"));
/// let content = ServedContent::embedded(FILES)?.seed(&seed)?;
/// let surface = Connector::builder(Identity::new("desk-mcp", "1.0.0")).content(content).build()?;
///
/// // Later, when a discovery has found one more queue: clients hear of it once.
/// let change = surface.content().replace_seed(Some(&seed.object(queue("phone"))))?;
/// assert!(change.resources && !change.prompts);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ServedContent {
    skills: Vec<Skill>,
    prompts: Vec<PromptFile>,
    ontologies: Vec<(String, Bytes)>,
    /// What each ontology imports.
    imports: Vec<BTreeSet<String>>,
    shapes: Vec<(String, Bytes)>,
    terms: Option<OntologyTerms>,
    seed: Option<SeedGraph>,
    data: Vec<JsonObject>,
    data_unlisted: bool,
}

impl ServedContent {
    /// Content from files, wherever they come from.
    pub fn from_files(files: &ContentFiles) -> Result<Self, ContentRefusal> {
        let mut out = Self::default();
        let mut skills: BTreeMap<&str, Vec<SkillFile>> = BTreeMap::new();
        for (path, bytes) in files.iter() {
            match place(path)? {
                Place::Skill { skill, path } => {
                    skills.entry(skill).or_default().push(SkillFile { path: path.to_owned(), bytes: bytes.clone() });
                }
                Place::Prompt { name } if name == bind::STATUS_PROMPT => {
                    let (file, field) = (path.to_owned(), "the name".to_owned());
                    return Err(ContentRefusal::Field { file, field, rule: "is the one of a built-in prompt" });
                }
                Place::Prompt { name } => out.prompts.push(PromptFile::read(name, bytes)?),
                Place::Ontology { file } => out.ontologies.push((file.to_owned(), bytes.clone())),
                Place::Shapes { file } => out.shapes.push((file.to_owned(), bytes.clone())),
                Place::Unserved => {}
            }
        }
        for (what, count) in [("skills", skills.len()), ("prompts", out.prompts.len())] {
            if count > MAX_OF_A_KIND {
                return Err(ContentRefusal::TooMany { what, limit: MAX_OF_A_KIND });
            }
        }
        for (folder, files) in skills {
            let front = Skill::front_matter(folder, &files)?;
            let members = front_matter(&format!("skills/{folder}/SKILL.md"), front)?;
            out.skills.push(Skill::new(folder, members, files)?);
        }
        let checked = ontology::check(&out.ontologies)?;
        (out.terms, out.imports) = (checked.terms, checked.imports);
        ontology::check_shapes(&out.shapes)?;
        Ok(out)
    }

    /// Content that the binary carries: the value of `scion::embed_content!("content")`.
    pub fn embedded(files: &'static [(&'static str, &'static [u8])]) -> Result<Self, ContentRefusal> {
        Self::from_files(&ContentFiles::embedded(files)?)
    }

    /// The same with a seed graph, written here: what cannot be written is refused.
    pub fn seed(mut self, declared: &SeedGraphDeclaration) -> Result<Self, ContentRefusal> {
        self.seed = Some(declared.emit()?);
        Ok(self)
    }

    /// The same with a declared data resource: `name`, and what is to be said otherwise than the tools say it. Checked when the
    /// connector is built, against its tools and its ontology.
    #[must_use]
    pub fn data_resource(mut self, members: JsonObject) -> Self {
        self.data.push(members);
        self
    }

    /// The same without `data://` resources in the list; `connector://resources` tells of them all the same. For runners that
    /// refuse a listing with a scheme they do not know.
    #[must_use]
    pub const fn data_unlisted(mut self) -> Self {
        self.data_unlisted = true;
        self
    }

    /// Its skills.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Its prompts.
    pub fn prompts(&self) -> &[PromptFile] {
        &self.prompts
    }

    /// The classes and properties of its ontologies; `None` when it has none.
    pub const fn terms(&self) -> Option<&OntologyTerms> {
        self.terms.as_ref()
    }
}
