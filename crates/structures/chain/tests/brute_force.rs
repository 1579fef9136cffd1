//! Every oracle against the sum or maximum over all label sequences, up to 6 positions and 5 labels.

use lineal_chain::{
    Chain, Error, Grammar, LabelCost, LabelSets, Ranked, Scratch, Transitions, UNLABELLED,
};
use lineal_linalg::Rng;
use lineal_linalg::Scalar;
use proptest::prelude::*;

/// A small problem with everything that a chain can have.
#[derive(Clone, Debug)]
struct Problem {
    n: usize,
    k: usize,
    unary: Vec<f64>,
    transition: Vec<f64>,
    per_position: Option<Vec<f64>>,
    start: Vec<f64>,
    end: Vec<f64>,
    /// (from, to) pairs, starts, ends
    forbidden: (Vec<bool>, Vec<bool>, Vec<bool>),
    allowed: Option<Vec<bool>>,
}

impl Problem {
    fn score(&self, y: &[usize]) -> f64 {
        let k = self.k;
        let mut score = self.start[y[0]] + self.end[y[self.n - 1]];
        for t in 0..self.n {
            score += self.unary[t * k + y[t]];
            if t > 0 {
                score += self.transition[y[t - 1] * k + y[t]];
                if let Some(per) = &self.per_position {
                    score += per[(t - 1) * k * k + y[t - 1] * k + y[t]];
                }
            }
        }
        score
    }

    /// How far a sequence gets before it breaks a constraint: n if it is legal.
    fn reach(&self, y: &[usize]) -> usize {
        let (pairs, starts, ends) = &self.forbidden;
        for t in 0..self.n {
            let bad = self.allowed.as_ref().is_some_and(|a| !a[t * self.k + y[t]])
                || (t == 0 && starts[y[0]])
                || (t > 0 && pairs[y[t - 1] * self.k + y[t]])
                || (t + 1 == self.n && ends[y[t]]);
            if bad {
                return t;
            }
        }
        self.n
    }

    fn all(&self) -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        for _ in 0..self.n {
            // The last label moves slowest: sequences come in the order of ties.
            all = (0..self.k)
                .flat_map(|y| all.iter().map(move |s: &Vec<usize>| [&s[..], &[y]].concat()))
                .collect();
        }
        all
    }

    fn legal(&self) -> Vec<(Vec<usize>, f64)> {
        self.all()
            .into_iter()
            .filter(|y| self.reach(y) == self.n)
            .map(|y| (y.clone(), self.score(&y)))
            .collect()
    }

    fn grammar(&self) -> Grammar {
        let mut grammar = Grammar::free(self.k);
        let (pairs, starts, ends) = &self.forbidden;
        for a in 0..self.k {
            for b in (0..self.k).filter(|b| pairs[a * self.k + b]) {
                grammar.forbid(a, b);
            }
            if starts[a] {
                grammar.forbid_start(a);
            }
            if ends[a] {
                grammar.forbid_end(a);
            }
        }
        grammar
    }

    fn sets(&self) -> Option<LabelSets> {
        self.allowed.as_ref().map(|allowed| {
            let mut sets = LabelSets::full(self.n, self.k);
            for (i, _) in allowed.iter().enumerate().filter(|(_, ok)| !**ok) {
                sets.remove(i / self.k, i % self.k);
            }
            sets
        })
    }

    fn with_chain<F: Scalar, R>(&self, f: impl FnOnce(Chain<'_, F>) -> R) -> R {
        let cast = |v: &[f64]| v.iter().map(|&v| F::from_f64(v)).collect::<Vec<F>>();
        let mut transitions = Transitions::new(self.grammar());
        transitions.load(&cast(&self.transition), &cast(&self.start), &cast(&self.end));
        if self.n.is_multiple_of(2) {
            transitions.prepare_sums();
        }
        let (unary, sets) = (cast(&self.unary), self.sets());
        let per_position = self.per_position.as_ref().map(|p| cast(p));
        let mut chain = Chain::new(&transitions, &unary);
        if let Some(per_position) = &per_position {
            chain = chain.with_per_position(per_position);
        }
        if let Some(sets) = &sets {
            chain = chain.with_allowed(sets);
        }
        f(chain)
    }
}

