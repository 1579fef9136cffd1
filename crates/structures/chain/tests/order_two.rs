//! The chain over label pairs against all label sequences with scores of three in a row.

use lineal_chain::{Chain, Grammar, LabelSets, PairChain, Scratch};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Problem {
    n: usize,
    k: usize,
    unary: Vec<f64>,
    transition: Vec<f64>,
    second: Vec<f64>,
    per_position: Option<Vec<f64>>,
    start: Vec<f64>,
    end: Vec<f64>,
    forbidden: Vec<bool>,
    no_start: Vec<bool>,
    allowed: Vec<bool>,
}

fn problems(scale: f64) -> impl Strategy<Value = Problem> {
    (1usize..=6, 1usize..=4, any::<bool>()).prop_flat_map(move |(n, k, per_position)| {
        let scores = |len: usize| {
            prop::collection::vec((-8i32..=8).prop_map(move |s| f64::from(s) * scale), len)
        };
        let flags = |len: usize, p: f64| prop::collection::vec(prop::bool::weighted(p), len);
        (
            (scores(n * k), scores(k * k), scores(k * k * k), scores(k), scores(k)),
            scores((n - 1) * k * k),
            (flags(k * k, 0.2), flags(k, 0.2), flags(n * k, 0.85)),
        )
            .prop_map(
                move |(
                    (unary, transition, second, start, end),
                    per,
                    (forbidden, no_start, allowed),
                )| {
                    let per_position = per_position.then_some(per);
                    Problem {
                        n,
                        k,
                        unary,
                        transition,
                        second,
                        per_position,
                        start,
                        end,
                        forbidden,
                        no_start,
                        allowed,
                    }
                },
            )
    })
}

impl Problem {
    fn legal(&self) -> Vec<(Vec<usize>, f64)> {
        let k = self.k;
        let mut all = vec![vec![]];
        for _ in 0..self.n {
            all = (0..k)
                .flat_map(|y| all.iter().map(move |s: &Vec<usize>| [&s[..], &[y]].concat()))
                .collect();
        }
        all.retain(|y| {
            !self.no_start[y[0]]
                && (0..self.n).all(|t| self.allowed[t * k + y[t]])
                && y.windows(2).all(|p| !self.forbidden[p[0] * k + p[1]])
        });
        let score = |y: &[usize]| {
            let mut score = self.start[y[0]] + self.end[y[self.n - 1]];
            for t in 0..self.n {
                score += self.unary[t * k + y[t]];
                if t > 0 {
                    score += self.transition[y[t - 1] * k + y[t]];
                    if let Some(per) = &self.per_position {
                        score += per[((t - 1) * k + y[t - 1]) * k + y[t]];
                    }
                }
                if t > 1 {
                    score += self.second[(y[t - 2] * k + y[t - 1]) * k + y[t]];
                }
            }
            score
        };
        all.into_iter().map(|y| (y.clone(), score(&y))).collect()
    }

    fn check(&self, tolerance: f64) -> Result<(), TestCaseError> {
        let (n, k) = (self.n, self.k);
        let mut grammar = Grammar::free(k);
        for i in (0..k * k).filter(|&i| self.forbidden[i]) {
            grammar.forbid(i / k, i % k);
        }
        for i in (0..k).filter(|&i| self.no_start[i]) {
            grammar.forbid_start(i);
        }
        let mut allowed = LabelSets::full(n, k);
        for i in (0..n * k).filter(|&i| !self.allowed[i]) {
            allowed.remove(i / k, i % k);
        }
        let pairs = PairChain::new(&grammar);
        let mut transitions = pairs.transitions();
        pairs.load(&self.second, &self.start, &self.end, &mut transitions);
        let mut unary = Vec::new();
        pairs.unary(&self.unary, &self.transition, self.per_position.as_deref(), &mut unary);
        let allowed = pairs.allowed(&allowed);
        let chain = Chain::new(&transitions, &unary).with_allowed(&allowed);
        let mut s = Scratch::new();
        let (mut states, mut labels) = (Vec::new(), Vec::new());

        let mut all = self.legal();
        if all.is_empty() {
            prop_assert!(chain.viterbi(&mut s, &mut states).is_err());
            prop_assert!(chain.posterior(&mut s).is_err());
            return Ok(());
        }
        let top = all.iter().fold(f64::NEG_INFINITY, |m, a| m.max(a.1));
        let z: f64 = all.iter().map(|a| (a.1 - top).exp()).sum();
        for a in &mut all {
            let mut y = Vec::new();
            let as_u32: Vec<u32> = a.0.iter().map(|&y| y as u32).collect();
            prop_assert_eq!(pairs.states(&as_u32, &mut y), Ok(()));
            prop_assert!((chain.score(&y) - a.1).abs() <= tolerance * (1.0 + a.1.abs()));
        }
        let best = chain.viterbi(&mut s, &mut states).unwrap();
        prop_assert!((best - top).abs() <= tolerance * (1.0 + top.abs()));
        pairs.labels(&states, &mut labels);
        let labels: Vec<usize> = labels.iter().map(|&l| l as usize).collect();
        let found = all.iter().find(|a| a.0 == labels).map(|a| a.1).unwrap();
        prop_assert!((found - top).abs() <= tolerance * (1.0 + top.abs()));
        let k_best = chain.k_best(5, &mut s).unwrap();
        let mut scores: Vec<f64> = all.iter().map(|a| a.1).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        prop_assert_eq!(k_best.len(), scores.len().min(5));
        for (ranked, want) in k_best.iter().zip(&scores) {
            prop_assert!((ranked.score - want).abs() <= tolerance * (1.0 + want.abs()));
        }

        let share = |f: &dyn Fn(&[usize]) -> f64| -> f64 {
            all.iter().map(|a| f(&a.0) * (a.1 - top).exp() / z).sum()
        };
        let mut posterior = chain.posterior(&mut s).unwrap();
        prop_assert!(
            (posterior.log_partition() - top - z.ln()).abs() <= tolerance * (1.0 + top.abs())
        );
        let mut marginals = Vec::new();
        pairs.unary_marginals(&posterior, &mut marginals);
        for i in 0..n * k {
            let want = share(&|y| f64::from(u8::from(y[i / k] == i % k)));
            prop_assert!((marginals[i] - want).abs() <= tolerance);
        }
        let (mut doubles, mut triples) = (vec![0.0; k * k], vec![0.0; k * k * k]);
        pairs.add_transitions(&posterior, &mut doubles);
        pairs.add_triples(&mut posterior, &mut triples);
        for i in 0..k * k {
            let want = share(&|y| y.windows(2).filter(|p| p[0] * k + p[1] == i).count() as f64);
            prop_assert!((doubles[i] - want).abs() <= tolerance * 6.0);
        }
        for i in 0..k * k * k {
            let want = share(&|y| {
                y.windows(3).filter(|p| (p[0] * k + p[1]) * k + p[2] == i).count() as f64
            });
            prop_assert!((triples[i] - want).abs() <= tolerance * 6.0);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn pairs_of_labels_give_order_two(problem in problems(0.3)) {
        problem.check(1e-11)?;
    }

    #[test]
    fn pairs_of_labels_with_extreme_scores(problem in problems(1000.0)) {
        problem.check(1e-8)?;
    }
}
