//! Text features in the program: from flags to a specification, and how it is described.

use anyhow::bail;
use lineal::data::ColumnKind;
use lineal::text::{DocFreq, Norm, StopWords, TextEncoder, TextSpec, Tokens, Weights};
use lineal::{Dataset, FeatureSpec, Features};
use serde_json::{Value, json};

use crate::args::TextArgs;
use crate::talk::{count, thousands};

/// What the flags ask for.
pub fn features(args: &TextArgs) -> anyhow::Result<FeatureSpec> {
    let spec = FeatureSpec::default();
    let text = args.spec(spec.text.clone())?;
    Ok(FeatureSpec { text, no_pairs_of_few: args.ngrams.is_none(), ..spec })
}

/// Flags of text without any text are a mistake.
pub fn check(args: &TextArgs, data: &Dataset, features: &Features) -> anyhow::Result<()> {
    match args.first() {
        Some("--hash") if features.templates().is_some() || has_hashed(data) => Ok(()),
        Some(flag) if features.text().is_none() => {
            bail!(
                "{}: {flag} is about text, and no column is text; name some with --text",
                data.source
            )
        }
        _ => Ok(()),
    }
}

fn has_hashed(data: &Dataset) -> bool {
    let is_hashed = |kind: &ColumnKind| matches!(kind, ColumnKind::Hashed { .. });
    data.schema.columns.iter().flatten().any(|column| is_hashed(&column.kind))
}

/// `text as words 1-2, sublinear tf–idf, length 1: 203,412 features`.
pub fn one_line(encoder: &TextEncoder) -> String {
    let spec = encoder.spec();
    let features = match (spec.hash_bits, encoder.collisions()) {
        (Some(bits), Some(met)) => format!(
            "hashed into 2^{bits} = {}, {:.1} % of occurrences in one with another name",
            count(encoder.n_features(), "feature"),
            100.0 * met.share()
        ),
        _ => count(encoder.n_features(), "feature"),
    };
    format!("text as {}: {features}", recipe(spec))
}

/// The settings, and the collision report of a hashing encoder.
pub fn as_json(encoder: &TextEncoder) -> Value {
    let met = encoder
        .collisions()
        .map(|met| json!({"seen": met.seen, "others": met.others, "share": met.share()}));
    json!({"features": encoder.n_features(), "spec": encoder.spec(), "collisions": met})
}

/// What is taken from text and how it is weighed, in words.
pub fn recipe(spec: &TextSpec) -> String {
    let mut parts = Vec::new();
    let mut part = |name: &str, range: Option<(u8, u8)>| {
        if let Some((lo, hi)) = range {
            let lengths = if lo == hi { lo.to_string() } else { format!("{lo}-{hi}") };
            parts.push(format!("{name} {lengths}"));
        }
    };
    let words = match &spec.tokens {
        Tokens::Words => "words",
        Tokens::WordsAndMarks => "words and marks",
        Tokens::Unicode => "unicode words",
        Tokens::Whitespace => "words between spaces",
        Tokens::Pattern(_) => "matches of the pattern",
    };
    part(words, spec.ngrams);
    part("characters", spec.chars);
    part("prefixes", spec.prefixes);
    part("suffixes", spec.suffixes);
    if spec.stop_words != StopWords::None {
        parts.push("without stop words".to_owned());
    }
    match spec.min_df {
        DocFreq::Count(n) if n > 1 => {
            parts.push(format!("in {} rows or more", thousands(n as usize)))
        }
        DocFreq::Fraction(share) if share > 0.0 => {
            parts.push(format!("in {share} of the rows or more"))
        }
        _ => {}
    }
    match spec.max_df {
        DocFreq::Count(n) => parts.push(format!("in {} or fewer", count(n as usize, "row"))),
        DocFreq::Fraction(share) if share < 1.0 => {
            parts.push(format!("in {share} of the rows or fewer"))
        }
        DocFreq::Fraction(_) => {}
    }
    parts.push(
        match spec.weights {
            Weights::Counts => "counts",
            Weights::Binary => "0 or 1",
            Weights::Sublinear => "1 + ln(count)",
            Weights::TfIdf { sublinear: true } => "sublinear tf–idf",
            Weights::TfIdf { sublinear: false } => "tf–idf",
        }
        .to_owned(),
    );
    match spec.norm {
        Norm::L2 => parts.push("length 1".to_owned()),
        Norm::L2PerBlock => parts.push("each of length 1".to_owned()),
        Norm::None => {}
    }
    parts.join(", ")
}
