//! Runs a solver on binary problems side by side: one-vs-all, one-vs-one, output codes, labels, and the nodes of trees.

use crate::Error;
use crate::request::spec::{LossKind, SolverKind, TreeKind};
use crate::train::certify::{Certificate, Fit};
use crate::train::fit::{self, Gold, Job};
use crate::train::losses::with_column_loss;
use crate::train::monitor::Judge;
use crate::train::report::CurvePoint;
use crate::train::sample::Sample;
use crate::train::strategy::{self, Plan};
use crate::train::watch::Watch;
use crate::train::weights::{Number, Weights};
use lineal_data::Targets;
use lineal_erm::Proof;
use lineal_erm::columns::{self, BlockPass, ColumnTask, Outputs, TreeTask};
use lineal_linalg::Matrix;
use lineal_loss::{Columnwise, Hinge, Logistic, OfMargin, SquaredHinge};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::label_tree::{Child, LabelTree};
use lineal_model::space::{Binary, Columns, OutputSpace, Signs};
use lineal_model::{Bias, Linear};
use lineal_reduce::{Examples, Tree, class_centroids};
use lineal_solver::{self as solver, Outcome};
use std::ops::ControlFlow;
use std::sync::Mutex;

/// Weights of all columns, by the solver of the job.
pub(crate) fn fit<F: Number>(
    job: &mut Job<'_, '_>,
    plan: &Plan,
    y: &Targets,
    held_out: Option<&Targets>,
) -> Result<Fit, Error> {
    let kinds = strategy::kinds(y);
    let mut held_kinds = held_out.map(strategy::kinds).unwrap_or_default();
    // Where kinds are rows with labels, the held-out ones come after the others.
    let both = match (y, held_out) {
        (Targets::Labels(train), Some(Targets::Labels(held_out))) => {
            held_kinds.iter_mut().for_each(|kind| *kind += kinds.len() as u32);
            let ends = held_out.starts()[1..].iter().map(|end| end + train.ids().len());
            let start: Vec<usize> = train.starts().iter().copied().chain(ends).collect();
            Some((start, [train.ids(), held_out.ids()].concat()))
        }
        _ => None,
    };
    let signs = match &both {
        Some((start, ids)) => Signs::Labels { start, ids },
        None => plan.signs(y),
    };
    let space = Columns::new(signs, plan.n_columns);
    let task = ColumnTask {
        x: job.x,
        kinds: &kinds,
        weights: job.weights,
        space,
        bias: job.spec.bias,
        l2: plan.l2,
        report: &plan.report,
        side_by_side: &plan.side_by_side,
    };
    if job.loss == LossKind::Hinge && job.solver == SolverKind::Newton {
        return by_multipliers::<F>(job, &task);
    }
    let gold = Gold { train: &kinds, held_out: &held_kinds };
    macro_rules! run {
        ($level:ident, $loss:expr) => {
            match job.solver {
                SolverKind::Dual => in_one_pass::<F, _>(job, &task, $loss),
                // Early stopping looks at all columns together.
                SolverKind::Newton
                    if columns::newton_fits(&task)
                        && job.warm.is_none()
                        && job.spec.patience.is_none() =>
                {
                    one_by_one::<F, _>(job, &task, $loss)
                }
                _ => {
                    let fit = fit::$level::<F, _, _, _>(job, space, &Columnwise($loss), gold)?;
                    Ok(by_problem(job, &task, $loss, fit))
                }
            }
        };
    }
    with_column_loss!(run, job.loss)
}

/// The certificate of a sum over all rows, as the sum over the problems that the user knows.
fn by_problem<L: OfMargin<f64>>(
    job: &Job<'_, '_>,
    task: &ColumnTask<'_>,
    loss: L,
    fit: Fit,
) -> Fit {
    if task.report.iter().all(|&r| r == 1.0) {
        return fit;
    }
    let w = fit.weights.to_f64();
    let proof = columns::sum(&columns::certify(task, loss, &w), task.report);
    let (l1, n) = (job.spec.l1, task.report.len());
    // A free bias has no part in either penalty.
    let n_penalised = task.x.n_cols() + usize::from(task.bias == Bias::Penalised);
    let absolute: f64 = w
        .chunks_exact(n.max(1))
        .take(n_penalised)
        .flat_map(|row| row.iter().zip(task.report).map(|(w, by)| by * w.abs()))
        .sum();
    let objective = proof.objective + l1 * absolute;
    let gap = match l1 > 0.0 || job.l2 <= 0.0 {
        false => proof.finite_gap(),
        // No problem is further from its own optimum than all of them together are.
        true => {
            let most = task.report.iter().fold(0.0f64, |most, &report| most.max(report));
            fit.certificate.gap.map(|gap| gap * most * (1.0 + 2.0 * f64::EPSILON))
        }
    };
    Fit { certificate: Certificate { objective, gap, ..fit.certificate }, ..fit }
}

