//! Random problems of structures: chains of labels, pairs of documents, and lists of outputs with features of any kind, which is what every other structure is once it is written out.

use super::convex::{Convex, Kind, Term};
use super::{Case, Claim, Dice};
use lineal::chain::{ChainModel, ChainOptions, ChainProblem, Sentences};
use lineal::erm::structured::{LearnSpec, Learnt, Loss, Solver, learn};
use lineal::linalg::{Dense, Matrix, Scalar, SparseRows};
use lineal::ranking::{Decisions, Normalise, Queries, Ranking};
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure, SumOracle};
use std::ops::{ControlFlow, Range};

/// A random problem, learnt and written out; none if the request is refused.
pub(super) fn case(dice: &mut Dice) -> Option<Case> {
    match dice.below(6) {
        0 | 1 => chain(dice),
        2 => rankings(dice),
        _ => lists(dice),
    }
}

fn spec(dice: &mut Dice) -> LearnSpec {
    let loss = *dice.pick(&[Loss::Hinge, Loss::Logistic]);
    let solver = match loss {
        Loss::Logistic => *dice.pick(&[Solver::Auto, Solver::Lbfgs, Solver::Dual, Solver::Sgd]),
        _ => *dice.pick(&[Solver::Auto, Solver::Dual, Solver::Dual, Solver::Sgd]),
    };
    let l1 = match solver {
        Solver::Lbfgs if dice.one_in(3) => dice.log(-3.0, 0.0),
        _ => 0.0,
    };
    LearnSpec {
        loss,
        solver,
        l2: if l1 > 0.0 && dice.one_in(2) { 0.0 } else { dice.log(-5.0, 1.0) },
        l1,
        passes: *dice.pick(&[1, 10, 100, 500]),
        tol: dice.log(-8.0, -1.0),
        max_outputs: *dice.pick(&[2, 4, 100]),
        seed: dice.below(1000) as u64,
        ..LearnSpec::default()
    }
}

/// Pairs of documents: a margin for each document above another of a lower grade.
fn rankings(dice: &mut Dice) -> Option<Case> {
    let d = 1 + dice.below(3);
    let columns: Vec<(f64, f64)> = (0..d)
        .map(|_| {
            let scale = if dice.one_in(4) { dice.log(-4.0, 4.0) } else { 1.0 };
            (scale, if dice.one_in(3) { scale * dice.log(0.0, 4.0) } else { 0.0 })
        })
        .collect();
    let (mut x, mut ends, mut grades) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..1 + dice.below(3) {
        for _ in 0..2 + dice.below(4) {
            match grades.len() {
                n if n > 0 && dice.one_in(6) => {
                    let at = d * dice.below(n);
                    x.extend_from_within(at..at + d);
                }
                _ => x.extend(columns.iter().map(|(s, o)| (o + s * dice.normal()) as f32)),
            }
            grades.push(dice.below(3) as f32);
        }
        ends.push(grades.len());
    }
    let rows: Vec<Vec<f64>> =
        x.chunks_exact(d).map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect();
    let x = Matrix::Dense(Dense::new(rows.len(), d, x).ok()?);
    let mut queries = Queries::new(&x, &ends, &grades).ok()?;
    let weights: Vec<f32> = ends.iter().map(|_| dice.log(-2.0, 1.0) as f32).collect();
    if dice.one_in(3) {
        queries = queries.with_weights(&weights).ok()?;
    }
    let squared = dice.one_in(3);
    let decisions = if squared { Decisions::SquaredPairs } else { Decisions::Pairs };
    let normalise = *dice.pick(&[Normalise::Decisions, Normalise::Queries]);
    let ranking = Ranking::new(queries, decisions, normalise);
    let mut spec = LearnSpec { l1: 0.0, ..spec(dice) };
    if squared {
        spec.loss = Loss::Logistic;
    }
    if spec.l2 == 0.0 {
        spec.l2 = dice.log(-5.0, 1.0);
    }
    if dice.one_in(2) {
        spec.solver = Solver::Newton;
    }
    let (kind, margin) = match (squared, spec.loss) {
        (true, _) => (Kind::SquaredMax, 1.0),
        (_, Loss::Logistic) => (Kind::LogSum, 0.0),
        _ => (Kind::Max, 1.0),
    };
    let mut terms = Vec::new();
    let mut start = 0;
    for (q, &end) in ends.iter().enumerate() {
        let weight = Structure::<f64>::share(&ranking, q);
        for above in start..end {
            for below in (start..end).filter(|&below| grades[above] > grades[below]) {
                let difference = rows[below].iter().zip(&rows[above]).map(|(b, a)| b - a);
                let outputs = vec![(difference.collect(), margin)];
                terms.push(Term { weight, kind, outputs });
            }
        }
        start = end;
    }
    let learnt = learn(&ranking, &spec, None, &mut |_| ControlFlow::Continue(())).ok()?;
    let name = if squared { "squared pairs" } else { "pairs" };
    written(name, learnt, &spec, terms, 0..0)
}

