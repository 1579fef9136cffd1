//! Runs a solver on a concrete space and loss. `train.rs` picks both; everything here is generic.

use crate::Error;
use crate::request::spec::{LossKind, ScheduleKind, SolverKind, TrainSpec};
use crate::train::certify::{Certificate, Fit, finish};
use crate::train::monitor::{Judge, monitored};
use crate::train::sample::Sample;
use crate::train::warm::WarmStart;
use crate::train::watch::Watch;
use crate::train::weights::{Number, Weights};
use lineal_erm::newton::{self, NewtonTask};
use lineal_erm::{Dually, Erm, LowerBound, Margin, Penalty, Rows, Separation, Stochastically};
use lineal_linalg::{Matrix, Row};
use lineal_loss::{DualLoss, HardMargin, Hinge, SecondOrder, Squared, Target};
use lineal_model::cost::Cost;
use lineal_model::space::OutputSpace;
use lineal_model::{Bias, Linear, Model};
use lineal_solver::{self as solver, Outcome, Stop};

/// Everything about a run but the space and the loss.
pub(crate) struct Job<'a, 'w> {
    pub spec: &'a TrainSpec,
    pub loss: LossKind,
    pub solver: SolverKind,
    pub l2: f64,
    pub x: &'a Matrix,
    pub weights: Option<&'a [f32]>,
    pub held_out_x: Option<&'a Matrix>,
    pub watch: Watch<'w, Weights>,
    /// Where a run with another penalty ended, and where this one will leave its end.
    pub warm: Option<&'a mut WarmStart>,
}

impl Job<'_, '_> {
    pub(crate) fn stop(&self, n_outputs: usize) -> Stop {
        let max_passes = self.spec.max_passes.unwrap_or(match self.solver {
            // Features on unlike scales can take a few rows through thousands of passes, which cost nothing there.
            SolverKind::Dual => {
                let work = (self.x.nnz() + self.x.n_rows()) * n_outputs;
                (200_000_000 / work.max(1)).clamp(1000, 100_000)
            }
            _ => 1000,
        });
        Stop { tol: self.spec.tol, max_passes }
    }
}

/// Gold outputs of the training rows and of the held-out ones.
#[derive(Clone, Copy)]
pub(crate) struct Gold<'a, Y> {
    pub train: &'a [Y],
    pub held_out: &'a [Y],
}

/// Any convex loss: `sgd`, `dual`.
pub(crate) fn convex<F, S, L, Y>(
    job: &mut Job<'_, '_>,
    space: S,
    loss: &L,
    gold: Gold<'_, Y>,
) -> Result<Fit, Error>
where
    F: Number,
    S: OutputSpace<F, Output = Y> + OutputSpace<f64, Output = Y> + Judge<Y>,
    L: DualLoss<F, S> + DualLoss<f64, S>,
    Y: Copy + Sync,
{
    let model = Linear::new(job.x.n_cols(), space, job.spec.bias);
    convex_on::<F, S, _, L, Y>(job, &model, loss, gold)
}

