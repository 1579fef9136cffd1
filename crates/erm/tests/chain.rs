//! Learning to label sequences: gradients by finite differences, solvers against each other and against the flat models, brute force.

use lineal_chain::{
    ChainModel, ChainOptions, ChainProblem, ChainWeights, Decoder, Error, Grammar, LabelCost,
    Observations, Parts, PrunedModel, Scratch, Sentences, UNLABELLED,
};
use lineal_erm::structured::{
    LearnError, LearnPass, LearnReport, LearnSpec, Loss, Solver, Update, learn,
};
use lineal_erm::{Erm, Penalty, Rows};
use lineal_linalg::Rng;
use lineal_linalg::SparseRows;
use lineal_linalg::{Csr, Matrix};
use lineal_loss::{Hinge, Logistic};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::Classes;
use lineal_model::structure::Structure;
use lineal_model::{Bias, Linear};
use lineal_solver::{Lbfgs, Stop, lbfgs, silent};
use std::ops::ControlFlow;

type Failed = Box<dyn std::error::Error>;

/// What is asked of the learner and of the chain.
#[derive(Clone)]
struct Wanted {
    learn: LearnSpec,
    options: ChainOptions,
}

struct Learnt {
    model: PrunedModel,
    report: LearnReport,
}

/// A few random sentences in which attributes say something about labels.
struct Set {
    model: ChainModel,
    unary: SparseRows,
    pairs: SparseRows,
    labels: Vec<u32>,
    ends: Vec<usize>,
}

impl Set {
    fn new(n_sentences: usize, longest: u64, model: ChainModel, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let (mut unary, mut pairs) = (SparseRows::new(), SparseRows::new());
        let (mut labels, mut ends) = (Vec::new(), Vec::new());
        let k = model.n_labels as u64;
        for _ in 0..n_sentences {
            for _ in 0..1 + rng.next_u64() % longest {
                let label = rng.next_u64() % k;
                let hint = if rng.unit() < 0.7 { label } else { rng.next_u64() % k };
                unary.push(hint as u32);
                let other = k + rng.next_u64() % (model.n_unary as u64 - k);
                unary.push_value(other as u32, 0.5 + rng.unit() as f32);
                unary.end_row();
                if model.n_pairs > 0 {
                    pairs.push((rng.next_u64() % model.n_pairs as u64) as u32);
                }
                pairs.end_row();
                labels.push(label as u32);
            }
            ends.push(labels.len());
        }
        Self { model, unary, pairs, labels, ends }
    }

