//! Training on rows that several processes hold: their gradients, and the driver that asks for them.
//!
//! Each process answers for its rows with a [`Partial`]; who drives the run adds the answers up by a tree of fixed shape, so that the weights have the same bits however the rows are spread. The
//! tree, and the questions, are in [`erm::partial`](lineal_erm::partial).

use crate::Error;
use crate::features::Features;
use crate::predict::layout::Layout;
use crate::predict::model::{Body, Model, Provenance};
use crate::request::Request;
use crate::request::spec::{
    ClassWeight, LossKind, Precision, SolverKind, Standardize, Strategy, TrainSpec,
};
use crate::train::losses::{with_class_loss, with_column_loss, with_real_loss};
use crate::train::report::{CurvePoint, Report};
use crate::train::weights::Weights;
use lineal_data::{Dataset, Labels, Schema, TargetKind, Targets};
use lineal_erm::Penalty;
use lineal_erm::partial::{Ask, BiasBound, Distributed, Growth, Partial, Whole};
use lineal_linalg::{Dense, Matrix, Order};
use lineal_loss::{
    Columnwise, Epsilon, Hinge, Huber, Logistic, Squared, SquaredHinge, SumHinge, SumSquaredHinge,
};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, Columns, Real, Signs};
use lineal_model::{Bias, Linear};
use lineal_solver::{self as solver, Lbfgs, Newton, Pass, Stop};
use std::ops::ControlFlow;

/// What some of many rows contribute to the mean loss that the spec asks for. `data` holds the rows from number `first_row` on. Its schema must name all classes, including those that these rows do not have.
///
/// ```
/// use lineal::erm::partial::{Question, Whole, combine, nodes};
/// use lineal::{Dataset, TrainSpec, partial};
///
/// let data = Dataset::from_rows(&[[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]], &["flat", "flat", "tall", "tall"])?;
/// let whole = Whole { n_rows: 4, rows_per_shard: 1, total_weight: 4.0 };
/// let spec = TrainSpec::default();
/// let all = partial(&data, &spec, whole, 0)?;
/// let (w, mut grad) = (vec![0.0; all.dim()], vec![0.0; all.dim()]);
/// let value = all.answer(0..4, Question::Gradient { w: &w }, &mut grad).unwrap();
///
/// // Two processes with two rows each come to the same bits.
/// let sums = [0..2, 2..4].map(|rows| {
///     let part = data.select(&rows.clone().collect::<Vec<_>>());
///     let some = partial(&part, &spec, whole, rows.start).unwrap();
///     let mut grad = vec![0.0; some.dim()];
///     let value = some.answer(rows.clone(), Question::Gradient { w: &w }, &mut grad).unwrap();
///     (rows, (value, grad))
/// });
/// assert_eq!(combine(4, sums.to_vec()), Ok((value, grad)));
/// # Ok::<(), lineal::Error>(())
/// ```
pub fn partial<'a>(
    data: &'a Dataset,
    spec: &'a TrainSpec,
    whole: Whole,
    first_row: usize,
) -> Result<Partial<'a>, Error> {
    let request = Request::check(data, spec)?;
    check(spec, &request)?;
    let (x, weights, n) = (&data.x, data.weights.as_deref(), data.n_features());
    macro_rules! make {
        (convex, $space:expr, $loss:expr, $y:expr) => {
            Partial::new(Linear::new(n, $space, spec.bias), $loss, x, $y, weights, whole, first_row)
        };
        ($level:ident, $space:expr, $loss:expr, $y:expr) => {
            Partial::curved(
                Linear::new(n, $space, spec.bias),
                $loss,
                x,
                $y,
                weights,
                whole,
                first_row,
            )
        };
    }
    let made = match &data.y {
        Targets::Real(y) => {
            macro_rules! run {
                ($level:ident, $space:expr, $loss:expr) => {
                    make!($level, $space, $loss, y.as_slice())
                };
            }
            with_real_loss!(run, request.loss, spec.delta, spec.epsilon)
        }
        Targets::Classes(y) if !request.by_columns => {
            macro_rules! run {
                ($level:ident, $space:expr, $loss:expr) => {
                    make!($level, $space, $loss, y.as_slice())
                };
            }
            let (two, many) = (request.n_classes == 2, Classes(request.n_classes));
            with_class_loss!(run, request.loss, two, spec.sum, &spec.cost, Binary, many)
        }
        y => {
            let signs = match y {
                Targets::Labels(labels) => {
                    Signs::Labels { start: labels.starts(), ids: labels.ids() }
                }
                _ => Signs::OneVsAll,
            };
            let space = Columns::new(signs, request.n_classes);
            let kinds = crate::train::strategy::kinds(y);
            macro_rules! run {
                ($level:ident, $loss:expr) => {
                    make!($level, space, Columnwise($loss), kinds)
                };
            }
            with_column_loss!(run, request.loss)
        }
    };
    made.map_err(Error::Request)
}

