//! Examples of a declaration as examples of the learners.
//!
//! Parts are the labels of variables and the joint labels of factors; each has a weight for each of its features. The argmax keeps the rules
//! ([`Rivals::Legal`], training with inference in the loop), or only the answers do ([`Rivals::Free`], local training: without factors every variable is a classifier
//! of its own).

use super::blocks::each_block;
use super::cost;
use crate::features::Vocabulary;
use crate::ground::{Examples, Ground};
use crate::inference::{
    Domains, NoSolution, Program, Scratch, SolveOptions, conflict, loose_bound, solve,
};
use crate::language::Declaration;
use lineal_linalg::{Row, Scalar, SparseRows, kernels};
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure};
use std::ops::Range;

/// Which outputs a learner compares the gold one with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rivals {
    /// Those that keep the rules.
    #[default]
    Legal,
    /// All.
    Free,
}

/// How a problem is learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProblemOptions {
    /// Which outputs count as wrong answers; those that keep the rules by default.
    pub rivals: Rivals,
    /// How argmaxes are found.
    pub solve: SolveOptions,
}

/// Examples with their features, ready for the learners.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    declaration: &'a Declaration,
    vocabulary: &'a Vocabulary,
    examples: &'a Examples,
    options: ProblemOptions,
    rows: SparseRows,
    /// The first row of each example.
    firsts: Vec<usize>,
    total_weight: f64,
}

/// Working memory of [`Problem`].
#[derive(Clone, Debug, Default)]
pub struct ProblemScratch {
    theta: Vec<f64>,
    solver: Scratch,
}

impl<'a> Problem<'a> {
    /// Makes the features of all examples.
    pub fn new(
        declaration: &'a Declaration,
        vocabulary: &'a Vocabulary,
        examples: &'a Examples,
        options: ProblemOptions,
    ) -> Self {
        let (mut rows, mut firsts) = (SparseRows::new(), Vec::new());
        for ground in examples.iter() {
            firsts.push(rows.n_rows());
            vocabulary.encode(declaration, ground, &mut rows);
        }
        let total_weight = examples.iter().map(|ground| ground.weight).sum();
        Self { declaration, vocabulary, examples, options, rows, firsts, total_weight }
    }

    /// The examples.
    pub fn examples(&self) -> &'a Examples {
        self.examples
    }

    /// The examples whose gold labels break rules, with the numbers of these rules: a learner that keeps rules cannot reach them.
    pub fn illegal_gold(&self) -> Vec<(usize, Vec<usize>)> {
        let broken = |(i, ground): (usize, &Ground)| {
            if !ground.is_whole() {
                let known = known(&ground.program, &ground.gold);
                let rules = conflict(&ground.program, Some(&known), &self.options.solve)?;
                return (!rules.is_empty()).then_some((i, rules));
            }
            let labels: Vec<u32> = ground.gold.iter().map(|gold| gold.unwrap_or(0)).collect();
            let broken = ground.program.constraints().iter().filter(|c| !c.holds(&labels));
            let mut rules: Vec<usize> = broken.map(|constraint| constraint.rule).collect();
            rules.sort_unstable();
            rules.dedup();
            (!rules.is_empty()).then_some((i, rules))
        };
        self.examples.iter().enumerate().filter_map(broken).collect()
    }

    fn program(&self, i: usize) -> &Program {
        let ground = self.examples.get(i);
        match self.options.rivals {
            Rivals::Legal => &ground.program,
            Rivals::Free => &ground.free,
        }
    }

    /// `f(parts, weights, features)` for each variable and factor.
    fn each_block(&self, i: usize, mut f: impl FnMut(Range<usize>, Range<usize>, Row<'_>)) {
        let (ground, mut row) = (self.examples.get(i), self.firsts[i]);
        each_block(self.declaration, self.vocabulary, ground, |parts, weights| {
            f(parts, weights, self.rows.row(row));
            row += 1;
        });
    }

    /// For each variable and factor the part that an output has, counted from its first.
    fn parts_of(&self, i: usize, labels: &[u32], into: &mut Vec<usize>) {
        let program = &self.examples.get(i).program;
        into.clear();
        into.extend(labels.iter().map(|&label| label as usize));
        into.extend(program.tables().iter().map(|table| program.cell(table, labels) - table.start));
    }
}

impl<'a, F: Scalar> Structure<F> for Problem<'a> {
    type Output = Vec<u32>;
    type Parts = Vec<F>;
    type Scratch = ProblemScratch;

    fn n_examples(&self) -> usize {
        self.examples.len()
    }

    fn dim(&self) -> usize {
        self.vocabulary.dim()
    }

    fn share(&self, i: usize) -> f64 {
        if self.total_weight > 0.0 { self.examples.get(i).weight / self.total_weight } else { 0.0 }
    }

    fn work(&self) -> usize {
        let parts: usize = self.examples.iter().map(|ground| ground.program.n_parts()).sum();
        8 * self.rows.nnz() + 20 * parts
    }

    fn size(&self, i: usize) -> usize {
        self.examples.get(i).n_variables().max(1)
    }

    fn log_outputs(&self, i: usize) -> f64 {
        let program = &self.examples.get(i).program;
        (0..program.n_variables()).map(|v| (program.n_labels(v) as f64).ln()).sum()
    }

    fn scratch(&self) -> ProblemScratch {
        ProblemScratch::default()
    }

