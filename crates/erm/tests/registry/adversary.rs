//! The certificate's adversary on structures: random requests on random choices of examples, and a minimiser of its own that looks for weights below `objective − gap`.

// The same minimiser as that of `fuzz/src/certificates`, which uses nothing of the toolkit.
#[path = "../../../../fuzz/src/certificates/convex.rs"]
#[allow(dead_code)]
mod convex;

use super::view::View;
use super::{Learn, Max, Output, Outputs};
use convex::{Convex, Kind, Term};
use lineal_erm::structured::{LearnSpec, Loss, Solver};
use lineal_linalg::Rng;
use lineal_model::structure::{Ask, MaxOracle, Structure};
use std::collections::BTreeMap;

/// Requests for each structure; `LINEAL_CASES` asks for more, and `LINEAL_SEED` for others.
const CASES: u64 = 8;
const SEED: u64 = 0x5eed_0000;
/// A value is known to this part of itself.
const KNOWN: f64 = 1e-13;
/// How close a structure's own sums over its outputs come to sums of all outputs one by one, as a part of the objective: those of charts of constituents were seen to be off by 2e-8, all others by less than 1e-9.
const SUMMED: f64 = 1e-7;

fn below(rng: &mut Rng, n: usize) -> usize {
    (rng.next_u64() % n.max(1) as u64) as usize
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[below(rng, from.len())]
}

/// 10 to a power between two.
fn power(rng: &mut Rng, low: f64, high: f64) -> f64 {
    10f64.powf(low + (high - low) * rng.unit())
}

fn request<S: Max>(rng: &mut Rng, view: &View<'_, S>, losses: &[Loss]) -> LearnSpec {
    let loss = pick(rng, losses);
    let mut solvers = vec![Solver::Auto, Solver::Sgd];
    if Structure::<f64>::n_penalised(view) == Structure::<f64>::dim(view) {
        solvers.extend([Solver::Dual; 3]);
    }
    if loss == Loss::Logistic {
        solvers.push(Solver::Lbfgs);
    }
    if MaxOracle::<f64>::is_curved(view) {
        solvers.extend([Solver::Newton; 2]);
    }
    LearnSpec {
        loss,
        solver: pick(rng, &solvers),
        l2: power(rng, -4.0, 1.0),
        passes: pick(rng, &[1, 10, 100]),
        tol: power(rng, -8.0, -1.0),
        max_outputs: pick(rng, &[2, 4, 100]),
        seed: rng.next_u64() % 1000,
        ..LearnSpec::default()
    }
}

/// One to four examples, some of them twice, with weights of all sizes.
fn examples<'a, S: Structure<f64>>(rng: &mut Rng, s: &'a S) -> View<'a, S> {
    let n = 1 + below(rng, 4);
    let one = |rng: &mut Rng| {
        let weight = if below(rng, 3) == 0 { power(rng, -3.0, 2.0) } else { 1.0 };
        (below(rng, s.n_examples()), weight)
    };
    let weighted: Vec<(usize, f64)> = (0..n).map(|_| one(rng)).collect();
    View::new(s, &weighted)
}

