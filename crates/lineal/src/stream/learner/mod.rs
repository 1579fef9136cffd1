//! Weights that learn from chunks, and grow with the features and classes that these bring.

mod lesson;
mod recent;
mod room;

use super::StreamSpec;
use super::places::{self, Places};
use super::progress::Tally;
use super::run::ROWS_PER_CHUNK;
use crate::Error;
use crate::request::spec::{ClassWeight, LossKind, ScheduleKind, Strategy, Task, UpdateKind};
use lesson::Lesson;
use lineal_data::{Dataset, Targets, UNSEEN};
use lineal_model::Bias;
use lineal_solver::{Fall, Online, OnlineConfig, OnlineState, Rule};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use recent::Recent;

/// A class that the costs do not name.
pub(super) fn no_cost(source: &str, class: &str) -> Error {
    Error::request(format!(
        "{source}: the class `{class}` has no costs; add it to the file of spec.cost"
    ))
}

pub(crate) struct Learner {
    spec: StreamSpec,
    /// Made when the first rows tell a rate.
    online: Option<Online>,
    places: Places,
    /// Features are LIBSVM indices, of which any may come.
    by_index: bool,
    n_classes: usize,
    n_left_out: u64,
    /// Scores of rows that were new, and their classes.
    recent: Recent,
    /// Full chunks, and the classes that each of them had, summed.
    groups: (u64, u64),
}

impl Learner {
    /// For this many features, or for those that come.
    pub(super) fn new(
        spec: StreamSpec,
        n_features: usize,
        by_index: bool,
        n_classes: usize,
    ) -> Self {
        let known = if by_index && n_features > places::SMALL { 0 } else { n_features };
        let places = Places { ids: None, n_indices: known };
        Self {
            spec,
            online: None,
            places,
            by_index,
            n_classes,
            n_left_out: 0,
            recent: Recent::default(),
            groups: (0, 0),
        }
    }

    /// Where a model left off; `None` if the parts do not fit.
    pub(super) fn resume(
        spec: StreamSpec,
        places: Places,
        by_index: bool,
        n_classes: usize,
        state: OnlineState,
    ) -> Option<Self> {
        let n_features = places.n_features();
        let mut learner = Self::new(spec, n_features, by_index, n_classes);
        learner.places = places;
        let fits = state.n_rows == learner.n_rows(n_features)
            && state.n_columns == learner.n_outputs(n_classes);
        learner.online = Some(Online::resume(learner.config(learner.spec.rate?), state)?);
        fits.then_some(learner)
    }

    pub(super) fn spec(&self) -> &StreamSpec {
        &self.spec
    }

    pub(super) fn rows_per_chunk(&self) -> usize {
        self.spec.rows_per_chunk.unwrap_or(ROWS_PER_CHUNK)
    }

    pub(super) fn n_features(&self) -> usize {
        self.places.n_features()
    }

