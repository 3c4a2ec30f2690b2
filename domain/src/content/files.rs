//! The files of content, wherever they come from.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::ContentRefusal;

/// Files by their path below the content root, in order, within bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentFiles {
    files: BTreeMap<String, Bytes>,
    bytes: usize,
}

impl ContentFiles {
    /// The most files.
    pub const MAX_FILES: usize = 4096;
    /// The largest file, in bytes.
    pub const MAX_FILE_BYTES: usize = 4 << 20;
    /// The most bytes of all files together.
    pub const MAX_BYTES: usize = 64 << 20;
    /// The longest path, in bytes.
    pub const MAX_PATH: usize = 512;

    /// Adds a file, or takes it for the one of the same path. The path has `/` between its names, each of letters, digits,
    /// `.`, `_`, `-` and `~`, none of them `.` or `..`.
    pub fn add(&mut self, path: &str, bytes: impl Into<Bytes>) -> Result<(), ContentRefusal> {
        if path.len() > Self::MAX_PATH || !path.split('/').all(is_name) {
            return Err(ContentRefusal::Path { path: path.chars().take(128).collect() });
        }
        let bytes = bytes.into();
        if bytes.len() > Self::MAX_FILE_BYTES {
            return Err(ContentRefusal::TooLarge { file: path.to_owned(), limit: Self::MAX_FILE_BYTES });
        }
        let replaced = self.files.get(path).map_or(0, Bytes::len);
        if self.bytes - replaced + bytes.len() > Self::MAX_BYTES {
            return Err(ContentRefusal::TooLarge { file: "all content".to_owned(), limit: Self::MAX_BYTES });
        }
        if !self.files.contains_key(path) && self.files.len() >= Self::MAX_FILES {
            return Err(ContentRefusal::TooMany { what: "files of content", limit: Self::MAX_FILES });
        }
        self.bytes = self.bytes - replaced + bytes.len();
        self.files.insert(path.to_owned(), bytes);
        Ok(())
    }

    /// The files that a binary carries (`scion::embed_content!`). Nothing is copied.
    pub fn embedded(files: &'static [(&'static str, &'static [u8])]) -> Result<Self, ContentRefusal> {
        let mut out = Self::default();
        files.iter().try_for_each(|(path, bytes)| out.add(path, Bytes::from_static(bytes)))?;
        Ok(out)
    }

    /// Path and bytes of each file, in path order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// Whether a file or folder may be called so: what stands in a URI needs no escape and leads nowhere else.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-~".contains(&b))
}

/// The text of a file, or a refusal with the line that is none.
pub fn text_of<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, ContentRefusal> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        ContentRefusal::NotUtf8 { file: file.to_owned(), line }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal as _;

    #[test]
    fn paths_stay_inside_and_bounds_hold() {
        let mut files = ContentFiles::default();
        for bad in ["", "/etc/passwd", "a//b", "../x", "a/../b", "a\\b", "a b", "ä", "a/.", "a\0b", &"x".repeat(513)] {
            assert_eq!(files.add(bad, "x").unwrap_err().code(), "content_path_invalid", "{bad:?}");
        }
        let large = vec![0; ContentFiles::MAX_FILE_BYTES + 1];
        assert_eq!(files.add("large", large).unwrap_err().code(), "content_too_large");
        assert!(files.is_empty());
        for index in 0..ContentFiles::MAX_FILES {
            files.add(&format!("f{index}"), "").unwrap();
        }
        assert_eq!(files.add("one-more", "").unwrap_err().code(), "content_too_many");
        files.add("f0", "again").unwrap();
        let mut files = ContentFiles::default();
        let whole = Bytes::from(vec![0; ContentFiles::MAX_FILE_BYTES]);
        for index in 0..16 {
            files.add(&format!("f{index}"), whole.clone()).unwrap();
        }
        assert_eq!(files.add("more", "x").unwrap_err().code(), "content_too_large");
        files.add("f3", "shorter").unwrap();
        files.add("more", "x").unwrap();
    }
}
