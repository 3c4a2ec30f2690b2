//! Declared content: what a connector ships beside its tools. Skills, prompts, an ontology with its shapes, a seed graph.
//!
//! Everything here is pure: files come in as [`ContentFiles`], from a folder or from the binary itself, and each piece is
//! read by a strict reader that refuses with the file and the field. [`ContentCatalogue`] is the one list from which both a
//! live listing and the entries of a pack are taken.

mod catalogue;
mod files;
mod front_matter;
mod place;
mod prompt;
mod refusal;
mod skill;
mod template;

pub use catalogue::{ContentCatalogue, ContentItem, ContentSurface, DIGEST_META_KEY, SURFACES_META_KEY, SurfaceCount};
pub use files::{ContentFiles, text_of};
pub use front_matter::front_matter;
pub use place::{Place, place};
pub use prompt::{PROMPT_META_KEY, PromptFile, PromptKind, Suggestions};
pub use refusal::ContentRefusal;
pub use skill::{Skill, SkillFile, SkillHeader, split_front_matter};
pub use template::Template;
