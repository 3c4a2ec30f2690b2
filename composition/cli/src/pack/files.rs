//! Files of packs and of trust.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use scion_domain::command::CommandRefusal;
use scion_domain::integrity::{IntegrityRefusal, ROTATION_RECORD_VARIABLE, RotationLedger, SeenReleases, SignerLocks};
use scion_domain::json::Json;
use scion_domain::pack::{MAX_PACK_FILE_BYTES, PackFile};

use crate::output::{Refused, printable, reason};

/// The largest file of trust, in bytes.
const MAX_TRUST: usize = 16 << 20;

fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, Refused> {
    let refused = |what| CommandRefusal::InputFile { path: shown(path), what };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(reason(error.kind())).into()),
    };
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|error| refused(reason(error.kind())))?;
    if bytes.len() > limit {
        return Err(refused("it is larger than it may be").into());
    }
    Ok(Some(bytes))
}

fn needed(path: &Path, limit: usize) -> Result<Vec<u8>, Refused> {
    let missing = || CommandRefusal::InputFile { path: shown(path), what: "it does not exist" };
    Ok(read(path, limit)?.ok_or_else(missing)?)
}

/// A pack.
pub(super) fn pack(path: &Path) -> Result<PackFile, Refused> {
    let bytes = needed(path, MAX_PACK_FILE_BYTES)?;
    PackFile::from_bytes(&bytes).map_err(|refusal| Refused::from(refusal).at(&shown(path)))
}

/// The locked keys. A reader's file must be there; a publisher's is made.
pub(super) fn locks(path: &Path, make: bool) -> Result<SignerLocks, Refused> {
    let bytes = if make { read(path, MAX_TRUST)? } else { Some(needed(path, MAX_TRUST)?) };
    bytes.map_or_else(|| Ok(SignerLocks::default()), |bytes| document(path, SignerLocks::from_text(&bytes)))
}

/// The accepted releases; none before the first.
pub(super) fn seen(path: &Path) -> Result<SeenReleases, Refused> {
    let bytes = read(path, MAX_TRUST)?;
    bytes.map_or_else(|| Ok(SeenReleases::default()), |bytes| document(path, SeenReleases::from_text(&bytes)))
}

/// The declared rotations, in the file that the environment names; a file that is named must be there.
pub(super) fn rotations() -> Result<RotationLedger, Refused> {
    let Some(path) = std::env::var_os(ROTATION_RECORD_VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok(RotationLedger::default());
    };
    let path = Path::new(&path);
    document(path, RotationLedger::from_text(&needed(path, MAX_TRUST)?))
}

fn document<T>(path: &Path, read: Result<T, IntegrityRefusal>) -> Result<T, Refused> {
    read.map_err(|refusal| Refused::from(refusal).at(&shown(path)))
}

/// Writes a file whole: what is read under its name is the old or the new one, also after a crash.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Refused> {
    let refused = |what| CommandRefusal::OutputFile { path: shown(path), what };
    let mut name = path.file_name().ok_or(refused("it names no file"))?.to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let draft = path.with_file_name(name);
    let written = (|| {
        let mut file = fs::File::create(&draft)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    })();
    written.map_err(|error: std::io::Error| {
        let _ = fs::remove_file(&draft);
        refused(reason(error.kind())).into()
    })
}

/// A path for a message.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// One document on standard output.
pub(super) fn document_line(document: &Json) -> String {
    format!("{}\n", scion_domain::json::to_compact(document))
}
