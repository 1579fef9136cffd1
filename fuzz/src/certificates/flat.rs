//! Random problems of rows: every loss, solver, bias, strategy, with weights and costs, in both precisions, on data that is badly scaled, offset, duplicated or degenerate.

use super::convex::{Convex, Kind, Term};
use super::{Case, Dice};
use lineal::data::{Dataset, Format, Labels, Schema, TargetKind, Targets};
use lineal::linalg::{Csr, Dense, Matrix};
use lineal::{
    Bias, ClassWeight, CodeKind, CostMatrix, LossKind, Model, Penalty, Precision, Report,
    SolverKind, Strategy, Task, TrainSpec, TreeKind, train,
};

/// A random problem, trained and written out; none if the request is refused.
pub(super) fn case(dice: &mut Dice) -> Option<Case> {
    let task = *dice.pick(&[
        Task::Classify,
        Task::Classify,
        Task::Classify,
        Task::Regress,
        Task::Multilabel,
    ]);
    let n_classes = match task {
        Task::Classify => *dice.pick(&[2, 2, 3, 4]),
        Task::Multilabel => 1 + dice.below(3),
        _ => 0,
    };
    let (x, rows) = inputs(dice);
    let n = rows.len();
    let y = match task {
        Task::Regress => {
            let by = dice.log(-2.0, 3.0);
            let offset = if dice.one_in(3) { dice.log(0.0, 4.0) } else { 0.0 };
            Targets::Real((0..n).map(|_| f64::from((offset + by * dice.normal()) as f32)).collect())
        }
        Task::Multilabel => {
            let (mut start, mut ids) = (vec![0], Vec::new());
            for _ in 0..n {
                ids.extend((0..n_classes as u32).filter(|_| dice.one_in(2)));
                start.push(ids.len());
            }
            Targets::Labels(Labels::new(start, ids).ok()?)
        }
        // Every class once, if there are rows enough.
        _ => Targets::Classes(
            (0..n).map(|i| if i < n_classes { i } else { dice.below(n_classes) } as u32).collect(),
        ),
    };
    let weights = dice.one_in(3).then(|| {
        let wide = dice.one_in(3);
        let weight = |dice: &mut Dice| match dice.below(6) {
            0 => 0.0,
            _ if wide => dice.log(-4.0, 4.0) as f32,
            _ => (0.1 + dice.unit()) as f32,
        };
        let mut weights: Vec<f32> = (0..n).map(|_| weight(dice)).collect();
        weights[0] = 1.0;
        weights
    });
    let target = match task {
        Task::Regress => TargetKind::Real,
        Task::Multilabel => TargetKind::Labels,
        _ => TargetKind::Classes,
    };
    let schema = Schema {
        format: Some(Format::Svmlight),
        target,
        classes: (0..n_classes).map(|k| format!("c{k}")).collect(),
        n_features: x.n_cols(),
        columns: None,
        feature_ids: None,
        n_computed: 0,
        image: None,
        no_header: false,
        delimiter: None,
        decimal_comma: false,
        encoding: None,
    };
    let data = Dataset {
        x,
        y,
        weights,
        queries: None,
        schema,
        warnings: Vec::new(),
        source: "dice".into(),
    };
    let spec = spec(dice, task, n_classes);
    let (model, report) = train(&data, &spec).ok()?;
    let name = format!(
        "{} {} {} {} {}",
        report.task, report.strategy, report.loss, report.solver, report.precision
    );
    let problems = problems(&data, &rows, &spec, &report)?;
    let hidden = matches!(spec.strategy, Strategy::Tree | Strategy::Ecoc);
    let weights = (!hidden).then(|| stored(&model, &problems, &spec));
    Some(Case {
        name,
        about: format!("{spec:?}\n{data:?}"),
        problems,
        report: (&report).into(),
        tol: (spec.strategy == Strategy::Joint || report.solver == SolverKind::Dual)
            .then_some(spec.tol),
        weights,
    })
}

