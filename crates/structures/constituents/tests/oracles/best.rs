//! The best derivation, plain, with costs and with known brackets, and the k best.

use crate::enumeration::{Fixture, TREES, random_weights};
use lineal_constituents::problem::{
    Bracket, Candidates, ConstituentParts, Constituents, Known, KnownError,
};
use lineal_constituents::{Branching, Derivation};
use lineal_model::structure::{Ask, MaxOracle, Structure};

type Scratch = <Constituents<'static> as Structure<f64>>::Scratch;

fn scored(problem: &Constituents<'_>, i: usize, seed: u64) -> (ConstituentParts<f64>, Scratch) {
    let w = random_weights(Structure::<f64>::dim(problem), seed, 4.0);
    let (mut scratch, mut theta) = (Structure::<f64>::scratch(problem), Default::default());
    problem.scores(i, &w, 1.0, &mut scratch, &mut theta);
    (theta, scratch)
}

#[test]
fn the_best_derivation_is_that_of_enumeration() {
    for fixture in Fixture::all() {
        let problem = fixture.problem();
        for i in 0..fixture.gold.len() {
            let all = fixture.derivations(i);
            assert!(all.contains(&fixture.gold[i]) && (i != 2 || all.len() > 5), "{}", all.len());
            for (seed, ask) in (0..20).flat_map(|seed| [(seed, Ask::Plain), (seed, Ask::Augmented)])
            {
                let (mut theta, mut scratch) = scored(&problem, i, seed);
                let value = |y: &Derivation| {
                    let cost = MaxOracle::<f64>::cost(&problem, i, y);
                    let score: f64 = problem.score(i, &theta, y);
                    score + if ask == Ask::Augmented { cost } else { 0.0 }
                };
                let best = all.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
                let mut y = Derivation::default();
                let found = problem.argmax(i, &mut theta, ask, &mut scratch, &mut y).unwrap();
                assert!((found.score - best).abs() < 1e-9, "{ask:?} {found:?} {best}");
                assert!(all.contains(&y));
            }
        }
    }
}

/// Brackets with labels, sorted.
fn brackets(fixture: &Fixture, y: &Derivation) -> Vec<(u32, u32, String)> {
    let tree = fixture.grammar.restore(y);
    let mut all: Vec<_> =
        tree.phrases().iter().map(|p| (p.start, p.end, p.label.clone())).collect();
    all.sort();
    all
}

#[test]
fn costs_count_wrong_brackets() {
    for fixture in Fixture::all() {
        let problem = fixture.problem();
        for i in 0..fixture.gold.len() {
            let gold = brackets(&fixture, &fixture.gold[i]);
            for y in fixture.derivations(i) {
                let mut rest = brackets(&fixture, &y);
                let n_all = rest.len() + gold.len();
                let mut right = 0;
                for bracket in &gold {
                    if let Some(at) = rest.iter().position(|other| other == bracket) {
                        rest.remove(at);
                        right += 1;
                    }
                }
                let cost = MaxOracle::<f64>::cost(&problem, i, &y);
                assert_eq!(cost, (n_all - 2 * right) as f64);
            }
        }
    }
}

#[test]
fn the_k_best_are_those_of_enumeration() {
    for fixture in Fixture::all() {
        let problem = fixture.problem();
        for i in 0..fixture.gold.len() {
            let (theta, mut scratch) = scored(&problem, i, 3);
            let score = |y: &Derivation| -> f64 { problem.score(i, &theta, y) };
            let mut all: Vec<f64> = fixture.derivations(i).iter().map(score).collect();
            all.sort_by(|a, b| b.total_cmp(a));
            for k in [1, 2, 7, 100, all.len() + 5] {
                let found = problem.k_best(i, &theta, k, &mut scratch).unwrap();
                assert_eq!(found.len(), k.min(all.len()));
                for (at, (y, score)) in found.iter().enumerate() {
                    assert!((score - all[at]).abs() < 1e-9, "{at} {score} {}", all[at]);
                    assert!(found[..at].iter().all(|(other, _)| other != y));
                }
            }
        }
    }
}

