//! Tables of weights in which many are zero, as bytes: one bit for each weight, and a value for each that is not zero.
//!
//! Hashed features leave places empty, and making a model small empties more. A value takes four bytes, or one where a `step` is given: (byte − 128) · step.

/// A table as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedTable {
    /// One bit for each weight, the first in the lowest bit of the first byte.
    pub bits: Vec<u8>,
    /// The weights that are not zero, in order.
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

impl PackedTable {
    /// Leaves out weights whose size is not above `cut`.
    pub fn new(w: &[f32], cut: f32, step: Option<f32>) -> Self {
        let mut bits = vec![0u8; w.len().div_ceil(8)];
        let byte = |w: f32, step: f32| ((w / step).round().clamp(-128.0, 127.0) + 128.0) as u8;
        let keep = |w: f32| w.abs() > cut && step.is_none_or(|step| byte(w, step) != 128);
        let mut kept = Vec::new();
        for (at, &w) in w.iter().enumerate().filter(|(_, w)| keep(**w)) {
            bits[at / 8] |= 1 << (at % 8);
            kept.push(w);
        }
        let values = match step {
            None => PackedValues::F32(kept),
            Some(step) => PackedValues::Bytes(kept.iter().map(|&w| byte(w, step)).collect()),
        };
        Self { bits, values }
    }

    /// The table of `n` weights, if these are its parts.
    pub fn unpack(bits: &[u8], values: ValuesOf<'_>, n: usize) -> Option<Vec<f32>> {
        let n_set: usize = bits.iter().map(|byte| byte.count_ones() as usize).sum();
        let past_the_end =
            bits.last().is_some_and(|&last| !n.is_multiple_of(8) && last >> (n % 8) != 0);
        if bits.len() != n.div_ceil(8) || n_set != values.len() || past_the_end {
            return None;
        }
        let mut w = vec![0.0; n];
        let mut next = 0;
        for (at, w) in w.iter_mut().enumerate() {
            if bits[at / 8] >> (at % 8) & 1 == 1 {
                *w = values.get(next);
                next += 1;
            }
        }
        w.iter().all(|w| w.is_finite()).then_some(w)
    }

    /// How many weights are not zero.
    pub fn n_weights(&self) -> usize {
        match &self.values {
            PackedValues::F32(values) => values.len(),
            PackedValues::Bytes(values) => values.len(),
        }
    }
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

    fn get(&self, at: usize) -> f32 {
        match self {
            Self::F32(values) => values[at],
            Self::Bytes(values, step) => (f32::from(values[at]) - 128.0) * step,
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
        let w = [0.0, 1.5, -0.25, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, -127.0, 0.5];
        let packed = PackedTable::new(&w, 0.0, None);
        assert_eq!(packed.n_weights(), 5);
        assert_eq!(
            PackedTable::unpack(&packed.bits, values(&packed, 1.0), w.len()),
            Some(w.to_vec())
        );
        let small = PackedTable::new(&w, 0.3, Some(1.0));
        let back = PackedTable::unpack(&small.bits, values(&small, 1.0), w.len()).unwrap();
        assert_eq!(back[1], 2.0);
        assert_eq!((back[2], back[5], back[9]), (0.0, 3.0, -127.0));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let packed = PackedTable::new(&[1.0, 0.0, 2.0], 0.0, None);
        assert_eq!(PackedTable::unpack(&packed.bits, values(&packed, 1.0), 9), None);
        assert_eq!(PackedTable::unpack(&packed.bits, ValuesOf::F32(&[1.0]), 3), None);
        assert_eq!(PackedTable::unpack(&[0b1001], ValuesOf::F32(&[1.0, 2.0]), 3), None);
        assert_eq!(PackedTable::unpack(&[0b101], ValuesOf::F32(&[1.0, f32::NAN]), 3), None);
    }
}