/// A matrix and its rows written out.
fn inputs(dice: &mut Dice) -> (Matrix, Vec<Vec<f64>>) {
    let (n, d) = (4 + dice.below(9), 1 + dice.below(3));
    let columns: Vec<(f64, f64)> = (0..d)
        .map(|_| {
            let scale = match dice.below(6) {
                0 => dice.log(-4.0, 4.0),
                1 if dice.one_in(4) => dice.log(-30.0, 30.0),
                _ => 1.0,
            };
            let offset = match dice.below(4) {
                0 => scale * dice.log(0.0, 4.0),
                1 => scale * 20.0 * dice.normal(),
                _ => 0.0,
            };
            (scale, offset)
        })
        .collect();
    let constant = dice.one_in(8);
    let sparse = dice.one_in(3);
    let mut rows: Vec<Vec<f32>> = Vec::with_capacity(n);
    for i in 0..n {
        if i > 0 && dice.one_in(6) {
            rows.push(rows[dice.below(i)].clone());
            continue;
        }
        let empty = dice.one_in(15);
        let entry = |(j, &(scale, offset)): (usize, &(f64, f64)), dice: &mut Dice| {
            if empty || (sparse && dice.one_in(2)) {
                return 0.0;
            }
            if constant && j == 0 { offset as f32 } else { (offset + scale * dice.normal()) as f32 }
        };
        let row = columns.iter().enumerate().map(|column| entry(column, dice)).collect();
        rows.push(row);
    }
    let wide = rows.iter().map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect();
    if !sparse {
        let dense = Dense::new(n, d, rows.concat()).expect("rows of equal width");
        return (Matrix::Dense(dense), wide);
    }
    let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
    for row in &rows {
        for (j, &v) in (0u32..).zip(row).filter(|(_, v)| **v != 0.0) {
            idx.push(j);
            val.push(v);
        }
        indptr.push(idx.len());
    }
    (Matrix::Sparse(Csr::new(d, indptr, idx, val).expect("rising columns")), wide)
}

fn spec(dice: &mut Dice, task: Task, n_classes: usize) -> TrainSpec {
    let mut spec = TrainSpec { task, seed: dice.below(1000) as u64, ..TrainSpec::for_task(task) };
    spec.loss = Some(match task {
        Task::Regress => *dice.pick(&[LossKind::Squared, LossKind::Huber, LossKind::Epsilon]),
        _ => *dice.pick(&[
            LossKind::Hinge,
            LossKind::Hinge,
            LossKind::SquaredHinge,
            LossKind::Logistic,
            LossKind::Squared,
            LossKind::Perceptron,
        ]),
    });
    spec.strategy = match task {
        Task::Multilabel => Strategy::Ova,
        Task::Classify if n_classes > 2 => *dice.pick(&[
            Strategy::Joint,
            Strategy::Joint,
            Strategy::Joint,
            Strategy::Ova,
            Strategy::Ovo,
            Strategy::Ecoc,
            Strategy::Tree,
        ]),
        _ => Strategy::Joint,
    };
    spec.sum = dice.one_in(4);
    spec.reduction.code = CodeKind::Exhaustive;
    spec.reduction.tree = TreeKind::File;
    spec.reduction.tree_text = Some(tree_text(n_classes).into());
    spec.solver = *dice.pick(&[
        SolverKind::Auto,
        SolverKind::Dual,
        SolverKind::Dual,
        SolverKind::Dual,
        SolverKind::Newton,
        SolverKind::Lbfgs,
        SolverKind::Gd,
        SolverKind::Sgd,
        SolverKind::Exact,
    ]);
    spec.penalty = match dice.below(12) {
        0 => Penalty::L2(0.0),
        1..4 => Penalty::L2(dice.log(-7.0, 1.0)),
        4 => Penalty::C(dice.log(-12.0, 12.0)),
        _ => Penalty::C(dice.log(-3.0, 3.0)),
    };
    if dice.one_in(8) {
        spec.l1 = dice.log(-4.0, 0.0);
        spec.solver = SolverKind::Auto;
        if dice.one_in(2) {
            spec.penalty = Penalty::L2(0.0);
        }
    }
    spec.bias = *dice.pick(&[Bias::Free, Bias::Free, Bias::Free, Bias::Penalised, Bias::None]);
    spec.tol = dice.log(-10.0, -0.5);
    spec.precision = *dice.pick(&[Precision::F32, Precision::F32, Precision::F64, Precision::Auto]);
    spec.max_passes = Some(*dice.pick(&[1, 5, 50, 500, 3000]));
    spec.sgd.epochs = 1 + dice.below(20);
    spec.delta = dice.log(-2.0, 1.0);
    spec.epsilon = if dice.one_in(3) { 0.0 } else { dice.log(-2.0, 1.0) };
    if n_classes > 1 && task == Task::Classify && dice.one_in(4) {
        let cost = |dice: &mut Dice, a: usize, b: usize| match dice.below(5) {
            _ if a == b => 0.0,
            0 => 0.0,
            _ => 2.0 * dice.unit(),
        };
        let costs = (0..n_classes * n_classes)
            .map(|at| cost(dice, at / n_classes, at % n_classes))
            .collect();
        spec.cost = CostMatrix::new(n_classes, costs).ok();
    }
    if task == Task::Classify && dice.one_in(6) {
        let named = |k: usize, dice: &mut Dice| (format!("c{k}"), dice.log(-2.0, 2.0));
        let some = (0..n_classes).filter(|_| !dice.one_in(3)).collect::<Vec<_>>();
        spec.class_weight = ClassWeight::Named(some.into_iter().map(|k| named(k, dice)).collect());
    }
    if task == Task::Classify && spec.strategy == Strategy::Joint && dice.one_in(12) {
        spec.hard_margin = true;
        (spec.loss, spec.solver, spec.l1, spec.sum) = (None, SolverKind::Auto, 0.0, false);
        spec.max_passes = Some(3000);
    }
    if matches!(spec.loss, Some(LossKind::Squared)) && spec.strategy != Strategy::Joint {
        spec.loss = Some(LossKind::Logistic);
    }
    spec
}