/// Everything written out, in the weights that occur; their places, and the problem.
fn written_out<S: Max>(
    view: &View<'_, S>,
    outputs: Outputs<'_, S>,
    spec: &LearnSpec,
) -> (Vec<usize>, Convex) {
    let mut places = BTreeMap::new();
    let mut sparse = Vec::new();
    for (i, &example) in view.examples.iter().enumerate() {
        let (mut gold, mut scratch) = (Output::<S>::default(), Structure::<f64>::scratch(view));
        Structure::<f64>::gold(view, i, &mut gold);
        let of = |y: &Output<S>| {
            let mut d: BTreeMap<usize, f64> = BTreeMap::new();
            Structure::<f64>::each_difference(view, i, y, &gold, &mut scratch, |at, v: f64| {
                *d.entry(at).or_default() += v;
            });
            let cost =
                if spec.loss == Loss::Hinge { MaxOracle::<f64>::cost(view, i, y) } else { 0.0 };
            (d, cost)
        };
        let mut rivals: Vec<_> = outputs(example, Ask::Plain).iter().map(of).collect();
        // The gold output is in the list, once, and the minimiser has it of itself.
        let own = rivals.iter().position(|(d, c)| *c == 0.0 && d.values().all(|&v| v == 0.0));
        own.map(|at| rivals.swap_remove(at));
        rivals.iter().flat_map(|(d, _)| d.keys()).for_each(|&at| {
            places.insert(at, 0);
        });
        sparse.push(rivals);
    }
    places.values_mut().enumerate().for_each(|(k, place)| *place = k);
    let dim = places.len();
    let dense = |(d, cost): (BTreeMap<usize, f64>, f64)| {
        let mut row = vec![0.0; dim];
        d.into_iter().for_each(|(at, v)| row[places[&at]] = v);
        (row, cost)
    };
    let kind = if spec.loss == Loss::Logistic { Kind::LogSum } else { Kind::Max };
    let terms = sparse.into_iter().zip(&view.shares).map(|(rivals, &weight)| Term {
        weight,
        kind,
        outputs: rivals.into_iter().map(dense).collect(),
    });
    let terms = terms.collect();
    let nonnegative = Structure::<f64>::nonnegative(view);
    let n_penalised = Structure::<f64>::n_penalised(view);
    let problem = Convex {
        dim,
        penalised: places.keys().map(|&at| at < n_penalised).collect(),
        l2: spec.l2,
        l1: 0.0,
        nonnegative: places
            .iter()
            .filter(|(at, _)| nonnegative.contains(at))
            .map(|p| *p.1)
            .collect(),
        terms,
    };
    (places.into_keys().collect(), problem)
}

/// No weights that the minimiser finds lie below what a certificate says.
pub fn certificates_withstand<S: Max>(
    s: &S,
    outputs: Outputs<'_, S>,
    learn: Learn<S>,
    losses: &[Loss],
) {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (mut n_proven, mut n_matched) = (0, 0);
    let (cases, seed) = (number("LINEAL_CASES").unwrap_or(CASES), number("LINEAL_SEED"));
    for case in 0..cases {
        let mut rng = Rng::new(seed.unwrap_or(SEED).wrapping_add(case));
        let mut view = examples(&mut rng, s);
        if (0..view.examples.len()).any(|i| !Structure::<f64>::is_whole(&view, i)) {
            continue;
        }
        let spec = request(&mut rng, &view, losses);
        if spec.loss == Loss::Hinge && spec.solver == Solver::Dual && below(&mut rng, 4) == 0 {
            view.slack = 0.3;
        }
        let learnt = learn(&view, &spec, None);
        let (Some(objective), gap) = (learnt.report.objective, learnt.report.gap) else { continue };
        let (places, problem) = written_out(&view, outputs, &spec);
        let stored: Vec<f64> = places.iter().map(|&at| f64::from(learnt.w[at])).collect();
        let own = problem.value(&stored);
        let known = KNOWN * problem.size(&stored);
        let about = || format!("case {case}: {spec:?}, {:?} {:?}", view.examples, view.shares);
        assert!(objective >= own - SUMMED * own.abs() - known, "{objective:e} {own:e} {}", about());
        if view.slack == 0.0 {
            let off = (objective - own).abs();
            assert!(off <= SUMMED * own.abs() + known, "{objective:e} {own:e} {}", about());
        }
        let best = problem.minimise(&[vec![0.0; problem.dim], stored]).0;
        n_matched += u64::from(best <= objective + 1e-9 * objective.abs());
        let Some(gap) = gap else { continue };
        n_proven += 1;
        let excess = objective - gap - best;
        assert!(
            gap >= 0.0 && excess <= KNOWN * best.abs() + 1e-290,
            "objective {objective:e} − gap {gap:e} is above {best:e} by {excess:e}: {}",
            about()
        );
    }
    assert!(
        2 * n_proven >= cases.min(4) && 2 * n_matched >= cases.min(4),
        "{n_proven} {n_matched}"
    );
    println!(
        "{cases} requests, {n_proven} with a gap, {n_matched} in which the minimiser did as well"
    );
}
