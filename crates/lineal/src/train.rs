//! From a spec and data to a certified model: checks, choices, and the one big match.

use crate::Error;
use crate::fit::{self, Fit, Gold, Job};
use crate::model::{Model, Provenance};
use crate::report::Report;
use crate::spec::{ClassWeight, LossKind, Penalty, Precision, SolverKind, Task, TrainSpec};
use crate::summary;
use crate::watch::{OnPass, Watch};
use crate::weights::Weights;
use lineal_data::{Dataset, Standardizer, Targets, UNSEEN};
use lineal_linalg::Matrix;
use lineal_loss::{Epsilon, Hinge, Huber, Logistic, SquaredHinge, SumHinge, SumSquaredHinge};
use lineal_model::Bias;
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, Real};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Trains with nobody looking on.
pub fn train(data: &Dataset, spec: &TrainSpec) -> Result<(Model, Report), Error> {
    Training::new(data, spec).run()
}

/// A run about to start.
pub struct Training<'a> {
    data: &'a Dataset,
    spec: &'a TrainSpec,
    held_out: Option<&'a Dataset>,
    on_pass: Option<&'a mut OnPass<'a>>,
}

impl<'a> Training<'a> {
    /// This data, this spec.
    pub fn new(data: &'a Dataset, spec: &'a TrainSpec) -> Self {
        Self { data, spec, held_out: None, on_pass: None }
    }

    /// Watch this set, read with the training data's schema, in place of a share of the training rows.
    pub fn held_out(mut self, data: &'a Dataset) -> Self {
        self.held_out = Some(data);
        self
    }

    /// Be called after every pass.
    pub fn monitor(mut self, on_pass: &'a mut OnPass<'a>) -> Self {
        self.on_pass = Some(on_pass);
        self
    }

    /// Trains.
    pub fn run(self) -> Result<(Model, Report), Error> {
        let Self { data, spec, held_out, on_pass } = self;
        let task = Request::check(data, spec)?;
        let (rows, held_rows) = split(data, spec, held_out)?;
        let mut x = rows
            .as_ref()
            .map_or_else(|| data.x.clone_if(spec.standardize), |r| Some(data.x.select(r)));
        let y = rows.as_ref().map_or_else(|| data.y.clone(), |r| data.select(r).y);
        let weights = example_weights(data, spec, rows.as_deref());
        let scaling = spec.standardize.then(|| {
            let mut scaling = Standardizer::fit(x.as_ref().unwrap_or(&data.x), weights.as_deref());
            // Only a free bias makes up for centring; elsewhere it would be another model.
            scaling.mean = scaling.mean.filter(|_| spec.bias == Bias::Free);
            scaling
        });
        let mut held = match (held_out, &held_rows) {
            (Some(set), _) => Some((set.x.clone(), set.y.clone())),
            (None, Some(rows)) => Some((data.x.select(rows), data.select(rows).y)),
            (None, None) => None,
        };
        if let Some(scaling) = &scaling {
            scaling.apply(x.get_or_insert_with(|| data.x.clone()));
            if let Some((x, _)) = &mut held {
                scaling.apply(x);
            }
        }
        let x = x.as_ref().unwrap_or(&data.x);

        let total =
            weights.as_ref().map_or(x.n_rows() as f64, |w| w.iter().map(|&w| f64::from(w)).sum());
        if total <= 0.0 {
            return Err(Error::request("all example weights are 0; nothing can be learnt"));
        }
        let l2 = spec.penalty.l2(total);
        let solver = task.solver(spec, l2, x)?;
        let mut job = Job {
            spec,
            loss: task.loss,
            solver,
            l2,
            x,
            weights: weights.as_deref(),
            held_out_x: held.as_ref().map(|(x, _)| x),
            watch: Watch::new(on_pass, spec.patience),
        };
        let precision = match spec.precision {
            Precision::Auto if !matches!(solver, SolverKind::Dual | SolverKind::Sgd) => {
                Precision::F64
            }
            Precision::Auto if spec.tol < 1e-4 || spec.hard_margin => Precision::F64,
            Precision::Auto => Precision::F32,
            chosen => chosen,
        };
        let held_y = held.as_ref().map(|(_, y)| y);
        let fit = match precision {
            Precision::F32 => dispatch::<f32>(&mut job, &task, &y, held_y)?,
            _ => dispatch::<f64>(&mut job, &task, &y, held_y)?,
        };

        let mut report = Report {
            task: spec.task,
            examples: x.n_rows(),
            features: x.n_cols(),
            classes: task.n_classes,
            loss: task.loss,
            sum: spec.sum && task.n_classes > 2,
            strategy: spec.strategy,
            solver,
            precision: if matches!(fit.weights, Weights::F32(_)) {
                Precision::F32
            } else {
                Precision::F64
            },
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
            margins: summary::margins(
                &fit.weights,
                spec.bias,
                task.n_classes,
                x,
                &y,
                &data.schema.classes,
            ),
            warnings: Vec::new(),
        };
        report.warnings = summary::warnings(&report, spec, x);
        let weights = match &scaling {
            Some(scaling) => summary::unscale(fit.weights, scaling, task.n_outputs()),
            None => fit.weights,
        };
        let provenance =
            Provenance { lineal: env!("CARGO_PKG_VERSION").into(), source: data.source.clone() };
        let model = Model::new(weights, spec.clone(), data.schema.clone(), &report, provenance);
        Ok((model, report))
    }
}