/// The same for any model of rows.
pub(crate) fn convex_on<F, S, M, L, Y>(
    job: &mut Job<'_, '_>,
    model: &M,
    loss: &L,
    gold: Gold<'_, Y>,
) -> Result<Fit, Error>
where
    F: Number,
    S: OutputSpace<F, Output = Y> + OutputSpace<f64, Output = Y> + Judge<Y>,
    M: for<'x> Model<F, Input<'x> = Row<'x>, Space = S>
        + for<'x> Model<f64, Input<'x> = Row<'x>, Space = S>,
    L: DualLoss<F, S> + DualLoss<f64, S>,
    Y: Copy + Sync,
{
    let penalty = Penalty { l2: job.l2, l1: job.spec.l1 };
    let data = Rows::new(job.x, gold.train, job.weights);
    let mut erm = Erm::<F, _, _, _>::new(model, loss, data, penalty);
    let certified: &dyn DualLoss<f64, S> = loss;
    let mut exact = Erm::new(model, &certified, data, penalty);
    let mut w = vec![F::ZERO; Model::<F>::dim(model)];
    let stop = job.stop(Model::<f64>::max_parts(model));
    let mut bound: Option<LowerBound> = None;
    let outcome = match job.solver {
        SolverKind::Dual => {
            let config = solver::Dual { stop, seed: job.spec.seed, ..Default::default() };
            let mut prove = |mu: &[F], w: &[F]| {
                let w: Vec<f64> = w.iter().map(|w| w.to_f64()).collect();
                let value = exact.objective(&w);
                bound = exact.proven_bound(mu);
                (value, bound.map_or(f64::INFINITY, |bound| (value - bound.computed).max(0.0)))
            };
            let mut problem = Dually::new(&mut erm).proven_by(stop, &mut prove);
            let (n_dual, n_penalised) = (problem.n_dual(), Model::<F>::n_penalised(model));
            let mut mu = vec![F::ZERO; n_dual];
            if let Some(warm) = &job.warm {
                (mu, w) = warm.dual(n_dual, w.len(), n_penalised, job.l2);
            }
            let mut see = monitored(job, model, loss, penalty, gold);
            let outcome = solver::dual(&config, &mut problem, &mut mu, &mut w, &mut see);
            drop(see);
            // The prover saw these dual variables if it let the run end.
            if bound.is_none() || !outcome.converged {
                bound = exact.proven_bound(&mu);
            }
            if let Some(warm) = &mut job.warm {
                warm.keep(&w, Some(mu), job.l2);
            }
            outcome
        }
        _ => {
            let config = sgd_config::<F, M, _>(job, model, &data);
            let mut see = monitored(job, model, loss, penalty, gold);
            solver::sgd(&config, &Stochastically(&erm), &mut w, &mut see)?
        }
    };
    finish(job, &mut exact, w, outcome, bound)
}

/// A smooth loss: also `gd`, `newton`, `lbfgs`, always in f64.
pub(crate) fn smooth<F, S, L, Y>(
    job: &mut Job<'_, '_>,
    space: S,
    loss: &L,
    gold: Gold<'_, Y>,
) -> Result<Fit, Error>
where
    F: Number,
    S: OutputSpace<F, Output = Y>
        + OutputSpace<f32, Output = Y>
        + OutputSpace<f64, Output = Y>
        + Judge<Y>,
    L: DualLoss<F, S> + DualLoss<f64, S> + SecondOrder<f64, S> + SecondOrder<f32, S>,
    Y: Copy + Sync,
{
    let model = Linear::new(job.x.n_cols(), space, job.spec.bias);
    let n_outputs = Model::<f64>::max_parts(&model);
    // Products with the Hessian are in single precision, which is not enough for the tightest tolerances; and it is for losses that have a curvature everywhere.
    let logistic = job.loss == LossKind::Logistic && S::COUPLED && job.spec.tol >= LEAST_TOL;
    if job.solver == SolverKind::Newton
        && logistic
        && job.spec.l1 == 0.0
        && newton::newton_fits(job.x, n_outputs, job.l2)
    {
        return by_outputs::<F, S, L, Y>(job, space, loss, gold);
    }
    smooth_on::<F, S, _, L, Y>(job, &model, loss, gold)
}

/// The least tolerance for which products with the Hessian are in single precision.
const LEAST_TOL: f64 = 1e-6;

