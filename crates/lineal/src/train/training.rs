//! The straight line from a spec and rows to a certified model, and the one big match.

use crate::Error;
use crate::features::Features;
use crate::predict::layout::Layout;
use crate::predict::model::{Body, Model, Provenance};
use crate::request::Request;
use crate::request::spec::{LossKind, Precision, SolverKind, Strategy, Task, TrainSpec};
#[cfg(feature = "dependency")]
use crate::tag::TagModel;
use crate::train::certify::Fit;
use crate::train::crossfit::OnFold;
use crate::train::fit::{Gold, Job};
use crate::train::losses::{with_class_loss, with_real_loss};
use crate::train::prepare::Prepared;
use crate::train::report::{CodeReport, Report, TreeReport};
use crate::train::strategy::Plan;
use crate::train::watch::{OnPass, Watch};
use crate::train::weights::{Number, Weights};
use crate::train::{columns, crossfit, fit, joint, prepare, summary};
#[cfg(feature = "dependency")]
use lineal_data::Treebank;
use lineal_data::{Dataset, Targets};
use lineal_linalg::memory;
use lineal_loss::{Epsilon, Hinge, Huber, Logistic, SquaredHinge, SumHinge, SumSquaredHinge};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::label_tree::LabelTree;
use lineal_model::space::{Binary, Classes, Real};
use lineal_reduce::Code;
use lineal_solver::Interrupt;

/// Trains on a [`Dataset`], [`Sequences`](lineal_data::Sequences) or a treebank, as the task of the spec asks. [`Training`] also takes a held-out set and a monitor.
pub fn train<D: Trainable>(data: &D, spec: &TrainSpec) -> Result<(D::Model, Report), Error> {
    Training::new(data, spec).run()
}

/// Data that a model can be trained on.
pub trait Trainable: Sized {
    /// The model that training makes.
    type Model;

    /// Whether this kind of data is for this task.
    #[doc(hidden)]
    fn is_for(task: Task) -> bool;

    /// Trains.
    #[doc(hidden)]
    fn train(run: Training<'_, Self>) -> Result<(Self::Model, Report), Error>;
}

/// A training run that is about to start: data and spec, and optionally a held-out set, a monitor and a model to start from.
pub struct Training<'a, D: Trainable = Dataset> {
    pub(crate) data: &'a D,
    pub(crate) spec: &'a TrainSpec,
    pub(crate) features: Option<&'a Features>,
    pub(crate) held_out: Option<&'a D>,
    pub(crate) start: Option<&'a D::Model>,
    pub(crate) on_pass: Option<&'a mut OnPass<'a>>,
    pub(crate) on_fold: Option<&'a mut OnFold<'a>>,
    #[cfg(feature = "dependency")]
    pub(crate) tagger: Option<&'a TagModel>,
}

impl<'a, D: Trainable> Training<'a, D> {
    /// A run on this data with this spec.
    pub fn new(data: &'a D, spec: &'a TrainSpec) -> Self {
        Self {
            data,
            spec,
            features: None,
            held_out: None,
            start: None,
            on_pass: None,
            on_fold: None,
            #[cfg(feature = "dependency")]
            tagger: None,
        }
    }

    /// Measure the model on this set after every pass, instead of on a share of the training examples. It must be read with the schema of the training data.
    pub fn held_out(mut self, data: &'a D) -> Self {
        self.held_out = Some(data);
        self
    }

    /// Call this function after every pass.
    pub fn monitor(mut self, on_pass: &'a mut OnPass<'a>) -> Self {
        self.on_pass = Some(on_pass);
        self
    }

    /// Start from the weights that a trained model has for the same features and labels. Models of rows do this in [streams](crate::Streaming) only.
    pub fn start_from(mut self, model: &'a D::Model) -> Self {
        self.start = Some(model);
        self
    }

    /// Trains.
    ///
    /// A [`monitor`](Self::monitor) that returns `Break` ends the run after a pass, with the model so far. An [`Interrupt`] ends the run within a pass, with [`Error::Interrupted`]:
    ///
    /// ```
    /// use lineal::{Dataset, Error, Interrupt, TrainSpec, train};
    ///
    /// let data = Dataset::from_rows(&[[1.0], [2.0]], &["a", "b"])?;
    /// let interrupt = Interrupt::new();
    /// let button = interrupt.clone(); // for another thread, or a handler of Ctrl-C
    /// button.stop();
    /// let trained = interrupt.scope(|| train(&data, &TrainSpec::default()));
    /// assert!(matches!(trained, Err(Error::Interrupted)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run(self) -> Result<(D::Model, Report), Error> {
        match D::is_for(self.spec.task) {
            // What a run that was interrupted leaves means nothing, be it a model or an error.
            true => match D::train(self) {
                _ if Interrupt::current().is_stopped() => Err(Error::Interrupted),
                trained => trained,
            },
            false => Err(Error::request(format!(
                "the data is not for the task {}: rows, sequences and treebanks have tasks of their own (see TrainSpec::for_task)",
                self.spec.task
            ))),
        }
    }
}

