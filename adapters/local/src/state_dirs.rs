//! Makes the directories the product keeps its files in.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::path::Path;

use scion_domain::paths::{PathRefusal, StateDir, StatePaths};

use crate::reason;

/// The state directories, made when first asked for, with access for this user only.
#[derive(Clone, Debug)]
pub struct StateDirs {
    paths: StatePaths,
}

impl StateDirs {
    /// Directories at given paths; nothing is made yet.
    pub fn new(paths: StatePaths) -> Self {
        Self { paths }
    }

    /// Directories of this process's environment.
    pub fn of_process() -> Result<Self, PathRefusal> {
        StatePaths::resolve(&process_environment()).map(Self::new)
    }

    /// The paths, made or not.
    pub fn paths(&self) -> &StatePaths {
        &self.paths
    }

    /// One directory, made (mode 0700, with its parents) if it is not there. An existing directory keeps its mode.
    pub fn ensure(&self, kind: StateDir) -> Result<&Path, PathRefusal> {
        let path = self.paths.get(kind);
        make(path, kind.as_str())?;
        Ok(path)
    }
}

/// The environment of this process; what is not UTF-8 is left out.
pub fn process_environment() -> BTreeMap<String, String> {
    std::env::vars_os().filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?))).collect()
}

pub(crate) fn make(path: &Path, directory: &'static str) -> Result<(), PathRefusal> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    let refused = |kind: ErrorKind| PathRefusal::NotCreated { directory, what: reason(kind) };
    builder.create(path).map_err(|error| refused(error.kind()))
}
