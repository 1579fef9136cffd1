//! Weights of which many are zero, as a file holds them: the others, and a bit for each weight that says whether it is one of them.
//!
//! A class that is told from the others by the squared hinge has no weight for a word that occurs in rows far on the right side only: of character n-grams of many classes most weights
//! are zero. Nothing is rounded to zero, so that a packed model is the same model. Packed weights are unpacked when they are loaded.

use crate::train::weights::Weights;
use lineal_linalg::{Scalar, memory};
use lineal_model::file::{self, ModelFile, TensorData};

/// The name of the tensor of bits, the lowest of a word first.
pub(crate) const MASK: &str = "weights.nonzero";

/// The name of the tensor that says which shape the weights have when they are unpacked.
pub(crate) const SHAPE: &str = "weights.shape";

/// Tables of fewer weights than this are easier to read from other programs as they are.
const SMALL: usize = 1 << 16;

/// The bits and the weights that are not zero, where the table is large and at least a quarter of it is zero.
pub(crate) fn pack(table: TensorData<'_>) -> Option<(Vec<u32>, Weights)> {
    let n = match table {
        TensorData::F32(w) => w.len(),
        TensorData::F64(w) => w.len(),
        _ => 0,
    };
    if n < SMALL { None } else { pack_any(table) }
}

fn pack_any(table: TensorData<'_>) -> Option<(Vec<u32>, Weights)> {
    fn packed<F: Scalar>(table: &[F]) -> Option<(Vec<u32>, Vec<F>)> {
        let n = table.iter().filter(|&&w| w != F::ZERO).count();
        // A file has no empty tensors.
        if n == 0 || n > table.len() / 4 * 3 {
            return None;
        }
        let mut mask = vec![0u32; table.len().div_ceil(32)];
        let mut kept = Vec::with_capacity(n);
        for (at, &w) in table.iter().enumerate() {
            if w != F::ZERO {
                mask[at / 32] |= 1 << (at % 32);
                kept.push(w);
            }
        }
        Some((mask, kept))
    }
    match table {
        TensorData::F32(w) => packed(w).map(|(mask, w)| (mask, Weights::F32(w))),
        TensorData::F64(w) => packed(w).map(|(mask, w)| (mask, Weights::F64(w))),
        _ => None,
    }
}

/// All of the `n` weights, where a file has them packed; `Err` where its parts do not fit each other.
pub(crate) fn unpack(
    file: &ModelFile,
    weights: &str,
    n: usize,
) -> Result<Option<Weights>, file::Error> {
    fn spread<F: Scalar>(kept: &[F], mask: &[u32], n: usize) -> Vec<F> {
        let mut all = vec![F::ZERO; n];
        let mut kept = kept.iter();
        for (word, out) in mask.iter().zip(all.chunks_mut(32)) {
            let mut word = *word;
            while word != 0 {
                if let (Some(out), Some(&w)) =
                    (out.get_mut(word.trailing_zeros() as usize), kept.next())
                {
                    *out = w;
                }
                word &= word - 1;
            }
        }
        all
    }
    let Some(mask) = file.u32(MASK)? else { return Ok(None) };
    let ones: usize = mask.iter().map(|word| word.count_ones() as usize).sum();
    let beyond = if n.is_multiple_of(32) { 0 } else { !0 << (n % 32) };
    let shape = file.u32(SHAPE)?.unwrap_or_default();
    let n_said = shape.iter().try_fold(1usize, |n, &m| n.checked_mul(m as usize));
    let fits = mask.len() == n.div_ceil(32)
        && n_said == Some(n)
        && mask.last().is_none_or(|last| last & beyond == 0)
        && file.shape(weights) == Some(&[ones])
        && memory::can_reserve(8 * n as u64);
    match file.tensor(weights)?.filter(|_| fits) {
        Some(TensorData::F32(kept)) => Ok(Some(Weights::F32(spread(kept, mask, n)))),
        Some(TensorData::F64(kept)) => Ok(Some(Weights::F64(spread(kept, mask, n)))),
        _ => Err(file.bad_tensor(MASK, "its bits are not those of the weights")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(mask: &[u32], weights: &[f32], n: u32) -> ModelFile {
        let tensors = [
            ("w", vec![weights.len()], TensorData::F32(weights)),
            (SHAPE, vec![2], TensorData::U32(&[n, 1])),
            (MASK, vec![mask.len()], TensorData::U32(mask)),
        ];
        ModelFile::from_bytes(file::encode(&json!({}), &tensors).unwrap()).unwrap()
    }

    #[test]
    fn weights_come_back_and_full_tables_are_left_alone() {
        let mut table = vec![0.0f32; 70];
        (table[0], table[33], table[69]) = (1.0, -2.0, f32::MIN_POSITIVE);
        let (mask, Weights::F32(kept)) = pack_any(TensorData::F32(&table)).unwrap() else {
            panic!("of f32")
        };
        assert_eq!((mask.as_slice(), kept.len()), (&[1, 2, 32][..], 3));
        let Some(Weights::F32(all)) = unpack(&file(&mask, &kept, 70), "w", 70).unwrap() else {
            panic!("of f32")
        };
        assert_eq!(all, table);
        assert!(pack(TensorData::F32(&table)).is_none());
        assert!(pack_any(TensorData::F64(&[1.0, 2.0, 3.0, 4.0, 0.0])).is_none());
        assert!(pack_any(TensorData::F32(&[0.0; 8])).is_none());
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let fits =
            |mask: &[u32], kept: &[f32], n| unpack(&file(mask, kept, n as u32), "w", n).is_ok();
        assert!(fits(&[0b101], &[1.0, 2.0], 3));
        assert!(!fits(&[0b101], &[1.0], 3));
        assert!(!fits(&[0b1101], &[1.0, 2.0, 3.0], 3));
        assert!(!fits(&[0b101, 0], &[1.0, 2.0], 3));
        assert!(!fits(&[0b101], &[1.0, 2.0], usize::MAX));
        assert!(unpack(&file(&[0b101], &[1.0, 2.0], 4), "w", 3).is_err());
    }
}
