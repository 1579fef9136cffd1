//! However many processes hold the rows: the same bits.

use lineal::erm::partial::{Partial, Question, Sum, Whole, combine, nodes};
use lineal::linalg::{Csr, Matrix};
use lineal::{
    Bias, CurvePoint, Dataset, DistributedTraining, Error, Interrupt, LossKind, Model, Penalty,
    SolverKind, Strategy, Task, TrainSpec, partial, train, train_distributed,
};
use std::ops::{ControlFlow, Range};

const N: usize = 137;
const SIZE: usize = 9;

/// Rows with weights, whose class, number or labels follow from their features, roughly.
fn data(task: Task, n_classes: usize) -> Dataset {
    let value = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j) % 211) as f32 / 100.0 - 1.0;
    let (mut indptr, mut indices, mut values) = (vec![0i64], Vec::<i32>::new(), Vec::<f32>::new());
    for i in 0..N {
        for j in (0..12).filter(|j| (i + j) % 3 != 0) {
            indices.push(j as i32);
            values.push(value(i, j));
        }
        indptr.push(indices.len() as i64);
    }
    let x = Matrix::Sparse(Csr::from_arrays(12, indptr, indices, values).unwrap());
    let score = |i: usize, c: usize| value(i, c % 12) + 0.5 * value(i, (c + 5) % 12);
    let class =
        |i: usize| (0..n_classes).max_by(|&a, &b| score(i, a).total_cmp(&score(i, b))).unwrap_or(0);
    let made = match task {
        Task::Regress => Dataset::of_numbers(x, (0..N).map(|i| f64::from(score(i, 0))).collect()),
        Task::Multilabel => {
            let labels = |i: usize| (0..n_classes).filter(move |&c| score(i, c) > 0.3);
            let lists: Vec<Vec<String>> =
                (0..N).map(|i| labels(i).map(|c| c.to_string()).collect()).collect();
            Dataset::of_labels(x, &lists)
        }
        _ => Dataset::of_class_numbers(
            x,
            (0..N).map(|i| class(i) as u32).collect(),
            (0..n_classes).map(|c| c.to_string()).collect(),
        ),
    };
    made.unwrap().with_weights((0..N).map(|i| 0.5 + (i % 4) as f32).collect()).unwrap()
}

/// The rows of so many processes, cut where shards begin.
fn cut(data: &Dataset, n_parts: usize) -> Vec<(usize, Dataset)> {
    let n_shards = N.div_ceil(SIZE);
    let start = |part: usize| (part * n_shards / n_parts * SIZE).min(N);
    (0..n_parts)
        .map(|part| {
            let rows: Vec<usize> = (start(part)..start(part + 1)).collect();
            (start(part), data.select(&rows))
        })
        .collect()
}

/// The answers of a process, one for each node of the tree that its shards are made of.
fn answers(
    part: &Partial<'_>,
    n_shards: usize,
    question: Question<'_>,
) -> Vec<(Range<usize>, Sum)> {
    let answer = |node: Range<usize>| {
        let mut out = vec![0.0; part.dim()];
        let value = part.answer(node.clone(), question, &mut out).unwrap();
        (node, (value, out))
    };
    nodes(part.shards(), n_shards).into_iter().map(answer).collect()
}

fn trained(data: &Dataset, spec: &TrainSpec, n_parts: usize) -> (Model, lineal::Report) {
    let total_weight = data.weights.iter().flatten().map(|&w| f64::from(w)).sum();
    let whole = Whole { n_rows: N, rows_per_shard: SIZE, total_weight };
    let pieces = cut(data, n_parts);
    let parts: Vec<Partial<'_>> =
        pieces.iter().map(|(first, rows)| partial(rows, spec, whole, *first).unwrap()).collect();
    let mut ask = |question: Question<'_>, out: &mut [f64]| -> Result<f64, Error> {
        // Processes answer in any order.
        let sums = parts.iter().rev().flat_map(|part| answers(part, whole.n_shards(), question));
        let (value, vector) = combine(whole.n_shards(), sums.collect()).map_err(Error::Request)?;
        out.copy_from_slice(&vector);
        Ok(value)
    };
    train_distributed(&data.schema, spec, whole, &mut ask).unwrap()
}

