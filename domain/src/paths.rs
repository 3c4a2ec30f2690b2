//! Where the product keeps its files on a machine (SDK-CONNECTOR-CONTROL-R014.7, R034), as a pure function of an
//! environment. Making the directories and locking the files is the business of the `scion-local` adapter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::id::ConnectorName;
use crate::refusals;

/// The directory name below each XDG base.
pub const APPLICATION: &str = "agent-connectors";
/// The environment variable that replaces the path of a library file.
pub const LIBRARY_FILE_VARIABLE: &str = "CONNECTOR_LIBRARY_FILE";

refusals! {
    /// Why a place on the local machine cannot be used.
    pub enum PathRefusal {
        /// Neither an override, an XDG variable nor a home directory.
        NoHome { variable: &'static str } => "path_no_home", CallerMistake, Never,
            "there is no home directory to put files in", "set HOME, or the override the refusal names";
        /// A relative path would depend on where the process was started.
        NotAbsolute { variable: &'static str } => "path_not_absolute", CallerMistake, Never,
            "{variable} is not an absolute path", "write the full path";
        /// A file name that would leave its directory.
        BadFileName => "path_bad_file_name", CallerMistake, Never,
            "a file name is one plain word of at most 200 bytes", "use a name without separators, as `library.json`";
        /// A directory cannot be made.
        NotCreated { directory: &'static str, what: &'static str } => "path_not_created", CallerMistake, Never,
            "the {directory} directory cannot be made: {what}", "check the permissions of the directory above it";
        /// A file cannot be read or written; its former content is untouched.
        FileFailed { action: &'static str, what: &'static str } => "path_file_failed", Unavailable, Later,
            "a state file cannot be {action}: {what}", "check permissions and free space";
        /// A file is larger than what is read into memory.
        FileTooLarge { limit: u64 } => "path_file_too_large", CallerMistake, Never,
            "a state file is larger than {limit} bytes", "move it away; it was not written by this product";
    }
}

refusals! {
    /// Why a lock was not taken or released.
    pub enum LockRefusal {
        /// Someone else holds it.
        LockUnavailable => "lock_unavailable", Unavailable, Later,
            "another process or handle holds the lock", "wait for it to finish";
        /// The lock file cannot be used.
        LockFailed { what: &'static str } => "lock_failed", Unavailable, Never,
            "the lock file cannot be used: {what}", "check its permissions, and that the file system has locks";
    }
}

/// The kinds of directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateDir {
    /// Configuration.
    Config,
    /// What must last.
    Data,
    /// What can be made again.
    Cache,
    /// Logs.
    Log,
    /// Working material of research connectors.
    Research,
}

impl StateDir {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Config, Self::Data, Self::Cache, Self::Log, Self::Research];

    /// A word for messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Data => "data",
            Self::Cache => "cache",
            Self::Log => "log",
            Self::Research => "research",
        }
    }

    /// The variable that replaces the whole path.
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Config => "CONNECTOR_CONFIG_DIR",
            Self::Data => "CONNECTOR_DATA_DIR",
            Self::Cache => "CONNECTOR_CACHE_DIR",
            Self::Log => "CONNECTOR_LOG_DIR",
            Self::Research => "CONNECTOR_RESEARCH_DIR",
        }
    }

    /// The XDG base variable, the base below the home directory, and the part below the application's directory.
    const fn base(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Config => ("XDG_CONFIG_HOME", ".config", ""),
            Self::Data => ("XDG_DATA_HOME", ".local/share", ""),
            Self::Cache => ("XDG_CACHE_HOME", ".cache", ""),
            Self::Log => ("XDG_STATE_HOME", ".local/state", "log"),
            Self::Research => ("XDG_DATA_HOME", ".local/share", "research"),
        }
    }
}

/// The directories of one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePaths {
    /// `$CONNECTOR_CONFIG_DIR`, else `$XDG_CONFIG_HOME/agent-connectors`.
    pub config_dir: PathBuf,
    /// `$CONNECTOR_DATA_DIR`, else `$XDG_DATA_HOME/agent-connectors`.
    pub data_dir: PathBuf,
    /// `$CONNECTOR_CACHE_DIR`, else `$XDG_CACHE_HOME/agent-connectors`.
    pub cache_dir: PathBuf,
    /// `$CONNECTOR_LOG_DIR`, else `$XDG_STATE_HOME/agent-connectors/log`.
    pub log_dir: PathBuf,
    /// `$CONNECTOR_RESEARCH_DIR`, else `$XDG_DATA_HOME/agent-connectors/research`.
    pub research_dir: PathBuf,
    library_file: Option<PathBuf>,
}

impl StatePaths {
    /// Resolves all directories. An empty variable counts as unset, and a relative XDG variable is ignored (XDG base
    /// directory specification 0.8); a relative override is refused.
    pub fn resolve(environment: &BTreeMap<String, String>) -> Result<Self, PathRefusal> {
        let one = |kind| resolve_one(environment, kind);
        Ok(Self {
            config_dir: one(StateDir::Config)?,
            data_dir: one(StateDir::Data)?,
            cache_dir: one(StateDir::Cache)?,
            log_dir: one(StateDir::Log)?,
            research_dir: one(StateDir::Research)?,
            library_file: overridden(environment, LIBRARY_FILE_VARIABLE)?,
        })
    }