/// Learns, and writes out what was learnt. `outputs` lists the outputs of each example but the gold one, with the difference of features and the cost.
fn learnt<S>(
    name: &str,
    structure: &S,
    spec: &LearnSpec,
    outputs: Vec<Vec<(Vec<f64>, f64)>>,
    nonnegative: Range<usize>,
) -> Option<Case>
where
    S: SumOracle<f32> + SumOracle<f64, Output = <S as Structure<f32>>::Output>,
{
    let learnt = learn(structure, spec, None, &mut |_| ControlFlow::Continue(())).ok()?;
    let terms = outputs.into_iter().enumerate().map(|(i, outputs)| {
        let logistic = spec.loss == Loss::Logistic;
        let costed = |(d, cost): (Vec<f64>, f64)| (d, if logistic { 0.0 } else { cost });
        Term {
            weight: Structure::<f64>::share(structure, i),
            kind: if logistic { Kind::LogSum } else { Kind::Max },
            outputs: outputs.into_iter().map(costed).collect(),
        }
    });
    written(name, learnt, spec, terms.collect(), nonnegative)
}

/// What was learnt of these terms.
fn written(
    name: &str,
    learnt: Learnt,
    spec: &LearnSpec,
    terms: Vec<Term>,
    nonnegative: Range<usize>,
) -> Option<Case> {
    let Learnt { w, report } = learnt;
    let problem = Convex {
        dim: w.len(),
        penalised: vec![true; w.len()],
        l2: spec.l2,
        l1: spec.l1,
        nonnegative: nonnegative.collect(),
        terms,
    };
    let claim =
        Claim { objective: report.objective?, gap: report.gap, converged: report.converged };
    Some(Case {
        name: format!("{name} {:?} {:?}", spec.loss, report.solver),
        about: format!("{spec:?}\n{problem:?}"),
        problems: vec![problem],
        report: claim,
        tol: Some(spec.tol),
        weights: Some(vec![w.iter().map(|&w| f64::from(w)).collect()]),
    })
}

