//! Tables of which most rows are zero, as a file holds them: the other rows, and which they are.
//!
//! Hashed words fall on some of 2^bits rows. A model of 20,000 words and 1,000 classes would be a file of a gigabyte if all rows of its weights were written.
//! Such models are written without them, and spread out again when they are loaded: memory that nothing was written to costs nothing.

use crate::train::weights::Weights;
use lineal_linalg::{Scalar, memory};
use lineal_model::file::{ModelFile, TensorData};

/// The name of the tensor that says which rows the file holds.
pub(crate) const ROWS: &str = "rows";

/// More weights than this are a mistake, or a file that was made to fill the memory.
pub(crate) const MOST_WEIGHTS: usize = 1 << 32;

/// The rows, of `n_rows`, in which some table is not zero, and the first if there are none, for a file has at least one; `None` if these are most.
pub(crate) fn used(n_rows: usize, tables: &[TensorData<'_>]) -> Option<Vec<u32>> {
    fn any<F: Scalar>(table: &[F], n_rows: usize, row: usize) -> bool {
        let width = table.len() / n_rows;
        table[row * width..][..width].iter().any(|&value| value != F::ZERO)
    }
    let is_used = |row: usize| {
        tables.iter().any(|table| match table {
            TensorData::F32(table) => any(table, n_rows, row),
            TensorData::F64(table) => any(table, n_rows, row),
            _ => true,
        })
    };
    let mut rows: Vec<u32> =
        (0..n_rows).filter(|&row| is_used(row)).map(|row| row as u32).collect();
    if rows.is_empty() {
        rows.push(0);
    }
    (rows.len() < n_rows / 4 * 3).then_some(rows)
}

/// These rows of a table of `n_rows`, one after the other.
pub(crate) fn gather(table: TensorData<'_>, n_rows: usize, rows: &[u32]) -> Weights {
    fn some<F: Scalar>(table: &[F], n_rows: usize, rows: &[u32]) -> Vec<F> {
        let width = table.len() / n_rows.max(1);
        let mut out = Vec::with_capacity(rows.len() * width);
        rows.iter().for_each(|&r| out.extend_from_slice(&table[r as usize * width..][..width]));
        out
    }
    match table {
        TensorData::F64(table) => Weights::F64(some(table, n_rows, rows)),
        TensorData::F32(table) => Weights::F32(some(table, n_rows, rows)),
        _ => Weights::F32(Vec::new()),
    }
}

/// A table of `n_rows` that has these rows, the others being zero.
///
/// # Panics
/// If there are not as many rows as numbers of them, or one is not below `n_rows`: see [`checked`].
pub(crate) fn spread<F: Scalar>(table: &[F], n_rows: usize, rows: &[u32]) -> Vec<F> {
    let width = table.len() / rows.len().max(1);
    let mut wide = vec![F::ZERO; n_rows * width];
    for (part, &row) in table.chunks_exact(width.max(1)).zip(rows) {
        wide[row as usize * width..][..width].copy_from_slice(part);
    }
    wide
}

/// The rows that a file says it holds, of `n_rows` with so many columns; `Err` where that cannot be.
pub(crate) fn checked(
    file: &ModelFile,
    n_rows: usize,
    n_columns: usize,
) -> Result<Option<&[u32]>, lineal_model::file::Error> {
    let Some(rows) = file.u32(ROWS)? else { return Ok(None) };
    let rise = rows.is_sorted_by(|a, b| a < b);
    let end = rows.last().map_or(0, |&last| last as usize + 1);
    let n_weights = n_rows.checked_mul(n_columns).filter(|&n| n <= MOST_WEIGHTS);
    let has_room = n_weights.is_some_and(|n| memory::can_reserve(8 * n as u64));
    if !rise || rows.is_empty() || end > n_rows || !has_room {
        return Err(file.bad_tensor(ROWS, "it is not a list of rows of the weights"));
    }
    Ok(Some(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_to_their_places() {
        let mut table = vec![0.0f32; 40];
        table[6] = 1.0;
        table[39] = -2.0;
        let other = [0.0f64, 0.0, 0.0, 0.0, 0.0, 3.0].repeat(4)[..20].to_vec();
        let tables = [TensorData::F32(&table), TensorData::F64(&other)];
        assert_eq!(used(20, &tables[..1]).as_deref(), Some(&[3, 19][..]));
        let rows = used(20, &tables).unwrap();
        assert_eq!(rows, [3, 5, 11, 17, 19]);
        let Weights::F32(kept) = gather(tables[0], 20, &rows) else { panic!("of f32") };
        assert_eq!(kept, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0]);
        assert_eq!(spread(&kept, 20, &rows), table);
        assert_eq!(used(2, &[TensorData::F32(&[1.0, 0.0, 2.0, 0.0])]), None);
        assert_eq!(used(20, &[TensorData::F32(&[0.0; 20])]).as_deref(), Some(&[0][..]));
    }

    #[test]
    fn rows_that_cannot_be_are_refused() {
        let fits = |rows: &[u32], n_rows: usize| {
            let tensors = [(ROWS, vec![rows.len()], TensorData::U32(rows))];
            let bytes = lineal_model::file::encode(&serde_json::json!({}), &tensors).unwrap();
            let file = ModelFile::from_bytes(bytes).unwrap();
            checked(&file, n_rows, 2).is_ok_and(|found| found == Some(rows))
        };
        assert!(fits(&[0, 3, 7], 8));
        assert!(!fits(&[0, 3, 7], 7));
        assert!(!fits(&[3, 0], 8));
        assert!(!fits(&[3, 3], 8));
        assert!(!fits(&[], 8));
        assert!(!fits(&[1], MOST_WEIGHTS));
        assert!(!fits(&[1], usize::MAX));
    }
}
