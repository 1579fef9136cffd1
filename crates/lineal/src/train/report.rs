//! The report of a training run.

use crate::request::spec::{LossKind, Precision, SolverKind, Strategy, Task};
use serde::{Deserialize, Serialize};

/// The certificate of a training run, and how it was reached. `lineal train --json` prints it, and the model file keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What is predicted.
    pub task: Task,
    /// Rows, sequences or sentences trained on.
    pub examples: usize,
    /// Features, the bias not counted; attributes that have weights.
    pub features: usize,
    /// Classes, labels or relations; 0 for regression.
    pub classes: usize,
    /// The loss.
    pub loss: LossKind,
    /// Whether it was the sum form.
    pub sum: bool,
    /// How several classes became one problem.
    pub strategy: Strategy,
    /// Binary problems that were solved; 1 for `joint`.
    #[serde(default)]
    pub problems: usize,
    /// The number of rows that these problems read, in all.
    #[serde(default)]
    pub rows_touched: u64,
    /// `ecoc`: what the code can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeReport>,
    /// `tree`: its shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeReport>,
    /// The solver that ran (never `auto`).
    pub solver: SolverKind,
    /// The type of the weights (never `auto`).
    pub precision: Precision,
    /// λ of (λ/2)‖W‖².
    pub l2: f64,
    /// The factor of ‖W‖₁.
    pub l1: f64,
    /// mean loss + (l2/2)‖W‖² + l1‖W‖₁ at the stored weights. It is NaN (in JSON, null) after a stream, because it would take another pass, and after updates of
    /// structures that minimise nothing (perceptron, passive–aggressive).
    #[serde(deserialize_with = "or_nan")]
    pub objective: f64,
    /// A proven bound on (objective − minimum), if this problem has a dual.
    pub gap: Option<f64>,
    /// The norm of the objective's gradient (of its smallest subgradient where there is an l1 part).
    pub grad_norm: Option<f64>,
    /// Whether the tolerance was met; for updates that minimise nothing, whether a pass changed nothing.
    pub converged: bool,
    /// Passes over the data.
    pub passes: usize,
    /// Examples that changed the weights, for `sgd`.
    pub updates: Option<u64>,
    /// The pass whose weights were kept, if that was not the last one (early stopping).
    pub best_pass: Option<usize>,
    /// One entry per pass, where recorded. A model file keeps 200 at most, and no times.
    pub curve: Vec<CurvePoint>,
    /// Margins of the training rows, score of the gold class minus the best other one.
    pub margins: Option<Margins>,
    /// What the user should know: that the run did not converge and what to change, features that never occur, ….
    pub warnings: Vec<String>,
    /// What only structured outputs have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<StructuredReport>,
}

/// What the report of a run on structured outputs has in addition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StructuredReport {
    /// Tokens in the examples.
    pub tokens: usize,
    /// Tokens without a gold label or head: the loss sums or maximises over the possible ones.
    pub unlabelled: usize,
    /// The number of weights.
    pub weights: usize,
    /// Rankings: the decisions that the loss is about, such as pairs of documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub decisions: u64,
    /// The mean loss; for updates that minimise nothing, the mean over the last pass, each example before its update.
    pub mean_loss: f64,
    /// Other models that were trained for this one, each by a run of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageReport>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A run that is part of another one: it trains a pruner before, or a labeller after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// What was learnt.
    pub stage: String,
    /// The loss.
    pub loss: LossKind,
    /// The solver.
    pub solver: SolverKind,
    /// Passes over the data.
    pub passes: usize,
    /// The objective, where one was minimised.
    pub objective: Option<f64>,
    /// A proven bound on (objective − minimum).
    pub gap: Option<f64>,
    /// What it achieves on the training data, with the name of the metric: `recall of heads`, `accuracy`.
    pub figure: Option<(String, f64)>,
}

/// Points of the curve that a model file keeps.
const STORED_POINTS: usize = 200;

impl Report {
    /// As a model file keeps it: with some points of a long curve, and without times, so that the file has the same bytes for the same data and seed.
    pub(crate) fn stored(&self) -> Self {
        // What nodes of a tree tell comes in the order in which threads reach them.
        let curve: &[CurvePoint] = if self.tree.is_some() { &[] } else { &self.curve };
        let last = curve.len().saturating_sub(1);
        let n_kept = curve.len().min(STORED_POINTS);
        // Both ends, and the others as evenly as whole numbers allow; the nearest of those gives way to the pass whose weights were kept.
        let mut kept: Vec<usize> =
            (0..n_kept).map(|i| (i * last).checked_div(n_kept - 1).unwrap_or(0)).collect();
        let best = self.best_pass.and_then(|pass| curve.iter().position(|p| p.pass == pass));
        if let Some(best) = best.filter(|best| !kept.contains(best))
            && let Some(nearest) = kept[1..n_kept - 1].iter_mut().min_by_key(|at| at.abs_diff(best))
        {
            *nearest = best;
        }
        let point = |at: usize| CurvePoint { seconds: 0.0, ..curve[at] };
        Self { curve: kept.into_iter().map(point).collect(), ..self.clone() }
    }

