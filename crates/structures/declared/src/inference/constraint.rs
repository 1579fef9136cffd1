//! Hard constraints as automata.
//!
//! Every constraint reads the labels of its variables one after the other and moves from state to state; an output is legal where the last state
//! accepts. Two kinds suffice for all rules of the language:
//!
//! - a [`Counter`] adds an integer for each label and accepts sums between two bounds. A clause (one of several conditions holds) is a counter that reaches 1; a count
//!   and a linear inequality are counters as they stand.
//! - a [`Dfa`] accepts sequences of labels of a pattern.
//!
//! One form for all means that there is one propagation, one set of max-marginals (forward–backward over states) and one sweep.

use std::sync::Arc;

/// No state: nothing that follows is legal.
pub const DEAD: u32 = u32::MAX;

/// A constraint on some variables of a [`Program`](super::Program).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// The rule that it comes from.
    pub rule: usize,
    /// Its variables, each once, in the order in which a pattern reads them.
    pub scope: Vec<u32>,
    /// What it asks of them.
    pub kind: Kind,
}

/// What a constraint asks of the labels of its variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A sum between bounds.
    Counter(Counter),
    /// A sequence that a pattern accepts.
    Pattern(Arc<Dfa>),
}

/// low ≤ Σ amount(variable, label) ≤ high.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// An amount for each label of the first variable, then of the second, …
    amounts: Vec<i32>,
    /// Where the amounts of a variable begin.
    starts: Vec<u32>,
    low: i64,
    high: i64,
    /// The state of the sum 0.
    zero: u32,
    /// Sums are cut off here: what is above is all the same.
    most: u32,
}

impl Counter {
    /// A counter over variables with the given amounts for their labels.
    pub fn new(amounts: &[Vec<i32>], low: i64, high: i64) -> Self {
        let (mut low, mut high) = (low, high);
        let mut amounts = amounts.to_vec();
        // Sums that only fall are sums that only grow, mirrored: those can be cut off.
        if amounts.iter().flatten().all(|&a| a <= 0) {
            amounts.iter_mut().flatten().for_each(|a| *a = -*a);
            (low, high) = (high.saturating_neg(), low.saturating_neg());
        }
        let extreme = |f: fn(i64, i64) -> i64| -> i64 {
            let of = |a: &Vec<i32>| a.iter().map(|&a| i64::from(a)).fold(0, f);
            amounts.iter().map(of).sum()
        };
        let (least, greatest) = (extreme(i64::min), extreme(i64::max));
        let cut = if high == i64::MAX { low.max(0) } else { high.max(-1).saturating_add(1) };
        let most = if least == 0 { cut.min(greatest) } else { greatest - least };
        let mut starts = vec![0];
        let mut flat = Vec::new();
        for of in &amounts {
            flat.extend_from_slice(of);
            starts.push(flat.len() as u32);
        }
        // Sums beyond 32 bits are refused where examples are read; here they must only not wrap.
        let small = |n: i64| n.clamp(0, i64::from(u32::MAX - 1)) as u32;
        Self { amounts: flat, starts, low, high, zero: small(-least), most: small(most) }
    }

    /// One of the conditions holds: `holds[i][label]` says for which labels of the i-th variable.
    pub fn clause(holds: &[Vec<bool>]) -> Self {
        let amounts: Vec<Vec<i32>> =
            holds.iter().map(|of| of.iter().map(|&holds| i32::from(holds)).collect()).collect();
        Self::new(&amounts, 1, i64::MAX)
    }

    /// The amount of a label of the variable at a place of the scope.
    pub fn amount(&self, at: usize, label: usize) -> i32 {
        self.amounts[self.starts[at] as usize + label]
    }

    /// The bounds of the sum; `i64::MIN` and `i64::MAX` where there is none.
    pub fn bounds(&self) -> (i64, i64) {
        (self.low, self.high)
    }
}

/// A deterministic automaton over labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dfa {
    /// How many labels it reads.
    pub n_labels: usize,
    /// The state before the first label.
    pub start: u32,
    /// `next[state · n_labels + label]`, or [`DEAD`].
    pub next: Vec<u32>,
    /// Which states accept.
    pub accepting: Vec<bool>,
}

impl Constraint {
    /// How many states it has.
    pub fn n_states(&self) -> usize {
        match &self.kind {
            Kind::Counter(counter) => counter.most as usize + 1,
            Kind::Pattern(dfa) => dfa.accepting.len(),
        }
    }

    /// The state before anything is read.
    pub fn start(&self) -> u32 {
        match &self.kind {
            Kind::Counter(counter) => counter.zero.min(counter.most),
            Kind::Pattern(dfa) => dfa.start,
        }
    }

    /// The state after a label of the variable at place `at` of the scope.
    #[inline]
    pub fn step(&self, at: usize, state: u32, label: usize) -> u32 {
        match &self.kind {
            Kind::Counter(counter) => {
                let sum = i64::from(state) + i64::from(counter.amount(at, label));
                let sum = sum.clamp(0, i64::from(counter.most));
                let above = counter.zero == 0 && sum > counter.high;
                if above { DEAD } else { sum as u32 }
            }
            Kind::Pattern(dfa) => dfa.next[state as usize * dfa.n_labels + label],
        }
    }

    /// Whether the output is legal if this is the last state.
    pub fn accepts(&self, state: u32) -> bool {
        match &self.kind {
            Kind::Counter(counter) => {
                let sum = i64::from(state) - i64::from(counter.zero);
                counter.low <= sum && sum <= counter.high
            }
            Kind::Pattern(dfa) => dfa.accepting[state as usize],
        }
    }

    /// Whether an output is legal.
    pub fn holds(&self, labels: &[u32]) -> bool {
        let mut state = self.start();
        for (at, &variable) in self.scope.iter().enumerate() {
            state = self.step(at, state, labels[variable as usize] as usize);
            if state == DEAD {
                return false;
            }
        }
        self.accepts(state)
    }

    /// Whether it matters in which order variables are read.
    pub fn is_ordered(&self) -> bool {
        matches!(self.kind, Kind::Pattern(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_its_sum() {
        let amounts: Vec<Vec<i32>> = vec![vec![0, 2, -3], vec![1, 0], vec![-1, 4, 0]];
        for (low, high) in [(-2, 1), (i64::MIN, 0), (2, i64::MAX), (3, 3), (-9, -4)] {
            for sign in [1, -1, 0] {
                let amounts: Vec<Vec<i32>> = amounts
                    .iter()
                    .map(|of| {
                        of.iter().map(|&a| if sign == 0 { a.abs() } else { sign * a }).collect()
                    })
                    .collect();
                let counter = Counter::new(&amounts, low, high);
                let constraint =
                    Constraint { rule: 0, scope: vec![0, 1, 2], kind: Kind::Counter(counter) };
                for y in 0..18u32 {
                    let labels = [y % 3, y / 3 % 2, y / 6];
                    let sum: i64 = (0..3).map(|i| i64::from(amounts[i][labels[i] as usize])).sum();
                    assert_eq!(
                        constraint.holds(&labels),
                        low <= sum && sum <= high,
                        "{labels:?} {sum}"
                    );
                }
            }
        }
    }

    #[test]
    fn sums_that_only_fall_are_mirrored() {
        let counter = Counter::new(&[vec![0, -1], vec![0, -1]], -1, i64::MAX);
        let at_most_one = Constraint { rule: 0, scope: vec![0, 1], kind: Kind::Counter(counter) };
        assert!(at_most_one.holds(&[1, 0]) && !at_most_one.holds(&[1, 1]));
        assert_eq!(at_most_one.n_states(), 3);
    }
}
