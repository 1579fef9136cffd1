//! An upper bound by dual block-coordinate ascent.
//!
//! Give every factor f (a table or a constraint) messages δ_fi(l) to its variables. Whatever they are,
//!
//! ```text
//! max over y of score(y)  ≤  Σᵢ max over l of bᵢ(l) + Σ_f max over l_f of (θ_f(l_f) − Σᵢ δ_fi(lᵢ)),      bᵢ = θᵢ + Σ_f δ_fi,
//! ```
//!
//! the dual of the linear relaxation in which each factor is exact. The update of factor f (Globerson and Jaakkola 2007, MPLP) takes its max-marginals m_fi under the scores b − δ_f
//! and divides them equally, bᵢ = m_fi / |f|: the bound never rises, and the factor's own term is 0 from then on. Max-marginals of a constraint come from a forward
//! and a backward pass over the states of its automaton, so that a rule on hundreds of variables costs its length.
//!
//! A label whose max-marginal is −∞ has no support and is removed: the ascent propagates constraints on its way.

use super::constraint::{Constraint, Counter, DEAD, Kind};
use super::search::SearchLimits;

/// Labels of patterns that a try to improve an output may read.
const MOST_WORK: usize = 50_000_000;
const NEVER: f64 = f64::NEG_INFINITY;

/// Variables, numbered from 0, with tables and constraints.
pub(crate) struct Graph<'a> {
    /// Where the labels of a variable begin.
    pub starts: Vec<usize>,
    /// θ of the labels; −∞ where not allowed.
    pub unary: Vec<f64>,
    pub factors: Vec<Factor<'a>>,
    pub n_messages: usize,
    /// By variable: the factors that it stands in, and where.
    of_variable: Vec<Vec<(usize, usize)>>,
}

pub(crate) struct Factor<'a> {
    pub scope: Vec<usize>,
    /// Where the messages to each variable begin.
    pub messages: Vec<usize>,
    pub kind: FactorKind<'a>,
}