fn tree_text(n_classes: usize) -> &'static str {
    match n_classes {
        2 => "(0 1)",
        3 => "((0 2) 1)",
        4 => "((0 1) (2 3))",
        _ => "0",
    }
}

/// The columns of a strategy: for each the rows that take part, with sign and weight, and its factor in sums.
fn columns(spec: &TrainSpec, y: &Targets, n_classes: usize) -> Vec<Vec<f64>> {
    let n = y.len();
    let classes = |i: usize| match y {
        Targets::Classes(y) => vec![y[i]],
        Targets::Labels(labels) => labels.row(i).to_vec(),
        _ => Vec::new(),
    };
    let mean_cost = |gold: usize, others: &[usize]| match &spec.cost {
        Some(cost) if !others.is_empty() => {
            others.iter().map(|&k| cost.row(gold as u32)[k]).sum::<f64>() / others.len() as f64
        }
        Some(_) => 0.0,
        None => 1.0,
    };
    // A column as the classes on its yes and on its no side.
    let sided = |yes: &[usize], no: &[usize]| -> Vec<f64> {
        (0..n)
            .map(|i| {
                let own = classes(i);
                if matches!(y, Targets::Labels(_)) {
                    let has = own.iter().any(|&k| yes.contains(&(k as usize)));
                    return if has { 1.0 } else { -1.0 };
                }
                let gold = own[0] as usize;
                match (yes.contains(&gold), no.contains(&gold)) {
                    (true, _) => mean_cost(gold, no),
                    (_, true) => -mean_cost(gold, yes),
                    _ => 0.0,
                }
            })
            .collect()
    };
    let all: Vec<usize> = (0..n_classes).collect();
    let but = |k: usize| all.iter().copied().filter(|&l| l != k).collect::<Vec<_>>();
    match spec.strategy {
        Strategy::Ovo => {
            let pairs = all.iter().flat_map(|&a| (a + 1..n_classes).map(move |b| (a, b)));
            pairs
                .map(|(a, b)| match &spec.cost {
                    None => sided(&[a], &[b]),
                    Some(cost) => (0..n)
                        .map(|i| {
                            let row = cost.row(classes(i)[0]);
                            row[b] - row[a]
                        })
                        .collect(),
                })
                .collect()
        }
        // Every split of the classes once: class 0 always says yes.
        Strategy::Ecoc => (0..(1usize << (n_classes - 1)) - 1)
            .map(|with| {
                let is_yes = |k: &usize| *k == 0 || with >> (k - 1) & 1 == 1;
                let (yes, no): (Vec<_>, Vec<_>) = all.iter().copied().partition(is_yes);
                sided(&yes, &no)
            })
            .collect(),
        // The splits of the tree's text.
        Strategy::Tree => match n_classes {
            2 => vec![sided(&[0], &[1])],
            3 => vec![sided(&[0, 2], &[1]), sided(&[0], &[2])],
            _ => vec![sided(&[0, 1], &[2, 3]), sided(&[0], &[1]), sided(&[2], &[3])],
        },
        _ => all.iter().map(|&k| sided(&[k], &but(k))).collect(),
    }
}

