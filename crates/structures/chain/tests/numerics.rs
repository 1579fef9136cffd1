//! What brute force cannot reach: long sequences, many labels, extreme scores, derivatives, frequencies.

use lineal_chain::{Chain, Error, Grammar, LabelSets, Scheme, Scratch, Transitions};
use lineal_linalg::Rng;
use lineal_linalg::{Scalar, special};

struct Problem<F> {
    transitions: Transitions<F>,
    weights: [Vec<F>; 3],
    unary: Vec<F>,
}

fn random<F: Scalar>(n: usize, grammar: Grammar, scale: f64, seed: u64) -> Problem<F> {
    let k = grammar.n_labels();
    let mut rng = Rng::new(seed);
    let mut scores = |len: usize| {
        (0..len).map(|_| F::from_f64((rng.unit() * 2.0 - 1.0) * scale)).collect::<Vec<F>>()
    };
    let weights = [scores(k * k), scores(k), scores(k)];
    let unary = scores(n * k);
    let mut transitions = Transitions::new(grammar);
    transitions.load(&weights[0], &weights[1], &weights[2]);
    Problem { transitions, weights, unary }
}

#[test]
fn marginals_are_the_derivatives_of_the_log_partition() {
    let (n, k, h) = (7, 4, 1e-5);
    let mut problem = random::<f64>(n, Grammar::free(k), 2.0, 3);
    let mut s = Scratch::new();
    let mut counts = vec![0.0; k * k];
    let chain = Chain::new(&problem.transitions, &problem.unary);
    let mut posterior = chain.posterior(&mut s).unwrap();
    posterior.add_transitions(&mut counts);
    let unary = posterior.unary().to_vec();
    drop(posterior);
    for i in 0..n * k {
        let mut value = |step: f64| {
            problem.unary[i] += step;
            Chain::new(&problem.transitions, &problem.unary).log_partition(&mut s).unwrap()
        };
        let slope = (value(h) - value(-2.0 * h)) / (2.0 * h);
        problem.unary[i] += h;
        assert!((slope - unary[i]).abs() < 1e-8, "{slope} {}", unary[i]);
    }
    for i in 0..k * k {
        let [transition, start, end] = &mut problem.weights;
        let transitions = &mut problem.transitions;
        let mut value = |step: f64| {
            transition[i] += step;
            transitions.load(transition, start, end);
            Chain::new(transitions, &problem.unary).log_partition(&mut s).unwrap()
        };
        let slope = (value(h) - value(-2.0 * h)) / (2.0 * h);
        transition[i] += h;
        assert!((slope - counts[i]).abs() < 1e-8, "{slope} {}", counts[i]);
    }
    for (which, label) in (0..2).flat_map(|which| (0..k).map(move |label| (which, label))) {
        let mut value = |step: f64| {
            problem.weights[1 + which][label] += step;
            let [transition, start, end] = &problem.weights;
            problem.transitions.load(transition, start, end);
            Chain::new(&problem.transitions, &problem.unary).log_partition(&mut s).unwrap()
        };
        let slope = (value(h) - value(-2.0 * h)) / (2.0 * h);
        problem.weights[1 + which][label] += h;
        let p = unary[if which == 0 { 0 } else { (n - 1) * k } + label];
        assert!((slope - p).abs() < 1e-8, "{slope} {p}");
    }
}

#[test]
fn a_chain_of_one_is_a_softmax() {
    let k = 9;
    let problem = random::<f32>(1, Grammar::free(k), 4.0, 5);
    let flat: Vec<f32> =
        (0..k).map(|l| problem.unary[l] + problem.weights[1][l] + problem.weights[2][l]).collect();
    let mut shares = vec![0.0; k];
    let log_z = special::softmax(&flat, &mut shares);
    let chain = Chain::new(&problem.transitions, &problem.unary);
    let (mut s, mut labels) = (Scratch::new(), Vec::new());
    let posterior = chain.posterior(&mut s).unwrap();
    assert!((posterior.log_partition() - f64::from(log_z)).abs() < 1e-5);
    for (p, share) in posterior.unary().iter().zip(&shares) {
        assert!((p - share).abs() < 1e-6);
    }
    drop(posterior);
    chain.viterbi(&mut s, &mut labels).unwrap();
    let top = (0..k).fold(0, |m, l| if flat[l] > flat[m] { l } else { m });
    assert_eq!(labels, [top as u32]);
}

