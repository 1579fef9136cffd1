//! The passes of a stream: a reader parses the next chunks while this one is learnt from.

use super::learner::{self, Learner};
use super::maker::Maker;
use super::progress::Tally;
use super::streaming::{OnCheckpoint, OnChunk};
use super::{Progressive, StreamPoint, StreamReport, StreamSpec, resume, spec};
use crate::Error;
use crate::features::{FeatureSpec, Features, Sampling};
use crate::predict::layout::Layout;
use crate::predict::model::{Body, Model, Provenance};
use crate::request::spec::{Precision, SolverKind, Strategy, Task, TrainSpec, UpdateKind};
use crate::train::report::Report;
use crate::train::weights::Weights;
use lineal_calibrate::Calibration;
use lineal_data::{Dataset, Format, ReadOptions, Schema, Source};
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

/// Everything that lasts from chunk to chunk.
pub(super) struct Start {
    pub learner: Learner,
    pub schema: Schema,
    pub features: Features,
    /// What is to be learnt from the first rows before these can be learnt from.
    pub sampling: Option<Sampling>,
    /// Passes so far, the one that was interrupted last.
    pub passes: Vec<Progressive>,
    /// Rows of that pass that are behind us, and its sums.
    pub unfinished: Option<Tally>,
    /// Of the model that is resumed.
    pub calibration: Option<Calibration>,
    pub warnings: Vec<String>,
}

/// Rows that are shuffled at a time. Of 10,003 questions in 77 classes, sorted by class, one pass learns .552 by 4,096 at a time and .888 by 16,384 (accuracy on new ones).
pub(super) const ROWS_PER_CHUNK: usize = 4096;
const TEXTS_PER_CHUNK: usize = 16_384;

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
pub(super) fn begin(
    source: &Source,
    options: &ReadOptions,
    spec: StreamSpec,
    features: &FeatureSpec,
) -> Result<Start, Error> {
    spec::check(&spec)?;
    let learnt = lineal_data::learn_schema(source, options, spec.sample_rows)?;
    let mut schema = learnt.schema;
    let bits = features.text.hash_bits.unwrap_or_else(|| hash_bits(&spec, schema.classes.len()));
    let sampling = Sampling::new(features, bits, &mut schema, source.name(), spec.sample_rows)?;
    if schema.format == Some(Format::Svmlight) {
        schema.feature_ids = None;
    }
    let usual = if sampling.is_some() { UpdateKind::AdaGrad } else { UpdateKind::Normalised };
    let usual_rows = if sampling.is_some() { TEXTS_PER_CHUNK } else { ROWS_PER_CHUNK };
    let rows_per_chunk = spec.rows_per_chunk.or(Some(usual_rows));
    let mut spec = StreamSpec { update: spec.update.or(Some(usual)), rows_per_chunk, ..spec };
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

pub(super) struct Run<'a> {
    pub started: Instant,
    pub last_saved: Instant,
    pub n_known: usize,
    pub start: Start,
    pub source: Source,
    pub options: ReadOptions,
    pub rows: u64,
    pub warnings: Vec<String>,
    pub on_chunk: Option<&'a mut OnChunk<'a>>,
    pub checkpoint: Option<(Duration, &'a mut OnCheckpoint<'a>)>,
}

impl Run<'_> {
    /// One walk over the file. A reader parses the next chunks while this one is learnt from.
    pub(super) fn pass(&mut self, again: bool) -> Result<ControlFlow<()>, Error> {
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
        let rows_per_chunk = self.start.learner.rows_per_chunk();
        let (to_learn, chunks) = sync_channel(1);
        let mut maker = Maker {
            features: self.start.features.clone(),
            sampling: self.start.sampling.take(),
            schema: schema.clone(),
            to_learn,
        };
        std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().spawn_scoped(scope, move || {
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
            let reader = reader.map_err(|e| {
                Error::request(format!("no thread can be started to read the stream: {e}; raise the limits on processes and memory (ulimit -u, ulimit -v)"))
            })?;
            let mut tally = skip.unwrap_or_default();
            let mut to_skip = tally.rows as usize;
            let mut step = ControlFlow::Continue(());
            for (number, prepared) in chunks.iter().enumerate() {
                let (features, chunk) = prepared?;
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
        if let Some(state) = resume::give_back(model) {
            self.start.learner.put_back(state);
        }
        self.last_saved = Instant::now();
        saved
    }

    pub(super) fn finish(mut self, interrupted: bool) -> Result<(Model, StreamReport), Error> {
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
                 file, have more rows in memory (spec.rows_per_chunk), or take more passes (Streaming::passes)",
                self.source.name(),
                self.start.learner.rows_per_chunk()
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
                 right? see options.label)"
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
        resume::keep(&mut model, spec, state, passes, unfinished, n_indices);
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
