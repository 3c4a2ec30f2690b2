//! Files that the command reads and the one it writes.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use scion_domain::certification::RecordedPins;
use scion_domain::command::CommandRefusal;
use scion_domain::json::{Json, JsonLimits, parse_with};

use crate::output::{Refused, reason};

/// The largest file that is read.
const MAX_FILE: u64 = 64 << 20;

/// A whole file, bounded.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Refused> {
    let refused = |what| CommandRefusal::InputFile { path: path.display().to_string(), what };
    let file = fs::File::open(path).map_err(|error| refused(reason(error.kind())))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| refused(reason(error.kind())))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(refused("it is larger than 64 MiB").into());
    }
    Ok(bytes)
}

/// A JSON document.
pub(super) fn json(path: &Path) -> Result<Json, Refused> {
    let bytes = read(path)?;
    parse_with(&bytes, JsonLimits::DEFAULT).map_err(|refusal| Refused::from(refusal).at(&path.display().to_string()))
}

/// The pins of an earlier report.
pub(super) fn pins(path: &Path) -> Result<RecordedPins, Refused> {
    RecordedPins::from_report(&json(path)?).map_err(|refusal| Refused::from(refusal).at(&path.display().to_string()))
}

/// Writes a file whole: what is read under its name is the old or the new one.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Refused> {
    let refused = |error: std::io::Error| CommandRefusal::ReportFile {
        path: path.display().to_string(),
        what: reason(error.kind()),
    };
    // A device or a pipe is written into, not replaced.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Ok(fs::write(path, text).map_err(refused)?);
    }
    let mut name = path.file_name().map_or_else(Default::default, std::ffi::OsStr::to_owned);
    name.push(format!(".{}.tmp", std::process::id()));
    let draft = path.with_file_name(name);
    let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&draft);
        refused(error).into()
    })
}