/// What the second derivative of a loss is at most, along the scores of a row: what the rate of stochastic steps must heed.
fn curvature(request: &Request) -> f64 {
    match request.loss {
        LossKind::Logistic => 0.5,
        LossKind::SquaredHinge if !request.by_columns => 2.0 * request.n_outputs().min(2) as f64,
        LossKind::SquaredHinge => 2.0,
        _ => 1.0,
    }
}

/// What needs a look at all rows at once, or is no sum over them.
fn check(spec: &TrainSpec, request: &Request) -> Result<(), Error> {
    let refuse = |why: &str| Err(Error::request(format!("rows of several processes: {why}")));
    if request.is_tree || !matches!(spec.strategy, Strategy::Joint | Strategy::Ova) {
        return refuse("strategy must be joint or ova");
    }
    if request.by_columns && spec.cost.is_some() {
        return refuse("cost needs the strategy joint");
    }
    if spec.class_weight != ClassWeight::Equal {
        return refuse("class_weight must be equal; give each row its weight");
    }
    if spec.standardize == Standardize::All || spec.validation != 0.0 || spec.hard_margin {
        return refuse("standardize, validation and hard_margin are not there");
    }
    if spec.calibrate.is_some() || spec.threshold.is_tuned() {
        return refuse("calibrate and threshold are not there");
    }
    Ok(())
}

/// Trains on rows that are somewhere else. `ask` answers each question with the sum over all shards ([`combine`](lineal_erm::partial::combine) makes it from the sums of processes), `schema` says what
/// features and classes are. The solver is `lbfgs` (OWL-QN with `l1`) or `newton`; the loss must be smooth. Called again with the same answers, it takes the same steps.
///
/// With a free bias nothing is proven of the distance from the optimum unless [`DistributedTraining::facts`] are known: the report has the gradient's norm. Where every weight is penalised, it has a gap.
pub fn train_distributed<'a>(
    schema: &'a Schema,
    spec: &'a TrainSpec,
    whole: Whole,
    ask: &'a mut Ask<'a, Error>,
) -> Result<(Model, Report), Error> {
    DistributedTraining::new(schema, spec, whole).run(ask)
}

/// Facts about the rows that bound a free bias, so that a gradient becomes a certificate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowFacts {
    /// The length of the longest row.
    pub longest_row: f64,
    /// The least share among all rows, by weight, of those of a class; for labels and one class against the others, of those with or without one. 1 for numbers.
    pub least_share: f64,
}

/// A training run on rows that are in other processes, with all its options.
///
/// ```
/// use lineal::erm::partial::{Question, Whole};
/// use lineal::{Dataset, DistributedTraining, RowFacts, TrainSpec, partial};
///
/// let data = Dataset::from_rows(&[[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]], &["flat", "flat", "tall", "tall"])?;
/// let whole = Whole { n_rows: 4, rows_per_shard: 2, total_weight: 4.0 };
/// let spec = TrainSpec::default();
/// let rows = partial(&data, &spec, whole, 0)?; // in one process, for an example
/// let mut ask = |question: Question<'_>, out: &mut [f64]| rows.answer(0..2, question, out).map_err(lineal::Error::Request);
/// let facts = RowFacts { longest_row: 8.1, least_share: 0.5 };
/// let (model, report) = DistributedTraining::new(&data.schema, &spec, whole).facts(facts).run(&mut ask)?;
/// assert!(report.gap.unwrap() <= spec.tol * report.objective * 1.01);
/// assert_eq!(model.predict_one(&[9.0, 2.0])?, "tall");
/// # Ok::<(), lineal::Error>(())
/// ```
pub struct DistributedTraining<'a> {
    schema: &'a Schema,
    spec: &'a TrainSpec,
    whole: Whole,
    features: Features,
    facts: Option<RowFacts>,
    rounds: usize,
    on_pass: Option<&'a mut OnPass<'a>>,
}

/// Sees every pass and may end the run.
type OnPass<'a> = dyn FnMut(&CurvePoint) -> ControlFlow<()> + 'a;

impl<'a> DistributedTraining<'a> {
    /// What is to be learnt from which rows.
    pub fn new(schema: &'a Schema, spec: &'a TrainSpec, whole: Whole) -> Self {
        let features = Features::default();
        Self { schema, spec, whole, features, facts: None, rounds: 0, on_pass: None }
    }

