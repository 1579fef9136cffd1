//! Lineal's own linear models as the binary learner of a reduction.
//!
//! `--strategy` trains all columns in one pass and needs none of this. It is for library users who mix: a reduction of their own over linear models, or linear
//! models in some nodes and something else in others.

use crate::predict::model::Model;
use crate::request::spec::{Strategy, TrainSpec};
use crate::train::train;
use crate::{Error, Report};
use lineal_data::{Dataset, Format, Schema, TargetKind, Targets};
use lineal_linalg::{Matrix, Row, kernels};
use lineal_reduce::{BinaryLearner, BinaryScorer, BinaryTask};

/// Fits a binary linear model to each task of a reduction over a [`Matrix`].
///
/// ```
/// use lineal::linalg::{Dense, Matrix};
/// use lineal::reduce::{Examples, OneVsAll};
/// use lineal::{LinearLearner, LossKind, TrainSpec};
///
/// let x = Matrix::Dense(Dense::new(6, 1, vec![0.0, 0.2, 3.0, 3.2, 6.0, 6.2]).unwrap());
/// let y = [0, 0, 0, 1, 1, 1];
/// let spec = TrainSpec { loss: Some(LossKind::Hinge), ..TrainSpec::default() };
/// let examples = Examples::new(&x, &y, 2)?;
/// let model = OneVsAll::fit(&LinearLearner::new(spec), &examples)?;
/// assert_eq!(model.predict(x.row(5)), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearLearner {
    spec: TrainSpec,
}

/// A binary linear model, with how its training went.
#[derive(Clone, Debug)]
pub struct LinearScorer {
    /// One weight a feature.
    pub w: Vec<f64>,
    /// What is added to every score.
    pub bias: f64,
    /// Objective, gap and the rest.
    pub report: Report,
    has_proba: bool,
}

impl LinearLearner {
    /// Trains every task by this spec, whatever its strategy says.
    pub fn new(spec: TrainSpec) -> Self {
        Self { spec: TrainSpec { strategy: Strategy::Joint, ..spec } }
    }
}

impl BinaryLearner for LinearLearner {
    type Scorer = LinearScorer;
    type Error = Error;

    fn fit(&self, task: &BinaryTask<'_, Matrix>) -> Result<LinearScorer, Error> {
        let rows: Vec<usize> = task.rows().iter().map(|&row| row as usize).collect();
        let x = task.inputs().select(&rows);
        let schema = Schema {
            format: Format::Svmlight,
            target: TargetKind::Classes,
            classes: vec!["no".into(), "yes".into()],
            n_features: x.n_cols(),
            columns: None,
            feature_ids: None,
            n_computed: 0,
            image: None,
            no_header: false,
            delimiter: None,
            encoding: None,
        };
        let data = Dataset {
            y: Targets::Classes(task.iter().map(|e| u32::from(e.sign > 0.0)).collect()),
            weights: Some(task.iter().map(|e| e.weight as f32).collect()),
            x,
            queries: None,
            schema,
            warnings: Vec::new(),
            source: format!("problem {}", task.number() + 1),
        };
        let (model, report): (Model, Report) = train(&data, &self.spec)?;
        Ok(LinearScorer {
            w: (0..model.n_features()).map(|j| model.weight(j, 0)).collect(),
            bias: model.bias().first().copied().unwrap_or(0.0),
            has_proba: model.has_proba(),
            report,
        })
    }
}

impl BinaryScorer for LinearScorer {
    type Inputs = Matrix;

    fn score(&self, x: Row<'_>) -> f64 {
        kernels::dot(x, &self.w) + self.bias
    }

    fn proba(&self, x: Row<'_>) -> Option<f64> {
        self.has_proba.then(|| lineal_linalg::special::sigmoid(self.score(x)))
    }
}