impl<'a> Training<'a> {
    /// Store these features of [`read_features`](crate::read_features) in the model, so that it predicts from raw text.
    pub fn features(mut self, features: &'a Features) -> Self {
        self.features = Some(features);
        self
    }

    /// Call this function before every fold of a calibration.
    pub fn on_fold(mut self, on_fold: &'a mut OnFold<'a>) -> Self {
        self.on_fold = Some(on_fold);
        self
    }
}

#[cfg(feature = "dependency")]
impl<'a> Training<'a, Treebank> {
    /// Tag the sentences with this tagger before the parser is trained, and keep the tagger in the model: see [`TagsKind::Given`](crate::TagsKind::Given).
    pub fn tagger(mut self, tagger: &'a TagModel) -> Self {
        self.tagger = Some(tagger);
        self
    }
}

/// Rows are copied to be without gaps if that takes at most 64 MB.
const MOST_WITHOUT_GAPS: usize = 1 << 24;

impl Trainable for Dataset {
    type Model = Model;

    fn is_for(task: Task) -> bool {
        !task.is_structured()
    }

    fn train(run: Training<'_, Self>) -> Result<(Model, Report), Error> {
        let Training { data, spec, features, held_out, start, on_pass, on_fold, .. } = run;
        if start.is_some() {
            return Err(Error::request(
                "models of rows start from another one in a stream only: see resume",
            ));
        }
        let features = features.cloned().unwrap_or_default();
        if features.n_computed() != data.schema.n_computed {
            return Err(Error::request(format!(
                "{}: rows have {} features made of text, but the features given make {}; give the features that were returned with the data",
                data.source,
                data.schema.n_computed,
                features.n_computed()
            )));
        }
        let request = Request::check(data, spec)?;
        let prepared = Prepared::new(data, spec, held_out)?;
        let total_weight = prepared.total_weight();
        if total_weight <= 0.0 {
            return Err(Error::request("all example weights are 0; nothing can be learnt"));
        }
        if !total_weight.is_finite() {
            return Err(Error::request(
                "weights of examples, times those of their classes (spec.class_weight), are too large for single precision; take smaller ones",
            ));
        }
        let dense = prepared.x.densified(MOST_WITHOUT_GAPS);
        let (x, y) = (dense.as_ref().unwrap_or(&prepared.x), &*prepared.y);
        let l2 = spec.penalty.l2(total_weight);
        let joint = joint::model(&features, data, spec)?;
        let solver = match &joint {
            Some(_) => joint::solver(&request, spec, l2, x)?,
            None => request.solver(spec, l2, x, prepared.held_out.is_some())?,
        };
        let mut job = Job {
            spec,
            loss: request.loss,
            solver,
            l2,
            x,
            weights: prepared.weights.as_deref(),
            held_out_x: prepared.held_out.as_ref().map(|(x, _)| &**x),
            watch: Watch::new(on_pass, spec.patience),
            warm: None,
        };
        let held_out_y = prepared.held_out.as_ref().map(|(_, y)| &**y);
        let trained = match (precision(spec, solver), &joint) {
            (Precision::F32, Some(joint)) => {
                joint::fit::<f32>(&mut job, &request, joint, y, held_out_y)?
            }
            (_, Some(joint)) => joint::fit::<f64>(&mut job, &request, joint, y, held_out_y)?,
            (Precision::F32, None) => {
                fit_all::<f32>(&mut job, &request, y, held_out_y, total_weight)?
            }
            _ => fit_all::<f64>(&mut job, &request, y, held_out_y, total_weight)?,
        };
        // What follows walks over the rows again.
        if Interrupt::current().is_stopped() {
            return Err(Error::Interrupted);
        }
        let Trained { fit, layout, tree, problems, rows_touched } = trained;
        let classes = &data.schema.classes;
        let single = matches!(fit.weights, Weights::F32(_));
        let has_margins = matches!(layout, Layout::Joint | Layout::Ova);
        let mut report = Report {
            task: spec.task,
            examples: x.n_rows(),
            features: x.n_cols(),
            classes: request.n_classes,
            loss: request.loss,
            sum: spec.sum && request.n_classes > 2,
            strategy: spec.strategy,
            problems,
            rows_touched,
            code: code_report(&layout),
            tree: tree.as_ref().map(|t| TreeReport { nodes: t.n_nodes(), depth: t.depth() }),
            solver: job.solver,
            precision: if single { Precision::F32 } else { Precision::F64 },
            l2: if spec.hard_margin { 1.0 } else { l2 },
            l1: spec.l1,
            objective: fit.certificate.objective,
            gap: fit.certificate.gap,
            grad_norm: fit.certificate.grad_norm,
            converged: fit.certificate.converged,
            passes: fit.outcome.passes,
            updates: fit.outcome.updates,
            best_pass: fit.best_pass,
            curve: std::mem::take(&mut job.watch.curve),
            margins: has_margins
                .then(|| {
                    summary::margins(&fit.weights, spec.bias, request.n_classes, x, y, classes)
                })
                .flatten(),
            warnings: Vec::new(),
            structured: None,
        };
        report.warnings = summary::warnings(&report, spec, x);
        let weights = match (&prepared.scaling, &tree) {
            (Some(scaling), Some(tree)) => columns::unscale_tree(fit.weights, tree, scaling),
            (Some(scaling), None) => {
                let n_columns = if request.by_columns { problems } else { request.n_outputs() };
                summary::unscale(fit.weights, scaling, n_columns)
            }
            (None, _) => fit.weights,
        };
        let provenance = Provenance::of(&data.source);
        let body = Body { weights, layout, tree };
        let mut model =
            Model::new(body, spec.clone(), data.schema.clone(), features, &report, provenance)?;
        // Of formats without columns there may be as many as features.
        if let (Some(scaling), Some(_)) = (&prepared.scaling, &data.schema.columns) {
            model.about.scales = prepare::averages(data, scaling, spec);
        }
        // Folds of a run that was stopped would run on where it was not allowed to.
        let enough = (!report.converged).then_some(report.passes);
        crossfit::calibrate(&mut model, data, enough, on_fold)?;
        Ok((model, report))
    }
}

