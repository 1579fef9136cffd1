//! Flags about text columns.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use lineal::text::{DocFreq, Norm, StopWords, TextSpec, Tokens, Weights};

use super::choice::{at_least_one, choice};

const HEADING: &str = "Text";

/// What is taken from text columns and how it is weighed.
#[derive(Args, Clone, Debug, Default)]
pub struct TextArgs {
    /// Columns of running text [default: those with four words or more in half of their cells and more than 20 different cells, and one named text]
    #[arg(long, value_name = "COL,…", value_delimiter = ',', help_heading = HEADING)]
    pub text: Vec<String>,

    /// What a token is: marks (words, and each punctuation mark), words (of two or more letters or digits, as scikit-learn
    /// has them), unicode (words as Unicode's annex 29 has them), whitespace, or a regular expression [default: marks]
    #[arg(long, value_name = "T", help_heading = HEADING)]
    pub tokens: Option<TokensArg>,

    /// Lengths of word n-grams, such as 1-2; none for no words at all [default: 1-2; 1 where
    /// texts have fewer than four words on average]
    #[arg(long, value_name = "N-M", help_heading = HEADING)]
    pub ngrams: Option<Lengths>,

    /// Lengths of character n-grams within words, such as 3-5 [default: none]
    #[arg(long, value_name = "N-M", help_heading = HEADING)]
    pub chars: Option<Lengths>,

    /// Lengths of the first characters of words, as features [default: none]
    #[arg(long, value_name = "N-M", help_heading = HEADING)]
    pub prefixes: Option<Lengths>,

    /// Lengths of the last characters of words, as features [default: none]
    #[arg(long, value_name = "N-M", help_heading = HEADING)]
    pub suffixes: Option<Lengths>,

    /// Keep upper and lower case apart: Word is not word
    #[arg(long, help_heading = HEADING)]
    pub case: bool,

    /// Words to leave out: english, or a file with one per line [default: none]
    #[arg(long, value_name = "W", help_heading = HEADING)]
    pub stop_words: Option<String>,

    /// Leave out words that occur in fewer rows: a number of rows, or a share such as 0.001 [default: 1]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub min_df: Option<DocFreqArg>,

    /// Leave out words that occur in more rows: a number of rows, or a share such as 0.5 [default: all]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub max_df: Option<DocFreqArg>,

    /// Keep only this many features, those that occur most often [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = HEADING)]
    pub max_features: Option<usize>,

    /// How occurrences of a word count [default: sublinear]
    #[arg(long, value_name = "F", help_heading = HEADING, value_parser = choice::<Tf>(&[
        ("sublinear", "1 + ln(count), times idf"),
        ("counts", "the count, times idf"),
        ("binary", "1 where it occurs, without idf"),
    ]))]
    pub tf: Option<Tf>,

    /// Do not weight words by their inverse document frequency
    #[arg(long, help_heading = HEADING)]
    pub no_idf: bool,

    /// How rows of text are scaled [default: l2]
    #[arg(long, value_name = "N", help_heading = HEADING, value_parser = choice::<NormArg>(&[
        ("l2", "to length 1"),
        ("each", "words, characters, … of each column to length 1, separately"),
        ("none", "not at all"),
    ]))]
    pub norm: Option<NormArg>,

    /// Hash words and the values of categorical columns into 2^BITS features each, instead of keeping a vocabulary, so that memory is bounded (tag: attributes; trees: features,
    /// 22 to 24 bits by default)
    #[arg(long, value_name = "BITS", help_heading = HEADING)]
    pub hash: Option<u8>,
}

impl TextArgs {
    /// What the flags say, with `defaults` for what they do not. Reads the file of stop words.
    pub fn spec(&self, defaults: TextSpec) -> anyhow::Result<TextSpec> {
        let lengths = |given: &Option<Lengths>, default| given.map_or(default, |l| l.0);
        let tf = self.tf.unwrap_or(Tf::Sublinear);
        Ok(TextSpec {
            tokens: self.tokens.clone().map_or(defaults.tokens, |t| t.0),
            lowercase: !self.case,
            ngrams: lengths(&self.ngrams, defaults.ngrams),
            chars: lengths(&self.chars, defaults.chars),
            prefixes: lengths(&self.prefixes, defaults.prefixes),
            suffixes: lengths(&self.suffixes, defaults.suffixes),
            stop_words: match self.stop_words.as_deref() {
                None => defaults.stop_words,
                Some("english") => StopWords::English,
                Some(path) => StopWords::List(read_list(path)?),
            },
            min_df: self.min_df.map_or(defaults.min_df, |n| n.0),
            max_df: self.max_df.map_or(defaults.max_df, |n| n.0),
            max_features: self.max_features.or(defaults.max_features),
            weights: match (tf, self.no_idf) {
                (Tf::Sublinear, false) => Weights::TfIdf { sublinear: true },
                (Tf::Counts, false) => Weights::TfIdf { sublinear: false },
                (Tf::Sublinear, true) => Weights::Sublinear,
                (Tf::Counts, true) => Weights::Counts,
                (Tf::Binary, _) => Weights::Binary,
            },
            norm: self.norm.map_or(defaults.norm, |n| n.0),
            hash_bits: self.hash.or(defaults.hash_bits),
            ..defaults
        })
    }

