//! What to take from a text and how to weigh it.

use serde::{Deserialize, Serialize};

/// How text becomes features. The default is scikit-learn's `TfidfVectorizer(sublinear_tf=True)`.
///
/// Kinds of features are added up: words and, where asked for, characters, prefixes and suffixes, side by side in
/// one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextSpec {
    /// What a token is. Default: [`Tokens::Words`].
    pub tokens: Tokens,
    /// Whether the text is lower-cased first, as Python's `str.lower` does it. Default: true.
    pub lowercase: bool,
    /// Word n-grams, from the shortest to the longest; `None` for no words at all. Default: `(1, 1)`.
    pub ngrams: Option<(u8, u8)>,
    /// Character n-grams within words, with a space on each side of the word: scikit-learn's `char_wb`, where
    /// words are what whitespace separates. Default: none.
    pub chars: Option<(u8, u8)>,
    /// The first n characters of each token that has as many. Default: none.
    pub prefixes: Option<(u8, u8)>,
    /// The last n characters of each token that has as many. Default: none.
    pub suffixes: Option<(u8, u8)>,
    /// Tokens that are left out before n-grams are formed. Default: none.
    pub stop_words: StopWords,
    /// In how many documents a feature must occur. Default: 1.
    pub min_df: DocFreq,
    /// In how many documents a feature may occur. Default: all.
    pub max_df: DocFreq,
    /// Keep only so many features, those that occur most often. Default: no limit.
    pub max_features: Option<usize>,
    /// What a feature's number is. Default: tf–idf, sublinear.
    pub weights: Weights,
    /// How rows are scaled. Default: [`Norm::L2`].
    pub norm: Norm,
    /// Hash features into 2^bits columns instead of keeping a vocabulary. Default: no.
    pub hash_bits: Option<u8>,
    /// With hashing: for how many columns a name is kept, at most. Default: 131,072.
    pub hash_names: usize,
    /// Names of the text columns. With several, each has its own features, named `column:word`; with none or one
    /// there is one text per row and names are plain. Default: none.
    pub slots: Vec<String>,
}

impl Default for TextSpec {
    fn default() -> Self {
        Self {
            tokens: Tokens::Words,
            lowercase: true,
            ngrams: Some((1, 1)),
            chars: None,
            prefixes: None,
            suffixes: None,
            stop_words: StopWords::None,
            min_df: DocFreq::Count(1),
            max_df: DocFreq::Fraction(1.0),
            max_features: None,
            weights: Weights::TfIdf { sublinear: true },
            norm: Norm::L2,
            hash_bits: None,
            hash_names: 1 << 17,
            slots: Vec::new(),
        }
    }
}

/// What a token is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tokens {
    /// Runs of at least two letters, digits or underscores: scikit-learn's `(?u)\b\w\w+\b`.
    #[default]
    Words,
    /// Runs of letters, digits or underscores of any length, and every other character that is not a space by itself:
    /// `\w+|[^\w\s]`. In short texts `?`, `!` and the halves of `n't` tell much.
    WordsAndMarks,
    /// Words of Unicode's annex 29: `can't` and `3.14` are one, and so is a single letter.
    Unicode,
    /// What whitespace separates: Python's `str.split`.
    Whitespace,
    /// Matches of a regular expression, or of its group if it has one.
    Pattern(String),
}

/// A number of documents, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DocFreq {
    /// So many.
    Count(u64),
    /// So large a share, between 0 and 1.
    Fraction(f64),
}

impl DocFreq {
    /// The number of documents that it stands for among `n_docs`. Not rounded, as in scikit-learn.
    pub(crate) fn documents(self, n_docs: usize) -> f64 {
        match self {
            DocFreq::Count(n) => n as f64,
            DocFreq::Fraction(share) => share * n_docs as f64,
        }
    }
}

/// Tokens to leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopWords {
    /// None.
    #[default]
    None,
    /// The commonest English function words: [`ENGLISH`](crate::text::ENGLISH).
    English,
    /// These, as they look after lower-casing.
    List(Vec<String>),
}

/// What a feature's number is, before the row is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// How often it occurs in the document.
    Counts,
    /// 1 where it occurs.
    Binary,
    /// 1 + ln(count).
    Sublinear,
    /// count · idf, or (1 + ln count) · idf if sublinear, with scikit-learn's smooth
    /// idf = ln((1 + n) / (1 + df)) + 1.
    TfIdf {
        /// Whether the count is dampened.
        sublinear: bool,
    },
}

impl Weights {
    pub(crate) fn has_idf(self) -> bool {
        matches!(self, Weights::TfIdf { .. })
    }
}

/// How rows are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// The whole row to length 1.
    #[default]
    L2,
    /// Each kind of feature of each text column to length 1 by itself: what scikit-learn's `FeatureUnion` of
    /// vectorizers gives.
    L2PerBlock,
    /// Not at all.
    None,
}
