//! Tables of weights in which many are zero, as bytes: the places of those that are not, and their values.
//!
//! Hashed features leave places empty, and making a model small empties more. Places are one bit for each weight or, where that is shorter, the gaps between them, seven bits per
//! byte with the high bit set in all but the last byte of a gap; the first byte tells which. A value takes four bytes, or one where a `step` is given: (byte − 128) · step.

/// A table as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedTable {
    /// Where the weights are that are not zero.
    pub places: Vec<u8>,
    /// These weights, in order.
    pub values: PackedValues,
}

/// Weights in four bytes each, or in one.
#[derive(Clone, Debug, PartialEq)]
pub enum PackedValues {
    /// As they are.
    F32(Vec<f32>),
    /// (byte − 128) · step.
    Bytes(Vec<u8>),
}

/// The first byte of places.
const BITS: u8 = 0;
const GAPS: u8 = 1;

impl PackedTable {
    /// Leaves out weights whose size is not above `cut`.
    pub fn new(w: &[f32], cut: f32, step: Option<f32>) -> Self {
        let byte = |w: f32, step: f32| ((w / step).round().clamp(-128.0, 127.0) + 128.0) as u8;
        let keep = |w: f32| w.abs() > cut && step.is_none_or(|step| byte(w, step) != 128);
        let kept: Vec<usize> = (0..w.len()).filter(|&at| keep(w[at])).collect();
        let bits = bits(&kept, w.len());
        let gaps = gaps(&kept, bits.len());
        let values = match step {
            None => PackedValues::F32(kept.iter().map(|&at| w[at]).collect()),
            Some(step) => PackedValues::Bytes(kept.iter().map(|&at| byte(w[at], step)).collect()),
        };
        Self { places: gaps.unwrap_or(bits), values }
    }

    /// The table of `n` weights, if these are its parts.
    pub fn unpack(places: &[u8], values: ValuesOf<'_>, n: usize) -> Option<Vec<f32>> {
        let mut w = vec![0.0; n];
        // Tables are read all over.
        lineal_linalg::prefer_large_pages(&w);
        let mut next = 0;
        let mut put = |at: usize| {
            let value = values.get(next)?;
            *w.get_mut(at)? = value;
            next += 1;
            value.is_finite().then_some(())
        };
        match places.split_first()? {
            (&BITS, bits) if bits.len() == n.div_ceil(8) => {
                for (at, &byte) in bits.iter().enumerate() {
                    (0..8)
                        .filter(|bit| byte >> bit & 1 == 1)
                        .try_for_each(|bit| put(8 * at + bit))?;
                }
            }
            (&GAPS, gaps) => {
                let (mut at, mut gap, mut shift) = (0usize, 0usize, 0);
                for &byte in gaps {
                    if shift > 28 {
                        return None;
                    }
                    gap |= usize::from(byte & 0x7f) << shift;
                    shift += 7;
                    if byte & 0x80 == 0 {
                        at = at.checked_add(gap)?;
                        put(at)?;
                        (at, gap, shift) = (at + 1, 0, 0);
                    }
                }
                if shift != 0 {
                    return None;
                }
            }
            _ => return None,
        }
        (next == values.len()).then_some(w)
    }

    /// How many weights are not zero.
    pub fn n_weights(&self) -> usize {
        match &self.values {
            PackedValues::F32(values) => values.len(),
            PackedValues::Bytes(values) => values.len(),
        }
    }
}

fn bits(kept: &[usize], n: usize) -> Vec<u8> {
    let mut bits = vec![0u8; 1 + n.div_ceil(8)];
    bits[0] = BITS;
    kept.iter().for_each(|at| bits[1 + at / 8] |= 1 << (at % 8));
    bits
}

/// The gaps, unless they take more than so many bytes.
fn gaps(kept: &[usize], most: usize) -> Option<Vec<u8>> {
    let mut gaps = vec![GAPS];
    let mut last = 0;
    for &at in kept {
        let mut gap = at - last;
        while gap > 0x7f {
            gaps.push(gap as u8 | 0x80);
            gap >>= 7;
        }
        gaps.push(gap as u8);
        last = at + 1;
        if gaps.len() > most {
            return None;
        }
    }
    Some(gaps)
}

/// Stored values, borrowed.
#[derive(Clone, Copy, Debug)]
pub enum ValuesOf<'a> {
    /// As they are.
    F32(&'a [f32]),
    /// (byte − 128) · step.
    Bytes(&'a [u8], f32),
}

impl ValuesOf<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::Bytes(values, _) => values.len(),
        }
    }

    fn get(&self, at: usize) -> Option<f32> {
        match self {
            Self::F32(values) => values.get(at).copied(),
            Self::Bytes(values, step) => {
                values.get(at).map(|&byte| (f32::from(byte) - 128.0) * step)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(packed: &PackedTable, step: f32) -> ValuesOf<'_> {
        match &packed.values {
            PackedValues::F32(values) => ValuesOf::F32(values),
            PackedValues::Bytes(values) => ValuesOf::Bytes(values, step),
        }
    }

    #[test]
    fn what_is_packed_comes_back() {
        let few = [0.0, 1.5, -0.25, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, -127.0, 0.5];
        let mut sparse = vec![0.0; 100_000];
        [(3, 1.0), (4, -2.0), (131, 0.5), (70_000, 4.0), (99_999, 8.0)]
            .into_iter()
            .for_each(|(at, w)| sparse[at] = w);
        let dense: Vec<f32> = (0..1000).map(|i| (i % 3) as f32).collect();
        for w in [&few[..], &sparse, &dense, &[], &[0.0; 9], &[1.0; 8]] {
            let packed = PackedTable::new(w, 0.0, None);
            assert_eq!(packed.n_weights(), w.iter().filter(|w| **w != 0.0).count());
            let back = PackedTable::unpack(&packed.places, values(&packed, 1.0), w.len());
            assert_eq!(back.as_deref(), Some(w));
        }
        assert!(PackedTable::new(&sparse, 0.0, None).places.len() < 20);
        let small = PackedTable::new(&few, 0.3, Some(1.0));
        let back = PackedTable::unpack(&small.places, values(&small, 1.0), few.len()).unwrap();
        assert_eq!((back[1], back[2], back[5], back[9]), (2.0, 0.0, 3.0, -127.0));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let refused = |places: &[u8], values: &[f32], n: usize| {
            assert_eq!(PackedTable::unpack(places, ValuesOf::F32(values), n), None, "{places:?}");
        };
        refused(&[], &[], 0);
        refused(&[7], &[], 3);
        refused(&[BITS, 0b101], &[1.0], 3);
        refused(&[BITS, 0b101], &[1.0, 2.0, 3.0], 3);
        refused(&[BITS, 0b1001], &[1.0, 2.0], 3);
        refused(&[BITS, 0b101, 0], &[1.0, 2.0], 3);
        refused(&[BITS, 0b101], &[1.0, f32::NAN], 3);
        refused(&[GAPS, 0, 0], &[1.0], 3);
        refused(&[GAPS, 0, 5], &[1.0, 2.0], 3);
        refused(&[GAPS, 0x80], &[1.0], 3);
        refused(&[GAPS, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], &[1.0], 3);
    }
}
