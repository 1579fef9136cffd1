//! Rules of a declaration as constraints on the variables of an example.

use super::instances::Ground;
use crate::inference::{Constraint, Counter, Kind};
use crate::language::{Declaration, RuleBody, Term};
use std::collections::BTreeMap;

pub(super) fn constraints(declaration: &Declaration, ground: &Ground) -> Vec<Constraint> {
    let mut all = Vec::new();
    for (number, rule) in declaration.rules.iter().enumerate() {
        match &rule.body {
            RuleBody::Clauses { subject, clauses } => {
                for variable in ground.starts[*subject]..ground.starts[*subject + 1] {
                    for clause in clauses {
                        all.extend(self::clause(declaration, ground, number, variable, clause));
                    }
                }
            }
            RuleBody::Sum { terms, low, high, per: None } => {
                let amounts = amounts(declaration, ground, terms, &|_| true);
                all.push(counter(number, amounts, *low, *high));
            }
            RuleBody::Sum { terms, low, high, per: Some(link) } => {
                let kind = terms.first().map_or(0, |term| term.kind);
                let to = declaration.variables[kind].links[*link].to;
                let path = [crate::language::Hop::Link(*link)];
                for target in ground.starts[to]..ground.starts[to + 1] {
                    let leads =
                        |v: usize| ground.follow(declaration, v, &path) == Some(target as u32);
                    let amounts = amounts(declaration, ground, terms, &leads);
                    all.push(counter(number, amounts, *low, *high));
                }
            }
            RuleBody::Pattern { kind, dfa } => {
                let scope =
                    (ground.starts[*kind] as u32..ground.starts[*kind + 1] as u32).collect();
                all.push(Constraint { rule: number, scope, kind: Kind::Pattern(dfa.clone()) });
            }
        }
    }
    all
}

/// One clause of one variable; nothing where a link is missing or the clause always holds.
fn clause(
    declaration: &Declaration,
    ground: &Ground,
    rule: usize,
    variable: usize,
    clause: &[crate::language::Literal],
) -> Option<Constraint> {
    // Two paths may lead to the same variable.
    let mut holds: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
    for literal in clause {
        let end = ground.follow(declaration, variable, &literal.path)?;
        let labels = holds.entry(end).or_insert_with(|| vec![false; literal.labels.len()]);
        labels.iter_mut().zip(&literal.labels).for_each(|(l, &also)| *l |= also);
    }
    if holds.values().any(|labels| labels.iter().all(|&l| l)) {
        return None;
    }
    let (scope, holds): (Vec<u32>, Vec<Vec<bool>>) = holds.into_iter().unzip();
    Some(Constraint { rule, scope, kind: Kind::Counter(Counter::clause(&holds)) })
}

/// What each label of each variable adds to a sum.
fn amounts(
    declaration: &Declaration,
    ground: &Ground,
    terms: &[Term],
    counts: &dyn Fn(usize) -> bool,
) -> BTreeMap<u32, Vec<i32>> {
    let mut amounts: BTreeMap<u32, Vec<i32>> = BTreeMap::new();
    for term in terms {
        for variable in
            (ground.starts[term.kind]..ground.starts[term.kind + 1]).filter(|&v| counts(v))
        {
            let Some(end) = ground.follow(declaration, variable, &term.holds.path) else {
                continue;
            };
            let labels = &term.holds.labels;
            let of = amounts.entry(end).or_insert_with(|| vec![0; labels.len()]);
            of.iter_mut()
                .zip(labels)
                .filter(|(_, holds)| **holds)
                .for_each(|(a, _)| *a += term.factor);
        }
    }
    amounts.retain(|_, of| of.iter().any(|&a| a != 0));
    amounts
}

fn counter(rule: usize, amounts: BTreeMap<u32, Vec<i32>>, low: i64, high: i64) -> Constraint {
    let (scope, amounts): (Vec<u32>, Vec<Vec<i32>>) = amounts.into_iter().unzip();
    Constraint { rule, scope, kind: Kind::Counter(Counter::new(&amounts, low, high)) }
}