/// Up to 6 positions and 5 labels, but no more sequences than asked for. Scores are `scale` times whole numbers from −8 to 8: with scale 1 ties are many and sums exact.
fn problems(scale: f64, max_sequences: usize) -> impl Strategy<Value = Problem> {
    (1usize..=6, 1usize..=5, any::<[bool; 3]>()).prop_flat_map(
        move |(n, k, [constrained, sets, per_position])| {
            let n = (1..=n).rev().find(|&n| k.pow(n as u32) <= max_sequences).unwrap_or(1);
            let score = (-8i32..=8).prop_map(move |s| f64::from(s) * scale);
            let scores = move |len: usize| prop::collection::vec(score.clone(), len);
            let flags = |len: usize, p: f64| {
                prop::collection::vec(prop::bool::weighted(if constrained { p } else { 0.0 }), len)
            };
            let allowed = prop::collection::vec(prop::bool::weighted(0.7), n * k);
            (
                (scores(n * k), scores(k * k), scores(k), scores(k), scores((n - 1) * k * k)),
                (flags(k * k, 0.3), flags(k, 0.3), flags(k, 0.3)),
                allowed,
            )
                .prop_map(
                    move |((unary, transition, start, end, per), forbidden, allowed)| Problem {
                        n,
                        k,
                        unary,
                        transition,
                        per_position: per_position.then_some(per),
                        start,
                        end,
                        forbidden,
                        allowed: sets.then_some(allowed),
                    },
                )
        },
    )
}

fn as_u32(y: &[usize]) -> Vec<u32> {
    y.iter().map(|&y| y as u32).collect()
}