/// A copy only where it will be changed.
trait CloneIf: Sized {
    fn clone_if(&self, needed: bool) -> Option<Self>;
}

impl CloneIf for Matrix {
    fn clone_if(&self, needed: bool) -> Option<Self> {
        needed.then(|| self.clone())
    }
}

/// A request that fits its data.
struct Request {
    loss: LossKind,
    /// 0 for regression.
    n_classes: usize,
    /// The loss is differentiable (once at least), so that `gd`, `newton` and `lbfgs` take it.
    smooth: bool,
}

impl Request {
    fn n_outputs(&self) -> usize {
        if self.n_classes > 2 { self.n_classes } else { 1 }
    }

    fn check(data: &Dataset, spec: &TrainSpec) -> Result<Self, Error> {
        let fail = |message: String| Err(Error::Request(message));
        let n_classes = match (spec.task, &data.y) {
            (Task::Classify, Targets::Classes(y)) => {
                if y.contains(&UNSEEN) {
                    return fail(format!("{}: labels that the schema does not have", data.source));
                }
                match data.schema.classes.as_slice() {
                    [] | [_] => {
                        let only = data.schema.classes.first().map_or("", |c| c);
                        return fail(format!(
                            "{}: every row has the label `{only}`; a classifier needs at least two classes (is the label \
                             column right? see --label)",
                            data.source
                        ));
                    }
                    classes => classes.len(),
                }
            }
            (Task::Regress, Targets::Real(_)) => 0,
            (_, Targets::None) => {
                return fail(format!("{}: no labels to learn from (see --label)", data.source));
            }
            (task, _) => {
                return fail(format!(
                    "{}: the labels were not read for --task {task}",
                    data.source
                ));
            }
        };
        let loss = spec.loss.unwrap_or(match spec.task {
            Task::Classify => LossKind::Logistic,
            Task::Regress => LossKind::Squared,
        });
        let of_numbers = matches!(loss, LossKind::Squared | LossKind::Huber | LossKind::Epsilon);
        match spec.task {
            Task::Regress if !of_numbers => {
                return fail(format!(
                    "the {loss} loss is for classes; for --task regress use squared, huber or epsilon"
                ));
            }
            Task::Classify if of_numbers && loss != LossKind::Squared => {
                return fail(format!(
                    "the {loss} loss is for numbers: add --task regress, or use another --loss"
                ));
            }
            _ => {}
        }
        let smooth = match loss {
            LossKind::Logistic | LossKind::Squared | LossKind::Huber => true,
            LossKind::SquaredHinge => n_classes == 2 || spec.sum,
            _ => false,
        };
        let request = Self { loss, n_classes, smooth };
        request.check_numbers(spec)?;
        if let Some(cost) = &spec.cost {
            if n_classes == 0 {
                return fail("costs are between classes; --task regress has none".into());
            }
            if cost.n_classes() != n_classes {
                return fail(format!(
                    "the cost matrix has {} classes, the data {n_classes}",
                    cost.n_classes()
                ));
            }
            if matches!(loss, LossKind::Perceptron | LossKind::Squared) {
                return fail(format!(
                    "the {loss} loss has no place for a cost; use hinge, squared-hinge or logistic"
                ));
            }
        }
        if let ClassWeight::Named(named) = &spec.class_weight
            && let Some((name, _)) = named.iter().find(|(c, _)| !data.schema.classes.contains(c))
        {
            let known: Vec<&str> =
                data.schema.classes.iter().take(10).map(String::as_str).collect();
            return fail(format!(
                "--class-weight: `{name}` is not a class; the classes are {}",
                known.join(", ")
            ));
        }
        if spec.class_weight != ClassWeight::Equal && n_classes == 0 {
            return fail("--class-weight needs classes; --task regress has none".into());
        }
        if spec.sum && matches!(loss, LossKind::Logistic | LossKind::Squared) {
            return fail(format!(
                "--sum is a form of perceptron, hinge and squared-hinge; the {loss} loss has only one"
            ));
        }
        if spec.hard_margin {
            if n_classes == 0 {
                return fail("--hard-margin separates classes; --task regress has none".into());
            }
            if spec.loss.is_some_and(|l| l != LossKind::Hinge)
                || !matches!(spec.solver, SolverKind::Auto | SolverKind::Dual)
            {
                return fail("--hard-margin replaces the loss and runs in the dual: leave out --loss and --solver".into());
            }
            if spec.class_weight != ClassWeight::Equal || data.weights.is_some() {
                return fail("--hard-margin asks for every margin, so weights on examples or classes mean nothing; leave them out".into());
            }
            return Ok(Self { loss: LossKind::Hinge, ..request });
        }
        Ok(request)
    }