fn weights(model: &Model) -> Vec<u64> {
    let k = if model.classes().len() > 2 { model.classes().len() } else { 1 };
    let all = (0..model.n_features()).flat_map(|j| (0..k).map(move |c| (j, c)));
    all.map(|(j, c)| model.weight(j, c)).chain(model.bias()).map(f64::to_bits).collect()
}

fn specs() -> Vec<(Dataset, TrainSpec)> {
    let classes = |n: usize, loss: LossKind, strategy: Strategy, sum: bool| {
        let spec = TrainSpec { loss: Some(loss), strategy, sum, ..TrainSpec::default() };
        (data(Task::Classify, n), spec)
    };
    let regress = |loss: LossKind| {
        let spec = TrainSpec { loss: Some(loss), ..TrainSpec::for_task(Task::Regress) };
        (data(Task::Regress, 0), spec)
    };
    let labels = TrainSpec { task: Task::Multilabel, ..TrainSpec::default() };
    vec![
        classes(2, LossKind::Logistic, Strategy::Joint, false),
        classes(2, LossKind::SquaredHinge, Strategy::Joint, false),
        classes(4, LossKind::Logistic, Strategy::Joint, false),
        classes(4, LossKind::SquaredHinge, Strategy::Joint, true),
        classes(4, LossKind::Logistic, Strategy::Ova, false),
        classes(4, LossKind::SquaredHinge, Strategy::Ova, false),
        regress(LossKind::Squared),
        regress(LossKind::Huber),
        (data(Task::Multilabel, 3), labels),
    ]
}

#[test]
fn any_number_of_processes_trains_to_the_same_bits() {
    for (data, spec) in specs() {
        for solver in [SolverKind::Lbfgs, SolverKind::Newton] {
            let spec = TrainSpec { solver, tol: 1e-8, ..spec.clone() };
            let (one, report) = trained(&data, &spec, 1);
            assert!(report.converged, "{report:?}");
            for n_parts in [2, 3, 5] {
                let (model, again) = trained(&data, &spec, n_parts);
                assert_eq!(weights(&model), weights(&one), "{solver} {n_parts} {spec:?}");
                assert_eq!(again.objective.to_bits(), report.objective.to_bits());
            }
            // And it is the optimum that one process with all rows finds.
            let (_, alone) = train(&data, &spec).unwrap();
            let off = (report.objective - alone.objective).abs() / alone.objective;
            assert!(off < 1e-6, "{solver} {off} {spec:?}");
        }
    }
}

#[test]
fn owl_qn_and_every_bias_too() {
    let data = data(Task::Classify, 3);
    for (bias, l1) in [(Bias::None, 0.0), (Bias::Penalised, 0.0), (Bias::Free, 0.01)] {
        let spec =
            TrainSpec { bias, l1, penalty: Penalty::L2(0.01), tol: 1e-7, ..TrainSpec::default() };
        let (one, report) = trained(&data, &spec, 1);
        assert_eq!(weights(&trained(&data, &spec, 3).0), weights(&one));
        assert_eq!(report.gap.is_some(), bias != Bias::Free);
        let (_, alone) = train(&data, &spec).unwrap();
        let gap = report.gap.unwrap_or(1e-6 * alone.objective);
        assert!((report.objective - alone.objective).abs() <= gap + alone.gap.unwrap_or(0.0));
    }
}

