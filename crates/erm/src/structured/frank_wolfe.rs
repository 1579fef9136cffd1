//! The structured SVM in the dual: block-coordinate Frank–Wolfe with pairwise steps.
//!
//! Lacoste-Julien, Jaggi, Schmidt, Pletscher, *Block-Coordinate Frank–Wolfe Optimization for Structural SVMs* (ICML 2013); pairwise steps and caches after
//! Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien (ICML 2016). With shares pᵢ of the examples, a distribution αᵢ over the outputs of each:
//!
//! ```text
//! w(α) = (1/l2) Σᵢ pᵢ (Ψ(xᵢ, yᵢ) − Σ_y αᵢ(y) Ψ(xᵢ, y))
//! D(α) = Σᵢ pᵢ Σ_y αᵢ(y) Δ(yᵢ, y) − (l2/2)‖w(α)‖²
//! ```
//!
//! A block is the list of its outputs with αᵢ(y) > 0. A step finds the output s that the loss-augmented argmax answers, and of the list the one, a, that scores lowest,
//! and moves γ = min(αᵢ(a), l2 (score(s) − score(a)) / (pᵢ‖Ψ(s) − Ψ(a)‖²)) from a to s, scores with costs. That touches the features by which s and
//! a differ and nothing else. Where the list already has an output that promises half of the gap that the block last had, the
//! argmax is not asked for. A list has at most `max_outputs` entries: when it is full, the one of least α gives all of it to s, if that does
//! not lower D, and else s has to wait.
//!
//! The certificate is taken at w and at the mean of the iterates at the ends of passes, weighted by 2k/(K(K+1)), whose dual point is the mean of α. Steps are made in `F`; the dual point is
//! summed up in f64, and its value is proven in exact arithmetic (`rounding.rs`): the α that are meant are divided by their exact sum, and a weight that is a sum of n products is off by at most γₙ of the sum of
//! their absolute values, so that ‖w(α)‖ is at most what is computed plus γ·(1/l2) Σᵢ pᵢ Σ_y αᵢ(y)‖Ψ(yᵢ) − Ψ(y)‖₁. An inexact
//! argmax says how much more there may be ([`Found::upper`](lineal_model::structure::Found)): the losses of the certificate, and with them objective and gap, count that as lost.
//!
//! Where weights must not be negative, w is the projection of what the formula gives, u, and everything above holds with a line search along the bends (`nonnegative.rs`). The mean of α has the projection of the mean of u.
//!
//! Weights to start from are no point of the dual. Their worst outputs are the first of the lists, with the one γ for all that is best, and the weights
//! themselves are returned if nothing better is found.

use super::LearnError;
use super::nonnegative::{Line, project};
use super::problem::{Problem, Worker, infeasible};
use super::vertex::Vertex;
use crate::rounding::{Sums, gamma, underflow};
use crate::shards::Shards;
use lineal_linalg::{Scalar, kernels};
use lineal_model::structure::{MaxOracle, Structure};
use lineal_solver::{Blocks, DualStep};
use rayon::prelude::*;
use std::ops::Range;

pub(crate) struct FrankWolfe<'p, 'a, S: MaxOracle<F> + Structure<f64>, F: Scalar> {
    problem: &'p Problem<'a, S, F>,
    worker: Worker<S, F>,
    /// For features in f64.
    wide: <S as Structure<f64>>::Scratch,
    active: Vec<Vec<Active<<S as Structure<F>>::Output>>>,
    /// Whether Ψ-vectors are kept in place of outputs.
    dense: bool,
    /// The gap that each block had at the last argmax.
    gaps: Vec<f64>,
    w: Vec<F>,
    /// Weights that must not be negative, and these before their projection.
    nonnegative: Range<usize>,
    u: Vec<F>,
    /// Σᵢ pᵢ Σ_y αᵢ(y) Δ(yᵢ, y).
    cost: f64,
    /// The dual point and the mean of those at certificates, in f64.
    point: DualPoint,
    mean_point: DualPoint,
    /// The weights of the mean.
    mean: Vec<F>,
    n_means: f64,
    /// Where it started, and the objective there.
    start: Option<(Vec<F>, f64)>,
    best: Best,
    best_dual: f64,
    /// Zeros, between steps.
    spare: Vec<F>,
}

struct Active<Y> {
    vertex: Vertex<Y>,
    alpha: f64,
    cost: f64,
}

