//! From a spec and sequences to a certified model.

use super::constraints;
use super::evaluate::compare;
use super::file::About;
use super::model::TagModel;
use super::notable::notable;
use super::report::TagReport;
use super::request::{n_unlabelled, solver_kind};
use super::shrink::compact;
use super::spec::{TagFeatures, TagSpec};
use super::vectorize::{Rows, Vectorizer};
use super::warm;
use crate::Error;
use crate::model::Provenance;
use crate::report::CurvePoint;
use crate::spec::{LossKind, Task};
use crate::watch::OnPass;
use lineal_chain::{
    ChainModel, ChainProblem, Decoder, Grammar, Observations, Parts, PrunedModel, Scratch,
    Sentences,
};
use lineal_data::Sequences;
use lineal_erm::structured::{LearnPass, Learnt, learn};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::Instant;

/// A run about to start.
pub struct TagTraining<'a> {
    data: &'a Sequences,
    spec: &'a TagSpec,
    held_out: Option<&'a Sequences>,
    start: Option<&'a TagModel>,
    on_pass: Option<&'a mut OnPass<'a>>,
}

impl<'a> TagTraining<'a> {
    /// This data, this spec.
    pub fn new(data: &'a Sequences, spec: &'a TagSpec) -> Self {
        Self { data, spec, held_out: None, start: None, on_pass: None }
    }

    /// Watch these sequences, read with the training data's schema, in place of a share of the training data.
    pub fn held_out(mut self, data: &'a Sequences) -> Self {
        self.held_out = Some(data);
        self
    }

    /// Start from the weights of a trained model, where it has the same attributes and labels.
    pub fn start_from(mut self, model: &'a TagModel) -> Self {
        self.start = Some(model);
        self
    }

    /// Be called after every pass.
    pub fn monitor(mut self, on_pass: &'a mut OnPass<'a>) -> Self {
        self.on_pass = Some(on_pass);
        self
    }

    /// Trains.
    pub fn run(self) -> Result<(TagModel, TagReport), Error> {
        let Self { data, spec, held_out, start, on_pass } = self;
        let watched = TagSpec {
            validation: if held_out.is_some() { 1.0 } else { spec.validation },
            ..spec.clone()
        };
        watched.check(data)?;
        let (data, held_out) = split(data, held_out, spec)?;
        let data = &*data;
        let labels = &data.schema.labels;
        let grammar = constraints::grammar(spec, labels).map_err(|e| first_seen(e, data))?;
        let l2 = spec.l2(data.len());
        let request = spec.learner(l2)?;
        request.check()?;

        let (vectorizer, rows) = Vectorizer::learn(data, spec)?;
        let shape = ChainModel {
            n_labels: labels.len(),
            n_unary: vectorizer.n_unary(),
            n_pairs: vectorizer.n_pairs(),
            transitions: vectorizer.has_transitions(),
            ends: spec.ends && vectorizer.has_transitions(),
            triples: spec.order == 2,
        };
        let start = start.map(|old| warm::start(old, &vectorizer, shape, labels)).transpose()?;
        let ends: Vec<usize> = (0..data.len()).map(|i| data.tokens(i).end).collect();
        let sentences = Sentences {
            unary: &rows.unary,
            pairs: (shape.n_pairs > 0).then_some(&rows.pairs),
            labels: data.gold(),
            ends: &ends,
            weights: None,
        };
        let held_out = held_out
            .as_deref()
            .map(|data| HeldOut::new(data, &vectorizer, &grammar))
            .transpose()?;
        let mut watch = Watch {
            started: Instant::now(),
            on_pass,
            held_out,
            patience: spec.patience,
            curve: Vec::new(),
            best: None,
            failed: None,
        };
        let options = spec.problem(&grammar);
        let problem = ChainProblem::new(shape, sentences, &options, start.as_ref())
            .map_err(|e| placed(e, data))?;
        let start = start.map(|start| problem.weights_of(&start)).transpose()?;
        let learnt =
            learn(&problem, &request, start.as_deref(), &mut |pass| watch.see(pass, &problem))?;
        if let Some(error) = watch.failed.take() {
            return Err(error);
        }
        let best = watch.take_best();
        let curve = std::mem::take(&mut watch.curve);
        drop(watch);
        let Learnt { w, report: run } = learnt;
        let mut weights = problem.pruned(&w)?;
        let n_weights = problem.n_weights();
        drop((problem, w));
        let best_pass = best.map(|(pass, best)| {
            weights = best;
            pass
        });

        let notable = notable(&vectorizer, &weights, data, &rows)?;
        drop(rows);
        let (vectorizer, weights) = compact(&vectorizer, &weights)?;
        let mut report = TagReport {
            task: Task::Tag,
            examples: data.len(),
            tokens: data.n_tokens(),
            features: vectorizer.n_unary() + vectorizer.n_pairs(),
            classes: labels.len(),
            loss: spec.loss,
            solver: solver_kind(run.solver),
            l2,
            l1: spec.l1,
            objective: run.objective,
            mean_loss: run.loss,
            gap: run.gap,
            grad_norm: run.grad_norm,
            converged: run.converged,
            passes: run.passes,
            updates: run.updates,
            weights: n_weights,
            unlabelled: n_unlabelled(data),
            best_pass,
            curve,
            warnings: Vec::new(),
        };
        if let Some((objective, gap)) = report.objective.zip(report.gap) {
            report.converged |= gap <= spec.tol * objective.abs();
        }
        if let Some(best) = best_pass {
            // The figures are those of the weights that are stored, as far as the solver knew them then.
            let point = report.curve.iter().find(|point| point.pass == best);
            report.objective = point.and_then(|point| point.objective);
            report.gap = point.and_then(|point| point.gap);
            report.grad_norm = None;
            report.converged = false;
        }
        report.warnings = warnings(&report, spec);
        let stored = TagSpec {
            features: vectorizer
                .templates()
                .map_or(TagFeatures::Default, |t| TagFeatures::Templates(t.text().to_owned())),
            ends: shape.ends,
            ..spec.clone()
        };
        let about = About {
            task: Task::Tag,
            schema: data.schema.clone(),
            provenance: Provenance {
                lineal: env!("CARGO_PKG_VERSION").into(),
                source: data.source.clone(),
            },
            templates: vectorizer.templates().map(|t| t.text().to_owned()),
            hashed: vectorizer.unary_index().hash_bits(),
            hashed_pairs: vectorizer.pair_index().and_then(|index| index.hash_bits()),
            transitions: shape.transitions,
            step: None,
            notable,
            spec: stored,
            // The curve has times in it; the file must have the same bytes for the same data and seed.
            report: TagReport { curve: Vec::new(), ..report.clone() },
        };
        Ok((TagModel { vectorizer, weights, grammar, about }, report))
    }
}

