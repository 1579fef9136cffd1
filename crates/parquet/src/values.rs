//! The values of a page, one after the other, by each encoding that writers use.

use crate::Error;
use crate::levels::{Hybrid, bits, little_endian, varint};
use crate::schema::Physical;

/// A value as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Raw<'a> {
    Bool(bool),
    Int(i64),
    Float(f32),
    Double(f64),
    Bytes(&'a [u8]),
}

/// Values that a column's pages refer to by number.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    bytes: Vec<u8>,
    /// Where each value is.
    spans: Vec<(u32, u32)>,
}

impl Dictionary {
    pub(crate) fn new(bytes: Vec<u8>, physical: Physical, n: usize) -> Result<Self, Error> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(Error::unread("has a dictionary of more than 4 GB"));
        }
        let (mut spans, mut at) = (Vec::new(), 0);
        // Each takes a byte at least, so that a false number ends with the page.
        for _ in 0..n {
            let span = plain_span(&bytes, &mut at, physical)?;
            spans.push((span.start as u32, span.end as u32));
        }
        Ok(Self { bytes, spans })
    }

    fn get(&self, i: u32, physical: Physical) -> Result<Raw<'_>, Error> {
        let span = self.spans.get(i as usize);
        let &(start, end) =
            span.ok_or_else(|| Error::damaged("a value is not in its dictionary"))?;
        Ok(raw(&self.bytes[start as usize..end as usize], physical))
    }
}

/// Where in a page the next value is, and how it is encoded.
#[derive(Debug)]
pub(crate) enum Values {
    Plain {
        at: usize,
    },
    /// Truths, eight per byte.
    PlainBits {
        bit: u64,
    },
    Runs(Hybrid),
    Dictionary(Hybrid),
    Delta(Delta),
    /// Lengths, then all bytes.
    DeltaLength {
        lengths: Delta,
        at: usize,
    },
    /// The length of what is kept of the value before, then the rest.
    DeltaBytes {
        kept: Delta,
        lengths: Delta,
        at: usize,
        last: Vec<u8>,
    },
    /// The first bytes of all values, then the second ones, …
    Split {
        start: usize,
        i: usize,
        n: usize,
    },
}

impl Values {
    /// Those of `page[at..]`, in one of the format's encodings.
    pub(crate) fn new(
        encoding: i64,
        page: &[u8],
        at: usize,
        physical: Physical,
    ) -> Result<Self, Error> {
        let end = page.len();
        Ok(match (encoding, physical) {
            (0, Physical::Boolean) => Values::PlainBits { bit: 8 * at as u64 },
            (0, _) => Values::Plain { at },
            (2 | 8, _) => {
                let width = page.get(at).copied().unwrap_or(0);
                Values::Dictionary(Hybrid::new((at + 1).min(end), end, u32::from(width))?)
            }
            (3, Physical::Boolean) => Values::Runs(Hybrid::new((at + 4).min(end), end, 1)?),
            (5, Physical::Int32 | Physical::Int64) => Values::Delta(Delta::new(page, at)?),
            (6, Physical::ByteArray) => {
                let mut walk = Delta::new(page, at)?;
                walk.skip_all(page)?;
                Values::DeltaLength { lengths: Delta::new(page, at)?, at: walk.at }
            }
            (7, Physical::ByteArray | Physical::Fixed(_)) => {
                let mut walk = Delta::new(page, at)?;
                walk.skip_all(page)?;
                let (kept, lengths) = (Delta::new(page, at)?, Delta::new(page, walk.at)?);
                let mut walk = Delta::new(page, walk.at)?;
                walk.skip_all(page)?;
                Values::DeltaBytes { kept, lengths, at: walk.at, last: Vec::new() }
            }
            (9, _) => match width_of(physical) {
                Some(width) => Values::Split { start: at, i: 0, n: (end - at.min(end)) / width },
                None => return Err(no_encoding(encoding)),
            },
            _ => return Err(no_encoding(encoding)),
        })
    }

    pub(crate) fn next<'a>(
        &'a mut self,
        page: &'a [u8],
        dictionary: Option<&'a Dictionary>,
        physical: Physical,
        buffer: &'a mut [u8; 16],
    ) -> Result<Raw<'a>, Error> {
        match self {
            Values::Plain { at } => {
                let span = plain_span(page, at, physical)?;
                Ok(raw(&page[span], physical))
            }
            Values::PlainBits { bit } => {
                if *bit / 8 >= page.len() as u64 {
                    return Err(cut_short());
                }
                let value = bits(page, *bit, 1) == 1;
                *bit += 1;
                Ok(Raw::Bool(value))
            }
            Values::Runs(runs) => Ok(Raw::Bool(runs.next(page)? == 1)),
            Values::Dictionary(indices) => {
                let i = indices.next(page)?;
                let none = || Error::damaged("a column has no dictionary");
                dictionary.ok_or_else(none)?.get(i, physical)
            }
            Values::Delta(delta) => Ok(Raw::Int(match physical {
                Physical::Int32 => i64::from(delta.next(page)? as i32),
                _ => delta.next(page)?,
            })),
            Values::DeltaLength { lengths, at } => {
                Ok(Raw::Bytes(take(page, at, lengths.next(page)?)?))
            }
            Values::DeltaBytes { kept, lengths, at, last } => {
                let kept = usize::try_from(kept.next(page)?).ok().filter(|n| *n <= last.len());
                last.truncate(kept.ok_or_else(cut_short)?);
                last.extend_from_slice(take(page, at, lengths.next(page)?)?);
                let is_short = matches!(physical, Physical::Fixed(n) if n != last.len());
                if is_short { Err(cut_short()) } else { Ok(Raw::Bytes(last)) }
            }
            Values::Split { start, i, n } => {
                let width = width_of(physical).unwrap_or(0);
                if *i >= *n || width > buffer.len() {
                    return Err(cut_short());
                }
                for (k, byte) in buffer[..width].iter_mut().enumerate() {
                    *byte = page[*start + k * *n + *i];
                }
                *i += 1;
                Ok(raw(&buffer[..width], physical))
            }
        }
    }
}

