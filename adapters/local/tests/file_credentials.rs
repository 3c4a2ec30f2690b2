//! Mounted secrets on a real file system.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_conformance::suites::credential_provider::{self, CredentialFixture, VALUE};
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::refusal::Refusal as _;
use scion_local::{FileCredentials, FileMode, FileRoot};
use scion_ports::CredentialProvider;

fn write(path: &Path, content: impl AsRef<[u8]>, mode: u32) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn reference(path: &Path) -> SecretRef {
    SecretRef::parse(&format!("file://{}", path.display())).unwrap()
}

async fn resolve(provider: &FileCredentials, connector: &str, path: &Path) -> Result<String, CredentialRefusal> {
    let connector = ConnectorName::parse(connector).unwrap();
    let request = CredentialRequest { connector, reference: reference(path) };
    let read = tokio::time::timeout(Duration::from_secs(10), provider.resolve(&request)).await;
    read.expect("a read ends").map(|value| value.expose().clone())
}

struct Mounted {
    dir: tempfile::TempDir,
}

impl Mounted {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("desk-mcp/token"), format!("{VALUE}\n"), 0o600);
        write(&dir.path().join("desk-mcp/empty"), "\n", 0o600);
        write(&dir.path().join("other-mcp/token"), VALUE, 0o600);
        Self { dir }
    }

    fn at(&self, path: &str) -> SecretRef {
        reference(&self.dir.path().join(path))
    }
}

#[async_trait]
impl CredentialFixture for Mounted {
    async fn open(&self) -> Arc<dyn CredentialProvider> {
        Arc::new(FileCredentials::new([FileRoot::PerConnector(self.dir.path().to_owned())], FileMode::OwnerOnly))
    }

    async fn unreachable(&self) -> Option<Arc<dyn CredentialProvider>> {
        // A local file system does not stop answering without an error of its own.
        None
    }

    fn present(&self) -> SecretRef {
        self.at("desk-mcp/token")
    }

    fn empty(&self) -> SecretRef {
        self.at("desk-mcp/empty")
    }

    fn absent(&self) -> SecretRef {
        self.at("desk-mcp/absent")
    }

    fn out_of_scope(&self) -> Option<SecretRef> {
        Some(self.at("other-mcp/token"))
    }

    fn foreign(&self) -> SecretRef {
        SecretRef::Env { name: "TOKEN".into() }
    }

    fn lookups(&self) -> usize {
        // Nothing counts reads of a file; the file out of scope exists, so reading it would have resolved it.
        0
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn mounted_files_keep_the_obligations_of_a_provider() {
    credential_provider::run(&Mounted::new()).await.assert_passed();
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn a_file_is_read_each_time_and_one_line_end_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    let files = FileCredentials::new([FileRoot::Shared(dir.path().to_owned())], FileMode::OwnerOnly);
    for (content, value) in
        [("one", "one"), ("two\n", "two"), ("three\r\n", "three"), ("four\n\n", "four\n"), (" five ", " five ")]
    {
        write(&path, content, 0o400);
        assert_eq!(resolve(&files, "desk-mcp", &path).await.as_deref(), Ok(value));
        std::fs::remove_file(&path).unwrap();
    }
    assert!(matches!(resolve(&files, "desk-mcp", &path).await, Err(CredentialRefusal::Missing { .. })));
    write(&path, "x".repeat(64 * 1024), 0o600);
    assert!(resolve(&files, "desk-mcp", &path).await.is_ok());
}

/// As Kubernetes mounts a secret: the name is a link to a link of the current version.
#[tokio::test]
async fn links_may_stay_inside_and_not_lead_out() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = dir.path().join("mount");
    write(&root.join("..2026_01/token"), "first", 0o644);
    write(&root.join("..2026_02/token"), "second", 0o644);
    symlink("..2026_01", root.join("..data")).unwrap();
    symlink("..data/token", root.join("token")).unwrap();
    let files = FileCredentials::new([FileRoot::Shared(root.clone())], FileMode::Warn);
    assert_eq!(resolve(&files, "desk-mcp", &root.join("token")).await.as_deref(), Ok("first"));
    std::fs::remove_file(root.join("..data")).unwrap();
    symlink("..2026_02", root.join("..data")).unwrap();
    assert_eq!(resolve(&files, "desk-mcp", &root.join("token")).await.as_deref(), Ok("second"));
    // Out of the root: a file, a directory on the way, and the root's own sibling with the same beginning.
    write(&outside.path().join("token"), "stolen", 0o600);
    write(&dir.path().join("mount-of-others/token"), "stolen", 0o600);
    symlink(outside.path().join("token"), root.join("file-link")).unwrap();
    symlink(outside.path(), root.join("dir-link")).unwrap();
    for path in [root.join("file-link"), root.join("dir-link/token"), dir.path().join("mount-of-others/token")] {
        let refused = resolve(&files, "desk-mcp", &path).await;
        assert!(matches!(refused, Err(CredentialRefusal::OutOfScope { .. })), "{}: {refused:?}", path.display());
    }
    // The root may be a link itself.
    symlink(&root, dir.path().join("alias")).unwrap();
    let aliased = FileCredentials::new([FileRoot::Shared(dir.path().join("alias"))], FileMode::Warn);
    assert_eq!(resolve(&aliased, "desk-mcp", &dir.path().join("alias/token")).await.as_deref(), Ok("second"));
    let none = FileCredentials::new([], FileMode::Warn);
    assert!(matches!(resolve(&none, "desk-mcp", &root.join("token")).await, Err(CredentialRefusal::OutOfScope { .. })));
}

#[tokio::test]
async fn what_is_not_a_secret_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let files = |mode| FileCredentials::new([FileRoot::Shared(dir.path().to_owned())], mode);
    write(&path("large"), vec![b'x'; 64 * 1024 + 1], 0o600);
    write(&path("bytes"), [0xff, 0xfe], 0o600);
    write(&path("shared"), "hunter2", 0o644);
    write(&path("writable"), "hunter2", 0o666);
    write(&path("group"), "hunter2", 0o620);
    std::fs::create_dir(path("directory")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(pipe.success());
    for name in ["large", "bytes", "writable", "group", "directory", "pipe"] {
        let refusal = resolve(&files(FileMode::Warn), "desk-mcp", &path(name)).await.unwrap_err();
        assert_eq!(refusal.code(), "credential_unusable", "{name}");
        assert!(!refusal.to_string().contains("hunter2"));
    }
    assert_eq!(resolve(&files(FileMode::Warn), "desk-mcp", &path("shared")).await.as_deref(), Ok("hunter2"));
    let strict = resolve(&files(FileMode::OwnerOnly), "desk-mcp", &path("shared")).await.unwrap_err();
    assert_eq!(strict.code(), "credential_unusable");
    let below_a_file = resolve(&files(FileMode::Warn), "desk-mcp", &path("shared/x")).await;
    assert!(matches!(below_a_file, Err(CredentialRefusal::Missing { .. })));
}
