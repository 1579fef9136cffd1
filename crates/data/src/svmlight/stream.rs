//! LIBSVM files in chunks of rows.

use std::ops::ControlFlow;

use super::irregularities::Irregularities;
use super::label::LabelRule;
use super::{columns, matrix, parse, query, targets};
use crate::blocks::{Input, RowEnd, Step};
use crate::dataset::Dataset;
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::labels::ClassIndex;
use crate::queries::QueryIndex;
use crate::schema::{Schema, TargetKind};
use crate::stream::{Learnt, OnChunk};

/// A chunk has at most about so many bytes, however many rows were asked for.
const CHUNK_BYTES: usize = 64 << 20;

/// Gives chunks of rows, read with a schema.
pub(crate) fn stream(
    input: &Input,
    file: &str,
    schema: &Schema,
    grow_classes: bool,
    rows_per_chunk: usize,
    f: OnChunk<'_>,
) -> Result<Learnt, Error> {
    let rule = LabelRule { target: schema.target, required: false };
    let mut index = match grow_classes {
        true => ClassIndex::growing(&schema.classes),
        false => ClassIndex::new(&schema.classes),
    };
    let grown = |index: &ClassIndex| {
        let mut schema = schema.clone();
        schema.classes.extend_from_slice(index.fresh());
        schema
    };
    let mut odd = Irregularities::default();
    let mut n_rows = 0;
    let by_query = schema.target == TargetKind::Grades;
    let mut seen = QueryIndex::default();
    for_each_chunk(input, file, schema.target, rows_per_chunk, &mut |text, n_lines_before| {
        let mut parsed = parse(text, file, rule).map_err(|e| e.below(n_lines_before))?;
        let queries = match by_query {
            true => Some(query::collect(&parsed, text, n_lines_before, &mut seen, file)?),
            false => None,
        };
        columns::apply(&mut parsed, schema);
        odd.add(std::mem::take(&mut parsed.odd), n_lines_before);
        let y = targets::apply(parsed.labels, schema.target, &mut index, file)?;
        // A chunk without labels is not a file without.
        let y = targets::or_empty(y, schema.target, parsed.indptr.len() - 1);
        let x = matrix(schema.n_read(), parsed.indptr, parsed.idx, parsed.val, file)?;
        n_rows += x.n_rows();
        let (weights, source) = (parsed.weights, file.to_owned());
        let (schema, warnings) = (grown(&index), Vec::new());
        f(Dataset { x, y, weights, queries, schema, warnings, source }, None)
    })?;
    if n_rows == 0 {
        return Err(Error::new(ErrorKind::Empty, file, "no rows"));
    }
    let mut warnings = odd.warnings(file);
    warnings.extend(index.warning(file, schema.target));
    Ok(Learnt { schema: grown(&index), n_rows, warnings })
}

/// Learns the schema from the first rows. Each index up to the largest has a column, also those that did not
/// occur: they may later.
pub(crate) fn learn_schema(
    input: &Input,
    file: &str,
    target: TargetKind,
    n_rows: usize,
) -> Result<Learnt, Error> {
    let mut sample = Vec::new();
    for_each_chunk(input, file, target, n_rows, &mut |text, _| {
        sample = text.to_vec();
        Ok(ControlFlow::Break(()))
    })?;
    let parsed = parse(&sample, file, LabelRule { target, required: true })?;
    query::whole(&parsed, &sample, file, target)?;
    let (classes, _) = targets::learn(parsed.labels, target);
    let schema = Schema {
        format: Some(Format::Svmlight),
        target,
        classes,
        n_features: parsed.max_index as usize,
        columns: None,
        feature_ids: None,
        n_computed: 0,
        image: None,
        no_header: false,
        delimiter: None,
        decimal_comma: false,
        encoding: None,
    };
    let warnings = parsed.odd.warnings(file);
    Ok(Learnt { schema, n_rows: parsed.indptr.len() - 1, warnings })
}

/// Calls `f` with the text of `n_rows` rows at a time, and how many lines come before it. For grades, queries are not cut: a chunk ends with the first query
/// that ends after so many rows.
fn for_each_chunk(
    input: &Input,
    file: &str,
    target: TargetKind,
    n_rows: usize,
    f: &mut dyn FnMut(&[u8], usize) -> Step,
) -> Result<(), Error> {
    let by_query = target == TargetKind::Grades;
    let mut chunk = Chunk::default();
    let mut query = Vec::new();
    let mut n_lines_before = 0;
    let mut hand_over = |chunk: &mut Chunk, n_lines_before: &mut usize| {
        let step = f(&chunk.text, *n_lines_before)?;
        *n_lines_before += chunk.n_lines;
        chunk.clear();
        Ok::<_, Error>(step)
    };
    input.for_each_block(file, RowEnd::Newline, &mut |block| {
        let mut rest = block.text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |n| n + 1);
            let (line, after) = rest.split_at(end);
            rest = after;
            let is_row = is_row(line, target);
            if by_query && is_row {
                let of_line = query::of_line(line);
                if chunk.is_full(n_rows)
                    && query != of_line
                    && hand_over(&mut chunk, &mut n_lines_before)?.is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
                query.clear();
                query.extend_from_slice(of_line);
            }
            chunk.text.extend_from_slice(line);
            chunk.n_lines += 1;
            chunk.n_rows += usize::from(is_row);
            if !by_query
                && chunk.is_full(n_rows)
                && hand_over(&mut chunk, &mut n_lines_before)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        // Comments alone shall not pile up.
        if chunk.n_rows == 0 {
            n_lines_before += chunk.n_lines;
            chunk.clear();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if chunk.n_rows > 0 {
        let _: ControlFlow<()> = hand_over(&mut chunk, &mut n_lines_before)?;
    }
    Ok(())
}

/// Lines that are not handed over yet.
#[derive(Default)]
struct Chunk {
    text: Vec<u8>,
    n_rows: usize,
    n_lines: usize,
}

impl Chunk {
    fn is_full(&self, n_rows: usize) -> bool {
        self.n_rows >= n_rows || self.text.len() >= CHUNK_BYTES && self.n_rows > 0
    }

    fn clear(&mut self) {
        self.text.clear();
        (self.n_rows, self.n_lines) = (0, 0);
    }
}

/// Whether the scanner makes a row of a line.
pub(super) fn is_row(line: &[u8], target: TargetKind) -> bool {
    match line.iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r')) {
        Some(b'#') => false,
        None | Some(b'\n') => {
            target == TargetKind::Labels && matches!(line.first(), Some(b' ' | b'\t'))
        }
        Some(_) => true,
    }
}
