//! Tiny problems with a proven optimum (`testdata/problems`): every solver that accepts one must reach it, by its own
//! certificate and by value.
#![allow(missing_docs, reason = "a test")]

use lineal::{
    Bias, CostMatrix, Dataset, Error, LossKind, Penalty, Precision, ReadOptions, ScheduleKind,
    SgdSpec, SolverKind, Standardize, Task, TrainSpec, read, train,
};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct File {
    problems: Vec<Problem>,
}

#[derive(Clone, Debug, Deserialize)]
struct Problem {
    data: String,
    task: Task,
    loss: LossKind,
    #[serde(default)]
    sum: bool,
    bias: Bias,
    l2: f64,
    #[serde(default)]
    l1: f64,
    cost: Option<Vec<Vec<f64>>>,
    optimum: f64,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/problems")
}

/// The problems with their data.
fn problems() -> Vec<(Problem, Dataset)> {
    let text = std::fs::read_to_string(folder().join("problems.json")).expect("problems.json");
    let file: File = serde_json::from_str(&text).expect("problems.json as make.py writes it");
    assert!(file.problems.len() >= 60, "{} problems", file.problems.len());
    let mut sets: HashMap<String, Dataset> = HashMap::new();
    let with_data = |problem: Problem| {
        let data = sets.entry(problem.data.clone()).or_insert_with(|| {
            let target = problem.task.target();
            let options = ReadOptions { target, ..ReadOptions::default() };
            read(folder().join(&problem.data), &options).expect("a readable problem")
        });
        (problem, data.clone())
    };
    file.problems.into_iter().map(with_data).collect()
}

impl Problem {
    fn spec(&self, solver: SolverKind) -> TrainSpec {
        let table = |rows: &Vec<Vec<f64>>| CostMatrix::new(rows.len(), rows.concat());
        TrainSpec {
            task: self.task,
            loss: Some(self.loss),
            sum: self.sum,
            solver,
            penalty: Penalty::L2(self.l2),
            l1: self.l1,
            bias: self.bias,
            cost: self.cost.as_ref().map(|rows| table(rows).expect("a table of costs")),
            tol: 1e-8,
            max_passes: Some(100_000),
            standardize: Standardize::Never,
            ..TrainSpec::default()
        }
    }

    fn is_smooth(&self) -> bool {
        match self.loss {
            LossKind::Logistic | LossKind::Squared | LossKind::Huber => true,
            LossKind::SquaredHinge => self.data == "two.svm" || self.sum,
            _ => false,
        }
    }

    /// Whether the loss is that of one column, as the hinge must be for Newton's method.
    fn is_column(&self) -> bool {
        self.data == "two.svm" && self.cost.is_none() && self.l2 > 0.0
    }

    /// Whom SPEC promises for this problem.
    fn accepted_by(&self, solver: SolverKind) -> bool {
        use SolverKind::{Auto, Dual, Exact, Gd, Lbfgs, Newton, Sgd};
        match solver {
            Auto => true,
            Sgd => self.l1 == 0.0,
            Exact => self.loss == LossKind::Squared && self.l1 == 0.0,
            Dual => self.l2 > 0.0 && self.l1 == 0.0,
            Newton if self.loss == LossKind::Hinge => self.is_column() && self.l1 == 0.0,
            Gd | Newton => self.is_smooth() && self.l1 == 0.0,
            Lbfgs => self.is_smooth(),
        }
    }
}

#[test]
fn every_solver_reaches_the_optimum_with_a_certificate() {
    for (problem, data) in problems() {
        for &solver in SolverKind::ALL {
            if solver == SolverKind::Sgd || !problem.accepted_by(solver) {
                continue;
            }
            let what = format!("{solver} on {problem:?}");
            let (_, report) = train(&data, &problem.spec(solver)).expect(&what);
            let certificate = report.certificate();
            assert!(report.converged, "{what}: {certificate} after {} passes", report.passes);
            let off = report.objective / problem.optimum - 1.0;
            assert!(off.abs() <= 1e-6, "{what}: {} is {off:.1e} off", report.objective);
            // All of these have a dual, and its bound must not claim more than is so.
            let gap = report.gap.expect(&what);
            assert!(gap <= 1e-8 * report.objective, "{what}: a gap of {gap:e}");
            let bound = report.objective - gap;
            assert!(bound <= problem.optimum * (1.0 + 1e-9), "{what}: claims {bound} at least");
        }
    }
}

#[test]
fn sgd_comes_close() {
    for (problem, data) in problems() {
        if !problem.accepted_by(SolverKind::Sgd) {
            continue;
        }
        let schedule = Some(ScheduleKind::Inverse);
        let sgd = SgdSpec { epochs: 400, average: Some(true), schedule, ..SgdSpec::default() };
        let spec = TrainSpec { sgd, precision: Precision::F64, ..problem.spec(SolverKind::Sgd) };
        let (_, report) = train(&data, &spec).expect("a run of sgd");
        let off = report.objective / problem.optimum - 1.0;
        assert!(
            (-1e-9..=1e-2).contains(&off),
            "{problem:?}: {} is {off:.1e} off",
            report.objective
        );
    }
}

#[test]
fn whoever_cannot_solve_a_problem_says_so() {
    for (problem, data) in problems() {
        for &solver in SolverKind::ALL {
            if !problem.accepted_by(solver) {
                let refused = train(&data, &problem.spec(solver));
                assert!(matches!(refused, Err(Error::Request(_))), "{solver} on {problem:?}");
            }
        }
    }
}

#[test]
fn single_precision_reaches_a_looser_tolerance() {
    for (problem, data) in problems() {
        if !problem.accepted_by(SolverKind::Dual) {
            continue;
        }
        let dual = problem.spec(SolverKind::Dual);
        let spec = TrainSpec { precision: Precision::F32, tol: 1e-4, ..dual };
        let (_, report) = train(&data, &spec).expect("a run in f32");
        assert!(report.converged, "{problem:?}: {}", report.certificate());
        let off = report.objective / problem.optimum - 1.0;
        assert!(
            (-1e-9..=2e-4).contains(&off),
            "{problem:?}: {} is {off:.1e} off",
            report.objective
        );
    }
}

/// They became infinite, and the run ended with advice about steps.
#[test]
fn class_weights_beyond_single_precision_are_refused() {
    let rows = "1 1:1\n2 2:1\n1 1:2\n2 2:2\n".as_bytes().to_vec();
    let source = lineal::Source::Memory { name: "a.svm".to_owned(), bytes: rows };
    let data = read(source, &ReadOptions::default()).unwrap();
    let class_weight = lineal::ClassWeight::Named(vec![("1".to_owned(), 1e308)]);
    let spec = TrainSpec { class_weight, ..Default::default() };
    let error = train(&data, &spec).unwrap_err().to_string();
    assert!(error.contains("spec.class_weight") && error.contains("too large"), "{error}");
}
