//! Searches: folds as views are folds as copies, warm starts end where cold ones do.
#![allow(missing_docs, reason = "a test")]

use lineal::{
    ClassWeight, Dataset, LossKind, Metrics, Penalty, ReadOptions, Shuffle, SolverKind, Source,
    Strategy, TargetKind, Targets, Task, TrainSpec, TuneMetric, TuneSpec, TuneTable, Tuning, folds,
    read, train,
};
use std::ops::ControlFlow;
use std::time::Duration;

/// Rows of `k` classes that overlap.
fn rows(n: usize, k: usize) -> Dataset {
    let mut state = 5u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let mut text = String::new();
    for i in 0..n {
        let class = i * 7 % k;
        text.push_str(&format!("c{class}|{}", 1 + i % 3));
        for j in 0..6 {
            let lean = if j == class { 0.8 } else { 0.0 };
            text.push_str(&format!(" {}:{:.4}", j + 1, next() + lean));
        }
        text.push('\n');
    }
    let source = Source::Memory { name: "a.svm".into(), bytes: text.into() };
    read(source, &ReadOptions::default()).unwrap()
}

fn search(data: &Dataset, spec: &TuneSpec) -> TuneTable {
    let mut table = TuneTable::default();
    assert!(Tuning::new(data, spec).run(&mut table).unwrap().is_continue());
    table
}

/// Accuracy of each fold, by training on a copy of the others from zeros.
fn by_copies(data: &Dataset, spec: &TuneSpec, loss: LossKind, c: f64) -> Vec<f64> {
    let assigned = folds(&data.y, data.n_rows(), spec.folds, spec.shuffle).unwrap();
    let of = |fold: usize| {
        let (held, kept): (Vec<usize>, Vec<usize>) =
            (0..data.n_rows()).partition(|&i| assigned[i] as usize == fold);
        let run = TrainSpec { loss: Some(loss), penalty: Penalty::C(c), ..spec.base.clone() };
        let (model, _) = train(&data.select(&kept), &run).unwrap();
        match model.evaluate(&data.select(&held)).unwrap() {
            Metrics::Classify(m) => m.accuracy,
            _ => panic!("classes"),
        }
    };
    (0..spec.folds).map(of).collect()
}

#[test]
fn views_and_warm_starts_measure_what_copies_and_cold_ones_do() {
    for k in [2, 3] {
        let data = rows(180, k);
        for (strategy, solver) in [
            (Strategy::Joint, SolverKind::Auto),
            (Strategy::Joint, SolverKind::Dual),
            (Strategy::Joint, SolverKind::Lbfgs),
            (Strategy::Ova, SolverKind::Auto),
            (Strategy::Ovo, SolverKind::Auto),
            (Strategy::Ecoc, SolverKind::Auto),
            (Strategy::Tree, SolverKind::Auto),
        ] {
            if k == 2 && strategy != Strategy::Joint {
                continue;
            }
            let losses = match solver {
                SolverKind::Lbfgs => vec![LossKind::Logistic],
                _ => vec![LossKind::Logistic, LossKind::Hinge, LossKind::SquaredHinge],
            };
            let base = TrainSpec {
                strategy,
                solver,
                tol: 1e-5,
                class_weight: ClassWeight::Balanced,
                ..TrainSpec::default()
            };
            let cs = vec![0.1, 1.0, 10.0];
            let spec = TuneSpec { base, cs, losses, folds: 3, ..TuneSpec::default() };
            let table = search(&data, &spec);
            assert_eq!(table.trials.len(), spec.cs.len() * spec.losses.len());
            for trial in &table.trials {
                let copies = by_copies(&data, &spec, trial.loss, trial.c);
                let name = format!("{k} {strategy} {solver} {} {}", trial.loss, trial.c);
                assert!(trial.converged, "{name}");
                for (a, b) in trial.scores.iter().zip(&copies) {
                    // A row on the border may fall to either side.
                    assert!((a - b).abs() < 1.01 / 60.0, "{name}: {:?} {copies:?}", trial.scores);
                }
            }
        }
    }
}

#[test]
fn warm_starts_save_passes() {
    let data = rows(600, 3);
    let passes = |cs: &[f64]| {
        let base = TrainSpec { solver: SolverKind::Dual, tol: 1e-5, ..TrainSpec::default() };
        let losses = vec![LossKind::Logistic];
        let spec = TuneSpec { base, cs: cs.to_vec(), losses, folds: 3, ..TuneSpec::default() };
        search(&data, &spec).trials.last().unwrap().passes
    };
    let (cold, warm) = (passes(&[4.0]), passes(&[2.0, 3.0, 3.5, 3.9, 4.0]));
    assert!(warm < cold, "{warm} passes after a path, {cold} without");
}

#[test]
fn a_monitor_and_a_budget_end_a_search() {
    let data = rows(60, 2);
    let spec = TuneSpec::default();
    let mut table = TuneTable::default();
    let mut n_seen = 0;
    let mut see = |_: &lineal::Trial| {
        n_seen += 1;
        if n_seen == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let step = Tuning::new(&data, &spec).monitor(&mut see).run(&mut table).unwrap();
    assert!(step.is_break());
    assert_eq!((table.trials.len(), table.left_out), (4, 14));
    // Both losses have moved along together.
    assert_eq!(table.trials.iter().filter(|t| t.loss == LossKind::Logistic).count(), 2);
    let mut table = TuneTable::default();
    let tuning = Tuning::new(&data, &spec).budget(Some(Duration::ZERO));
    assert!(tuning.run(&mut table).unwrap().is_break());
    assert_eq!((table.trials.len(), table.left_out), (1, 17));
}

#[test]
fn what_cannot_be_searched() {
    let data = rows(60, 2);
    let refused = |spec: TuneSpec, data: &Dataset| {
        Tuning::new(data, &spec).run(&mut TuneTable::default()).unwrap_err().to_string()
    };
    let spec = TuneSpec::default;
    assert!(refused(TuneSpec { cs: vec![-1.0], ..spec() }, &data).contains("above 0"));
    assert!(refused(TuneSpec { cs: vec![], ..spec() }, &data).contains("nothing to search"));
    let log_loss = TuneSpec { metric: TuneMetric::LogLoss, ..spec() };
    assert!(refused(log_loss, &data).contains("probabilities"));
    let bare = Dataset { y: Targets::None, ..data.clone() };
    assert!(refused(spec(), &bare).contains("no labels"));
    let base = TrainSpec { task: Task::Regress, ..TrainSpec::default() };
    assert!(refused(TuneSpec { base, ..spec() }, &data).contains("spec.task = regress"));
    assert_eq!(data.schema.target, TargetKind::Classes);
    let in_order = TuneSpec { shuffle: Shuffle::InOrder, folds: 61, ..spec() };
    assert!(refused(in_order, &data).contains("61 folds"));
}