/// Of losses with kinks, too, there are values and subgradients.
#[test]
fn every_loss_has_a_gradient_of_its_shards() {
    let losses = [LossKind::Perceptron, LossKind::Hinge, LossKind::SquaredHinge];
    let whole = Whole { n_rows: N, rows_per_shard: SIZE, total_weight: N as f64 };
    for (loss, strategy) in
        losses.into_iter().flat_map(|l| [(l, Strategy::Joint), (l, Strategy::Ova)])
    {
        let spec = TrainSpec { loss: Some(loss), strategy, ..TrainSpec::default() };
        let data = data(Task::Classify, 3);
        let all = partial(&data, &spec, whole, 0).unwrap();
        let w: Vec<f64> = (0..all.dim()).map(|j| (j % 7) as f64 / 10.0 - 0.3).collect();
        let mut grad = vec![0.0; all.dim()];
        let value =
            all.answer(0..whole.n_shards(), Question::Gradient { w: &w }, &mut grad).unwrap();
        assert!(value > 0.0);
        for n_parts in [2, 3, 5] {
            let pieces = cut(&data, n_parts);
            let sums = pieces.iter().flat_map(|(first, rows)| {
                let part = partial(rows, &spec, whole, *first).unwrap();
                answers(&part, whole.n_shards(), Question::Gradient { w: &w })
            });
            assert_eq!(combine(whole.n_shards(), sums.collect()), Ok((value, grad.clone())));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let data = data(Task::Classify, 3);
    let whole = Whole { n_rows: N, rows_per_shard: SIZE, total_weight: N as f64 };
    let spec = TrainSpec { loss: Some(LossKind::Hinge), ..TrainSpec::default() };
    assert!(partial(&data, &spec, whole, 1).is_err(), "shards begin elsewhere");
    let part = partial(&data, &spec, whole, 0).unwrap();
    let (w, mut out) = (vec![0.0; part.dim()], vec![0.0; part.dim()]);
    let refused = |shards: Range<usize>, question: Question<'_>, out: &mut [f64]| {
        part.answer(shards, question, out).unwrap_err()
    };
    assert!(refused(0..99, Question::Gradient { w: &w }, &mut out).contains("are here"));
    assert!(refused(0..1, Question::Gradient { w: &w[1..] }, &mut out).contains("weights"));
    assert!(refused(0..1, Question::Diagonal { w: &w }, &mut out).contains("second derivatives"));
    let interrupt = Interrupt::new();
    interrupt.stop();
    let stopped = interrupt.scope(|| part.answer(0..1, Question::Gradient { w: &w }, &mut out));
    assert!(stopped.is_err());
    let mut fail = |_: Question<'_>, _: &mut [f64]| Err(Error::Interrupted);
    let smooth = TrainSpec::default();
    let run = train_distributed(&data.schema, &smooth, whole, &mut fail);
    assert!(matches!(run, Err(Error::Interrupted)), "what the processes say is told");
}

#[test]
fn weights_from_elsewhere_are_a_model() {
    let (model, _) = train(&data(Task::Classify, 3), &TrainSpec::default()).unwrap();
    let all = (0..model.n_features()).flat_map(|j| (0..3).map(move |c| (j, c)));
    let w: Vec<f64> = all.map(|(j, c)| model.weight(j, c)).chain(model.bias()).collect();
    let schema = model.schema().clone();
    let same = Model::from_weights(schema.clone(), TrainSpec::default(), w.clone()).unwrap();
    let same = Model::from_bytes(&same.to_bytes().unwrap()).unwrap();
    let data = data(Task::Classify, 3);
    assert_eq!(same.predict(&data).unwrap(), model.predict(&data).unwrap());
    let short = Model::from_weights(schema, TrainSpec::default(), w[1..].to_vec());
    assert!(short.unwrap_err().to_string().contains("w has 38 weights"));
}

/// L-BFGS went on to the optimum after its caller had ended the run in a round.
#[test]
fn a_run_may_end_in_a_round() {
    let data = data(Task::Classify, 2);
    let spec = TrainSpec { solver: SolverKind::Lbfgs, ..TrainSpec::default() };
    let total_weight = data.weights.as_ref().unwrap().iter().map(|&w| f64::from(w)).sum();
    let whole = Whole { n_rows: N, rows_per_shard: N, total_weight };
    let rows = partial(&data, &spec, whole, 0).unwrap();
    for (rounds, ends_in, passes) in [(4, 2, 2), (1, 1, 1), (0, 3, 3)] {
        let (mut n_asked, mut n_told) = (0, 0);
        let mut ask = |question: Question<'_>, out: &mut [f64]| {
            n_asked += 1;
            rows.answer(0..1, question, out).map_err(Error::Request)
        };
        let mut see = |point: &CurvePoint| {
            n_told += 1;
            assert_eq!(point.objective.is_none(), point.pass <= rounds);
            match point.pass == ends_in {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let run = DistributedTraining::new(&data.schema, &spec, whole).rounds(rounds);
        let (_, report) = run.monitor(&mut see).run(&mut ask).unwrap();
        assert!(!report.converged && report.objective.is_finite());
        assert_eq!((n_told, report.curve.len()), (passes, passes), "{rounds} rounds");
        // The answer at the last weights is not a step.
        assert!(rounds == 0 || n_asked <= passes + 2, "{rounds} rounds, {n_asked} questions");
    }
}