/// Sentences of up to three words.
fn chain(dice: &mut Dice) -> Option<Case> {
    let (n_labels, n_unary) = (2 + dice.below(2), 1 + dice.below(2));
    let mut unary = SparseRows::new();
    let (mut labels, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..2 + dice.below(4) {
        for _ in 0..1 + dice.below(3) {
            (0..n_unary as u32).filter(|_| dice.one_in(2)).for_each(|id| unary.push(id));
            unary.end_row();
            labels.push(dice.below(n_labels) as u32);
        }
        ends.push(labels.len());
    }
    let weights: Option<Vec<f32>> =
        dice.one_in(2).then(|| ends.iter().map(|_| (0.1 + dice.unit()) as f32).collect());
    let sentences = Sentences {
        unary: &unary,
        pairs: None,
        labels: &labels,
        ends: &ends,
        weights: weights.as_deref(),
    };
    let model = ChainModel {
        n_labels,
        n_unary,
        n_pairs: 0,
        transitions: dice.one_in(2),
        ends: dice.one_in(2),
        triples: false,
    };
    let problem = ChainProblem::new(model, sentences, &ChainOptions::default(), None).ok()?;
    let dim = Structure::<f64>::dim(&problem);
    let mut scratch = Structure::<f64>::scratch(&problem);
    let mut outputs = Vec::new();
    let mut start = 0;
    for (i, &end) in ends.iter().enumerate() {
        let gold = labels[start..end].to_vec();
        let mut own = Vec::new();
        for number in 0..n_labels.pow((end - start) as u32) {
            let digit = |at: usize| (number / n_labels.pow(at as u32) % n_labels) as u32;
            let y: Vec<u32> = (0..end - start).map(digit).collect();
            if y != gold {
                let mut d = vec![0.0; dim];
                let add = |place: usize, v: f64| d[place] += v;
                Structure::<f64>::each_difference(&problem, i, &y, &gold, &mut scratch, add);
                own.push((d, MaxOracle::<f64>::cost(&problem, i, &y)));
            }
        }
        outputs.push(own);
        start = end;
    }
    learnt("chain", &problem, &spec(dice), outputs, 0..0)
}

/// Examples with a list of outputs each, written out.
struct Lists {
    dim: usize,
    nonnegative: Range<usize>,
    examples: Vec<Example>,
}

struct Example {
    /// Of each output.
    features: Vec<Vec<f32>>,
    costs: Vec<f64>,
    gold: u32,
    share: f64,
}

fn lists(dice: &mut Dice) -> Option<Case> {
    let dim = 1 + dice.below(5);
    let nonnegative = if dice.one_in(4) { 0..1 + dice.below(dim) } else { 0..0 };
    let scales: Vec<(f64, f64)> = (0..dim)
        .map(|_| {
            let scale = if dice.one_in(5) { dice.log(-3.0, 3.0) } else { 1.0 };
            (scale, if dice.one_in(3) { scale * dice.log(0.0, 3.0) } else { 0.0 })
        })
        .collect();
    let weights: Vec<f64> = (0..2 + dice.below(6))
        .map(|_| if dice.one_in(4) { dice.log(-3.0, 1.0) } else { 1.0 })
        .collect();
    let total: f64 = weights.iter().sum();
    let examples: Vec<Example> = weights
        .iter()
        .map(|weight| {
            let n = 2 + dice.below(5);
            let gold = dice.below(n);
            let vector = |dice: &mut Dice| -> Vec<f32> {
                scales
                    .iter()
                    .map(|(scale, offset)| (offset + scale * dice.normal()) as f32)
                    .collect()
            };
            let features = (0..n).map(|_| vector(dice)).collect();
            let cost = |y: usize, dice: &mut Dice| if y == gold { 0.0 } else { 0.1 + dice.unit() };
            let costs = (0..n).map(|y| cost(y, dice)).collect();
            Example { features, costs, gold: gold as u32, share: weight / total }
        })
        .collect();
    let outputs = examples.iter().map(Example::outputs).collect();
    let lists = Lists { dim, nonnegative: nonnegative.clone(), examples };
    let name = if nonnegative.is_empty() { "lists" } else { "lists, weights ≥ 0" };
    learnt(name, &lists, &spec(dice), outputs, nonnegative)
}

impl Example {
    fn outputs(&self) -> Vec<(Vec<f64>, f64)> {
        let gold = &self.features[self.gold as usize];
        let others = self.features.iter().zip(&self.costs).enumerate();
        let of = |(features, cost): (&Vec<f32>, &f64)| {
            let d = features.iter().zip(gold).map(|(&a, &b)| f64::from(a) - f64::from(b));
            (d.collect(), *cost)
        };
        others.filter(|&(y, _)| y != self.gold as usize).map(|(_, one)| of(one)).collect()
    }
}

impl<F: Scalar> Structure<F> for Lists {
    type Output = u32;
    type Parts = Vec<F>;
    type Scratch = ();

    fn n_examples(&self) -> usize {
        self.examples.len()
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn nonnegative(&self) -> Range<usize> {
        self.nonnegative.clone()
    }
    fn share(&self, i: usize) -> f64 {
        self.examples[i].share
    }
    fn size(&self, _: usize) -> usize {
        1
    }
    fn log_outputs(&self, i: usize) -> f64 {
        (self.examples[i].costs.len() as f64).ln()
    }
    fn scratch(&self) {}
    fn gold(&self, i: usize, y: &mut u32) {
        *y = self.examples[i].gold;
    }
    fn scores(&self, i: usize, w: &[F], scale: F, (): &mut (), theta: &mut Vec<F>) {
        theta.clear();
        theta.extend(self.examples[i].features.iter().map(|features| {
            let sum: F = features.iter().zip(w).map(|(&x, &w)| F::from_f32(x) * w).sum();
            scale * sum
        }));
    }
    fn accumulate(&self, i: usize, g: &Vec<F>, (): &mut (), into: &mut [F]) {
        for (features, &g) in self.examples[i].features.iter().zip(g) {
            into.iter_mut().zip(features).for_each(|(into, &x)| *into += g * F::from_f32(x));
        }
    }
    fn each_difference(
        &self,
        i: usize,
        plus: &u32,
        minus: &u32,
        (): &mut (),
        mut f: impl FnMut(usize, F),
    ) {
        let features = &self.examples[i].features;
        features[*plus as usize].iter().enumerate().for_each(|(j, &x)| f(j, F::from_f32(x)));
        features[*minus as usize].iter().enumerate().for_each(|(j, &x)| f(j, -F::from_f32(x)));
    }
    fn score(&self, _: usize, theta: &Vec<F>, y: &u32) -> f64 {
        theta[*y as usize].to_f64()
    }
    fn add_output(&self, _: usize, y: &u32, a: F, mu: &mut Vec<F>) {
        mu[*y as usize] += a;
    }
}

impl<F: Scalar> MaxOracle<F> for Lists {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        (): &mut (),
        y: &mut u32,
    ) -> Result<Found, Infeasible> {
        let Example { costs, gold, .. } = &self.examples[i];
        let score = |r: usize| match ask {
            Ask::Augmented => theta[r].to_f64() + costs[r],
            _ => theta[r].to_f64(),
        };
        let best =
            (0..costs.len()).fold(0, |best, r| if score(r) > score(best) { r } else { best });
        *y = if ask == Ask::Gold { *gold } else { best as u32 };
        Ok(Found::exact(score(*y as usize)))
    }
    fn cost(&self, i: usize, y: &u32) -> f64 {
        self.examples[i].costs[*y as usize]
    }
}

impl<F: Scalar> SumOracle<F> for Lists {
    fn log_partition(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        (): &mut (),
    ) -> Result<f64, Infeasible> {
        self.expect(i, theta, ask, &mut (), &mut Vec::new())
    }
    fn expect(
        &self,
        _: usize,
        theta: &Vec<F>,
        _: Ask,
        (): &mut (),
        mu: &mut Vec<F>,
    ) -> Result<f64, Infeasible> {
        let top = theta.iter().fold(F::from_f64(-1e30), |top, &s| top.max(s));
        mu.clear();
        mu.extend(theta.iter().map(|&s| (s - top).exp()));
        let sum: F = mu.iter().copied().sum();
        mu.iter_mut().for_each(|p| *p /= sum);
        Ok((top + sum.ln()).to_f64())
    }
}
