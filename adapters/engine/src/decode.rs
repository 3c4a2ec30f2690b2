//! Reads MessagePack that an engine sent: exactly one value, within bounds.

use rmp::Marker;

use crate::Value;

/// What is read at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Values, keys included.
    pub items: usize,
    /// Lists and maps inside each other.
    pub depth: usize,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self { items: 4_000_000, depth: 64 }
    }
}

/// The bytes are not one value within the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Reads one value that takes all of the bytes.
pub fn decode(bytes: &[u8], limits: DecodeLimits) -> Result<Value, Malformed> {
    let mut reader = Reader { rest: bytes, items: limits.items, depth: limits.depth };
    let value = reader.value()?;
    if reader.rest.is_empty() { Ok(value) } else { Err(Malformed) }
}

struct Reader<'a> {
    rest: &'a [u8],
    items: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Result<Value, Malformed> {
        self.items = self.items.checked_sub(1).ok_or(Malformed)?;
        let marker = Marker::from_u8(self.byte()?);
        Ok(match marker {
            Marker::Null => Value::Nil,
            Marker::True => Value::Bool(true),
            Marker::False => Value::Bool(false),
            Marker::FixPos(number) => Value::Natural(number.into()),
            Marker::FixNeg(number) => Value::Negative(number.into()),
            Marker::U8 => Value::Natural(self.byte()?.into()),
            Marker::U16 => Value::Natural(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => Value::Natural(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => Value::Natural(u64::from_be_bytes(self.array()?)),
            Marker::I8 => i64::from(i8::from_be_bytes(self.array()?)).into(),
            Marker::I16 => i64::from(i16::from_be_bytes(self.array()?)).into(),
            Marker::I32 => i64::from(i32::from_be_bytes(self.array()?)).into(),
            Marker::I64 => i64::from_be_bytes(self.array()?).into(),
            Marker::F32 => Value::Single(f32::from_be_bytes(self.array()?)),
            Marker::F64 => Value::Double(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(length) => self.text(length.into())?,
            Marker::Str8 => self.sized(1, Self::text)?,
            Marker::Str16 => self.sized(2, Self::text)?,
            Marker::Str32 => self.sized(4, Self::text)?,
            Marker::Bin8 => self.sized(1, Self::bytes)?,
            Marker::Bin16 => self.sized(2, Self::bytes)?,
            Marker::Bin32 => self.sized(4, Self::bytes)?,
            Marker::FixArray(length) => self.list(length.into())?,
            Marker::Array16 => self.sized(2, Self::list)?,
            Marker::Array32 => self.sized(4, Self::list)?,
            Marker::FixMap(length) => self.map(length.into())?,
            Marker::Map16 => self.sized(2, Self::map)?,
            Marker::Map32 => self.sized(4, Self::map)?,
            // The protocol has no extension types.
            _ => return Err(Malformed),
        })
    }

    fn sized(
        &mut self,
        width: usize,
        read: impl FnOnce(&mut Self, usize) -> Result<Value, Malformed>,
    ) -> Result<Value, Malformed> {
        let length = self.take(width)?.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte));
        read(self, length)
    }

    fn text(&mut self, length: usize) -> Result<Value, Malformed> {
        let text = std::str::from_utf8(self.take(length)?).map_err(|_| Malformed)?;
        Ok(Value::Text(text.to_owned()))
    }

    fn bytes(&mut self, length: usize) -> Result<Value, Malformed> {
        Ok(Value::Bytes(self.take(length)?.to_vec()))
    }

    fn list(&mut self, length: usize) -> Result<Value, Malformed> {
        self.nested(length, 1, Self::value).map(Value::List)
    }

    fn map(&mut self, length: usize) -> Result<Value, Malformed> {
        let member = |reader: &mut Self| {
            let Value::Text(name) = reader.value()? else { return Err(Malformed) };
            Ok((name, reader.value()?))
        };
        self.nested(length, 2, member).map(Value::Map)
    }

    /// Reads `length` parts of at least `each` bytes, one level down.
    fn nested<T>(
        &mut self,
        length: usize,
        each: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        // A count that the bytes cannot hold is refused before anything is set aside for it.
        if length.checked_mul(each).is_none_or(|least| least > self.rest.len()) {
            return Err(Malformed);
        }
        self.depth = self.depth.checked_sub(1).ok_or(Malformed)?;
        let mut parts = Vec::with_capacity(length.min(1024));
        for _ in 0..length {
            parts.push(read(self)?);
        }
        self.depth += 1;
        Ok(parts)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }
}
