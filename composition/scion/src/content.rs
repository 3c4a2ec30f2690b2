//! Content found by convention (SDK-CONNECTOR-CONTROL-R071.1): a connector names no folder, it only puts files where they belong.
//!
//! A shipped binary carries its content, see [`embed_content!`](crate::embed_content); [`load`] reads it from a folder.

mod folder;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use folder::content_files;
pub use scion_domain::content::{ContentFiles, ContentRefusal};
pub use scion_serve::{ContentHandle, ServedContent};

/// A kind of content and the folder it lies in, below the connector's package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ContentKind {
    /// `skills/`.
    Skills,
    /// `prompts/`.
    Prompts,
    /// `ontology/`.
    Ontology,
    /// `connectors/`.
    Connectors,
}

impl ContentKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Skills, Self::Prompts, Self::Ontology, Self::Connectors];

    /// The name of its folder.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Skills => "skills",
            Self::Prompts => "prompts",
            Self::Ontology => "ontology",
            Self::Connectors => "connectors",
        }
    }
}

/// The content folders that a package has. A kind without a folder is simply not there. A link is refused, because it can lead
/// out of the package.
pub fn content_dirs(package: &Path) -> Result<BTreeMap<ContentKind, PathBuf>, ContentRefusal> {
    if !package.is_dir() {
        return Err(ContentRefusal::NoPackage);
    }
    let mut found = BTreeMap::new();
    for kind in ContentKind::ALL {
        let path = package.join(kind.folder());
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                found.insert(kind, path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Ok(_) | Err(_) => return Err(ContentRefusal::NotAFolder { name: kind.folder() }),
        }
    }
    Ok(found)
}

/// Reads and checks the content of a package, from the folders below `content_root` or, without one, below the package itself.
pub fn load(package: &Path, content_root: Option<&Path>) -> Result<ServedContent, ContentRefusal> {
    ServedContent::from_files(&content_files(package, content_root)?)
}
