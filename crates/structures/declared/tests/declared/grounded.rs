//! Declared programs against what they declare: a chain against Viterbi, a tree and a grid against enumeration, entities and relations against enumeration with their
//! rules written by hand.

use lineal_chain::{Chain, Grammar, Transitions};
use lineal_declared::inference::{Scratch, solve};
use lineal_declared::{
    AnswerCache, Declaration, Example, Examples, PredictError, Predictor, Record, SolveOptions,
    Value, Vocabulary,
};
use lineal_linalg::Rng;

fn examples(declaration: &Declaration, lists: Vec<(&str, Vec<Record>)>) -> Examples {
    let lists = lists.into_iter().map(|(name, records)| (name.to_owned(), records)).collect();
    Examples::new(declaration, vec![Example { lists, columns: Vec::new(), weight: 1.0 }]).unwrap()
}

fn random(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| 2.0 * rng.unit() - 1.0).collect()
}

/// All outputs, best first.
fn every(sizes: &[usize], score: &dyn Fn(&[u32]) -> Option<f64>) -> Vec<(Vec<u32>, f64)> {
    let mut all = Vec::new();
    for mut number in 0..sizes.iter().product::<usize>() {
        let y: Vec<u32> = sizes
            .iter()
            .map(|&k| {
                let label = number % k;
                number /= k;
                label as u32
            })
            .collect();
        if let Some(score) = score(&y) {
            all.push((y, score));
        }
    }
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

#[test]
fn a_chain_is_a_chain() {
    let declaration =
        Declaration::parse("variable token { a b c }\nfactor step(token, token.next)").unwrap();
    let mut rng = Rng::new(1);
    let mut s = Scratch::default();
    for n in 1..30 {
        let examples = examples(&declaration, vec![("token", vec![Record::default(); n])]);
        let program = &examples.get(0).program;
        let (unary, steps) = (random(&mut rng, 3 * n), random(&mut rng, 9));
        let mut theta = unary.clone();
        (1..n).for_each(|_| theta.extend_from_slice(&steps));
        let found = solve(program, &theta, None, &SolveOptions::default(), &mut s).unwrap();
        let mut transitions = Transitions::new(Grammar::free(3));
        transitions.load(&steps, &[0.0; 3], &[0.0; 3]);
        let mut labels = Vec::new();
        Chain::new(&transitions, &unary)
            .viterbi(&mut lineal_chain::Scratch::new(), &mut labels)
            .unwrap();
        assert_eq!(found.labels, labels);
        assert_eq!(found.upper, found.score);
    }
}

#[test]
fn a_tree_and_a_grid_are_what_they_declare() {
    let mut rng = Rng::new(2);
    let mut s = Scratch::default();
    let tree =
        Declaration::parse("variable node(parent: node) { a b c }\nfactor edge(node, node.parent)")
            .unwrap();
    let parents = [None, Some(0usize), Some(0), Some(1), Some(1), Some(2), Some(5)];
    let node = |parent: &Option<usize>| Record::new(parent.map(|parent| ("parent", parent.into())));
    let of_tree = examples(&tree, vec![("node", parents.iter().map(node).collect())]);
    let grid = Declaration::parse(
        "variable pixel(right: pixel, down: pixel) { dark light }
         factor across(pixel, pixel.right)
         factor along(pixel, pixel.down) shares across",
    )
    .unwrap();
    let pixel = |at: usize| {
        let right = (at % 4 < 3).then(|| ("right", Value::from(at + 1)));
        let down = (at < 8).then(|| ("down", Value::from(at + 4)));
        Record::new(right.into_iter().chain(down))
    };
    let of_grid = examples(&grid, vec![("pixel", (0..12).map(pixel).collect())]);
    assert_eq!(of_grid.get(0).program.tables().len(), 17);
    for _ in 0..20 {
        for (examples, sizes, edges) in [
            (&of_tree, vec![3; 7], (1..7).map(|v| (v, parents[v].unwrap())).collect::<Vec<_>>()),
            (
                &of_grid,
                vec![2; 12],
                (0..12)
                    .filter(|at| at % 4 < 3)
                    .map(|at| (at, at + 1))
                    .chain((0..8).map(|at| (at, at + 4)))
                    .collect(),
            ),
        ] {
            let program = &examples.get(0).program;
            let (unary, joint) =
                (random(&mut rng, program.n_unary()), random(&mut rng, sizes[0] * sizes[0]));
            let mut theta = unary.clone();
            edges.iter().for_each(|_| theta.extend_from_slice(&joint));
            let k = sizes[0];
            let score = |y: &[u32]| {
                let own: f64 = y.iter().enumerate().map(|(v, &l)| unary[k * v + l as usize]).sum();
                Some(
                    own + edges
                        .iter()
                        .map(|&(a, b)| joint[y[a] as usize * k + y[b] as usize])
                        .sum::<f64>(),
                )
            };
            let best = &every(&sizes, &score)[0];
            let found = solve(program, &theta, None, &SolveOptions::default(), &mut s).unwrap();
            assert!((found.score - best.1).abs() < 1e-9 && found.labels == best.0);
        }
    }
}

const RELATIONS: &str = "variable entity { Peop Loc Org }
variable relation(head: entity, tail: entity) { none Live_In Kill } all pairs
rule relation = Live_In implies head = Peop and tail = Loc
rule relation = Kill implies head = Peop and tail = Peop
rule at most 1 relation = Live_In per head
rule count(relation = Kill) <= count(entity = Org)
rule at least 1 entity = Loc
rule entity = entity.next implies entity != Org";

fn is_legal(y: &[u32]) -> bool {
    let (entities, relations) = y.split_at(3);
    let pairs = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
    let typed = relations.iter().zip(pairs).all(|(&r, (h, t))| match r {
        1 => entities[h] == 0 && entities[t] == 1,
        2 => entities[h] == 0 && entities[t] == 0,
        _ => true,
    });
    let homes =
        |head: usize| relations.iter().zip(pairs).filter(|(r, p)| **r == 1 && p.0 == head).count();
    let count = |of: &[u32], label: u32| of.iter().filter(|l| **l == label).count();
    typed
        && (0..3).all(|head| homes(head) <= 1)
        && count(relations, 2) <= count(entities, 2)
        && count(entities, 1) >= 1
        && entities.windows(2).all(|p| p[0] != p[1] || p[0] != 2)
}

#[test]
fn entities_and_relations_keep_their_rules() {
    let declaration = Declaration::parse(RELATIONS).unwrap();
    let examples = examples(&declaration, vec![("entity", vec![Record::default(); 3])]);
    let program = &examples.get(0).program;
    assert_eq!(program.n_variables(), 9);
    let mut rng = Rng::new(3);
    let mut s = Scratch::default();
    let theta = random(&mut rng, program.n_parts());
    let score = |y: &[u32]| is_legal(y).then(|| program.score(&theta, y));
    let all = every(&[3; 9], &score);
    assert_eq!(all.len(), every(&[3; 9], &|y| program.is_legal(y).then_some(0.0)).len());
    let found = lineal_declared::inference::k_best(
        program,
        &theta,
        None,
        30,
        &SolveOptions::default(),
        &mut s,
    )
    .unwrap();
    for (found, (_, score)) in found.iter().zip(&all) {
        assert!((found.score - score).abs() < 1e-9 && is_legal(&found.labels));
    }
}

#[test]
fn conflicts_name_their_rules_and_explanations_the_rule_that_changed_a_label() {
    let declaration = Declaration::parse(RELATIONS).unwrap();
    let named =
        |name: &str| Record::new([("features", Value::Features(vec![(name.to_owned(), 1.0)]))]);
    let records = vec![named("p"), named("q"), named("r")];
    let examples = examples(&declaration, vec![("entity", records)]);
    let ground = examples.get(0);
    let vocabulary = Vocabulary::learn(&declaration, &examples, 1);
    // Every entity wants to be a person.
    let mut w = vec![0.0f32; vocabulary.dim()];
    w[0] = 1.0;
    let predictor = Predictor::new(&declaration, &vocabulary, &w, SolveOptions::default());
    let best = predictor.predict(ground, &[]).unwrap();
    assert_eq!(best.labels[..3].iter().filter(|l| **l == 1).count(), 1);
    let loc = best.labels.iter().position(|&l| l == 1).unwrap();
    let why = predictor.explain(ground, loc).unwrap();
    assert_eq!((why.label, why.alone, why.without_rules, why.rules), (1, 0, 0, vec![4]));
    assert!(why.lead.unwrap() >= 0.0);
    assert_eq!(predictor.margins(ground, &[]).unwrap().len(), 9);

    let known = [Some(2), Some(2), None, None, None, None, None, None, None];
    let error = predictor.predict(ground, &known).unwrap_err();
    let PredictError::Conflict { rules, message } = error else { panic!("{error}") };
    assert_eq!(rules, [5]);
    assert_eq!(
        message,
        "no output keeps this rule:\n  line 8: rule entity = entity.next implies entity != Org"
    );
    let people = [Some(0), Some(0), Some(0), None, None, None, None, None, None];
    let error = predictor.predict(ground, &people).unwrap_err().to_string();
    assert!(error.contains("line 7: rule at least 1 entity = Loc"), "{error}");
    assert!(matches!(predictor.predict(ground, &[None]), Err(PredictError::Known { .. })));
}

#[test]
fn equal_problems_are_solved_once() {
    let declaration = Declaration::parse(RELATIONS).unwrap();
    let example = || Example {
        lists: vec![("entity".to_owned(), vec![Record::default(); 3])],
        weight: 1.0,
        ..Example::default()
    };
    let examples = Examples::new(&declaration, vec![example(), example()]).unwrap();
    let vocabulary = Vocabulary::learn(&declaration, &examples, 1);
    let mut rng = Rng::new(5);
    let w: Vec<f32> = (0..vocabulary.dim()).map(|_| rng.unit() as f32 - 0.5).collect();
    let plain = Predictor::new(&declaration, &vocabulary, &w, SolveOptions::default());
    let cache = AnswerCache::default();
    let cached = plain.with_cache(&cache);
    let known = [Some(1), None, None, None, None, None, None, None, None];
    for (ground, n_hits) in examples.iter().zip([0, 2]) {
        assert_eq!(cached.predict(ground, &[]), plain.predict(ground, &[]));
        assert_eq!(cached.predict(ground, &known), plain.predict(ground, &known));
        assert_eq!(cache.n_hits(), n_hits);
    }
    let options = SolveOptions { seconds: Some(60.0), ..SolveOptions::default() };
    let timed = Predictor::new(&declaration, &vocabulary, &w, options).with_cache(&cache);
    timed.predict(examples.get(0), &[]).unwrap();
    assert_eq!(cache.n_hits(), 2);
}
