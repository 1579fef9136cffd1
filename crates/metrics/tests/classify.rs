//! Classification by hand, and against scikit-learn 1.9.1 (`from sklearn.metrics import *`).

use lineal_metrics::{Classified, Error, MAX_CONFUSION, UNSEEN, auc, calibration, classify};
use lineal_model::cost::CostMatrix;

const GOLD: [u32; 12] = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2];
const PREDICTED: [u32; 12] = [0, 0, 1, 2, 1, 1, 0, 2, 2, 2, 0, 1];
#[rustfmt::skip]
const PROBA: [f64; 36] = [
    0.7, 0.2, 0.1,   0.5, 0.25, 0.25,   0.3, 0.6, 0.1,     0.2, 0.3, 0.5,
    0.1, 0.8, 0.1,   0.05, 0.9, 0.05,   0.5, 0.4, 0.1,     0.1, 0.1, 0.8,
    0.0, 0.02, 0.98, 0.25, 0.3, 0.45,   0.4, 0.25, 0.35,   0.2, 0.5, 0.3,
];

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} ≠ {b}");
}

#[test]
fn three_classes_agree_with_scikit_learn() {
    let m = classify(&Classified { proba: Some(&PROBA), ..Classified::new(3, &GOLD, &PREDICTED) })
        .unwrap();
    close(m.accuracy, 0.5833333333333334); // accuracy_score(gold, pred)
    close(m.macro_f1, 0.5793650793650794); // f1_score(gold, pred, average="macro")
    close(m.micro_f1, 0.5833333333333334); // f1_score(gold, pred, average="micro")
    close(m.log_loss.unwrap(), 0.7003063769815849); // log_loss(gold, proba)
    close(m.brier.unwrap(), 0.4159); // brier_score_loss(gold, proba)
    assert_eq!(m.confusion, [[2, 1, 1], [1, 2, 0], [1, 1, 3]]); // confusion_matrix(gold, pred)
    // precision_recall_fscore_support(gold, pred)
    let expected = [(0.5, 0.5, 0.5, 4), (0.5, 2.0 / 3.0, 4.0 / 7.0, 3), (0.75, 0.6, 2.0 / 3.0, 5)];
    for (class, (precision, recall, f1, support)) in expected.into_iter().enumerate() {
        let s = &m.per_class[class];
        close(s.precision, precision);
        close(s.recall, recall);
        close(s.f1, f1);
        assert_eq!((s.class, s.support), (class, support));
    }
    close(m.mcc, 0.37896836447993354); // matthews_corrcoef(gold, pred)
    close(m.baseline, 5.0 / 12.0);
    close(m.mean_cost, 1.0 - m.accuracy);
    assert_eq!((m.auc, m.examples, m.unseen), (None, 12, 0));
}

/// numpy: Σ over bins of `m.mean() * abs(right[m].mean() - conf[m].mean())`, m = (conf > b/15) & (conf <= (b+1)/15).
#[test]
fn the_calibration_error_is_that_of_its_definition() {
    let c = calibration(3, &GOLD, &PROBA).unwrap();
    close(c.ece, 0.2808333333333332);
    let bins: Vec<_> = c.bins.iter().map(|b| (b.accuracy, b.count)).collect();
    let expected =
        [(0.0, 1), (1.0, 1), (0.25, 4), (0.0, 1), (1.0, 1), (1.0, 2), (1.0, 1), (1.0, 1)];
    assert_eq!(bins, expected);
    for (b, confidence) in c.bins.iter().zip([0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98]) {
        close(b.confidence, confidence);
    }
}

