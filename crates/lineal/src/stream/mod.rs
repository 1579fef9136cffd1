//! Training on files larger than memory: one pass or a few, a chunk of rows at a time, each row scored before it is learnt from.
//!
//! A row that is judged before it is learnt from is a row that training did not see: over the first pass the mean of these judgements is an honest
//! estimate of the error on new rows (progressive validation). In later passes it is not, and is told apart.
//!
//! Memory is the weights, what the update rule keeps beside them, and a few chunks, however long the file is. What is needed to go on lives in the model's
//! file: [`Streaming::resume`] takes it up, with more rows of the same file, another pass, or other files, and classes that are new.

mod kept;
mod learner;
mod maker;
mod places;

use crate::Error;
use crate::features::{FeatureSpec, Features, Sampling};
use crate::predict::layout::Layout;
use crate::predict::model::{Body, Model, Provenance};
use crate::request::cost::NamedCost;
use crate::request::spec::{
    ClassWeight, LossKind, PairKind, Penalty, Precision, ReductionSpec, ScheduleKind, SgdSpec,
    SolverKind, Strategy, Task, TrainSpec, UpdateKind,
};
use crate::train::report::Report;
use crate::train::weights::Weights;
use learner::{Learner, Tally};
use lineal_calibrate::Calibration;
use lineal_data::{Dataset, Format, ReadOptions, Schema, Source};
use lineal_model::Bias;
use maker::Maker;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

pub(crate) use kept::{AboutStream, StreamTensors, tensors};

/// A training run over a stream, but for the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamSpec {
    /// What is predicted.
    pub task: Task,
    /// The loss; by default logistic for classes and labels, squared for numbers, and for classes of text that of [`TrainSpec::for_text`].
    pub loss: Option<LossKind>,
    /// The sum over violating classes in place of the maximum.
    pub sum: bool,
    /// How several classes become problems: `joint`, `ova` or `ovo`; by default `joint`, and `ova` for text. Codes and trees are made for all classes at once, and new ones
    /// may come.
    pub strategy: Option<Strategy>,
    /// `ovo`: how duels decide.
    pub pairs: PairKind,
    /// What mistakes cost. The classes that it names are known from the start, and there can be no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<NamedCost>,
    /// What is added to every score.
    pub bias: Bias,
    /// λ of mean loss + (λ/2)‖W‖²: a step shrinks the weights by 1 − ηλ.
    pub l2: f64,
    /// How a gradient becomes a step; by default `adagrad` where features are made of text, which are of one scale, else `normalised`.
    pub update: Option<UpdateKind>,
    /// η; by default ½, and for plain updates 1 for the perceptron, else 1 / (the loss's curvature × the mean squared norm of the first rows).
    pub rate: Option<f64>,
    /// How η falls; by default constant for plain updates of the perceptron and for the other two rules, else inverse.
    pub schedule: Option<ScheduleKind>,
    /// Keep the mean of the weights over the steps of the last pass.
    pub average: bool,
    /// Take the rows of a chunk in a random order.
    pub shuffle: bool,
    /// Factors on classes by name; `balanced` needs counts that a stream does not have.
    pub class_weight: ClassWeight,
    /// Where Huber's loss turns linear.
    pub delta: f64,
    /// Half the width of the epsilon-insensitive tube.
    pub epsilon: f64,
    /// Of the order of rows.
    pub seed: u64,
    /// Rows that are in memory at a time.
    pub rows_per_chunk: usize,
    /// Rows that columns and their types are learnt from.
    pub sample_rows: usize,
}

impl Default for StreamSpec {
    fn default() -> Self {
        Self {
            task: Task::Classify,
            loss: None,
            sum: false,
            strategy: None,
            pairs: ReductionSpec::default().pairs,
            cost: None,
            bias: Bias::Free,
            l2: 0.0,
            update: None,
            rate: None,
            schedule: None,
            average: false,
            shuffle: true,
            class_weight: ClassWeight::Equal,
            delta: 1.0,
            epsilon: 0.1,
            seed: 0,
            rows_per_chunk: 4096,
            sample_rows: 20_000,
        }
    }
}

impl StreamSpec {
    /// The loss that it means.
    pub fn loss(&self) -> LossKind {
        self.loss.unwrap_or(match self.task {
            Task::Regress => LossKind::Squared,
            _ => LossKind::Logistic,
        })
    }

    /// The strategy that it means: labels are asked for one by one.
    pub fn strategy(&self) -> Strategy {
        match self.task {
            Task::Multilabel => Strategy::Ova,
            _ => self.strategy.unwrap_or(Strategy::Joint),
        }
    }