    fn sentences(&self) -> Sentences<'_> {
        Sentences {
            unary: &self.unary,
            pairs: Some(&self.pairs),
            labels: &self.labels,
            ends: &self.ends,
            weights: None,
        }
    }

    fn learn(&self, spec: &Wanted) -> Learnt {
        self.learn_from(spec, None).unwrap()
    }

    fn learn_from(&self, wanted: &Wanted, start: Option<&PrunedModel>) -> Result<Learnt, Failed> {
        self.watch(self.sentences(), wanted, start, &mut |_, _| ControlFlow::Continue(()))
    }

    fn watch(
        &self,
        sentences: Sentences<'_>,
        wanted: &Wanted,
        start: Option<&PrunedModel>,
        on_pass: &mut dyn FnMut(&LearnPass<'_>, &ChainProblem<'_>) -> ControlFlow<()>,
    ) -> Result<Learnt, Failed> {
        let problem = ChainProblem::new(self.model, sentences, &wanted.options, start)?;
        let start = start.map(|start| problem.weights_of(start)).transpose()?;
        let run =
            learn(&problem, &wanted.learn, start.as_deref(), &mut |pass| on_pass(pass, &problem))?;
        Ok(Learnt { model: problem.pruned(&run.w)?, report: run.report })
    }

    /// The mean loss by running over every label sequence.
    fn brute_force_loss(&self, model: &PrunedModel, wanted: &Wanted) -> f64 {
        let k = self.model.n_labels;
        let (spec, options) = (&wanted.learn, &wanted.options);
        let grammar = options.grammar.clone().unwrap_or_else(|| Grammar::free(k));
        let cost = options.cost.clone().unwrap_or_else(|| LabelCost::hamming(k));
        let mut sum = 0.0;
        let mut start = 0;
        for &end in &self.ends {
            let gold = &self.labels[start..end];
            let x = Observations { unary: &self.unary, pairs: Some(&self.pairs), start, end };
            let mut parts = Parts::<f64>::new();
            model.scores(x, &mut parts);
            let (mut all, mut some) = (Vec::new(), Vec::new());
            for number in 0..k.pow(gold.len() as u32) {
                let y: Vec<u32> =
                    (0..gold.len()).map(|t| (number / k.pow(t as u32) % k) as u32).collect();
                let legal = grammar.permits_start(y[0] as usize)
                    && grammar.permits_end(y[y.len() - 1] as usize)
                    && y.windows(2).all(|p| grammar.permits(p[0] as usize, p[1] as usize));
                let score = parts.score(&y);
                let delta = if spec.loss == Loss::Hinge { cost.cost(gold, &y) } else { 0.0 };
                if legal || !options.legal_rivals {
                    all.push(score + delta);
                }
                if legal && gold.iter().zip(&y).all(|(g, y)| *g == UNLABELLED || g == y) {
                    some.push(score);
                }
            }
            sum += match spec.loss {
                Loss::Logistic => log_sum_exp(&all) - log_sum_exp(&some),
                _ => max(&all) - max(&some),
            };
            start = end;
        }
        sum / self.ends.len() as f64
    }
}