#[test]
fn known_brackets_hold() {
    for fixture in Fixture::all() {
        let cases: [&[(u32, u32, Option<&str>)]; 5] = [
            &[(0, 3, None)],
            &[(3, 6, Some("V")), (4, 6, None)],
            &[(4, 6, Some("S")), (4, 6, Some("V"))],
            &[(0, 1, Some("N"))],
            &[(0, 6, None), (0, 3, Some("N")), (2, 3, None)],
        ];
        for case in cases {
            let mut known = vec![Known::default(); fixture.gold.len()];
            known[2] = Known::new(&fixture.grammar, 6, case).unwrap();
            let problem = fixture.problem().with_gold(&[]).with_known(&known);
            let partial = fixture.problem().with_gold(&[]).with_partial_gold(&known);
            let holds = |y: &Derivation| {
                case.iter().all(|&(start, end, label)| {
                    let own = brackets(&fixture, y);
                    own.iter().any(|(i, j, own)| {
                        (*i, *j) == (start, end) && label.is_none_or(|label| label == own)
                    })
                })
            };
            let all: Vec<Derivation> =
                fixture.derivations(2).into_iter().filter(|y| holds(y)).collect();
            assert!(!all.is_empty(), "{case:?}");
            for seed in 0..10 {
                let (mut theta, mut scratch) = scored(&problem, 2, seed);
                let score = |y: &Derivation| -> f64 { problem.score(2, &theta, y) };
                let best = all.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
                let mut y = Derivation::default();
                let found =
                    problem.argmax(2, &mut theta, Ask::Plain, &mut scratch, &mut y).unwrap();
                assert!((found.score - best).abs() < 1e-9 && all.contains(&y), "{case:?}");
                // What is known of a gold derivation holds only within it.
                let found = partial.argmax(2, &mut theta, Ask::Gold, &mut scratch, &mut y).unwrap();
                assert!((found.score - best).abs() < 1e-9 && all.contains(&y), "{case:?}");
                assert_eq!(MaxOracle::<f64>::cost(&partial, 2, &y), 0.0);
                let augmented = |y: &Derivation| -> f64 {
                    partial.score(2, &theta, y) + MaxOracle::<f64>::cost(&partial, 2, y)
                };
                let every = fixture.derivations(2);
                let best = every.iter().map(augmented).fold(f64::NEG_INFINITY, f64::max);
                let found =
                    partial.argmax(2, &mut theta, Ask::Augmented, &mut scratch, &mut y).unwrap();
                assert!((found.score - best).abs() < 1e-9, "{case:?}");
            }
        }
    }
}

#[test]
fn brackets_that_cannot_hold_are_refused() {
    let fixture = Fixture::new(0, 1, Branching::Right);
    let refused = |brackets: &[(u32, u32, Option<&str>)]| {
        Known::new(&fixture.grammar, 4, brackets).unwrap_err()
    };
    assert_eq!(refused(&[(0, 2, None), (1, 3, None)]), KnownError::Cross { first: 0, second: 1 });
    assert_eq!(refused(&[(1, 1, None)]), KnownError::Words { bracket: 0 });
    assert_eq!(refused(&[(1, 9, None)]), KnownError::Words { bracket: 0 });
    let message = refused(&[(1, 2, Some("Q"))]).to_string();
    assert!(message.contains("the label `Q`"), "{message}");
    let together = refused(&[(0, 2, Some("S")), (0, 2, Some("N"))]);
    assert_eq!(together, KnownError::Together { bracket: 1 });
}

