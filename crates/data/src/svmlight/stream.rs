//! LIBSVM files in chunks of rows.

use std::ops::ControlFlow;

use super::label::LabelRule;
use super::odd::Odd;
use super::{columns, matrix, parse, targets};
use crate::blocks::{Input, RowEnd, Step};
use crate::dataset::Dataset;
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::labels::ClassIndex;
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
    let mut odd = Odd::default();
    let mut n_rows = 0;
    for_each_chunk(input, file, schema.target, rows_per_chunk, &mut |text, n_lines_before| {
        let mut parsed = parse(text, file, rule).map_err(|e| e.below(n_lines_before))?;
        columns::apply(&mut parsed, schema);
        odd.add(std::mem::take(&mut parsed.odd), n_lines_before);
        let y = targets::apply(parsed.labels, schema.target, &mut index, file)?;
        // A chunk without labels is not a file without.
        let y = targets::or_empty(y, schema.target, parsed.indptr.len() - 1);
        let x = matrix(schema.n_read(), parsed.indptr, parsed.idx, parsed.val, file)?;
        n_rows += x.n_rows();
        let (weights, source) = (parsed.weights, file.to_owned());
        f(Dataset { x, y, weights, schema: grown(&index), warnings: Vec::new(), source }, None)
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
    let (classes, _) = targets::learn(parsed.labels, target);
    let schema = Schema {
        format: Format::Svmlight,
        target,
        classes,
        n_features: parsed.max_index as usize,
        columns: None,
        feature_ids: None,
        made: 0,
        image: None,
    };
    let warnings = parsed.odd.warnings(file);
    Ok(Learnt { schema, n_rows: parsed.indptr.len() - 1, warnings })
}

/// Calls `f` with the text of `n_rows` rows at a time, and how many lines come before it.
fn for_each_chunk(
    input: &Input,
    file: &str,
    target: TargetKind,
    n_rows: usize,
    f: &mut dyn FnMut(&[u8], usize) -> Step,
) -> Result<(), Error> {
    let mut chunk = Vec::new();
    let (mut chunk_rows, mut chunk_lines, mut n_lines_before) = (0, 0, 0);
    let mut stopped = false;
    input.for_each_block(file, RowEnd::Newline, &mut |block| {
        let mut rest = block.text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |n| n + 1);
            let (line, after) = rest.split_at(end);
            rest = after;
            chunk.extend_from_slice(line);
            chunk_lines += 1;
            chunk_rows += usize::from(is_row(line, target));
            if chunk_rows == n_rows || chunk.len() >= CHUNK_BYTES && chunk_rows > 0 {
                let step = f(&chunk, n_lines_before)?;
                n_lines_before += chunk_lines;
                (chunk_rows, chunk_lines) = (0, 0);
                chunk.clear();
                if step.is_break() {
                    stopped = true;
                    return Ok(step);
                }
            }
        }
        // Comments alone shall not pile up.
        if chunk_rows == 0 {
            n_lines_before += std::mem::take(&mut chunk_lines);
            chunk.clear();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if chunk_rows > 0 && !stopped {
        let _: ControlFlow<()> = f(&chunk, n_lines_before)?;
    }
    Ok(())
}

/// Whether the scanner makes a row of a line.
fn is_row(line: &[u8], target: TargetKind) -> bool {
    match line.iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r')) {
        Some(b'#') => false,
        None | Some(b'\n') => {
            target == TargetKind::Labels && matches!(line.first(), Some(b' ' | b'\t'))
        }
        Some(_) => true,
    }
}