#[test]
fn two_classes_agree_with_scikit_learn() {
    let gold = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1];
    let p1 = [0.1, 0.35, 0.35, 0.35, 0.8, 0.65, 0.7, 0.05, 0.5, 0.65];
    let proba: Vec<f64> = p1.iter().flat_map(|p| [1.0 - p, *p]).collect();
    let predicted: Vec<u32> = p1.iter().map(|&p| u32::from(p > 0.5)).collect();
    let rows = Classified { proba: Some(&proba), ..Classified::new(2, &gold, &predicted) };
    let m = classify(&rows).unwrap();
    close(m.auc.unwrap(), 0.78); // roc_auc_score(gold, p1)
    close(m.pr_auc.unwrap(), 0.8); // average_precision_score(gold, p1)
    close(m.mcc, 0.408248290463863); // matthews_corrcoef(gold, p1 > 0.5)
    close(m.brier.unwrap(), 0.19050000000000003); // brier_score_loss(gold, p1)
    close(m.log_loss.unwrap(), 0.5440651691539207); // log_loss(gold, p1)
    // Scores take precedence, and only their order counts.
    let scores = p1.map(|p: f64| (p / (1.0 - p)).ln());
    let by_scores = Classified { scores: Some(&scores), proba: None, ..rows };
    close(classify(&by_scores).unwrap().auc.unwrap(), 0.78);
    let reversed = scores.map(|s| -s);
    let reversed = Classified { scores: Some(&reversed), ..rows };
    close(classify(&reversed).unwrap().auc.unwrap(), 1.0 - 0.78);
}

#[test]
fn absent_classes_do_not_lower_macro_f1() {
    let m = classify(&Classified::new(5, &[0, 0, 2, 2, 3], &[0, 2, 2, 2, 2])).unwrap();
    // f1_score([0,0,2,2,3], [0,2,2,2,2], average="macro", zero_division=0)
    close(m.macro_f1, 0.4444444444444444);
    assert_eq!(m.per_class.len(), 5);
    assert_eq!((m.log_loss, m.brier, m.ece), (None, None, None));
    assert!(m.bins.is_empty());
}

#[test]
fn unseen_labels_are_mistakes() {
    let gold = [0, 0, 1, UNSEEN, UNSEEN, UNSEEN];
    let predicted = [0, 1, 1, 0, 1, 0];
    let proba = [0.9, 0.1, 0.5, 0.5, 0.0, 1.0, 1.0, 0.0, 0.5, 0.5, 0.6, 0.4];
    let rows = Classified {
        proba: Some(&proba),
        unseen_classes: 2,
        ..Classified::new(2, &gold, &predicted)
    };
    let m = classify(&rows).unwrap();
    // f1_score([0,0,1,9,9,8], [0,1,1,0,1,0], average="macro"), and "micro"
    close(m.macro_f1, 0.225);
    close(m.micro_f1, 0.3333333333333333);
    close(m.accuracy, 2.0 / 6.0);
    close(m.mean_cost, 4.0 / 6.0);
    assert_eq!(m.unseen, 3);
    assert_eq!(m.confusion, [[1, 1], [0, 1]]);
    assert_eq!(m.auc, Some(1.0));
    close(m.log_loss.unwrap(), (-(0.9f64.ln()) - 0.5f64.ln() - 3.0 * 1e-15f64.ln()) / 6.0);
    // By hand: halves of 0.02, 0.5, 0, and of 1 + Σp² for the unseen: 2, 1.5, 1.52.
    close(m.brier.unwrap(), (0.02 + 0.5 + 0.0 + 2.0 + 1.5 + 1.52) / 12.0);

    let all = classify(&Classified::new(2, &[UNSEEN], &[1])).unwrap();
    assert_eq!((all.accuracy, all.macro_f1, all.micro_f1, all.mean_cost), (0.0, 0.0, 0.0, 1.0));
}

#[test]
fn costs_are_averaged() {
    let cost = CostMatrix::new(3, vec![0.0, 1.0, 4.0, 2.0, 0.0, 0.5, 10.0, 3.0, 0.0]).unwrap();
    let rows =
        |gold, predicted| Classified { cost: Some(&cost), ..Classified::new(3, gold, predicted) };
    let m = classify(&rows(&[0, 1, 2, 2], &[2, 1, 0, 1])).unwrap();
    close(m.mean_cost, (4.0 + 0.0 + 10.0 + 3.0) / 4.0);
    // The dearest mistake in column 1 is 3.
    close(classify(&rows(&[UNSEEN], &[1])).unwrap().mean_cost, 3.0);
    let two = Classified { cost: Some(&cost), ..Classified::new(2, &[0], &[0]) };
    assert!(matches!(classify(&two), Err(Error::Length { .. })));
}

