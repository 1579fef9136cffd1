//! Sets of labels by hand, and against scikit-learn 1.9.1 (`from sklearn.metrics import *`).

use lineal_metrics::{
    Error, LabelLists, MultilabelMetrics, MultilabelRows, Ranking, UNSEEN, multilabel,
};

/// Lists one after the other, and where each starts.
struct Lists {
    start: Vec<usize>,
    ids: Vec<u32>,
}

impl Lists {
    fn new(rows: &[&[u32]]) -> Self {
        let mut start = vec![0];
        start.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        Self { start, ids: rows.concat() }
    }

    fn view(&self) -> LabelLists<'_> {
        LabelLists { start: &self.start, ids: &self.ids }
    }
}

const GOLD: [&[u32]; 8] = [&[0, 2], &[1], &[], &[0, 1, 2, 3, 4, 5], &[], &[3], &[5, 2], &[0, 4]];
const PREDICTED: [&[u32]; 8] = [&[0, 2], &[1, 3], &[], &[0, 1, 2], &[4], &[], &[2, 5], &[1, 4]];
#[rustfmt::skip]
const SCORES: [f64; 56] = [
    2.04, -2.56, 0.42, -0.57, -0.45, -0.22, -2.02,   -0.23, -0.87, 3.32, 0.23, -0.35, -0.28, -0.67,
    -1.06, -0.39, 0.48, -0.24, 0.96, -0.2, 0.02,     1.55, 0.55, -0.51, -0.18, 0.54, 1.94, -0.27,
    -0.24, 1.0, -0.89, -0.29, 0.88, 0.58, 0.09,      0.67, -2.83, 1.02, -0.96, -1.67, 0.28, 0.7,
    -0.44, -1.08, 0.03, -0.05, 1.41, 0.75, 0.19,     1.11, -0.21, -0.93, 0.58, 0.59, -0.22, -0.78,
];

fn metrics(gold: &[&[u32]], predicted: &[&[u32]], ranked: Ranking<'_>) -> MultilabelMetrics {
    let (gold, predicted) = (Lists::new(gold), Lists::new(predicted));
    multilabel(&MultilabelRows::new(7, gold.view(), predicted.view(), ranked)).unwrap()
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} ≠ {b}");
}

/// Y and P are the indicator matrices of GOLD and PREDICTED, S the scores. Label 6 is nowhere.
#[test]
fn eight_rows_agree_with_scikit_learn() {
    let m = metrics(&GOLD, &PREDICTED, Ranking::Scores(&SCORES));
    close(m.micro_f1, 0.6923076923076923); // f1_score(Y, P, average="micro", zero_division=0)
    close(m.macro_f1, 0.5380952380952381); // f1_score(Y, P, average="macro", zero_division=0)
    close(m.hamming_loss, 0.14285714285714285); // hamming_loss(Y, P)
    close(m.subset_accuracy, 0.375); // accuracy_score(Y, P)
    // np.take_along_axis(Y, np.argsort(-S, axis=1)[:, :k], 1).sum() / (8 * k)
    close(m.p_at_1, 0.375);
    close(m.p_at_3, 0.3333333333333333);
    close(m.p_at_5, 0.3);
    close(m.ndcg_at_5.unwrap(), 0.6729622895069456); // ndcg_score(Y[w], S[w], k=5) with w = Y.sum(1) > 0
    assert_eq!((m.examples, m.labels, m.unseen), (8, 7, 0));
}

/// The same with two more columns in Y: rows 1 and 2 have unseen labels, one and two.
#[test]
fn unseen_labels_are_missed_positives() {
    let mut gold = GOLD;
    gold[1] = &[UNSEEN, 1];
    gold[2] = &[UNSEEN, UNSEEN];
    let m = metrics(&gold, &PREDICTED, Ranking::Scores(&SCORES));
    close(m.micro_f1, 0.6206896551724138);
    close(m.macro_f1, 0.4185185185185185);
    close(m.hamming_loss, 0.1527777777777778);
    close(m.subset_accuracy, 0.25);
    close(m.ndcg_at_5.unwrap(), 0.576824819577382); // scores −100 and −101 for the two
    close(m.p_at_5, 0.3);
    assert_eq!((m.labels, m.unseen), (7, 3));

    let (gold, predicted) = (Lists::new(&gold), Lists::new(&PREDICTED));
    let rows = MultilabelRows::new(7, gold.view(), predicted.view(), Ranking::Scores(&SCORES));
    let more = multilabel(&MultilabelRows { unseen_labels: 3, ..rows }).unwrap();
    close(more.macro_f1, 0.4185185185185185 * 9.0 / 10.0);
    close(more.hamming_loss, 0.1527777777777778 * 9.0 / 10.0);
}

