//! Declared problems for the registry: up to three entities, the relation of each with the next, a factor, and rules.

use lineal_declared::{
    Declaration, Example, Examples, Problem, ProblemOptions, Record, Rivals, Value, Vocabulary,
};
use lineal_linalg::Rng;
use lineal_model::structure::{Ask, Structure};

const DECLARATION: &str = "variable entity { Peop Loc Org }
variable relation(head: entity, tail: entity) { none Live_In Works }
factor types(relation, relation.tail)
cost relation 0.5
rule relation = Live_In implies head = Peop and tail = Loc
rule relation = Works implies tail = Org
rule at most 1 entity = Org
";

/// Problems whose gold outputs keep the rules, with a feature that hints at the label.
pub fn with_declared(rivals: Rivals, run: &mut dyn FnMut(&Problem<'_>)) {
    let declaration = Declaration::parse(DECLARATION).unwrap();
    let mut rng = Rng::new(11);
    let mut below = |n: u64| (rng.next_u64() % n) as usize;
    let mut all = Vec::new();
    for _ in 0..8 {
        let n = 1 + below(3);
        let org = below(4);
        let types: Vec<usize> = (0..n).map(|v| if v == org { 2 } else { below(2) }).collect();
        let mut record = |label: &str, of: usize, links: &[(&'static str, usize)]| {
            let hint = if below(10) < 7 { of } else { below(3) };
            let features = vec![(format!("h{hint}"), 1.0), (format!("n{}", below(3)), 0.5)];
            let links = links.iter().map(|&(name, to)| (name, Value::from(to)));
            Record::new(
                links.chain([("label", label.into()), ("features", Value::Features(features))]),
            )
        };
        let entities = types.iter().map(|&t| record(["Peop", "Loc", "Org"][t], t, &[])).collect();
        let relations = (1..n)
            .map(|tail| {
                let label = match (types[tail - 1], types[tail]) {
                    (0, 1) => 1,
                    (_, 2) => 2,
                    _ => 0,
                };
                record(
                    ["none", "Live_In", "Works"][label],
                    label,
                    &[("head", tail - 1), ("tail", tail)],
                )
            })
            .collect();
        let lists = vec![("entity".to_owned(), entities), ("relation".to_owned(), relations)];
        all.push(Example { lists, columns: Vec::new(), weight: 1.0 });
    }
    let examples = Examples::new(&declaration, all).unwrap();
    let vocabulary = Vocabulary::learn(&declaration, &examples, 1);
    let options = ProblemOptions { rivals, ..ProblemOptions::default() };
    let problem = Problem::new(&declaration, &vocabulary, &examples, options);
    assert!(problem.illegal_gold().is_empty());
    run(&problem);
}

/// All outputs that keep the rules, by the rules as they are meant; or the gold one.
pub fn legal(s: &Problem<'_>, i: usize, ask: Ask) -> Vec<Vec<u32>> {
    let n = s.examples().get(i).n_variables().div_ceil(2);
    let keeps = |y: &Vec<u32>| {
        let (entities, relations) = y.split_at(n);
        let typed = relations.iter().enumerate().all(|(r, &label)| match label {
            1 => entities[r] == 0 && entities[r + 1] == 1,
            2 => entities[r + 1] == 2,
            _ => true,
        });
        typed && entities.iter().filter(|label| **label == 2).count() <= 1
    };
    every(s, i, ask).into_iter().filter(keeps).collect()
}

/// All outputs, or the gold one.
pub fn every(s: &Problem<'_>, i: usize, ask: Ask) -> Vec<Vec<u32>> {
    let mut gold = Vec::new();
    Structure::<f64>::gold(s, i, &mut gold);
    if ask == Ask::Gold {
        return vec![gold];
    }
    let digit = |number: usize, v: usize| (number / 3usize.pow(v as u32) % 3) as u32;
    let output = |number| (0..gold.len()).map(|v| digit(number, v)).collect();
    (0..3usize.pow(gold.len() as u32)).map(output).collect()
}