/// Newton's method with a factored Hessian of each output.
fn by_outputs<F, S, L, Y>(
    job: &mut Job<'_, '_>,
    space: S,
    loss: &L,
    gold: Gold<'_, Y>,
) -> Result<Fit, Error>
where
    F: Number,
    S: OutputSpace<F, Output = Y>
        + OutputSpace<f32, Output = Y>
        + OutputSpace<f64, Output = Y>
        + Judge<Y>,
    L: DualLoss<F, S> + DualLoss<f64, S> + SecondOrder<f64, S> + SecondOrder<f32, S>,
    Y: Copy + Sync,
{
    let model = &Linear::new(job.x.n_cols(), space, job.spec.bias);
    let dim = Model::<f64>::dim(model);
    let mut w = job.warm.as_ref().map_or_else(|| vec![0.0f64; dim], |warm| warm.weights(dim));
    let stop = job.stop(Model::<f64>::max_parts(model));
    let penalty = Penalty { l2: job.l2, l1: 0.0 };
    let (x, l2, weights) = (job.x, job.l2, job.weights);
    let task = NewtonTask {
        x,
        y: gold.train,
        weights,
        space,
        loss,
        bias: job.spec.bias,
        l2,
        coupled: S::COUPLED,
    };
    let sampled = Sample::new(job, gold.train, model).map_or(0, |sample| {
        let task = NewtonTask { x: &sample.x, y: &sample.y, weights: sample.weights(), ..task };
        let outcome = newton::newton(&task, sample.stop(stop), &mut w, &mut solver::silent());
        sample.passes(outcome.passes)
    });
    let data = Rows::new(x, gold.train, weights);
    let mut erm = Erm::new(model, loss, data, penalty);
    let mut see = monitored::<f64, _, _, _, _>(job, model, loss, penalty, gold);
    let (mut seen, mut ended) = (0, false);
    let mut outcome = newton::newton(&task, stop, &mut w, &mut |pass| {
        let flow = see(pass);
        (seen, ended) = (pass.pass, flow.is_break());
        flow
    });
    outcome.passes += sampled;
    let stuck = !outcome.converged && !ended && outcome.passes <= stop.max_passes;
    let by_estimate = outcome.converged && !ended;
    // Where no row has a curvature, as by Huber's loss far from all targets, its steps lead nowhere; those of the general method are found by a line search.
    if stuck && !solver::Interrupt::current().is_stopped() {
        let done = outcome.passes;
        let stop = Stop { max_passes: (stop.max_passes - done).max(1), ..stop };
        let config = solver::Newton { stop, ..Default::default() };
        let mut on =
            |pass: &solver::Pass<'_, f64>| see(&solver::Pass { pass: seen + pass.pass, ..*pass });
        outcome = solver::newton(&config, &mut erm, &mut w, &mut on)?;
        outcome.passes += done;
    }
    drop(see);
    let certified: &dyn DualLoss<f64, S> = loss;
    let mut exact = Erm::new(model, &certified, data, penalty);
    let mut fit = finish(job, &mut exact, w.clone(), outcome, None)?;
    // With a free bias the run ends by an estimate of its gap, and with many classes much less may be proven: a few more steps mend that.
    let mut tol = stop.tol;
    for _ in 0..MOST_TRIES {
        let left = stop.max_passes.saturating_sub(fit.outcome.passes);
        let is_short = by_estimate && fit.outcome.converged && !fit.certificate.converged;
        let is_last = fit.best_pass.is_none() && !ended;
        if !(is_short && is_last) || left == 0 || solver::Interrupt::current().is_stopped() {
            break;
        }
        tol *= TIGHTER;
        let mut see = monitored::<f64, _, _, _, _>(job, model, loss, penalty, gold);
        let tighter = Stop { tol, max_passes: left };
        let before = seen;
        let mut more = newton::newton(&task, tighter, &mut w, &mut |pass| {
            seen = before + pass.pass;
            let flow = see(&solver::Pass { pass: seen, ..*pass });
            ended = flow.is_break();
            flow
        });
        drop(see);
        more.passes += fit.outcome.passes;
        fit = finish(job, &mut exact, w.clone(), more, None)?;
    }
    if let Some(warm) = &mut job.warm {
        warm.keep(&w, None, job.l2);
    }
    Ok(fit)
}

/// How often a run goes on whose estimated gap was small and whose proven gap is not, and by what its tolerance is multiplied each time.
const MOST_TRIES: usize = 4;
const TIGHTER: f64 = 0.03;