/// Best first, ties in the order of [`Problem::all`].
fn ranked(mut all: Vec<(Vec<usize>, f64)>) -> Vec<(Vec<usize>, f64)> {
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

/// The error that every oracle must give, if there is no legal sequence.
fn infeasible(problem: &Problem) -> Option<Error> {
    if problem.legal().is_empty() {
        let position = problem.all().iter().map(|y| problem.reach(y)).max().unwrap();
        return Some(Error::Infeasible { position });
    }
    None
}

fn log_sum_exp(scores: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = scores.clone().fold(f64::NEG_INFINITY, f64::max);
    top + scores.map(|s| (s - top).exp()).sum::<f64>().ln()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}

fn check_max<F: Scalar>(problem: &Problem) -> Result<(), TestCaseError> {
    problem.with_chain::<F, _>(|chain| {
        let mut s = Scratch::new();
        let mut labels = Vec::new();
        let best = chain.viterbi(&mut s, &mut labels);
        let k_best = chain.k_best(7, &mut s);
        if let Some(error) = infeasible(problem) {
            prop_assert_eq!(best, Err(error.clone()));
            prop_assert_eq!(k_best, Err(error));
            return Ok(());
        }
        let all = ranked(problem.legal());
        prop_assert_eq!(best, Ok(all[0].1));
        prop_assert_eq!(labels, as_u32(&all[0].0));
        let want: Vec<Ranked> = all
            .iter()
            .take(7)
            .map(|(y, score)| Ranked { labels: as_u32(y), score: *score })
            .collect();
        prop_assert_eq!(k_best.unwrap(), want);
        Ok(())
    })
}

fn check_augmented<F: Scalar>(problem: &Problem, gold: &[usize]) -> Result<(), TestCaseError> {
    let k = problem.k;
    let delta =
        |y: usize, other: usize| ((y * 7 + other * 3) % 5) as f64 * f64::from(u8::from(y != other));
    let gold: Vec<u32> = (0..problem.n)
        .map(|t| if gold[t] == 9 { UNLABELLED } else { (gold[t] % k) as u32 })
        .collect();
    let cost_of = |y: &[usize]| -> f64 {
        (0..problem.n)
            .filter(|&t| gold[t] != UNLABELLED)
            .map(|t| delta(gold[t] as usize, y[t]))
            .sum()
    };
    let matrix = (0..k * k).map(|i| F::from_f64(delta(i / k, i % k))).collect();
    let cost = LabelCost::new(k, matrix).unwrap();
    problem.with_chain::<F, _>(|chain| {
        let mut labels = Vec::new();
        let best = chain.viterbi_augmented(&gold, &cost, &mut Scratch::new(), &mut labels);
        if let Some(error) = infeasible(problem) {
            prop_assert_eq!(best, Err(error));
            return Ok(());
        }
        let mut all = problem.legal();
        for (y, score) in &mut all {
            *score += cost_of(y);
        }
        let all = ranked(all);
        prop_assert_eq!(best, Ok(all[0].1));
        prop_assert_eq!(&labels, &as_u32(&all[0].0));
        prop_assert_eq!(cost.cost(&gold, &labels), cost_of(&all[0].0));
        Ok(())
    })
}

fn check_sums<F: Scalar>(problem: &Problem, tolerance: f64) -> Result<(), TestCaseError> {
    let (n, k) = (problem.n, problem.k);
    problem.with_chain::<F, _>(|chain| {
        let mut s = Scratch::new();
        let log_z = chain.log_partition(&mut s);
        if let Some(error) = infeasible(problem) {
            prop_assert_eq!(log_z, Err(error.clone()));
            prop_assert_eq!(chain.posterior(&mut s).err(), Some(error));
            return Ok(());
        }
        let log_z = log_z.unwrap();
        let all = problem.legal();
        let want = log_sum_exp(all.iter().map(|(_, score)| *score));
        prop_assert!(close(log_z, want, tolerance), "log Z {} {}", log_z, want);

        let share: Vec<f64> = all.iter().map(|(_, score)| (score - want).exp()).collect();
        let sum_where = |f: &dyn Fn(&[usize]) -> bool| -> f64 {
            all.iter().zip(&share).filter(|((y, _), _)| f(y)).map(|(_, p)| p).sum()
        };
        let mut posterior = chain.posterior(&mut s).unwrap();
        prop_assert!(close(posterior.log_partition(), want, tolerance));
        for t in 0..n {
            for y in 0..k {
                let (p, want) = (posterior.unary()[t * k + y].to_f64(), sum_where(&|s| s[t] == y));
                prop_assert!((p - want).abs() <= tolerance, "p(y{}={}) {} {}", t, y, p, want);
            }
        }
        let mut pairs = vec![F::ONE; (n - 1) * k * k];
        posterior.pairwise(&mut pairs);
        let mut counts = vec![F::ONE; k * k];
        posterior.add_transitions(&mut counts);
        for a in 0..k {
            for b in 0..k {
                let mut total = 1.0;
                for t in 1..n {
                    let want = sum_where(&|s| s[t - 1] == a && s[t] == b);
                    let p = pairs[(t - 1) * k * k + a * k + b].to_f64();
                    prop_assert!((p - want).abs() <= tolerance, "pair {} {}", p, want);
                    total += want;
                }
                let count = counts[a * k + b].to_f64();
                prop_assert!(close(count, total, tolerance), "count {} {}", count, total);
            }
        }
        for (y, p) in all.iter().map(|(y, _)| y).zip(&share).step_by(17) {
            let got = posterior.probability(&as_u32(y));
            prop_assert!((got - p).abs() <= tolerance * 10.0, "{} {}", got, p);
            for (i, j) in [(0, n), (n / 2, n), (0, 1), (n / 3, n / 2)] {
                let want = sum_where(&|s| s[i..j] == y[i..j]);
                let got = posterior.span(i, &as_u32(&y[i..j]));
                prop_assert!((got - want).abs() <= tolerance, "span {} {}", got, want);
            }
        }
        let (i, j) = (n / 3, n);
        let mut sets = LabelSets::full(j - i, k);
        for t in 0..j - i {
            sets.remove(t, (t * 3 + 1) % k);
        }
        let want = sum_where(&|s| (i..j).all(|t| sets.contains(t - i, s[t])));
        let got = posterior.span_in(i, &sets);
        prop_assert!((got - want).abs() <= tolerance, "sets {} {}", got, want);

        // The most labels expected to be right.
        let mut labels = Vec::new();
        let expected = posterior.decode(&mut labels);
        let right =
            |y: &[usize]| -> f64 { (0..n).map(|t| posterior.unary()[t * k + y[t]].to_f64()).sum() };
        let want = if problem.grammar().has_free_transitions() {
            let all = problem.all();
            all.iter().map(|y| right(y)).fold(0.0, f64::max)
        } else {
            all.iter().map(|(y, _)| right(y)).fold(0.0, f64::max)
        };
        prop_assert!(close(expected, want, tolerance), "decode {} {}", expected, want);
        prop_assert_eq!(
            chain
                .violation(&labels)
                .filter(|_| problem.grammar().has_free_transitions().eq(&false)),
            None
        );

        let mut rng = Rng::new(5);
        for _ in 0..5 {
            posterior.sample(&mut rng, &mut labels);
            prop_assert_eq!(chain.violation(&labels), None);
        }
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn argmax_and_k_best_with_ties(problem in problems(1.0, 15_625)) {
        check_max::<f64>(&problem)?;
        check_max::<f32>(&problem)?;
    }

    #[test]
    fn argmax_and_k_best_of_huge_scores(problem in problems(1024.0, 1100)) {
        check_max::<f64>(&problem)?;
        check_max::<f32>(&problem)?;
    }

    #[test]
    fn augmented_argmax(problem in problems(1.0, 15_625), gold in prop::collection::vec(0usize..10, 6)) {
        check_augmented::<f64>(&problem, &gold)?;
        check_augmented::<f32>(&problem, &gold)?;
    }

    #[test]
    fn sums_of_moderate_scores(problem in problems(0.3, 1100)) {
        check_sums::<f64>(&problem, 1e-12)?;
        check_sums::<f32>(&problem, 3e-6)?;
    }

    #[test]
    fn sums_of_sharp_scores(problem in problems(8.0, 1100)) {
        check_sums::<f64>(&problem, 1e-11)?;
        check_sums::<f32>(&problem, 3e-5)?;
    }

    #[test]
    fn sums_of_extreme_scores(problem in problems(1250.0, 1100)) {
        check_sums::<f64>(&problem, 1e-9)?;
        check_sums::<f32>(&problem, 1e-6)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sums_of_all_sequences(problem in problems(1.0, 15_625)) {
        check_sums::<f64>(&problem, 1e-12)?;
        check_sums::<f32>(&problem, 3e-6)?;
    }
}