/// The problems of a run, each with the factor that it has in the sum.
fn problems(
    data: &Dataset,
    rows: &[Vec<f64>],
    spec: &TrainSpec,
    report: &Report,
) -> Option<Vec<Convex>> {
    // Weights of rows are numbers of single precision, and so are they times those of their classes.
    let of_class = |i: usize| match (&spec.class_weight, &data.y) {
        (ClassWeight::Named(named), Targets::Classes(y)) => {
            let name = &data.schema.classes[y[i] as usize];
            named.iter().find(|one| one.0 == *name).map_or(1.0, |one| one.1 as f32)
        }
        _ => 1.0,
    };
    let weight = |i: usize| {
        let own = data.weights.as_ref().map_or(1.0, |w| w[i]);
        f64::from(own * of_class(i))
    };
    let total: f64 = (0..rows.len()).map(weight).sum();
    let with_bias = |row: &[f64]| -> Vec<f64> {
        let one = if spec.bias == Bias::None { None } else { Some(1.0) };
        row.iter().copied().chain(one).collect()
    };
    let d = with_bias(&rows[0]).len();
    let penalised = |blocks: usize| -> Vec<bool> {
        let free = usize::from(spec.bias == Bias::Free) * blocks;
        (0..d * blocks).map(|at| at < d * blocks - free).collect()
    };
    let loss = report.loss;
    if spec.strategy == Strategy::Joint {
        let k = match report.classes {
            0 | 2 => 1,
            k => k,
        };
        let l2 = if spec.hard_margin { 1.0 } else { spec.penalty.l2(total) };
        let mut terms = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let share = weight(i) / total;
            if share == 0.0 && !spec.hard_margin {
                continue;
            }
            let row = with_bias(row);
            // Feature-major, the outputs of a feature side by side.
            let spread = |plus: Option<usize>, minus: Option<usize>, by: f64| {
                let mut d = vec![0.0; row.len() * k];
                for (j, v) in row.iter().enumerate() {
                    plus.into_iter().for_each(|c| d[j * k + c] += by * v);
                    minus.into_iter().for_each(|c| d[j * k + c] -= by * v);
                }
                d
            };
            let own = match &data.y {
                Targets::Real(y) => real(loss, spec, spread(Some(0), None, 1.0), y[i]),
                Targets::Classes(y) => {
                    let gold = y[i] as usize;
                    let rivals: Vec<usize> = match report.classes {
                        2 => vec![1 - gold],
                        n => (0..n).filter(|&r| r != gold).collect(),
                    };
                    let output = |&r: &usize| match report.classes {
                        // One vector of weights, of class 1.
                        2 => (spread(Some(0), None, if gold == 1 { -1.0 } else { 1.0 }), r),
                        _ => (spread(Some(r), Some(gold), 1.0), r),
                    };
                    let outputs: Vec<(Vec<f64>, usize)> = rivals.iter().map(output).collect();
                    if loss == LossKind::Squared {
                        squared_targets(k, gold, report.classes, &spread)
                    } else {
                        classes(loss, spec, gold, outputs)
                    }
                }
                _ => return None,
            };
            terms.extend(own.into_iter().map(|term| Term { weight: share * term.weight, ..term }));
        }
        let problem = Convex {
            dim: d * k,
            penalised: penalised(k),
            l2,
            l1: if spec.hard_margin { 0.0 } else { spec.l1 },
            nonnegative: Vec::new(),
            terms,
        };
        return Some(vec![problem]);
    }
    if spec.strategy == Strategy::Tree && matches!(data.y, Targets::Labels(_)) {
        return None;
    }
    let signs = columns(spec, &data.y, report.classes);
    // One-vs-all and labels count all rows, other strategies those that take part.
    let plain = spec.cost.is_none() && spec.strategy == Strategy::Ova;
    let problem = |signs: &Vec<f64>| {
        let own: f64 = (0..rows.len()).map(|i| weight(i) * signs[i].abs()).sum();
        let own = if plain || own == 0.0 { total } else { own };
        let mut terms = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let share = weight(i) * signs[i].abs() / own;
            if share > 0.0 {
                let row = with_bias(row);
                let outputs = vec![(row.iter().map(|v| -signs[i].signum() * v).collect(), 1)];
                let no_cost = TrainSpec { cost: None, ..spec.clone() };
                let own = classes(loss, &no_cost, 0, outputs);
                terms.extend(own.into_iter().map(|t| Term { weight: share * t.weight, ..t }));
            }
        }
        Convex {
            dim: d,
            penalised: penalised(1),
            l2: spec.penalty.l2(own),
            // With -C a column is ½‖w‖² + C·Σ loss + C·total·l1‖w‖₁, the same l1 for every column; divided by C·own it is a mean over its own rows.
            l1: match spec.penalty {
                Penalty::C(_) => spec.l1 * total / own,
                Penalty::L2(_) => spec.l1,
            },
            nonnegative: Vec::new(),
            terms,
        }
    };
    Some(signs.iter().map(problem).collect())
}