#[test]
fn top_lists_say_what_scores_say() {
    let by_scores = metrics(&GOLD, &PREDICTED, Ranking::Scores(&SCORES));
    for width in [5, 6] {
        let mut ids = Vec::new();
        for row in SCORES.chunks(7) {
            let mut order: Vec<u32> = (0..7).collect();
            order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
            ids.extend_from_slice(&order[..width]);
        }
        assert_eq!(metrics(&GOLD, &PREDICTED, Ranking::Top { width, ids: &ids }), by_scores);
    }
    // A list that ends early, and one that repeats itself.
    let (one, list) = (Lists::new(&[&[3, 4]]), [3, 3, UNSEEN, UNSEEN, UNSEEN]);
    let rows =
        MultilabelRows::new(9, one.view(), one.view(), Ranking::Top { width: 5, ids: &list });
    let m = multilabel(&rows).unwrap();
    close(m.p_at_5, 0.2);
    close(m.ndcg_at_5.unwrap(), 1.0 / (1.0 + 1.0 / 3f64.log2()));
}

#[test]
fn ranks_by_hand() {
    // Equal scores: the lowest label first, so that 0 and 1 are ranked before 2.
    let gold = Lists::new(&[&[2]]);
    let rows = |scores| MultilabelRows::new(3, gold.view(), gold.view(), Ranking::Scores(scores));
    let m = multilabel(&rows(&[1.0, 1.0, 1.0])).unwrap();
    close(m.p_at_1, 0.0);
    close(m.p_at_3, 1.0 / 3.0);
    close(m.p_at_5, 1.0 / 5.0); // also where there are fewer labels than 5
    close(m.ndcg_at_5.unwrap(), 1.0 / 4f64.log2());
    let m = multilabel(&rows(&[f64::NEG_INFINITY, 1.0, f64::INFINITY])).unwrap();
    assert_eq!((m.p_at_1, m.ndcg_at_5), (1.0, Some(1.0)));
}

#[test]
fn rows_without_labels_are_legal() {
    let m = metrics(&[&[], &[]], &[&[], &[1]], Ranking::Scores(&SCORES[..14]));
    assert_eq!((m.subset_accuracy, m.p_at_1, m.ndcg_at_5), (0.5, 0.0, None));
    assert_eq!((m.micro_f1, m.macro_f1), (0.0, 0.0));
    close(m.hamming_loss, 1.0 / 14.0);
    let m = metrics(&[&[]], &[&[]], Ranking::Scores(&SCORES[..7]));
    // f1_score(zeros, zeros, zero_division=0)
    assert_eq!((m.subset_accuracy, m.micro_f1, m.hamming_loss), (1.0, 0.0, 0.0));
    // Lists are sets.
    let twice = metrics(&[&[1, 1, 2]], &[&[2, 1, 2]], Ranking::Scores(&SCORES[..7]));
    assert_eq!((twice.subset_accuracy, twice.micro_f1), (1.0, 1.0));
}

#[test]
fn what_does_not_fit_is_refused() {
    let scores = Ranking::Scores(&SCORES[..7]);
    let ok = Lists::new(&[&[1]]);
    let said = |gold: &[&[u32]], predicted: &[&[u32]], ranked| {
        let (gold, predicted) = (Lists::new(gold), Lists::new(predicted));
        multilabel(&MultilabelRows::new(7, gold.view(), predicted.view(), ranked))
            .unwrap_err()
            .to_string()
    };
    assert!(said(&[], &[], Ranking::Scores(&[])).contains("no rows"));
    assert_eq!(
        said(&[&[1], &[], &[8]], &[&[], &[], &[]], Ranking::Scores(&SCORES[..21])),
        "row 3: the gold label 8 is not one of the 7 of the model"
    );
    assert!(said(&[&[1]], &[&[UNSEEN]], scores).contains("predicted label"));
    assert!(said(&[&[1]], &[&[1], &[]], scores).contains("rows of predicted labels"));
    assert!(said(&[&[1]], &[&[1]], Ranking::Scores(&[0.0])).contains("7 scores"));
    assert!(said(&[&[1]], &[&[1]], Ranking::Scores(&[f64::NAN; 7])).contains("score NaN"));
    let top = |width, ids| said(&[&[1]], &[&[1]], Ranking::Top { width, ids });
    assert!(top(4, &[0, 1, 2, 3]).contains("5 ranked labels a row"));
    assert!(top(5, &[0, 1, 2, 3]).contains("5 ranked labels are needed"));
    assert!(top(5, &[0, 1, 2, 3, 7]).contains("ranked label 7"));
    for start in [&[0, 2][..], &[1, 1], &[0, 1, 0, 1], &[]] {
        let bad = LabelLists { start, ids: &[1] };
        let rows = MultilabelRows::new(7, bad, ok.view(), scores);
        assert_eq!(multilabel(&rows), Err(Error::Lists { what: "gold" }));
    }
}

#[test]
fn json_has_the_names_of_eval() {
    let json = serde_json::to_value(metrics(&GOLD, &PREDICTED, Ranking::Scores(&SCORES))).unwrap();
    for name in
        ["micro_f1", "macro_f1", "hamming_loss", "subset_accuracy", "p@1", "p@3", "p@5", "ndcg@5"]
    {
        assert!(json[name].is_f64(), "{name}");
    }
    assert_eq!((&json["examples"], &json["labels"]), (&8.into(), &7.into()));
}
