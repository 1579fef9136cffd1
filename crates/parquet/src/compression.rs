//! Pages out of what they are compressed by.
//!
//! A page says how large it is when unpacked. That is a claim: nothing is allocated for it beforehand, and what unpacks to more or less is refused.

use crate::Error;
use crate::levels::{little_endian, varint};
use std::io::Read;

/// The format's number of a codec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Codec {
    None,
    Snappy,
    Gzip,
    Zstd,
    Lz4,
}

impl Codec {
    pub(crate) fn new(number: i64) -> Result<Self, Error> {
        let name = match number {
            0 => return Ok(Codec::None),
            1 => return Ok(Codec::Snappy),
            2 => return Ok(Codec::Gzip),
            6 => return Ok(Codec::Zstd),
            7 => return Ok(Codec::Lz4),
            3 => "LZO",
            4 => "Brotli",
            5 => "the older form of LZ4",
            _ => return Err(Error::damaged("a column is compressed by no known method")),
        };
        Err(Error::unread(format!(
            "is compressed by {name}; write it with compression=\"zstd\" or \"snappy\""
        )))
    }

    /// Appends `n` bytes that were packed.
    pub(crate) fn unpack(self, packed: &[u8], n: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let before = out.len();
        match self {
            Codec::None => out.extend_from_slice(packed),
            Codec::Snappy => snappy(packed, n, out)?,
            Codec::Gzip => drain(flate2::read::MultiGzDecoder::new(packed), n, out)?,
            Codec::Zstd => unzstd(packed, n, out)?,
            Codec::Lz4 => lz4(packed, n, out)?,
        }
        if out.len() - before == n {
            return Ok(());
        }
        Err(Error::damaged("a page is not as long as it says"))
    }
}

/// At most one byte more than there may be, so that a packed gigabyte is noticed.
fn drain(from: impl Read, n: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let read = from.take(n as u64 + 1).read_to_end(out);
    read.map(|_| ()).map_err(|e| Error::damaged(format!("a page does not unpack: {e}")))
}

#[cfg(feature = "zstd")]
fn unzstd(packed: &[u8], n: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let decoder = zstd::stream::read::Decoder::with_buffer(packed);
    drain(decoder.map_err(|e| Error::damaged(format!("a page does not unpack: {e}")))?, n, out)
}

#[cfg(not(feature = "zstd"))]
fn unzstd(_packed: &[u8], _n: usize, _out: &mut Vec<u8>) -> Result<(), Error> {
    Err(Error::unread(
        "is compressed by zstd, and this program was built without the feature `zstd`; write it with \
         compression=\"snappy\"",
    ))
}

/// Literals and copies of what came before (github.com/google/snappy, format_description.txt).
fn snappy(packed: &[u8], n: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let bad = || Error::damaged("a page does not unpack (snappy)");
    let (length, mut at) = varint(packed).ok_or_else(bad)?;
    if length != n as u64 {
        return Err(bad());
    }
    let start = out.len();
    while let Some(&tag) = packed.get(at) {
        at += 1;
        let (offset, count) = match tag & 3 {
            0 => {
                let extra = usize::from(tag >> 2).saturating_sub(59);
                let count = match extra {
                    0 => usize::from(tag >> 2) + 1,
                    _ => little_endian(packed.get(at..at + extra).ok_or_else(bad)?) as usize + 1,
                };
                at += extra;
                let end = at.checked_add(count).ok_or_else(bad)?;
                out.extend_from_slice(packed.get(at..end).ok_or_else(bad)?);
                at = end;
                continue;
            }
            1 => {
                let low = usize::from(*packed.get(at).ok_or_else(bad)?);
                at += 1;
                (usize::from(tag >> 5) << 8 | low, usize::from(tag >> 2 & 7) + 4)
            }
            kind => {
                let width = if kind == 2 { 2 } else { 4 };
                let offset = little_endian(packed.get(at..at + width).ok_or_else(bad)?) as usize;
                at += width;
                (offset, usize::from(tag >> 2) + 1)
            }
        };
        copy(out, start, offset, count, n).ok_or_else(bad)?;
    }
    Ok(())
}

/// Sequences of literals and a copy (github.com/lz4/lz4, lz4_Block_format.md).
fn lz4(packed: &[u8], n: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let bad = || Error::damaged("a page does not unpack (lz4)");
    let (start, mut at) = (out.len(), 0);
    let more = |at: &mut usize, count: usize| {
        let mut count = count;
        if count == 15 {
            loop {
                let byte = usize::from(*packed.get(*at)?);
                *at += 1;
                count = count.checked_add(byte)?;
                if byte < 255 {
                    break;
                }
            }
        }
        Some(count)
    };
    while let Some(&token) = packed.get(at) {
        at += 1;
        let count = more(&mut at, usize::from(token >> 4)).ok_or_else(bad)?;
        let end = at.checked_add(count).ok_or_else(bad)?;
        out.extend_from_slice(packed.get(at..end).ok_or_else(bad)?);
        at = end;
        if at == packed.len() {
            break;
        }
        let offset = little_endian(packed.get(at..at + 2).ok_or_else(bad)?) as usize;
        at += 2;
        let count = more(&mut at, usize::from(token & 15)).ok_or_else(bad)?;
        copy(out, start, offset, count.checked_add(4).ok_or_else(bad)?, n).ok_or_else(bad)?;
    }
    Ok(())
}

/// Appends `count` bytes that stand `offset` before the end, and may overlap with what is appended. `None` if they are not there, or there are more than `n` then.
fn copy(out: &mut Vec<u8>, start: usize, offset: usize, count: usize, n: usize) -> Option<()> {
    let have = out.len() - start;
    if offset == 0 || offset > have || count > n.checked_sub(have)? {
        return None;
    }
    let from = out.len() - offset;
    if offset >= count {
        out.extend_from_within(from..from + count);
    } else {
        (0..count).for_each(|i| out.push(out[from + i]));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_copies() {
        // A literal of three, a copy of nine from three before, a copy of two from one before.
        let packed = [14, 0x08, b'a', b'b', b'c', 0x15, 3, 0x06, 1, 0];
        let mut out = b"before".to_vec();
        Codec::Snappy.unpack(&packed, 14, &mut out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
        assert_eq!(out, b"beforeabcabcabcabccc");
        let mut out = Vec::new();
        // Two literals, a copy of 4 + 4 from 2 before, a last literal.
        Codec::Lz4.unpack(&[0x24, b'x', b'y', 2, 0, 0x10, b'z'], 11, &mut out).unwrap();
        assert_eq!(out, b"xyxyxyxyxyz");
    }

    #[test]
    fn false_sizes_are_errors() {
        for (codec, packed, n) in [
            (Codec::Snappy, &[14, 0x08, b'a'][..], 14),
            (Codec::Snappy, &[4, 0x0c, b'a', b'b', b'c', b'd'], 5),
            (Codec::Snappy, &[200, 1, 0, b'a', 0xfe, 1, 0], 200),
            (Codec::Snappy, &[9, 0, b'a', 0x15, 3], 9),
            (Codec::Lz4, &[0x1f, b'a', 1, 0, 255, 255, 255, 0], 20),
            (Codec::Lz4, &[0xf0, 255], 20),
            (Codec::None, b"abc", 2),
            (Codec::Gzip, b"abc", 3),
            (Codec::Zstd, b"abc", 3),
        ] {
            assert!(codec.unpack(packed, n, &mut Vec::new()).is_err(), "{codec:?} {packed:?}");
        }
        assert!(Codec::new(4).unwrap_err().to_string().contains("Brotli"));
    }
}