#[test]
fn candidates_leave_only_their_derivations() {
    let fixture = Fixture::new(0, 1, Branching::Right);
    let mut candidates = Candidates::default();
    for gold in &fixture.gold {
        let own = gold.nodes.iter().map(|node| (node.start, node.end));
        let n = gold.nodes[0].end as usize;
        candidates.push(n, Branching::Right, &Known::default(), own.filter(|(i, _)| *i > 0));
    }
    let recall = candidates.recall(&fixture.gold);
    assert!(recall > 0.5 && recall < 1.0, "{recall}");
    let problem = Constituents::new(
        &fixture.grammar,
        &fixture.templates,
        &fixture.sentences,
        Some(&candidates),
        10,
    );
    for i in 0..fixture.gold.len() {
        let (mut theta, mut scratch) = scored(&problem, i, 5);
        let own = candidates.spans(i);
        let fits = |y: &&Derivation| {
            y.nodes.iter().all(|node| node.is_leaf() || own.contains(&(node.start, node.end)))
        };
        let all = fixture.derivations(i);
        let score = |y: &Derivation| -> f64 { problem.score(i, &theta, y) };
        let best = all.iter().filter(fits).map(score).fold(f64::NEG_INFINITY, f64::max);
        let mut y = Derivation::default();
        let found = problem.argmax(i, &mut theta, Ask::Plain, &mut scratch, &mut y).unwrap();
        // Where the grammar has none over the candidates, there is one all the same.
        assert!(best == f64::NEG_INFINITY || (found.score - best).abs() < 1e-9, "{found:?} {best}");
        assert!(fits(&&y));
    }
}

#[test]
fn rivals_and_explanations() {
    for fixture in Fixture::all() {
        let problem = fixture.problem();
        let tags: Vec<&str> = TREES[2].1.split(' ').collect();
        for seed in 0..10 {
            let (theta, mut scratch) = scored(&problem, 2, seed);
            let w = random_weights(Structure::<f64>::dim(&problem), seed, 4.0);
            let w: Vec<f32> = w.iter().map(|&w| w as f32).collect();
            let best = problem.k_best(2, &theta, 1, &mut scratch).unwrap().remove(0);
            for (start, end, name) in brackets(&fixture, &best.0) {
                let label = fixture.grammar.label(&name);
                for label in [label, None] {
                    let lacks = |y: &&Derivation| {
                        !brackets(&fixture, y).iter().any(|(i, j, own)| {
                            (*i, *j) == (start, end) && (label.is_none() || *own == name)
                        })
                    };
                    let all = fixture.derivations(2);
                    let score = |y: &Derivation| -> f64 { problem.score(2, &theta, y) };
                    let rival =
                        all.iter().filter(lacks).map(score).fold(f64::NEG_INFINITY, f64::max);
                    let mut y = Derivation::default();
                    let without = Bracket { start, end, label };
                    let found = problem.argmax_without(2, &theta, without, &mut scratch, &mut y);
                    if rival == f64::NEG_INFINITY {
                        continue;
                    }
                    assert!((found.unwrap().score - rival).abs() < 1e-9 && lacks(&&y));
                    let lead: f64 = problem
                        .explain(2, (&tags, &tags), &best.0, &y, &w)
                        .iter()
                        .map(|one| one.value * f64::from(one.weight))
                        .sum();
                    assert!((lead - (best.1 - rival)).abs() < 1e-3, "{lead} {} {rival}", best.1);
                }
            }
        }
    }
}

#[test]
fn features_have_names() {
    let fixture = Fixture::new(0, 1, Branching::Right);
    let problem = fixture.problem();
    let tags: Vec<&str> = TREES[0].1.split(' ').collect();
    let w = vec![0.0; Structure::<f32>::dim(&problem)];
    let found = problem.explain(0, (&tags, &tags), &fixture.gold[0], &Derivation::default(), &w);
    let named = |part: &str, feature: &str| {
        assert!(
            found.iter().any(|one| one.part == part && one.feature == feature),
            "{part}: {feature} in {found:#?}"
        );
    };
    named("N over words 1-2", "first.tag=d last.tag=n");
    named("N over words 1-2", "last+1.tag=v tags=d_n");
    named("words 1-2 as left child of S", "last.tag=n last+1.tag=v");
    named("words 3-4 as right child of S", "length=2");
    named("d as left child of N", "");
}
