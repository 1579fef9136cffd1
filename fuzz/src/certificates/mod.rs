//! Searches for problems whose optimum lies below `objective − gap`.
//!
//! A case is a random problem that the toolkit trained, with its report, and the same problem written out in full ([`Convex`]). An independent minimiser looks for weights that are better than the
//! certificate allows; besides, the objective must be that of the stored weights, a gap must be a number that is not negative, and within the tolerance where the run says that it has
//! converged. Every case follows from the seed and its number alone.

mod convex;
mod flat;
mod structured;

pub use convex::{Convex, Kind, Term};

use lineal::Report;
use lineal::linalg::Rng;
use std::collections::BTreeMap;
use std::fmt;

/// Random choices.
pub(crate) struct Dice(Rng);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// 10 to a power between two.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(low + (high - low) * self.unit())
    }

    /// About normally distributed.
    fn normal(&mut self) -> f64 {
        (0..6).map(|_| self.unit()).sum::<f64>() - 3.0
    }
}

/// What a report says about the optimum.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The objective at the stored weights.
    pub objective: f64,
    /// How far it is at most above the optimum.
    pub gap: Option<f64>,
    /// Whether the tolerance was met.
    pub converged: bool,
}

impl From<&Report> for Claim {
    fn from(report: &Report) -> Self {
        Self { objective: report.objective, gap: report.gap, converged: report.converged }
    }
}

/// A trained problem, written out.
pub(crate) struct Case {
    /// Its kind.
    pub name: String,
    /// Everything about it.
    pub about: String,
    /// The problems whose sum the objective is.
    pub problems: Vec<Convex>,
    pub report: Claim,
    /// The tolerance that `converged` is about; none where it is about another sum of the problems than the objective.
    pub tol: Option<f64>,
    /// The stored weights of each problem, where they can be had.
    pub weights: Option<Vec<Vec<f64>>>,
}

/// A certificate that is wrong.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The seed and the number of the case.
    pub case: (u64, u64),
    /// Its kind.
    pub name: String,
    /// What is wrong.
    pub what: String,
    /// Everything about it.
    pub about: String,
}

/// What came of a search.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// How many cases of each kind, and how many of them had a gap.
    pub kinds: BTreeMap<String, [usize; 2]>,
    /// Requests that were refused.
    pub refused: usize,
    /// Cases in which the minimiser found weights at least as good as the stored ones, to 10⁻⁹.
    pub matched: usize,
    /// The largest (objective − gap − best) / |objective|, and its case; a violation is above 0.
    pub worst: Option<(f64, u64)>,
    /// Certificates that are wrong.
    pub violations: Vec<Violation>,
}

/// A value is known to this part of itself.
const KNOWN: f64 = 1e-13;
/// The objective must agree with that of the stored weights to this part.
const AGREES: f64 = 1e-9;

/// What rounding may add to the gap of a run that has converged, as a part of the objective, or of 1: 10⁻⁶, and as much for the weights of structures, which are stored in f32.
const ROUNDING: f64 = 2e-6;

/// Runs `count` cases of a seed.
pub fn run(seed: u64, count: u64) -> Findings {
    let mut findings = Findings::default();
    (0..count).for_each(|number| findings.look(seed, number));
    findings
}

/// What is random about a case: its seed and its number, mixed.
fn dice(seed: u64, number: u64) -> Dice {
    Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd134_2543_de82_ef95))
}

impl Findings {
    /// Runs one case.
    pub fn look(&mut self, seed: u64, number: u64) {
        let mut dice = dice(seed, number);
        let case = match dice.below(4) {
            0 => structured::case(&mut dice),
            _ => flat::case(&mut dice),
        };
        match case {
            Some(case) => self.judge(seed, number, case),
            None => self.refused += 1,
        }
    }

