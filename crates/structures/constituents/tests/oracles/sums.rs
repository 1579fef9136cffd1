//! Partition functions and probabilities, also where scores are large.

use crate::enumeration::{Fixture, random_weights};
use lineal_constituents::Derivation;
use lineal_constituents::problem::{ConstituentParts, Known};
use lineal_model::structure::{Ask, PartVector, Structure, SumOracle};

fn log_sum_exp(x: &[f64]) -> f64 {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + x.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

#[test]
fn sums_are_those_of_enumeration() {
    for fixture in Fixture::all() {
        let problem = fixture.problem();
        // Scores from a few units to thousands: sums over pairs then leave the range of f64.
        for (i, range) in (0..fixture.gold.len()).flat_map(|i| [(i, 3.0), (i, 300.0), (i, 5000.0)])
        {
            let w = random_weights(Structure::<f64>::dim(&problem), i as u64, range);
            let mut scratch = Structure::<f64>::scratch(&problem);
            let (mut theta, mut mu) = (ConstituentParts::default(), ConstituentParts::default());
            problem.scores(i, &w, 1.0, &mut scratch, &mut theta);
            let all = fixture.derivations(i);
            let scores: Vec<f64> = all.iter().map(|y| problem.score(i, &theta, y)).collect();
            let log_z = log_sum_exp(&scores);
            let close = |found: f64| (found - log_z).abs() < 1e-12 * (10.0 + range * 50.0);
            let found = problem.log_partition(i, &theta, Ask::Plain, &mut scratch).unwrap();
            assert!(close(found), "{found} {log_z}");
            let found = problem.expect(i, &theta, Ask::Plain, &mut scratch, &mut mu).unwrap();
            assert!(close(found), "{found} {log_z}");
            let probability = |score: &f64| (score - log_z).exp();
            let spans = problem.span_probabilities(i, &theta, 0.0, &mut scratch).unwrap();
            for span in spans {
                let has = |y: &Derivation| {
                    let tree = fixture.grammar.restore(y);
                    tree.phrases().iter().any(|phrase| {
                        (phrase.start, phrase.end) == (span.start, span.end)
                            && phrase.label == fixture.grammar.labels()[span.label as usize]
                    })
                };
                let with = all.iter().zip(&scores).filter(|(y, _)| has(y));
                let sum: f64 = with.map(|(_, score)| probability(score)).sum();
                assert!((sum - span.probability).abs() < 1e-7, "{span:?} {sum}");
            }
            for (y, score) in all.iter().zip(&scores) {
                problem.add_output(i, y, -probability(score), &mut mu);
            }
            assert!(mu.dot(&mu) < 1e-12, "{range} {}", mu.dot(&mu));
        }
    }
}

#[test]
fn sums_within_known_brackets() {
    let fixture = Fixture::new(0, 1, Default::default());
    let mut known = vec![Known::default(); fixture.gold.len()];
    known[2] = Known::new(&fixture.grammar, 6, &[(0, 3, Some("N")), (4, 6, None)]).unwrap();
    let problem = fixture.problem().with_gold(&[]).with_partial_gold(&known);
    let w = random_weights(Structure::<f64>::dim(&problem), 9, 3.0);
    let mut scratch = Structure::<f64>::scratch(&problem);
    let mut theta = ConstituentParts::default();
    problem.scores(2, &w, 1.0, &mut scratch, &mut theta);
    let has =
        |y: &Derivation, start: u32, end: u32, label: Option<&str>| {
            fixture.grammar.restore(y).phrases().iter().any(|p| {
                (p.start, p.end) == (start, end) && label.is_none_or(|label| label == p.label)
            })
        };
    let all = fixture.derivations(2);
    let holds = |y: &&Derivation| has(y, 0, 3, Some("N")) && has(y, 4, 6, None);
    let scores: Vec<f64> = all.iter().filter(holds).map(|y| problem.score(2, &theta, y)).collect();
    let found = problem.log_partition(2, &theta, Ask::Gold, &mut scratch).unwrap();
    assert!((found - log_sum_exp(&scores)).abs() < 1e-9);
}
