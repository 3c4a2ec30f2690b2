//! Reading the files of content from a folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use scion_domain::content::ContentFiles;

use super::{ContentKind, ContentRefusal, content_dirs};

/// The deepest nesting of folders.
const MAX_DEPTH: usize = 16;

/// The files of content below a package: the folders of [`ContentKind`], found by convention, or below `content_root` when the
/// connector keeps them elsewhere. Links are refused, hidden files are left out, and every bound of [`ContentFiles`] holds.
pub fn content_files(package: &Path, content_root: Option<&Path>) -> Result<ContentFiles, ContentRefusal> {
    let root = root(package, content_root)?;
    let mut files = ContentFiles::default();
    for (kind, folder) in content_dirs(&root)? {
        if kind != ContentKind::Connectors {
            walk(&folder, kind.folder(), 0, &mut files)?;
        }
    }
    Ok(files)
}

/// The folder that holds the folders of content. Every step to it is a folder itself, never a link.
fn root(package: &Path, content_root: Option<&Path>) -> Result<PathBuf, ContentRefusal> {
    let mut here = package.to_owned();
    for part in content_root.unwrap_or(Path::new("")).components() {
        match part {
            Component::Normal(name) => here.push(name),
            Component::CurDir => continue,
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => return Err(ContentRefusal::Root),
        }
        if !fs::symlink_metadata(&here).is_ok_and(|metadata| metadata.is_dir()) {
            return Err(ContentRefusal::Root);
        }
    }
    Ok(here)
}

fn walk(folder: &Path, prefix: &str, depth: usize, files: &mut ContentFiles) -> Result<(), ContentRefusal> {
    let unreadable = |path: &str| ContentRefusal::Unreadable { path: path.to_owned() };
    if depth > MAX_DEPTH {
        return Err(ContentRefusal::Path { path: prefix.to_owned() });
    }
    let entries = fs::read_dir(folder).map_err(|_| unreadable(prefix))?;
    // A folder of a million files costs no more than one too many.
    let mut found = Vec::new();
    for entry in entries.take(ContentFiles::MAX_FILES + 1) {
        found.push(entry.map_err(|_| unreadable(prefix))?);
    }
    if found.len() > ContentFiles::MAX_FILES {
        return Err(ContentRefusal::TooMany { what: "files of content", limit: ContentFiles::MAX_FILES });
    }
    found.sort_by_key(fs::DirEntry::file_name);
    for entry in found {
        let name = entry.file_name();
        let path = format!("{prefix}/{}", name.to_string_lossy());
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // Not followed, so that a link is seen as one.
        let metadata = entry.path().symlink_metadata().map_err(|_| unreadable(&path))?;
        if metadata.is_symlink() {
            return Err(ContentRefusal::Link { path });
        } else if metadata.is_dir() {
            walk(&entry.path(), &path, depth + 1, files)?;
        } else if !metadata.is_file() {
            return Err(ContentRefusal::Unreadable { path });
        } else if metadata.len() > ContentFiles::MAX_FILE_BYTES as u64 {
            return Err(ContentRefusal::TooLarge { file: path, limit: ContentFiles::MAX_FILE_BYTES });
        } else {
            let bytes = read(&entry.path(), &metadata).ok_or_else(|| unreadable(&path))?;
            files.add(&path, bytes)?;
        }
    }
    Ok(())
}

/// At most one byte more than a file may have; a file that grows meanwhile is refused by its size, not read to its end. A link
/// that has taken the file's place since it was looked at is not followed to what it names.
fn read(path: &Path, seen: &fs::Metadata) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    if !is_same(seen, &file.metadata().ok()?) {
        return None;
    }
    file.take(ContentFiles::MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(unix)]
fn is_same(seen: &fs::Metadata, opened: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    opened.is_file() && (seen.dev(), seen.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn is_same(_seen: &fs::Metadata, opened: &fs::Metadata) -> bool {
    opened.is_file()
}