    /// So many rounds of stochastic steps first, each shard on its own and then averaged: a start for L-BFGS. They are left out for Newton's method, with `l1` and without `l2`.
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// How text became these features, for the model.
    pub fn features(mut self, features: &Features) -> Self {
        self.features = features.clone();
        self
    }

    /// What bounds a free bias: with it the report has a gap.
    pub fn facts(mut self, facts: RowFacts) -> Self {
        self.facts = Some(facts);
        self
    }

    /// Calls `on_pass` after every pass.
    pub fn monitor(mut self, on_pass: &'a mut OnPass<'a>) -> Self {
        self.on_pass = Some(on_pass);
        self
    }

    fn bound(&self, request: &Request) -> Option<BiasBound> {
        let RowFacts { longest_row, least_share } = self.facts?;
        let is_joint = !request.by_columns && request.n_classes > 2;
        let growth = match request.loss {
            LossKind::Logistic => Growth::Linear,
            LossKind::SquaredHinge if !is_joint => Growth::Quadratic,
            LossKind::Squared if self.schema.target == TargetKind::Real => Growth::Squares,
            _ => return None,
        };
        Some(BiasBound { growth, longest_row, least_share })
    }

    /// Trains; `ask` answers each question with the sum over all shards.
    pub fn run(self, ask: &'a mut Ask<'a, Error>) -> Result<(Model, Report), Error> {
        let Self { schema, spec, whole, .. } = self;
        let request = Request::check(&nothing(schema)?, spec)?;
        check(spec, &request)?;
        let l2 = spec.penalty.l2(whole.total_weight);
        let solver = match spec.solver {
            SolverKind::Auto | SolverKind::Lbfgs => SolverKind::Lbfgs,
            SolverKind::Newton if spec.l1 == 0.0 => SolverKind::Newton,
            other => {
                return Err(Error::request(format!(
                    "rows of several processes: solver must be lbfgs, or newton without l1, not {other}"
                )));
            }
        };
        if !request.is_smooth() {
            return Err(Error::request(format!(
                "rows of several processes: the loss must be smooth, and {} is not",
                request.loss
            )));
        }
        let n_outputs = request.n_outputs();
        let of = |covered: bool| (schema.n_features + usize::from(covered)) * n_outputs;
        let (dim, n_penalised) = (of(spec.bias != Bias::None), of(spec.bias == Bias::Penalised));
        let penalty = Penalty { l2, l1: spec.l1 };
        let bound = self.bound(&request);
        let mut risk = Distributed::new(dim, n_penalised, penalty, ask).bounded(bound);
        let stop = Stop { tol: spec.tol, max_passes: spec.max_passes.unwrap_or(1000) };
        let mut w = vec![0.0; dim];
        let (mut curve, mut on_pass) = (Vec::new(), self.on_pass);
        let mut note = |point: CurvePoint| {
            let flow = on_pass.as_mut().map_or(ControlFlow::Continue(()), |see| see(&point));
            curve.push(point);
            flow
        };
        let (mut n_rounds, mut flow) = (0, ControlFlow::Continue(()));
        if self.rounds > 0 && solver == SolverKind::Lbfgs && spec.l1 == 0.0 && l2 > 0.0 {
            let rounds = self.rounds.min(stop.max_passes);
            flow = risk.start_by_steps(rounds, curvature(&request), &mut w, &mut |round, loss| {
                n_rounds = round;
                note(CurvePoint { pass: round, train_loss: Some(loss), ..CurvePoint::default() })
            });
        }
        let max_passes = if flow.is_break() { 0 } else { stop.max_passes - n_rounds };
        let stop = Stop { max_passes, ..stop };
        let mut see = |pass: &Pass<'_, f64>| {
            let gap = pass.gap.filter(|gap| gap.is_finite());
            let (pass, objective) = (n_rounds + pass.pass, Some(pass.value));
            note(CurvePoint { pass, objective, gap, ..CurvePoint::default() })
        };
        let outcome = match solver {
            // The whole Hessian is not a question.
            SolverKind::Newton => {
                let config = Newton { stop, dense_up_to: 0, ..Newton::default() };
                solver::newton(&config, &mut risk, &mut w, &mut see)
            }
            _ => {
                let config = Lbfgs { stop, ..Lbfgs::default() };
                solver::lbfgs(&config, &mut risk, &mut w, &mut see)
            }
        };
        let (failure, proven) = (risk.take_failure(), risk.proven);
        if let Some(failure) = failure {
            return Err(failure);
        }
        if solver::Interrupt::current().is_stopped() {
            return Err(Error::Interrupted);
        }
        let outcome = outcome?;
        let report = Report {
            examples: whole.n_rows,
            solver,
            l2,
            objective: outcome.value,
            gap: outcome.gap.and(proven),
            grad_norm: outcome.grad_norm,
            converged: outcome.converged,
            passes: n_rounds + outcome.passes,
            curve,
            ..unknown(spec, schema, &request)
        };
        let model = with_weights(schema, spec, &request, w, &report, self.features)?;
        Ok((model, report))
    }
}