#[test]
fn certain_and_wrong_is_dear_but_finite() {
    let c = calibration(2, &[0, 1], &[0.0, 1.0, 1.0, 0.0]).unwrap();
    close(c.log_loss, 34.538776394910684); // by hand: −ln 1e-15
    assert_eq!((c.brier, c.ece), (1.0, 1.0));
    let c = calibration(2, &[0, 1], &[1.0, 0.0, 0.0, 1.0]).unwrap();
    assert_eq!((c.log_loss, c.brier, c.ece), (0.0, 0.0, 0.0));
    assert!(c.log_loss.is_sign_positive());
}

#[test]
fn auc_by_hand() {
    let positive = [false, true, true, false];
    assert_eq!(auc(&positive, &[0.0, 1.0, 1.0, 0.0]).unwrap(), Some(1.0));
    assert_eq!(auc(&positive, &[0.0; 4]).unwrap(), Some(0.5));
    assert_eq!(auc(&positive, &[-0.0, 0.0, 0.0, 0.0]).unwrap(), Some(0.5));
    // Pairs: 2 > 1, 2 > 1.5, 1 = 1, 1 < 1.5: 2.5 of 4.
    assert_eq!(auc(&positive, &[1.0, 2.0, 1.0, 1.5]).unwrap(), Some(0.625));
    assert_eq!(auc(&[true, true], &[1.0, 2.0]).unwrap(), None);
    assert_eq!(auc(&[], &[]).unwrap(), None);
    assert!(auc(&[true, false], &[f64::NAN, 1.0]).is_err());
}

#[test]
fn what_does_not_fit_is_refused() {
    let new = Classified::new;
    assert_eq!(classify(&new(2, &[], &[])), Err(Error::Empty));
    assert!(matches!(
        classify(&new(2, &[0], &[])),
        Err(Error::Length { expected: 1, found: 0, .. })
    ));
    let error = classify(&new(2, &[0, 2], &[0, 0])).unwrap_err();
    assert_eq!(error.to_string(), "row 2: the gold class 2 is not one of the 2 of the model");
    assert!(matches!(
        classify(&new(2, &[0], &[UNSEEN])),
        Err(Error::Class { what: "predicted", .. })
    ));
    for proba in
        [&[0.5][..], &[f64::NAN, 0.5], &[-0.1, 1.1], &[f64::INFINITY, 0.0], &[0.5, 0.5, 0.5]]
    {
        assert!(
            classify(&Classified { proba: Some(proba), ..new(2, &[0], &[0]) }).is_err(),
            "{proba:?}"
        );
    }
    assert!(classify(&Classified { scores: Some(&[1.0, 2.0]), ..new(2, &[0], &[0]) }).is_err());
}

#[test]
fn json_has_the_names_of_eval() {
    let m = classify(&Classified::new(2, &[0, 1], &[0, 0])).unwrap();
    let json = serde_json::to_value(m).unwrap();
    for name in ["accuracy", "macro_f1", "micro_f1", "mean_cost"] {
        assert!(json[name].is_f64(), "{name}");
    }
    for name in ["log_loss", "brier", "ece"] {
        assert!(json.get(name).is_some_and(serde_json::Value::is_null), "{name}");
    }
    assert_eq!(json["confusion"], serde_json::json!([[1, 0], [1, 0]]));
    // The reliability diagram: a point a bin that has rows.
    let proba = [0.75, 0.25, 0.75, 0.25];
    let m = classify(&Classified { proba: Some(&proba), ..Classified::new(2, &[0, 1], &[0, 0]) });
    let bin = serde_json::json!({"confidence": 0.75, "accuracy": 0.5, "count": 2});
    assert_eq!(serde_json::to_value(m.unwrap()).unwrap()["bins"], serde_json::json!([bin]));
}

#[test]
fn many_classes_have_no_table() {
    let m = classify(&Classified::new(MAX_CONFUSION + 1, &[7, 9], &[7, 8])).unwrap();
    assert!(m.confusion.is_empty());
    close(m.macro_f1, 1.0 / 3.0);
}