    fn check_numbers(&self, spec: &TrainSpec) -> Result<(), Error> {
        let positive = |name: &str, v: f64| {
            if v.is_finite() && v > 0.0 {
                Ok(())
            } else {
                Err(Error::request(format!("{name} must be a number above 0, not {v}")))
            }
        };
        match spec.penalty {
            Penalty::C(c) => positive("-C", c)?,
            Penalty::L2(l2) if l2.is_finite() && l2 >= 0.0 => {}
            Penalty::L2(l2) => {
                return Err(Error::request(format!("--l2 must be a number ≥ 0, not {l2}")));
            }
        }
        if !(spec.l1.is_finite() && spec.l1 >= 0.0) {
            return Err(Error::request(format!("--l1 must be a number ≥ 0, not {}", spec.l1)));
        }
        positive("--tol", spec.tol)?;
        positive("--delta", spec.delta)?;
        if !(spec.epsilon.is_finite() && spec.epsilon >= 0.0) {
            return Err(Error::request(format!(
                "--epsilon must be a number ≥ 0, not {}",
                spec.epsilon
            )));
        }
        for rate in [spec.gd_step, spec.sgd.rate].into_iter().flatten() {
            positive("--rate", rate)?;
        }
        if !(0.0..1.0).contains(&spec.validation) {
            return Err(Error::request(format!(
                "--validation must be a share below 1, not {}",
                spec.validation
            )));
        }
        Ok(())
    }

    /// The solver that will run: the one asked for if it can, the fastest that certifies for `auto`.
    fn solver(&self, spec: &TrainSpec, l2: f64, x: &Matrix) -> Result<SolverKind, Error> {
        let form = if self.loss == LossKind::SquaredHinge && !self.smooth {
            " (max form; --sum is smooth)"
        } else {
            ""
        };
        let needs_smooth = |who: &str| {
            if self.smooth {
                Ok(())
            } else {
                Err(Error::request(format!(
                    "{who} needs a smooth loss; {}{form} is not: use --solver dual or sgd",
                    self.loss
                )))
            }
        };
        if spec.hard_margin {
            return Ok(SolverKind::Dual);
        }
        if spec.l1 > 0.0 {
            needs_smooth("an l1 penalty (OWL-QN)")?;
            return match spec.solver {
                SolverKind::Auto | SolverKind::Lbfgs => Ok(SolverKind::Lbfgs),
                other => {
                    Err(Error::request(format!("--l1 is solved by lbfgs (OWL-QN), not by {other}")))
                }
            };
        }
        match spec.solver {
            SolverKind::Auto => Ok(self.auto(spec, l2, x)),
            SolverKind::Exact if self.loss != LossKind::Squared => Err(Error::request(format!(
                "the exact solver is for --loss squared, not {}; use newton, lbfgs or dual",
                self.loss
            ))),
            SolverKind::Dual if l2 <= 0.0 => Err(Error::request(
                "the dual solver needs an l2 penalty: give -C or --l2 above 0, or use --solver sgd",
            )),
            SolverKind::Gd | SolverKind::Newton | SolverKind::Lbfgs => {
                needs_smooth(spec.solver.as_str())?;
                Ok(spec.solver)
            }
            SolverKind::Sgd
                if spec.sgd.schedule == Some(crate::ScheduleKind::Pegasos) && l2 <= 0.0 =>
            {
                Err(Error::request(
                    "the pegasos schedule 1/(l2·t) needs an l2 penalty: give -C or --l2 above 0",
                ))
            }
            chosen => Ok(chosen),
        }
    }

