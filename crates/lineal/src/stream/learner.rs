//! Weights that learn from chunks, and grow with the features and classes that these bring.

use super::places::{self, Places};
use super::{Progressive, StreamSpec};
use crate::Error;
use crate::predict::layout;
use crate::predict::sparse_rows::MOST_WEIGHTS;
use crate::request::spec::{
    ClassWeight, ENOUGH_HELD_OUT, LossKind, ScheduleKind, Strategy, Task, UpdateKind,
};
use crate::train::losses::{with_class_loss, with_column_loss, with_real_loss};
use crate::train::monitor::Judge;
use crate::train::strategy;
use lineal_calibrate::{Calibration, Held, Kind, Truth};
use lineal_data::{Dataset, Targets, UNSEEN};
use lineal_erm::online::{Chunk, learn};
use lineal_linalg::{Csr, Matrix, memory};
use lineal_loss::{
    Columnwise, Epsilon, Hinge, Huber, Logistic, Loss, Squared, SquaredHinge, SumHinge,
    SumSquaredHinge,
};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, Columns, OutputSpace, Real, Signs};
use lineal_model::{Bias, Linear};
use lineal_solver::{Fall, Online, OnlineConfig, OnlineState, Rule};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// Sums over rows, before they were learnt from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub rows: u64,
    pub weight: f64,
    pub loss: f64,
    pub error: f64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.rows += other.rows;
        self.weight += other.weight;
        self.loss += other.loss;
        self.error += other.error;
    }

    pub(super) fn progressive(&self, pass: usize, task: Task) -> Progressive {
        let mean = |sum: f64| if self.weight > 0.0 { sum / self.weight } else { 0.0 };
        let error = mean(self.error);
        let metric = if task == Task::Regress { -error.sqrt() } else { 1.0 - error };
        Progressive { pass, rows: self.rows, loss: mean(self.loss), metric }
    }
}

/// What a stream cannot do.
pub(super) fn check(spec: &StreamSpec) -> Result<(), Error> {
    let fail = |message: &str| Err(Error::request(message));
    let loss = spec.loss();
    let of_numbers = matches!(loss, LossKind::Huber | LossKind::Epsilon);
    match spec.task {
        Task::Regress if !of_numbers && loss != LossKind::Squared => {
            return Err(Error::request(format!(
                "the {loss} loss is for classes; for --task regress use squared, huber or epsilon"
            )));
        }
        Task::Classify | Task::Multilabel if of_numbers => {
            return Err(Error::request(format!(
                "the {loss} loss is for numbers: add --task regress, or use another --loss"
            )));
        }
        Task::Multilabel if loss == LossKind::Squared => {
            return fail("--task multilabel takes hinge, squared-hinge, logistic or perceptron");
        }
        _ => {}
    }
    let strategy = spec.strategy();
    let by_columns = spec.task == Task::Classify && strategy != Strategy::Joint;
    match strategy {
        Strategy::Joint | Strategy::Ova | Strategy::Ovo => {}
        Strategy::Ecoc | Strategy::Tree => {
            return Err(Error::request(format!(
                "a stream has the strategies joint, ova and ovo: for {} all classes must be known before it starts, and new ones may come",
                strategy
            )));
        }
    }
    if strategy != Strategy::Joint && spec.task == Task::Regress {
        return fail("--strategy is about classes; --task regress has none");
    }
    if by_columns && (loss == LossKind::Squared || spec.sum) {
        return Err(Error::request(format!(
            "--strategy {strategy} takes hinge, squared-hinge, logistic or perceptron, without --sum"
        )));
    }
    if spec.cost.is_some() && spec.task != Task::Classify {
        return fail("--cost is between classes: leave it out, or say --task classify");
    }
    if spec.cost.is_some() && matches!(loss, LossKind::Perceptron | LossKind::Squared) {
        return Err(Error::request(format!(
            "the {loss} loss has no place for a cost; use hinge, squared-hinge or logistic"
        )));
    }
    if spec.sum && (matches!(loss, LossKind::Logistic | LossKind::Squared) || of_numbers) {
        return fail("--sum is a form of perceptron, hinge and squared-hinge");
    }
    if spec.class_weight == ClassWeight::Balanced {
        return fail(
            "--class-weight balanced needs to count the classes first; name the weights: a=2,b=1",
        );
    }
    if spec.class_weight != ClassWeight::Equal && spec.task != Task::Classify {
        return fail("--class-weight is for one class per row");
    }
    if spec.schedule == Some(ScheduleKind::Pegasos) && spec.l2 <= 0.0 {
        return fail("the pegasos schedule 1/(l2·t) needs an l2 penalty: give --l2 above 0");
    }
    for (name, value) in [("--l2", spec.l2), ("--epsilon", spec.epsilon)] {
        if !(value.is_finite() && value >= 0.0) {
            return Err(Error::request(format!("{name} must be a number ≥ 0, not {value}")));
        }
    }
    for (name, value) in [("--rate", spec.rate.unwrap_or(1.0)), ("--delta", spec.delta)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(Error::request(format!("{name} must be a number above 0, not {value}")));
        }
    }
    Ok(())
}

/// A class that the costs do not name.
pub(super) fn no_cost(source: &str, class: &str) -> Error {
    Error::request(format!(
        "{source}: the class `{class}` has no costs; add it to the file of --cost"
    ))
}

/// Rows that are too few to fit a temperature to.
const FEW: usize = 50;