#[test]
fn an_empty_sequence_has_one_labelling() {
    let transitions = Transitions::<f64>::new(Grammar::free(3));
    let chain = Chain::new(&transitions, &[]);
    let (mut s, mut labels) = (Scratch::new(), vec![7]);
    assert_eq!(chain.viterbi(&mut s, &mut labels), Ok(0.0));
    assert!(labels.is_empty());
    assert_eq!(chain.log_partition(&mut s), Ok(0.0));
    let mut posterior = chain.posterior(&mut s).unwrap();
    assert!(posterior.unary().is_empty());
    posterior.add_transitions(&mut [0.0; 9]);
    posterior.pairwise(&mut []);
    assert_eq!(posterior.probability(&[]), 1.0);
    drop(posterior);
    assert_eq!(chain.k_best(3, &mut s).unwrap().len(), 1);
}

/// Marginals that sum to 1, transitions to n − 1, a log-partition above the best score, samples that can be scored.
fn sane<F: Scalar>(n: usize, k: usize, scale: f64, tolerance: f64) {
    let problem = random::<F>(n, Grammar::free(k), scale, 11);
    let chain = Chain::new(&problem.transitions, &problem.unary);
    let (mut s, mut labels) = (Scratch::new(), Vec::new());
    let best = chain.viterbi(&mut s, &mut labels).unwrap();
    assert!((chain.score(&labels) - best).abs() <= 1e-9 * best.abs());
    let top = &chain.k_best(3, &mut s).unwrap();
    assert!(top[0].score >= best - tolerance * best.abs() && top[0].score >= top[1].score);
    assert!(top[1].score >= top[2].score && top[0].labels != top[1].labels);
    let mut posterior = chain.posterior(&mut s).unwrap();
    let log_z = posterior.log_partition();
    assert!(log_z >= best - tolerance * best.abs() && log_z.is_finite(), "{log_z} {best}");
    for row in posterior.unary().chunks_exact(k) {
        let sum: f64 = row.iter().map(|p| p.to_f64()).sum();
        assert!((sum - 1.0).abs() < tolerance, "{sum}");
        assert!(row.iter().all(|p| p.to_f64() >= 0.0));
    }
    let mut counts = vec![F::ZERO; k * k];
    posterior.add_transitions(&mut counts);
    let total: f64 = counts.iter().map(|c| c.to_f64()).sum();
    assert!((total / (n - 1) as f64 - 1.0).abs() < tolerance, "{total}");
    posterior.sample(&mut Rng::new(1), &mut labels);
    assert_eq!(labels.len(), n);
}

#[test]
fn a_hundred_thousand_positions() {
    sane::<f32>(100_000, 10, 3.0, 2e-5);
    sane::<f64>(100_000, 10, 3.0, 1e-11);
}

#[test]
fn five_hundred_labels() {
    sane::<f32>(200, 500, 2.0, 2e-5);
}

#[test]
fn scores_of_ten_thousand() {
    sane::<f32>(50, 12, 1e4, 1e-5);
    sane::<f64>(50, 12, 1e4, 1e-9);
}

