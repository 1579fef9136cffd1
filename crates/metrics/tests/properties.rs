//! What holds for any predictions.

use lineal_metrics::{
    Classified, LabelLists, MultilabelRows, Ranking, UNSEEN, auc, classify, multilabel, regress,
};
use proptest::prelude::*;

const K: usize = 4;

/// Gold (sometimes unseen), predicted, and probabilities of K classes.
fn rows() -> impl Strategy<Value = (Vec<u32>, Vec<u32>, Vec<f64>)> {
    let gold = prop_oneof![9 => 0..K as u32, 1 => Just(UNSEEN)];
    let row = (gold, 0..K as u32, prop::array::uniform4(0.0..1.0f64));
    prop::collection::vec(row, 1..40).prop_map(|rows| {
        let proba = rows.iter().flat_map(|(_, _, p)| {
            let sum: f64 = p.iter().sum::<f64>() + 1e-9;
            p.map(|p| (p + 1e-9 / K as f64) / sum)
        });
        (rows.iter().map(|r| r.0).collect(), rows.iter().map(|r| r.1).collect(), proba.collect())
    })
}

proptest! {
    #[test]
    fn fractions_stay_fractions((gold, predicted, proba) in rows()) {
        let m = classify(&Classified { proba: Some(&proba), ..Classified::new(K, &gold, &predicted) }).unwrap();
        for fraction in [m.accuracy, m.macro_f1, m.micro_f1, m.mean_cost, m.ece.unwrap(), m.brier.unwrap() / 2.0] {
            prop_assert!((0.0..=1.0 + 1e-12).contains(&fraction), "{m:?}");
        }
        prop_assert!(m.log_loss.unwrap() >= 0.0 && m.log_loss.unwrap() < 35.0);
        prop_assert!((m.accuracy + m.mean_cost - 1.0).abs() < 1e-12);
        let counted: u64 = m.confusion.iter().flatten().sum();
        prop_assert_eq!(counted + m.unseen, m.examples);
        let right: u64 = (0..K).map(|k| m.confusion[k][k]).sum();
        prop_assert!((right as f64 / m.examples as f64 - m.micro_f1).abs() < 1e-12);
        prop_assert_eq!(m.bins.iter().map(|b| b.count).sum::<u64>(), m.examples);
        prop_assert_eq!(m.per_class.iter().map(|s| s.support).sum::<u64>() + m.unseen, m.examples);
    }

    #[test]
    fn renaming_the_classes_changes_only_the_order(
        (gold, predicted, proba) in rows(),
        names in Just([0u32, 1, 2, 3]).prop_shuffle(),
    ) {
        let rename = |ids: &[u32]| -> Vec<u32> {
            ids.iter().map(|&y| if y == UNSEEN { y } else { names[y as usize] }).collect()
        };
        let (gold2, predicted2) = (rename(&gold), rename(&predicted));
        let mut proba2 = vec![0.0; proba.len()];
        for (row2, row) in proba2.chunks_mut(K).zip(proba.chunks(K)) {
            for k in 0..K {
                row2[names[k] as usize] = row[k];
            }
        }
        let a = classify(&Classified { proba: Some(&proba), ..Classified::new(K, &gold, &predicted) }).unwrap();
        let b = classify(&Classified { proba: Some(&proba2), ..Classified::new(K, &gold2, &predicted2) }).unwrap();
        for (x, y) in [
            (a.accuracy, b.accuracy), (a.macro_f1, b.macro_f1), (a.log_loss.unwrap(), b.log_loss.unwrap()),
            (a.brier.unwrap(), b.brier.unwrap()), (a.ece.unwrap(), b.ece.unwrap()),
        ] {
            prop_assert!((x - y).abs() < 1e-12);
        }
        for y in 0..K {
            prop_assert_eq!(a.per_class[y].f1, b.per_class[names[y] as usize].f1);
            for y_hat in 0..K {
                prop_assert_eq!(a.confusion[y][y_hat], b.confusion[names[y] as usize][names[y_hat] as usize]);
            }
        }
    }

    #[test]
    fn the_gold_is_perfect(gold in prop::collection::vec(0..K as u32, 1..40)) {
        let mut proba = vec![0.0; gold.len() * K];
        for (row, &y) in proba.chunks_mut(K).zip(&gold) {
            row[y as usize] = 1.0;
        }
        let m = classify(&Classified { proba: Some(&proba), ..Classified::new(K, &gold, &gold) }).unwrap();
        prop_assert_eq!([m.accuracy, m.micro_f1, m.mean_cost], [1.0, 1.0, 0.0]);
        prop_assert!((m.macro_f1 - 1.0).abs() < 1e-12);
        prop_assert_eq!([m.log_loss, m.brier, m.ece], [Some(0.0); 3]);
    }

    /// The safe and slow twin: look at every pair.
    #[test]
    fn auc_is_the_fraction_of_ordered_pairs(
        rows in prop::collection::vec((any::<bool>(), (-3i8..3).prop_map(f64::from)), 1..30),
    ) {
        let (positive, scores): (Vec<bool>, Vec<f64>) = rows.iter().copied().unzip();
        let (mut won, mut pairs) = (0.0, 0.0);
        for (_, a) in rows.iter().filter(|r| r.0) {
            for (_, b) in rows.iter().filter(|r| !r.0) {
                pairs += 1.0;
                won += if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
            }
        }
        let expected = (pairs > 0.0).then(|| won / pairs);
        match (auc(&positive, &scores).unwrap(), expected) {
            (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12),
            (a, b) => prop_assert_eq!(a, b),
        }
    }

    #[test]
    fn regression_errors_are_in_order(rows in prop::collection::vec((-1e6..1e6f64, -1e6..1e6f64), 1..40)) {
        let (gold, predicted): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        let m = regress(&gold, &predicted).unwrap();
        prop_assert!(0.0 <= m.mae && m.mae <= m.rmse * (1.0 + 1e-12));
        prop_assert!(m.r2.is_none_or(|r2| r2 <= 1.0));
    }

    /// The safe and slow twin: an indicator matrix, and every label sorted.
    #[test]
    fn multilabel_metrics_are_those_of_indicator_matrices(
        rows in prop::collection::vec(prop::collection::vec((any::<bool>(), any::<bool>(), -3i8..3), 8), 1..20),
    ) {
        let lists = |which: fn(&(bool, bool, i8)) -> bool| {
            let (mut start, mut ids) = (vec![0], Vec::new());
            for row in &rows {
                ids.extend((0u32..).zip(row).filter(|(_, entry)| which(entry)).map(|(label, _)| label));
                start.push(ids.len());
            }
            (start, ids)
        };
        let (gold, predicted) = (lists(|entry| entry.0), lists(|entry| entry.1));
        let scores: Vec<f64> = rows.iter().flatten().map(|entry| entry.2.into()).collect();
        let m = multilabel(&MultilabelRows::new(
            8,
            LabelLists { start: &gold.0, ids: &gold.1 },
            LabelLists { start: &predicted.0, ids: &predicted.1 },
            Ranking::Scores(&scores),
        )).unwrap();

        let n = rows.len() as f64;
        let count = |label: Option<usize>, which: fn(&(bool, bool, i8)) -> bool| {
            let of = rows.iter().flat_map(|row| row.iter().enumerate());
            of.filter(|(l, entry)| label.is_none_or(|label| label == *l) && which(entry)).count() as f64
        };
        let f1 = |label| {
            let (right, gold, predicted) =
                (count(label, |e| e.0 && e.1), count(label, |e| e.0), count(label, |e| e.1));
            if gold + predicted == 0.0 { 0.0 } else { 2.0 * right / (gold + predicted) }
        };
        let same = |a: f64, b: f64| (a - b).abs() < 1e-12;
        prop_assert!(same(m.micro_f1, f1(None)));
        prop_assert!(same(m.macro_f1, (0..8).map(|l| f1(Some(l))).sum::<f64>() / 8.0));
        prop_assert!(same(m.hamming_loss, count(None, |e| e.0 != e.1) / (8.0 * n)));
        let exact = rows.iter().filter(|row| row.iter().all(|e| e.0 == e.1)).count();
        prop_assert!(same(m.subset_accuracy, exact as f64 / n));
        let (mut found, mut gain, mut n_gain) = ([0.0; 3], 0.0, 0.0);
        for row in &rows {
            let mut order: Vec<usize> = (0..8).collect();
            order.sort_by_key(|&l| -row[l].2);
            for (found, k) in found.iter_mut().zip([1, 3, 5]) {
                *found += order[..k].iter().filter(|&&l| row[l].0).count() as f64 / k as f64;
            }
            let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
            let ideal: f64 = (0..row.iter().filter(|e| e.0).count().min(5)).map(discount).sum();
            if ideal > 0.0 {
                n_gain += 1.0;
                gain += (0..5).filter(|&rank| row[order[rank]].0).map(discount).sum::<f64>() / ideal;
            }
        }
        prop_assert!(same(m.p_at_1, found[0] / n) && same(m.p_at_3, found[1] / n) && same(m.p_at_5, found[2] / n));
        prop_assert!(m.ndcg_at_5.is_none() == (n_gain == 0.0));
        prop_assert!(m.ndcg_at_5.is_none_or(|ndcg| same(ndcg, gain / n_gain)));
    }
}