/// Dual ascent in blocks of columns.
fn in_one_pass<F: Number, L: OfMargin<F> + OfMargin<f64>>(
    job: &mut Job<'_, '_>,
    task: &ColumnTask<'_>,
    loss: L,
) -> Result<Fit, Error> {
    let config = dual_config(job, task.space.len());
    let watch = BlockWatch::new(&mut job.watch);
    let fit = columns::dual::<F, L>(task, loss, &config, &|pass| watch.see(pass));
    watch.end();
    finished(fit, task, job.spec.tol)
}

fn finished<F: Number>(
    fit: columns::ColumnFit<F>,
    task: &ColumnTask<'_>,
    tol: f64,
) -> Result<Fit, Error> {
    let proof = columns::sum(&fit.certificates, task.report);
    Ok(Fit {
        weights: F::own(fit.w),
        certificate: certificate(proof, tol)?,
        outcome: Outcome { passes: fit.passes, converged: fit.converged, ..Outcome::default() },
        best_pass: None,
    })
}

/// Newton's method on each column. Where it gets stuck and nobody asked for it, the dual begins again.
fn one_by_one<F: Number, L: OfMargin<F> + OfMargin<f64>>(
    job: &mut Job<'_, '_>,
    task: &ColumnTask<'_>,
    loss: L,
) -> Result<Fit, Error> {
    let stop = job.stop(task.space.len());
    let watch = BlockWatch::new(&mut job.watch);
    let fit = columns::newton::<F, L>(task, loss, None, stop, &|pass| watch.see(pass));
    let ended = watch.is_stopped() || solver::Interrupt::current().is_stopped();
    watch.end();
    let proven = columns::sum(&fit.certificates, task.report).converged(job.spec.tol);
    let stuck = !ended && !proven && fit.passes < stop.max_passes;
    if stuck && job.spec.solver == SolverKind::Auto {
        job.solver = SolverKind::Dual;
        let mut dual = in_one_pass::<F, _>(job, task, loss)?;
        dual.outcome.passes += fit.passes;
        return Ok(dual);
    }
    finished(fit, task, job.spec.tol)
}

/// The hinge loss of two classes, as the one column that it is.
pub(crate) fn fit_two<F: Number>(job: &mut Job<'_, '_>, y: &[u32]) -> Result<Fit, Error> {
    let task = two_classes(job.x, y, job.weights, job);
    by_multipliers::<F>(job, &task)
}

/// The same for the squared hinge by Newton's method, which starts from the optimum of a sample; `None` where that does not get to the tolerance.
pub(crate) fn fit_two_squared<F: Number>(
    job: &mut Job<'_, '_>,
    y: &[u32],
) -> Result<Option<Fit>, Error> {
    let task = two_classes(job.x, y, job.weights, job);
    let stop = job.stop(1);
    let loss = SquaredHinge(ZeroOne);
    let model = Linear::new(job.x.n_cols(), Binary, job.spec.bias);
    let sampled = Sample::new(job, y, &model).map(|sample| {
        let task = two_classes(&sample.x, &sample.y, sample.weights(), job);
        let on = |_: BlockPass| ControlFlow::Continue(());
        let fit = columns::newton::<f64, _>(&task, loss, None, sample.stop(stop), &on);
        (fit.w, sample.passes(fit.passes))
    });
    let (from, passes) = sampled.map_or((None, 0), |(w, passes)| (Some(w), passes));
    let watch = BlockWatch::new(&mut job.watch);
    let see = |pass| watch.see(pass);
    let mut fit = columns::newton::<F, _>(&task, loss, from.as_deref(), stop, &see);
    let ended = watch.is_stopped();
    watch.end();
    fit.passes += passes;
    let proven = columns::sum(&fit.certificates, task.report).converged(job.spec.tol);
    let goes_on = !ended && !proven && !solver::Interrupt::current().is_stopped();
    if goes_on && fit.passes < stop.max_passes {
        return Ok(None);
    }
    finished(fit, &task, job.spec.tol).map(Some)
}

/// One column whose yes is the second class.
fn two_classes<'t>(
    x: &'t Matrix,
    y: &'t [u32],
    weights: Option<&'t [f32]>,
    job: &Job<'_, '_>,
) -> ColumnTask<'t> {
    let signs = Signs::Table { table: &[-1.0, 1.0], n_columns: 1 };
    ColumnTask {
        x,
        kinds: y,
        weights,
        space: Columns::new(signs, 1),
        bias: job.spec.bias,
        l2: job.l2,
        report: &[1.0],
        side_by_side: &[],
    }
}

