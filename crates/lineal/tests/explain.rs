//! Contributions add up to what they claim to explain, for every strategy.
#![allow(missing_docs, reason = "a test")]

use lineal::linalg::{Csr, Matrix};
use lineal::{
    Bias, CalibrateKind, CodeKind, Dataset, Decision, DecodingKind, ExplainSpec, Explanation,
    Format, Labels, LossKind, Model, PairKind, Predicted, Schema, Strategy, TargetKind, Targets,
    Task, Threshold, TrainSpec, train,
};
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

fn dataset(x: Matrix, y: Targets, k: usize) -> Dataset {
    let target = match y {
        Targets::Real(_) => TargetKind::Real,
        Targets::Labels(_) => TargetKind::Labels,
        _ => TargetKind::Classes,
    };
    let schema = Schema {
        format: Some(Format::Svmlight),
        target,
        classes: (0..k).map(|c| format!("c{c}")).collect(),
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
    Dataset {
        x,
        y,
        weights: None,
        queries: None,
        schema,
        warnings: Vec::new(),
        source: "memory".into(),
    }
}

const D: usize = 12;

/// Sparse rows of all classes, each with a feature of its own class among others.
fn rows(k: usize) -> impl proptest::strategy::Strategy<Value = (Matrix, Vec<u32>)> {
    let row = proptest::collection::vec((0..D as u32, -2.0f32..2.0), 0..6);
    proptest::collection::vec(row, 30).prop_map(move |rows| {
        let (mut start, mut idx, mut val, mut y) = (vec![0], vec![], vec![], vec![]);
        for (i, mut row) in rows.into_iter().enumerate() {
            let class = (i % k) as u32;
            row.push((class, 1.0));
            row.sort_by_key(|e| e.0);
            row.dedup_by_key(|e| e.0);
            idx.extend(row.iter().map(|e| e.0));
            val.extend(row.iter().map(|e| e.1));
            start.push(idx.len());
            y.push(class);
        }
        (Matrix::Sparse(Csr::new(D, start, idx, val).unwrap()), y)
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2e-4 * (1.0 + a.abs() + b.abs())
}

fn against(model: &Model, data: &Dataset, class: usize) -> Vec<Explanation> {
    let spec = ExplainSpec { class: Some(class as u32), ..ExplainSpec::default() };
    model.explain(data, &spec).unwrap()
}

/// Everything shown adds up, at any cut; winners are the predictions; a feature taken away takes its contribution away.
fn adds_up(model: &Model, data: &Dataset) {
    let all = model.explain(data, &ExplainSpec::default()).unwrap();
    let spec = ExplainSpec { top: Some(2), rows: Some(vec![3, 0]), ..ExplainSpec::default() };
    let some = model.explain(data, &spec).unwrap();
    assert_eq!((some[0].row, some.last().unwrap().row), (3, 0));
    for e in all.iter().chain(&some) {
        let shown: f64 = e.contributions.iter().map(|c| c.amount()).sum();
        assert!(close(shown + e.rest + e.bias - e.threshold, e.lead), "{e:?}");
        assert!(e.contributions.is_sorted_by(|a, b| a.amount().abs() >= b.amount().abs()));
    }
    for cut in &some {
        let whole = all.iter().find(|e| e.row == cut.row && e.winner == cut.winner).unwrap();
        assert!(close(cut.lead, whole.lead) && cut.contributions.len() <= 2);
        assert_eq!(cut.contributions.len() + cut.n_rest, whole.contributions.len());
    }
    if let Predicted::Classes(y) = model.predict(data).unwrap() {
        assert!(all.iter().all(|e| e.winner == Some(y[e.row]) && e.runner_up != e.winner));
    }
}

/// The lead is the difference of scores, against any class.
fn is_score_difference(model: &Model, data: &Dataset) {
    let scores = model.scores(data).unwrap();
    for class in 0..model.classes().len() {
        for e in against(model, data, class) {
            let of = |c: Option<u32>| scores.row(e.row)[c.unwrap() as usize];
            // Two classes have one score, which predict shows as f and −f.
            let by = if scores.n_cols == 2 { 0.5 } else { 1.0 };
            let want = by * (of(e.winner) - of(e.runner_up));
            assert!(close(e.lead, want), "{} and {want}: {e:?}", e.lead);
            assert!(e.lead >= -1e-5);
        }
    }
}

fn spec(strategy: Strategy, loss: LossKind, bias: Bias) -> TrainSpec {
    TrainSpec { strategy, loss: Some(loss), bias, tol: 1e-2, ..TrainSpec::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn scores_of_classes_are_linear((x, y) in rows(4), hinge: bool, free: bool) {
        let loss = if hinge { LossKind::Hinge } else { LossKind::Logistic };
        let bias = if free { Bias::Free } else { Bias::None };
        let two = dataset(x.clone(), Targets::Classes(y.iter().map(|c| c % 2).collect()), 2);
        let data = dataset(x, Targets::Classes(y), 4);
        let (model, _) = train(&two, &spec(Strategy::Joint, loss, bias)).unwrap();
        adds_up(&model, &two);
        is_score_difference(&model, &two);
        for strategy in [Strategy::Joint, Strategy::Ova] {
            let (model, _) = train(&data, &spec(strategy, loss, bias)).unwrap();
            adds_up(&model, &data);
            is_score_difference(&model, &data);
            prop_assert!(model.lead_is_exact());
        }
        let mut ovo = spec(Strategy::Ovo, loss, bias);
        ovo.reduction.pairs = PairKind::Scores;
        let (model, _) = train(&data, &ovo).unwrap();
        adds_up(&model, &data);
        is_score_difference(&model, &data);
        // Calibration may turn the order, but not the sums.
        let platt = TrainSpec { calibrate: Some(CalibrateKind::Platt), ..spec(Strategy::Ova, loss, bias) };
        let (model, _) = train(&data, &platt).unwrap();
        adds_up(&model, &data);
        prop_assert!(!model.lead_is_exact());
    }

    #[test]
    fn duels_make_the_votes((x, y) in rows(4)) {
        let data = dataset(x, Targets::Classes(y), 4);
        let (model, _) = train(&data, &spec(Strategy::Ovo, LossKind::Hinge, Bias::Free)).unwrap();
        adds_up(&model, &data);
        let scores = model.scores(&data).unwrap();
        let duels: Vec<_> = (0..4).map(|c| against(&model, &data, c)).collect();
        for i in 0..data.n_rows() {
            let winner = duels[0][i].winner.unwrap();
            let won = (0..4u32).filter(|&c| c != winner && duels[c as usize][i].lead > 0.0).count();
            // Votes, and a part below a half that decides among equals.
            let votes = scores.row(i)[winner as usize].round() as usize;
            prop_assert_eq!(won, votes);
            prop_assert_eq!(duels[0][i].decision, Decision::Duel);
        }
    }

    #[test]
    fn codes_of_a_logistic_loss_are_linear((x, y) in rows(4)) {
        let data = dataset(x, Targets::Classes(y), 4);
        for decoding in [DecodingKind::Loss, DecodingKind::Probability, DecodingKind::Hamming] {
            let mut ecoc = spec(Strategy::Ecoc, LossKind::Logistic, Bias::Free);
            ecoc.reduction.code = CodeKind::Exhaustive;
            ecoc.reduction.decoding = decoding;
            let (model, _) = train(&data, &ecoc).unwrap();
            adds_up(&model, &data);
            if decoding != DecodingKind::Hamming {
                is_score_difference(&model, &data);
                continue;
            }
            let scores = model.scores(&data).unwrap();
            for e in model.explain(&data, &ExplainSpec::default()).unwrap() {
                let Decision::Columns { differ, agree } = e.decision else { panic!("{e:?}") };
                // Columns in which both words are the same speak for neither.
                let of = |c: Option<u32>| scores.row(e.row)[c.unwrap() as usize].round();
                let more = of(e.winner) - of(e.runner_up);
                prop_assert_eq!(2.0 * agree as f64 - differ as f64, more);
            }
        }
    }

    #[test]
    fn nodes_on_the_way_make_the_probability((x, y) in rows(4)) {
        let data = dataset(x, Targets::Classes(y), 4);
        let (model, _) = train(&data, &spec(Strategy::Tree, LossKind::Logistic, Bias::Free)).unwrap();
        adds_up(&model, &data);
        let scores = model.scores(&data).unwrap();
        let forks: Vec<_> = (0..4).map(|c| against(&model, &data, c)).collect();
        for i in 0..data.n_rows() {
            let winner = forks[0][i].winner.unwrap();
            let others = (0..4u32).filter(|&c| c != winner);
            let mut leads: Vec<f64> = others.map(|c| forks[c as usize][i].lead).collect();
            leads.sort_by(f64::total_cmp);
            leads.dedup();
            let log_p: f64 = leads.iter().map(|lead| -(-lead).exp().ln_1p()).sum();
            prop_assert!(close(log_p, scores.row(i)[winner as usize]));
        }
    }

    #[test]
    fn labels_stand_above_their_threshold((x, y) in rows(4), tree: bool, p in 0.2f64..0.8) {
        let (mut start, mut ids) = (vec![0], vec![]);
        for &y in &y {
            ids.extend(if y == 0 { vec![] } else { vec![y % 3, 2 + y % 2] });
            ids[*start.last().unwrap()..].sort_unstable();
            let from = *start.last().unwrap();
            if ids.len() > from + 1 && ids[from] == ids[from + 1] {
                ids.pop();
            }
            start.push(ids.len());
        }
        let data = dataset(x, Targets::Labels(Labels::new(start, ids).unwrap()), 4);
        let strategy = if tree { Strategy::Tree } else { Strategy::Ova };
        let threshold = Threshold::Fixed(p);
        let spec = TrainSpec { task: Task::Multilabel, threshold, ..spec(strategy, LossKind::Logistic, Bias::Free) };
        let (model, _) = train(&data, &spec).unwrap();
        adds_up(&model, &data);
        let Predicted::Labels(predicted) = model.predict(&data).unwrap() else { panic!("labels") };
        for label in 0..4u32 {
            for e in against(&model, &data, label as usize) {
                prop_assert_eq!(e.predicted, predicted.row(e.row).contains(&label));
                prop_assert!(tree || (e.lead > 0.0) == e.predicted || e.lead.abs() < 1e-4);
            }
        }
    }

    #[test]
    fn numbers_are_sums((x, y) in rows(4)) {
        let y = Targets::Real(y.iter().map(|&c| f64::from(c) - 1.5).collect());
        let data = dataset(x, y, 0);
        let spec = TrainSpec { task: Task::Regress, ..TrainSpec::default() };
        let (model, _) = train(&data, &spec).unwrap();
        adds_up(&model, &data);
        let Predicted::Real(predicted) = model.predict(&data).unwrap() else { panic!("numbers") };
        for e in model.explain(&data, &ExplainSpec::default()).unwrap() {
            prop_assert!(close(e.lead, predicted[e.row]));
        }
    }
}

#[test]
fn lit_words_add_up_to_their_features() {
    let csv = "a,text,label\n1,good good fun,yes\n2,not good,no\n3,Größe good,yes\n1,no fun,no\n";
    let source = || lineal::Source::Memory { name: "t.csv".into(), bytes: csv.into() };
    let options = lineal::ReadOptions { text: vec!["text".into()], ..Default::default() };
    let words =
        lineal::text::TextSpec { ngrams: Some((1, 2)), chars: Some((2, 3)), ..Default::default() };
    for hash_bits in [None, Some(10)] {
        let text = lineal::text::TextSpec { hash_bits, ..words.clone() };
        let spec = lineal::FeatureSpec { text, no_pairs_of_few: false, ..Default::default() };
        let (data, features) = lineal::read_features(source(), &options, &spec).unwrap();
        let (model, _) =
            lineal::Training::new(&data, &TrainSpec::default()).features(&features).run().unwrap();
        let all = model.explain(&data, &ExplainSpec::default()).unwrap();
        let texts = model.read_texts(source(), &options, &[1, 2]).unwrap();
        assert_eq!(texts, [["not good"], ["Größe good"]]);
        for (row, text) in [1, 2].into_iter().zip(&texts) {
            let lit = model.highlight(&all[row], 0, &text[0]);
            let read = model.schema().n_read();
            let of_text = all[row].contributions.iter().filter(|c| c.feature >= read);
            let want: f64 = of_text.map(|c| c.amount()).sum();
            let sum: f64 = lit.iter().map(|lit| lit.amount).sum();
            assert!((sum - want).abs() < 1e-9, "{sum} {want}");
            assert!(lit.is_sorted_by(|a, b| a.end <= b.start));
            assert!(lit.iter().all(|l| text[0].get(l.start..l.end).is_some()));
        }
    }
}

#[test]
fn a_class_that_is_not_there() {
    let x = Matrix::Sparse(Csr::new(1, vec![0, 1, 2], vec![0, 0], vec![1.0, -1.0]).unwrap());
    let data = dataset(x, Targets::Classes(vec![0, 1]), 2);
    let (model, _) = train(&data, &TrainSpec::default()).unwrap();
    let spec = ExplainSpec { class: Some(2), ..ExplainSpec::default() };
    assert!(model.explain(&data, &spec).is_err());
}
