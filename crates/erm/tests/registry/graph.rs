//! Grids and graphs of up to six nodes for the registry, with two and three labels, and what learners do with weights that must not be negative.

use lineal_erm::structured::{LearnSpec, Loss, Solver, Update, learn_max};
use lineal_graph::{
    Example, GraphModel, Input, Labelling, LabellingOptions, Neighbours, Normalise, Topology,
};
use lineal_linalg::{Dense, Matrix, Rng};
use lineal_model::structure::{Ask, MaxOracle, Structure};
use std::ops::ControlFlow;

pub type Graphs<'a> = Labelling<'a, Matrix>;

const N_FEATURES: usize = 3;

/// Features of nodes that say something about their labels, and edges of which the second feature is small where labels differ.
fn with(
    topologies: &[Topology],
    n_labels: usize,
    contrary: bool,
    normalise: Normalise,
    run: &mut dyn FnMut(&Graphs<'_>),
) {
    let mut rng = Rng::new(5 + n_labels as u64);
    let made: Vec<_> = topologies
        .iter()
        .map(|topology| {
            let n = topology.n_nodes();
            let first = (rng.next_u64() % n_labels as u64) as u8;
            let gold: Vec<u8> = (0..n)
                .map(|node| {
                    (first + u8::from(node > n / 2) + u8::from(rng.unit() < 0.15)) % n_labels as u8
                })
                .collect();
            let mut features = |node: usize| -> [f32; N_FEATURES] {
                std::array::from_fn(|at| {
                    let hint = if at == usize::from(gold[node]) { 0.5 } else { 0.0 };
                    hint + rng.unit() as f32 - 0.5
                })
            };
            let x: Vec<f32> = (0..n).flat_map(&mut features).collect();
            let mut edges = Vec::new();
            topology.each_edge(|edge| {
                let same = (gold[edge.from] == gold[edge.to]) != contrary;
                edges.extend([1.0, if same { 0.8 } else { 0.2 } * rng.unit() as f32]);
            });
            (Matrix::Dense(Dense::new(n, N_FEATURES, x).unwrap()), edges, gold)
        })
        .collect();
    let examples = made.iter().zip(topologies).map(|((nodes, edges, gold), topology)| Example {
        input: Input { topology, nodes, edges },
        gold,
        weight: 1.0,
    });
    let model = GraphModel { n_labels, n_features: N_FEATURES, n_edge_features: 2, bias: 1.0 };
    let class_weights = Some((0..n_labels).map(|label| 1.0 + 0.5 * label as f64).collect());
    let options = LabellingOptions { class_weights, normalise, ..LabellingOptions::default() };
    run(&Labelling::new(model, examples.collect(), options).unwrap());
}

pub fn with_grids(n_labels: usize, run: &mut dyn FnMut(&Graphs<'_>)) {
    let grid = |width, height, eight| {
        let neighbours = if eight { Neighbours::Eight } else { Neighbours::Four };
        Topology::grid(width, height, neighbours).unwrap()
    };
    let grids = [
        grid(3, 2, false),
        grid(2, 2, true),
        grid(1, 5, false),
        grid(3, 2, true),
        grid(5, 1, true),
        grid(1, 1, false),
        grid(2, 3, true),
        grid(2, 2, false),
    ];
    with(&grids, n_labels, false, Normalise::Nodes, run);
}

pub fn with_graphs(n_labels: usize, run: &mut dyn FnMut(&Graphs<'_>)) {
    let graph = |n, edges: &[(u32, u32)]| Topology::graph(n, edges.to_vec()).unwrap();
    let graphs = [
        graph(4, &[(0, 1), (1, 2), (2, 0), (3, 1)]),
        graph(5, &[(4, 0), (4, 1), (4, 2), (4, 3)]),
        graph(3, &[(0, 1), (0, 1), (1, 2)]),
        graph(4, &[]),
        graph(5, &[(0, 2), (2, 4), (4, 1), (1, 3), (3, 0)]),
        graph(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
    ];
    with(&graphs, n_labels, false, Normalise::Nothing, run);
}

/// All labellings, or the gold one.
pub fn labellings(s: &Graphs<'_>, i: usize, ask: Ask) -> Vec<Vec<u8>> {
    let mut gold = Vec::new();
    Structure::<f64>::gold(s, i, &mut gold);
    if ask == Ask::Gold {
        return vec![gold];
    }
    let k = s.model().n_labels;
    let digit = |number: usize, node: usize| (number / k.pow(node as u32) % k) as u8;
    let labelling = |number| (0..gold.len()).map(|node| digit(number, node)).collect();
    (0..k.pow(gold.len() as u32)).map(labelling).collect()
}

/// Where edges with a large feature connect different labels, learners would like their weights negative.
fn with_contrary(n_labels: usize, run: &mut dyn FnMut(&Graphs<'_>)) {
    let grid = || Topology::grid(3, 2, Neighbours::Four).unwrap();
    with(&[grid(), grid(), grid()], n_labels, true, Normalise::Nodes, run);
}

#[test]
fn every_learner_keeps_edges_above_zero() {
    for n_labels in [2, 3] {
        with_contrary(n_labels, &mut |s| {
            let base =
                LearnSpec { loss: Loss::Hinge, l2: 0.01, passes: 30, ..LearnSpec::default() };
            let passive = Update::PassiveAggressive { aggressiveness: 0.5 };
            let specs = [
                LearnSpec { loss: Loss::Perceptron, l2: 0.0, ..base.clone() },
                LearnSpec { loss: Loss::Perceptron, l2: 0.0, average: Some(false), ..base.clone() },
                LearnSpec { update: passive, l2: 0.0, ..base.clone() },
                LearnSpec { solver: Solver::Sgd, ..base.clone() },
                LearnSpec { solver: Solver::Sgd, average: Some(false), ..base.clone() },
                LearnSpec { solver: Solver::Dual, ..base.clone() },
                LearnSpec { solver: Solver::Dual, tol: 1e-6, ..base },
            ];
            let range = Structure::<f32>::nonnegative(s);
            let start = vec![-1.0f32; Structure::<f32>::dim(s)];
            for spec in specs {
                for start in [None, Some(&start[..])] {
                    let learnt = learn_max(s, &spec, start, &mut |pass| {
                        assert!(pass.weights()[range.clone()].iter().all(|&w| w >= 0.0));
                        ControlFlow::Continue(())
                    });
                    let w = learnt.unwrap().w;
                    assert!(w[range.clone()].iter().all(|&w| w >= 0.0), "{spec:?} {w:?}");
                }
            }
        });
    }
}

/// P at w by the argmax, in f64.
fn primal(s: &Graphs<'_>, l2: f64, w: &[f64], grad: &mut [f64]) -> f64 {
    grad.iter_mut().zip(w).for_each(|(g, w)| *g = l2 * w);
    let mut loss = 0.5 * l2 * w.iter().map(|w| w * w).sum::<f64>();
    let (mut scratch, mut theta, mut y, mut gold) =
        (Structure::<f64>::scratch(s), Vec::new(), Vec::new(), Vec::new());
    for i in 0..Structure::<f64>::n_examples(s) {
        let share = Structure::<f64>::share(s, i);
        s.scores(i, w, 1.0, &mut scratch, &mut theta);
        Structure::<f64>::gold(s, i, &mut gold);
        let at_gold = s.score(i, &theta, &gold);
        let found = s.argmax(i, &mut theta, Ask::Augmented, &mut scratch, &mut y).unwrap();
        loss += share * (found.score - at_gold);
        s.each_difference(i, &y, &gold, &mut scratch, |at, v: f64| grad[at] += share * v);
    }
    loss
}

#[test]
fn the_constrained_optimum_is_that_of_projected_subgradients() {
    for n_labels in [2, 3] {
        with_contrary(n_labels, &mut |s| {
            let l2 = 0.05;
            let spec = LearnSpec {
                loss: Loss::Hinge,
                solver: Solver::Dual,
                l2,
                tol: 1e-7,
                passes: 5000,
                ..LearnSpec::default()
            };
            let learnt = learn_max(s, &spec, None, &mut |_| ControlFlow::Continue(())).unwrap();
            let (objective, gap) = (learnt.report.objective.unwrap(), learnt.report.gap.unwrap());
            assert!(learnt.report.converged && gap < 1e-6, "{:?}", learnt.report);
            let range = Structure::<f64>::nonnegative(s);
            // The constraint binds: otherwise this test would show nothing.
            assert!(learnt.w[range.clone()].contains(&0.0), "{:?}", learnt.w);
            let dim = Structure::<f64>::dim(s);
            let (mut w, mut grad, mut best) = (vec![0.0; dim], vec![0.0; dim], f64::INFINITY);
            for t in 1..=40_000 {
                best = best.min(primal(s, l2, &w, &mut grad));
                let rate = 1.0 / (l2 * (t as f64 + 10.0));
                w.iter_mut().zip(&grad).for_each(|(w, g)| *w -= rate * g);
                w[range.clone()].iter_mut().for_each(|w| *w = w.max(0.0));
            }
            // No point beats the lower bound, and a long run comes near it.
            assert!(best >= objective - gap - 1e-7, "{best} {objective} {gap}");
            assert!(best <= objective + 2e-3, "{best} {objective}");
        });
    }
}

#[test]
fn a_logistic_loss_is_refused() {
    with_contrary(2, &mut |s| {
        let error = learn_max(s, &LearnSpec::default(), None, &mut |_| ControlFlow::Continue(()))
            .unwrap_err();
        assert!(error.to_string().contains("choose the loss hinge or perceptron"), "{error}");
    });
}

#[test]
fn nodes_without_labels_cost_nothing_and_are_completed() {
    with_grids(3, &mut |s| {
        let golds: Vec<Vec<u8>> = s
            .examples()
            .iter()
            .map(|example| {
                let mut gold = example.gold.to_vec();
                gold[0] = lineal_graph::VOID;
                gold
            })
            .collect();
        let partial =
            s.examples().iter().zip(&golds).map(|(example, gold)| Example { gold, ..*example });
        let s = Labelling::new(*s.model(), partial.collect(), LabellingOptions::default()).unwrap();
        let mut rng = Rng::new(3);
        let mut w: Vec<f64> = (0..Structure::<f64>::dim(&s)).map(|_| rng.unit() - 0.5).collect();
        w[Structure::<f64>::nonnegative(&s)].iter_mut().for_each(|w| *w = w.abs());
        for (i, known) in golds.iter().enumerate() {
            let (mut scratch, mut theta, mut y) =
                (Structure::<f64>::scratch(&s), Vec::new(), Vec::new());
            assert!(!Structure::<f64>::is_whole(&s, i));
            s.scores(i, &w, 1.0, &mut scratch, &mut theta);
            let found = s.argmax(i, &mut theta, Ask::Gold, &mut scratch, &mut y).unwrap();
            let fits = |y: &Vec<u8>| (1..y.len()).all(|node| y[node] == known[node]);
            let all = labellings(&s, i, Ask::Plain);
            let best = all
                .iter()
                .filter(|y| fits(y))
                .map(|y| s.score(i, &theta, y))
                .fold(f64::NEG_INFINITY, f64::max);
            assert!(fits(&y) && (found.score - best).abs() < 1e-12, "{found:?} {best}");
            assert_eq!(MaxOracle::<f64>::cost(&s, i, &y), 0.0);
        }
    });
}