/// The sequences to learn from and those to watch.
type Split<'a> = (Cow<'a, Sequences>, Option<Cow<'a, Sequences>>);

fn split<'a>(
    data: &'a Sequences,
    held_out: Option<&'a Sequences>,
    spec: &TagSpec,
) -> Result<Split<'a>, Error> {
    if held_out.is_some() || spec.validation == 0.0 {
        return Ok((Cow::Borrowed(data), held_out.map(Cow::Borrowed)));
    }
    let n = (data.len() as f64 * spec.validation).round() as usize;
    if n == 0 || n == data.len() {
        return Err(Error::request(format!(
            "{} of {} sequences cannot be held out: give a file, or another fraction",
            spec.validation,
            data.len()
        )));
    }
    let mut order: Vec<usize> = (0..data.len()).collect();
    order.shuffle(&mut Pcg64Mcg::seed_from_u64(spec.seed));
    let (held, kept) = order.split_at_mut(n);
    held.sort_unstable();
    kept.sort_unstable();
    Ok((Cow::Owned(data.select(kept)), Some(Cow::Owned(data.select(held)))))
}

/// A label that does not fit the scheme, at the line where it first stands.
fn first_seen(error: Error, data: &Sequences) -> Error {
    let Error::Chain(lineal_chain::Error::Label { label, .. }) = &error else { return error };
    let at = data.iter().find_map(|sequence| {
        let is_it = |&gold: &u32| data.labels.get(gold as usize) == Some(label);
        Some((sequence.index(), sequence.gold().iter().position(is_it)?))
    });
    match at {
        Some((sequence, token)) => data.error_at(sequence, token, error.to_string()).into(),
        None => error,
    }
}

/// Gold labels that cannot be, at their line.
fn placed(error: lineal_chain::Error, data: &Sequences) -> Error {
    match error {
        lineal_chain::Error::Gold { sentence, position } => {
            let label = data.get(sentence).gold()[position];
            let label = data.labels.get(label as usize).map_or("?", String::as_str);
            let message = format!(
                "the label `{label}` of token {} of sequence {} is forbidden here by --scheme or the forbidden transitions; correct the data, or leave the constraint out",
                position + 1,
                sentence + 1
            );
            data.error_at(sentence, position, message).into()
        }
        error => error.into(),
    }
}

/// Looks on while the learner runs: the curve, the held-out sequences, early stopping.
struct Watch<'a, 'h> {
    started: Instant,
    on_pass: Option<&'a mut OnPass<'a>>,
    held_out: Option<HeldOut<'h>>,
    patience: Option<usize>,
    curve: Vec<CurvePoint>,
    best: Option<(f64, usize, PrunedModel)>,
    failed: Option<Error>,
}

