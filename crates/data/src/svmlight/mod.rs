//! LIBSVM and svmlight: `label index:value …`, one example per line.
//!
//! The file is cut at line ends into pieces of a fixed size that are scanned side by side (`scan`), each
//! into its own stretch of the final arrays: counting colons first tells how long that is. Then columns get
//! their numbers (`columns`) and labels (`label`) their classes (`targets`).

mod columns;
mod irregularities;
mod label;
mod query;
mod scan;
mod stream;
mod targets;

use std::ops::Range;

use lineal_linalg::{Csr, Matrix};
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, ErrorKind, place};
use crate::format::Format;
use crate::labels::ClassIndex;
use crate::schema::{Schema, TargetKind};
use crate::source::without_bom;
use irregularities::Irregularities;
use label::{LabelRule, RawLabels};
use scan::{Piece, Slots};

pub(crate) use stream::{learn_schema, stream};

/// Bytes per piece. Fixed, so that the work is cut the same at any number of threads.
const PIECE: usize = 1 << 20;

/// Reads and learns the schema.
pub(crate) fn read(bytes: &[u8], file: &str, target: TargetKind) -> Result<Dataset, Error> {
    let parsed = parse(without_bom(bytes), file, LabelRule { target, required: true })?;
    let mut warnings = parsed.odd.warnings(file);
    let queries = query::whole(&parsed, without_bom(bytes), file, target)?;
    let (idx, val) = (parsed.idx, parsed.val);
    let found = columns::learn(idx, parsed.max_index);
    let (classes, y) = targets::learn(parsed.labels, target);
    let schema = Schema {
        format: Some(Format::Svmlight),
        target,
        classes,
        n_features: found.n_features,
        columns: None,
        feature_ids: found.ids,
        n_computed: 0,
        image: None,
        no_header: false,
        delimiter: None,
        decimal_comma: false,
        encoding: None,
    };
    if schema.n_features == 0 {
        warnings.push(format!("{file}: no row has a feature"));
    }
    let x = matrix(schema.n_features, parsed.indptr, found.idx, val, file)?;
    let (weights, source) = (parsed.weights, file.to_owned());
    Ok(Dataset { x, y, weights, queries, schema, warnings, source })
}

/// Reads with the schema of training.
pub(crate) fn read_with(bytes: &[u8], file: &str, schema: &Schema) -> Result<Dataset, Error> {
    let rule = LabelRule { target: schema.target, required: false };
    let mut parsed = parse(without_bom(bytes), file, rule)?;
    let queries = query::whole(&parsed, without_bom(bytes), file, schema.target)?;
    columns::apply(&mut parsed, schema);
    let mut index = ClassIndex::new(&schema.classes);
    let y = targets::apply(parsed.labels, schema.target, &mut index, file)?;
    let mut warnings = parsed.odd.warnings(file);
    warnings.extend(index.warning(file, schema.target));
    let x = matrix(schema.n_read(), parsed.indptr, parsed.idx, parsed.val, file)?;
    let (weights, schema) = (parsed.weights, schema.clone());
    Ok(Dataset { x, y, weights, queries, schema, warnings, source: file.to_owned() })
}

fn matrix(
    n_cols: usize,
    indptr: Vec<usize>,
    idx: Vec<u32>,
    val: Vec<f32>,
    file: &str,
) -> Result<Matrix, Error> {
    Csr::new(n_cols, indptr, idx, val)
        .map(Matrix::Sparse)
        .map_err(|e| Error::new(ErrorKind::Value, file, e.to_string()))
}

/// A whole file. `idx` counts from 0; a row is `indptr[i]..indptr[i+1]`.
pub(crate) struct Parsed {
    indptr: Vec<usize>,
    idx: Vec<u32>,
    val: Vec<f32>,
    /// The largest index that occurs, counted from 1.
    max_index: u32,
    labels: RawLabels,
    weights: Option<Vec<f32>>,
    /// Where queries begin, for grades: the row, and the name in the text.
    queries: Vec<(usize, Range<usize>)>,
    odd: Irregularities,
}

fn parse(text: &[u8], file: &str, rule: LabelRule) -> Result<Parsed, Error> {
    let spans = cut(text);
    let room: Vec<usize> = spans.par_iter().map(|s| room_for(&text[s.clone()])).collect();
    let total = room.iter().sum();
    // Zeroed memory comes untouched from the system: pages are first written by the thread that scans.
    let (mut idx, mut val) = (vec![0u32; total], vec![0f32; total]);
    let mut work = Vec::with_capacity(spans.len());
    let (mut idx_rest, mut val_rest) = (&mut idx[..], &mut val[..]);
    for (span, &n) in spans.into_iter().zip(&room) {
        let (slot_idx, idx_after) = idx_rest.split_at_mut(n);
        let (slot_val, val_after) = val_rest.split_at_mut(n);
        (idx_rest, val_rest) = (idx_after, val_after);
        work.push((span, Slots { idx: slot_idx, val: slot_val }));
    }
    let pieces: Vec<Piece> =
        work.into_par_iter().map(|(span, slots)| scan::scan(text, span, slots, rule)).collect();

    if let Some(fault) = pieces.iter().find_map(|piece| piece.fault.as_ref()) {
        return Err(Error::at(fault.kind, file, text, fault.offset, fault.message.clone()));
    }
    let n_rows: usize = pieces.iter().map(|piece| piece.row_ends.len()).sum();
    if n_rows == 0 {
        let message = match rule.target {
            TargetKind::Grades => {
                "no rows; a LETOR file has one `grade qid:N index:value …` per line"
            }
            _ => "no rows; a LIBSVM file has one `label index:value …` per line",
        };
        return Err(Error::new(ErrorKind::Empty, file, message));
    }
    Ok(join(pieces, &room, idx, val, n_rows, text))
}

