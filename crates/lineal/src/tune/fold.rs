//! One fold: a view of the training rows, a copy of those to measure, and where the last run ended.

use super::TuneMetric;
use super::path::Measured;
use crate::Error;
use crate::features::Features;
use crate::predict::evaluate::Metrics;
use crate::predict::model::{Body, Model, Provenance};
use crate::request::Request;
use crate::request::spec::{Precision, Strategy, TrainSpec};
use crate::train::fit::Job;
use crate::train::prepare::{example_weights, scaling};
use crate::train::report::Report;
use crate::train::warm::WarmStart;
use crate::train::watch::Watch;
use crate::train::{self, Trained};
use lineal_data::Dataset;
use lineal_linalg::Matrix;
use std::borrow::Cow;

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
            return Err(Error::request("all example weights of a fold are 0; give fewer --folds"));
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
            copy.schema.made = 0;
            copy
        });
        Ok(Self { data, x, weights, held_out, copy, warm: WarmStart::default() })
    }

    pub(super) fn measure(
        &mut self,
        spec: &TrainSpec,
        metric: TuneMetric,
    ) -> Result<Measured, Error> {
        if let Some(copy) = &self.copy {
            let (model, report) = train::train(copy, spec)?;
            let score = score(&model.evaluate(&self.held_out)?, metric);
            return Ok(Measured { score, passes: report.passes, converged: report.converged });
        }
        let request = Request::check(self.data, spec)?;
        let total: f64 = self.weights.iter().map(|&w| f64::from(w)).sum();
        let l2 = spec.penalty.l2(total);
        let solver = request.solver(spec, l2, self.x)?;
        let mut job = Job {
            spec,
            loss: request.loss,
            solver,
            l2,
            x: self.x,
            weights: Some(&self.weights),
            held_out_x: None,
            watch: Watch::new(None, None),
            warm: Some(&mut self.warm),
        };
        let y = &self.data.y;
        let precision = train::precision(spec, solver);
        let trained = match precision {
            Precision::F32 => train::fit_all::<f32>(&mut job, &request, y, None, total)?,
            _ => train::fit_all::<f64>(&mut job, &request, y, None, total)?,
        };
        let Trained { fit, layout, tree, problems, rows_touched } = trained;
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
        let score = score(&model.evaluate(&self.held_out)?, metric);
        Ok(Measured { score, passes: report.passes, converged: report.converged })
    }
}

/// Larger is better.
fn score(metrics: &Metrics, metric: TuneMetric) -> f64 {
    match (metrics, metric) {
        (Metrics::Classify(m), TuneMetric::Usual) => m.accuracy,
        (Metrics::Classify(m), TuneMetric::MacroF1) => m.macro_f1,
        (Metrics::Classify(m), TuneMetric::LogLoss) => -m.log_loss.unwrap_or(f64::INFINITY),
        (Metrics::Multilabel(m), TuneMetric::MacroF1) => m.macro_f1,
        (Metrics::Multilabel(m), _) => m.micro_f1,
        (Metrics::Regress(m), _) => -m.rmse,
    }
}
