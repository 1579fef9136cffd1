//! Vocabularies in parts: what each of several processes counts in its texts adds up to the vocabulary of all.
//!
//! A part knows of every feature of its texts in how many documents it occurs and how often, without a limit: what is rare here may be common elsewhere. Parts are [merged](TextCounts::merge) in any
//! order, since whole numbers add up exactly; [`finish`](TextCounts::finish) then applies `min_df`, `max_df` and `max_features` and numbers the features as [`TextFit`](super::TextFit) does.

use super::encoder::{TextEncoder, TextParts};
use super::ngrams::Limits;
use super::rows::TextRows;
use super::spec::{DocFreq, Norm, TextSpec, Weights};
use super::weigh::smooth_idf;
use crate::Error;

/// What some texts say about the vocabulary of all.
///
/// ```
/// use lineal_features::text::{TextCounts, TextEncoder, TextSpec};
///
/// let spec = TextSpec { ngrams: Some((1, 2)), ..TextSpec::default() };
/// let here = TextCounts::new(&spec, &["the cat sat", "the dog sat"])?;
/// let there = TextCounts::new(&spec, &["the end"])?;
/// let parts = here.merge(there)?.finish(spec.clone())?;
/// let (whole, _) = TextEncoder::fit(spec, &["the cat sat", "the dog sat", "the end"])?;
/// assert_eq!(parts.parts().bytes, whole.parts().bytes);
/// assert_eq!(parts.parts().idf, whole.parts().idf);
/// # Ok::<(), lineal_features::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCounts {
    /// How many texts were counted.
    pub n_docs: u64,
    /// Names one after the other, as [`TextParts`] has them, in the order of their bytes.
    pub bytes: Vec<u8>,
    /// Where each name ends.
    pub ends: Vec<u32>,
    /// Documents with each feature.
    pub df: Vec<u32>,
    /// Occurrences of each feature.
    pub totals: Vec<u64>,
}

impl TextCounts {
    /// Counts the features of texts. Hashed features need no vocabulary and are refused.
    pub fn new(spec: &TextSpec, rows: &(impl TextRows + ?Sized)) -> Result<Self, Error> {
        if spec.hash_bits.is_some() {
            let remedy = "hashed features are the same everywhere without counting";
            return Err(Error::setting("hash_bits", "with counts of a vocabulary", remedy));
        }
        let all = TextSpec {
            min_df: DocFreq::Count(1),
            max_df: DocFreq::Fraction(1.0),
            max_features: None,
            weights: Weights::Counts,
            norm: Norm::None,
            ..spec.clone()
        };
        let n_docs = rows.n_rows() as u64;
        let (encoder, rows) = match TextEncoder::fit(all, rows) {
            Ok(done) => done,
            Err(Error::Empty(_)) => return Ok(Self { n_docs, ..Self::default() }),
            Err(other) => return Err(other),
        };
        let n = encoder.n_features();
        let (mut df, mut totals) = (vec![0; n], vec![0; n]);
        for i in 0..rows.n_rows() {
            rows.row(i).for_each(|j, count| {
                df[j] += 1;
                totals[j] += count as u64;
            });
        }
        let parts = encoder.parts();
        let names = names(&parts.bytes, &parts.ends);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_unstable_by_key(|&j| names[j]);
        let mut out = Self { n_docs, ..Self::default() };
        order.into_iter().try_for_each(|j| out.push(names[j], df[j], totals[j]))?;
        Ok(out)
    }

    fn push(&mut self, name: &[u8], df: u32, total: u64) -> Result<(), Error> {
        self.bytes.extend_from_slice(name);
        let end = u32::try_from(self.bytes.len());
        let limit = u64::from(u32::MAX);
        self.ends.push(end.map_err(|_| Error::TooMany { what: "bytes of names", limit })?);
        self.df.push(df);
        self.totals.push(total);
        Ok(())
    }

