//! The product of rules.

use crate::inference::{Constraint, Counter, DEAD, Dfa, Kind};
use crate::language::{Declaration, Hop, Literal, RuleBody};
use std::collections::HashMap;
use thiserror::Error;

/// A deterministic automaton over labels that accepts the sequences that keep all rules, whatever their length.
#[derive(Clone, Debug, PartialEq)]
pub struct Automaton {
    pub(super) dfa: Dfa,
}

/// Why rules have no automaton.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// Too many states.
    #[error("the rules need more than {most} states together; count less far, or leave a rule out")]
    States {
        /// The limit.
        most: usize,
    },
    /// A rule that is not about one sequence, or whose sum has no bound in a sequence of any length.
    #[error("line {line}: `{text}`: {why}")]
    Rule {
        /// The line of the rule.
        line: usize,
        /// Its text.
        text: String,
        /// What is wrong.
        why: &'static str,
    },
}

/// The largest automaton.
const MOST_STATES: usize = 10_000;
/// States × labels.
const MOST_ARCS: usize = 4_000_000;

/// What one rule remembers.
enum Part<'a> {
    Count(Constraint),
    /// The last labels, as many as the clauses look back.
    Window {
        clauses: Vec<Vec<(usize, &'a [bool])>>,
        reach: usize,
    },
    Pattern(&'a Dfa),
}

impl Automaton {
    /// The product of the rules of a declaration with one kind of variables.
    pub fn compile(declaration: &Declaration) -> Result<Self, CompileError> {
        let every: Vec<usize> = (0..declaration.rules.len()).collect();
        Self::compile_some(declaration, &every)
    }

    /// The product of some of the rules, by their numbers.
    ///
    /// # Panics
    /// If there is no rule of some number.
    pub fn compile_some(declaration: &Declaration, rules: &[usize]) -> Result<Self, CompileError> {
        let n_labels = declaration.variables()[0].labels.len();
        let mut parts = Vec::new();
        for rule in rules.iter().map(|&rule| &declaration.rules[rule]) {
            let refuse = |why| CompileError::Rule { line: rule.line, text: rule.text.clone(), why };
            parts.push(match &rule.body {
                RuleBody::Pattern { dfa, .. } => Part::Pattern(dfa),
                RuleBody::Sum { terms, low, high, per } => {
                    if per.is_some() || terms.iter().any(|term| !term.holds.path.is_empty()) {
                        return Err(refuse("links are not for sequences; count labels"));
                    }
                    let mut amounts = vec![0; n_labels];
                    for term in terms {
                        let with =
                            amounts.iter_mut().zip(&term.holds.labels).filter(|(_, holds)| **holds);
                        with.for_each(|(amount, _)| *amount += term.factor);
                    }
                    if amounts.iter().any(|&a| a < 0) && amounts.iter().any(|&a| a > 0) {
                        return Err(refuse(
                            "a difference of counts has no bound in a sequence of any length",
                        ));
                    }
                    // The same counter at every place: sums are cut off, so that its scope need not be as long as the sequence.
                    let finite = |bound: &&i64| **bound != i64::MIN && **bound != i64::MAX;
                    let far = [low, high]
                        .into_iter()
                        .filter(finite)
                        .map(|bound| bound.unsigned_abs())
                        .max();
                    let most = far.unwrap_or(0).min(2 * MOST_STATES as u64) as usize + 2;
                    let counter = Counter::new(&vec![amounts; most], *low, *high);
                    Part::Count(Constraint {
                        rule: 0,
                        scope: vec![0; 1],
                        kind: Kind::Counter(counter),
                    })
                }
                RuleBody::Clauses { clauses, .. } => window(clauses).ok_or_else(|| {
                    refuse("a condition may follow `next` or `previous` at most four times")
                })?,
            });
        }
        product(&parts, n_labels)
    }

    /// How many states it has.
    pub fn n_states(&self) -> usize {
        self.dfa.accepting.len()
    }

    /// Whether no sequence of one label or more keeps the rules.
    pub fn is_empty(&self) -> bool {
        !self.dfa.next.iter().any(|&to| to != DEAD && self.dfa.accepting[to as usize])
    }

    /// Whether a sequence keeps the rules.
    pub fn accepts(&self, labels: &[u32]) -> bool {
        let mut state = self.dfa.start;
        for &label in labels {
            if label as usize >= self.dfa.n_labels {
                return false;
            }
            state = self.dfa.next[state as usize * self.dfa.n_labels + label as usize];
            if state == DEAD {
                return false;
            }
        }
        self.dfa.accepting[state as usize]
    }
}

/// Clauses over neighbours, counted from the earliest that any of them names.
fn window(clauses: &[Vec<Literal>]) -> Option<Part<'_>> {
    let step = |hop: &Hop| if *hop == Hop::Next { 1 } else { -1i64 };
    let offset = |literal: &Literal| literal.path.iter().map(step).sum::<i64>();
    let mut reach = 0;
    let mut all = Vec::new();
    for clause in clauses {
        // A condition that steps outside and back again is not asked for there; only straight ways keep that simple.
        let straight = |literal: &Literal| literal.path.windows(2).all(|pair| pair[0] == pair[1]);
        if !clause.iter().all(straight) {
            return None;
        }
        let least = clause.iter().map(offset).min().unwrap_or(0).min(0);
        let most = clause.iter().map(offset).max().unwrap_or(0).max(0);
        let span = (most - least) as usize;
        if span > 4 {
            return None;
        }
        reach = reach.max(span);
        // By how far back from the last place that the clause looks at.
        all.push(
            clause
                .iter()
                .map(|literal| ((most - offset(literal)) as usize, &literal.labels[..]))
                .collect::<Vec<_>>(),
        );
        // The subject itself must exist, which it does if both ends do.
        if let Some(last) = all.last_mut() {
            last.push((span, &[]));
        }
    }
    Some(Part::Window { clauses: all, reach })
}

