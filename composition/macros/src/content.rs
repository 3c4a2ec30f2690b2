//! `embed_content!`: the files of content, carried by the binary.

use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

/// The folders of content, as at run time.
const KINDS: [&str; 3] = ["skills", "prompts", "ontology"];
/// The bounds of `scion_domain::content::ContentFiles`.
const MAX_FILES: usize = 4096;
const MAX_DEPTH: usize = 16;

/// Expands to a `&'static [(&'static str, &'static [u8])]` of paths and bytes, in path order.
pub(crate) fn embed(folder: &LitStr) -> syn::Result<TokenStream> {
    let refuse = |message: String| syn::Error::new(folder.span(), message);
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| refuse("there is no Cargo package".to_owned()))?;
    let root = root(Path::new(&package), &folder.value()).map_err(refuse)?;
    let mut files = Vec::new();
    for kind in KINDS {
        let path = root.join(kind);
        match path.symlink_metadata() {
            Err(_) => {}
            Ok(metadata) if metadata.is_dir() => walk(&path, kind, 0, &mut files).map_err(refuse)?,
            Ok(_) => return Err(refuse(format!("`{kind}` is not a folder of its own"))),
        }
    }
    let entries = files.iter().map(|(name, path)| {
        let path = path.to_string_lossy();
        // `include_bytes!` makes the compiler watch the file.
        quote! { (#name, include_bytes!(#path).as_slice()) }
    });
    Ok(quote! {{
        const FILES: &[(&str, &[u8])] = &[#(#entries),*];
        FILES
    }})
}

fn root(package: &Path, folder: &str) -> Result<PathBuf, String> {
    let mut here = package.to_owned();
    for part in folder.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." || folder.starts_with('/') || part.contains(['\\', ':']) {
            return Err("the content folder must be a relative path without `..`".to_owned());
        }
        here.push(part);
        if !here.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(format!("`{folder}` is not a folder of this package"));
        }
    }
    Ok(here)
}

fn walk(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<(String, PathBuf)>) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("`{prefix}` is nested deeper than {MAX_DEPTH} folders"));
    }
    let entries = folder.read_dir().and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = entries.map_err(|_| format!("`{prefix}` cannot be read"))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { return Err(format!("a name in `{prefix}` is not UTF-8")) };
        if name.starts_with('.') {
            continue;
        }
        let (path, inner) = (entry.path(), format!("{prefix}/{name}"));
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => walk(&path, &inner, depth + 1, files)?,
            Ok(metadata) if metadata.is_file() => files.push((inner, path)),
            Ok(_) => return Err(format!("`{inner}` is a link or no file, and a link can lead out of the content")),
            Err(_) => return Err(format!("`{inner}` cannot be read")),
        }
        if files.len() > MAX_FILES {
            return Err(format!("there are more than {MAX_FILES} files of content"));
        }
    }
    Ok(())
}