    /// The same in the terms of a run over data in memory.
    fn as_train_spec(&self) -> TrainSpec {
        TrainSpec {
            task: self.task,
            loss: self.loss,
            sum: self.sum,
            strategy: self.strategy(),
            reduction: ReductionSpec { pairs: self.pairs, ..ReductionSpec::default() },
            cost: self.cost.as_ref().map(|cost| cost.matrix.clone()),
            solver: SolverKind::Sgd,
            penalty: Penalty::L2(self.l2),
            bias: self.bias,
            sgd: SgdSpec {
                rate: self.rate,
                schedule: self.schedule,
                average: Some(self.average),
                shuffle: self.shuffle,
                ..SgdSpec::default()
            },
            class_weight: self.class_weight.clone(),
            delta: self.delta,
            epsilon: self.epsilon,
            seed: self.seed,
            ..TrainSpec::default()
        }
    }
}

/// What a pass saw of rows before it learnt from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progressive {
    /// Which pass, from 1.
    pub pass: usize,
    /// Rows so far.
    pub rows: u64,
    /// Their mean loss.
    pub loss: f64,
    /// Accuracy; the share of right answers for labels; −RMSE for numbers.
    pub metric: f64,
}

/// The state of a stream, after each chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamPoint {
    /// The pass so far.
    pub pass: Progressive,
    /// The last chunk alone.
    pub chunk: Progressive,
    /// Features that have occurred.
    pub features: usize,
    /// Classes that have occurred.
    pub classes: usize,
    /// Seconds since the run started.
    pub seconds: f64,
}

/// What a run over a stream tells about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamReport {
    /// One entry per pass, those before a resumption too. Only the first is of rows that were new.
    pub passes: Vec<Progressive>,
    /// Rows learnt from in this run, all passes.
    pub rows: u64,
    /// Whether the monitor ended it.
    pub interrupted: bool,
    /// Classes that came up after the first rows, or after the model that was resumed.
    pub new_classes: Vec<String>,
    /// What the user should hear of.
    pub warnings: Vec<String>,
}

/// Called after every chunk; `Break` ends the run, whose model is kept.
pub type OnChunk<'a> = dyn FnMut(&StreamPoint) -> ControlFlow<()> + Send + 'a;
/// Called with the model so far.
pub type OnCheckpoint<'a> = dyn FnMut(&Model) -> Result<(), Error> + Send + 'a;

/// A run over a stream that is about to start.
///
/// ```
/// use lineal::{ReadOptions, Source, StreamSpec, Streaming};
///
/// let rows = "1 1:1\n2 2:1\n".repeat(200);
/// let file = Source::Memory { name: "a.svm".into(), bytes: rows.into_bytes() };
/// let (model, report) =
///     Streaming::new(file, &ReadOptions::default(), &StreamSpec::default()).run()?;
/// assert!(report.passes[0].metric > 0.95);
///
/// // New rows, and a new class.
/// let file = Source::Memory { name: "b.svm".into(), bytes: b"3 3:1\n1 1:1\n".repeat(100) };
/// let (model, _) = Streaming::resume(model, file, &ReadOptions::default()).run()?;
/// assert_eq!(model.classes(), ["1", "2", "3"]);
/// # Ok::<(), lineal::Error>(())
/// ```
pub struct Streaming<'a> {
    source: Source,
    options: ReadOptions,
    spec: StreamSpec,
    features: FeatureSpec,
    resumed: Option<Model>,
    passes: usize,
    on_chunk: Option<&'a mut OnChunk<'a>>,
    checkpoint: Option<(Duration, &'a mut OnCheckpoint<'a>)>,
}

impl<'a> Streaming<'a> {
    /// One pass over this data by this spec.
    pub fn new(source: impl Into<Source>, options: &ReadOptions, spec: &StreamSpec) -> Self {
        Self {
            source: source.into(),
            options: options.clone(),
            spec: spec.clone(),
            features: FeatureSpec::default(),
            resumed: None,
            passes: 1,
            on_chunk: None,
            checkpoint: None,
        }
    }

    /// Goes on where a model left off, by its own spec. If it was interrupted in a pass over a file of the same name, that pass is finished: rows that it has
    /// learnt from are read over.
    pub fn resume(model: Model, source: impl Into<Source>, options: &ReadOptions) -> Self {
        let spec = model.about.stream.as_ref().map(|s| s.spec.clone()).unwrap_or_default();
        Self { resumed: Some(model), ..Self::new(source, options, &spec) }
    }

