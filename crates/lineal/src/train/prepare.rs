//! From a dataset to what a solver sees: rows held out, weights multiplied, features scaled.

use crate::Error;
use crate::request::spec::{ClassWeight, Standardize, TrainSpec};
use lineal_data::{ColumnScale, Dataset, Schema, Standardizer, Targets};
use lineal_linalg::Matrix;
use lineal_model::Bias;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::borrow::Cow;

/// Training rows, and held-out rows if there are any, ready for a solver.
pub(crate) struct Prepared<'a> {
    pub x: Cow<'a, Matrix>,
    pub y: Cow<'a, Targets>,
    /// Example weights times class weights; `None` where all are 1.
    pub weights: Option<Vec<f32>>,
    pub held_out: Option<(Cow<'a, Matrix>, Cow<'a, Targets>)>,
    pub scaling: Option<Standardizer>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(
        data: &'a Dataset,
        spec: &TrainSpec,
        held_out: Option<&'a Dataset>,
    ) -> Result<Self, Error> {
        if let Some(set) = held_out.filter(|set| {
            set.schema.n_features != data.schema.n_features || set.y.len() != set.n_rows()
        }) {
            return Err(Error::request(format!(
                "{}: the held-out set must be read with the training data's schema and have labels",
                set.source
            )));
        }
        let (rows, held_rows) = split(data.n_rows(), spec, held_out.is_some())?;
        let pick = |rows: &[usize]| {
            let picked = data.select(rows);
            (Cow::Owned(picked.x), Cow::Owned(picked.y))
        };
        let (mut x, y) = match &rows {
            Some(rows) => pick(rows),
            None => (Cow::Borrowed(&data.x), Cow::Borrowed(&data.y)),
        };
        let weights = example_weights(data, spec, rows.as_deref());
        let mut held_out = match (held_out, &held_rows) {
            (Some(set), _) => Some((Cow::Borrowed(&set.x), Cow::Borrowed(&set.y))),
            (None, rows) => rows.as_deref().map(pick),
        };
        let scaling = scaling(&x, &data.schema, weights.as_deref(), spec);
        if let Some(scaling) = &scaling {
            scaling.apply(x.to_mut());
            if let Some((x, _)) = &mut held_out {
                scaling.apply(x.to_mut());
            }
        }
        Ok(Self { x, y, weights, held_out, scaling })
    }

    /// The sum of the example weights.
    pub(crate) fn total_weight(&self) -> f64 {
        match &self.weights {
            Some(weights) => weights.iter().map(|&w| f64::from(w)).sum(),
            None => self.x.n_rows() as f64,
        }
    }
}

/// How features are brought to one scale, if they are.
pub(crate) fn scaling(
    x: &Matrix,
    schema: &Schema,
    weights: Option<&[f32]>,
    spec: &TrainSpec,
) -> Option<Standardizer> {
    let is_table = schema.columns.is_some();
    let mut scaling = match spec.standardize {
        Standardize::Never => return None,
        // Numbers beside text, or under a map, have been rescaled when features were made.
        Standardize::Numbers if !is_table || schema.n_computed > 0 => return None,
        Standardize::All if !is_table || schema.n_computed > 0 => Standardizer::fit(x, weights),
        Standardize::Numbers | Standardize::All => {
            Standardizer::fit_columns(x, weights, &schema.number_features())
        }
    };
    // Only a free bias makes up for centring; elsewhere it would be another model.
    scaling.mean = scaling.mean.filter(|_| spec.bias == Bias::Free);
    Some(scaling)
}

/// Columns of categories are measured for explanations, unless they have more values than this in all.
const MOST_CATEGORIES: usize = 4096;

/// Mean and deviation of the numbers and categories of a table at training, for explanations: `scaling` has those of the numbers.
pub(crate) fn averages(
    data: &Dataset,
    scaling: &Standardizer,
    spec: &TrainSpec,
) -> Vec<ColumnScale> {
    let mut columns = scaling.columns();
    let categories: Vec<usize> = data.schema.category_features().into_iter().flatten().collect();
    if spec.bias == Bias::Free && data.schema.n_computed == 0 && categories.len() <= MOST_CATEGORIES
    {
        let of_categories =
            Standardizer::fit_columns(&data.x, data.weights.as_deref(), &categories);
        columns.extend(of_categories.columns());
        columns.sort_unstable_by_key(|column| column.at);
        columns.dedup_by_key(|column| column.at);
    }
    columns
}

/// Examples to train on and those to hold out, both rising, or `None` for all and none.
type Split = (Option<Vec<usize>>, Option<Vec<usize>>);

/// Holds out the share of `n` examples that the spec asks for, unless a set of its own is `given`.
pub(crate) fn split(n: usize, spec: &TrainSpec, given: bool) -> Result<Split, Error> {
    if given {
        return Ok((None, None));
    }
    if spec.validation == 0.0 {
        if spec.patience.is_some() {
            return Err(Error::request(
                "spec.patience needs spec.validation, because early stopping measures held-out examples",
            ));
        }
        return Ok((None, None));
    }
    if n < 2 {
        return Err(Error::request("spec.validation needs at least two examples"));
    }
    let n_held = ((n as f64 * spec.validation).round() as usize).clamp(1, n - 1);
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut Pcg64Mcg::seed_from_u64(spec.seed ^ 0x5eed));
    let mut train = order.split_off(n_held);
    train.sort_unstable();
    order.sort_unstable();
    Ok((Some(train), Some(order)))
}

/// Example weights times class weights, or `None` where all are 1.
pub(crate) fn example_weights(
    data: &Dataset,
    spec: &TrainSpec,
    rows: Option<&[usize]>,
) -> Option<Vec<f32>> {
    let all: Vec<usize>;
    let rows = match rows {
        Some(rows) => rows,
        None => {
            all = (0..data.n_rows()).collect();
            &all
        }
    };
    let base = |i: usize| data.weights.as_ref().map_or(1.0, |w| w[i]);
    let (Targets::Classes(y), false) = (&data.y, spec.class_weight == ClassWeight::Equal) else {
        return data.weights.as_ref().map(|_| rows.iter().map(|&i| base(i)).collect());
    };
    let classes = &data.schema.classes;
    let factor: Vec<f32> = match &spec.class_weight {
        ClassWeight::Equal => vec![1.0; classes.len()],
        ClassWeight::Named(named) => {
            let of = |c: &String| {
                named.iter().find(|(name, _)| name == c).map_or(1.0, |(_, w)| *w as f32)
            };
            classes.iter().map(of).collect()
        }
        ClassWeight::Balanced => {
            let mut count = vec![0.0f64; classes.len()];
            rows.iter().for_each(|&i| count[y[i] as usize] += f64::from(base(i)));
            let total: f64 = count.iter().sum();
            let even = total / classes.len() as f64;
            count.iter().map(|&c| if c > 0.0 { (even / c) as f32 } else { 0.0 }).collect()
        }
    };
    Some(rows.iter().map(|&i| base(i) * factor[y[i] as usize]).collect())
}
