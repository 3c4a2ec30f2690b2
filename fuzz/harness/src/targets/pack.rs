//! Packs as a file: an index, a zero byte, an archive.

use scion_domain::pack::{PackArchive, PackIndex};

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
