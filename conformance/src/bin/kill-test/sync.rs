//! One state directory with its configuration, and runs of the real command over it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How a run ended.
pub(crate) enum Ended {
    /// It was still running and was killed.
    Killed,
    /// It got through, after so many milliseconds.
    Finished(u64),
}

/// A state directory.
pub(crate) struct Sync {
    folder: PathBuf,
    store: PathBuf,
    binaries: PathBuf,
}

/// No run takes longer than this; one that does hangs.
const LONGEST: Duration = Duration::from_mins(2);

impl Sync {
    pub(crate) fn prepare(folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let binaries = own.parent().ok_or("this program has no folder")?.to_owned();
        for name in ["connector-sync", "seeded-source"] {
            if !binaries.join(name).is_file() {
                return Err(format!("{name} is not built; build the workspace with the same profile first"));
            }
        }
        let store = folder.join("state").join(scion_conformance::STORE_FILE);
        Ok(Self { folder: folder.to_owned(), store, binaries })
    }

    pub(crate) fn store(&self) -> &Path {
        &self.store
    }

    /// Writes the configuration for a source in which every `touch`-th record has other contents.
    pub(crate) fn configure(&self, records: u64, touch: u64) -> Result<(), String> {
        let server = self.binaries.join("seeded-source");
        let text = format!(
            "connectors:\n- connector: seeded-source\n  endpoint:\n    command: {}\n    args: [\"--records\", \"{records}\", \"--touch\", \"{touch}\", \"--edges\"]\n  max_pages_per_cycle: 1000000\n",
            server.display()
        );
        std::fs::write(self.config(), text).map_err(|error| error.to_string())
    }

    fn config(&self) -> PathBuf {
        self.folder.join("config.yaml")
    }

    fn start(&self) -> Result<Child, String> {
        let mut command = Command::new(self.binaries.join("connector-sync"));
        command.arg("--once").arg("--config").arg(self.config()).arg("--state-dir").arg(self.folder.join("state"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|error| format!("connector-sync does not start: {error}"))
    }

    pub(crate) fn run_and_kill(&self, after_ms: u64) -> Result<Ended, String> {
        let started = Instant::now();
        let mut child = self.start()?;
        let end = started + Duration::from_millis(after_ms);
        while Instant::now() < end {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                if !status.success() {
                    return Err(format!("connector-sync ended with {status} although nobody killed it"));
                }
                let took = started.elapsed().as_millis();
                return Ok(Ended::Finished(u64::try_from(took).unwrap_or(u64::MAX)));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().map_err(|error| error.to_string())?;
        child.wait().map_err(|error| error.to_string())?;
        Ok(Ended::Killed)
    }

    /// A run that nobody disturbs.
    pub(crate) fn finish(&self) -> Result<(), String> {
        let longest = u64::try_from(LONGEST.as_millis()).unwrap_or(u64::MAX);
        match self.run_and_kill(longest)? {
            Ended::Finished(_) => Ok(()),
            Ended::Killed => Err(format!("a run did not end within {} s", LONGEST.as_secs())),
        }
    }
}