/// α summed up.
#[derive(Clone, Default)]
struct DualPoint {
    /// w(α) before the projection of what must not be negative.
    u: Vec<f64>,
    /// By how much its norm may be more than that of `u`.
    error: f64,
    /// Σᵢ pᵢ Σ_y αᵢ(y) Δ(yᵢ, y), rounded down.
    cost: f64,
}

impl DualPoint {
    /// This one and another, mixed.
    fn mix(&mut self, other: &Self, rho: f64) {
        self.u.resize(other.u.len(), 0.0);
        for (u, other) in self.u.iter_mut().zip(&other.u) {
            *u = (1.0 - rho) * *u + rho * other;
        }
        let norm =
            kernels::dot64(&other.u, &other.u).sqrt() + kernels::dot64(&self.u, &self.u).sqrt();
        self.error = self.error.max(other.error) + gamma(8) * norm;
        self.cost = (1.0 - rho) * self.cost + rho * other.cost;
        self.cost -= gamma(8) * self.cost.abs();
    }

    /// D, rounded down.
    fn value(&self, l2: f64, nonnegative: &Range<usize>) -> f64 {
        let mut square = kernels::dot64(&self.u, &self.u);
        // The projection sets what is below 0 to 0, and moves no two points apart.
        square -= self.u[nonnegative.clone()].iter().map(|u| u.min(0.0).powi(2)).sum::<f64>();
        let size = gamma(2 * self.u.len()) * kernels::dot64(&self.u, &self.u);
        let norm = (square.max(0.0) + size).sqrt() + self.error;
        let lost = 0.5 * l2 * norm * norm;
        self.cost - lost - gamma(8) * (self.cost.abs() + lost)
    }
}

/// Which weights should be returned.
#[derive(Clone, Copy, PartialEq)]
enum Best {
    Own,
    Mean,
    Start,
}

/// Examples that a thread takes at a time.
const CHUNK: usize = 64;

