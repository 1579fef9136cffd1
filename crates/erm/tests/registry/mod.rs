//! What every structure must do, by enumeration of the outputs of small instances and by comparing learners with each other.

pub mod adversary;
pub mod classes;
pub mod constituents;
pub mod declared;
pub mod graph;
pub mod ranking;
pub mod trees;
pub mod view;

use lineal_erm::structured::{
    LearnReport, LearnSpec, Learnt, Loss, Solver, Update, learn, learn_max,
};
use lineal_linalg::{Rng, Scalar};
use lineal_model::structure::{Ask, MaxOracle, PartVector, Structure, SumOracle};
use lineal_solver::{Schedule, shuffle};
use std::ops::ControlFlow;
use view::View;

/// A structure with an argmax, in both precisions.
pub trait Max: MaxOracle<f32> + MaxOracle<f64, Output = <Self as Structure<f32>>::Output> {}
impl<S: MaxOracle<f32> + MaxOracle<f64, Output = <S as Structure<f32>>::Output>> Max for S {}
/// A structure with sums, in both precisions.
pub trait Sum: SumOracle<f32> + SumOracle<f64, Output = <Self as Structure<f32>>::Output> {}
impl<S: SumOracle<f32> + SumOracle<f64, Output = <S as Structure<f32>>::Output>> Sum for S {}

