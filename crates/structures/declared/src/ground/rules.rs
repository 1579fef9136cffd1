//! Rules of a declaration as constraints on the variables of an example.

use super::instances::Ground;
use crate::inference::{Constraint, Counter, Kind};
use crate::language::{Declaration, RuleBody, Term};
use std::collections::BTreeMap;

/// Variables × states of one constraint: a table of so many numbers is made when it is searched.
const MOST_CELLS: usize = 20_000_000;

pub(super) fn constraints(
    declaration: &Declaration,
    ground: &Ground,
) -> Result<Vec<Constraint>, String> {
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
                let mut amounts = BTreeMap::new();
                for term in terms {
                    let variables = ground.starts[term.kind]..ground.starts[term.kind + 1];
                    variables.for_each(|v| add(declaration, ground, term, v, &mut amounts));
                }
                all.push(counter(number, amounts, *low, *high));
            }
            RuleBody::Sum { terms, low, high, per: Some(link) } => {
                let kind = terms.first().map_or(0, |term| term.kind);
                let to = declaration.variables[kind].links[*link].to;
                let path = [crate::language::Hop::Link(*link)];
                let targets = ground.starts[to]..ground.starts[to + 1];
                let mut by_target = vec![BTreeMap::new(); targets.len()];
                for term in terms {
                    for v in ground.starts[term.kind]..ground.starts[term.kind + 1] {
                        let target = ground.follow(declaration, v, &path).map(|t| t as usize);
                        if let Some(target) = target.filter(|t| targets.contains(t)) {
                            let amounts = &mut by_target[target - targets.start];
                            add(declaration, ground, term, v, amounts);
                        }
                    }
                }
                for amounts in by_target {
                    all.push(counter(number, amounts, *low, *high));
                }
            }
            RuleBody::Pattern { kind, dfa } => {
                let scope =
                    (ground.starts[*kind] as u32..ground.starts[*kind + 1] as u32).collect();
                let kind = Kind::Pattern(dfa.clone());
                all.push(Constraint { rule: number, scope, kind });
            }
        }
    }
    for constraint in &all {
        let n = constraint.scope.len();
        if n.saturating_mul(constraint.n_states()) > MOST_CELLS {
            let rule = &declaration.rules[constraint.rule];
            return Err(format!(
                "the rule in line {} (`{}`) is about {n} variables and takes {} values here; at most {MOST_CELLS} for both multiplied are possible: count less far, or make the examples smaller",
                rule.line,
                rule.text,
                constraint.n_states()
            ));
        }
    }
    Ok(all)
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

/// What each label of the variables adds to a sum, for one variable that a term counts.
fn add(
    declaration: &Declaration,
    ground: &Ground,
    term: &Term,
    variable: usize,
    amounts: &mut BTreeMap<u32, Vec<i32>>,
) {
    let Some(end) = ground.follow(declaration, variable, &term.holds.path) else { return };
    let labels = &term.holds.labels;
    let of = amounts.entry(end).or_insert_with(|| vec![0; labels.len()]);
    of.iter_mut()
        .zip(labels)
        .filter(|(_, holds)| **holds)
        .for_each(|(a, _)| *a = a.saturating_add(term.factor));
}

fn counter(rule: usize, mut amounts: BTreeMap<u32, Vec<i32>>, low: i64, high: i64) -> Constraint {
    amounts.retain(|_, of| of.iter().any(|&a| a != 0));
    let (scope, amounts): (Vec<u32>, Vec<Vec<i32>>) = amounts.into_iter().unzip();
    let counter = Counter::new(&amounts, low, high);
    Constraint { rule, scope, kind: Kind::Counter(counter) }
}
