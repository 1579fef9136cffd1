//! Regression against scikit-learn 1.9.1 (`from sklearn.metrics import *`).

use lineal_metrics::{Error, regress};

#[test]
fn five_rows_agree_with_scikit_learn() {
    let gold = [3.0, -0.5, 2.0, 7.0, 4.25];
    let m = regress(&gold, &[2.5, 0.0, 2.0, 8.0, -1.0]).unwrap();
    assert!((m.rmse - 2.4109126902482387).abs() < 1e-12); // root_mean_squared_error(gold, predicted)
    assert!((m.mae - 1.45).abs() < 1e-12); // mean_absolute_error(gold, predicted)
    assert!((m.r2.unwrap() - 0.05333876221498379).abs() < 1e-12); // r2_score(gold, predicted)
    let perfect = regress(&gold, &gold).unwrap();
    assert_eq!((perfect.rmse, perfect.mae, perfect.r2), (0.0, 0.0, Some(1.0)));
}

#[test]
fn constant_gold_has_an_r2_without_nan() {
    // r2_score([2,2,2], [2,2,2]) and r2_score([2,2,2], [2,2,3])
    assert_eq!(regress(&[2.0; 3], &[2.0; 3]).unwrap().r2, Some(1.0));
    assert_eq!(regress(&[2.0; 3], &[2.0, 2.0, 3.0]).unwrap().r2, Some(0.0));
    // The mean of three 0.1 is not 0.1.
    assert_eq!(regress(&[0.1; 3], &[0.1, 0.1, 0.2]).unwrap().r2, Some(0.0));
    assert_eq!(regress(&[2.0], &[3.0]).unwrap().r2, None);
}

#[test]
fn what_has_no_answer_is_refused() {
    assert_eq!(regress(&[], &[]), Err(Error::Empty));
    assert!(matches!(regress(&[1.0], &[]), Err(Error::Length { .. })));
    assert!(matches!(regress(&[1.0, f64::NAN], &[1.0, 1.0]), Err(Error::Value { row: 2, .. })));
    assert!(regress(&[1.0], &[f64::INFINITY]).is_err());
    assert!(regress(&[1e308, 0.0], &[-1e308, 0.0]).is_err());
}

#[test]
fn json_has_the_names_of_eval() {
    let json = serde_json::to_value(regress(&[1.0, 2.0], &[1.0, 3.0]).unwrap()).unwrap();
    assert!(["rmse", "mae", "r2"].iter().all(|name| json[name].is_f64()), "{json}");
}
