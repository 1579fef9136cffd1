//! The argmax of a problem: decode, check, eliminate, sweep, search.
//!
//! 1. Every variable takes its best label. If no table counts and all constraints hold, nothing is better.
//! 2. Elimination along the plan. If nothing is left, its maximum is the answer.
//! 3. Each component that is left is swept if that is narrow, or searched by branch and bound with a bound on what may have been missed.

use super::plan::{Plan, Source};
use super::program::{Domains, Program};
use super::search::{self, SearchLimits};
use super::{integer, sweep};
use thiserror::Error;

/// How an argmax is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// By the plan: independent labels if they are legal, elimination, sweeps, and branch and bound for the rest.
    #[default]
    Auto,
    /// By branch and bound with dual bounds alone. Slower; for comparison.
    Search,
    /// As an integer linear program. Much slower; for comparison.
    Integer,
}

/// How an argmax is found, and how long it may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveOptions {
    /// By which method.
    pub method: Method,
    /// The most nodes of a search; 2,000 by default. What is then best is returned with a bound. The same limit gives the same answer on any machine.
    pub max_nodes: usize,
    /// The most seconds of a search; by default there is no such limit. With it, answers may differ from run to run.
    pub seconds: Option<f64>,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self { method: Method::Auto, max_nodes: 2000, seconds: None }
    }
}

/// An output and what is known about the best one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// A label for each variable.
    pub labels: Vec<u32>,
    /// Its score.
    pub score: f64,
    /// No output scores more than this.
    pub upper: f64,
}

/// Why there is no output.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NoSolution {
    /// The constraints contradict each other, or what is known.
    #[error("no output keeps all rules")]
    Infeasible,
    /// The limit struck before a legal output was met.
    #[error("no legal output was found within the limit; raise max_nodes")]
    Limit,
}

/// Buffers of an argmax. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) unary: Vec<f64>,
    pub(crate) entries: Vec<f64>,
    at: Vec<usize>,
    digits: Vec<usize>,
}

/// The best output of a problem with the scores `theta`, among those with allowed labels.
pub fn solve(
    program: &Program,
    theta: &[f64],
    domains: Option<&Domains>,
    options: &SolveOptions,
    s: &mut Scratch,
) -> Result<Solution, NoSolution> {
    if program.is_hopeless() {
        return Err(NoSolution::Infeasible);
    }
    let n = program.n_variables();
    s.unary.clear();
    s.unary.extend_from_slice(&theta[..program.n_unary()]);
    if let Some(domains) = domains {
        let forbidden = s.unary.iter_mut().zip(&domains.allowed).filter(|(_, allowed)| !**allowed);
        forbidden.for_each(|(score, _)| *score = f64::NEG_INFINITY);
    }
    let mut labels = vec![0u32; n];
    for v in 0..n {
        let (label, score) = best(&s.unary[program.start(v)..program.start(v + 1)]);
        if score == f64::NEG_INFINITY {
            return Err(NoSolution::Infeasible);
        }
        labels[v] = label as u32;
    }
    let limits = SearchLimits::new(options.max_nodes, options.seconds);
    match options.method {
        Method::Integer => {
            return integer::solve(program, theta, domains);
        }
        Method::Search => {
            let upper = search::whole(program, theta, s, &limits, &mut labels)?;
            return Ok(finish(program, theta, labels, upper));
        }
        Method::Auto => {}
    }
    let plan = program.plan();
    if plan.is_unary && program.is_legal(&labels) {
        let score = program.score(theta, &labels);
        return Ok(Solution { labels, score, upper: score });
    }
    let mut missed = 0.0;
    fill(plan, theta, s);
    eliminate(program, plan, s)?;
    for network in &plan.networks {
        missed += network.best(program, s, &limits, &mut labels)?;
    }
    for component in &plan.components {
        let swept = component.sweep && sweep::best(program, component, s, &limits, &mut labels)?;
        if !swept {
            missed += search::component(program, component, s, &limits, &mut labels)?;
        }
    }
    for step in plan.steps.iter().rev() {
        let unary = &s.unary[program.start(step.variable as usize)..][..step.n_labels];
        let mut top = (0, f64::NEG_INFINITY);
        for label in 0..step.n_labels {
            let mut score = unary[label];
            for input in &step.inputs {
                let at: usize = step
                    .scope
                    .iter()
                    .zip(&input.strides)
                    .map(|(&u, stride)| labels[u as usize] as usize * stride)
                    .sum();
                score += s.entries[input.start + at + label * input.own];
            }
            if score > top.1 {
                top = (label, score);
            }
        }
        labels[step.variable as usize] = top.0 as u32;
    }
    let score = program.score(theta, &labels);
    Ok(Solution { labels, score, upper: score + missed })
}

fn finish(program: &Program, theta: &[f64], labels: Vec<u32>, upper: f64) -> Solution {
    let score = program.score(theta, &labels);
    Solution { labels, score, upper: upper.max(score) }
}

/// The first of the best.
pub(crate) fn best(scores: &[f64]) -> (usize, f64) {
    let mut top = (0, f64::NEG_INFINITY);
    for (at, &score) in scores.iter().enumerate() {
        if score > top.1 {
            top = (at, score);
        }
    }
    top
}

/// Entries of the tables that are known before elimination.
fn fill(plan: &Plan, theta: &[f64], s: &mut Scratch) {
    s.entries.resize(plan.n_entries.max(s.entries.len()), 0.0);
    for table in &plan.tables {
        let entries = &mut s.entries[table.start..table.start + table.len];
        match &table.source {
            Source::Scores(start) => entries.copy_from_slice(&theta[*start..start + table.len]),
            Source::Hard(hard) => entries.copy_from_slice(hard),
            Source::Made => {}
        }
    }
}

fn eliminate(program: &Program, plan: &Plan, s: &mut Scratch) -> Result<(), NoSolution> {
    let Scratch { unary, entries, at, digits } = s;
    for step in &plan.steps {
        let own = &unary[program.start(step.variable as usize)..][..step.n_labels];
        at.clear();
        at.extend(step.inputs.iter().map(|input| input.start));
        digits.clear();
        digits.resize(step.scope.len(), 0);
        let n: usize = step.sizes.iter().product();
        let mut any = false;
        for out in step.out..step.out + n {
            let mut top = f64::NEG_INFINITY;
            for (label, &score) in own.iter().enumerate() {
                let mut score = score;
                for (input, &start) in step.inputs.iter().zip(at.iter()) {
                    score += entries[start + label * input.own];
                }
                if score > top {
                    top = score;
                }
            }
            any |= top > f64::NEG_INFINITY;
            entries[out] = top;
            // The next joint label, the last variable fastest.
            for place in (0..digits.len()).rev() {
                digits[place] += 1;
                if digits[place] < step.sizes[place] {
                    at.iter_mut()
                        .zip(&step.inputs)
                        .for_each(|(a, input)| *a += input.strides[place]);
                    break;
                }
                let back = step.sizes[place] - 1;
                at.iter_mut()
                    .zip(&step.inputs)
                    .for_each(|(a, input)| *a -= back * input.strides[place]);
                digits[place] = 0;
            }
        }
        if !any {
            return Err(NoSolution::Infeasible);
        }
    }
    Ok(())
}
