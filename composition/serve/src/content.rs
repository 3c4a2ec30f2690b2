//! Declared content: read once, checked whole, then served as exact bytes.

mod bind;
mod front_matter;
mod handle;
mod ontology;

pub use front_matter::front_matter;
pub use handle::{ContentChange, ContentHandle};

pub(crate) use bind::Bound;
pub(crate) use handle::ContentState;

use std::collections::BTreeMap;

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
#[derive(Clone, Debug, Default)]
pub struct ServedContent {
    skills: Vec<Skill>,
    prompts: Vec<PromptFile>,
    ontologies: Vec<(String, Bytes)>,
    shapes: Vec<(String, Bytes)>,
    terms: Option<OntologyTerms>,
    seed: Option<SeedGraph>,
    data: Vec<JsonObject>,
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
        out.terms = ontology::check(&out.ontologies)?;
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