/// The method of multipliers on each column with the hinge loss. Where it gets stuck, the dual begins again.
fn by_multipliers<F: Number>(job: &mut Job<'_, '_>, task: &ColumnTask<'_>) -> Result<Fit, Error> {
    let stop = job.stop(task.space.len());
    let dim = (task.x.n_cols() + usize::from(task.bias != Bias::None)) * task.space.len();
    let start = job.warm.as_ref().map(|warm| warm.weights::<f64>(dim));
    let watch = BlockWatch::new(&mut job.watch);
    let fit = columns::multipliers::<F>(task, start.as_deref(), stop, &|pass| watch.see(pass));
    let ended = watch.is_stopped() || solver::Interrupt::current().is_stopped();
    watch.end();
    let proven = columns::sum(&fit.certificates, task.report).converged(job.spec.tol);
    let done = ended || (fit.converged && proven);
    if !done && fit.passes < stop.max_passes {
        job.solver = SolverKind::Dual;
        let mut dual = in_one_pass::<F, _>(job, task, Hinge(ZeroOne))?;
        dual.outcome.passes += fit.passes;
        return Ok(dual);
    }
    if let Some(warm) = &mut job.warm {
        warm.keep(&fit.w, None, task.l2);
    }
    finished(fit, task, job.spec.tol)
}

fn dual_config(job: &Job<'_, '_>, n_outputs: usize) -> solver::Dual {
    solver::Dual { stop: job.stop(n_outputs), seed: job.spec.seed, ..Default::default() }
}

fn certificate(proof: Proof, tol: f64) -> Result<Certificate, Error> {
    let Proof { objective, .. } = proof;
    if !objective.is_finite() {
        return Err(solver::Error::Diverged { value: objective, pass: 1 }.into());
    }
    let (gap, converged) = (proof.finite_gap(), proof.converged(tol));
    Ok(Certificate { objective, gap, grad_norm: None, converged })
}

/// A trained tree.
pub(crate) struct TreeFit {
    pub fit: Fit,
    pub tree: LabelTree,
    pub rows: u64,
}

/// Weights of all nodes of a tree, by dual ascent in each.
pub(crate) fn fit_tree<F: Number>(
    job: &mut Job<'_, '_>,
    y: &Targets,
    n_outputs: usize,
) -> Result<TreeFit, Error> {
    let nodes = shape(job, y, n_outputs)?;
    let outputs = match y {
        Targets::Labels(labels) => Outputs::Labels { start: labels.starts(), ids: labels.ids() },
        Targets::Classes(y) => Outputs::Classes(y),
        _ => return Err(Error::request("a label tree needs classes or labels")),
    };
    let costs: Option<Vec<f64>> = job
        .spec
        .cost
        .as_ref()
        .map(|cost| (0..n_outputs as u32).flat_map(|y| cost.row(y).to_vec()).collect());
    let task = TreeTask {
        x: job.x,
        outputs,
        n_outputs,
        weights: job.weights,
        nodes: &nodes,
        bias: job.spec.bias,
        penalty: strategy::node_penalty(job.spec.penalty),
        costs: costs.as_deref(),
    };
    let config = dual_config(job, 2);
    let (kind, tol) = (job.loss, job.spec.tol);
    let watch = BlockWatch::new(&mut job.watch);
    macro_rules! run {
        ($level:ident, $loss:expr) => {
            columns::dual_tree::<F, _>(&task, $loss, &config, &|pass| watch.see(pass))
        };
    }
    let fit = with_column_loss!(run, kind)
        .map_err(|why| Error::request(format!("the label tree has {why}")))?;
    let outcome = Outcome { passes: fit.passes, converged: fit.converged, ..Outcome::default() };
    let certificate = certificate(fit.certificate, tol)?;
    let weights = F::own(fit.w);
    let tree_fit = Fit { weights, certificate, outcome, best_pass: None };
    Ok(TreeFit { fit: tree_fit, tree: fit.tree, rows: fit.rows })
}