    /// How text becomes features: hashed, and without idf.
    pub fn features(mut self, spec: &FeatureSpec) -> Self {
        self.features = spec.clone();
        self
    }

    /// That many passes.
    pub fn passes(mut self, passes: usize) -> Self {
        self.passes = passes;
        self
    }

    /// Be called after every chunk.
    pub fn monitor(mut self, on_chunk: &'a mut OnChunk<'a>) -> Self {
        self.on_chunk = Some(on_chunk);
        self
    }

    /// Be given the model so far every now and then.
    pub fn checkpoint(mut self, every: Duration, save: &'a mut OnCheckpoint<'a>) -> Self {
        self.checkpoint = Some((every, save));
        self
    }

    /// Learns.
    pub fn run(self) -> Result<(Model, StreamReport), Error> {
        let Self { source, options, spec, features, resumed, passes, on_chunk, checkpoint } = self;
        if spec.task.is_structured() {
            return Err(Error::request(format!(
                "a stream has rows, and the task {} learns from sentences",
                spec.task
            )));
        }
        let options = ReadOptions { grow_classes: true, target: spec.task.target(), ..options };
        if passes > 1 && source.comes_once() {
            return Err(Error::request(format!(
                "{}: standard input and pipes come once, and {passes} passes are asked for; leave out --epochs, or save the rows to a file",
                source.name()
            )));
        }
        let source = if resumed.is_none() { source.kept()? } else { source };
        let start = match resumed {
            Some(model) => kept::take_up(model, &source, &options)?,
            None => begin(&source, &options, spec, &features)?,
        };
        source.seal();
        let mut run = Run {
            started: Instant::now(),
            last_saved: Instant::now(),
            n_known: start.schema.classes.len(),
            start,
            source,
            options,
            rows: 0,
            warnings: Vec::new(),
            on_chunk,
            checkpoint,
        };
        let mut interrupted = false;
        for pass in 0..passes.max(1) {
            if run.pass(pass > 0)?.is_break() {
                interrupted = true;
                break;
            }
        }
        run.finish(interrupted)
    }
}

/// Everything that lasts from chunk to chunk.
struct Start {
    learner: Learner,
    schema: Schema,
    features: Features,
    /// What is to be learnt from the first rows before these can be learnt from.
    sampling: Option<Sampling>,
    /// Passes so far, the one that was interrupted last.
    passes: Vec<Progressive>,
    /// Rows of that pass that are behind us, and its sums.
    unfinished: Option<Tally>,
    /// Of the model that is resumed.
    calibration: Option<Calibration>,
    warnings: Vec<String>,
}

/// How many bits hashed text has, where nothing was said: as many as make tables of 128 MB for the classes of the first rows, within limits. More bits take memory, and fewer
/// let words collide.
fn hash_bits(spec: &StreamSpec, n_classes: usize) -> u8 {
    const BYTES: usize = 128 << 20;
    const BITS: std::ops::RangeInclusive<u8> = 18..=20;
    let n_columns = match (spec.task, n_classes) {
        (Task::Regress, _) | (Task::Classify, 0..=2) => 1,
        (_, n) => n,
    };
    // A weight, and the sum of its squared gradients.
    let fits = |bits: &u8| (n_columns << bits).saturating_mul(8) <= BYTES;
    BITS.rev().find(fits).unwrap_or(*BITS.start())
}

/// Looks at the first rows.
fn begin(
    source: &Source,
    options: &ReadOptions,
    spec: StreamSpec,
    features: &FeatureSpec,
) -> Result<Start, Error> {
    learner::check(&spec)?;
    let learnt = lineal_data::learn_schema(source, options, spec.sample_rows)?;
    let mut schema = learnt.schema;
    let bits = features.text.hash_bits.unwrap_or_else(|| hash_bits(&spec, schema.classes.len()));
    let sampling = Sampling::new(features, bits, &mut schema, source.name(), spec.sample_rows)?;
    if schema.format == Some(Format::Svmlight) {
        schema.feature_ids = None;
    }
    let usual = if sampling.is_some() { UpdateKind::AdaGrad } else { UpdateKind::Normalised };
    let mut spec = StreamSpec { update: spec.update.or(Some(usual)), ..spec };
    let is_open = spec.loss.is_none() && spec.strategy.is_none() && !spec.sum;
    if sampling.is_some() && spec.task == Task::Classify && spec.cost.is_none() && is_open {
        let TrainSpec { loss, .. } = TrainSpec::for_text(schema.classes.len());
        (spec.loss, spec.strategy) = (loss, Some(Strategy::Ova));
    }
    if let Some(cost) = &mut spec.cost {
        *cost =
            cost.extended(&schema.classes).map_err(|odd| learner::no_cost(&source.name(), &odd))?;
        schema.classes.clone_from(&cost.classes);
    }
    let by_index = schema.format == Some(Format::Svmlight);
    let learner = Learner::new(spec, schema.n_features, by_index, schema.classes.len());
    let (features, passes, unfinished) = (Features::default(), Vec::new(), None);
    // What the first rows gave rise to, the pass over all of them will say again.
    let (calibration, warnings) = (None, Vec::new());
    Ok(Start { learner, schema, features, sampling, passes, unfinished, calibration, warnings })
}

