//! An interrupt ends every kind of run, without a model and without another pass.

use lineal::{
    CalibrateKind, Dataset, Error, FeatureSpec, Interrupt, LossKind, Penalty, ReadOptions,
    SequenceOptions, SolverKind, Source, Strategy, Task, TrainSpec, Training, TuneSpec, TuneTable,
    Tuning, read_features, read_sequences, train,
};
use std::ops::ControlFlow;

/// Rows that no loss is done with after one pass.
fn rows(n_classes: usize) -> Dataset {
    let value = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 211) as f32 / 100.0 - 1.0;
    let x: Vec<Vec<f32>> = (0..300).map(|i| (0..8).map(|j| value(i, j)).collect()).collect();
    let y: Vec<String> = (0..300).map(|i| (i * 31 % 97 % n_classes).to_string()).collect();
    Dataset::from_rows(&x, &y).unwrap()
}

/// Passes that were seen of a run which is interrupted after its first.
fn passes_of<D: lineal::Trainable>(data: &D, spec: &TrainSpec) -> usize {
    let interrupt = Interrupt::new();
    let (mut seen, switch) = (0, interrupt.clone());
    let mut see = |_: &_| {
        seen += 1;
        switch.stop();
        ControlFlow::Continue(())
    };
    let run = Training::new(data, spec).monitor(&mut see);
    let trained = interrupt.scope(|| run.run());
    assert!(matches!(trained, Err(Error::Interrupted)), "{spec:?}");
    seen
}

#[test]
fn every_solver_of_rows_ends_at_once() {
    let solvers =
        [SolverKind::Gd, SolverKind::Sgd, SolverKind::Newton, SolverKind::Lbfgs, SolverKind::Dual];
    for n_classes in [2, 3] {
        let data = rows(n_classes);
        for solver in solvers {
            for strategy in [Strategy::Joint, Strategy::Ova] {
                let spec = TrainSpec {
                    loss: Some(LossKind::Logistic),
                    solver,
                    strategy: if n_classes == 2 { Strategy::Joint } else { strategy },
                    penalty: Penalty::C(1000.0),
                    tol: 1e-12,
                    ..TrainSpec::default()
                };
                // A block of columns tells that it has ended, too.
                let by_blocks = solver == SolverKind::Dual && spec.strategy == Strategy::Ova;
                let seen = passes_of(&data, &spec);
                assert_eq!(seen, 1 + usize::from(by_blocks), "{solver} {strategy}");
            }
        }
    }
    let spec = TrainSpec { strategy: Strategy::Tree, tol: 1e-12, ..TrainSpec::default() };
    // Nodes are trained side by side: each may see a pass of its own, and tells that it has ended.
    assert!(passes_of(&rows(5), &spec) <= 10);
}

#[test]
fn learners_of_sequences_end_at_once() {
    let text: String = (0..60)
        .map(|i| format!("w{} {}\nw{} {}\n\n", i % 7, i % 3, i % 5, (i + i / 7) % 3))
        .collect();
    let source = Source::Memory { name: "a.conll".into(), bytes: text.into() };
    let data = read_sequences(source, &SequenceOptions::default()).unwrap();
    for (loss, solver) in [
        (LossKind::Logistic, SolverKind::Auto),
        (LossKind::Logistic, SolverKind::Lbfgs),
        (LossKind::Logistic, SolverKind::Dual),
        (LossKind::Hinge, SolverKind::Dual),
        (LossKind::Hinge, SolverKind::Sgd),
        (LossKind::Perceptron, SolverKind::Auto),
    ] {
        let spec = TrainSpec {
            loss: Some(loss),
            solver,
            tol: 1e-12,
            penalty: Penalty::C(100.0),
            ..TrainSpec::for_task(Task::Tag)
        };
        assert_eq!(passes_of(&data, &spec), 1, "{loss} {solver}");
    }
}

#[test]
fn a_switch_that_was_thrown_before_leaves_nothing_to_see() {
    let (data, interrupt) = (rows(3), Interrupt::new());
    interrupt.stop();
    interrupt.scope(|| {
        assert!(matches!(train(&data, &TrainSpec::default()), Err(Error::Interrupted)));
        let mut table = TuneTable::default();
        let tuned = Tuning::new(&data, &TuneSpec::default()).run(&mut table);
        assert!(matches!(tuned, Err(Error::Interrupted)), "{tuned:?}");
        assert!(table.trials.is_empty());
    });
    // Outside of the scope nobody listens.
    assert!(train(&data, &TrainSpec::default()).is_ok());
}

#[test]
fn a_calibration_ends_between_folds() {
    let data = rows(2);
    let spec = TrainSpec {
        loss: Some(LossKind::Hinge),
        calibrate: Some(lineal::CalibrateKind::Platt),
        ..TrainSpec::default()
    };
    let mut folds = 0;
    let mut see = |_: usize, _: usize| {
        folds += 1;
        if folds == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let trained = Training::new(&data, &spec).on_fold(&mut see).run();
    assert!(matches!(trained, Err(Error::Interrupted)));
    assert_eq!(folds, 2);
}

#[test]
fn text_is_not_read_to_its_end() {
    let text: String = (0..50)
        .map(|i| format!("{{\"text\": \"word{i} and more\", \"label\": \"{}\"}}\n", i % 2))
        .collect();
    let source = || Source::Memory { name: "a.jsonl".into(), bytes: text.clone().into() };
    let options = ReadOptions { text: vec!["text".into()], ..ReadOptions::default() };
    let read = || read_features(source(), &options, &FeatureSpec::default());
    let interrupt = Interrupt::new();
    assert!(interrupt.scope(read).is_ok());
    interrupt.stop();
    assert!(matches!(interrupt.scope(read), Err(Error::Interrupted)));
}

#[test]
fn folds_of_a_calibration_take_no_more_passes_than_a_run_that_was_stopped() {
    let data = rows(2);
    let spec = TrainSpec {
        loss: Some(LossKind::Hinge),
        solver: SolverKind::Dual,
        penalty: Penalty::C(1000.0),
        tol: 1e-12,
        calibrate: Some(CalibrateKind::Platt),
        ..TrainSpec::default()
    };
    let mut stop = |_: &_| ControlFlow::Break(());
    let (stopped, _) = Training::new(&data, &spec).monitor(&mut stop).run().unwrap();
    let allowed = TrainSpec { max_passes: Some(1), ..spec };
    let (limited, _) = train(&data, &allowed).unwrap();
    assert_eq!(stopped.proba(&data).unwrap().values, limited.proba(&data).unwrap().values);
}