/// Pieces of about [`PIECE`] bytes that end after a newline.
fn cut(text: &[u8]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let near = (start + PIECE).min(text.len());
        let end =
            text[near..].iter().position(|&b| b == b'\n').map_or(text.len(), |n| near + n + 1);
        spans.push(start..end);
        start = end;
    }
    spans
}

/// An upper bound of the features in a piece: each has a colon, and takes four bytes with its blank.
fn room_for(piece: &[u8]) -> usize {
    // Sums of bytes vectorise; 255 of them cannot overflow one.
    let colons: usize = piece
        .chunks(255)
        .map(|run| usize::from(run.iter().map(|&b| u8::from(b == b':')).sum::<u8>()))
        .sum();
    colons.min(piece.len() / 4 + 1)
}

fn join(
    pieces: Vec<Piece>,
    room: &[usize],
    mut idx: Vec<u32>,
    mut val: Vec<f32>,
    n_rows: usize,
    text: &[u8],
) -> Parsed {
    let mut indptr = Vec::with_capacity(n_rows + 1);
    indptr.push(0);
    let mut labels = RawLabels::default();
    labels.numbers.reserve(n_rows);
    let mut weights: Option<Vec<f32>> = None;
    let (mut nnz, mut slot, mut max_index) = (0, 0, 0);
    let mut odd = Irregularities::default();
    let mut queries: Vec<(usize, Range<usize>)> = Vec::new();
    for (piece, &room) in pieces.into_iter().zip(room) {
        let len = piece.row_ends.last().copied().unwrap_or(0);
        // Comments with colons and explicit zeros leave gaps: close them.
        if slot != nnz {
            idx.copy_within(slot..slot + len, nnz);
            val.copy_within(slot..slot + len, nnz);
        }
        let first_row = indptr.len() - 1;
        indptr.extend(piece.row_ends.iter().map(|end| nnz + end));
        labels.append(piece.labels);
        if weights.is_none() && !piece.weights.is_empty() {
            weights = Some(vec![1.0; n_rows]);
        }
        if let Some(weights) = &mut weights {
            for (row, weight) in piece.weights {
                weights[first_row + row] = weight;
            }
        }
        for (row, name) in piece.queries {
            let goes_on =
                queries.last().is_some_and(|(_, last)| text[last.clone()] == text[name.clone()]);
            if !goes_on {
                queries.push((first_row + row, name));
            }
        }
        max_index = max_index.max(piece.max_index);
        odd.n_unsorted += piece.n_unsorted;
        if odd.first_unsorted.is_none() {
            odd.first_unsorted = piece.first_unsorted.map(|offset| place(text, offset).0);
        }
        for (name, offset) in piece.duplicates {
            odd.duplicates.add(&name, || {
                let (line, column) = place(text, offset);
                (line, Some(column))
            });
        }
        nnz += len;
        slot += room;
    }
    idx.truncate(nnz);
    val.truncate(nnz);
    Parsed { indptr, idx, val, max_index, labels, weights, queries, odd }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Targets;

    fn dataset(text: &str) -> Dataset {
        read(text.as_bytes(), "t.svm", TargetKind::Classes).unwrap()
    }

    #[test]
    fn a_small_file() {
        let d = dataset("# comment 1:2\n+1 1:0.5 3:-2\r\n\n-1\n1.0 2:1e2 # 7:7\n");
        assert_eq!(d.schema.classes, ["-1", "1"]);
        assert_eq!(d.y, Targets::Classes(vec![1, 0, 1]));
        assert_eq!((d.x.n_rows(), d.x.n_cols(), d.x.nnz()), (3, 3, 3));
        assert_eq!(d.x.row(0), lineal_linalg::Row::sparse(&[0, 2], &[0.5, -2.0]).unwrap());
        assert_eq!(d.x.row(2), lineal_linalg::Row::sparse(&[1], &[100.0]).unwrap());
        assert!(d.warnings.is_empty() && d.weights.is_none());
    }

    #[test]
    fn out_of_order_is_sorted_and_said_once() {
        let d = dataset("1 3:3 1:1 2:2\n2 1:1\n1 2:2 1:1\n2 5:1 4:4\n");
        assert_eq!(d.x.row(0), lineal_linalg::Row::sparse(&[0, 1, 2], &[1.0, 2.0, 3.0]).unwrap());
        assert_eq!(d.warnings, ["t.svm:1: indices out of order; sorted (and 2 more rows)"]);
    }

    #[test]
    fn explicit_zeros_are_not_stored_but_count_as_columns() {
        let d = dataset("1 1:0 2:5 9:0\n2 1:1\n");
        assert_eq!((d.x.nnz(), d.x.n_cols()), (2, 9));
    }

    #[test]
    fn weights_follow_a_bar() {
        let d = dataset("+1|2.5 1:1\n-1 1:2\n-1|0 1:3\n");
        assert_eq!(d.weights, Some(vec![2.5, 1.0, 0.0]));
    }

    #[test]
    fn pieces_join_without_a_seam() {
        let line = "1 1:1 2:0 7:0.25 # 9:9\n-1\n3 7:1 2:1\n";
        let n = 3 * PIECE / line.len();
        let d = dataset(&line.repeat(n));
        assert_eq!((d.x.n_rows(), d.x.nnz(), d.x.n_cols()), (3 * n, 4 * n, 7));
        assert_eq!(d.x.row(3 * n - 1), lineal_linalg::Row::sparse(&[1, 6], &[1.0, 1.0]).unwrap());
        assert_eq!(d.schema.classes, ["-1", "1", "3"]);
    }
}