struct Run<'a> {
    started: Instant,
    last_saved: Instant,
    n_known: usize,
    start: Start,
    source: Source,
    options: ReadOptions,
    rows: u64,
    warnings: Vec<String>,
    on_chunk: Option<&'a mut OnChunk<'a>>,
    checkpoint: Option<(Duration, &'a mut OnCheckpoint<'a>)>,
}

impl Run<'_> {
    /// One walk over the file. A reader parses the next chunks while this one is learnt from.
    fn pass(&mut self, again: bool) -> Result<ControlFlow<()>, Error> {
        let skip = self.start.unfinished.take();
        if skip.is_none() {
            let pass = self.start.passes.len() + 1;
            self.start.passes.push(Progressive { pass, ..Progressive::default() });
            self.start.learner.begin_pass(again);
        }
        let (source, options) = (self.source.clone(), self.options.clone());
        let mut schema = self.start.schema.clone();
        if schema.format == Some(Format::Svmlight) {
            // Weights are made for the indices that come.
            schema.n_features = u32::MAX as usize;
        }
        let rows_per_chunk = self.start.learner.spec().rows_per_chunk;
        let (to_learn, chunks) = sync_channel(1);
        let mut maker = Maker {
            features: self.start.features.clone(),
            sampling: self.start.sampling.take(),
            schema: schema.clone(),
            to_learn,
        };
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let walked = lineal_data::stream(
                    &source,
                    &options,
                    &schema,
                    rows_per_chunk,
                    &mut |chunk, text| Ok(maker.take(chunk, text)),
                );
                if walked.is_ok() {
                    let _: ControlFlow<()> = maker.end();
                }
                walked
            });
            let mut tally = skip.unwrap_or_default();
            let mut to_skip = tally.rows as usize;
            let mut step = ControlFlow::Continue(());
            for (number, made) in chunks.iter().enumerate() {
                let (features, chunk) = made?;
                if let Some(features) = features {
                    self.start.features = features;
                }
                if to_skip >= chunk.n_rows() {
                    to_skip -= chunk.n_rows();
                    continue;
                }
                step = self.chunk(&chunk, number, std::mem::take(&mut to_skip), &mut tally)?;
                if step.is_break() {
                    break;
                }
            }
            drop(chunks);
            match reader.join() {
                Ok(walked) => {
                    let learnt = walked?;
                    self.warnings = learnt.warnings;
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
            if step.is_break() {
                self.start.unfinished = Some(tally);
            }
            Ok(step)
        })
    }

    fn chunk(
        &mut self,
        chunk: &Dataset,
        number: usize,
        skip: usize,
        tally: &mut Tally,
    ) -> Result<ControlFlow<()>, Error> {
        let Start { learner, schema, passes, .. } = &mut self.start;
        schema.classes.clone_from(&chunk.schema.classes);
        let pass = passes.len();
        let seen = learner.learn(chunk, (pass, number, skip))?;
        if !seen.loss.is_finite() {
            return Err(lineal_solver::Error::Diverged { value: seen.loss, pass }.into());
        }
        tally.add(&seen);
        self.rows += seen.rows;
        let task = learner.spec().task;
        let point = StreamPoint {
            pass: tally.progressive(pass, task),
            chunk: seen.progressive(pass, task),
            features: learner.n_features(),
            classes: schema.classes.len(),
            seconds: self.started.elapsed().as_secs_f64(),
        };
        if let Some(last) = passes.last_mut() {
            *last = point.pass;
        }
        if let Some((every, _)) = &self.checkpoint
            && self.last_saved.elapsed() >= *every
        {
            self.save(*tally)?;
        }
        Ok(self.on_chunk.as_mut().map_or(ControlFlow::Continue(()), |see| see(&point)))
    }

    fn save(&mut self, tally: Tally) -> Result<(), Error> {
        self.start.unfinished = Some(tally);
        let model = self.model();
        self.start.unfinished = None;
        self.last_saved = Instant::now();
        let model = match model {
            Ok(model) => model,
            // So far all rows have one class: there is no model yet, and no harm in that.
            Err(Error::Request(_)) => return Ok(()),
            Err(other) => return Err(other),
        };
        let saved = self.checkpoint.as_mut().map_or(Ok(()), |(_, save)| save(&model));
        if let Some(state) = kept::give_back(model) {
            self.start.learner.put_back(state);
        }
        self.last_saved = Instant::now();
        saved
    }

    fn finish(mut self, interrupted: bool) -> Result<(Model, StreamReport), Error> {
        let model = self.model()?;
        let mut warnings = std::mem::take(&mut self.start.warnings);
        warnings.append(&mut self.warnings);
        let n_left_out = self.start.learner.n_left_out();
        if n_left_out > 0 {
            warnings.push(format!(
                "{}: {n_left_out} rows without a label were left out",
                self.source.name()
            ));
        }
        warnings.extend(self.start.learner.grouped().map(|(mean, all)| {
            format!(
                "{}: rows come grouped by class: {mean:.1} of {all} classes in {} rows on average. What comes first is forgotten: shuffle the \
                 file, or take more passes (--epochs)",
                self.source.name(),
                self.start.learner.spec().rows_per_chunk
            )
        }));
        let report = StreamReport {
            passes: self.start.passes.clone(),
            rows: self.rows,
            interrupted,
            new_classes: self.start.schema.classes[self.n_known..].to_vec(),
            warnings,
        };
        Ok((model, report))
    }

    /// The model so far, which takes the weights out of the learner.
    fn model(&mut self) -> Result<Model, Error> {
        let Start { learner, schema, features, passes, unfinished, calibration, .. } =
            &mut self.start;
        let (source, mut schema) = (self.source.name(), schema.clone());
        let spec = learner.spec().clone();
        if spec.task != Task::Regress && schema.classes.len() < spec.task.least_classes() {
            let only = schema.classes.first().map_or("", |c| c);
            return Err(Error::request(format!(
                "{source}: every row has the label `{only}`; a classifier needs at least two classes (is the label column \
                 right? see --label)"
            )));
        }
        let layout = match (spec.task, spec.strategy()) {
            (Task::Multilabel, _) => Layout::Labels,
            (Task::Classify, Strategy::Ova) if schema.classes.len() > 2 => Layout::Ova,
            (Task::Classify, Strategy::Ovo) if schema.classes.len() > 2 => Layout::Ovo,
            _ => Layout::Joint,
        };
        let updates = Some(learner.steps());
        let mut state = learner.hand_over();
        schema.n_features = learner.n_features();
        let places = learner.places();
        schema.feature_ids = places.ids.as_ref().map(|ids| ids.iter().map(|id| id + 1).collect());
        let n_indices = schema.feature_ids.is_some().then_some(places.n_indices);
        let report = Report {
            task: spec.task,
            examples: passes.iter().map(|p| p.rows).max().unwrap_or(0) as usize,
            features: schema.n_features,
            classes: schema.classes.len(),
            loss: spec.loss(),
            sum: spec.sum && schema.classes.len() > 2,
            strategy: spec.strategy(),
            problems: if layout == Layout::Joint { 1 } else { learner.n_columns() },
            rows_touched: passes.iter().map(|p| p.rows).sum(),
            code: None,
            tree: None,
            solver: SolverKind::Sgd,
            precision: Precision::F32,
            l2: spec.l2,
            l1: 0.0,
            // It would take another pass.
            objective: f64::NAN,
            gap: None,
            grad_norm: None,
            converged: false,
            passes: passes.len(),
            updates,
            best_pass: None,
            curve: Vec::new(),
            margins: None,
            warnings: Vec::new(),
            structured: None,
        };
        let weights = state.mean().unwrap_or_else(|| std::mem::take(&mut state.weights));
        let body = Body { weights: Weights::F32(weights), layout, tree: None };
        let provenance = Provenance::of(&source);
        let features = features.clone();
        let mut model =
            Model::new(body, spec.as_train_spec(), schema, features, &report, provenance)?;
        model.about.calibration = learner.temperature().or_else(|| calibration.clone());
        let unfinished = unfinished.map(|tally| (source, tally));
        kept::keep(&mut model, spec, state, passes, unfinished, n_indices);
        Ok(model)
    }
}

impl Task {
    fn least_classes(self) -> usize {
        match self {
            Task::Multilabel => 1,
            Task::Regress => 0,
            _ => 2,
        }
    }
}