/// The nodes of the tree that the spec asks for.
fn shape(job: &Job<'_, '_>, y: &Targets, n_outputs: usize) -> Result<Vec<Vec<Child>>, Error> {
    let (spec, seed) = (&job.spec.reduction, job.spec.seed);
    let fail = |why: &dyn std::fmt::Display| Error::request(format!("spec.reduction.tree: {why}"));
    let tree = match spec.tree {
        TreeKind::Random => Tree::balanced(n_outputs, seed).map_err(|e| fail(&e))?,
        TreeKind::Huffman => Tree::huffman(&counts(y, n_outputs)).map_err(|e| fail(&e))?,
        TreeKind::Clusters => {
            let centroids = match y {
                Targets::Classes(y) => {
                    let examples = Examples::new(job.x, y, n_outputs).map_err(|e| fail(&e))?;
                    class_centroids(&examples).map_err(|e| fail(&e))?
                }
                _ => label_centroids(job.x, y, n_outputs).map_err(|e| fail(&e))?,
            };
            Tree::clustered(&centroids, seed).map_err(|e| fail(&e))?
        }
        TreeKind::File => {
            let text = spec.tree_text.as_deref().ok_or_else(|| fail(&"it needs a file"))?;
            let tree: Tree = text.parse().map_err(|e| fail(&e))?;
            if tree.n_classes() != n_outputs {
                return Err(fail(&format!(
                    "it has {} leaves, the data {n_outputs} classes",
                    tree.n_classes()
                )));
            }
            tree
        }
    };
    let splits: Vec<(u32, u32, u32)> = tree.splits().collect();
    // Halving 1,000 classes ten times multiplies the mistakes of ten nodes; a node of 100 classes asks them all at once for what one
    // pass over its rows costs. On 1,016 occupations: accuracy .380 halved down to the classes, .390 with groups of 100.
    let usual = if n_outputs > 200 { 100 } else { 1 };
    Ok(columns::cut(tree.leaves(), &splits, spec.leaf_size.unwrap_or(usual)))
}

fn counts(y: &Targets, n_outputs: usize) -> Vec<u64> {
    let mut counts = vec![0; n_outputs];
    let ids = match y {
        Targets::Classes(y) => y.as_slice(),
        Targets::Labels(labels) => labels.ids(),
        _ => &[],
    };
    ids.iter().for_each(|&id| counts[id as usize] += 1);
    counts
}

/// The sum of the rows that have a label, for each label.
fn label_centroids(
    x: &lineal_linalg::Matrix,
    y: &Targets,
    n_outputs: usize,
) -> Result<lineal_linalg::Csr, lineal_reduce::Error> {
    let Targets::Labels(labels) = y else { unreachable!("trees are of classes or labels") };
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); n_outputs];
    for (row, labels) in (0u32..).zip(labels.iter()) {
        labels.iter().for_each(|&label| rows_of[label as usize].push(row));
    }
    let order: Vec<usize> = rows_of.iter().flatten().map(|&row| row as usize).collect();
    let classes: Vec<u32> =
        (0u32..).zip(&rows_of).flat_map(|(label, rows)| rows.iter().map(move |_| label)).collect();
    let picked = x.select(&order);
    let examples = Examples::new(&picked, &classes, n_outputs)?;
    class_centroids(&examples).map_err(|_| lineal_reduce::Error::NoRows)
}

/// News of blocks that are kept for the curve, and gaps that are summed for it.
const MOST_NEWS: usize = 1 << 16;
const MOST_SUMS: usize = 1 << 22;

/// What the gaps of all blocks sum up to after each pass, where a block that has ended stays where it is. `told` has the times at which the furthest block came there.
fn by_pass(history: &[Vec<(usize, f64)>], told: &[CurvePoint]) -> Vec<CurvePoint> {
    let last = history.iter().flatten().map(|&(pass, _)| pass).max().unwrap_or(0);
    if last.saturating_mul(history.len()) > MOST_SUMS {
        return Vec::new();
    }
    let mut at = vec![0; history.len()];
    let (mut curve, mut told) = (Vec::new(), told.iter().peekable());
    for pass in 1..=last {
        let (mut gap, mut done) = (0.0, 0);
        for (block, at) in history.iter().zip(&mut at) {
            while block.get(*at).is_some_and(|news| news.0 <= pass) {
                *at += 1;
            }
            gap += at.checked_sub(1).map_or(f64::NAN, |at| block[at].1);
            done += usize::from(*at == block.len());
        }
        while told.next_if(|point| point.pass < pass).is_some() {}
        curve.push(CurvePoint {
            pass,
            gap_estimate: gap.is_finite().then_some(gap),
            blocks: Some((done, history.len())),
            seconds: told.peek().map_or(0.0, |point| point.seconds),
            ..CurvePoint::default()
        });
    }
    curve
}

/// Passes the news of blocks, from several threads, to the watch of a run.
struct BlockWatch<'a, 'w> {
    state: Mutex<State<'a, 'w>>,
}