impl<'p, 'a, S, F> FrankWolfe<'p, 'a, S, F>
where
    F: Scalar,
    S: MaxOracle<F> + MaxOracle<f64, Output = <S as Structure<F>>::Output>,
{
    pub(crate) fn new(
        problem: &'p Problem<'a, S, F>,
        start: Option<Vec<F>>,
    ) -> Result<Self, LearnError> {
        let (n, dim) = (problem.n(), problem.dim());
        // Then a product with a Ψ-vector costs less than walking over the features of an output.
        let dense = dim <= Structure::<F>::work(problem.structure) / (4 * n.max(1));
        let mut worker = problem.worker();
        let mut gold = |i| {
            Structure::<F>::gold(problem.structure, i, &mut worker.gold);
            let vertex = match dense {
                true => Vertex::Features(vec![0.0; dim]),
                false => Vertex::Output(worker.gold.clone()),
            };
            vec![Active { vertex, alpha: 1.0, cost: 0.0 }]
        };
        let zeros = || vec![F::ZERO; dim];
        let nonnegative = Structure::<F>::nonnegative(problem.structure);
        let mut new = Self {
            problem,
            active: (0..n).map(&mut gold).collect(),
            worker,
            wide: Structure::<f64>::scratch(problem.structure),
            dense,
            gaps: vec![f64::INFINITY; n],
            w: zeros(),
            u: vec![F::ZERO; nonnegative.len()],
            nonnegative,
            cost: 0.0,
            point: DualPoint::default(),
            mean_point: DualPoint::default(),
            mean: zeros(),
            n_means: 0.0,
            start: None,
            best: Best::Own,
            best_dual: 0.0,
            spare: zeros(),
        };
        if let Some(w) = start {
            new.start_from(w)?;
        }
        Ok(new)
    }

    /// Gives γ to the worst outputs at `w`, the same for all examples.
    fn start_from(&mut self, w: Vec<F>) -> Result<(), LearnError> {
        let problem = self.problem;
        let structure = problem.structure;
        let mut losses = vec![0.0; problem.n()];
        let objective = self.primal(&w, &mut losses)?;
        structure.load(&w, F::ONE, false, &mut self.worker.s);
        for (i, block) in self.active.iter_mut().enumerate() {
            let worker = &mut self.worker;
            problem.scores(i, &w, worker);
            problem.loss(i, worker).map_err(infeasible(i))?;
            if worker.y_hat != worker.gold {
                let cost = MaxOracle::<F>::cost(structure, i, &worker.y_hat);
                let vertex = Vertex::new(problem, i, worker, &mut self.wide, self.dense);
                block[0].alpha = 0.0;
                block.push(Active { vertex, alpha: 1.0, cost });
            }
        }
        self.refresh();
        let curve = problem.spec.l2 * kernels::dot64(&self.w, &self.w);
        let gamma = if curve > 0.0 { (self.cost / curve).min(1.0) } else { 1.0 };
        for block in &mut self.active {
            if let [gold, worst] = &mut block[..] {
                (gold.alpha, worst.alpha) = (1.0 - gamma, gamma);
            }
            block.retain(|one| one.alpha > 0.0);
        }
        self.refresh();
        self.start = Some((w, objective));
        Ok(())
    }

    /// w(α), computed afresh and in f64: rounding does not pile up.
    fn refresh(&mut self) {
        let (problem, active) = (self.problem, &self.active);
        let (structure, l2, dim) = (problem.structure, problem.spec.l2, problem.dim());
        // Weights, and how many terms each of them is the sum of.
        let mut out = vec![0.0; 2 * dim];
        let sums = Sums::new();
        let share = |i: usize| Structure::<f64>::share(structure, i);
        let n = problem.n();
        let work = Structure::<f64>::work(structure);
        Shards::<f64>::new(n, 2 * dim, work).accumulate(&mut out, &|range, out| {
            let mut s = Structure::<f64>::scratch(structure);
            let mut gold = <S as Structure<f64>>::Output::default();
            let (w, hits) = out.split_at_mut(dim);
            // Σ p α Δ, and Σ p α‖Ψ(gold) − Ψ(y)‖₁ / l2.
            let (start, mut own) = (range.start(), [0.0; 2]);
            for i in range.filter(|&i| share(i) > 0.0) {
                Structure::<f64>::gold(structure, i, &mut gold);
                let total: f64 = active[i].iter().map(|one| one.alpha).sum();
                for one in active[i].iter().filter(|one| one.alpha > 0.0) {
                    let alpha = one.alpha / total;
                    let by = share(i) / l2 * alpha;
                    let mut length = 0.0;
                    let add = |place: usize, v: f64| {
                        w[place] += by * v;
                        hits[place] += 1.0;
                        length += v.abs();
                    };
                    one.vertex.each_below_gold::<f64, S>(structure, i, &gold, &mut s, add);
                    own[0] += share(i) * alpha * one.cost;
                    own[1] += by * length;
                }
            }
            sums.put(start, own);
            0.0
        });
        let hits = out.split_off(dim);
        let [cost, length] = sums.total();
        let most = hits.iter().fold(0.0f64, |most, &hits| most.max(hits)) as usize;
        // Shares, sums of α and of features besides.
        let off = gamma(most + 2 * problem.spec.max_outputs + n + 64);
        self.point.error = off * length + underflow(dim);
        self.point.cost = cost - gamma(2 * n + 2 * problem.spec.max_outputs) * cost.abs();
        self.point.u = out;
        self.cost = cost;
        write(&self.point.u, &mut self.w);
        self.u.copy_from_slice(&self.w[self.nonnegative.clone()]);
        project(&mut self.w, &self.nonnegative);
    }

    /// The primal objective, and the loss of each example. Where the argmax is inexact: no less than they are.
    fn primal(&self, w: &[F], losses: &mut [f64]) -> Result<f64, LearnError> {
        let (problem, structure) = (self.problem, self.problem.structure);
        losses.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, losses)| {
            let mut worker = problem.worker();
            structure.load(w, F::ONE, false, &mut worker.s);
            for (i, loss) in losses.iter_mut().enumerate() {
                let i = chunk * CHUNK + i;
                problem.scores(i, w, &mut worker);
                *loss = problem.loss(i, &mut worker).map_err(infeasible(i))?.upper;
            }
            Ok(())
        })?;
        let loss: f64 =
            losses.iter().enumerate().map(|(i, l)| l * Structure::<F>::share(structure, i)).sum();
        Ok(loss + 0.5 * problem.spec.l2 * kernels::dot64(w, w))
    }
}

/// Rounds weights to another type.
fn write<F: Scalar>(from: &[f64], to: &mut [F]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = F::from_f64(from));
}

