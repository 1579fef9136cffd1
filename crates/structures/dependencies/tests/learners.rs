//! Trees, heads and relations with the learners: gaps close, solvers agree, separable trees are learnt.

use lineal_dependencies::features::{Sentences, Templates};
use lineal_dependencies::problem::{Heads, Relations, TreeKind, TreeSpec, Trees};
use lineal_erm::structured::{LearnSpec, Loss, Solver, Update, learn};
use lineal_model::structure::{Structure, SumOracle};
use std::ops::ControlFlow;

const TEMPLATES: &str = "
[heads]
h.form m.form
h.upos m.upos
[arcs]
h.upos m.upos
m.form
[siblings]
h.upos s.upos m.upos
[grandparents]
g.upos h.upos m.upos
[labels]
h.upos m.upos
[relations]
direction h.upos m.upos
";

const SENTENCES: [&str; 3] =
    ["She PRON saw VERB the DET dog NOUN", "Dogs NOUN bark VERB . PUNCT", "Yes INTJ"];
const HEADS: [u32; 8] = [2, 0, 4, 2, 2, 0, 2, 0];
const RELATIONS: [u32; 8] = [0, 1, 2, 3, 0, 1, 2, 1];

/// Hinge and logistic loss to a gap of a millionth, the logistic one by two solvers to the same objective; passive–aggressive steps until nothing is wrong.
fn check<S: SumOracle<f32> + SumOracle<f64, Output = <S as Structure<f32>>::Output>>(
    structure: &S,
    name: &str,
) {
    let run = |spec: LearnSpec| {
        learn(structure, &spec, None, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    let certified = |loss, solver| {
        let spec =
            LearnSpec { loss, solver, l2: 0.1, tol: 1e-6, passes: 2000, ..LearnSpec::default() };
        let report = run(spec).report;
        assert!(report.converged, "{name} {loss:?} {solver:?} {report:?}");
        report.objective.unwrap()
    };
    certified(Loss::Hinge, Solver::Dual);
    let (dual, primal) =
        (certified(Loss::Logistic, Solver::Dual), certified(Loss::Logistic, Solver::Lbfgs));
    assert!((dual - primal).abs() < 1e-5 * primal, "{name} {dual} {primal}");
    let update = Update::PassiveAggressive { aggressiveness: 1.0 };
    let passive = LearnSpec {
        loss: Loss::Hinge,
        solver: Solver::Sgd,
        update,
        passes: 200,
        ..LearnSpec::default()
    };
    let report = run(passive).report;
    assert!(report.loss < 1e-3, "{name} {report:?}");
}

#[test]
fn every_learner_learns_every_problem_of_parsing() {
    let templates = Templates::parse(TEMPLATES, &["form", "upos"]).unwrap();
    let cells: Vec<Vec<&str>> = SENTENCES.iter().map(|text| text.split(' ').collect()).collect();
    let sentences = Sentences::hash(&templates, cells.iter().map(Vec::as_slice));
    for kind in [TreeKind::Projective, TreeKind::SecondOrder, TreeKind::NonProjective] {
        for n_relations in [0, 4] {
            let spec = TreeSpec { kind, n_relations, single_root: true, bits: 10 };
            let trees = Trees::new(&templates, &sentences, None, spec);
            check(&trees.with_gold(&HEADS, &RELATIONS), &format!("{spec:?}"));
        }
    }
    check(&Heads::new(&templates, &sentences, 10).with_gold(&HEADS), "heads");
    let relations = Relations::new(&templates, &sentences, &HEADS, 4, 10);
    check(&relations.with_gold(&RELATIONS), "relations");
}
