//! Scores of parts against the plain sum over features, and the way back as its transpose.

use lineal_chain::{
    ChainModel, Grammar, Observations, Parts, PrunedModel, PrunedParts, Scratch, Transitions,
};
use lineal_linalg::DenseSink;
use lineal_linalg::Rng;
use lineal_linalg::SparseRows;

fn attributes(rows: usize, n: u64, rng: &mut Rng) -> SparseRows {
    let mut x = SparseRows::new();
    for _ in 0..rows {
        for _ in 0..rng.next_u64() % 6 {
            x.push_value((rng.next_u64() % n) as u32, 0.5 + (rng.next_u64() % 4) as f32);
        }
        x.end_row();
    }
    x
}

struct Setup {
    model: ChainModel,
    unary: SparseRows,
    pairs: SparseRows,
    w: Vec<f64>,
}

fn setup(n_labels: usize, n_pairs: usize, ends: bool) -> Setup {
    let mut rng = Rng::new(n_labels as u64);
    let model =
        ChainModel { n_labels, n_unary: 30, n_pairs, transitions: true, ends, triples: false };
    let unary = attributes(9, 30, &mut rng);
    let pairs = attributes(9, n_pairs.max(1) as u64, &mut rng);
    let mut w: Vec<f64> = (0..model.dim()).map(|_| rng.unit() - 0.5).collect();
    // The padding has no weights.
    for a in 0..model.n_unary {
        w[a * model.stride() + n_labels..(a + 1) * model.stride()].fill(0.0);
    }
    Setup { model, unary, pairs, w }
}

impl Setup {
    fn x(&self) -> Observations<'_> {
        let pairs = (self.model.n_pairs > 0).then_some(&self.pairs);
        Observations { unary: &self.unary, pairs, start: 2, end: 8 }
    }

    /// ⟨w, Ψ(x, y)⟩ feature by feature.
    fn score(&self, y: &[u32]) -> f64 {
        let (m, w) = (self.model, &self.w);
        let mut score = 0.0;
        for t in 0..6 {
            let label = y[t] as usize;
            self.unary
                .row(2 + t)
                .for_each(|a, v| score += f64::from(v) * w[m.unary_range(a)][label]);
            if t > 0 {
                let pair = y[t - 1] as usize * m.n_labels + label;
                score += w[m.transition_range()][pair];
                if m.n_pairs > 0 {
                    self.pairs
                        .row(2 + t)
                        .for_each(|b, v| score += f64::from(v) * w[m.pair_range(b)][pair]);
                }
            }
        }
        if m.ends {
            score += w[m.start_range()][y[0] as usize] + w[m.end_range()][y[5] as usize];
        }
        score
    }
}

#[test]
fn scores_are_sums_over_features() {
    for (k, n_pairs, ends) in [(4, 0, true), (5, 7, false), (22, 3, true), (7, 0, false)] {
        let setup = setup(k, n_pairs, ends);
        let mut parts = Parts::new();
        setup.model.scores(setup.x(), &setup.w, &mut parts);
        let mut transitions = Transitions::new(Grammar::free(k));
        parts.load(&mut transitions);
        let chain = parts.chain(&transitions);
        let pruned = PrunedModel::new(setup.model, &setup.w, 0.0);
        let again = PrunedModel::from_parts(setup.model, pruned.parts()).unwrap();
        assert_eq!(pruned, again);
        let mut narrow = Parts::<f32>::new();
        pruned.scores(setup.x(), &mut narrow);
        let mut rng = Rng::new(3);
        for _ in 0..20 {
            let y: Vec<u32> = (0..6).map(|_| (rng.next_u64() % k as u64) as u32).collect();
            let want = setup.score(&y);
            assert!((chain.score(&y) - want).abs() < 1e-12);
            let mut transitions = Transitions::new(Grammar::free(k));
            narrow.load(&mut transitions);
            assert!((narrow.chain(&transitions).score(&y) - want).abs() < 1e-4);
        }
    }
}

