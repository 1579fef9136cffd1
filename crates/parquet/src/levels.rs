//! Whole numbers of few bits: runs of one value, and groups of eight that are packed. Levels, numbers of dictionary entries and truths are stored so.

use crate::Error;

/// Values one after the other. Runs are not written out, so a page takes no more memory than its bytes.
#[derive(Debug, Default)]
pub(crate) struct Hybrid {
    at: usize,
    end: usize,
    width: u32,
    run: Run,
}

#[derive(Debug, Default)]
enum Run {
    #[default]
    None,
    Same {
        left: u64,
        value: u32,
    },
    Packed {
        left: u64,
        bit: u64,
    },
}

impl Hybrid {
    /// Of the bytes `at..end` of a page.
    pub(crate) fn new(at: usize, end: usize, width: u32) -> Result<Self, Error> {
        if width > 32 {
            return Err(Error::damaged(format!("numbers of {width} bits")));
        }
        Ok(Self { at, end, width, run: Run::None })
    }

    pub(crate) fn next(&mut self, page: &[u8]) -> Result<u32, Error> {
        loop {
            match &mut self.run {
                Run::Same { left, value } if *left > 0 => {
                    *left -= 1;
                    return Ok(*value);
                }
                Run::Packed { left, bit } if *left > 0 => {
                    *left -= 1;
                    let value = bits(&page[..self.end], *bit, self.width) as u32;
                    *bit += u64::from(self.width);
                    return Ok(value);
                }
                _ => self.run = self.start(page)?,
            }
        }
    }

    fn start(&mut self, page: &[u8]) -> Result<Run, Error> {
        let bytes = page.get(self.at..self.end).unwrap_or_default();
        let (head, n) = varint(bytes).ok_or_else(cut_short)?;
        self.at += n;
        let rest = self.end - self.at;
        if head & 1 == 1 {
            // The last group may be cut off behind the last value: what is not there is 0.
            let n_bytes = (head >> 1).saturating_mul(u64::from(self.width));
            let bit = 8 * self.at as u64;
            if rest == 0 && n_bytes > 0 || head == 1 {
                return Err(cut_short());
            }
            self.at += usize::try_from(n_bytes).map_or(rest, |n| n.min(rest));
            return Ok(Run::Packed { left: (head >> 1).saturating_mul(8), bit });
        }
        let n = self.width.div_ceil(8) as usize;
        if head == 0 || rest < n {
            return Err(cut_short());
        }
        let value = little_endian(&page[self.at..self.at + n]) as u32;
        self.at += n;
        Ok(Run::Same { left: head >> 1, value })
    }
}

fn cut_short() -> Error {
    Error::damaged("a page is cut short")
}

/// A number of seven bits per byte, and how many bytes it takes.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (i, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if *byte < 0x80 {
            return Some((value, i + 1));
        }
    }
    None
}

/// Up to 64 bits from a place on, the lowest first; what is beyond the bytes is 0.
pub(crate) fn bits(bytes: &[u8], bit: u64, width: u32) -> u64 {
    let first = usize::try_from(bit / 8).unwrap_or(usize::MAX);
    let tail = bytes.get(first..).unwrap_or_default();
    let shift = (bit % 8) as u32;
    let mut word = [0; 16];
    let n = tail.len().min(9);
    word[..n].copy_from_slice(&tail[..n]);
    let value = (u128::from_le_bytes(word) >> shift) as u64;
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

/// Up to eight bytes, the lowest first.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_groups_alternate() {
        // Five times 3, then 0 to 7 in three bits (the example of the format's description), then 300 times 1.
        let page = [10, 3, 0b11, 0x88, 0xc6, 0xfa, 0xd8, 0x04, 1];
        let mut values = Hybrid::new(0, page.len(), 3).unwrap();
        let all: Vec<u32> = (0..313).map(|_| values.next(&page).unwrap()).collect();
        assert_eq!(all[..13], [3, 3, 3, 3, 3, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(all[13..].iter().all(|v| *v == 1));
        assert!(values.next(&page).is_err());
    }

    #[test]
    fn bits_from_any_place() {
        let bytes = [0b1010_0101, 0xff, 0, 0x80];
        assert_eq!((bits(&bytes, 0, 4), bits(&bytes, 4, 6), bits(&bytes, 31, 8)), (5, 58, 1));
        assert_eq!((bits(&bytes, 400, 8), bits(&bytes, u64::MAX, 64)), (0, 0));
    }

    #[test]
    fn a_group_may_end_with_the_page_and_a_run_may_not() {
        let mut values = Hybrid::new(0, 2, 1).unwrap();
        let page = [3, 0b101];
        assert_eq!((0..8).map(|_| values.next(&page).unwrap()).sum::<u32>(), 2);
        assert!(Hybrid::new(0, 1, 8).unwrap().next(&[4]).is_err());
        assert!(Hybrid::new(0, 1, 8).unwrap().next(&[0]).is_err());
        assert!(Hybrid::new(0, 0, 33).is_err());
    }
}
