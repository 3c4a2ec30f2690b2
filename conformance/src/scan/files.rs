//! A tree of source files, bounded.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Finding, Rule, scan_python, scan_rust};

/// The most files that are read.
const MAX_FILES: usize = 50_000;
/// The most bytes of one file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// The deepest folder.
const MAX_DEPTH: usize = 64;
/// The most findings that are reported.
const MAX_FINDINGS: usize = 10_000;
/// Folders that hold no source of the tree's own.
const NOT_SOURCE: [&str; 8] =
    ["target", "node_modules", "__pycache__", "site-packages", "venv", "dist-packages", "build", "dist"];
/// Folders of code that is not shipped, where a plain client may probe a server.
const TESTS: [&str; 2] = ["tests", "benches"];

/// What to scan how.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// Folders, relative to the root, whose work is to open connections: there [`Rule::RawClient`], [`Rule::OwnTlsContext`] and
    /// [`Rule::OwnVerifier`] are no findings. Switches and silenced warnings are findings everywhere. A connector has none.
    pub dialers: Vec<PathBuf>,
}

/// What a scan found.
#[derive(Clone, Debug, Default)]
pub struct ScanReport {
    /// In order of files and lines.
    pub findings: Vec<Finding>,
    /// How many files were read.
    pub files: usize,
    /// What was not read, and why. Any entry makes the scan incomplete.
    pub unread: Vec<(String, &'static str)>,
}

impl ScanReport {
    /// Whether everything was read and nothing was found. A scan without a file is not clean.
    pub const fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.unread.is_empty() && self.files > 0
    }
}

/// Scans every `.rs`, `.py` and `.pyi` file below a folder. Symbolic links and hidden folders are not followed; folders of build
/// results and installed packages are left out.
pub fn scan_tree(root: &Path, options: &ScanOptions) -> ScanReport {
    let mut report = ScanReport::default();
    let mut folders = vec![(PathBuf::new(), 0usize)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else {
            report.unread.push((shown(&folder), "the folder cannot be listed"));
            continue;
        };
        for entry in entries {
            let Ok(entry) = entry else {
                report.unread.push((shown(&folder), "the folder cannot be listed to its end"));
                break;
            };
            let name = entry.file_name();
            let text = name.to_string_lossy();
            let path = folder.join(&name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if text.starts_with('.') || NOT_SOURCE.contains(&&*text) {
                        continue;
                    }
                    if depth == MAX_DEPTH {
                        report.unread.push((shown(&path), "the folder is too deep"));
                    } else {
                        folders.push((path, depth + 1));
                    }
                }
                Ok(kind) if kind.is_file() => {
                    if report.files == MAX_FILES {
                        report.unread.push((shown(&path), "there are too many files"));
                        return finished(report);
                    }
                    file(root, &path, options, &mut report);
                }
                Ok(_) => {}
                Err(_) => report.unread.push((shown(&path), "its kind cannot be read")),
            }
        }
    }
    finished(report)
}

fn finished(mut report: ScanReport) -> ScanReport {
    report.findings.sort();
    if report.findings.len() > MAX_FINDINGS {
        report.findings.truncate(MAX_FINDINGS);
        report.unread.push((String::new(), "there are too many findings"));
    }
    report
}

fn file(root: &Path, path: &Path, options: &ScanOptions, report: &mut ScanReport) {
    let scan = match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => scan_rust,
        Some("py" | "pyi") => scan_python,
        _ => return,
    };
    let full = root.join(path);
    if fs::metadata(&full).map_or(true, |found| found.len() > MAX_BYTES) {
        report.unread.push((shown(path), "the file is too large or not there any more"));
        return;
    }
    let Ok(bytes) = fs::read(&full) else {
        report.unread.push((shown(path), "the file cannot be read"));
        return;
    };
    report.files += 1;
    let dialer = options.dialers.iter().any(|folder| path.starts_with(folder));
    let test = path.components().any(|part| TESTS.iter().any(|name| part.as_os_str() == *name));
    let counts = |rule: Rule| match rule {
        Rule::VerificationOff | Rule::WarningsSilenced => true,
        Rule::OwnVerifier => !dialer,
        Rule::OwnTlsContext | Rule::RawClient => !dialer && !test,
    };
    let found = scan(&String::from_utf8_lossy(&bytes)).into_iter().filter(|(_, rule)| counts(*rule));
    report.findings.extend(found.map(|(line, rule)| Finding { file: shown(path), line, rule }));
}

fn shown(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
