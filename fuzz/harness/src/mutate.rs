//! A small seeded mutator for runs without coverage guidance.

/// Makes variants of corpus entries, the same ones for the same seed.
#[derive(Clone, Debug)]
pub struct Mutator {
    state: u64,
}

/// Fragments that parsers tend to trip over.
const FRAGMENTS: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"-0",
    b"1e400",
    b"1E-400",
    b"9007199254740993",
    b"99999999999999999999",
    b"null",
    b"true",
    b"\n",
    b"\r\n",
    b"\t",
    b"  ",
    b"- ",
    b"&a ",
    b"*a",
    b"!!",
    b"|",
    b"..",
    b"%00",
    b"{id}",
    b"\xc2\xa0",
    b"\xe2\x80\xae",
    b"SELECT",
    b"{ ?s ?p ?o }",
    b"<urn:x>",
    b"\"\"\"",
    b"https://",
    b"[::ffff:",
    b"]",
    b"@",
    b"\\",
    b"0x7f",
    b"127.1",
    b"localhost",
    b"\xef\xbc\x91",
];

const LONGEST: usize = 1 << 16;

impl Mutator {
    /// From a seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 1).unwrap_or(usize::MAX)
    }

    fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { self.next() % bound }
    }

    /// A variant of one of the entries.
    pub fn variant(&mut self, entries: &[(String, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = match entries.len() {
            0 => Vec::new(),
            count => entries[self.below(count)].1.clone(),
        };
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len() + 1);
            match self.below(7) {
                0 if !bytes.is_empty() => {
                    let at = at.min(bytes.len() - 1);
                    bytes[at] ^= 1 << self.below(8);
                }
                1 => {
                    let end = (at + self.below(16)).min(bytes.len());
                    bytes.drain(at..end);
                }
                2 => {
                    let fragment = FRAGMENTS[self.below(FRAGMENTS.len())];
                    bytes.splice(at..at, fragment.iter().copied());
                }
                3 => {
                    let end = (at + self.below(64)).min(bytes.len());
                    let copy = bytes[at..end].repeat(1 + self.below(40));
                    bytes.splice(at..at, copy);
                }
                4 => bytes.truncate(at),
                5 if !entries.is_empty() => {
                    let other = &entries[self.below(entries.len())].1;
                    let from = self.below(other.len() + 1);
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[from..]);
                }
                _ => bytes.insert(at, u8::try_from(self.below(256)).unwrap_or_default()),
            }
            bytes.truncate(LONGEST);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Mutator;

    #[test]
    fn the_same_seed_gives_the_same_variants() {
        let entries = vec![("a".to_owned(), b"{\"a\":1}".to_vec())];
        let run = |seed| {
            let mut mutator = Mutator::new(seed);
            (0..50).map(|_| mutator.variant(&entries)).collect::<Vec<_>>()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }
}
