//! The smallest picture and sound there are.

use scion_domain::base64;
use scion_domain::mcp::Attachment;

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// The bytes of a picture.
pub(super) fn png() -> Vec<u8> {
    base64::decode(PNG).unwrap_or_default()
}

pub(super) fn picture() -> Attachment {
    Attachment::Image { media_type: "image/png".to_owned(), bytes: png() }
}

/// A WAV file of eight silent samples: 8 kHz, one channel, 8 bits.
pub(super) fn sound() -> Attachment {
    let mut bytes =
        b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x08\0\0\0".to_vec();
    bytes.extend([0x80; 8]);
    Attachment::Audio { media_type: "audio/wav".to_owned(), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_what_they_say() {
        assert!(png().starts_with(b"\x89PNG"));
        let Attachment::Audio { bytes, .. } = sound() else { panic!("a sound") };
        let size = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        assert_eq!(usize::try_from(size).unwrap() + 8, bytes.len());
    }
}