impl Watch<'_, '_> {
    fn see(&mut self, pass: &LearnPass<'_>, problem: &ChainProblem<'_>) -> ControlFlow<()> {
        let measure = |held_out: &HeldOut<'_>| {
            let model = problem.pruned(&pass.weights())?;
            Ok((held_out.metric(&model)?, model))
        };
        let (metric, model) = match self.held_out.as_ref().map(measure).transpose() {
            Ok(measured) => measured.unzip(),
            Err(error) => {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
        };
        let point = CurvePoint {
            pass: pass.pass,
            objective: pass.objective,
            train_loss: pass.loss,
            gap: pass.gap.filter(|gap| gap.is_finite()),
            gap_estimate: pass.gap_estimate,
            held_out_loss: None,
            held_out_metric: metric,
            blocks: None,
            seconds: self.started.elapsed().as_secs_f64(),
        };
        self.curve.push(point);
        if let Some(on_pass) = &mut self.on_pass {
            on_pass(&point)?;
        }
        let (Some(patience), Some(metric), Some(model)) = (self.patience, metric, model) else {
            return ControlFlow::Continue(());
        };
        if self.best.as_ref().is_none_or(|best| metric > best.0) {
            self.best = Some((metric, pass.pass, model));
        }
        match &self.best {
            Some((_, best, _)) if pass.pass - best >= patience => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// The best pass and its weights, if early stopping was on and it was not the last.
    fn take_best(&mut self) -> Option<(usize, PrunedModel)> {
        let last = self.curve.last()?.pass;
        self.best.take().filter(|best| best.1 != last).map(|(_, pass, model)| (pass, model))
    }
}

/// Sequences to watch, with their attributes.
struct HeldOut<'a> {
    data: &'a Sequences,
    rows: Rows,
    grammar: &'a Grammar,
}

/// Sequences that a thread takes at a time.
const CHUNK: usize = 32;

impl<'a> HeldOut<'a> {
    fn new(
        data: &'a Sequences,
        vectorizer: &Vectorizer,
        grammar: &'a Grammar,
    ) -> Result<Self, Error> {
        Ok(Self { data, rows: vectorizer.rows(data)?, grammar })
    }

    fn metric(&self, model: &PrunedModel) -> Result<f64, Error> {
        let all: Vec<usize> = (0..self.data.len()).collect();
        let shape = model.model();
        let new = || {
            let decoder = Decoder::new(self.grammar.clone(), shape.triples);
            (Parts::<f32>::new(), decoder, Scratch::new(), false)
        };
        let chunks: Vec<Result<Vec<Vec<u32>>, Error>> = all
            .par_chunks(CHUNK)
            .map_init(new, |(parts, decoder, s, loaded), chunk| {
                let one = |&i: &usize| {
                    let tokens = self.data.tokens(i);
                    let x = Observations {
                        unary: &self.rows.unary,
                        pairs: Some(&self.rows.pairs),
                        start: tokens.start,
                        end: tokens.end,
                    };
                    model.scores(x, parts);
                    if !std::mem::replace(loaded, true) {
                        decoder.load(parts);
                    }
                    let mut labels = Vec::new();
                    decoder.viterbi(parts, None, s, &mut labels)?;
                    Ok(labels)
                };
                chunk.iter().map(one).collect()
            })
            .collect();
        let mut labels = Vec::with_capacity(self.data.len());
        for chunk in chunks {
            labels.extend(chunk?);
        }
        let labels: Vec<&[u32]> = labels.iter().map(Vec::as_slice).collect();
        Ok(compare(self.data, shape.n_labels, &labels)?.main())
    }
}

/// What the user should know about the run, each with the flag to turn.
fn warnings(report: &TagReport, spec: &TagSpec) -> Vec<String> {
    let mut warnings = Vec::new();
    if report.classes == 1 {
        warnings.push("all positions have the same label: there is nothing to tell apart".into());
    }
    if report.features == 0 {
        warnings
            .push("no attribute has a weight: labels follow from their neighbours alone".into());
    }
    let minimises = report.objective.is_some() && report.loss != LossKind::Perceptron;
    if !report.converged && minimises {
        let far = match (report.gap, report.grad_norm) {
            (Some(gap), _) => {
                format!("the relative gap is {:.1e}", gap / report.objective.unwrap_or(1.0).abs())
            }
            (None, Some(norm)) => format!("the gradient norm is {norm:.1e}"),
            _ => "there is no certificate".into(),
        };
        let remedy = match report.solver {
            crate::SolverKind::Sgd => {
                "raise --epochs, or use --solver dual, which ends with a proof"
            }
            _ => "raise --max-passes, --tol or the penalty",
        };
        if report.best_pass.is_none() {
            warnings.push(format!(
                "did not converge to --tol {:.0e} in {} passes ({far}): {remedy}",
                spec.tol, report.passes
            ));
        }
    }
    warnings
}