/// The same for any model of rows.
pub(crate) fn smooth_on<F, S, M, L, Y>(
    job: &mut Job<'_, '_>,
    model: &M,
    loss: &L,
    gold: Gold<'_, Y>,
) -> Result<Fit, Error>
where
    F: Number,
    S: OutputSpace<F, Output = Y> + OutputSpace<f64, Output = Y> + Judge<Y>,
    M: for<'x> Model<F, Input<'x> = Row<'x>, Space = S>
        + for<'x> Model<f64, Input<'x> = Row<'x>, Space = S>,
    L: DualLoss<F, S> + DualLoss<f64, S> + SecondOrder<f64, S>,
    Y: Copy + Sync,
{
    if matches!(job.solver, SolverKind::Dual | SolverKind::Sgd) {
        return convex_on::<F, S, M, L, Y>(job, model, loss, gold);
    }
    let penalty = Penalty { l2: job.l2, l1: job.spec.l1 };
    let data = Rows::new(job.x, gold.train, job.weights);
    let mut erm = Erm::new(model, loss, data, penalty);
    let dim = Model::<f64>::dim(model);
    let mut w = job.warm.as_ref().map_or_else(|| vec![0.0f64; dim], |warm| warm.weights(dim));
    let stop = job.stop(Model::<f64>::max_parts(model));
    let (kind, gd_step) = (job.solver, job.spec.gd_step);
    let sample = if kind == SolverKind::Newton && job.spec.l1 == 0.0 {
        Sample::new(job, gold.train, model)
    } else {
        None
    };
    let sampled = sample.map_or(0, |sample| {
        let rows = Rows::new(&sample.x, &sample.y, sample.weights());
        let mut erm = Erm::new(model, loss, rows, penalty);
        let config = solver::Newton { stop: sample.stop(stop), ..Default::default() };
        match solver::newton(&config, &mut erm, &mut w, &mut solver::silent()) {
            Ok(outcome) => sample.passes(outcome.passes),
            // All rows may do better.
            Err(_) => {
                w.fill(0.0);
                0
            }
        }
    });
    let mut see = monitored::<f64, _, _, _, _>(job, model, loss, penalty, gold);
    let mut outcome = match kind {
        SolverKind::Gd => {
            let step = gd_step.map_or(solver::GdStep::Backtracking, solver::GdStep::Fixed);
            solver::gd(&solver::Gd { step, stop }, &mut erm, &mut w, &mut see)?
        }
        SolverKind::Newton => {
            let config = solver::Newton { stop, ..Default::default() };
            solver::newton(&config, &mut erm, &mut w, &mut see)?
        }
        _ => {
            let config = solver::Lbfgs { stop, ..Default::default() };
            solver::lbfgs(&config, &mut erm, &mut w, &mut see)?
        }
    };
    outcome.passes += sampled;
    drop(see);
    if let Some(warm) = &mut job.warm {
        warm.keep(&w, None, job.l2);
    }
    let certified: &dyn DualLoss<f64, S> = loss;
    finish(job, &mut Erm::new(model, &certified, data, penalty), w, outcome, None)
}

/// Least squares: also `exact`.
pub(crate) fn squared<F, S, Y>(
    job: &mut Job<'_, '_>,
    space: S,
    gold: Gold<'_, Y>,
) -> Result<Fit, Error>
where
    F: Number,
    S: Target<F>
        + Target<f32>
        + Target<f64>
        + OutputSpace<F, Output = Y>
        + OutputSpace<f32, Output = Y>
        + OutputSpace<f64, Output = Y>
        + Judge<Y>,
    Y: Copy + Sync,
{
    if job.solver != SolverKind::Exact {
        return smooth::<F, S, Squared, Y>(job, space, &Squared, gold);
    }
    let model = Linear::new(job.x.n_cols(), space, job.spec.bias);
    let data = Rows::new(job.x, gold.train, job.weights);
    let w = lineal_erm::exact(&model, &data, job.l2)?;
    let penalty = Penalty { l2: job.l2, l1: 0.0 };
    let outcome = Outcome { passes: 1, ..Outcome::default() };
    let certified: &dyn DualLoss<f64, S> = &Squared;
    finish(job, &mut Erm::new(&model, &certified, data, penalty), w, outcome, None)
}

/// The hard margin; rows that make the data inseparable come back as an error.
pub(crate) fn hard_margin<S, C>(
    job: &mut Job<'_, '_>,
    space: S,
    cost: &C,
    gold: Gold<'_, u32>,
) -> Result<Fit, Error>
where
    S: Margin + Judge<u32>,
    C: Cost<f64, S> + Copy,
    HardMargin<C>: DualLoss<f64, S>,
    Hinge<C>: DualLoss<f64, S>,
{
    let model = Linear::new(job.x.n_cols(), space, job.spec.bias);
    let data = Rows::new(job.x, gold.train, None);
    let stop = job.stop(Model::<f64>::max_parts(&model));
    let config = solver::Dual { stop, seed: job.spec.seed, ..Default::default() };
    let penalty = Penalty { l2: 1.0, l1: 0.0 };
    let hinge = Hinge(*cost);
    let mut see = monitored(job, &model, &hinge, penalty, gold);
    let separation = lineal_erm::hard_margin(&model, data, cost, &config, &mut see);
    drop(see);
    match separation {
        Separation::Separable(w, outcome) => {
            let certificate = Certificate {
                objective: outcome.value,
                gap: outcome.gap,
                grad_norm: None,
                converged: true,
            };
            Ok(Fit { weights: Weights::F64(w), certificate, outcome, best_pass: None })
        }
        Separation::Inseparable { margin_bound, rows } => Err(inseparable(margin_bound, rows)),
        Separation::Undecided { margin_bound } => Err(Error::request(format!(
            "no separator was found in {} passes and none was excluded: weights of norm 1 have a margin of at most \
             {margin_bound:.2e}; raise spec.max_passes, try spec.standardize, or train without spec.hard_margin",
            stop.max_passes
        ))),
    }
}

