//! The registry of structures: each one's oracles by enumeration, and every learner on each.

#[path = "../examples/matching.rs"]
mod matching_example;
mod registry;

use lineal_chain::{ChainModel, ChainOptions, ChainProblem, Grammar, Sentences};
use lineal_constituents::Branching;
use lineal_constituents::problem::{Constituents, SpanClassifier};
use lineal_declared::{Problem, Rivals};
use lineal_dependencies::problem::{Heads, Relations, TreeKind, Trees};
use lineal_erm::structured::{LearnSpec, Loss, Solver, learn_max};
use lineal_erm::{Erm, Penalty, Rows};
use lineal_linalg::{Dense, Matrix, Rng, SparseRows};
use lineal_loss::{Hinge, Logistic};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::Classes;
use lineal_model::structure::Ask;
use lineal_model::{Bias, Linear};
use lineal_ranking::{Decisions, Gain, Orders, Ranking};
use registry::classes::OneHot;
use registry::constituents;
use registry::declared;
use registry::graph::{self, Graphs};
use registry::ranking;
use registry::trees;
use registry::{by_argmax, by_best, by_marginals, by_sums};
use std::ops::ControlFlow;

/// A module of tests for each structure: how to make a small instance, all its outputs by question, and whether it has sums.
macro_rules! registry {
    ($($name:ident: $with:ident, $make:expr, $outputs:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn oracles_are_those_of_enumeration() {
                $make(&mut |s| {
                    registry::argmaxes_are_those_of_enumeration(s, &|i, ask| $outputs(s, i, ask));
                    registry!(@sums $with s, $outputs);
                });
            }

            #[test]
            fn learners_agree_and_certificates_are_honest() {
                $make(&mut |s| {
                    let outputs = |i, ask| $outputs(s, i, ask);
                    let (learn, losses) = (registry!(@learn $with), registry!(@losses $with));
                    registry::gradients_are_those_of_differences(s, &outputs, learn, losses);
                    registry::learners_agree(s, &outputs, learn, losses);
                    registry::certificates_are_honest(s, &outputs, learn);
                    registry::weights_equal_repeats(s, learn, losses);
                });
            }

            #[test]
            fn runs_are_what_they_say() {
                $make(&mut |s| {
                    let (learn, losses) = (registry!(@learn $with), registry!(@losses $with));
                    registry::threads_do_not_change_a_bit(s, learn, losses);
                    registry::starting_warm_is_going_on(s, learn);
                    let losses = [losses, &[Loss::Perceptron]].concat();
                    registry::averages_are_naive_means(s, learn, registry!(@gradient $with), &losses);
                });
            }
        }
    )*};
    (@sums sum $s:ident, $outputs:expr) => {
        registry::sums_are_those_of_enumeration($s, &|i, ask| $outputs($s, i, ask))
    };
    (@sums max $s:ident, $outputs:expr) => {};
    (@learn sum) => { by_sums };
    (@learn max) => { by_argmax };
    (@losses sum) => { &[Loss::Hinge, Loss::Logistic][..] };
    (@losses max) => { &[Loss::Hinge][..] };
    (@gradient sum) => { by_marginals };
    (@gradient max) => { by_best };
}