fn real(loss: LossKind, spec: &TrainSpec, x: Vec<f64>, y: f64) -> Vec<Term> {
    let (kind, outputs) = match loss {
        LossKind::Huber => (Kind::Huber(spec.delta), vec![(x, -y)]),
        LossKind::Epsilon => {
            let minus = x.iter().map(|x| -x).collect();
            (Kind::Max, vec![(x, -y - spec.epsilon), (minus, y - spec.epsilon)])
        }
        _ => (Kind::Squared, vec![(x, -y)]),
    };
    vec![Term { weight: 1.0, kind, outputs }]
}

fn squared_targets(
    k: usize,
    gold: usize,
    n_classes: usize,
    spread: &dyn Fn(Option<usize>, Option<usize>, f64) -> Vec<f64>,
) -> Vec<Term> {
    let target = |c: usize| match n_classes {
        2 if gold == 0 => -1.0,
        2 => 1.0,
        _ if c == gold => 1.0,
        _ => -1.0,
    };
    let outputs = (0..k).map(|c| (spread(Some(c), None, 1.0), -target(c))).collect();
    vec![Term { weight: 1.0, kind: Kind::Squared, outputs }]
}

fn classes(
    loss: LossKind,
    spec: &TrainSpec,
    gold: usize,
    outputs: Vec<(Vec<f64>, usize)>,
) -> Vec<Term> {
    let cost = |r: usize| match (&spec.cost, loss) {
        (_, LossKind::Perceptron) => 0.0,
        (Some(cost), _) => cost.row(gold as u32)[r],
        (None, LossKind::Logistic) => 0.0,
        (None, _) => 1.0,
    };
    let outputs: Vec<(Vec<f64>, f64)> = outputs.into_iter().map(|(d, r)| (d, cost(r))).collect();
    let kind = match loss {
        _ if spec.hard_margin => Kind::Constraint,
        LossKind::SquaredHinge => Kind::SquaredMax,
        LossKind::Logistic => Kind::LogSum,
        _ => Kind::Max,
    };
    if spec.hard_margin {
        // A mistake that costs nothing still asks for a margin of at least 0.
        return vec![Term { weight: 1.0, kind, outputs }];
    }
    match spec.sum && kind != Kind::LogSum {
        true => outputs
            .into_iter()
            .map(|output| Term { weight: 1.0, kind, outputs: vec![output] })
            .collect(),
        false => vec![Term { weight: 1.0, kind, outputs }],
    }
}

/// The weights of the model as those of the problems.
fn stored(model: &Model, problems: &[Convex], spec: &TrainSpec) -> Vec<Vec<f64>> {
    let (d, bias) = (model.n_features(), model.bias());
    if spec.strategy == Strategy::Joint {
        let k = problems[0].dim / (d + usize::from(spec.bias != Bias::None)).max(1);
        let own = (0..d).flat_map(|j| (0..k).map(move |c| (j, c)));
        return vec![own.map(|(j, c)| model.weight(j, c)).chain(bias.iter().copied()).collect()];
    }
    (0..problems.len())
        .map(|l| (0..d).map(|j| model.weight(j, l)).chain(bias.get(l).copied()).collect())
        .collect()
}