fn cut_short() -> Error {
    Error::damaged("a page is cut short")
}

fn no_encoding(number: i64) -> Error {
    Error::unread(format!("has values in encoding {number}, which is not known for their type"))
}

/// The bytes of each value, where that is the same for all.
fn width_of(physical: Physical) -> Option<usize> {
    match physical {
        Physical::Int32 | Physical::Float => Some(4),
        Physical::Int64 | Physical::Double => Some(8),
        Physical::Int96 => Some(12),
        Physical::Fixed(n) => Some(n),
        Physical::Boolean | Physical::ByteArray => None,
    }
}

/// Where the next value is, of those that stand one behind the other.
fn plain_span(
    page: &[u8],
    at: &mut usize,
    physical: Physical,
) -> Result<std::ops::Range<usize>, Error> {
    let n = match width_of(physical) {
        Some(n) => n,
        None if physical == Physical::Boolean => 1,
        None => {
            let n = little_endian(page.get(*at..*at + 4).ok_or_else(cut_short)?);
            *at += 4;
            n as usize
        }
    };
    let end = at.checked_add(n).filter(|end| *end <= page.len()).ok_or_else(cut_short)?;
    let span = *at..end;
    *at = end;
    Ok(span)
}

fn take<'a>(page: &'a [u8], at: &mut usize, n: i64) -> Result<&'a [u8], Error> {
    let end = usize::try_from(n).ok().and_then(|n| at.checked_add(n)).ok_or_else(cut_short)?;
    let bytes = page.get(*at..end).ok_or_else(cut_short)?;
    *at = end;
    Ok(bytes)
}

/// Bytes as a value of their type.
fn raw(bytes: &[u8], physical: Physical) -> Raw<'_> {
    match physical {
        Physical::Boolean => Raw::Bool(bytes.first() == Some(&1)),
        Physical::Int32 => Raw::Int(i64::from(little_endian(bytes) as i32)),
        Physical::Int64 => Raw::Int(little_endian(bytes) as i64),
        Physical::Float => Raw::Float(f32::from_bits(little_endian(bytes) as u32)),
        Physical::Double => Raw::Double(f64::from_bits(little_endian(bytes))),
        Physical::Int96 | Physical::ByteArray | Physical::Fixed(_) => Raw::Bytes(bytes),
    }
}

/// Whole numbers by their differences, in blocks whose differences are packed.
#[derive(Debug)]
pub(crate) struct Delta {
    at: usize,
    /// Values that are left.
    left: u64,
    value: i64,
    per_miniblock: u64,
    n_miniblocks: usize,
    /// Widths of the miniblocks of this block that are not read yet.
    widths: Vec<u8>,
    smallest: i64,
    /// Differences that are left of this miniblock, where they are and how wide.
    in_miniblock: u64,
    bit: u64,
    width: u32,
    is_first: bool,
}

impl Delta {
    fn new(page: &[u8], at: usize) -> Result<Self, Error> {
        let mut at = at;
        let mut number = || {
            let (value, n) = varint(page.get(at..).unwrap_or_default()).ok_or_else(cut_short)?;
            at += n;
            Ok::<u64, Error>(value)
        };
        let (per_block, n_miniblocks, left, first) = (number()?, number()?, number()?, number()?);
        let is_sound = n_miniblocks > 0
            && n_miniblocks <= 4096
            && per_block % n_miniblocks == 0
            && per_block / n_miniblocks > 0
            && per_block / n_miniblocks % 8 == 0
            && per_block <= 1 << 24;
        if !is_sound {
            return Err(Error::damaged("a page has blocks of no possible size"));
        }
        Ok(Self {
            at,
            left,
            value: unzigzag(first),
            per_miniblock: per_block / n_miniblocks,
            n_miniblocks: n_miniblocks as usize,
            widths: Vec::new(),
            smallest: 0,
            in_miniblock: 0,
            bit: 0,
            width: 0,
            is_first: true,
        })
    }

