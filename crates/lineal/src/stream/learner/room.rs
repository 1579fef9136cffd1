//! Room for features and classes that have not come before, and what is handed over without room to spare.

use super::{Learner, no_cost};
use crate::Error;
use crate::predict::layout;
use crate::predict::sparse_rows::MOST_WEIGHTS;
use crate::request::spec::{Strategy, Task, UpdateKind};
use crate::stream::places::{self, Places};
use lineal_data::Dataset;
use lineal_linalg::{Csr, Matrix, memory};
use lineal_solver::{Online, OnlineState};

impl Learner {
    /// For each column of weights: the one that it goes on from when classes come, and the factor on it.
    fn class_mapping(&self, before: usize, after: usize) -> Vec<Option<(usize, f32)>> {
        let n = self.n_outputs(after);
        // One weight vector f, for the second of two classes.
        let two = self.spec.task == Task::Classify && before <= 2 && after > 2;
        let by = if self.spec.strategy() == Strategy::Joint { 0.5 } else { 1.0 };
        match (self.spec.strategy(), two) {
            (Strategy::Ovo, _) if self.spec.task == Task::Classify && after > 2 => {
                let old = layout::pairs(before.max(2));
                let factor = if two { -1.0 } else { 1.0 };
                let origin = |pair| old.iter().position(|p| *p == pair).map(|at| (at, factor));
                layout::pairs(after).into_iter().map(origin).collect()
            }
            (_, true) => {
                let first = [Some((0, -by)), Some((0, by))];
                first.into_iter().chain(std::iter::repeat(None)).take(n).collect()
            }
            (_, false) => {
                let n_old = self.n_outputs(before);
                (0..n).map(|column| (column < n_old).then_some((column, 1.0))).collect()
            }
        }
    }

    /// Weights for features and classes that have not come before. The rows of the chunk by the places of their features, where these are not their indices.
    pub(super) fn make_room(
        &mut self,
        chunk: &Dataset,
        order: &[usize],
    ) -> Result<Option<Matrix>, Error> {
        let n_classes = self.n_classes.max(chunk.schema.classes.len());
        if let Some(cost) = &self.spec.cost
            && let Some(odd) = chunk.schema.classes.get(cost.classes.len())
        {
            return Err(no_cost(&chunk.source, odd));
        }
        let (before, new) = (self.n_classes, self.n_outputs(n_classes));
        let numbered = match &chunk.x {
            Matrix::Sparse(x) => self.make_places(x, new)?,
            Matrix::Dense(_) => None,
        };
        let n_features = self.n_features();
        let n_weights = self.n_rows(n_features).checked_mul(new);
        if n_weights.is_none_or(|n| n > MOST_WEIGHTS) {
            return Err(Error::request(format!(
                "{}: weights for {n_features} features × {new} outputs do not fit into memory; renumber the features",
                chunk.source
            )));
        }
        self.n_classes = n_classes;
        if self.online.is_none() {
            self.foresee(n_features, new, &chunk.source)?;
            let rate = self.spec.rate.unwrap_or_else(|| self.usual_rate(chunk, order, new));
            self.spec.rate = Some(rate);
            let mut online = Online::new(self.config(rate), self.n_rows(n_features), new);
            if self.spec.average {
                online.start_average();
            }
            self.online = Some(online);
            return Ok(numbered);
        }
        let n_rows = self.n_rows(n_features);
        let class_mapping = self.class_mapping(before, n_classes);
        let size = self.online.as_ref().map_or((0, 0), |o| (o.n_rows(), o.n_columns()));
        if n_rows > size.0 || new > size.1 {
            self.foresee(n_features, new, &chunk.source)?;
        }
        let Some(online) = &mut self.online else { return Ok(numbered) };
        if n_rows > online.n_rows() || new > online.n_columns() {
            // A little more than is needed, so that a file of ever larger indices is not copied with every chunk.
            let roomy =
                if n_rows > online.n_rows() { n_rows + n_rows / 4 } else { online.n_rows() };
            online.grow(roomy, new, |column| class_mapping[column]);
        }
        Ok(numbered)
    }

    /// Refuses tables that do not fit into memory before they are made.
    fn foresee(&self, n_features: usize, n_outputs: usize, source: &str) -> Result<(), Error> {
        let tables = match self.spec.update {
            Some(UpdateKind::Plain) => 1,
            _ => 2,
        };
        let bytes_each = 4 * tables + if self.spec.average { 8 } else { 0 };
        let bytes =
            (self.n_rows(n_features) as u64).saturating_mul((n_outputs * bytes_each) as u64);
        let what = format!("{source}: weights for {n_features} features × {n_outputs} outputs");
        // Of hashed tables few rows may ever be written to.
        let used = if self.by_index { bytes } else { 0 };
        memory::foresee(&what, bytes, used).map_err(Error::request)
    }

