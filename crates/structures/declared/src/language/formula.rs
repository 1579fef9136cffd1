//! Conditions joined by and, or, not, as clauses.

use super::declaration::Literal;

const MOST_CLAUSES: usize = 1000;

#[derive(Clone, Debug)]
pub(super) enum Formula {
    Is(Literal),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

/// The same formula as a conjunction of disjunctions, or `None` if that is too long. A clause has each variable once.
pub(super) fn clauses(formula: &Formula) -> Option<Vec<Vec<Literal>>> {
    normal(formula, true)
}

fn normal(formula: &Formula, is_true: bool) -> Option<Vec<Vec<Literal>>> {
    match (formula, is_true) {
        (Formula::Is(literal), _) => {
            let labels = literal.labels.iter().map(|&l| l == is_true).collect();
            Some(vec![vec![Literal { path: literal.path.clone(), labels }]])
        }
        (Formula::Not(inner), _) => normal(inner, !is_true),
        (Formula::And(all), true) | (Formula::Or(all), false) => {
            let mut clauses = Vec::new();
            for one in all {
                for clause in normal(one, is_true)? {
                    if !clauses.contains(&clause) {
                        clauses.push(clause);
                    }
                }
                if clauses.len() > MOST_CLAUSES {
                    return None;
                }
            }
            Some(clauses)
        }
        (Formula::Or(all), true) | (Formula::And(all), false) => {
            let mut clauses: Vec<Vec<Literal>> = vec![Vec::new()];
            for one in all {
                let parts = normal(one, is_true)?;
                if clauses.len() * parts.len() > MOST_CLAUSES {
                    return None;
                }
                let with = |clause: &Vec<Literal>| {
                    parts.iter().map(|part| join(clause, part)).collect::<Vec<_>>()
                };
                clauses = clauses.iter().flat_map(with).collect();
                // What always holds asks for nothing.
                clauses.retain(|clause| {
                    !clause.iter().any(|literal| literal.labels.iter().all(|&l| l))
                });
            }
            Some(clauses)
        }
    }
}

fn join(a: &[Literal], b: &[Literal]) -> Vec<Literal> {
    let mut all = a.to_vec();
    for literal in b {
        match all.iter_mut().find(|other| other.path == literal.path) {
            Some(other) => {
                other.labels.iter_mut().zip(&literal.labels).for_each(|(l, &also)| *l |= also)
            }
            None => all.push(literal.clone()),
        }
    }
    all
}