struct State<'a, 'w> {
    watch: &'a mut Watch<'w, Weights>,
    gaps: Vec<f64>,
    /// For each block its passes with their gaps, as long as they are few.
    history: Vec<Vec<(usize, f64)>>,
    n_seen: usize,
    done: usize,
    last: usize,
    stopped: bool,
}

impl<'a, 'w> BlockWatch<'a, 'w> {
    fn new(watch: &'a mut Watch<'w, Weights>) -> Self {
        let state = State {
            watch,
            gaps: Vec::new(),
            history: Vec::new(),
            n_seen: 0,
            done: 0,
            last: 0,
            stopped: false,
        };
        Self { state: Mutex::new(state) }
    }

    /// Whether who looks on has ended the run.
    fn is_stopped(&self) -> bool {
        self.state.lock().is_ok_and(|state| state.stopped)
    }

    /// The curve by passes, which does not depend on the order in which threads brought the news; none if they were too many to be kept.
    fn end(self) {
        let Ok(state) = self.state.into_inner() else { return };
        let told = std::mem::take(&mut state.watch.curve);
        if state.n_seen <= MOST_NEWS {
            state.watch.curve = by_pass(&state.history, &told);
        }
    }

    /// One point of the curve whenever the furthest block makes another pass, and whenever a block ends.
    fn see(&self, news: BlockPass) -> ControlFlow<()> {
        let Ok(mut state) = self.state.lock() else { return ControlFlow::Break(()) };
        state.gaps.resize(news.n_blocks, f64::NAN);
        state.gaps[news.block] = news.gap;
        state.n_seen += 1;
        if state.n_seen <= MOST_NEWS {
            state.history.resize(news.n_blocks, Vec::new());
            state.history[news.block].push((news.pass, news.gap));
        }
        state.done += usize::from(news.done);
        if news.pass > state.last || news.done {
            state.last = state.last.max(news.pass);
            let gap: f64 = state.gaps.iter().sum();
            let point = CurvePoint {
                pass: state.last,
                gap_estimate: gap.is_finite().then_some(gap),
                blocks: Some((state.done, news.n_blocks)),
                ..CurvePoint::default()
            };
            state.stopped |= state.watch.note(point).is_break();
        }
        if state.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Judge<u32> for Columns<'_> {
    const COUPLED: bool = false;

    fn error<F: lineal_linalg::Scalar>(self, scores: &[F], kind: u32) -> f64 {
        if self.has_lists() {
            return self.wrong(kind, scores);
        }
        let y_hat = OutputSpace::<F>::decode(&self, scores);
        f64::from(u8::from(y_hat != kind))
    }

    fn metric(mean_error: f64) -> f64 {
        1.0 - mean_error
    }
}

/// Weights of standardised features as weights of the features themselves, node by node.
pub(crate) fn unscale_tree(
    weights: Weights,
    tree: &LabelTree,
    scaling: &lineal_data::Standardizer,
) -> Weights {
    fn fold<F: Number>(
        mut w: Vec<F>,
        tree: &LabelTree,
        scaling: &lineal_data::Standardizer,
    ) -> Weights {
        tree.for_each_node(&mut w, |features, columns, w| {
            let (features_w, bias) = w.split_at_mut(features.len() * columns);
            for (&j, row) in features.iter().zip(features_w.chunks_exact_mut(columns)) {
                let scale = F::from_f32(scaling.scale[j as usize]);
                row.iter_mut().for_each(|w| *w *= scale);
                if let Some(mean) = &scaling.mean {
                    let mean = F::from_f32(mean[j as usize]);
                    bias.iter_mut().zip(row.iter()).for_each(|(b, &w)| *b -= mean * w);
                }
            }
        });
        F::own(w)
    }
    match weights {
        Weights::F32(w) => fold(w, tree, scaling),
        Weights::F64(w) => fold(w, tree, scaling),
        mapped => mapped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_of_blocks_is_by_pass() {
        let history = vec![vec![(1, 8.0), (2, 4.0)], vec![(1, f64::NAN), (2, 2.0), (3, 1.0)]];
        let told = [CurvePoint { pass: 2, seconds: 5.0, ..CurvePoint::default() }];
        let curve = by_pass(&history, &told);
        let gaps: Vec<_> = curve.iter().map(|p| (p.gap_estimate, p.blocks, p.seconds)).collect();
        assert_eq!(
            gaps,
            [
                (None, Some((0, 2)), 5.0),
                (Some(6.0), Some((1, 2)), 5.0),
                (Some(5.0), Some((2, 2)), 0.0)
            ]
        );
        assert!(by_pass(&[], &told).is_empty());
    }
}
