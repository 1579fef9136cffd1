//! One fold: a view of the training rows, a copy of those to measure, and where the last run ended.

use super::TuneMetric;
use super::path::{Measured, stop_at};
use crate::Error;
use crate::features::Features;
use crate::predict::model::{Body, Model, Provenance};
use crate::request::Request;
use crate::request::spec::{Precision, Strategy, Threshold, TrainSpec};
use crate::train::crossfit::thresholds_on;
use crate::train::fit::Job;
use crate::train::prepare::{example_weights, scaling};
use crate::train::report::Report;
use crate::train::warm::WarmStart;
use crate::train::watch::Watch;
use crate::train::{self, Trained, Training};
use lineal_data::Dataset;
use lineal_linalg::Matrix;
use lineal_solver::Interrupt;
use std::borrow::Cow;
use std::time::Instant;

/// The rows on one scale where that is asked for: of all rows, as labels have no part in it.
pub(super) fn scaled<'d>(data: &'d Dataset, spec: &TrainSpec) -> Cow<'d, Matrix> {
    let mut x = Cow::Borrowed(&data.x);
    if let Some(scaling) = scaling(&x, &data.schema, data.weights.as_deref(), spec) {
        scaling.apply(x.to_mut());
    }
    x
}

pub(super) struct Fold<'d> {
    data: &'d Dataset,
    x: &'d Matrix,
    /// 0 for the rows held out.
    weights: Vec<f32>,
    held_out: Dataset,
    /// A label tree is shaped by rows and their labels, whatever these weigh: it gets a copy of its rows.
    copy: Option<Dataset>,
    warm: WarmStart,
}

impl<'d> Fold<'d> {
    pub(super) fn new(
        data: &'d Dataset,
        x: &'d Matrix,
        assigned: &[u32],
        fold: usize,
        spec: &TrainSpec,
    ) -> Result<Self, Error> {
        let (held, kept): (Vec<usize>, Vec<usize>) =
            (0..data.n_rows()).partition(|&i| assigned[i] as usize == fold);
        let mut weights = vec![0.0; data.n_rows()];
        let kept_weights = example_weights(data, spec, Some(&kept));
        for (at, &i) in kept.iter().enumerate() {
            weights[i] = kept_weights.as_ref().map_or(1.0, |w| w[at]);
        }
        if weights.iter().all(|&w| w == 0.0) {
            return Err(Error::request(
                "all example weights of a fold are 0; give fewer spec.folds",
            ));
        }
        let mut held_out = data.select(&held);
        let is_tree = spec.strategy == Strategy::Tree;
        let is_scaled = !std::ptr::eq(x, &data.x);
        if is_scaled && !is_tree {
            held_out.x = x.select(&held);
        }
        let copy = is_tree.then(|| {
            let mut copy = data.select(&kept);
            // Nobody will read text with the models of folds.
            copy.schema.n_computed = 0;
            copy
        });
        Ok(Self { data, x, weights, held_out, copy, warm: WarmStart::default() })
    }

    pub(super) fn measure(
        &mut self,
        spec: &TrainSpec,
        metric: TuneMetric,
        deadline: Option<Instant>,
    ) -> Result<Measured, Error> {
        let mut stop = stop_at(deadline);
        if let Some(copy) = &self.copy {
            // Thresholds are fitted to the rows held out here, not in folds of the others.
            let plain = TrainSpec { threshold: Threshold::Half, ..spec.clone() };
            let (mut model, report) = Training::new(copy, &plain).monitor(&mut stop).run()?;
            model.about.spec.threshold = spec.threshold;
            return self.measured(model, &report, metric, deadline);
        }
        let request = Request::check(self.data, spec)?;
        let total: f64 = self.weights.iter().map(|&w| f64::from(w)).sum();
        let l2 = spec.penalty.l2(total);
        let solver = request.solver(spec, l2, self.x, false)?;
        let mut job = Job {
            spec,
            loss: request.loss,
            solver,
            l2,
            x: self.x,
            weights: Some(&self.weights),
            held_out_x: None,
            watch: Watch::new(Some(&mut stop), None),
            warm: Some(&mut self.warm),
        };
        let y = &self.data.y;
        let precision = train::precision(spec, solver);
        let trained = match precision {
            Precision::F32 => train::fit_all::<f32>(&mut job, &request, y, None, total),
            _ => train::fit_all::<f64>(&mut job, &request, y, None, total),
        };
        if Interrupt::current().is_stopped() {
            return Err(Error::Interrupted);
        }
        let Trained { fit, layout, tree, problems, rows_touched } = trained?;
        let report = Report {
            task: spec.task,
            examples: self.x.n_rows() - self.held_out.n_rows(),
            features: self.x.n_cols(),
            classes: request.n_classes,
            loss: request.loss,
            sum: spec.sum,
            strategy: spec.strategy,
            problems,
            rows_touched,
            code: None,
            tree: None,
            solver,
            precision,
            l2,
            l1: 0.0,
            objective: fit.certificate.objective,
            gap: fit.certificate.gap,
            grad_norm: fit.certificate.grad_norm,
            converged: fit.certificate.converged,
            passes: fit.outcome.passes,
            updates: fit.outcome.updates,
            best_pass: None,
            curve: Vec::new(),
            margins: None,
            warnings: Vec::new(),
            structured: None,
        };
        let body = Body { weights: fit.weights, layout, tree };
        let provenance = Provenance { lineal: String::new(), source: String::new() };
        let (schema, features) = (self.data.schema.clone(), Features::default());
        let model = Model::new(body, spec.clone(), schema, features, &report, provenance)?;
        self.measured(model, &report, metric, deadline)
    }

    /// What a model is worth on the rows held out.
    fn measured(
        &self,
        model: Model,
        report: &Report,
        metric: TuneMetric,
        deadline: Option<Instant>,
    ) -> Result<Measured, Error> {
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let score = self.score(model, metric)?;
        let (passes, converged) = (report.passes, report.converged);
        Ok(Measured { score, passes, converged, interrupted: is_late && !converged })
    }

    /// The metric on the rows held out. Where thresholds are tuned, those of one half judge the other.
    fn score(&self, mut model: Model, metric: TuneMetric) -> Result<f64, Error> {
        let (task, n) = (model.task(), self.held_out.n_rows());
        if !model.spec().threshold.is_tuned() || n < 2 {
            return Ok(metric.score(&model.evaluate(&self.held_out)?, task));
        }
        let half = |at: usize| (at..n).step_by(2).collect::<Vec<_>>();
        let halves = [half(0), half(1)].map(|rows| self.held_out.select(&rows));
        let mut sum = 0.0;
        for at in 0..2 {
            model.about.thresholds = Some(thresholds_on(&model, &halves[1 - at])?);
            let share = halves[at].n_rows() as f64 / n as f64;
            sum += share * metric.score(&model.evaluate(&halves[at])?, task);
        }
        Ok(sum)
    }
}