impl Model {
    /// A model of weights that were found elsewhere, to be saved and to predict: feature by feature the weights of all outputs (one for two classes or a number, else one for each class or
    /// label), and those of the bias at the end, unless the spec has none.
    ///
    /// ```
    /// use lineal::{Model, Schema, TargetKind, TrainSpec};
    ///
    /// let schema = Schema::of_arrays(2, TargetKind::Classes, vec!["flat".into(), "tall".into()]);
    /// let model = Model::from_weights(schema, TrainSpec::default(), vec![0.5, -0.5, 0.1])?;
    /// assert_eq!(model.predict_one(&[9.0, 2.0])?, "tall");
    /// # Ok::<(), lineal::Error>(())
    /// ```
    pub fn from_weights(schema: Schema, spec: TrainSpec, w: Vec<f64>) -> Result<Self, Error> {
        let request = Request::check(&nothing(&schema)?, &spec)?;
        if request.is_tree || !matches!(spec.strategy, Strategy::Joint | Strategy::Ova) {
            return Err(Error::request("from_weights: strategy must be joint or ova"));
        }
        if let Some(at) = w.iter().position(|w| !w.is_finite()) {
            return Err(Error::request(format!("w[{at}] is {}; weights must be finite", w[at])));
        }
        let report = unknown(&spec, &schema, &request);
        with_weights(&schema, &spec, &request, w, &report, Features::default())
    }
}

fn with_weights(
    schema: &Schema,
    spec: &TrainSpec,
    request: &Request,
    w: Vec<f64>,
    report: &Report,
    features: Features,
) -> Result<Model, Error> {
    let n_rows = schema.n_features + usize::from(spec.bias != Bias::None);
    let n_outputs = request.n_outputs();
    if n_rows.checked_mul(n_outputs) != Some(w.len()) {
        return Err(Error::request(format!(
            "w has {} weights; {n_rows} features, the bias among them, of {n_outputs} outputs have {}",
            w.len(),
            n_rows.saturating_mul(n_outputs)
        )));
    }
    let layout = match (request.by_columns, schema.target) {
        (true, TargetKind::Labels) => Layout::Labels,
        (true, _) => Layout::Ova,
        (false, _) => Layout::Joint,
    };
    let body = Body { weights: Weights::F64(w), layout, tree: None };
    let provenance = Provenance::of("arrays");
    Model::new(body, spec.clone(), schema.clone(), features, report, provenance)
}

/// A report of a run of which nothing is known.
fn unknown(spec: &TrainSpec, schema: &Schema, request: &Request) -> Report {
    Report {
        task: spec.task,
        examples: 0,
        features: schema.n_features,
        classes: request.n_classes,
        loss: request.loss,
        sum: spec.sum && request.n_classes > 2,
        strategy: spec.strategy,
        problems: if request.by_columns { request.n_classes } else { 1 },
        rows_touched: 0,
        code: None,
        tree: None,
        solver: spec.solver,
        precision: Precision::F64,
        l2: 0.0,
        l1: spec.l1,
        objective: f64::NAN,
        gap: None,
        grad_norm: None,
        converged: false,
        passes: 0,
        updates: None,
        best_pass: None,
        curve: Vec::new(),
        margins: None,
        warnings: Vec::new(),
        structured: None,
    }
}

/// No rows, for what is checked of requests without them.
fn nothing(schema: &Schema) -> Result<Dataset, Error> {
    let x = Dense::from_array(0, schema.n_features, Vec::<f32>::new(), Order::Rows)?;
    let y = match schema.target {
        TargetKind::Classes => Targets::Classes(Vec::new()),
        TargetKind::Labels => {
            Labels::new(vec![0], Vec::new()).map_or(Targets::None, Targets::Labels)
        }
        _ => Targets::Real(Vec::new()),
    };
    Ok(Dataset {
        x: Matrix::Dense(x),
        y,
        weights: None,
        queries: None,
        schema: schema.clone(),
        warnings: Vec::new(),
        source: "arrays".into(),
    })
}