    /// How many features were seen.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The counts of both.
    pub fn merge(self, other: Self) -> Result<Self, Error> {
        let (left, right) = (names(&self.bytes, &self.ends), names(&other.bytes, &other.ends));
        let mut out = Self { n_docs: self.n_docs + other.n_docs, ..Self::default() };
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let order = match (left.get(i), right.get(j)) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            let (here, there) = (order.is_le(), order.is_ge());
            let of = |there: bool, counts: &[u32], at: usize| if there { counts[at] } else { 0 };
            let total = |there: bool, counts: &[u64], at: usize| if there { counts[at] } else { 0 };
            let df = of(here, &self.df, i).saturating_add(of(there, &other.df, j));
            let sum = total(here, &self.totals, i) + total(there, &other.totals, j);
            out.push(if here { left[i] } else { right[j] }, df, sum)?;
            i += usize::from(here);
            j += usize::from(there);
        }
        Ok(out)
    }

    /// The vocabulary of everything that was merged.
    pub fn finish(self, spec: TextSpec) -> Result<TextEncoder, Error> {
        let limits = Limits::new(&spec, self.n_docs as usize);
        let names = names(&self.bytes, &self.ends);
        let mut kept: Vec<usize> =
            (0..names.len()).filter(|&j| limits.is_kept(self.df[j])).collect();
        // Word by word: a space, which ends a word, comes before every character of one.
        let by_words = |&j: &usize| names[j].iter().map(|&b| if b == b' ' { 0 } else { b });
        kept.sort_by(|a, b| by_words(a).cmp(by_words(b)));
        if let Some(most) = spec.max_features.filter(|&most| most < kept.len()) {
            kept.sort_by_key(|&j| std::cmp::Reverse(self.totals[j]));
            kept.truncate(most);
            kept.sort_by(|a, b| by_words(a).cmp(by_words(b)));
        }
        if kept.is_empty() {
            let why = match names.len() {
                0 => "no text has a token: there are no features".to_owned(),
                n => format!("none of {n} features is left by min_df and max_df"),
            };
            return Err(Error::Empty(why));
        }
        kept.sort_by_key(|&j| std::cmp::Reverse(self.df[j]));
        let mut out = Self::default();
        kept.iter().try_for_each(|&j| out.push(names[j], self.df[j], 0))?;
        let n_docs = self.n_docs as usize;
        let idf = match spec.weights.has_idf() {
            true => out.df.iter().map(|&df| smooth_idf(df, n_docs)).collect(),
            false => Vec::new(),
        };
        let parts = TextParts {
            bytes: out.bytes.into(),
            ends: out.ends.into(),
            idf: idf.into(),
            ..TextParts::default()
        };
        TextEncoder::from_parts(spec, parts)
    }
}

fn names<'a>(bytes: &'a [u8], ends: &[u32]) -> Vec<&'a [u8]> {
    let mut start = 0;
    let cut = |&end: &u32| {
        let name = &bytes[start..end as usize];
        start = end as usize;
        name
    };
    ends.iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 7] = [
        "the cat sat on the mat",
        "a dog, a cat and the end!",
        "",
        "end of the mat of the dog",
        "cats sat; dogs sat",
        "the the the cat",
        "mat",
    ];

    /// Any cut gives the vocabulary, the numbers and the weights of all texts at once.
    #[test]
    fn parts_add_up_to_the_whole() {
        let some = TextSpec { ngrams: Some((1, 2)), ..TextSpec::default() };
        let specs = [
            TextSpec { tokens: crate::text::Tokens::WordsAndMarks, ..some.clone() },
            TextSpec { min_df: DocFreq::Count(2), ..some.clone() },
            TextSpec { max_df: DocFreq::Fraction(0.5), max_features: Some(9), ..some.clone() },
            TextSpec { weights: Weights::Counts, chars: Some((2, 3)), ..some },
        ];
        for spec in specs {
            let (whole, rows) = TextEncoder::fit(spec.clone(), &TEXTS[..]).unwrap();
            for cut in [0, 1, 3, 7] {
                let left = TextCounts::new(&spec, &TEXTS[..cut]).unwrap();
                let right = TextCounts::new(&spec, &TEXTS[cut..]).unwrap();
                let merged = left.clone().merge(right.clone()).unwrap();
                assert_eq!(merged, right.merge(left).unwrap(), "in any order");
                let encoder = merged.finish(spec.clone()).unwrap();
                let names = |e: &TextEncoder| {
                    (0..e.n_features()).map(|j| e.feature_name(j).into_owned()).collect::<Vec<_>>()
                };
                assert_eq!(names(&encoder), names(&whole), "{spec:?}");
                assert_eq!(encoder.parts().idf, whole.parts().idf);
                let again = encoder.encode(&TEXTS[..]).unwrap();
                for i in 0..TEXTS.len() {
                    let entries = |csr: &lineal_linalg::Csr| {
                        let mut entries = Vec::new();
                        csr.row(i).for_each(|j, v| entries.push((j, v.to_bits())));
                        entries
                    };
                    assert_eq!(entries(&again), entries(&rows), "row {i}");
                }
            }
        }
        assert!(TextCounts::default().finish(TextSpec::default()).is_err());
        let hashed = TextSpec { hash_bits: Some(10), ..TextSpec::default() };
        assert!(TextCounts::new(&hashed, &TEXTS[..]).is_err());
    }
}