/// Rows of the last chunk, as they were scored before they were learnt from.
#[derive(Default)]
struct Recent {
    n_columns: usize,
    /// Their places in the chunk.
    rows: Vec<usize>,
    scores: Vec<f64>,
    classes: Vec<u32>,
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

    /// Whether the loss has no probabilities of its own and one temperature makes some: one column per class, or one for two.
    fn calibrates(&self) -> bool {
        let is_direct = self.n_classes <= 2 || self.spec.strategy() != Strategy::Ovo;
        self.spec.task == Task::Classify && self.spec.loss() != LossKind::Logistic && is_direct
    }

    /// The temperature that makes probabilities of scores, by the rows that were new when they came; `None` if there are too few.
    pub(super) fn temperature(&self) -> Option<Calibration> {
        let Recent { n_columns, scores, classes, .. } = &self.recent;
        if classes.len() < FEW || *n_columns != self.n_columns() {
            return None;
        }
        let held = Held::new(*n_columns, scores, Truth::Classes(classes)).ok()?;
        Some(Calibration::fit(Kind::Temperature, &held))
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

    /// Weights for features and classes that have not come before. The rows of the chunk by the places of their features, where these are not their indices.
    fn make_room(&mut self, chunk: &Dataset, order: &[usize]) -> Result<Option<Matrix>, Error> {
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
            let few = Places::are_few(n_indices, n_outputs, used.len() + distinct.len());
            if few {
                self.places.ids = Some(used.iter().map(|&row| row as u32).collect());
            }
            if let Some(state) = state {
                self.put_back(match few {
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

    /// task × loss → concrete space and loss.
    fn teach(&self, lesson: &mut Lesson<'_>, chunk: &Dataset) {
        let (spec, loss) = (&self.spec, self.spec.loss());
        let cost = spec.cost.as_ref().map(|cost| &cost.matrix);
        match &chunk.y {
            Targets::None => {}
            Targets::Real(y) => {
                macro_rules! run {
                    ($level:ident, $space:expr, $loss:expr) => {
                        lesson.teach($space, &$loss, y)
                    };
                }
                with_real_loss!(run, loss, spec.delta, spec.epsilon)
            }
            Targets::Labels(labels) => {
                let signs = Signs::Labels { start: labels.starts(), ids: labels.ids() };
                let kinds: Vec<u32> = (0..labels.n_rows() as u32).collect();
                self.teach_columns(lesson, Columns::new(signs, self.n_classes), &kinds);
            }
            Targets::Classes(y) if spec.strategy() != Strategy::Joint && self.n_classes > 2 => {
                let n_columns = self.n_columns();
                let table = strategy::table(spec.strategy(), self.n_classes, cost);
                let signs = match &table {
                    Some(table) => Signs::Table { table, n_columns },
                    None => Signs::OneVsAll,
                };
                self.teach_columns(lesson, Columns::new(signs, n_columns), y);
            }
            Targets::Classes(y) => {
                let (two, many) = (self.n_classes <= 2, Classes(self.n_outputs(self.n_classes)));
                macro_rules! run {
                    ($level:ident, $space:expr, $loss:expr) => {
                        lesson.teach($space, &$loss, y)
                    };
                }
                with_class_loss!(run, loss, two, spec.sum, cost, Binary, many)
            }
        }
    }

    /// Yes-or-no questions side by side.
    fn teach_columns(&self, lesson: &mut Lesson<'_>, space: Columns<'_>, kinds: &[u32]) {
        macro_rules! run {
            ($level:ident, $loss:expr) => {
                lesson.teach(space, &Columnwise($loss), kinds)
            };
        }
        with_column_loss!(run, self.spec.loss())
    }

    /// Hands over all that was learnt, without room to spare. Nothing is learnt any more unless it is [put back](Self::put_back).
    pub(super) fn hand_over(&mut self) -> OnlineState {
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
    pub(super) fn put_back(&mut self, state: OnlineState) {
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

/// A chunk with its weights, but for the space and the loss.
struct Lesson<'a> {
    online: &'a mut Online,
    n_features: usize,
    bias: Bias,
    x: &'a Matrix,
    weights: Option<&'a [f32]>,
    order: &'a [usize],
    tally: &'a mut Tally,
    /// Where scores are noted.
    recent: Option<&'a mut Recent>,
}

impl Lesson<'_> {
    fn teach<S, L, Y>(&mut self, space: S, loss: &L, y: &[Y])
    where
        S: OutputSpace<f32, Output = Y> + Judge<Y>,
        L: Loss<f32, S>,
        Y: Copy,
    {
        let model = Linear::new(self.n_features, space, self.bias);
        let chunk = Chunk { x: self.x, y, weights: self.weights, order: self.order };
        let (weights, error) = (self.weights, &mut self.tally.error);
        let mut n_before = self.order.len().saturating_sub(ENOUGH_HELD_OUT);
        let mut recent = self.recent.as_deref_mut();
        self.tally.loss = learn(self.online, &model, loss, &chunk, |i, scores| {
            match &mut recent {
                Some(_) if n_before > 0 => n_before -= 1,
                Some(recent) => {
                    recent.rows.push(i);
                    recent.scores.extend(scores.iter().map(|&s| f64::from(s)));
                }
                None => {}
            }
            *error += weights.map_or(1.0, |w| f64::from(w[i])) * space.error(scores, y[i]);
        });
    }
}