    /// The first flag that says how text is read.
    pub fn first(&self) -> Option<&'static str> {
        let given = [
            ("--tokens", self.tokens.is_some()),
            ("--ngrams", self.ngrams.is_some()),
            ("--chars", self.chars.is_some()),
            ("--prefixes", self.prefixes.is_some()),
            ("--suffixes", self.suffixes.is_some()),
            ("--case", self.case),
            ("--stop-words", self.stop_words.is_some()),
            ("--min-df", self.min_df.is_some()),
            ("--max-df", self.max_df.is_some()),
            ("--max-features", self.max_features.is_some()),
            ("--tf", self.tf.is_some()),
            ("--no-idf", self.no_idf),
            ("--norm", self.norm.is_some()),
            ("--hash", self.hash.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// The file of stop words.
    pub fn file(&self) -> Option<PathBuf> {
        self.stop_words.as_deref().filter(|w| *w != "english").map(PathBuf::from)
    }
}

fn read_list(path: &str) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        anyhow::anyhow!("{path}: {e}; give a file with one stop word per line, or english")
    })?;
    Ok(text.lines().map(str::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect())
}

/// `1-2`, `3`, or `none`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths(pub Option<(u8, u8)>);

impl FromStr for Lengths {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if s == "none" {
            return Ok(Self(None));
        }
        let (lo, hi) = s.split_once('-').unwrap_or((s, s));
        match (lo.trim().parse(), hi.trim().parse()) {
            (Ok(lo), Ok(hi)) if 1 <= lo && lo <= hi => Ok(Self(Some((lo, hi)))),
            _ => Err("must be lengths such as 1-2 or 3, or none".to_owned()),
        }
    }
}

/// [`Tokens`] by name, or a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct TokensArg(pub Tokens);

impl FromStr for TokensArg {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Ok(Self(match s {
            "marks" => Tokens::WordsAndMarks,
            "words" => Tokens::Words,
            "unicode" => Tokens::Unicode,
            "whitespace" => Tokens::Whitespace,
            // A name that is none of these is more likely a mistake than a pattern.
            _ if s.chars().all(|c| c.is_ascii_alphabetic() || c == '-') => {
                return Err(
                    "must be marks, words, unicode, whitespace or a regular expression such as [a-z]+"
                        .to_owned(),
                );
            }
            pattern => Tokens::Pattern(pattern.to_owned()),
        }))
    }
}

/// A whole number of rows, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocFreqArg(pub DocFreq);

impl FromStr for DocFreqArg {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if let Ok(n) = s.parse() {
            return Ok(Self(DocFreq::Count(n)));
        }
        match s.parse() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(Self(DocFreq::Fraction(share))),
            _ => Err("must be a whole number of rows, or a share between 0.0 and 1.0".to_owned()),
        }
    }
}

/// How occurrences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tf {
    Sublinear,
    Counts,
    Binary,
}

impl FromStr for Tf {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "sublinear" => Ok(Tf::Sublinear),
            "counts" => Ok(Tf::Counts),
            "binary" => Ok(Tf::Binary),
            _ => Err(format!("`{s}` is not one of sublinear, counts, binary")),
        }
    }
}

/// [`Norm`] by name.
#[derive(Clone, Copy, Debug)]
pub struct NormArg(pub Norm);

impl FromStr for NormArg {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "l2" => Ok(NormArg(Norm::L2)),
            "each" => Ok(NormArg(Norm::L2PerBlock)),
            "none" => Ok(NormArg(Norm::None)),
            _ => Err(format!("`{s}` is not one of l2, each, none")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_tokens_and_frequencies_by_name() {
        for (text, lengths) in
            [("1-2", Some(Some((1, 2)))), ("3", Some(Some((3, 3)))), ("none", Some(None))]
        {
            assert_eq!(text.parse().ok().map(|l: Lengths| l.0), lengths, "{text}");
        }
        assert!(["0-2", "2-1", "x", "1-300", ""].iter().all(|s| s.parse::<Lengths>().is_err()));
        assert_eq!("1".parse(), Ok(DocFreqArg(DocFreq::Count(1))));
        assert_eq!("1.0".parse(), Ok(DocFreqArg(DocFreq::Fraction(1.0))));
        assert!(["-1", "1.5", "nan"].iter().all(|s| s.parse::<DocFreqArg>().is_err()));
        assert!("wrods".parse::<TokensArg>().is_err());
        assert_eq!(r"\w+".parse(), Ok(TokensArg(Tokens::Pattern(r"\w+".into()))));
    }
}