    fn next(&mut self, page: &[u8]) -> Result<i64, Error> {
        self.left = self.left.checked_sub(1).ok_or_else(cut_short)?;
        if std::mem::take(&mut self.is_first) {
            return Ok(self.value);
        }
        if self.in_miniblock == 0 {
            self.start_miniblock(page)?;
        }
        self.in_miniblock -= 1;
        let step = bits(page, self.bit, self.width) as i64;
        self.bit += u64::from(self.width);
        self.value = self.value.wrapping_add(self.smallest).wrapping_add(step);
        Ok(self.value)
    }

    fn start_miniblock(&mut self, page: &[u8]) -> Result<(), Error> {
        if self.widths.is_empty() {
            let rest = page.get(self.at..).unwrap_or_default();
            let (smallest, n) = varint(rest).ok_or_else(cut_short)?;
            self.smallest = unzigzag(smallest);
            let widths = rest.get(n..n + self.n_miniblocks).ok_or_else(cut_short)?;
            self.widths = widths.iter().rev().copied().collect();
            self.at += n + self.n_miniblocks;
        }
        self.width = u32::from(self.widths.pop().unwrap_or(0));
        if self.width > 64 {
            return Err(Error::damaged("a page has numbers of more than 64 bits"));
        }
        self.in_miniblock = self.per_miniblock;
        self.bit = 8 * self.at as u64;
        let n_bytes = (self.per_miniblock * u64::from(self.width) / 8) as usize;
        // The last miniblock may be cut off behind the last value.
        self.at = self.at.saturating_add(n_bytes).min(page.len());
        Ok(())
    }

    /// Goes to the end of all values, whose bytes are then before `at`. Only headers are looked at.
    fn skip_all(&mut self, page: &[u8]) -> Result<(), Error> {
        let mut left = self.left.saturating_sub(1);
        while left > 0 {
            self.start_miniblock(page)?;
            left = left.saturating_sub(self.per_miniblock);
        }
        // Miniblocks without values may have widths, but have no bytes.
        self.left = 0;
        Ok(())
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(encoding: i64, page: &[u8], physical: Physical, n: usize) -> Vec<String> {
        let mut values = Values::new(encoding, page, 0, physical).unwrap();
        let mut buffer = [0; 16];
        (0..n)
            .map(|_| format!("{:?}", values.next(page, None, physical, &mut buffer).unwrap()))
            .collect()
    }

    #[test]
    fn differences_as_in_the_description_of_the_format() {
        // 1, 2, 3, 4, 5 and 7, 5, 3, 1, 2, 3, 4, 5: examples 1 and 2 of Encodings.md, in blocks of 8 and one miniblock.
        let page = [8, 1, 5, 2, 2, 0];
        let ints: Vec<String> = (1..6).map(|i| format!("Int({i})")).collect();
        assert_eq!(all(5, &page, Physical::Int64, 5), ints);
        let page = [8, 1, 8, 14, 3, 2, 0b1100_0000, 0b0011_1111];
        let expected = ["7", "5", "3", "1", "2", "3", "4", "5"].map(|i| format!("Int({i})"));
        assert_eq!(all(5, &page, Physical::Int32, 8), expected);
    }

    #[test]
    fn lengths_and_prefixes_by_differences() {
        // "axis", "axle", "babble": kept 0, 2, 0; the rest "axis", "le", "babble".
        let kept = [8, 1, 3, 0, 3, 3, 4, 0, 0];
        let lengths = [8, 1, 3, 8, 3, 3, 0b0011_0000, 0, 0];
        let page = [&kept[..], &lengths, b"axislebabble"].concat();
        let texts = all(7, &page, Physical::ByteArray, 3);
        assert_eq!(texts[1], format!("{:?}", Raw::Bytes(b"axle")));
        assert_eq!(texts[2], format!("{:?}", Raw::Bytes(b"babble")));
        let page = [&lengths[..], b"axislebabble"].concat();
        assert_eq!(all(6, &page, Physical::ByteArray, 2)[1], format!("{:?}", Raw::Bytes(b"le")));
    }

    #[test]
    fn bytes_that_are_split() {
        let page = [0, 0, 0, 0, 0x80, 0, 0x3f, 0x40];
        assert_eq!(all(9, &page, Physical::Float, 2), ["Float(1.0)", "Float(2.0)"]);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let mut buffer = [0; 16];
        for (encoding, page, physical) in [
            (0, &[1, 2, 3][..], Physical::Int32),
            (0, &[9, 0, 0, 0, 1], Physical::ByteArray),
            (0, &[], Physical::Boolean),
            (8, &[1, 3, 1], Physical::Int32),
            (5, &[8, 1, 0, 0], Physical::Int64),
            (9, &[1, 2, 3], Physical::Float),
        ] {
            let mut values = Values::new(encoding, page, 0, physical).unwrap();
            assert!(values.next(page, None, physical, &mut buffer).is_err(), "{page:?}");
        }
        for (encoding, page) in [(5, &[7, 1, 1, 0][..]), (5, &[0, 0, 1, 0]), (6, &[8]), (77, &[1])]
        {
            assert!(Values::new(encoding, page, 0, Physical::ByteArray).is_err());
            assert!(Values::new(encoding, page, 0, Physical::Int64).is_err());
        }
    }
}
