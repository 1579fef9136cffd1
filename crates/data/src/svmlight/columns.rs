//! Which column a LIBSVM index becomes.

use rayon::prelude::*;

use super::Parsed;
use crate::schema::Schema;

/// Columns that were found: `idx` renumbered where `ids` tells the original indices.
pub(super) struct Found {
    pub(super) n_features: usize,
    pub(super) idx: Vec<u32>,
    pub(super) ids: Option<Vec<u32>>,
}

/// One column an index, unless there are many and seven in eight never occur (hashes, say), so that their weights would cost more than the
/// others': then one column for each index that occurs.
pub(super) fn learn(mut idx: Vec<u32>, max_index: u32) -> Found {
    const SMALL: usize = 1 << 17;
    let n_features = max_index as usize;
    if n_features <= SMALL || n_features <= idx.len() / 64 {
        return Found { n_features, idx, ids: None };
    }
    let ids = if n_features <= 16 * idx.len() + (1 << 20) {
        let mut occurs = vec![false; n_features];
        idx.iter().for_each(|&j| occurs[j as usize] = true);
        let ids: Vec<u32> = (0..max_index).filter(|&j| occurs[j as usize]).collect();
        if 8 * ids.len() > n_features {
            return Found { n_features, idx, ids: None };
        }
        let mut place = vec![0u32; n_features];
        (0..).zip(&ids).for_each(|(at, &j)| place[j as usize] = at);
        idx.par_iter_mut().for_each(|j| *j = place[*j as usize]);
        ids
    } else {
        let mut ids = idx.clone();
        ids.par_sort_unstable();
        ids.dedup();
        idx.par_iter_mut().for_each(|j| *j = position(&ids, *j).unwrap_or_default());
        ids
    };
    let ids: Vec<u32> = ids.into_iter().map(|id| id + 1).collect();
    Found { n_features: ids.len(), idx, ids: Some(ids) }
}

/// Renumbers as at training and drops what training did not have.
pub(super) fn apply(parsed: &mut Parsed, schema: &Schema) {
    if schema.feature_ids.is_none() && parsed.max_index as usize <= schema.n_read() {
        return;
    }
    let ids: Option<Vec<u32>> =
        schema.feature_ids.as_ref().map(|ids| ids.iter().map(|id| id.saturating_sub(1)).collect());
    let (mut kept, mut start) = (0, 0);
    let (mut n_rows, before) = (0usize, parsed.idx.len());
    for end in &mut parsed.indptr[1..] {
        let row = start..*end;
        let row_kept = kept;
        for k in row.clone() {
            let column = match &ids {
                Some(ids) => position(ids, parsed.idx[k]),
                None => Some(parsed.idx[k]).filter(|&j| (j as usize) < schema.n_read()),
            };
            if let Some(column) = column {
                (parsed.idx[kept], parsed.val[kept]) = (column, parsed.val[k]);
                kept += 1;
            }
        }
        n_rows += usize::from(kept - row_kept < row.len());
        start = *end;
        *end = kept;
    }
    parsed.idx.truncate(kept);
    parsed.val.truncate(kept);
    parsed.odd.n_dropped += before - kept;
    parsed.odd.n_dropped_rows += n_rows;
}

fn position(ids: &[u32], id: u32) -> Option<u32> {
    ids.binary_search(&id).ok().map(|k| k as u32)
}

#[cfg(test)]
mod tests {
    use super::super::{read, read_with};
    use crate::schema::TargetKind;

    fn train(text: &str) -> crate::Dataset {
        read(text.as_bytes(), "t", TargetKind::Classes).unwrap()
    }

    #[test]
    fn huge_indices_are_compacted() {
        let d = train("1 7:1 4294967294:2\n2 9:3\n");
        assert_eq!(d.x.n_cols(), 3);
        assert_eq!(d.schema.feature_ids, Some(vec![7, 9, 4_294_967_294]));
        assert_eq!(d.x.row(0), lineal_linalg::Row::sparse(&[0, 2], &[1.0, 2.0]).unwrap());
        let t = read_with(b"1 8:1 9:2\n7:5 4294967294:1\n", "t", &d.schema).unwrap();
        assert_eq!(t.x.row(0), lineal_linalg::Row::sparse(&[1], &[2.0]).unwrap());
        assert_eq!(t.x.row(1), lineal_linalg::Row::sparse(&[0, 2], &[5.0, 1.0]).unwrap());
        assert!(t.warnings[0].contains("1 feature value in 1 row"), "{:?}", t.warnings);
    }

    #[test]
    fn features_beyond_training_are_dropped_and_counted() {
        let d = train("1 1:1 3:1\n2 2:1\n");
        let t = read_with(b"1 1:1 3:2 4:1\n2 4:1 5:1\n2 2:2\n", "t", &d.schema).unwrap();
        assert_eq!((t.x.n_cols(), t.x.nnz()), (3, 3));
        assert!(t.warnings[0].contains("3 feature values in 2 rows"), "{:?}", t.warnings);
        assert_eq!(read_with(b"1 1:1\n", "t", &d.schema).unwrap().x.n_cols(), 3);
    }
}