#[test]
fn f32_keeps_the_best_way_through_a_long_sequence() {
    // Without rescaling the scores reach 3·10⁶, where f32 has steps of 0.25 and labels that differ by less are lost.
    let (n, k) = (100_000, 4);
    let mut problem = random::<f32>(n, Grammar::free(k), 0.1, 2);
    problem.unary.iter_mut().for_each(|u| *u += 30.0);
    let wide: Vec<f64> = problem.unary.iter().map(|&u| f64::from(u)).collect();
    let [transition, start, end] =
        problem.weights.each_ref().map(|w| w.iter().map(|&w| f64::from(w)).collect::<Vec<f64>>());
    let mut transitions = Transitions::<f64>::new(Grammar::free(k));
    transitions.load(&transition, &start, &end);
    let (mut narrow_labels, mut labels) = (Vec::new(), Vec::new());
    Chain::new(&transitions, &wide).viterbi(&mut Scratch::new(), &mut labels).unwrap();
    let chain = Chain::new(&problem.transitions, &problem.unary);
    chain.viterbi(&mut Scratch::new(), &mut narrow_labels).unwrap();
    let wrong = labels.iter().zip(&narrow_labels).filter(|(a, b)| a != b).count();
    assert!(wrong < 100, "{wrong} labels differ");
}

/// A way that looks hopeless from both ends and is the best all the same: what a flushed number would lose for good.
fn garden_path<F: Scalar>(depth: f64, constrained: bool) {
    let (n, k) = (20, 2);
    let mut grammar = Grammar::free(k);
    if constrained {
        grammar.forbid(0, 1);
        grammar.forbid(1, 0);
    }
    let mut transitions = Transitions::new(grammar);
    let cross = F::from_f64(-8.0 * depth);
    transitions.load(&[F::ZERO, cross, cross, F::ZERO], &[F::ZERO; 2], &[F::ZERO; 2]);
    let mut unary = vec![F::ZERO; n * k];
    unary[1] = F::from_f64(-depth);
    unary[(n - 1) * k + 1] = F::from_f64(-depth);
    unary[n] = F::from_f64(-3.0 * depth);
    // Label 0 throughout: −3·depth; label 1 throughout: −2·depth.
    let chain = Chain::new(&transitions, &unary);
    let mut s = Scratch::new();
    let posterior = chain.posterior(&mut s).unwrap();
    assert!(
        (posterior.log_partition() + 2.0 * depth).abs() < 1e-3,
        "{}",
        posterior.log_partition()
    );
    assert!((0..n).all(|t| (posterior.unary()[t * k + 1].to_f64() - 1.0).abs() < 1e-6));
}

#[test]
fn nothing_that_matters_is_flushed_to_zero() {
    for constrained in [false, true] {
        for depth in [20.0, 60.0, 100.0, 800.0, 10_000.0] {
            garden_path::<f32>(depth, constrained);
            garden_path::<f64>(depth, constrained);
        }
    }
}