impl<S, F> Blocks<F> for FrankWolfe<'_, '_, S, F>
where
    F: Scalar,
    S: MaxOracle<F> + MaxOracle<f64, Output = <S as Structure<F>>::Output>,
{
    type Error = LearnError;

    fn n_blocks(&self) -> usize {
        self.active.len()
    }

    fn step(&mut self, i: usize) -> Result<DualStep, LearnError> {
        let Self {
            problem, worker, wide, active, gaps, w, u, nonnegative, cost, spare, dense, ..
        } = self;
        let (structure, nonnegative) = (problem.structure, &*nonnegative);
        let (l2, share) = (problem.spec.l2, Structure::<F>::share(structure, i));
        if share == 0.0 {
            return Ok(DualStep { gap: 0.0, moved: false });
        }
        let block = &mut active[i];
        problem.scores(i, w, worker);
        Structure::<F>::gold(structure, i, &mut worker.gold);
        let gold_score = Structure::<F>::score(structure, i, &worker.theta, &worker.gold);
        let score = |one: &Active<<S as Structure<F>>::Output>| {
            one.vertex.score(structure, i, &worker.theta, w, gold_score) + one.cost
        };
        let scores: Vec<f64> = block.iter().map(score).collect();
        let mean: f64 = block.iter().zip(&scores).map(|(one, score)| one.alpha * score).sum();
        let lowest = argbest(&scores, |a, b| a < b);
        let highest = argbest(&scores, |a, b| a > b);
        // The list first; the argmax where it promises little.
        let cached = share * (scores[highest] - mean);
        let mut seen = gaps[i];
        let (mut towards, mut best) = (highest, scores[highest]);
        if cached < 0.5 * gaps[i] || cached <= 0.0 {
            structure.load(w, F::ONE, false, &mut worker.s);
            let loss = problem.loss(i, worker).map_err(infeasible(i))?;
            let found = loss.lead + loss.gold_score;
            seen = (share * (loss.upper + loss.gold_score - mean)).max(0.0);
            let exact = loss.upper == loss.seen;
            if exact || found > best {
                let vertex = Vertex::new(problem, i, worker, wide, *dense);
                let new_cost = MaxOracle::<F>::cost(structure, i, &worker.y_hat);
                let same = |one: &Active<<S as Structure<F>>::Output>| {
                    one.cost == new_cost && one.vertex == vertex
                };
                towards = block.iter().position(same).unwrap_or_else(|| {
                    block.push(Active { vertex, alpha: 0.0, cost: new_cost });
                    block.len() - 1
                });
                best = found;
            }
        }
        gaps[i] = seen;
        let exact_step = |lead: f64, norm: f64| match norm > 0.0 {
            true => l2 * lead / (share * norm),
            false => f64::INFINITY,
        };
        let mut from = lowest;
        let mut all = false;
        if block.len() > problem.spec.max_outputs {
            let least = argbest(&block[..scores.len()], |a, b| a.alpha < b.alpha);
            let pair = (&block[least].vertex, &block[towards].vertex);
            let norm_of_least = difference(structure, i, pair, &mut worker.s, spare);
            let (alpha, lead) = (block[least].alpha, best - scores[least]);
            let fits = match nonnegative.is_empty() {
                true => alpha <= 2.0 * exact_step(lead, norm_of_least),
                false => {
                    line(share, l2, lead, norm_of_least, u, &spare[nonnegative.clone()]).gain(alpha)
                        >= 0.0
                }
            };
            clear::<S, F>(structure, i, pair, &mut worker.s, |place| spare[place] = F::ZERO);
            if fits {
                (from, all) = (least, true);
            } else {
                // Beyond twice the exact step D would fall: the new output has to wait.
                (towards, best) = (highest, scores[highest]);
            }
        }
        let lead = best - scores[from];
        let moved = towards != from && lead > 0.0;
        if moved {
            let pair = (&block[from].vertex, &block[towards].vertex);
            let norm = difference(structure, i, pair, &mut worker.s, spare);
            let room = block[from].alpha;
            let gamma = match all {
                true => room,
                false if nonnegative.is_empty() => exact_step(lead, norm).min(room),
                false => line(share, l2, lead, norm, u, &spare[nonnegative.clone()]).best(room),
            };
            let by = F::from_f64(gamma * share / l2);
            for (u, (w, d)) in u
                .iter_mut()
                .zip(w[nonnegative.clone()].iter_mut().zip(&mut spare[nonnegative.clone()]))
            {
                *u += by * std::mem::replace(d, F::ZERO);
                *w = u.max(F::ZERO);
            }
            clear::<S, F>(structure, i, pair, &mut worker.s, |place| {
                w[place] += by * spare[place];
                spare[place] = F::ZERO;
            });
            *cost += share * gamma * (block[towards].cost - block[from].cost);
            block[towards].alpha += gamma;
            block[from].alpha = if gamma >= room { 0.0 } else { room - gamma };
        }
        block.retain(|one| one.alpha > 0.0);
        Ok(DualStep { gap: seen, moved })
    }

    fn certify(&mut self, gaps: &mut [f64]) -> Result<(f64, f64), LearnError> {
        self.refresh();
        self.n_means += 1.0;
        let rho = 2.0 / (self.n_means + 1.0);
        self.mean_point.mix(&self.point, rho);
        write(&self.mean_point.u, &mut self.mean);
        project(&mut self.mean, &self.nonnegative);
        let l2 = self.problem.spec.l2;
        for point in [&self.point, &self.mean_point] {
            self.best_dual = self.best_dual.max(point.value(l2, &self.nonnegative));
        }
        let of_mean = self.primal(&self.mean, gaps)?;
        let own = self.primal(&self.w, gaps)?;
        // From the losses at w to the gaps: loss + score(gold) − Σ α (score + cost).
        let (problem, structure) = (self.problem, self.problem.structure);
        let (w, active) = (&self.w, &self.active);
        gaps.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, gaps)| {
            let mut worker = problem.worker();
            for (i, gap) in gaps.iter_mut().enumerate() {
                if problem.interrupt.is_stopped() {
                    return;
                }
                let i = chunk * CHUNK + i;
                problem.scores(i, w, &mut worker);
                Structure::<F>::gold(structure, i, &mut worker.gold);
                let gold = Structure::<F>::score(structure, i, &worker.theta, &worker.gold);
                let score = |one: &Active<<S as Structure<F>>::Output>| {
                    let score = one.vertex.score(structure, i, &worker.theta, w, gold);
                    one.alpha * (score + one.cost - gold)
                };
                let mean: f64 = active[i].iter().map(score).sum();
                *gap = (Structure::<F>::share(structure, i) * (*gap - mean)).max(0.0);
            }
        });
        self.gaps.copy_from_slice(gaps);
        self.best = if of_mean < own { Best::Mean } else { Best::Own };
        let mut objective = own.min(of_mean);
        if let Some((_, at_start)) = self.start.as_ref().filter(|start| start.1 < objective) {
            (self.best, objective) = (Best::Start, *at_start);
        }
        Ok((objective, (objective - self.best_dual).max(0.0)))
    }

    fn weights(&self) -> &[F] {
        match (self.best, &self.start) {
            (Best::Mean, _) => &self.mean,
            (Best::Start, Some((w, _))) => w,
            _ => &self.w,
        }
    }
}