type Output<S> = <S as Structure<f64>>::Output;
/// The outputs of an example that an [`Ask`] is about, all of them.
pub type Outputs<'a, S> = &'a dyn Fn(usize, Ask) -> Vec<Output<S>>;
/// Learns with whatever the structure has.
pub type Learn<S> = fn(&View<'_, S>, &LearnSpec, Option<&[f32]>) -> Learnt;

pub fn by_sums<S: Sum>(view: &View<'_, S>, spec: &LearnSpec, start: Option<&[f32]>) -> Learnt {
    learn(view, spec, start, &mut |_| ControlFlow::Continue(())).unwrap()
}

pub fn by_argmax<S: Max>(view: &View<'_, S>, spec: &LearnSpec, start: Option<&[f32]>) -> Learnt {
    learn_max(view, spec, start, &mut |_| ControlFlow::Continue(())).unwrap()
}

pub fn log_sum_exp(x: &[f64]) -> f64 {
    let top = max(x);
    top + x.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

fn max(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn n<S: Structure<f64>>(s: &S) -> usize {
    s.n_examples()
}

fn score<S: Structure<f64>>(s: &S, i: usize, theta: &S::Parts, y: &S::Output) -> f64 {
    s.score(i, theta, y)
}

fn all<S: Structure<f64>>(s: &S) -> View<'_, S> {
    let each: Vec<(usize, f64)> = (0..s.n_examples()).map(|i| (i, s.share(i))).collect();
    View::new(s, &each)
}

/// Of either sign, but where the structure needs them ≥ 0.
fn random_weights<S: Structure<f64>, F: Scalar>(s: &S, seed: u64) -> Vec<F> {
    let mut rng = Rng::new(seed);
    let w = (0..s.dim()).map(|_| F::from_f32(rng.unit() as f32 - 0.5));
    let mut w: Vec<F> = w.collect();
    w[s.nonnegative()].iter_mut().for_each(|w| *w = w.abs());
    w
}

/// θ at random weights, loaded.
fn scored<S: Structure<f64>>(s: &S, i: usize, w: &[f64]) -> (S::Parts, S::Scratch) {
    let (mut scratch, mut theta) = (s.scratch(), S::Parts::default());
    s.load(w, 1.0, false, &mut scratch);
    s.scores(i, w, 1.0, &mut scratch, &mut theta);
    (theta, scratch)
}

/// Scores are linear, both ways back to the weights agree, and the argmax is the best of all.
pub fn argmaxes_are_those_of_enumeration<S: Max>(s: &S, outputs: Outputs<'_, S>) {
    for seed in 0..4 {
        let w = random_weights::<_, f64>(s, seed);
        for i in 0..n(s) {
            for ask in [Ask::Plain, Ask::Augmented, Ask::Gold] {
                let (mut theta, mut scratch) = scored(s, i, &w);
                let cost = |y: &Output<S>| match ask {
                    Ask::Augmented => MaxOracle::<f64>::cost(s, i, y),
                    _ => 0.0,
                };
                let of = |y: &Output<S>| score(s, i, &theta, y) + cost(y);
                let best = max(&outputs(i, ask).iter().map(of).collect::<Vec<_>>());
                let mut y = Output::<S>::default();
                let plain = theta.clone();
                let found =
                    MaxOracle::<f64>::argmax(s, i, &mut theta, ask, &mut scratch, &mut y).unwrap();
                let own = score(s, i, &plain, &y) + cost(&y);
                assert!((found.score - best).abs() < 1e-9, "{ask:?} {found:?} {best}");
                assert!((own - best).abs() < 1e-9 && found.upper >= best - 1e-9, "{ask:?} {own}");
            }
            adjoint(s, i, &w, &outputs(i, Ask::Plain));
        }
    }
}

/// ⟨w, Ψ(y) − Ψ(y′)⟩ by differences, by parts, and by scores.
fn adjoint<S: Structure<f64>>(s: &S, i: usize, w: &[f64], outputs: &[S::Output]) {
    let (theta, mut scratch) = scored(s, i, w);
    let first = &outputs[0];
    for y in outputs.iter().skip(1).step_by(3) {
        let mut by_difference = vec![0.0; w.len()];
        s.each_difference(i, y, first, &mut scratch, |at, v| by_difference[at] += v);
        let mut mu = theta.clone();
        mu.scale(0.0);
        s.add_output(i, y, 1.0, &mut mu);
        s.add_output(i, first, -1.0, &mut mu);
        let mut by_parts = vec![0.0; w.len()];
        s.accumulate(i, &mu, &mut scratch, &mut by_parts);
        let mut untouched = by_parts.clone();
        s.each_touched(i, &mu, &mut scratch, |range| untouched[range].fill(0.0));
        assert!(untouched.iter().all(|&v| v == 0.0));
        for (a, b) in by_difference.iter().zip(&by_parts) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
        let lead = s.score(i, &theta, y) - s.score(i, &theta, first);
        let along: f64 = by_parts.iter().zip(w).map(|(a, b)| a * b).sum();
        assert!((lead - along).abs() < 1e-9 && (theta.dot(&mu) - lead).abs() < 1e-9);
    }
}

/// Partition functions and marginals are sums over all outputs.
pub fn sums_are_those_of_enumeration<S: Sum>(s: &S, outputs: Outputs<'_, S>) {
    let w = random_weights::<_, f64>(s, 5);
    for i in 0..n(s) {
        for ask in [Ask::Plain, Ask::Gold] {
            let (theta, mut scratch) = scored(s, i, &w);
            let every = outputs(i, ask);
            let scores: Vec<f64> = every.iter().map(|y| score(s, i, &theta, y)).collect();
            let log_z = log_sum_exp(&scores);
            let found = SumOracle::<f64>::log_partition(s, i, &theta, ask, &mut scratch).unwrap();
            assert!((found - log_z).abs() < 1e-9, "{ask:?} {found} {log_z}");
            let mut mu = theta.clone();
            let found = SumOracle::<f64>::expect(s, i, &theta, ask, &mut scratch, &mut mu).unwrap();
            assert!((found - log_z).abs() < 1e-9, "{ask:?} {found} {log_z}");
            for (y, score) in every.iter().zip(&scores) {
                s.add_output(i, y, -(score - log_z).exp(), &mut mu);
            }
            assert!(mu.dot(&mu) < 1e-12, "{ask:?} {}", mu.dot(&mu));
        }
    }
}

/// Mean loss and penalty by enumeration.
fn objective<S: Max>(s: &View<'_, S>, outputs: Outputs<'_, S>, spec: &LearnSpec, w: &[f64]) -> f64 {
    let loss = |i: usize| {
        let (theta, _) = scored(s, i, w);
        let example = s.examples[i];
        let score = |y: &Output<S>| score(s, i, &theta, y);
        let with_cost = |y: &Output<S>| match spec.loss {
            Loss::Hinge => score(y) + MaxOracle::<f64>::cost(s, i, y),
            _ => score(y),
        };
        let rivals: Vec<f64> = outputs(example, Ask::Plain).iter().map(with_cost).collect();
        let gold: Vec<f64> = outputs(example, Ask::Gold).iter().map(score).collect();
        match spec.loss {
            Loss::Logistic => log_sum_exp(&rivals) - log_sum_exp(&gold),
            _ => max(&rivals) - max(&gold),
        }
    };
    let losses: f64 = (0..s.examples.len()).map(|i| s.shares[i] * loss(i)).sum();
    losses + 0.5 * spec.l2 * w.iter().map(|w| w * w).sum::<f64>()
}

fn wide(w: &[f32]) -> Vec<f64> {
    w.iter().map(|&w| f64::from(w)).collect()
}

/// The figures of weights as they are: a run whose steps are 0.
fn report_at<S: Max>(
    view: &View<'_, S>,
    learn: Learn<S>,
    spec: &LearnSpec,
    w: &[f32],
) -> LearnReport {
    let spec = LearnSpec {
        solver: Solver::Sgd,
        passes: 1,
        rate: Some(0.0),
        schedule: Some(Schedule::Constant),
        average: Some(false),
        ..spec.clone()
    };
    learn(view, &spec, Some(w)).report
}

/// Objectives are those of enumeration; the gradient's norm is that of finite differences.
pub fn gradients_are_those_of_differences<S: Max>(
    s: &S,
    outputs: Outputs<'_, S>,
    learn: Learn<S>,
    losses: &[Loss],
) {
    let view = all(s);
    let w = random_weights::<_, f32>(s, 9);
    for &loss in losses {
        let spec = LearnSpec { loss, l2: 0.05, ..LearnSpec::default() };
        let report = report_at(&view, learn, &spec, &w);
        let at = |w: &[f64]| objective(&view, outputs, &spec, w);
        let w = wide(&w);
        assert!((report.objective.unwrap() - at(&w)).abs() < 1e-9, "{report:?} {}", at(&w));
        let slope = |j: usize| {
            let moved = |by: f64| {
                let mut w = w.clone();
                w[j] += by;
                at(&w)
            };
            (moved(1e-5) - moved(-1e-5)) / 2e-5
        };
        if loss == Loss::Hinge {
            let mut grad: Vec<f64> = w.iter().map(|w| spec.l2 * w).collect();
            for i in 0..Structure::<f64>::n_examples(&view) {
                let share = Structure::<f64>::share(&view, i);
                let own = by_best(&view, i, &w, loss);
                grad.iter_mut().zip(own).for_each(|(g, own)| *g += share * own);
            }
            for (j, &g) in grad.iter().enumerate() {
                assert!((slope(j) - g).abs() < 1e-4 * (1.0 + g.abs()), "{j}: {} {g}", slope(j));
            }
        }
        if loss == Loss::Logistic {
            let norm = (0..w.len()).map(|j| slope(j).powi(2)).sum::<f64>().sqrt();
            assert!((report.grad_norm.unwrap() - norm).abs() < 1e-6 * (1.0 + norm), "{report:?}");
        }
    }
}

fn exact(loss: Loss, solver: Solver) -> LearnSpec {
    LearnSpec { loss, solver, l2: 0.05, tol: 1e-7, passes: 5000, ..LearnSpec::default() }
}

/// Every learner of a convex objective comes to the same optimum, those with a certificate by their gap; what they report is what enumeration says.
pub fn learners_agree<S: Max>(s: &S, outputs: Outputs<'_, S>, learn: Learn<S>, losses: &[Loss]) {
    let view = all(s);
    for &loss in losses {
        let best = learn(&view, &exact(loss, Solver::Dual), None);
        let optimum = best.report.objective.unwrap();
        assert!(best.report.converged && best.report.gap.unwrap() < 1e-6, "{:?}", best.report);
        let counted = objective(&view, outputs, &exact(loss, Solver::Dual), &wide(&best.w));
        assert!((counted - optimum).abs() < 1e-9, "{counted} {optimum}");
        for solver in [Solver::Auto, Solver::Lbfgs] {
            if loss == Loss::Logistic {
                let other = learn(&view, &exact(loss, solver), None).report;
                assert!(other.converged && other.gap.unwrap() < 1e-6, "{other:?}");
                assert!((other.objective.unwrap() - optimum).abs() < 1e-6, "{other:?} {optimum}");
            }
        }
        if MaxOracle::<f64>::is_curved(&view) {
            let newton = learn(&view, &exact(loss, Solver::Newton), None);
            let report = newton.report;
            assert!(report.converged && report.gap.unwrap() < 1e-6, "{report:?}");
            let counted = objective(&view, outputs, &exact(loss, Solver::Newton), &wide(&newton.w));
            assert!((counted - report.objective.unwrap()).abs() < 1e-9, "{counted} {report:?}");
            assert!((counted - optimum).abs() < 1e-6, "{report:?} {optimum}");
        }
        if loss == Loss::Logistic {
            let l1 = LearnSpec { l1: 0.01, ..exact(loss, Solver::Lbfgs) };
            let sparse = learn(&view, &l1, None).report;
            assert!(sparse.converged && sparse.gap.unwrap() < 1e-6, "{sparse:?}");
        }
        let rate = (loss == Loss::Logistic).then_some(0.5);
        for average in [false, true] {
            let average = Some(average);
            let steps = LearnSpec { rate, average, passes: 3000, ..exact(loss, Solver::Sgd) };
            let far = learn(&view, &steps, None).report.objective.unwrap() - optimum;
            assert!((-1e-6..0.03).contains(&far), "{loss:?} {average:?} {far}");
        }
        // From the optimum nothing gets worse.
        for solver in [Solver::Dual, Solver::Auto] {
            let again = learn(&view, &exact(loss, solver), Some(&best.w)).report;
            assert!(again.objective.unwrap() <= optimum + 1e-6, "{solver:?} {again:?}");
        }
        let short = LearnSpec { passes: 1, ..exact(loss, Solver::Dual) };
        let (cold, warm) =
            (learn(&view, &short, None).report, learn(&view, &short, Some(&best.w)).report);
        assert!(warm.objective.unwrap() < cold.objective.unwrap(), "{warm:?} {cold:?}");
    }
}

/// Lists of two outputs, and an argmax that is lazy: the certificate stays true, whatever they cost.
pub fn certificates_are_honest<S: Max>(s: &S, outputs: Outputs<'_, S>, learn: Learn<S>) {
    let mut view = all(s);
    let spec = exact(Loss::Hinge, Solver::Dual);
    let optimum = learn(&view, &spec, None).report.objective.unwrap();
    let capped = LearnSpec { max_outputs: 2, passes: 300, ..spec.clone() };
    for slack in [0.0, 0.3] {
        view.slack = slack;
        let learnt = learn(&view, &capped, None);
        let LearnReport { objective: Some(reported), gap: Some(gap), .. } = learnt.report else {
            panic!("{:?}", learnt.report);
        };
        let own = objective(&view, outputs, &spec, &wide(&learnt.w));
        assert!(own >= optimum - 1e-6 && reported >= own - 1e-9, "{reported} {own} {optimum}");
        assert!(reported - gap <= optimum + 1e-6, "{reported} {gap} {optimum}");
        assert!(gap < reported, "{reported} {gap} {optimum}");
    }
}

/// The same bits on 1, 2 and 3 threads.
pub fn threads_do_not_change_a_bit<S: Max>(s: &S, learn: Learn<S>, losses: &[Loss]) {
    let view = all(s);
    for &loss in losses {
        let curved = MaxOracle::<f64>::is_curved(&view).then_some((Solver::Newton, 1e-6));
        let solvers = [(Solver::Auto, 1e-3), (Solver::Dual, 1e-3), (Solver::Dual, 1e-5)];
        for (solver, tol) in solvers.into_iter().chain(curved) {
            let spec = LearnSpec { tol, passes: 12, ..exact(loss, solver) };
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let bits = |w: &[f32]| w.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
                pool.install(|| bits(&learn(&view, &spec, None).w))
            };
            assert!(on(1) == on(2) && on(1) == on(3), "{loss:?} {solver:?}");
        }
    }
}

/// An example of weight 2 is one that comes twice.
pub fn weights_equal_repeats<S: Max>(s: &S, learn: Learn<S>, losses: &[Loss]) {
    let rest = || (1..n(s)).map(|i| (i, 1.0));
    let weighted: Vec<(usize, f64)> = [(0, 2.0)].into_iter().chain(rest()).collect();
    let repeated: Vec<(usize, f64)> = [(0, 1.0), (0, 1.0)].into_iter().chain(rest()).collect();
    for &loss in losses {
        let spec = exact(loss, Solver::Auto);
        let [a, b] = [&weighted, &repeated].map(|view| learn(&View::new(s, view), &spec, None));
        let difference = a.report.objective.unwrap() - b.report.objective.unwrap();
        assert!(difference.abs() < 1e-6, "{loss:?} {difference}");
    }
}

/// The gradient of an example at `w`, dense; the gold output is known in full.
type Gradient<S> = fn(&View<'_, S>, usize, &[f64], Loss) -> Vec<f64>;

/// By the argmax.
pub fn by_best<S: Max>(s: &View<'_, S>, i: usize, w: &[f64], loss: Loss) -> Vec<f64> {
    let (mut theta, mut scratch) = scored(s, i, w);
    let (mut y, mut gold) = (Output::<S>::default(), Output::<S>::default());
    let ask = if loss == Loss::Hinge { Ask::Augmented } else { Ask::Plain };
    MaxOracle::<f64>::argmax(s, i, &mut theta, ask, &mut scratch, &mut y).unwrap();
    Structure::<f64>::gold(s, i, &mut gold);
    let mut grad = vec![0.0; w.len()];
    s.each_difference(i, &y, &gold, &mut scratch, |at, v: f64| grad[at] += v);
    grad
}

/// By the marginals.
pub fn by_marginals<S: Sum>(s: &View<'_, S>, i: usize, w: &[f64], loss: Loss) -> Vec<f64> {
    if loss != Loss::Logistic {
        return by_best(s, i, w, loss);
    }
    let (theta, mut scratch) = scored(s, i, w);
    let mut mu = theta.clone();
    SumOracle::<f64>::expect(s, i, &theta, Ask::Plain, &mut scratch, &mut mu).unwrap();
    let mut gold = Output::<S>::default();
    Structure::<f64>::gold(s, i, &mut gold);
    s.add_output(i, &gold, -1.0, &mut mu);
    let mut grad = vec![0.0; w.len()];
    s.accumulate(i, &mu, &mut scratch, &mut grad);
    grad
}

/// The mean that a run returns is that of its iterates, step by step.
pub fn averages_are_naive_means<S: Max>(
    s: &S,
    learn: Learn<S>,
    gradient: Gradient<S>,
    losses: &[Loss],
) {
    let view = all(s);
    let n = n(s);
    for &loss in losses {
        for schedule in [Schedule::Constant, Schedule::Inverse, Schedule::Pegasos] {
            // The first step of Pegasos leaves no weights: then all outputs of a perceptron are equally good.
            if loss == Loss::Perceptron && schedule == Schedule::Pegasos {
                continue;
            }
            let (l2, rate, passes) = (0.05, 0.2, 3);
            let mut rng = Rng::new(4);
            let mut order: Vec<u32> = (0..n as u32).collect();
            let mut w = random_weights::<_, f64>(s, 6);
            let start: Vec<f32> = w.iter().map(|&w| w as f32).collect();
            let (mut sum, mut total, mut t) = (vec![0.0; w.len()], 0.0, 0.0);
            for _ in 0..passes {
                shuffle(&mut order, &mut rng);
                for &i in &order {
                    t += 1.0;
                    let eta = schedule.rate(rate, l2, t, t / n as f64);
                    let grad = gradient(&view, i as usize, &w, loss);
                    let times = view.shares[i as usize] * n as f64;
                    let count = if loss == Loss::Perceptron { 1.0 } else { t };
                    w.iter_mut().zip(grad).for_each(|(w, g)| *w -= eta * (l2 * *w + times * g));
                    w[Structure::<f64>::nonnegative(&view)]
                        .iter_mut()
                        .for_each(|w| *w = w.max(0.0));
                    sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += count * *w);
                    total += count;
                }
            }
            for (average, naive) in [(true, sum.iter().map(|s| s / total).collect()), (false, w)] {
                let spec = LearnSpec {
                    loss,
                    l2,
                    passes,
                    rate: Some(rate),
                    schedule: Some(schedule),
                    average: Some(average),
                    solver: Solver::Sgd,
                    seed: 4,
                    ..LearnSpec::default()
                };
                let learnt = learn(&view, &spec, Some(&start));
                let naive: Vec<f64> = naive;
                for (a, b) in learnt.w.iter().zip(&naive) {
                    assert!(
                        (f64::from(*a) - b).abs() < 1e-3 * (1.0 + b.abs()),
                        "{loss:?} {schedule:?} average {average}: {a} {b}"
                    );
                }
            }
        }
    }
}

/// Epochs of the perceptron on one example: going on from the weights of a run is the longer run.
pub fn starting_warm_is_going_on<S: Max>(s: &S, learn: Learn<S>) {
    let view = View::new(s, &[(0, 1.0)]);
    for update in [Update::Gradient, Update::PassiveAggressive { aggressiveness: 0.01 }] {
        let epochs = |passes: usize| LearnSpec {
            loss: Loss::Perceptron,
            update,
            passes,
            average: Some(false),
            ..LearnSpec::default()
        };
        let first = learn(&view, &epochs(2), None);
        let on = learn(&view, &epochs(3), Some(&first.w));
        assert_eq!(on.w, learn(&view, &epochs(5), None).w);
    }
}
