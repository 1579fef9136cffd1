//! The text encoder against a plain one: maps, strings and sums, nothing shared with the crate.

use lineal_features::text::{DocFreq, TextEncoder, TextFit, TextSpec, Tokens};
use lineal_linalg::{Csr, Row};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Words that whitespace separates, in n-grams of lengths `lo..=hi`.
fn grams(text: &str, (lo, hi): (u8, u8)) -> Vec<String> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    (lo..=hi)
        .flat_map(|n| words.windows(n as usize).map(|w| w.join(" ")).collect::<Vec<_>>())
        .collect()
}

/// Sublinear tf–idf, scaled to length 1: features by falling document frequency, then by name; and dense rows.
fn plain(texts: &[String], range: (u8, u8), min_df: u64) -> (Vec<String>, Vec<Vec<f64>>) {
    let counts: Vec<BTreeMap<String, f64>> = texts
        .iter()
        .map(|text| {
            let mut counts = BTreeMap::new();
            grams(text, range).into_iter().for_each(|g| *counts.entry(g).or_insert(0.0) += 1.0);
            counts
        })
        .collect();
    let mut df = BTreeMap::new();
    counts.iter().flat_map(BTreeMap::keys).for_each(|g| *df.entry(g.clone()).or_insert(0u64) += 1);
    let mut names: Vec<(String, u64)> = df.into_iter().filter(|&(_, df)| df >= min_df).collect();
    names.sort_by_key(|&(_, df)| std::cmp::Reverse(df));
    let n = texts.len() as f64;
    let rows = counts.iter().map(|counts| {
        let value = |(name, df): &(String, u64)| {
            let idf = ((1.0 + n) / (1.0 + *df as f64)).ln() + 1.0;
            counts.get(name).map_or(0.0, |count| (1.0 + count.ln()) * idf)
        };
        let row: Vec<f64> = names.iter().map(value).collect();
        let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        row.iter().map(|v| if norm > 0.0 { v / norm } else { 0.0 }).collect()
    });
    let rows = rows.collect();
    (names.into_iter().map(|(name, _)| name).collect(), rows)
}

fn dense(rows: &Csr) -> Vec<Vec<f64>> {
    let row = |i| {
        let mut out = vec![0.0; rows.n_cols()];
        if let Row::Sparse(row) = rows.row(i) {
            row.idx().iter().zip(row.val()).for_each(|(&j, &v)| out[j as usize] = f64::from(v));
        }
        out
    };
    (0..rows.n_rows()).map(row).collect()
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![4 => "[ab]{1,2}", 1 => "[A-Cé]{1,9}", 1 => "(x|Y){100,140}"];
    prop::collection::vec(prop::collection::vec(word, 0..30).prop_map(|w| w.join(" ")), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tf_idf_equals_the_plain_one(texts in texts(), range in (1u8..3, 0u8..3), min_df in 1u64..3) {
        let range = (range.0, range.0 + range.1);
        let spec = TextSpec {
            tokens: Tokens::Whitespace,
            ngrams: Some(range),
            min_df: DocFreq::Count(min_df),
            ..TextSpec::default()
        };
        let (names, want) = plain(&texts, range, min_df);
        let Ok((encoder, rows)) = TextEncoder::fit(spec, &texts) else {
            prop_assert!(names.is_empty());
            return Ok(());
        };
        let found: Vec<_> = (0..encoder.n_features()).map(|j| encoder.feature_name(j)).collect();
        prop_assert_eq!(found, names);
        for (row, want) in dense(&rows).iter().flatten().zip(want.iter().flatten()) {
            prop_assert!((row - want).abs() < 1e-6, "{row} instead of {want}");
        }
        prop_assert_eq!(encoder.encode(&texts).unwrap(), rows);
    }

    #[test]
    fn threads_and_batches_change_nothing(texts in texts(), cut in 0usize..40, hashed in any::<bool>()) {
        let spec = TextSpec {
            ngrams: Some((1, 2)),
            chars: Some((2, 3)),
            hash_bits: hashed.then_some(6),
            ..TextSpec::default()
        };
        let many: Vec<String> = (0..20).flat_map(|_| texts.clone()).collect();
        let fit = |n_threads, cut: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let mut fit = TextFit::new(spec.clone()).unwrap();
                fit.push(&many[..cut]).unwrap();
                fit.push(&many[cut..]).unwrap();
                fit.finish().map(|(encoder, rows)| {
                    let names: Vec<_> =
                        (0..encoder.n_features()).map(|j| encoder.feature_name(j).into_owned()).collect();
                    (names, encoder.collisions(), rows)
                })
            })
        };
        let (one, three) = (fit(1, 0), fit(3, 0));
        prop_assert_eq!(&one.is_ok(), &three.is_ok());
        if let (Ok(one), Ok(three)) = (one, three) {
            prop_assert_eq!(&one, &three);
            if !hashed {
                // With hashing a batch's last chunk may be short, and names are voted on chunk by chunk.
                prop_assert_eq!(&fit(2, cut.min(many.len())).unwrap(), &one);
            }
        }
    }
}

#[test]
fn a_vocabulary_is_the_same_without_rows() {
    let texts = ["the cat sat", "the dog sat on the mat", "", "a cat"];
    let vocabulary = TextSpec { ngrams: Some((1, 2)), ..TextSpec::default() };
    let hashed = TextSpec { hash_bits: Some(10), ..vocabulary.clone() };
    for spec in [vocabulary, hashed] {
        let fit = || {
            let mut fit = TextFit::new(spec.clone()).unwrap();
            fit.push(&texts[..2]).unwrap();
            fit.push(&texts[2..]).unwrap();
            fit
        };
        let (with, _) = fit().finish().unwrap();
        let without = fit().finish_without_rows().unwrap();
        assert_eq!(without.parts().bytes, with.parts().bytes);
        assert_eq!(without.parts().idf, with.parts().idf);
        assert_eq!(without.encode(&texts[..]).unwrap(), with.encode(&texts[..]).unwrap());
    }
}
