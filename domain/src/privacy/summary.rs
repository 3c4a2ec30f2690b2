//! One pass over a text that says which patterns cannot match it. Most texts of most records match none, and a pass is
//! many times cheaper than fifteen searches.

const DIGIT: u8 = 1;
const UPPER: u8 = 2;
const LOWER: u8 = 4;
/// `-`, `.`, blank, brackets and `+`: what stands between the digits of one number.
const JOINT: u8 = 8;
const SEPARATOR: u8 = 16;
const SLASH: u8 = 32;
/// `-` and `_`, which tokens have beside letters and digits.
const DASH: u8 = 64;
const OTHER: u8 = 128;
const WORD: u8 = DIGIT | UPPER | LOWER | DASH;

const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut byte = 0u8;
    loop {
        table[byte as usize] = match byte {
            b'0'..=b'9' => DIGIT,
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'_' => DASH,
            b'-' => SEPARATOR | JOINT | DASH,
            b':' => SEPARATOR,
            b'.' | b' ' | b'(' | b')' | b'+' => JOINT,
            b'/' | b'\\' => SLASH,
            b'@' => OTHER,
            _ => 0,
        };
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

/// What a text is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    bytes: usize,
    seen: u8,
    digits: usize,
    dots: usize,
    separators: usize,
    /// The most digits with nothing but joints between them.
    number: usize,
    /// The longest run of token characters.
    token: usize,
    /// A letter, a colon and a slash: the start of a path with a drive.
    drive: bool,
    /// Two capitals and two digits: the start of an account number.
    account: bool,
}

impl Summary {
    /// Most texts are words: no digit, and no sign that joins more than words. A plain pass says enough of those: all they
    /// may hold is a token without digits, which begins with a capital or has one.
    pub(super) fn of(text: &str) -> Self {
        let seen = text.bytes().fold(0, |seen, byte| seen | CLASSES[usize::from(byte)]);
        if seen & (DIGIT | SEPARATOR | SLASH | DASH | OTHER) != 0 {
            return Self::in_full(text);
        }
        let mut summary = Self { bytes: text.len(), seen, ..Self::default() };
        if seen & UPPER != 0 {
            let words = text.as_bytes().split(|byte| CLASSES[usize::from(*byte)] & WORD == 0);
            summary.token = words.map(<[u8]>::len).max().unwrap_or(0);
        }
        summary
    }

    fn in_full(text: &str) -> Self {
        let mut summary = Self { bytes: text.len(), ..Self::default() };
        let (mut token, mut number) = (0usize, 0usize);
        let mut before = [0u8; 3];
        for byte in text.bytes() {
            let class = CLASSES[usize::from(byte)];
            let digit = usize::from(class & DIGIT != 0);
            summary.seen |= class;
            summary.digits += digit;
            summary.dots += usize::from(byte == b'.');
            summary.separators += usize::from(class & SEPARATOR != 0);
            number = if class & (DIGIT | JOINT) == 0 { 0 } else { number + digit };
            summary.number = summary.number.max(number);
            token = if class & WORD == 0 { 0 } else { token + 1 };
            summary.token = summary.token.max(token);
            summary.drive |= class & SLASH != 0
                && before[2] & (SEPARATOR | DASH) == SEPARATOR
                && before[1] & (UPPER | LOWER) != 0
                && before[0] & (DIGIT | UPPER | LOWER) == 0;
            summary.account |= class & before[2] & DIGIT != 0 && before[1] & UPPER != 0 && before[0] & UPPER != 0;
            before = [before[1], before[2], class];
        }
        summary
    }

    /// A number of so many digits.
    pub(super) const fn number(&self, digits: usize) -> bool {
        self.number >= digits
    }

    pub(super) const fn mail(&self) -> bool {
        self.seen & OTHER != 0 && self.dots > 0
    }

    pub(super) const fn token(&self) -> bool {
        self.token >= 14
    }

    pub(super) const fn bearer(&self) -> bool {
        self.bytes >= 14
    }

    pub(super) const fn drive(&self) -> bool {
        self.drive
    }

    pub(super) const fn slash(&self) -> bool {
        self.seen & SLASH != 0
    }

    pub(super) const fn ipv4(&self) -> bool {
        self.dots >= 3 && self.digits >= 4
    }

    pub(super) const fn mac(&self) -> bool {
        self.separators >= 5 && self.bytes >= 17
    }

    pub(super) const fn account(&self) -> bool {
        self.account && self.bytes >= 12
    }
}