    /// One of the directories.
    pub fn get(&self, kind: StateDir) -> &Path {
        match kind {
            StateDir::Config => &self.config_dir,
            StateDir::Data => &self.data_dir,
            StateDir::Cache => &self.cache_dir,
            StateDir::Log => &self.log_dir,
            StateDir::Research => &self.research_dir,
        }
    }

    /// The state or library file of a connector: `$CONNECTOR_LIBRARY_FILE`, else `<data_dir>/<connector>/<file>`.
    pub fn library_file(&self, connector: &ConnectorName, file: &str) -> Result<PathBuf, PathRefusal> {
        let plain = (1..=200).contains(&file.len())
            && !file.starts_with('.')
            && !file.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'));
        if !plain {
            return Err(PathRefusal::BadFileName);
        }
        match &self.library_file {
            Some(path) => Ok(path.clone()),
            None => Ok(self.data_dir.join(connector.as_str()).join(file)),
        }
    }
}

fn set<'e>(environment: &'e BTreeMap<String, String>, variable: &str) -> Option<&'e Path> {
    environment.get(variable).filter(|value| !value.is_empty()).map(Path::new)
}

fn overridden(environment: &BTreeMap<String, String>, variable: &'static str) -> Result<Option<PathBuf>, PathRefusal> {
    match set(environment, variable) {
        Some(path) if path.is_absolute() => Ok(Some(path.to_owned())),
        Some(_) => Err(PathRefusal::NotAbsolute { variable }),
        None => Ok(None),
    }
}

fn resolve_one(environment: &BTreeMap<String, String>, kind: StateDir) -> Result<PathBuf, PathRefusal> {
    if let Some(path) = overridden(environment, kind.variable())? {
        return Ok(path);
    }
    let (xdg, below_home, inside) = kind.base();
    let base = match set(environment, xdg).filter(|path| path.is_absolute()) {
        Some(base) => base.to_owned(),
        None => set(environment, "HOME")
            .or_else(|| set(environment, "USERPROFILE"))
            .filter(|home| home.is_absolute())
            .ok_or(PathRefusal::NoHome { variable: kind.variable() })?
            .join(below_home),
    };
    let application = base.join(APPLICATION);
    Ok(if inside.is_empty() { application } else { application.join(inside) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.7, SDK-CENTRALIZED-CAPABILITIES-R034
    #[test]
    fn each_directory_has_an_xdg_home_and_one_override() {
        let plain = StatePaths::resolve(&environment(&[("HOME", "/home/ada")])).unwrap();
        assert_eq!(plain.config_dir, Path::new("/home/ada/.config/agent-connectors"));
        assert_eq!(plain.data_dir, Path::new("/home/ada/.local/share/agent-connectors"));
        assert_eq!(plain.cache_dir, Path::new("/home/ada/.cache/agent-connectors"));
        assert_eq!(plain.log_dir, Path::new("/home/ada/.local/state/agent-connectors/log"));
        assert_eq!(plain.research_dir, Path::new("/home/ada/.local/share/agent-connectors/research"));

        let xdg = environment(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x"), ("XDG_CACHE_HOME", "relative")]);
        let xdg = StatePaths::resolve(&xdg).unwrap();
        assert_eq!(xdg.data_dir, Path::new("/x/agent-connectors"));
        assert_eq!(xdg.cache_dir, Path::new("/h/.cache/agent-connectors"));

        for kind in StateDir::ALL {
            let one = StatePaths::resolve(&environment(&[("HOME", "/h"), (kind.variable(), "/over/ride")])).unwrap();
            for other in StateDir::ALL {
                assert_eq!(one.get(other) == Path::new("/over/ride"), other == kind);
            }
            let relative = StatePaths::resolve(&environment(&[("HOME", "/h"), (kind.variable(), "x")]));
            assert_eq!(relative, Err(PathRefusal::NotAbsolute { variable: kind.variable() }));
        }
        let all: Vec<(&str, &str)> = StateDir::ALL.iter().map(|kind| (kind.variable(), "/o")).collect();
        assert!(StatePaths::resolve(&environment(&all)).is_ok(), "overrides need no home");
        assert_eq!(
            StatePaths::resolve(&environment(&[])),
            Err(PathRefusal::NoHome { variable: "CONNECTOR_CONFIG_DIR" })
        );
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R034
    #[test]
    fn a_library_file_has_one_place() {
        let desk = ConnectorName::parse("desk").unwrap();
        let paths = StatePaths::resolve(&environment(&[("HOME", "/h")])).unwrap();
        let file = paths.library_file(&desk, "library.json").unwrap();
        assert_eq!(file, Path::new("/h/.local/share/agent-connectors/desk/library.json"));
        assert_eq!(paths.library_file(&desk, "library.json").unwrap(), file);
        let moved = environment(&[("HOME", "/h"), (LIBRARY_FILE_VARIABLE, "/srv/lib.json")]);
        let moved = StatePaths::resolve(&moved).unwrap();
        assert_eq!(moved.library_file(&desk, "library.json").unwrap(), Path::new("/srv/lib.json"));
        for bad in ["", "..", "a/b", "a\\b", ".hidden", "a\0b", "c:x", &"x".repeat(201)] {
            assert_eq!(paths.library_file(&desk, bad), Err(PathRefusal::BadFileName), "{bad:?}");
        }
    }
}
