//! Packs: an index, a zero byte and an archive; and pack files.

use scion_domain::integrity::{RotationLedger, SignerLocks};
use scion_domain::pack::{Impact, PackArchive, PackDiff, PackFile, PackIndex};

/// An index that could be read is written and read as the same one; an archive that could be opened is built again byte for byte.
pub fn pack_index(data: &[u8]) {
    let cut = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, archive) = (&data[..cut], data.get(cut + 1..).unwrap_or_default());
    let Ok(index) = PackIndex::from_text(text) else { return };
    assert_eq!(PackIndex::from_text(index.to_text().as_bytes()).as_ref(), Ok(&index));
    let Ok((server, entries)) = index.open(archive) else { return };
    if let Ok(built) = PackArchive::build(&index.connector, &server, &entries)
        && built.server().body == index.server.body
    {
        assert_eq!(built.bytes(), archive);
    }
}

/// A pack file is read or refused. One that was read is written as the same bytes, differs from itself in nothing, and is trusted by
/// nobody who has locked no key.
pub fn pack_file(data: &[u8]) {
    let Ok(file) = PackFile::from_bytes(data) else { return };
    assert_eq!(file.to_bytes(), data);
    let diff = PackDiff::of(file.connector(), file.entries(), file.entries());
    assert_eq!((diff.kept, diff.impact()), (file.entries().len(), Impact::None));
    assert!(file.verify(&SignerLocks::default(), &RotationLedger::default()).is_err());
}