    /// Which indices have rows, and how many indices there are.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    pub(super) fn n_left_out(&self) -> u64 {
        self.n_left_out
    }

    /// How many classes a chunk has on average, and all, where these are far apart.
    pub(super) fn grouped(&self) -> Option<(f64, usize)> {
        let (chunks, classes) = self.groups;
        let mean = classes as f64 / chunks as f64;
        (chunks > 0 && 2.0 * mean <= self.n_classes as f64).then_some((mean, self.n_classes))
    }

    /// Chunks with many more rows than there are classes should have most of these.
    fn note_groups(&mut self, chunk: &Dataset) {
        let Targets::Classes(y) = &chunk.y else { return };
        if y.len() < 50 * self.n_classes {
            return;
        }
        let mut has = vec![false; self.n_classes];
        for &class in y.iter().filter(|&&y| y != UNSEEN) {
            has[class as usize] = true;
        }
        self.groups.0 += 1;
        self.groups.1 += has.iter().filter(|has| **has).count() as u64;
    }

    pub(super) fn steps(&self) -> u64 {
        self.online.as_ref().map_or(0, Online::steps)
    }

    fn has_bias(&self) -> usize {
        usize::from(self.spec.bias != Bias::None)
    }

    fn n_rows(&self, n_features: usize) -> usize {
        n_features + self.has_bias()
    }

    /// Two classes have one weight vector, also while only one of them has come.
    fn n_outputs(&self, n_classes: usize) -> usize {
        match self.spec.task {
            Task::Regress => 1,
            Task::Classify if n_classes <= 2 => 1,
            Task::Classify if self.spec.strategy() == Strategy::Ovo => {
                n_classes * (n_classes - 1) / 2
            }
            _ => n_classes,
        }
    }

    /// Columns of weights.
    pub(super) fn n_columns(&self) -> usize {
        self.n_outputs(self.n_classes)
    }

    fn config(&self, rate: f64) -> OnlineConfig {
        let spec = &self.spec;
        let steady = spec.update != Some(UpdateKind::Plain) || spec.loss() == LossKind::Perceptron;
        OnlineConfig {
            rule: match spec.update {
                Some(UpdateKind::Plain) => Rule::Plain,
                Some(UpdateKind::AdaGrad) => Rule::AdaGrad,
                Some(UpdateKind::Normalised) | None => Rule::Normalised,
            },
            rate,
            fall: match spec.schedule {
                Some(ScheduleKind::Constant) => Fall::Constant,
                Some(ScheduleKind::Inverse) => Fall::Inverse,
                Some(ScheduleKind::Pegasos) => Fall::Pegasos,
                None if steady => Fall::Constant,
                None => Fall::Inverse,
            },
            l2: spec.l2,
            has_bias: spec.bias != Bias::None,
            bias_is_free: spec.bias == Bias::Free,
        }
    }

    /// A mean of weights is that of the last pass.
    pub(super) fn begin_pass(&mut self, again: bool) {
        if let Some(online) = self.online.as_mut().filter(|online| online.averages() && again) {
            online.start_average();
        }
    }

    /// Learns from the rows of a chunk from `skip` on.
    pub(super) fn learn(
        &mut self,
        chunk: &Dataset,
        (pass, number, skip): (usize, usize, usize),
    ) -> Result<Tally, Error> {
        let mut order = self.usable_rows(chunk, skip)?;
        if self.spec.shuffle {
            let at = (pass as u64) << 40 | number as u64;
            let seed = self.spec.seed ^ at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
        }
        let numbered = self.make_room(chunk, &order)?;
        self.note_groups(chunk);
        let weights = self.row_weights(chunk);
        let weight = |i: usize| weights.as_ref().map_or(1.0, |w| f64::from(w[i]));
        let mut tally = Tally { rows: (chunk.n_rows() - skip) as u64, ..Tally::default() };
        tally.weight = order.iter().map(|&i| weight(i)).sum();
        let Some(mut online) = self.online.take() else {
            return Err(Error::request("there are no weights to learn"));
        };
        let mut lesson = Lesson {
            n_features: online.n_rows() - self.has_bias(),
            bias: self.spec.bias,
            online: &mut online,
            x: numbered.as_ref().unwrap_or(&chunk.x),
            weights: weights.as_deref(),
            order: &order,
            tally: &mut tally,
            recent: None,
        };
        let mut recent = Recent::default();
        if pass == 1 && self.calibrates() {
            lesson.recent = Some(&mut recent);
        }
        self.teach(&mut lesson, chunk);
        if let (Targets::Classes(y), false) = (&chunk.y, recent.rows.is_empty()) {
            recent.classes = recent.rows.iter().map(|&i| y[i]).collect();
            recent.n_columns = self.n_columns();
            self.recent = recent;
        }
        // At each chunk's end, so that it does not matter where a checkpoint is taken.
        online.fold();
        self.online = Some(online);
        Ok(tally)
    }

    /// Rows with a label.
    fn usable_rows(&mut self, chunk: &Dataset, skip: usize) -> Result<Vec<usize>, Error> {
        let rows = skip..chunk.n_rows();
        let usable: Vec<usize> = match &chunk.y {
            Targets::Classes(y) => rows.clone().filter(|&i| y[i] != UNSEEN).collect(),
            Targets::None => Vec::new(),
            _ => rows.clone().collect(),
        };
        self.n_left_out += (rows.len() - usable.len()) as u64;
        Ok(usable)
    }

    /// Example weights times class weights.
    fn row_weights(&self, chunk: &Dataset) -> Option<Vec<f32>> {
        let (ClassWeight::Named(named), Targets::Classes(y)) = (&self.spec.class_weight, &chunk.y)
        else {
            return chunk.weights.clone();
        };
        let factor = |name: &String| {
            named.iter().find(|(class, _)| class == name).map_or(1.0, |(_, w)| *w as f32)
        };
        let factors: Vec<f32> = chunk.schema.classes.iter().map(factor).collect();
        let base = |i: usize| chunk.weights.as_ref().map_or(1.0, |w| w[i]);
        let of = |(i, &y): (usize, &u32)| base(i) * factors.get(y as usize).copied().unwrap_or(1.0);
        Some(y.iter().enumerate().map(of).collect())
    }

    fn usual_rate(&self, chunk: &Dataset, order: &[usize], n_outputs: usize) -> f64 {
        let loss = self.spec.loss();
        if self.spec.update != Some(UpdateKind::Plain) {
            return 0.5;
        }
        let curvature = match (loss, self.spec.sum && n_outputs > 1) {
            (LossKind::Perceptron, _) => return 1.0,
            (LossKind::SquaredHinge, true) => 2.0 * n_outputs as f64,
            (LossKind::SquaredHinge, false) => 2.0 * n_outputs.min(2) as f64,
            (LossKind::Hinge, true) => n_outputs as f64,
            (LossKind::Logistic, _) => 0.5,
            _ => 1.0,
        };
        let sum: f64 = order.iter().map(|&i| chunk.x.row(i).norm_sq()).sum();
        let mean = sum / order.len().max(1) as f64;
        1.0 / (curvature * (mean + self.has_bias() as f64)).max(1e-12)
    }
}