/// Weights, and what their columns are.
pub(crate) struct Trained {
    pub fit: Fit,
    pub layout: Layout,
    pub tree: Option<LabelTree>,
    pub problems: usize,
    pub rows_touched: u64,
}

/// Refuses what cannot fit into memory before hours of work: the weights, and in the dual a variable for each row and output.
fn foresee(job: &Job<'_, '_>, n_outputs: usize, bytes_each: usize) -> Result<(), Error> {
    let (n_rows, n_features) = (job.x.n_rows() as u64, job.x.n_cols() as u64);
    let (also, n_dual) = match job.solver {
        SolverKind::Dual => (format!(" and {n_rows} rows × {n_outputs} dual variables"), n_rows),
        _ => (String::new(), 0),
    };
    let bytes = |n: u64| n.saturating_mul((n_outputs * bytes_each) as u64);
    let n_used = n_features.min(job.x.nnz() as u64) + n_dual;
    let what = format!("{n_features} features × {n_outputs} weights{also}");
    memory::foresee(&what, bytes(n_features + n_dual), bytes(n_used)).map_err(|why| {
        Error::request(format!(
            "{why}; take fewer features (spec.text.hash_bits, spec.text.max_features, spec.text.min_df), another spec.strategy, or lineal::Streaming"
        ))
    })
}

/// One problem over all classes, many side by side, or a tree of them.
pub(crate) fn fit_all<F: Number>(
    job: &mut Job<'_, '_>,
    request: &Request,
    y: &Targets,
    held_out: Option<&Targets>,
    total_weight: f64,
) -> Result<Trained, Error> {
    let n_classes = request.n_classes;
    if request.is_tree {
        let columns::TreeFit { fit, tree, rows } = columns::fit_tree::<F>(job, y, n_classes)?;
        let problems = tree.n_columns();
        return Ok(Trained {
            fit,
            layout: Layout::Tree,
            tree: Some(tree),
            problems,
            rows_touched: rows,
        });
    }
    let n_columns = match (request.by_columns, job.spec.strategy) {
        (true, Strategy::Ovo) => n_classes * n_classes.saturating_sub(1) / 2,
        (true, Strategy::Ecoc) => 1,
        (true, _) => n_classes,
        (false, _) => request.n_outputs(),
    };
    foresee(job, n_columns, size_of::<F>())?;
    if request.by_columns {
        let plan = Plan::new(job.spec, n_classes, y, job.weights, total_weight)?;
        job.l2 = plan.l2;
        let fit = columns::fit::<F>(job, &plan, y, held_out)?;
        let Plan { layout, n_columns, rows, .. } = plan;
        return Ok(Trained { fit, layout, tree: None, problems: n_columns, rows_touched: rows });
    }
    let fit = dispatch::<F>(job, request, y, held_out)?;
    let rows_touched = job.x.n_rows() as u64;
    Ok(Trained { fit, layout: Layout::Joint, tree: None, problems: 1, rows_touched })
}

