//! Content is found by convention.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use scion::content::{ContentKind, ContentRefusal, content_dirs};

/// Proves: SDK-CONNECTOR-CONTROL-R071.1
#[test]
fn every_kind_of_content_is_found_where_it_belongs() {
    let package = tempfile::tempdir().unwrap();
    assert!(content_dirs(package.path()).unwrap().is_empty());
    for kind in ContentKind::ALL {
        fs::create_dir(package.path().join(kind.folder())).unwrap();
    }
    fs::create_dir(package.path().join("other")).unwrap();
    let found = content_dirs(package.path()).unwrap();
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), ContentKind::ALL);
    assert_eq!(found[&ContentKind::Ontology], package.path().join("ontology"));
}

#[test]
fn what_is_not_a_folder_of_the_package_is_refused() {
    let package = tempfile::tempdir().unwrap();
    assert_eq!(content_dirs(&package.path().join("nowhere")), Err(ContentRefusal::NoPackage));
    fs::write(package.path().join("prompts"), "").unwrap();
    assert_eq!(content_dirs(package.path()), Err(ContentRefusal::NotAFolder { name: "prompts" }));
    #[cfg(unix)]
    {
        let package = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/", package.path().join("skills")).unwrap();
        assert_eq!(content_dirs(package.path()), Err(ContentRefusal::NotAFolder { name: "skills" }));
    }
}
