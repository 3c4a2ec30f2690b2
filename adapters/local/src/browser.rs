//! The browser of the person at this machine.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::auth::PkceRefusal;
use scion_domain::http::Url;
use scion_ports::BrowserLauncher;

/// How long a launcher may take before it counts as started. Launchers end at once; browsers stay.
const STARTED: Duration = Duration::from_secs(2);

/// Starts a browser by the command of the platform: `xdg-open`, `open` or `rundll32`. The address is one argument; no shell sees it.
#[derive(Clone, Debug)]
pub struct SystemBrowser {
    program: String,
    arguments: Vec<String>,
}

impl Default for SystemBrowser {
    fn default() -> Self {
        let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
            ("open", &[])
        } else if cfg!(windows) {
            ("rundll32", &["url.dll,FileProtocolHandler"])
        } else {
            ("xdg-open", &[])
        };
        Self::command(program, arguments)
    }
}

impl SystemBrowser {
    /// By another command, which gets the address as its last argument.
    pub fn command(program: &str, arguments: &[&str]) -> Self {
        Self { program: program.to_owned(), arguments: arguments.iter().map(|&argument| argument.to_owned()).collect() }
    }

    fn start(&self, url: &Url) -> std::io::Result<Child> {
        Command::new(&self.program)
            .args(&self.arguments)
            .arg(url.as_str())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }
}

#[async_trait]
impl BrowserLauncher for SystemBrowser {
    async fn launch(&self, url: &Url) -> Result<(), PkceRefusal> {
        // Launchers open files and programs too.
        if !matches!(url.scheme(), "https" | "http") {
            return Err(PkceRefusal::BrowserLaunchFailed);
        }
        let mut child = self.start(url).map_err(|_| PkceRefusal::BrowserLaunchFailed)?;
        let mut waited = Duration::ZERO;
        while waited < STARTED {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(_)) | Err(_) => return Err(PkceRefusal::BrowserLaunchFailed),
                Ok(None) => {}
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
            waited += Duration::from_millis(25);
        }
        // It is the browser itself; somebody has to take note of its end.
        std::thread::spawn(move || child.wait());
        Ok(())
    }
}
