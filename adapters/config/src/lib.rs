//! Reads configurations of `connector-sync`, and other documents as plain values, from YAML or JSON text, with positions.
//!
//! Text becomes a tree whose every node knows its line and column (`yaml.rs`, `json.rs`); a typed walk (`read.rs`) turns
//! the tree into a [`RunnerConfig`] and collects every problem on the way, not only the first. A problem names file,
//! line, column, field path and the closest right key. It never repeats a value: a value may be a secret that stands in
//! the wrong place. Nothing is expanded from the environment.
//!
//! It implements no port: a root reads the file and hands the configuration on.
//!
//! ```
//! let config = scion_config::read("connectors: [{connector: desk, endpoint: {command: desk-server}}]", "fleet.yaml")?;
//! assert_eq!(config.connectors.len(), 1);
//! let problems = scion_config::read("connectors: [{conector: desk}]", "fleet.yaml").unwrap_err();
//! assert!(problems.to_string().contains("connectors.0.conector: unknown key; did you mean `connector`?"));
//! # Ok::<(), scion_domain::config::ConfigProblems>(())
//! ```

mod curation;
mod document;
mod fields;
mod json;
mod read;
mod scalar;
mod tree;
mod walk;
mod yaml;

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::rc::Rc;

use scion_domain::config::{ConfigProblems, ConfigRefusal, RunnerConfig};
use scion_domain::json::Json;

pub use curation::{curation, curation_file};

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// Reads a configuration. A `file_name` that ends in `.json` (any case) is read as JSON, all others as YAML 1.2.
pub fn read(text: &str, file_name: &str) -> Result<RunnerConfig, ConfigProblems> {
    let tree = parsed(text, file_name)?;
    read::runner_config(&tree, file_name)
}

/// Any other document as plain values, for settings with a reader of their own; the bounds are the same.
pub fn document(text: &str, file_name: &str) -> Result<Json, ConfigProblems> {
    let tree = parsed(text, file_name)?;
    document::plain(&tree).map_err(|broken| ConfigProblems::at(file_name, broken.line, broken.column, broken.refusal))
}

/// Like [`document`], from a file.
pub fn document_file(path: &Path) -> Result<Json, ConfigProblems> {
    let name = path.display().to_string();
    let bytes = bytes_of(path)?;
    document(utf8(&bytes, &name)?, &name)
}

fn parsed(text: &str, file_name: &str) -> Result<Rc<tree::Node>, ConfigProblems> {
    if text.len() > MAX_BYTES {
        return Err(ConfigProblems::of_file(file_name, ConfigRefusal::TooLarge { limit: MAX_BYTES }));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_json = Path::new(file_name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let parsed = if is_json { json::parse(text) } else { yaml::parse(text) };
    parsed.map_err(|broken| ConfigProblems::at(file_name, broken.line, broken.column, broken.refusal))
}

/// Like [`read`], from bytes that should be UTF-8.
pub fn read_bytes(bytes: &[u8], file_name: &str) -> Result<RunnerConfig, ConfigProblems> {
    read(utf8(bytes, file_name)?, file_name)
}

/// Like [`read`], from a file, of which at most [`MAX_BYTES`] and one byte are read. The problems name the path as given.
pub fn read_file(path: &Path) -> Result<RunnerConfig, ConfigProblems> {
    read_bytes(&bytes_of(path)?, &path.display().to_string())
}

fn utf8<'b>(bytes: &'b [u8], file_name: &str) -> Result<&'b str, ConfigProblems> {
    if bytes.len() > MAX_BYTES {
        return Err(ConfigProblems::of_file(file_name, ConfigRefusal::TooLarge { limit: MAX_BYTES }));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let (line, column) = tree::Lines::of(&bytes[..error.valid_up_to()]).end();
        ConfigProblems::at(file_name, line, column, ConfigRefusal::NotUtf8)
    })
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, ConfigProblems> {
    let unreadable = |kind| {
        let what = match kind {
            ErrorKind::NotFound => "there is no such file",
            ErrorKind::PermissionDenied => "permission denied",
            ErrorKind::IsADirectory => "it is a directory",
            _ => "the system reports an error",
        };
        ConfigProblems::of_file(&path.display().to_string(), ConfigRefusal::Unreadable { what })
    };
    let file = File::open(path).map_err(|error| unreadable(error.kind()))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.kind()))?;
    Ok(bytes)
}