#[test]
fn accumulation_is_the_transpose() {
    for (k, n_pairs, ends) in [(4, 0, true), (5, 7, false), (22, 3, true)] {
        let setup = setup(k, n_pairs, ends);
        let (mut parts, mut grad) = (Parts::new(), Parts::new());
        setup.model.scores(setup.x(), &setup.w, &mut parts);
        let mut transitions = Transitions::new(Grammar::free(k));
        parts.load(&mut transitions);
        let mut s = Scratch::new();
        let chain = parts.chain(&transitions);
        let mut posterior = chain.posterior(&mut s).unwrap();
        grad.set_expected(&mut posterior, n_pairs > 0);
        drop(posterior);
        let gold = [1, 0, 2, 2, 1, 3];
        grad.add_labels(&gold, -1.0);
        let mut g = vec![0.0; setup.model.dim()];
        let before = grad.clone();
        setup.model.accumulate(setup.x(), &mut grad, &mut DenseSink(&mut g));
        assert_eq!(before, grad);
        // ⟨Ψᵀ grad, w⟩ = ⟨grad, Ψ w⟩
        let left: f64 = g.iter().zip(&setup.w).map(|(g, w)| g * w).sum();
        let pairs = [
            (&grad.unary, &parts.unary),
            (&grad.per_position, &parts.per_position),
            (&grad.transition, &parts.transition),
            (&grad.start, &parts.start),
            (&grad.end, &parts.end),
        ];
        let right: f64 =
            pairs.iter().flat_map(|(a, b)| a.iter().zip(b.iter())).map(|(a, b)| a * b).sum();
        assert!((left - right).abs() < 1e-10, "{left} {right}");

        // And the gradient of log Z − score(gold), by finite differences.
        let mut w = setup.w.clone();
        let h = 1e-6;
        for i in (0..setup.model.dim()).step_by(13) {
            let mut value = |step: f64| {
                w[i] = setup.w[i] + step;
                let mut parts = Parts::new();
                setup.model.scores(setup.x(), &w, &mut parts);
                parts.load(&mut transitions);
                let chain = parts.chain(&transitions);
                chain.log_partition(&mut s).unwrap() - chain.score(&gold)
            };
            let slope = (value(h) - value(-h)) / (2.0 * h);
            w[i] = setup.w[i];
            let padding = i < setup.model.pair_range(0).start && i % setup.model.stride() >= k;
            assert!(padding || (slope - g[i]).abs() < 1e-7, "{i} {slope} {}", g[i]);
        }
        assert!((0..30).all(|a| {
            g[a * setup.model.stride() + k..(a + 1) * setup.model.stride()]
                .iter()
                .all(|&g| g == 0.0)
        }));
    }
}

#[test]
fn differences_are_features_of_one_side() {
    for (k, n_pairs, ends) in [(4, 0, true), (5, 7, false)] {
        let setup = setup(k, n_pairs, ends);
        let (plus, minus) = ([1, 0, 2, 2, 1, 3], [1, 0, 3, 2, 1, 0]);
        let mut score = 0.0;
        setup
            .model
            .each_difference(setup.x(), &plus, &minus, |i, v| score += f64::from(v) * setup.w[i]);
        assert!((score - (setup.score(&plus) - setup.score(&minus))).abs() < 1e-10);
        setup.model.each_difference(setup.x(), &plus, &plus, |_, _| panic!("no difference"));
    }
}

#[test]
fn pruned_parts_that_do_not_fit_are_refused() {
    let setup = setup(4, 2, true);
    let pruned = PrunedModel::new(setup.model, &setup.w, 0.2);
    assert!(pruned.n_weights() < setup.model.dim());
    let refused = |spoil: fn(&mut PrunedParts)| {
        let mut parts = pruned.parts();
        spoil(&mut parts);
        PrunedModel::from_parts(setup.model, parts).is_err()
    };
    assert!(!refused(|_| {}));
    assert!(refused(|parts| parts.columns[0] = 4));
    assert!(refused(|parts| parts.columns.truncate(3)));
    assert!(refused(|parts| parts.weights.truncate(3)));
    assert!(refused(|parts| parts.shared.push(0.0)));
    assert!(refused(|parts| parts.ends[3] = u32::MAX));
    assert!(refused(|parts| parts.ends.push(u32::MAX)));
}