pub(crate) enum FactorKind<'a> {
    Table(&'a [f64]),
    Constraint(&'a Constraint),
}

/// What a node of the search knows.
#[derive(Clone)]
pub(crate) struct Beliefs {
    /// b, by label; −∞ where a label is not allowed.
    pub beliefs: Vec<f64>,
    pub messages: Vec<f64>,
    pub bound: f64,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(unary: Vec<f64>, starts: Vec<usize>) -> Self {
        let of_variable = vec![Vec::new(); starts.len() - 1];
        Self { starts, unary, factors: Vec::new(), n_messages: 0, of_variable }
    }

    pub(crate) fn push(&mut self, scope: Vec<usize>, kind: FactorKind<'a>) {
        let message = |&v: &usize| {
            let start = self.n_messages;
            self.n_messages += self.starts[v + 1] - self.starts[v];
            start
        };
        let messages = scope.iter().map(message).collect();
        for (at, &v) in scope.iter().enumerate() {
            self.of_variable[v].push((self.factors.len(), at));
        }
        self.factors.push(Factor { scope, messages, kind });
    }

    pub(crate) fn n_variables(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn labels(&self, v: usize) -> std::ops::Range<usize> {
        self.starts[v]..self.starts[v + 1]
    }

    /// No messages yet.
    pub(crate) fn beliefs(&self) -> Beliefs {
        let messages = vec![0.0; self.n_messages];
        Beliefs { beliefs: self.unary.clone(), messages, bound: f64::INFINITY }
    }

    /// One update of every factor, in their order or backwards. `false` if a variable has no label left.
    pub(crate) fn pass(&self, at: &mut Beliefs, backwards: bool) -> bool {
        for f in 0..self.factors.len() {
            let f = if backwards { self.factors.len() - 1 - f } else { f };
            if !self.update(&self.factors[f], at) {
                return false;
            }
        }
        let bound: f64 = (0..self.n_variables()).map(|v| self.most(at, v)).sum();
        at.bound = at.bound.min(bound);
        bound > NEVER
    }

    fn most(&self, at: &Beliefs, v: usize) -> f64 {
        at.beliefs[self.labels(v)].iter().copied().fold(NEVER, f64::max)
    }

    /// Removes labels that no output above `score` has: with them the bound is no higher. The beliefs must be as a [`pass`](Self::pass) leaves them.
    pub(crate) fn discard(&self, at: &mut Beliefs, score: f64) {
        if score == NEVER {
            return;
        }
        let bound: f64 = (0..self.n_variables()).map(|v| self.most(at, v)).sum();
        // Less than what a bound that is equal to the best is allowed to differ by.
        let room = bound - score + 1e-10 * (1.0 + score.abs());
        for v in 0..self.n_variables() {
            let least = self.most(at, v) - room;
            for belief in &mut at.beliefs[self.starts[v]..self.starts[v + 1]] {
                if *belief < least {
                    *belief = NEVER;
                }
            }
        }
    }

    fn update(&self, factor: &Factor<'_>, at: &mut Beliefs) -> bool {
        // What the rest says, variable after variable.
        let (mut rest, mut places) = (Vec::new(), vec![0]);
        for (&v, &message) in factor.scope.iter().zip(&factor.messages) {
            let beliefs = &at.beliefs[self.labels(v)];
            let minus = |(l, &b): (usize, &f64)| {
                if b == NEVER { NEVER } else { b - at.messages[message + l] }
            };
            rest.extend(beliefs.iter().enumerate().map(minus));
            places.push(rest.len());
        }
        let marginals = match factor.kind {
            FactorKind::Table(entries) => of_table(entries, &rest, &places),
            FactorKind::Constraint(constraint) => of_constraint(constraint, &rest, &places),
        };
        let part = 1.0 / factor.scope.len() as f64;
        for (i, (&v, &message)) in factor.scope.iter().zip(&factor.messages).enumerate() {
            let mut any = false;
            for (l, b) in self.labels(v).enumerate() {
                let marginal = marginals[places[i] + l];
                if marginal == NEVER {
                    at.beliefs[b] = NEVER;
                    continue;
                }
                any = true;
                at.beliefs[b] = marginal * part;
                at.messages[message + l] = at.beliefs[b] - rest[places[i] + l];
            }
            if !any {
                return false;
            }
        }
        true
    }

    /// The score of an output, −∞ if it is not legal.
    pub(crate) fn score(&self, y: &[usize]) -> f64 {
        let unary: f64 = (0..y.len()).map(|v| self.unary[self.starts[v] + y[v]]).sum();
        unary + self.factors.iter().map(|factor| self.value(factor, y)).sum::<f64>()
    }

    /// What a factor says about an output: its entry, or 0 or −∞.
    fn value(&self, factor: &Factor<'_>, y: &[usize]) -> f64 {
        match factor.kind {
            FactorKind::Table(entries) => {
                let place = |at: usize, &v: &usize| at * self.labels(v).len() + y[v];
                entries[factor.scope.iter().fold(0, place)]
            }
            FactorKind::Constraint(constraint) => {
                let mut state = constraint.start();
                for (at, &v) in factor.scope.iter().enumerate() {
                    if state != DEAD {
                        state = constraint.step(at, state, y[v]);
                    }
                }
                if state != DEAD && constraint.accepts(state) { 0.0 } else { NEVER }
            }
        }
    }

    /// Changes single labels as long as fewer factors are broken, or as few and the score rises (iterated conditional modes, Besag 1986).
    pub(crate) fn improve(&self, y: &mut [usize], limits: &SearchLimits) {
        // Sums of counters are kept up to date; patterns are read again, and if that is too much work, this is left out.
        let of_pattern = |&(f, _): &(usize, usize)| match self.factors[f].kind {
            FactorKind::Constraint(c) if c.is_ordered() => c.scope.len(),
            _ => 0,
        };
        let patterns = |v: usize| self.of_variable[v].iter().map(of_pattern).sum::<usize>();
        let work: usize = (0..y.len()).map(|v| self.labels(v).len() * patterns(v)).sum();
        if work > MOST_WORK {
            return;
        }
        let mut sums: Vec<i64> = self.factors.iter().map(|factor| self.sum(factor, y)).collect();
        for _ in 0..4 {
            let mut changed = false;
            for v in 0..y.len() {
                if v % 1024 == 1023 && limits.is_over(|| true) {
                    return;
                }
                let mut top: Option<(usize, f64, usize)> = None;
                let now = y[v];
                for label in std::iter::once(now).chain(0..self.labels(v).len()) {
                    y[v] = label;
                    let (mut n_broken, mut score) = (0, self.unary[self.starts[v] + label]);
                    if score == NEVER {
                        continue;
                    }
                    for &(f, at) in &self.of_variable[v] {
                        let value = match counter(&self.factors[f]) {
                            Some(counter) => {
                                let amount = |label| i64::from(counter.amount(at, label));
                                let sum = sums[f] - amount(now) + amount(label);
                                let (low, high) = counter.bounds();
                                if low <= sum && sum <= high { 0.0 } else { NEVER }
                            }
                            None => self.value(&self.factors[f], y),
                        };
                        match value {
                            NEVER => n_broken += 1,
                            value => score += value,
                        }
                    }
                    let is_better = |(broken, most, _): (usize, f64, usize)| {
                        n_broken < broken || (n_broken == broken && score > most + 1e-12)
                    };
                    if top.is_none_or(is_better) {
                        top = Some((n_broken, score, label));
                    }
                }
                y[v] = top.map_or(now, |top| top.2);
                for &(f, at) in self.of_variable[v].iter().filter(|_| y[v] != now) {
                    if let Some(counter) = counter(&self.factors[f]) {
                        let amount = |label| i64::from(counter.amount(at, label));
                        sums[f] += amount(y[v]) - amount(now);
                    }
                }
                changed |= y[v] != now;
            }
            if !changed {
                return;
            }
        }
    }
}

impl Graph<'_> {
    /// The sum of a counter; 0 of any other factor.
    fn sum(&self, factor: &Factor<'_>, y: &[usize]) -> i64 {
        let Some(counter) = counter(factor) else { return 0 };
        let of = |(at, &v): (usize, &usize)| i64::from(counter.amount(at, y[v]));
        factor.scope.iter().enumerate().map(of).sum()
    }
}

/// The counter that a factor is, if it is one.
fn counter<'a>(factor: &Factor<'a>) -> Option<&'a Counter> {
    match factor.kind {
        FactorKind::Constraint(Constraint { kind: Kind::Counter(counter), .. }) => Some(counter),
        _ => None,
    }
}