fn max(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let top = max(x);
    top + x.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

fn shape(n_labels: usize, n_pairs: usize, triples: bool) -> ChainModel {
    ChainModel { n_labels, n_unary: 9, n_pairs, transitions: true, ends: true, triples }
}

fn spec(loss: Loss, solver: Solver) -> LearnSpec {
    let (l2, passes, tol) = (0.05, 3000, 1e-7);
    LearnSpec { loss, solver, l2, passes, tol, ..LearnSpec::default() }
}

fn plain(learn: LearnSpec) -> Wanted {
    Wanted { learn, options: ChainOptions::default() }
}

/// Nothing right after itself but label 0, and no end on label 1.
fn strict(k: usize) -> Grammar {
    let mut grammar = Grammar::free(k);
    (1..k).for_each(|label| grammar.forbid(label, label));
    grammar.forbid_end(1);
    grammar
}

/// Gold labels that such a grammar permits.
fn obey(set: &mut Set) {
    let k = set.model.n_labels as u32;
    let mut start = 0;
    for &end in &set.ends {
        let gold = &mut set.labels[start..end];
        for t in 1..gold.len() {
            if gold[t] == gold[t - 1] {
                gold[t] = (gold[t] + 2) % k;
                if gold[t] == gold[t - 1] {
                    gold[t] = 0;
                }
            }
        }
        let last = gold.len() - 1;
        if gold[last] == 1 {
            gold[last] = 0;
        }
        start = end;
    }
}

/// Every option that changes the objective.
fn cases() -> Vec<(Set, Wanted)> {
    let mut cases = Vec::new();
    for (n_pairs, triples) in [(0, false), (3, false), (0, true), (2, true)] {
        for loss in [Loss::Logistic, Loss::Hinge] {
            for weights in [
                ChainWeights::All,
                ChainWeights::Frequent,
                ChainWeights::Observed,
                ChainWeights::ObservedAttributes,
                ChainWeights::AllAttributes,
            ] {
                let set = Set::new(6, 4, shape(3, n_pairs, triples), 7);
                let options = ChainOptions { weights, ..ChainOptions::default() };
                cases.push((set, Wanted { learn: spec(loss, Solver::Auto), options }));
            }
            for legal_rivals in [false, true] {
                let mut legal = Set::new(6, 4, shape(3, n_pairs, triples), 8);
                obey(&mut legal);
                let grammar = Some(strict(3));
                let options = ChainOptions { grammar, legal_rivals, ..ChainOptions::default() };
                cases.push((legal, Wanted { learn: spec(loss, Solver::Auto), options }));
            }
            let delta = (0..9).map(|i| if i % 4 == 0 { 0.0 } else { f64::from(i) / 4.0 }).collect();
            let cost = LabelCost::new(3, delta);
            let set = Set::new(6, 4, shape(3, n_pairs, triples), 9);
            let options = ChainOptions { cost, ..ChainOptions::default() };
            cases.push((set, Wanted { learn: spec(loss, Solver::Auto), options }));
        }
    }
    cases
}

/// Some dense weights as a model.
fn random_model(set: &Set, seed: u64) -> (Vec<f32>, PrunedModel) {
    let mut rng = Rng::new(seed);
    let model = set.model;
    let mut w: Vec<f32> = (0..model.dim()).map(|_| rng.unit() as f32 - 0.5).collect();
    for a in 0..model.n_unary {
        w[a * model.stride() + model.n_labels..(a + 1) * model.stride()].fill(0.0);
    }
    let pruned = PrunedModel::new(model, &w, 0.0);
    (w, pruned)
}

/// The report of a model as it is: a run that breaks off at once.
fn report_at(set: &Set, wanted: &Wanted, model: &PrunedModel) -> LearnReport {
    let learn = LearnSpec {
        solver: Solver::Sgd,
        passes: 1,
        rate: Some(0.0),
        schedule: Some(lineal_solver::Schedule::Constant),
        average: Some(false),
        ..wanted.learn.clone()
    };
    set.learn_from(&Wanted { learn, ..wanted.clone() }, Some(model)).unwrap().report
}

#[test]
fn objectives_are_those_of_brute_force_and_gradients_those_of_differences() {
    for (mut set, wanted) in cases() {
        let spec = &wanted.learn;
        for partial in [false, true] {
            if partial {
                (0..set.labels.len()).step_by(3).for_each(|t| set.labels[t] = UNLABELLED);
            }
            let (w, model) = random_model(&set, 3);
            let report = report_at(&set, &wanted, &model);
            let brute = set.brute_force_loss(&model, &wanted);
            // The models' scores are in f32.
            assert!((report.loss - brute).abs() < 1e-6 * brute, "{} {brute}", report.loss);
            if spec.loss != Loss::Logistic
                || !matches!(wanted.options.weights, ChainWeights::All | ChainWeights::Frequent)
            {
                continue;
            }
            // ‖∇‖ from differences over every weight of the model.
            let objective = |w: &[f32]| {
                let norm: f64 = w.iter().map(|w| f64::from(*w).powi(2)).sum();
                let model = PrunedModel::new(set.model, w, 0.0);
                set.brute_force_loss(&model, &wanted) + 0.5 * spec.l2 * norm
            };
            let mut squares = 0.0;
            for j in 0..w.len() {
                if w[j] == 0.0 {
                    continue;
                }
                let at = |by: f32| {
                    let mut w = w.clone();
                    w[j] += by;
                    (objective(&w), f64::from(w[j]))
                };
                let ((high, right), (low, left)) = (at(1e-2), at(-1e-2));
                squares += ((high - low) / (right - left)).powi(2);
            }
            let norm = report.grad_norm.unwrap();
            assert!((norm - squares.sqrt()).abs() < 1e-3 * norm, "{norm} {}", squares.sqrt());
        }
    }
}

#[test]
fn every_solver_of_the_logistic_loss_reaches_the_same_optimum() {
    for (n_pairs, triples) in [(0, false), (2, false), (0, true)] {
        let set = Set::new(12, 5, shape(3, n_pairs, triples), 1);
        let of =
            |solver, l1| set.learn(&plain(LearnSpec { l1, ..spec(Loss::Logistic, solver) })).report;
        let best = of(Solver::Lbfgs, 0.0);
        for solver in [Solver::Auto, Solver::Dual] {
            let other = of(solver, 0.0);
            assert!(other.converged && other.gap.unwrap() < 1e-6, "{other:?}");
            let difference = (other.objective.unwrap() - best.objective.unwrap()).abs();
            assert!(difference < 1e-6, "{other:?} {best:?}");
        }
        let sparse = of(Solver::Auto, 0.02);
        assert!(sparse.converged && sparse.gap.unwrap() < 1e-6, "{sparse:?}");
        let steps = set.learn(&plain(LearnSpec {
            rate: Some(0.5),
            passes: 4000,
            ..spec(Loss::Logistic, Solver::Sgd)
        }));
        let far = steps.report.objective.unwrap() - best.objective.unwrap();
        assert!((-1e-9..1e-3).contains(&far), "{far}");
    }
}

#[test]
fn l1_alone_has_a_gap_too() {
    let set = Set::new(12, 5, shape(3, 0, false), 1);
    let request = LearnSpec { l2: 0.0, l1: 0.02, ..spec(Loss::Logistic, Solver::Auto) };
    let report = set.learn(&plain(request)).report;
    assert!(report.converged && report.gap.unwrap() < 1e-6, "{report:?}");
}

#[test]
fn frank_wolfe_closes_its_gap() {
    for (set, Wanted { learn, options }) in cases() {
        if learn.loss != Loss::Hinge {
            continue;
        }
        let exact = LearnSpec { tol: 1e-6, ..learn.clone() };
        let report = set.learn(&Wanted { learn: exact, options: options.clone() }).report;
        assert!(report.converged && report.gap.unwrap() < 1e-6, "{report:?}");
        let steps = LearnSpec { solver: Solver::Sgd, passes: 2000, ..learn };
        let far = set.learn(&Wanted { learn: steps, options }).report.objective.unwrap()
            - report.objective.unwrap();
        assert!((-1e-6..0.02).contains(&far), "{far}");
    }
}

#[test]
fn a_chain_of_one_is_the_flat_model() {
    let model = ChainModel {
        n_labels: 4,
        n_unary: 12,
        n_pairs: 0,
        transitions: false,
        ends: false,
        triples: false,
    };
    let set = Set::new(40, 1, model, 5);
    let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
    for t in 0..set.unary.n_rows() {
        set.unary.row(t).for_each(|a, v| {
            idx.push(a as u32);
            val.push(v);
        });
        indptr.push(idx.len());
    }
    let x = Matrix::Sparse(Csr::new(12, indptr, idx, val).unwrap());
    let flat = Linear::new(12, Classes(4), Bias::None);
    let penalty = Penalty { l2: 0.05, l1: 0.0 };
    let mut w = vec![0.0f64; 48];
    let mut erm = Erm::new(&flat, &Logistic(NoCost), Rows::new(&x, &set.labels, None), penalty);
    let stop = Stop { tol: 1e-9, max_passes: 2000 };
    lbfgs(&Lbfgs { stop, ..Lbfgs::default() }, &mut erm, &mut w, &mut silent()).unwrap();
    let options = ChainOptions { weights: ChainWeights::All, ..ChainOptions::default() };
    let request = LearnSpec { tol: 1e-9, ..spec(Loss::Logistic, Solver::Lbfgs) };
    let learnt = set.learn(&Wanted { learn: request, options: options.clone() });
    let objective = learnt.report.objective.unwrap();
    assert!((objective - erm.objective(&w)).abs() < 1e-9);
    for a in 0..12 {
        for &(label, weight) in learnt.model.unary(a) {
            assert!((f64::from(weight) - w[a * 4 + label as usize]).abs() < 1e-4);
        }
    }
    // The hinge at the same weights.
    let hinge = set.learn(&Wanted { learn: spec(Loss::Hinge, Solver::Dual), options });
    let mut w = vec![0.0f64; 48];
    for a in 0..12 {
        hinge.model.unary(a).iter().for_each(|&(l, v)| w[a * 4 + l as usize] = f64::from(v));
    }
    let erm = Erm::new(&flat, &Hinge(ZeroOne), Rows::new(&x, &set.labels, None), penalty);
    assert!((hinge.report.objective.unwrap() - erm.objective(&w)).abs() < 1e-9);
}

#[test]
fn weights_of_sentences_equal_repeats() {
    let set = Set::new(5, 4, shape(3, 0, false), 2);
    let once = Set::new(5, 4, shape(3, 0, false), 2);
    let mut twice = Set::new(5, 4, shape(3, 0, false), 2);
    let (rows, first) = (twice.unary.clone(), twice.ends[0]);
    for t in 0..first {
        rows.row(t).for_each(|a, v| twice.unary.push_value(a as u32, v));
        twice.unary.end_row();
        twice.pairs.end_row();
        twice.labels.push(set.labels[t]);
    }
    twice.ends.push(twice.labels.len());
    for (loss, solver) in [
        (Loss::Logistic, Solver::Lbfgs),
        (Loss::Logistic, Solver::Dual),
        (Loss::Hinge, Solver::Dual),
    ] {
        let wanted = plain(spec(loss, solver));
        let sentences = Sentences { weights: Some(&[2.0, 1.0, 1.0, 1.0, 1.0]), ..once.sentences() };
        let weighted = once.watch(sentences, &wanted, None, &mut |_, _| ControlFlow::Continue(()));
        let weighted = weighted.unwrap().report;
        let repeated = twice.learn(&wanted).report;
        let difference = (weighted.objective.unwrap() - repeated.objective.unwrap()).abs();
        assert!(difference < 1e-6, "{weighted:?} {repeated:?}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let set = Set::new(300, 6, shape(3, 2, false), 4);
    for (loss, solver) in [
        (Loss::Perceptron, Solver::Auto),
        (Loss::Hinge, Solver::Dual),
        (Loss::Logistic, Solver::Auto),
        (Loss::Logistic, Solver::Dual),
    ] {
        for tol in [1e-3, 1e-5] {
            let spec = plain(LearnSpec { passes: 12, tol, ..spec(loss, solver) });
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| set.learn(&spec).model)
            };
            assert!(on(1) == on(3), "{loss:?} {solver:?}");
        }
    }
}

#[test]
fn the_perceptron_separates_and_starts_warm() {
    let mut set = Set::new(10, 4, shape(3, 0, false), 6);
    // Each position has an attribute of its own, so that there is something to separate by.
    let n = set.labels.len();
    set.model.n_unary = 9 + n;
    let mut unary = SparseRows::new();
    for t in 0..n {
        set.unary.row(t).for_each(|a, v| unary.push_value(a as u32, v));
        unary.push(9 + t as u32);
        unary.end_row();
    }
    set.unary = unary;
    for update in [Update::Gradient, Update::PassiveAggressive { aggressiveness: 1.0 }] {
        let request = plain(LearnSpec {
            update,
            l2: 0.0,
            passes: 500,
            average: Some(false),
            ..spec(Loss::Perceptron, Solver::Auto)
        });
        let learnt = set.learn(&request);
        assert!(learnt.report.converged, "{:?}", learnt.report);
        let again = set.learn_from(&request, Some(&learnt.model)).unwrap();
        assert_eq!((again.report.passes, again.report.updates), (1, Some(0)));
        assert!(again.model == learnt.model);
        let mut decoder = Decoder::<f64>::new(Grammar::free(3), false);
        let (mut parts, mut s, mut labels) = (Parts::new(), Scratch::new(), Vec::new());
        let mut start = 0;
        for &end in &set.ends {
            let x = Observations { unary: &set.unary, pairs: None, start, end };
            learnt.model.scores(x, &mut parts);
            decoder.load(&parts);
            decoder.viterbi(&parts, None, &mut s, &mut labels).unwrap();
            assert_eq!(labels, set.labels[start..end]);
            start = end;
        }
    }
}

#[test]
fn a_run_can_be_ended_and_started_again() {
    let set = Set::new(30, 5, shape(3, 0, false), 4);
    for solver in [Solver::Auto, Solver::Lbfgs, Solver::Dual, Solver::Sgd] {
        let spec = plain(spec(Loss::Logistic, solver));
        let mut seen = 0;
        let look = &mut |pass: &LearnPass<'_>, problem: &ChainProblem<'_>| {
            seen = pass.pass;
            assert_eq!(problem.pruned(&pass.weights()).unwrap().model(), set.model);
            if pass.pass == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let short = set.watch(set.sentences(), &spec, None, look).unwrap();
        assert_eq!(seen, 3, "{solver:?}");
        let on = set.learn_from(&spec, Some(&short.model)).unwrap().report;
        assert!(on.objective.unwrap() < short.report.objective.unwrap(), "{solver:?}");
    }
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let set = Set::new(5, 4, shape(3, 0, false), 2);
    let refused = |spec: LearnSpec| set.learn_from(&plain(spec), None).err().unwrap().to_string();
    assert!(refused(spec(Loss::Hinge, Solver::Lbfgs)).contains("smooth"));
    let bare = LearnSpec { l2: 0.0, ..spec(Loss::Hinge, Solver::Dual) };
    assert!(refused(bare).contains("l2"));
    let l1 = LearnSpec { l1: 0.1, ..spec(Loss::Logistic, Solver::Sgd) };
    assert!(refused(l1).contains("l1"));
    let of_other_length =
        learn(&problem_of(&set), &LearnSpec::default(), Some(&[0.0]), &mut |_| {
            ControlFlow::Continue(())
        });
    assert!(matches!(of_other_length, Err(LearnError::Start { given: 1, .. })));

    let problem = |set: &Set, options: &ChainOptions| {
        ChainProblem::new(set.model, set.sentences(), options, None).map(|_| ()).unwrap_err()
    };
    let free = ChainOptions::default();
    let mut grammar = Grammar::free(3);
    (0..3).for_each(|label| grammar.forbid(label, set.labels[1] as usize));
    let options = ChainOptions { grammar: Some(grammar), ..free.clone() };
    assert_eq!(problem(&set, &options), Error::Gold { sentence: 0, position: 1 });
    let cost = LabelCost::new(3, vec![1.0; 9]);
    assert!(matches!(problem(&set, &ChainOptions { cost, ..free.clone() }), Error::Shape(_)));
    let mut none = Set::new(1, 1, shape(3, 0, false), 2);
    (none.labels, none.ends) = (Vec::new(), Vec::new());
    assert_eq!(problem(&none, &free), Error::Empty);
    let mut wrong = Set::new(5, 4, shape(3, 0, false), 2);
    wrong.labels[0] = 3;
    assert!(matches!(problem(&wrong, &free), Error::Shape(_)));
    wrong.labels[0] = 0;
    wrong.model.n_unary = 4;
    assert!(matches!(problem(&wrong, &free), Error::Shape(_)));
}

fn problem_of(set: &Set) -> ChainProblem<'_> {
    ChainProblem::new(set.model, set.sentences(), &ChainOptions::default(), None).unwrap()
}

#[test]
fn weights_that_do_not_fit_are_no_model_of_zeros() {
    let set = Set::new(5, 4, shape(3, 0, false), 2);
    let problem = problem_of(&set);
    let dim = Structure::<f32>::dim(&problem);
    assert!(problem.pruned(&vec![0.5f32; dim]).is_ok());
    assert!(matches!(problem.pruned(&vec![0.5f32; dim - 1]), Err(Error::Shape(_))));
}

#[test]
fn a_sentence_of_ten_thousand_positions_is_learnt() {
    let model = ChainModel {
        n_labels: 3,
        n_unary: 9,
        n_pairs: 0,
        transitions: true,
        ends: true,
        triples: false,
    };
    let mut set = Set::new(2000, 9, model, 3);
    let n = set.labels.len();
    set.ends = vec![n];
    let wanted = plain(LearnSpec { tol: 0.01, l2: 1.0, ..LearnSpec::default() });
    let learnt = set.learn_from(&wanted, None).unwrap();
    assert!(learnt.report.converged, "{:?}", learnt.report);
    let nothing = n as f64 * 3f64.ln();
    assert!(learnt.report.objective.unwrap() < nothing, "{:?}", learnt.report);
}