#[test]
fn a_sharp_transition_does_not_overflow_the_way_back() {
    let mut transitions = Transitions::<f32>::new(Grammar::free(2));
    transitions.load(&[0.0, 64.0, 0.0, 32.0], &[0.0, 24.0], &[0.0; 2]);
    let chain = Chain::new(&transitions, &[0.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let mut s = Scratch::new();
    let posterior = chain.posterior(&mut s).unwrap();
    // Of the five best sequences, all of score 128, two begin with 0.
    assert!((posterior.unary()[0] - 0.4).abs() < 1e-6, "{}", posterior.unary()[0]);
}

#[test]
fn f32_and_f64_agree_where_a_scheme_forbids_transitions() {
    let names = ["O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"];
    let grammar = Scheme::Bioes.grammar(&names).unwrap();
    for scale in [1.0, 15.0, 60.0] {
        let narrow = random::<f32>(300, grammar.clone(), scale, 7);
        let wide: Vec<f64> = narrow.unary.iter().map(|&u| f64::from(u)).collect();
        let [transition, start, end] = narrow
            .weights
            .each_ref()
            .map(|w| w.iter().map(|&w| f64::from(w)).collect::<Vec<f64>>());
        let mut transitions = Transitions::<f64>::new(grammar.clone());
        transitions.load(&transition, &start, &end);
        let (mut s, mut s64, mut labels) = (Scratch::new(), Scratch::new(), Vec::new());
        let chain = Chain::new(&narrow.transitions, &narrow.unary);
        chain.viterbi(&mut s, &mut labels).unwrap();
        assert_eq!(chain.violation(&labels), None);
        let mut posterior = chain.posterior(&mut s).unwrap();
        let chain64 = Chain::new(&transitions, &wide);
        let posterior64 = chain64.posterior(&mut s64).unwrap();
        let (a, b) = (posterior.log_partition(), posterior64.log_partition());
        assert!((a - b).abs() < 1e-5 * b.abs(), "{a} {b}");
        for (a, b) in posterior.unary().iter().zip(posterior64.unary()) {
            assert!((f64::from(*a) - b).abs() < 2e-4, "{a} {b}");
        }
        posterior.decode(&mut labels);
        assert_eq!(chain.violation(&labels), None);
    }
}

#[test]
fn partial_labels_marginalise_or_maximise_the_rest() {
    let (n, k) = (5, 3);
    let problem = random::<f64>(n, Grammar::free(k), 1.0, 9);
    let mut sets = LabelSets::full(n, k);
    sets.keep_only(1, 2);
    sets.keep_only(3, 0);
    let free = Chain::new(&problem.transitions, &problem.unary);
    let partial = free.with_allowed(&sets);
    let mut s = Scratch::new();
    let restricted = partial.log_partition(&mut s).unwrap();
    let mut posterior = free.posterior(&mut s).unwrap();
    let p = (restricted - posterior.log_partition()).exp();
    let mut middle = LabelSets::full(3, k);
    middle.keep_only(0, 2);
    middle.keep_only(2, 0);
    assert!((posterior.span_in(1, &middle) - p).abs() < 1e-12);
    drop(posterior);
    let mut labels = Vec::new();
    let best = partial.viterbi(&mut s, &mut labels).unwrap();
    assert_eq!((labels[1], labels[3]), (2, 0));
    assert!(best <= restricted && best == free.score(&labels));
}

#[test]
fn an_infeasible_request_names_its_position() {
    let grammar = Scheme::Bio.grammar(&["O", "B-A", "I-A"]).unwrap();
    let problem = random::<f64>(4, grammar, 1.0, 1);
    let mut sets = LabelSets::full(4, 3);
    sets.keep_only(1, 0);
    sets.keep_only(2, 2);
    let chain = Chain::new(&problem.transitions, &problem.unary).with_allowed(&sets);
    let error = Some(Error::Infeasible { position: 2 });
    let (mut s, mut labels) = (Scratch::new(), Vec::new());
    assert_eq!(chain.viterbi(&mut s, &mut labels).err(), error);
    assert_eq!(chain.log_partition(&mut s).err(), error);
    assert_eq!(
        chain.posterior(&mut s).err().map(|e| e.to_string()),
        error.as_ref().map(|e| e.to_string())
    );
    assert_eq!(chain.k_best(2, &mut s).err(), error);
    assert_eq!(chain.violation(&[0, 0, 2, 0]), Some(2));
}

#[test]
fn samples_are_as_frequent_as_they_are_probable() {
    let (n, k) = (3, 3);
    let mut grammar = Grammar::free(k);
    grammar.forbid(0, 1);
    let problem = random::<f32>(n, grammar, 1.0, 4);
    let chain = Chain::new(&problem.transitions, &problem.unary);
    let (mut s, mut labels) = (Scratch::new(), Vec::new());
    let mut posterior = chain.posterior(&mut s).unwrap();
    let mut rng = Rng::new(42);
    let mut seen = vec![0.0; 27];
    let draws = 40_000;
    for _ in 0..draws {
        posterior.sample(&mut rng, &mut labels);
        seen[labels.iter().fold(0, |i, &l| i * 3 + l as usize)] += 1.0;
    }
    for (i, &count) in seen.iter().enumerate() {
        let y = [i as u32 / 9, i as u32 / 3 % 3, i as u32 % 3];
        let p = posterior.probability(&y);
        let sigma = (f64::from(draws) * p * (1.0 - p)).sqrt();
        assert!((count - p * f64::from(draws)).abs() <= 5.0 * sigma, "{y:?} {count} {p}");
    }
    let mut again = Vec::new();
    posterior.sample(&mut Rng::new(42), &mut labels);
    posterior.sample(&mut Rng::new(42), &mut again);
    assert_eq!(labels, again);
}