    fn auto(&self, spec: &TrainSpec, l2: f64, x: &Matrix) -> SolverKind {
        let d = x.n_cols();
        match self.loss {
            LossKind::Perceptron if l2 == 0.0 => SolverKind::Sgd,
            LossKind::Squared if d <= 500 => SolverKind::Exact,
            _ if self.smooth && (l2 == 0.0 || spec.tol < 1e-6) => SolverKind::Newton,
            // The Hessian is small: a handful of Newton steps beats passes in the dual, and features on any scale do not matter.
            _ if self.smooth && (d + 1) * self.n_outputs() <= 300 => SolverKind::Newton,
            LossKind::Huber => SolverKind::Newton,
            _ if l2 == 0.0 => SolverKind::Sgd,
            _ => SolverKind::Dual,
        }
    }
}

/// task × loss → concrete space and loss, one line an arm.
fn dispatch<F: crate::weights::Number>(
    job: &mut Job<'_, '_>,
    task: &Request,
    y: &Targets,
    held: Option<&Targets>,
) -> Result<Fit, Error> {
    use LossKind as L;
    let spec = job.spec;
    if let Targets::Real(y) = y {
        let held_out = if let Some(Targets::Real(y)) = held { y.as_slice() } else { &[] };
        let gold = Gold { train: y, held_out };
        return match task.loss {
            L::Huber => fit::smooth::<F, _, _, _>(job, Real, &Huber { delta: spec.delta }, gold),
            L::Epsilon => {
                fit::convex::<F, _, _, _>(job, Real, &Epsilon { epsilon: spec.epsilon }, gold)
            }
            _ => fit::squared::<F, _, _>(job, Real, gold),
        };
    }
    let train = if let Targets::Classes(y) = y { y.as_slice() } else { &[] };
    let held_out = if let Some(Targets::Classes(y)) = held { y.as_slice() } else { &[] };
    let gold = Gold { train, held_out };
    let (two, many) = (Binary, Classes(task.n_classes));
    let cost = spec.cost.as_ref();
    match (task.loss, task.n_classes == 2, spec.sum) {
        _ if spec.hard_margin => match (cost, task.n_classes == 2) {
            (None, true) => fit::hard_margin(job, two, &ZeroOne, gold),
            (None, false) => fit::hard_margin(job, many, &ZeroOne, gold),
            (Some(cost), true) => fit::hard_margin(job, two, &cost, gold),
            (Some(cost), false) => fit::hard_margin(job, many, &cost, gold),
        },
        (L::Perceptron, true, _) => fit::convex::<F, _, _, _>(job, two, &Hinge(NoCost), gold),
        (L::Perceptron, _, false) => fit::convex::<F, _, _, _>(job, many, &Hinge(NoCost), gold),
        (L::Perceptron, _, true) => fit::convex::<F, _, _, _>(job, many, &SumHinge(NoCost), gold),
        (L::Squared, true, _) => fit::squared::<F, _, _>(job, two, gold),
        (L::Squared, ..) => fit::squared::<F, _, _>(job, many, gold),
        (L::Hinge, true, _) => match cost {
            None => fit::convex::<F, _, _, _>(job, two, &Hinge(ZeroOne), gold),
            Some(c) => fit::convex::<F, _, _, _>(job, two, &Hinge(c), gold),
        },
        (L::Hinge, _, false) => match cost {
            None => fit::convex::<F, _, _, _>(job, many, &Hinge(ZeroOne), gold),
            Some(c) => fit::convex::<F, _, _, _>(job, many, &Hinge(c), gold),
        },
        (L::Hinge, _, true) => match cost {
            None => fit::convex::<F, _, _, _>(job, many, &SumHinge(ZeroOne), gold),
            Some(c) => fit::convex::<F, _, _, _>(job, many, &SumHinge(c), gold),
        },
        (L::SquaredHinge, true, _) => match cost {
            None => fit::smooth::<F, _, _, _>(job, two, &SquaredHinge(ZeroOne), gold),
            Some(c) => fit::smooth::<F, _, _, _>(job, two, &SquaredHinge(c), gold),
        },
        (L::SquaredHinge, _, false) => match cost {
            None => fit::convex::<F, _, _, _>(job, many, &SquaredHinge(ZeroOne), gold),
            Some(c) => fit::convex::<F, _, _, _>(job, many, &SquaredHinge(c), gold),
        },
        (L::SquaredHinge, _, true) => match cost {
            None => fit::smooth::<F, _, _, _>(job, many, &SumSquaredHinge(ZeroOne), gold),
            Some(c) => fit::smooth::<F, _, _, _>(job, many, &SumSquaredHinge(c), gold),
        },
        (_, true, _) => match cost {
            None => fit::smooth::<F, _, _, _>(job, two, &Logistic(NoCost), gold),
            Some(c) => fit::smooth::<F, _, _, _>(job, two, &Logistic(c), gold),
        },
        _ => match cost {
            None => fit::smooth::<F, _, _, _>(job, many, &Logistic(NoCost), gold),
            Some(c) => fit::smooth::<F, _, _, _>(job, many, &Logistic(c), gold),
        },
    }
}