    /// Gives rows of the tables to the features of a chunk.
    fn make_places(&mut self, x: &Csr, n_outputs: usize) -> Result<Option<Matrix>, Error> {
        let n_indices = self.places.n_indices.max(places::largest(x));
        if !self.by_index {
            self.places.n_indices = n_indices;
            return Ok(None);
        }
        let bias = self.has_bias();
        let has_room = self.online.as_ref().is_some_and(|o| n_indices + bias <= o.n_rows());
        let mut distinct = None;
        if self.places.ids.is_none()
            && !has_room
            && Places::are_few(n_indices, n_outputs, 0)
            && let distinct = distinct.insert(places::distinct(x))
            && Places::are_few(n_indices, n_outputs, distinct.len())
        {
            let state = self.online.take().map(Online::into_state);
            let used = state.as_ref().map_or(Vec::new(), |state| places::used(state, bias));
            let is_sparse = Places::are_few(n_indices, n_outputs, used.len() + distinct.len());
            if is_sparse {
                self.places.ids = Some(used.iter().map(|&row| row as u32).collect());
            }
            if let Some(state) = state {
                self.put_back(match is_sparse {
                    true => places::moved(state, bias, used.len(), used.iter().copied().zip(0..)),
                    false => state,
                });
            }
        }
        self.places.n_indices = n_indices;
        let Some(ids) = &self.places.ids else { return Ok(None) };
        let distinct = distinct.unwrap_or_else(|| places::distinct(x));
        let all = places::merged(ids, &distinct);
        if all.len() > ids.len() {
            let to = Places { ids: Some(all), n_indices };
            if let Some(online) = self.online.take() {
                let at = to.of(ids).into_iter().map(|place| place as usize);
                let rows = (0..ids.len()).zip(at);
                let state = places::moved(online.into_state(), bias, to.n_features(), rows);
                self.put_back(state);
            }
            self.places = to;
        }
        let numbered = self.places.number(x, &distinct);
        numbered
            .map(Some)
            .map_err(|e| Error::request(format!("rows that contradict themselves: {e}")))
    }

    /// Hands over all that was learnt, without room to spare. Nothing is learnt any more unless it is [put back](Self::put_back).
    pub(in crate::stream) fn hand_over(&mut self) -> OnlineState {
        let (n_features, bias) = (self.n_features(), self.has_bias());
        let Some(online) = self.online.take() else { return OnlineState::default() };
        let mut state = online.into_state();
        let (n_rows, n_columns) = (state.n_rows, state.n_columns);
        state.weights = compact(state.weights, n_rows, n_columns, n_features, bias);
        state.squares = compact(state.squares, n_rows, n_columns, n_features, bias);
        state.largest = compact(state.largest, n_rows, 1, n_features, bias);
        state.sum = state
            .sum
            .map(|(sum, steps)| (compact(sum, n_rows, n_columns, n_features, bias), steps));
        state.n_rows = n_features + bias;
        if self.by_index { self.for_file(state) } else { state }
    }

    /// Rows for all indices, or for those alone that are used: as the tables ask for it, whatever is in use so far.
    fn for_file(&mut self, state: OnlineState) -> OnlineState {
        let (bias, n_indices) = (self.has_bias(), self.places.n_indices);
        if self.places.ids.is_none() && !Places::are_few_in_file(n_indices, 0) {
            return state;
        }
        let used = places::used(&state, bias);
        let id = |row: usize| self.places.ids.as_ref().map_or(row as u32, |ids| ids[row]);
        let ids: Vec<u32> = used.iter().map(|&row| id(row)).collect();
        if Places::are_few_in_file(n_indices, used.len()) {
            let n_features = ids.len();
            self.places.ids = Some(ids);
            return places::moved(state, bias, n_features, used.into_iter().zip(0..));
        }
        if self.places.ids.take().is_none() {
            return state;
        }
        let to = ids.into_iter().map(|id| id as usize);
        places::moved(state, bias, n_indices, used.into_iter().zip(to.collect::<Vec<_>>()))
    }

    /// Goes on with what was handed over.
    pub(in crate::stream) fn put_back(&mut self, state: OnlineState) {
        let rate = self.spec.rate;
        self.online = rate.and_then(|rate| Online::resume(self.config(rate), state));
    }
}

/// The rows of features that have occurred, and the bias.
fn compact<T: Copy>(
    mut table: Vec<T>,
    n_rows: usize,
    n_columns: usize,
    n_features: usize,
    bias: usize,
) -> Vec<T> {
    if table.is_empty() || n_rows == n_features + bias {
        return table;
    }
    let last = (n_rows - bias) * n_columns;
    table.copy_within(last.., n_features * n_columns);
    table.truncate((n_features + bias) * n_columns);
    table
}