    /// The certificate in words: "objective 0.35, within 0.04 % of the optimum (duality gap 1.4e-4)".
    pub fn certificate(&self) -> String {
        match &self.structured {
            Some(more)
                if !self.objective.is_nan()
                    && more.unlabelled > 0
                    && self.gap.is_none()
                    && self.grad_norm.is_none() =>
            {
                format!(
                    "objective {:.6}, no certificate: where gold labels are not known, the loss has no dual and so no gap",
                    self.objective
                )
            }
            _ if !self.objective.is_nan() => certificate(self.objective, self.gap, self.grad_norm),
            None => "none: the rows went by in a stream".to_owned(),
            Some(_) if self.best_pass.is_some() => {
                "stopped early: there is no certificate of the weights that were kept".to_owned()
            }
            Some(_) if self.converged => {
                "a pass changed nothing: no training example is predicted wrong".to_owned()
            }
            Some(structured) => format!(
                "mean loss {:.6} in the last pass; this update minimises no objective, so there is no certificate",
                structured.mean_loss
            ),
        }
    }
}

/// An objective and how far from the optimum it may be, in words.
pub(crate) fn certificate(objective: f64, gap: Option<f64>, grad_norm: Option<f64>) -> String {
    match (gap, grad_norm) {
        (Some(0.0), _) => {
            format!("objective {objective:.6}, within 0 % of the optimum (duality gap 0)")
        }
        // A bound above the value itself says nothing that "at least 0" does not.
        (Some(gap), _) if gap >= objective.abs() => {
            format!("objective {objective:.6}, far from proven optimal (duality gap {gap:.1e})")
        }
        (Some(gap), _) => format!(
            "objective {objective:.6}, within {} of the optimum (duality gap {gap:.1e})",
            percent(gap / objective.abs()),
        ),
        (None, Some(norm)) => format!(
            "objective {objective:.6}, gradient norm {norm:.1e}; nothing is proven about its distance from the optimum"
        ),
        (None, None) => format!("objective {objective:.6}, no certificate"),
    }
}

/// JSON has no NaN.
fn or_nan<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

fn percent(x: f64) -> String {
    let percent = 100.0 * x;
    if percent >= 0.01 { format!("{percent:.2} %") } else { format!("{percent:.0e} %") }
}

/// An output code in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeReport {
    /// Binary problems.
    pub columns: usize,
    /// The minimum distance d of two codewords.
    pub min_distance: usize,
    /// ⌊(d − 1)/2⌋, the number of wrong answers that it corrects.
    pub corrects: usize,
}

/// A label tree in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeReport {
    /// Nodes that ask.
    pub nodes: usize,
    /// The most questions on the way to a class.
    pub depth: usize,
}

/// The state after a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// From 1.
    pub pass: usize,
    /// The objective: exact if the curve was asked for, else as far as the solver knew it.
    pub objective: Option<f64>,
    /// Mean training loss, if the curve was asked for (or what `sgd` saw on the way).
    pub train_loss: Option<f64>,
    /// The duality gap, in the passes that computed it.
    pub gap: Option<f64>,
    /// What the gap seems to be in the others: no proof.
    pub gap_estimate: Option<f64>,
    /// Mean loss on the held-out rows.
    pub held_out_loss: Option<f64>,
    /// What is measured on the held-out examples: accuracy, −RMSE, span F1, ….  Larger is better.
    pub held_out_metric: Option<f64>,
    /// Where problems are trained side by side: blocks of them that have ended, and all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<(usize, usize)>,
    /// Seconds since training started; 0, and not in JSON, where they were not kept.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub seconds: f64,
}

fn is_nothing(x: &f64) -> bool {
    *x == 0.0
}

/// The distribution of training margins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Margins {
    /// The smallest.
    pub min: f64,
    /// 1 %, 10 %, 25 %, 50 %, 75 %, 90 % and 99 % quantiles.
    pub quantiles: Vec<(f64, f64)>,
    /// The largest.
    pub max: f64,
    /// For each class: its name, its smallest margin, its median.
    pub per_class: Vec<(String, f64, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(n: usize, best_pass: Option<usize>) -> Report {
        let point = |i: usize| CurvePoint {
            pass: i + 1,
            objective: Some(1.0 / (i + 1) as f64),
            seconds: i as f64,
            ..CurvePoint::default()
        };
        Report {
            task: Task::Classify,
            examples: 1,
            features: 1,
            classes: 2,
            loss: LossKind::Hinge,
            sum: false,
            strategy: Strategy::Joint,
            problems: 1,
            rows_touched: 1,
            code: None,
            tree: None,
            solver: SolverKind::Sgd,
            precision: Precision::F64,
            l2: 1.0,
            l1: 0.0,
            objective: 0.5,
            gap: None,
            grad_norm: None,
            converged: true,
            passes: n,
            updates: None,
            best_pass,
            curve: (0..n).map(point).collect(),
            margins: None,
            warnings: Vec::new(),
            structured: None,
        }
    }

    #[test]
    fn files_keep_some_points_and_no_times() {
        for n in [0usize, 1, 2, 199, 200, 201, 5000] {
            for best_pass in [None, Some(1), Some(4.min(n)), Some(n.div_ceil(2)), Some(n)] {
                let curve = report(n, best_pass).stored().curve;
                assert_eq!(curve.len(), n.min(STORED_POINTS));
                assert!(curve.iter().all(|point| point.seconds == 0.0));
                assert!(curve.windows(2).all(|pair| pair[0].pass < pair[1].pass), "{n}");
                let is_kept = |pass: usize| curve.iter().any(|point| point.pass == pass);
                assert!(n == 0 || is_kept(1) && is_kept(n));
                assert!(best_pass.is_none_or(|best| n == 0 || is_kept(best)), "{n} {best_pass:?}");
            }
        }
        let tree = Report { tree: Some(TreeReport { nodes: 3, depth: 2 }), ..report(9, None) };
        assert!(tree.stored().curve.is_empty());
        let text = serde_json::to_string(&report(2, None).stored()).unwrap();
        assert!(!text.contains("seconds"), "{text}");
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report(2, None).stored());
    }
}
