//! Thrift's compact protocol, in which a Parquet file describes itself.
//!
//! A structure is read into a tree of values by field number, so that fields that are not known are skipped by themselves. Every value takes at least a byte of the
//! file, so the tree is no larger than a small multiple of what was read.

use crate::Error;

/// Structures within structures. The format needs seven or so.
const DEEPEST: usize = 32;

/// Values of one structure and all within it. A value takes some forty times as much memory as the shortest one takes bytes.
const MOST_VALUES: usize = 1 << 23;

/// A value of any kind.
#[derive(Debug)]
pub(crate) enum Value<'a> {
    Bool(bool),
    Int(i64),
    Double,
    Binary(&'a [u8]),
    List(Vec<Value<'a>>),
    Map,
    Struct(Struct<'a>),
}

/// Fields by number.
#[derive(Debug, Default)]
pub(crate) struct Struct<'a>(Vec<(i64, Value<'a>)>);

impl<'a> Struct<'a> {
    /// A structure at the start of `bytes`, and how many bytes it takes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<(Self, usize), Error> {
        let mut input = Input { bytes, at: 0, left: MOST_VALUES };
        let found = input.structure(0)?;
        Ok((found, input.at))
    }

    fn field(&self, id: i64) -> Option<&Value<'a>> {
        self.0.iter().find(|(key, _)| *key == id).map(|(_, value)| value)
    }

    pub(crate) fn int(&self, id: i64) -> Option<i64> {
        match self.field(id) {
            Some(Value::Int(value)) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn bool(&self, id: i64) -> Option<bool> {
        match self.field(id) {
            Some(Value::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn binary(&self, id: i64) -> Option<&'a [u8]> {
        match self.field(id) {
            Some(Value::Binary(bytes)) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn structure(&self, id: i64) -> Option<&Struct<'a>> {
        match self.field(id) {
            Some(Value::Struct(inner)) => Some(inner),
            _ => None,
        }
    }

    /// The structures of a list; none if there is no such list.
    pub(crate) fn structures(&self, id: i64) -> impl Iterator<Item = &Struct<'a>> {
        let list = match self.field(id) {
            Some(Value::List(list)) => &list[..],
            _ => &[],
        };
        list.iter().filter_map(|value| match value {
            Value::Struct(inner) => Some(inner),
            _ => None,
        })
    }

    /// Whether a field is there, whatever it holds.
    pub(crate) fn has(&self, id: i64) -> bool {
        self.field(id).is_some()
    }
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Values that may follow.
    left: usize,
}

impl<'a> Input<'a> {
    fn byte(&mut self) -> Result<u8, Error> {
        let byte =
            *self.bytes.get(self.at).ok_or_else(|| Error::damaged("a header is cut short"))?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, n: u64) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.at..];
        let n = usize::try_from(n).ok().filter(|n| *n <= rest.len());
        let n = n.ok_or_else(|| Error::damaged("a header is cut short"))?;
        self.at += n;
        Ok(&rest[..n])
    }

    fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::damaged("a number of a header has too many digits"))
    }

    fn zigzag(&mut self) -> Result<i64, Error> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn structure(&mut self, depth: usize) -> Result<Struct<'a>, Error> {
        if depth == DEEPEST {
            return Err(Error::damaged("headers lie too deep within each other"));
        }
        let (mut fields, mut id) = (Vec::new(), 0i64);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(Struct(fields));
            }
            id = match head >> 4 {
                0 => self.zigzag()?,
                step => id.wrapping_add(i64::from(step)),
            };
            self.count()?;
            let value = match head & 15 {
                1 => Value::Bool(true),
                2 => Value::Bool(false),
                kind => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn count(&mut self) -> Result<(), Error> {
        let many = || Error::unread(format!("has a header of more than {MOST_VALUES} values"));
        self.left = self.left.checked_sub(1).ok_or_else(many)?;
        Ok(())
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<Value<'a>, Error> {
        Ok(match kind {
            // Outside of structures a truth takes a byte of its own.
            1 | 2 => Value::Bool(self.byte()? == 1),
            3 => Value::Int(i64::from(self.byte()? as i8)),
            4..=6 => Value::Int(self.zigzag()?),
            7 => {
                self.take(8)?;
                Value::Double
            }
            8 => {
                let n = self.varint()?;
                Value::Binary(self.take(n)?)
            }
            9 | 10 => self.list(depth)?,
            11 => self.map(depth)?,
            12 => Value::Struct(self.structure(depth + 1)?),
            _ => return Err(Error::damaged("a header holds a value of no known kind")),
        })
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        let head = self.byte()?;
        let n = match head >> 4 {
            15 => self.varint()?,
            n => u64::from(n),
        };
        if depth == DEEPEST {
            return Err(Error::damaged("headers lie too deep within each other"));
        }
        let mut values = Vec::new();
        // Each takes a byte at least, so that a false length ends with the file.
        for _ in 0..n {
            self.count()?;
            values.push(self.value(head & 15, depth + 1)?);
        }
        Ok(Value::List(values))
    }

    fn map(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        let n = self.varint()?;
        if depth == DEEPEST {
            return Err(Error::damaged("headers lie too deep within each other"));
        }
        if n > 0 {
            let kinds = self.byte()?;
            for _ in 0..n {
                self.value(kinds >> 4, depth + 1)?;
                self.value(kinds & 15, depth + 1)?;
            }
        }
        Ok(Value::Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_number() {
        // 1: i32 = -3, 2: binary = "ab", 4: list of i64 [1, 2], 5: struct { 1: true }, 40: false.
        let bytes =
            [0x15, 5, 0x18, 2, b'a', b'b', 0x29, 0x26, 2, 4, 0x1c, 0x11, 0, 0x02, 80, 0, 0xff];
        let (found, n) = Struct::read(&bytes).unwrap();
        assert_eq!((found.int(1), found.binary(2), n), (Some(-3), Some(&b"ab"[..]), 16));
        assert!(matches!(found.field(4), Some(Value::List(list)) if list.len() == 2));
        assert_eq!(found.structure(5).and_then(|inner| inner.bool(1)), Some(true));
        assert_eq!((found.bool(40), found.has(3)), (Some(false), false));
    }

    #[test]
    fn false_lengths_and_depths_are_errors() {
        for bytes in [
            &[][..],
            &[0x15],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, b'a'],
            &[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 1],
            &[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x1c; 100],
            &[0x19; 100],
            &[0x1d, 1],
        ] {
            assert!(Struct::read(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_header_of_many_short_values_takes_little_memory() {
        let truths = |n: usize| [&vec![0x11u8; n][..], &[0]].concat();
        assert!(Struct::read(&truths(MOST_VALUES)).is_ok());
        let error = Struct::read(&truths(MOST_VALUES + 1)).unwrap_err().to_string();
        assert!(error.contains("values"), "{error}");
        // A list of 2²⁴ empty structures: 1: list, many of kind 12, a length, as many bytes of 0.
        let list = [&[0x19, 0xfc, 0x80, 0x80, 0x80, 0x08][..], &vec![0; 1 << 24]].concat();
        assert!(Struct::read(&list).unwrap_err().to_string().contains("values"));
    }
}
