//! Which columns a map is of, and which interact.

use super::{FeatureSpec, said};
use crate::Error;
use lineal_data::{ColumnKind, Dataset, Schema};
use lineal_features::map::{Columns, FeatureMap, Interaction};
use std::ops::Range;

/// The map that a specification asks for, learnt on rows as they are; `None` if it asks for none.
pub(super) fn learn(spec: &FeatureSpec, data: &Dataset) -> Result<Option<FeatureMap>, Error> {
    if spec.map.is_none() && spec.interact.is_empty() {
        return Ok(None);
    }
    let crosses: Result<Vec<_>, Error> =
        spec.interact.iter().map(|interaction| cross(interaction, data)).collect();
    let numbers = numbers(&data.schema);
    let columns = Columns { numbers, crosses: crosses?, map: spec.map, seed: spec.seed };
    let fail = |e| Error::request(format!("{}: {}", data.source, said(&e)));
    FeatureMap::learn(columns, &data.x).map(Some).map_err(fail)
}

/// All features that are numbers: in a table its columns of numbers, elsewhere everything.
fn numbers(schema: &Schema) -> Vec<Range<u32>> {
    let Some(columns) = &schema.columns else {
        return (schema.n_read() > 0).then_some(0..schema.n_read() as u32).into_iter().collect();
    };
    let spans = columns.iter().filter_map(|column| match &column.kind {
        ColumnKind::Numeric { at, .. } | ColumnKind::Time { at, .. } => Some(*at..*at + 1),
        ColumnKind::Vector { at, len } => Some(*at..*at + *len),
        ColumnKind::Named { at, names } => Some(*at..*at + names.len()),
        _ => None,
    });
    let mut joined: Vec<Range<u32>> = Vec::new();
    for span in spans.filter(|span| !span.is_empty()) {
        let span = span.start as u32..span.end as u32;
        match joined.last_mut() {
            Some(last) if last.end == span.start => last.end = span.end,
            _ => joined.push(span),
        }
    }
    joined
}

fn cross(interaction: &Interaction, data: &Dataset) -> Result<[Range<u32>; 2], Error> {
    let fail = |why: String| {
        Err(Error::request(format!("{}: spec.interact = {interaction}: {why}", data.source)))
    };
    let [a, b] = &interaction.columns;
    let mut spans = Vec::new();
    for name in [a, b] {
        match find(&data.schema, name) {
            Ok(span) => spans.push(span),
            Err(why) => return fail(why),
        }
    }
    let [first, second] = [spans[0].clone(), spans[1].clone()];
    if first == second && first.len() > 1 {
        return fail("a column of categories with itself says nothing new".into());
    }
    Ok([first, second])
}

/// The features of a column; or a single one by its name, such as `color=red`, or 17 in a LIBSVM file.
fn find(schema: &Schema, name: &str) -> Result<Range<u32>, String> {
    let column = schema.columns.iter().flatten().find(|column| column.name == name);
    let span = match column.map(|column| &column.kind) {
        Some(ColumnKind::Numeric { at, .. } | ColumnKind::Time { at, .. }) => *at..*at + 1,
        Some(ColumnKind::Categorical { at, values }) => *at..*at + values.len(),
        Some(ColumnKind::Vector { at, len }) => *at..*at + *len,
        Some(ColumnKind::Named { at, names }) => *at..*at + names.len(),
        Some(ColumnKind::Text { .. }) => {
            return Err(format!("`{name}` is text; numbers and categories interact"));
        }
        Some(ColumnKind::Hashed { .. }) => {
            return Err(format!(
                "`{name}` is hashed, and has no features of its own; leave out spec.text.hash_bits"
            ));
        }
        Some(ColumnKind::Label) => {
            return Err(format!("`{name}` is the label; columns that predict it interact"));
        }
        Some(_) => return Err(format!("`{name}` is not used as a feature")),
        None => match (0..schema.n_read()).find(|&j| schema.feature_name(j) == name) {
            Some(j) => j..j + 1,
            None => {
                let names: Vec<&str> =
                    schema.columns.iter().flatten().map(|c| c.name.as_str()).take(10).collect();
                let known = if names.is_empty() {
                    format!("features are numbered from 1 to {}", schema.n_read())
                } else {
                    format!("the columns are {}", names.join(", "))
                };
                return Err(format!("there is no column `{name}`; {known}"));
            }
        },
    };
    if span.is_empty() {
        return Err(format!("`{name}` has no value in any row"));
    }
    Ok(span.start as u32..span.end as u32)
}
