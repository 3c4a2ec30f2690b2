//! Reads configurations of `connector-sync` from YAML or JSON text, with positions.
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

use scion_domain::config::{ConfigProblems, ConfigRefusal, RunnerConfig};

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// Reads a configuration. A `file_name` that ends in `.json` (any case) is read as JSON, all others as YAML 1.2.
pub fn read(text: &str, file_name: &str) -> Result<RunnerConfig, ConfigProblems> {
    if text.len() > MAX_BYTES {
        return Err(ConfigProblems::of_file(file_name, ConfigRefusal::TooLarge { limit: MAX_BYTES }));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_json = Path::new(file_name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let parsed = if is_json { json::parse(text) } else { yaml::parse(text) };
    let tree = parsed.map_err(|broken| ConfigProblems::at(file_name, broken.line, broken.column, broken.refusal))?;
    read::runner_config(&tree, file_name)
}

/// Like [`read`], from bytes that should be UTF-8.
pub fn read_bytes(bytes: &[u8], file_name: &str) -> Result<RunnerConfig, ConfigProblems> {
    if bytes.len() > MAX_BYTES {
        return Err(ConfigProblems::of_file(file_name, ConfigRefusal::TooLarge { limit: MAX_BYTES }));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => read(text, file_name),
        Err(error) => {
            let (line, column) = tree::Lines::of(&bytes[..error.valid_up_to()]).end();
            Err(ConfigProblems::at(file_name, line, column, ConfigRefusal::NotUtf8))
        }
    }
}

/// Like [`read`], from a file, of which at most [`MAX_BYTES`] and one byte are read. The problems name the path as given.
pub fn read_file(path: &Path) -> Result<RunnerConfig, ConfigProblems> {
    let name = path.display().to_string();
    let unreadable = |kind| {
        let what = match kind {
            ErrorKind::NotFound => "there is no such file",
            ErrorKind::PermissionDenied => "permission denied",
            ErrorKind::IsADirectory => "it is a directory",
            _ => "the system reports an error",
        };
        ConfigProblems::of_file(&name, ConfigRefusal::Unreadable { what })
    };
    let file = File::open(path).map_err(|error| unreadable(error.kind()))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.kind()))?;
    read_bytes(&bytes, &name)
}