    fn is_whole(&self, i: usize) -> bool {
        self.examples.get(i).is_whole()
    }

    fn gold(&self, i: usize, y: &mut Vec<u32>) {
        y.clear();
        y.extend(self.examples.get(i).gold.iter().map(|gold| gold.unwrap_or(0)));
    }

    fn scores(&self, i: usize, w: &[F], scale: F, _: &mut ProblemScratch, theta: &mut Vec<F>) {
        theta.clear();
        theta.resize(self.examples.get(i).program.n_parts(), F::ZERO);
        self.each_block(i, |parts, weights, row| {
            kernels::scores(row, &w[weights], &mut theta[parts]);
        });
        if scale != F::ONE {
            theta.iter_mut().for_each(|score| *score *= scale);
        }
    }

    fn accumulate(&self, i: usize, g: &Vec<F>, _: &mut ProblemScratch, into: &mut [F]) {
        self.each_block(i, |parts, weights, row| {
            let g = &g[parts];
            if g.iter().any(|&g| g != F::ZERO) {
                kernels::add_outer(row, g, &mut into[weights]);
            }
        });
    }

    fn each_touched(
        &self,
        i: usize,
        g: &Vec<F>,
        _: &mut ProblemScratch,
        mut f: impl FnMut(Range<usize>),
    ) {
        self.each_block(i, |parts, weights, row| {
            let n = parts.len();
            if g[parts].iter().any(|&g| g != F::ZERO) {
                row.for_each(|at, _| f(weights.start + at * n..weights.start + (at + 1) * n));
            }
        });
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Vec<u32>,
        minus: &Vec<u32>,
        _: &mut ProblemScratch,
        mut f: impl FnMut(usize, F),
    ) {
        let (mut of_plus, mut of_minus) = (Vec::new(), Vec::new());
        self.parts_of(i, plus, &mut of_plus);
        self.parts_of(i, minus, &mut of_minus);
        let mut both = of_plus.iter().zip(&of_minus);
        self.each_block(i, |parts, weights, row| {
            let Some((&plus, &minus)) = both.next() else { return };
            if plus != minus {
                row.for_each(|at, x| {
                    let first = weights.start + at * parts.len();
                    f(first + plus, F::from_f32(x));
                    f(first + minus, -F::from_f32(x));
                });
            }
        });
    }

    fn score(&self, i: usize, theta: &Vec<F>, y: &Vec<u32>) -> f64 {
        let program = &self.examples.get(i).program;
        let unary: f64 =
            y.iter().enumerate().map(|(v, &l)| theta[program.start(v) + l as usize].to_f64()).sum();
        unary
            + program
                .tables()
                .iter()
                .map(|table| theta[program.cell(table, y)].to_f64())
                .sum::<f64>()
    }

    fn add_output(&self, i: usize, y: &Vec<u32>, a: F, mu: &mut Vec<F>) {
        let program = &self.examples.get(i).program;
        for (v, &label) in y.iter().enumerate() {
            mu[program.start(v) + label as usize] += a;
        }
        for table in program.tables() {
            mu[program.cell(table, y)] += a;
        }
    }
}

impl<'a, F: Scalar> MaxOracle<F> for Problem<'a> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        s: &mut ProblemScratch,
        y: &mut Vec<u32>,
    ) -> Result<Found, Infeasible> {
        let ground = self.examples.get(i);
        if ask == Ask::Gold && ground.is_whole() {
            Structure::<F>::gold(self, i, y);
            return Ok(Found::exact(self.score(i, theta, y)));
        }
        s.theta.clear();
        s.theta.extend(theta.iter().map(|score| score.to_f64()));
        if ask == Ask::Augmented {
            cost::add(self.declaration, ground, &mut s.theta);
        }
        let program = self.program(i);
        let known = (ask == Ask::Gold).then(|| known(program, &ground.gold));
        let mut found =
            solve(program, &s.theta, known.as_ref(), &self.options.solve, &mut s.solver);
        if found == Err(NoSolution::Infeasible) && known.is_some() {
            // Known labels that break a rule count as right all the same.
            found =
                solve(&ground.free, &s.theta, known.as_ref(), &self.options.solve, &mut s.solver);
        }
        let missed = match found {
            Ok(found) => {
                *y = found.labels;
                found.upper - found.score
            }
            Err(NoSolution::Infeasible) => return Err(Infeasible { at: 0 }),
            Err(NoSolution::Limit) => {
                // Nothing legal was met in time. The gold output is there, and the bound says what it may have missed.
                Structure::<F>::gold(self, i, y);
                let all = known.unwrap_or_else(|| Domains::full(program));
                loose_bound(program, &s.theta, &all) - program.score(&s.theta, y)
            }
        };
        let own = self.score(i, theta, y);
        let score =
            if ask == Ask::Augmented { own + cost::of(self.declaration, ground, y) } else { own };
        Ok(Found { score, upper: score + missed.max(0.0) })
    }

    fn cost(&self, i: usize, y: &Vec<u32>) -> f64 {
        cost::of(self.declaration, self.examples.get(i), y)
    }
}

/// The labels that are known, and all labels elsewhere.
pub(super) fn known(program: &Program, labels: &[Option<u32>]) -> Domains {
    let mut domains = Domains::full(program);
    for (v, label) in labels.iter().enumerate() {
        if let Some(label) = label {
            domains.keep_only(program, v, *label as usize);
        }
    }
    domains
}