fn inseparable(margin_bound: f64, rows: Vec<usize>) -> Error {
    let shown: Vec<String> = rows.iter().take(10).map(|i| (i + 1).to_string()).collect();
    let more = if rows.len() > shown.len() { ", …" } else { "" };
    let blame = match rows.len() {
        0 => String::new(),
        1 => format!("; row {} is on the wrong side of the best soft margin", shown[0]),
        n => format!(
            "; {n} rows are on the wrong side of the best soft margin: {}{more}",
            shown.join(", ")
        ),
    };
    let message = format!(
        "no weights give every row a margin of 1: the data is not linearly separable (weights of norm 1 have a margin of \
         at most {margin_bound:.1e}){blame}. Train without spec.hard_margin, or look at these rows"
    );
    Error::Inseparable { message, rows }
}

fn sgd_config<F, M, Y>(job: &Job<'_, '_>, model: &M, data: &Rows<'_, Y>) -> solver::Sgd
where
    F: Number,
    M: for<'x> Model<F, Input<'x> = Row<'x>>,
{
    let n_outputs = model.max_parts();
    let spec = &job.spec.sgd;
    let perceptron = job.loss == LossKind::Perceptron;
    let schedule = match spec.schedule {
        Some(ScheduleKind::Constant) => solver::Schedule::Constant,
        Some(ScheduleKind::Pegasos) => solver::Schedule::Pegasos,
        Some(ScheduleKind::Inverse) => solver::Schedule::Inverse,
        None if perceptron => solver::Schedule::Constant,
        None => solver::Schedule::Inverse,
    };
    // A step of 1/(curvature · ‖x‖²) is the largest that is safe for a smooth loss. The sum forms move with all classes at once.
    let curvature = match (job.loss, job.spec.sum && n_outputs > 1) {
        (LossKind::SquaredHinge, true) => 2.0 * n_outputs as f64,
        (LossKind::SquaredHinge, false) => 2.0 * n_outputs.min(2) as f64,
        (LossKind::Hinge, true) => n_outputs as f64,
        (LossKind::Logistic, _) => 0.5,
        _ => 1.0,
    };
    // ‖x‖², or what it comes to where classes share weights; a penalised bias is in it.
    let square = |i: usize| {
        let x = data.row(i);
        model.isotropy(x).unwrap_or_else(|| x.norm_sq())
    };
    let mean_sq = (0..data.n_rows()).map(|i| data.row_share(i) * square(i)).sum::<f64>();
    let bias = f64::from(u8::from(job.spec.bias == Bias::Free));
    let safe = 1.0 / (curvature * (mean_sq + bias)).max(1e-12);
    solver::Sgd {
        epochs: spec.epochs,
        batch_size: spec.batch_size,
        rate: spec.rate.unwrap_or(if perceptron { 1.0 } else { safe }),
        schedule,
        l2: job.l2,
        average: match (spec.average, perceptron) {
            (Some(true), true) => solver::Averaging::Equal,
            (Some(true), false) => solver::Averaging::Rising,
            _ => solver::Averaging::Last,
        },
        draws: match (spec.with_replacement, spec.shuffle) {
            (true, _) => solver::Draws::WithReplacement,
            (false, true) => solver::Draws::Shuffled,
            (false, false) => solver::Draws::InOrder,
        },
        stop_when_still: perceptron && job.l2 == 0.0,
        seed: job.spec.seed,
    }
}