/// The best score of a table plus scores of labels, by label of each variable.
fn of_table(entries: &[f64], rest: &[f64], places: &[usize]) -> Vec<f64> {
    let mut marginals = vec![NEVER; rest.len()];
    let n = places.len() - 1;
    let mut digits = vec![0; n];
    for &entry in entries {
        let mut score = entry;
        for i in 0..n {
            score += rest[places[i] + digits[i]];
        }
        if score > NEVER {
            for i in 0..n {
                let marginal = &mut marginals[places[i] + digits[i]];
                *marginal = marginal.max(score);
            }
        }
        for i in (0..n).rev() {
            digits[i] += 1;
            if places[i] + digits[i] < places[i + 1] {
                break;
            }
            digits[i] = 0;
        }
    }
    marginals
}

/// The best score of a legal sequence, by label of each variable.
fn of_constraint(constraint: &Constraint, rest: &[f64], places: &[usize]) -> Vec<f64> {
    let (n, n_states) = (places.len() - 1, constraint.n_states());
    let mut ahead = vec![NEVER; (n + 1) * n_states];
    for state in 0..n_states {
        if constraint.accepts(state as u32) {
            ahead[n * n_states + state] = 0.0;
        }
    }
    for i in (0..n).rev() {
        for state in 0..n_states {
            let mut top = NEVER;
            for (label, &score) in rest[places[i]..places[i + 1]].iter().enumerate() {
                let next = constraint.step(i, state as u32, label);
                if score > NEVER && next != DEAD {
                    top = top.max(score + ahead[(i + 1) * n_states + next as usize]);
                }
            }
            ahead[i * n_states + state] = top;
        }
    }
    let mut marginals = vec![NEVER; rest.len()];
    let mut behind = vec![NEVER; n_states];
    behind[constraint.start() as usize] = 0.0;
    for i in 0..n {
        let mut next_behind = vec![NEVER; n_states];
        for (state, &before) in behind.iter().enumerate().filter(|(_, before)| **before > NEVER) {
            for (label, &score) in rest[places[i]..places[i + 1]].iter().enumerate() {
                let next = constraint.step(i, state as u32, label);
                if score == NEVER || next == DEAD {
                    continue;
                }
                let so_far = before + score;
                let marginal = &mut marginals[places[i] + label];
                *marginal = marginal.max(so_far + ahead[(i + 1) * n_states + next as usize]);
                let reached = &mut next_behind[next as usize];
                *reached = reached.max(so_far);
            }
        }
        behind = next_behind;
    }
    marginals
}