/// Rows to train on and rows to hold out, or `None` for all and none.
type Split = (Option<Vec<usize>>, Option<Vec<usize>>);

fn split(data: &Dataset, spec: &TrainSpec, held_out: Option<&Dataset>) -> Result<Split, Error> {
    if let Some(set) = held_out {
        if set.schema.n_features != data.schema.n_features || set.y.len() != set.n_rows() {
            return Err(Error::request(format!(
                "{}: the held-out set must be read with the training data's schema and have labels",
                set.source
            )));
        }
        return Ok((None, None));
    }
    if spec.validation == 0.0 {
        if spec.patience.is_some() {
            return Err(Error::request(
                "--patience needs --validation: early stopping watches held-out rows",
            ));
        }
        return Ok((None, None));
    }
    let n = data.n_rows();
    let n_held = ((n as f64 * spec.validation).round() as usize).clamp(1, n.saturating_sub(1));
    if n < 2 {
        return Err(Error::request("--validation needs at least two rows"));
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut Pcg64Mcg::seed_from_u64(spec.seed ^ 0x5eed));
    let mut train = order.split_off(n_held);
    train.sort_unstable();
    order.sort_unstable();
    Ok((Some(train), Some(order)))
}

/// Example weights times class weights, or `None` where all are 1.
fn example_weights(data: &Dataset, spec: &TrainSpec, rows: Option<&[usize]>) -> Option<Vec<f32>> {
    let all: Vec<usize>;
    let rows = match rows {
        Some(rows) => rows,
        None => {
            all = (0..data.n_rows()).collect();
            &all
        }
    };
    let base = |i: usize| data.weights.as_ref().map_or(1.0, |w| w[i]);
    let (Targets::Classes(y), false) = (&data.y, spec.class_weight == ClassWeight::Equal) else {
        return data.weights.as_ref().map(|_| rows.iter().map(|&i| base(i)).collect());
    };
    let classes = &data.schema.classes;
    let factor: Vec<f32> = match &spec.class_weight {
        ClassWeight::Equal => vec![1.0; classes.len()],
        ClassWeight::Named(named) => {
            let of = |c: &String| {
                named.iter().find(|(name, _)| name == c).map_or(1.0, |(_, w)| *w as f32)
            };
            classes.iter().map(of).collect()
        }
        ClassWeight::Balanced => {
            let mut count = vec![0.0f64; classes.len()];
            rows.iter().for_each(|&i| count[y[i] as usize] += f64::from(base(i)));
            let total: f64 = count.iter().sum();
            let even = total / classes.len() as f64;
            count.iter().map(|&c| if c > 0.0 { (even / c) as f32 } else { 0.0 }).collect()
        }
    };
    Some(rows.iter().map(|&i| base(i) * factor[y[i] as usize]).collect())
}