impl Part<'_> {
    fn start(&self) -> Vec<u32> {
        match self {
            Part::Count(constraint) => vec![constraint.start()],
            Part::Window { .. } => Vec::new(),
            Part::Pattern(dfa) => vec![dfa.start],
        }
    }

    fn step(&self, state: &[u32], label: usize) -> Option<Vec<u32>> {
        match self {
            Part::Count(constraint) => {
                let next = constraint.step(0, state[0], label);
                (next != DEAD).then(|| vec![next])
            }
            Part::Pattern(dfa) => {
                let next = dfa.next[state[0] as usize * dfa.n_labels + label];
                (next != DEAD).then(|| vec![next])
            }
            Part::Window { clauses, reach } => {
                let mut last = state.to_vec();
                last.push(label as u32);
                let at = |back: usize| last.len().checked_sub(back + 1).map(|at| last[at] as usize);
                for clause in clauses {
                    let reaches = clause.iter().all(|(back, _)| at(*back).is_some());
                    let holds = |(back, labels): &(usize, &[bool])| {
                        at(*back).is_some_and(|l| labels.get(l) == Some(&true))
                    };
                    if reaches && !clause.iter().any(holds) {
                        return None;
                    }
                }
                let drop = last.len().saturating_sub(*reach);
                Some(last.split_off(drop))
            }
        }
    }

    fn accepts(&self, state: &[u32]) -> bool {
        match self {
            Part::Count(constraint) => constraint.accepts(state[0]),
            Part::Pattern(dfa) => dfa.accepting[state[0] as usize],
            Part::Window { .. } => true,
        }
    }
}

fn product(parts: &[Part<'_>], n_labels: usize) -> Result<Automaton, CompileError> {
    let first: Vec<Vec<u32>> = parts.iter().map(Part::start).collect();
    let mut numbers: HashMap<Vec<Vec<u32>>, u32> = HashMap::from([(first.clone(), 0)]);
    let mut states = vec![first];
    let mut next = Vec::new();
    let mut at = 0;
    while at < states.len() {
        for label in 0..n_labels {
            let state: Option<Vec<Vec<u32>>> = parts
                .iter()
                .zip(&states[at])
                .map(|(part, state)| part.step(state, label))
                .collect();
            let Some(state) = state else {
                next.push(DEAD);
                continue;
            };
            let number = *numbers.entry(state.clone()).or_insert(states.len() as u32);
            if number as usize == states.len() {
                states.push(state);
            }
            next.push(number);
        }
        let most = MOST_STATES.min(MOST_ARCS / n_labels.max(1));
        if states.len() > most {
            return Err(CompileError::States { most });
        }
        at += 1;
    }
    let accepts =
        |state: &Vec<Vec<u32>>| parts.iter().zip(state).all(|(part, state)| part.accepts(state));
    let accepting = states.iter().map(accepts).collect();
    Ok(Automaton { dfa: Dfa { n_labels, start: 0, next, accepting } })
}