/// The step to an output that leads by this much, where Ψ(from) − Ψ(to) has this squared norm and, of the constrained weights, these entries.
fn line<'a, F: Scalar>(
    share: f64,
    l2: f64,
    lead: f64,
    norm: f64,
    u: &'a [F],
    d: &'a [F],
) -> Line<'a, F> {
    let constrained: f64 = d.iter().map(|d| d.to_f64() * d.to_f64()).sum();
    Line { share, l2, lead, free: (norm - constrained).max(0.0), u, d }
}

/// Two outputs of a list.
type Pair<'v, S, F> =
    (&'v Vertex<<S as Structure<F>>::Output>, &'v Vertex<<S as Structure<F>>::Output>);

/// Adds Ψ(a) − Ψ(b) to `spare` and returns its squared norm.
fn difference<S: MaxOracle<F>, F: Scalar>(
    structure: &S,
    i: usize,
    (a, b): Pair<'_, S, F>,
    s: &mut S::Scratch,
    spare: &mut [F],
) -> f64 {
    let mut norm = 0.0;
    a.each_difference(structure, i, b, s, |place, v| {
        norm += (v * (spare[place] + spare[place] + v)).to_f64();
        spare[place] += v;
    });
    norm
}

/// `f(weight)` for each weight that [`difference`] touched.
fn clear<S: MaxOracle<F>, F: Scalar>(
    structure: &S,
    i: usize,
    (a, b): Pair<'_, S, F>,
    s: &mut S::Scratch,
    mut f: impl FnMut(usize),
) {
    a.each_difference(structure, i, b, s, |place, _| f(place));
}

fn argbest<T>(items: &[T], better: impl Fn(&T, &T) -> bool) -> usize {
    (0..items.len()).fold(0, |best, i| if better(&items[i], &items[best]) { i } else { best })
}