registry! {
    chain: sum, |run: &mut dyn FnMut(&ChainProblem<'_>)| with_chain(false, false, run), sequences;
    chain_of_order_2: sum, |run: &mut dyn FnMut(&ChainProblem<'_>)| with_chain(true, false, run), sequences;
    chain_with_constraints: sum, |run: &mut dyn FnMut(&ChainProblem<'_>)| with_chain(false, true, run), legal_sequences;
    classes: sum, |run: &mut dyn FnMut(&OneHot)| run(&OneHot::new(12, 4, 5, 3)), all_classes;
    projective_trees: sum, |run: &mut dyn FnMut(&Trees<'_>)| trees::with_trees(TreeKind::Projective, 0, run), trees::trees;
    trees_of_order_2: sum, |run: &mut dyn FnMut(&Trees<'_>)| trees::with_trees(TreeKind::SecondOrder, 0, run), trees::trees;
    crossing_trees: sum, |run: &mut dyn FnMut(&Trees<'_>)| trees::with_trees(TreeKind::NonProjective, 0, run), trees::trees;
    labelled_trees: sum, |run: &mut dyn FnMut(&Trees<'_>)| trees::with_trees(TreeKind::Projective, 2, run), trees::trees;
    heads: sum, |run: &mut dyn FnMut(&Heads<'_>)| trees::with_heads(run), trees::heads;
    relations: sum, |run: &mut dyn FnMut(&Relations<'_>)| trees::with_relations(run), trees::relations;
    ranking_pairs: sum, |run: &mut dyn FnMut(&Ranking<'_, Decisions>)| ranking::with_decisions(Decisions::Pairs, run), ranking::pairs;
    ranking_first: sum, |run: &mut dyn FnMut(&Ranking<'_, Decisions>)| ranking::with_decisions(Decisions::Softmax(Gain::Exponential), run), ranking::documents;
    ranking_plackett_luce: sum, |run: &mut dyn FnMut(&Ranking<'_, Decisions>)| ranking::with_decisions(Decisions::PlackettLuce, run), ranking::choices;
    ranking_ndcg: max, |run: &mut dyn FnMut(&Ranking<'_, Orders>)| ranking::with_orders(ranking::NDCG, run), ranking::by_ndcg;
    ranking_precision: max, |run: &mut dyn FnMut(&Ranking<'_, Orders>)| ranking::with_orders(ranking::PRECISION, run), ranking::by_precision;
    constituency_trees: sum, |run: &mut dyn FnMut(&Constituents<'_>)| constituents::with_constituents(0, 1, Branching::Right, run), constituents::derivations;
    refined_constituency_trees: sum, |run: &mut dyn FnMut(&Constituents<'_>)| constituents::with_constituents(1, 2, Branching::Left, run), constituents::derivations;
    constituent_spans: sum, |run: &mut dyn FnMut(&SpanClassifier<'_>)| constituents::with_spans(run), constituents::picks;
    grid_of_two_labels: max, |run: &mut dyn FnMut(&Graphs<'_>)| graph::with_grids(2, run), graph::labellings;
    grid_of_three_labels: max, |run: &mut dyn FnMut(&Graphs<'_>)| graph::with_grids(3, run), graph::labellings;
    graph_of_two_labels: max, |run: &mut dyn FnMut(&Graphs<'_>)| graph::with_graphs(2, run), graph::labellings;
    graph_of_three_labels: max, |run: &mut dyn FnMut(&Graphs<'_>)| graph::with_graphs(3, run), graph::labellings;
    declared_legally: max, |run: &mut dyn FnMut(&Problem<'_>)| declared::with_declared(Rivals::Legal, run), declared::legal;
    declared_freely: max, |run: &mut dyn FnMut(&Problem<'_>)| declared::with_declared(Rivals::Free, run), declared::every;
    matching: max, |run: &mut dyn FnMut(&matching_example::Matching)| run(&matching_example::example(8, 4, 4, 3)), permutations;
}

const K: usize = 3;

/// Labels 1 and 2 never stand side by side with themselves.
fn strict() -> Grammar {
    let mut grammar = Grammar::free(K);
    (1..K).for_each(|label| grammar.forbid(label, label));
    grammar
}

/// A few sentences of up to four positions in which attributes say something about labels.
fn with_chain(triples: bool, constrained: bool, run: &mut dyn FnMut(&ChainProblem<'_>)) {
    let mut rng = Rng::new(7);
    let (mut unary, mut labels, mut ends) = (SparseRows::new(), Vec::<u32>::new(), Vec::new());
    for _ in 0..8 {
        let start = labels.len();
        for _ in 0..1 + rng.next_u64() % 4 {
            let mut label = (rng.next_u64() % K as u64) as u32;
            if labels[start..].last() == Some(&label) {
                label = 0;
            }
            let hint = if rng.unit() < 0.7 { u64::from(label) } else { rng.next_u64() % K as u64 };
            unary.push(hint as u32);
            unary.push_value((K as u64 + rng.next_u64() % 4) as u32, 0.5 + rng.unit() as f32);
            unary.end_row();
            labels.push(label);
        }
        ends.push(labels.len());
    }
    let model = ChainModel {
        n_labels: K,
        n_unary: K + 4,
        n_pairs: 0,
        transitions: true,
        ends: true,
        triples,
    };
    let sentences =
        Sentences { unary: &unary, pairs: None, labels: &labels, ends: &ends, weights: None };
    let grammar = constrained.then(strict);
    let options = ChainOptions { grammar, legal_rivals: constrained, ..ChainOptions::default() };
    run(&ChainProblem::new(model, sentences, &options, None).unwrap());
}

/// All label sequences, or the gold one.
fn sequences(s: &ChainProblem<'_>, i: usize, ask: Ask) -> Vec<Vec<u32>> {
    use lineal_model::structure::Structure;
    let mut gold = Vec::new();
    Structure::<f64>::gold(s, i, &mut gold);
    if ask == Ask::Gold {
        return vec![gold];
    }
    let digit = |number: usize, t: usize| (number / K.pow(t as u32) % K) as u32;
    let sequence = |number| (0..gold.len()).map(|t| digit(number, t)).collect();
    (0..K.pow(gold.len() as u32)).map(sequence).collect()
}

fn legal_sequences(s: &ChainProblem<'_>, i: usize, ask: Ask) -> Vec<Vec<u32>> {
    let grammar = strict();
    let legal = |y: &Vec<u32>| y.windows(2).all(|p| grammar.permits(p[0] as usize, p[1] as usize));
    sequences(s, i, ask).into_iter().filter(legal).collect()
}

fn all_classes(s: &OneHot, i: usize, ask: Ask) -> Vec<u32> {
    if ask == Ask::Gold { vec![s.y[i]] } else { (0..s.n_classes as u32).collect() }
}

fn permutations(s: &matching_example::Matching, i: usize, ask: Ask) -> Vec<Vec<u32>> {
    let gold = &s.lists[i].gold;
    if ask == Ask::Gold {
        return vec![gold.clone()];
    }
    let mut all = vec![Vec::new()];
    for _ in 0..gold.len() {
        let longer = |y: &Vec<u32>| {
            let free = (0..gold.len() as u32).filter(|r| !y.contains(r));
            free.map(|r| [&y[..], &[r]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn classes_are_the_flat_model() {
    let s = OneHot::new(30, 4, 5, 1);
    let x = Matrix::Dense(Dense::new(30, 5, s.x.clone()).unwrap());
    let flat = Linear::new(5, Classes(4), Bias::None);
    let penalty = Penalty { l2: 0.05, l1: 0.0 };
    let rows = || Rows::new(&x, &s.y, None);
    for loss in [Loss::Logistic, Loss::Hinge] {
        let spec = LearnSpec { loss, l2: 0.05, tol: 1e-8, passes: 5000, ..LearnSpec::default() };
        let learnt =
            lineal_erm::structured::learn(&s, &spec, None, &mut |_| ControlFlow::Continue(()))
                .unwrap();
        let ours = learnt.report.objective.unwrap();
        let w: Vec<f64> = learnt.w.iter().map(|&w| f64::from(w)).collect();
        let (at_ours, optimum) = match loss {
            Loss::Logistic => {
                let mut best = Erm::new(&flat, &Logistic(NoCost), rows(), penalty);
                let at = best.objective(&w);
                let mut flat_w = vec![0.0f64; 20];
                let stop = lineal_solver::Stop { tol: 1e-9, max_passes: 2000 };
                let config = lineal_solver::Lbfgs { stop, ..lineal_solver::Lbfgs::default() };
                lineal_solver::lbfgs(&config, &mut best, &mut flat_w, &mut lineal_solver::silent())
                    .unwrap();
                (at, best.objective(&flat_w))
            }
            _ => {
                let mut erm = Erm::new(&flat, &Hinge(ZeroOne), rows(), penalty);
                let (mut mu, mut flat_w) = (vec![0.0f64; 120], vec![0.0f64; 20]);
                let stop = lineal_solver::Stop { tol: 1e-8, max_passes: 20000 };
                let config = lineal_solver::Dual { stop, ..lineal_solver::Dual::default() };
                let mut dually = lineal_erm::Dually::new(&mut erm);
                lineal_solver::dual(
                    &config,
                    &mut dually,
                    &mut mu,
                    &mut flat_w,
                    &mut lineal_solver::silent(),
                );
                drop(dually);
                (erm.objective(&w), erm.objective(&flat_w))
            }
        };
        assert!((ours - at_ours).abs() < 1e-9, "{loss:?} {ours} {at_ours}");
        assert!((ours - optimum).abs() < 1e-6, "{loss:?} {ours} {optimum}");
    }
}

#[test]
fn a_logistic_loss_without_sums_is_refused_with_a_remedy() {
    let s = matching_example::example(3, 3, 2, 1);
    for solver in [Solver::Auto, Solver::Lbfgs, Solver::Sgd] {
        let spec = LearnSpec { solver, ..LearnSpec::default() };
        let error = learn_max(&s, &spec, None, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(error.to_string().contains("choose the loss hinge or perceptron"), "{error}");
    }
}

#[test]
fn the_dual_reports_its_gap_as_a_gap_and_no_loss() {
    let s = matching_example::example(10, 4, 3, 1);
    let spec = LearnSpec { loss: Loss::Hinge, l2: 0.05, passes: 5, ..LearnSpec::default() };
    let mut passes = 0;
    learn_max(&s, &spec, None, &mut |pass| {
        passes += 1;
        assert!(pass.loss.is_none() && pass.gap_estimate.is_some_and(|gap| gap >= 0.0));
        assert_eq!(pass.weights().len(), 3);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(passes > 0);
}