fn code_report(layout: &Layout) -> Option<CodeReport> {
    let Layout::Code { words } = layout else { return None };
    let code: Code = words.join("\n").parse().ok()?;
    let (min_distance, corrects) = (code.min_distance(), code.corrects());
    Some(CodeReport { columns: code.n_columns(), min_distance, corrects })
}

/// The precision that `auto` means.
pub(crate) fn precision(spec: &TrainSpec, solver: SolverKind) -> Precision {
    match spec.precision {
        Precision::Auto if !matches!(solver, SolverKind::Dual | SolverKind::Sgd) => Precision::F64,
        Precision::Auto if spec.tol < 1e-4 || spec.hard_margin => Precision::F64,
        Precision::Auto => Precision::F32,
        chosen => chosen,
    }
}

/// The most weights of two classes for which Newton's method forms the Hessian; and the least tolerance that gradients of single columns reach.
const MOST_SMALL: usize = 300;
const LEAST_TOL: f64 = 1e-8;

/// Whether two classes are learnt as one column by Newton's method.
fn has_small_hessian(job: &Job<'_, '_>) -> bool {
    let Job { spec, .. } = job;
    let plain = spec.cost.is_none() && spec.l1 == 0.0 && spec.patience.is_none();
    let alone = job.held_out_x.is_none() && job.warm.is_none();
    let small = job.x.n_cols() < MOST_SMALL && job.l2 > 0.0 && spec.tol >= LEAST_TOL;
    job.solver == SolverKind::Newton && plain && alone && small
}

/// task × loss → concrete space and loss.
fn dispatch<F: Number>(
    job: &mut Job<'_, '_>,
    request: &Request,
    y: &Targets,
    held_out: Option<&Targets>,
) -> Result<Fit, Error> {
    let spec = job.spec;
    if let Targets::Real(train) = y {
        let held_out = if let Some(Targets::Real(y)) = held_out { y.as_slice() } else { &[] };
        let gold = Gold { train, held_out };
        macro_rules! run {
            (squared, $space:expr, $loss:expr) => {
                fit::squared::<F, _, _>(job, $space, gold)
            };
            ($level:ident, $space:expr, $loss:expr) => {
                fit::$level::<F, _, _, _>(job, $space, &$loss, gold)
            };
        }
        return with_real_loss!(run, request.loss, spec.delta, spec.epsilon);
    }
    let train = if let Targets::Classes(y) = y { y.as_slice() } else { &[] };
    let held_out = if let Some(Targets::Classes(y)) = held_out { y.as_slice() } else { &[] };
    let gold = Gold { train, held_out };
    let (two, many) = (request.n_classes == 2, Classes(request.n_classes));
    if spec.hard_margin {
        return match (&spec.cost, two) {
            (None, true) => fit::hard_margin(job, Binary, &ZeroOne, gold),
            (None, false) => fit::hard_margin(job, many, &ZeroOne, gold),
            (Some(cost), true) => fit::hard_margin(job, Binary, &cost, gold),
            (Some(cost), false) => fit::hard_margin(job, many, &cost, gold),
        };
    }
    if request.loss == LossKind::Hinge && job.solver == SolverKind::Newton {
        return columns::fit_two::<F>(job, train);
    }
    if request.loss == LossKind::SquaredHinge
        && two
        && has_small_hessian(job)
        && let Some(fit) = columns::fit_two_squared::<F>(job, train)?
    {
        return Ok(fit);
    }
    macro_rules! run {
        (squared, $space:expr, $loss:expr) => {
            fit::squared::<F, _, _>(job, $space, gold)
        };
        ($level:ident, $space:expr, $loss:expr) => {
            fit::$level::<F, _, _, _>(job, $space, &$loss, gold)
        };
    }
    with_class_loss!(run, request.loss, two, spec.sum, &spec.cost, Binary, many)
}