    fn judge(&mut self, seed: u64, number: u64, case: Case) {
        let Case { name, about, problems, report, tol, weights } = case;
        let counts = self.kinds.entry(name.clone()).or_default();
        counts[0] += 1;
        counts[1] += usize::from(report.gap.is_some());
        let mut wrong = |what: String| {
            let (name, about) = (name.clone(), about.clone());
            self.violations.push(Violation { case: (seed, number), name, what, about });
        };
        let mut best = 0.0;
        let mut at_stored = weights.is_some().then_some(0.0);
        for (l, problem) in problems.iter().enumerate() {
            let own = weights.as_ref().map(|w| &w[l]);
            let mut starts = vec![vec![0.0; problem.dim]];
            starts.extend(own.cloned());
            best += problem.minimise(&starts).0;
            if let (Some(sum), Some(own)) = (&mut at_stored, own) {
                *sum += problem.value(own);
            }
        }
        let Claim { objective, gap, converged } = report;
        let constrained =
            problems.iter().flat_map(|p| &p.terms).any(|t| t.kind == Kind::Constraint);
        // Margins that almost cancel, and losses that are almost 0 as the logarithm of a sum, are known to a part of what they are made of, not of what is left.
        let offsets = problems.iter().flat_map(|p| &p.terms).flat_map(|t| &t.outputs);
        let largest = offsets.fold(0.0f64, |m, (_, offset)| m.max(offset.abs()));
        let made_of = weights.iter().flatten().zip(&problems).map(|(w, problem)| problem.size(w));
        let known = KNOWN * (largest + made_of.sum::<f64>());
        if let Some(stored) = at_stored.filter(|_| !constrained)
            && (stored - objective).abs() > AGREES * objective.abs() + known + 1e-290
        {
            wrong(format!("objective {objective:e}, and {stored:e} at the stored weights"));
        }
        if best <= objective + AGREES * objective.abs() {
            self.matched += 1;
        }
        let Some(gap) = gap else { return };
        if !gap.is_finite() || gap < 0.0 {
            wrong(format!("a gap of {gap}"));
            return;
        }
        if let Some(tol) = tol.filter(|_| converged)
            && gap > tol * objective.abs() + ROUNDING * objective.abs().max(1.0)
        {
            wrong(format!("converged to {tol:e} with the gap {gap:e} of {objective:e}"));
        }
        let excess = objective - gap - best;
        let ratio = excess / objective.abs().max(f64::MIN_POSITIVE);
        if best.is_finite() && self.worst.is_none_or(|(worst, _)| ratio > worst) {
            self.worst = Some((ratio, number));
        }
        if excess > KNOWN * best.abs() + 1e-290 {
            wrong(format!(
                "objective {objective:e} − gap {gap:e} is above {best:e} by {excess:e} ({ratio:.1e})"
            ));
        }
    }

    /// Takes in what another part of the search found.
    pub fn merge(&mut self, other: Self) {
        for (kind, [cases, gaps]) in other.kinds {
            let own = self.kinds.entry(kind).or_default();
            *own = [own[0] + cases, own[1] + gaps];
        }
        self.refused += other.refused;
        self.matched += other.matched;
        self.worst = match (self.worst, other.worst) {
            (Some(a), Some(b)) => Some(if b.0 > a.0 { b } else { a }),
            (a, b) => a.or(b),
        };
        self.violations.extend(other.violations);
    }

    /// How many problems were trained.
    pub fn cases(&self) -> usize {
        self.kinds.values().map(|[cases, _]| cases).sum()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, [cases, gaps]) in &self.kinds {
            writeln!(f, "{cases:8} {gaps:8} with a gap   {kind}")?;
        }
        let proven: usize = self.kinds.values().map(|[_, gaps]| gaps).sum();
        writeln!(f, "{:8} {proven:8} with a gap   in all; {} refused", self.cases(), self.refused)?;
        writeln!(f, "{:8} in which the minimiser did as well", self.matched)?;
        if let Some((worst, number)) = self.worst {
            writeln!(
                f,
                "worst (objective − gap − best) / |objective|: {worst:.2e}, case {number}"
            )?;
        }
        for Violation { case: (seed, number), name, what, .. } in &self.violations {
            writeln!(f, "VIOLATION seed {seed} case {number} ({name}): {what}")?;
        }
        write!(f, "{} violations", self.violations.len())
    }
}
