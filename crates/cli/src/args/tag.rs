//! Flags about sequences: `--task tag`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use lineal::{SchemeKind, WeightsKind};

use super::choice::{at_least_one, choice, positive};

/// The heading of everything about sequences.
pub const TAG: &str = "Sequences (--task tag)";

const FEATURES: &str = "\
Features from the columns: a list of
  word, lower, shape, caps, digits   of the token's word
  prefix:1-4, suffix:1-4             its first and last characters
  column:1                           another column, counted from 0
  cross:1                            the word together with column 1
  transition:1                       separate transitions for each value of column 1
  bias                               how frequent a label is
  window:2                           word, lower and column of the two tokens
                                     before and after, too, and their pairs
  rich                               a list that works well for chunks, entities and parts
                                     of speech
NAME@2 also uses NAME of the two tokens on either side.
[default: word,lower,shape,prefix:1-4,suffix:1-4,caps,digits,window:2 and each
other column; of CoNLL-U the form alone]";

/// Choices of `train --task tag`.
#[derive(Args, Clone, Debug, Default)]
pub struct TagArgs {
    /// A file of templates for features: for sequences in the format of CRF++, for trees as in docs/parsing.md or docs/constituency.md
    #[arg(long, value_name = "FILE", help_heading = TAG, conflicts_with = "features")]
    pub template: Option<PathBuf>,

    /// Features from the columns by name, instead of a template: word,suffix:1-4,column:1,window:2
    #[arg(long, value_name = "LIST", help_heading = TAG, long_help = FEATURES)]
    pub features: Option<String>,

    /// A list of names (a gazetteer), one per line: tokens in one of them get an attribute NAME. The list is stored with the model; may be given several times
    #[arg(long = "list", value_name = "NAME=FILE", help_heading = TAG)]
    pub lists: Vec<Named>,

    /// Word clusters, lines `bits<tab>word<tab>count` as Brown's program writes them, or `word<tab>cluster`: attributes of the word's cluster and its first 4, 6 and 10 bits, stored with the model
    #[arg(long, value_name = "FILE", help_heading = TAG)]
    pub clusters: Option<PathBuf>,

    /// Leave out attributes that occur less often [default: 1]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = TAG)]
    pub min_count: Option<usize>,

    /// tag: order of the transitions, 1 for pairs of labels, 2 for triples [default: 1]; dependency: 1 scores arcs, 2 also siblings and grandparents [default: 2 if arcs may not cross]
    #[arg(long, value_name = "N", help_heading = TAG)]
    pub order: Option<u32>,

    /// How spans are written as labels; illegal labels are errors in the training data and never predicted
    #[arg(long, value_name = "S", help_heading = TAG, value_parser = choice::<SchemeKind>(&[
        ("bio", "B-X begins a span, I-X continues it"),
        ("bioes", "B-X I-X E-X, and S-X for one token"),
        ("iob1", "I-X in a span, B-X only after another span of its type"),
    ]))]
    pub scheme: Option<SchemeKind>,

    /// tag: a file of forbidden transitions, one `FROM TO` per line, with <edge> for the border of a sequence; dependency: a file of forbidden arcs, one `HEAD WORD` per line, as parts
    /// of speech, with <root> for the root and * for any word
    #[arg(long, value_name = "FILE", help_heading = TAG)]
    pub forbid: Option<PathBuf>,

    /// Rules that predicted sequences must obey, one per line: at most 1 spans of PER, exactly 1 label = B-CITY, sequence label matches … (see docs/declared.md)
    #[arg(long, value_name = "FILE", help_heading = TAG)]
    pub rules: Option<PathBuf>,

    /// Let only legal sequences compete with the gold labels in training
    #[arg(long, help_heading = TAG)]
    pub legal_rivals: bool,

    /// Which labels an attribute has weights for [default: frequent]
    #[arg(long, value_name = "W", help_heading = TAG, value_parser = choice::<WeightsKind>(&[
        ("frequent", "all labels for attributes that occur with several, else the observed one"),
        ("observed", "those that it occurred with, as in CRFsuite"),
        ("all", "all labels, as in CRF++"),
    ]))]
    pub label_weights: Option<WeightsKind>,

    /// No weights for the first and the last label of a sequence
    #[arg(long, help_heading = TAG)]
    pub no_ends: bool,

    /// perceptron, hinge: passive–aggressive updates, which are just large enough to correct the mistake, and at most this large [default: none; 0.05 with --task
    /// dependency and 0.02 with --task constituency, if no flag names another learner]
    #[arg(long, value_name = "C", value_parser = positive, help_heading = TAG)]
    pub passive_aggressive: Option<f64>,

    /// The mark for an unknown label: the loss sums (logistic) or maximises over the possible labels. In JSON, null
    #[arg(long, value_name = "MARK", help_heading = TAG)]
    pub unlabelled: Option<String>,

    /// Limit the size of the model, such as 2MB: store weights in 8 bits, then drop the smallest; reports the loss of accuracy
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, help_heading = TAG)]
    pub max_size: Option<Size>,
}

impl TagArgs {
    /// The files that are named.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let lists = self.lists.iter().map(|list| &list.path);
        self.template
            .iter()
            .chain(&self.forbid)
            .chain(&self.rules)
            .chain(&self.clusters)
            .chain(lists)
    }
}

/// A file with a name: `NAME=FILE`, or a file that is named by its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub path: PathBuf,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (name, path) = match s.split_once('=') {
            Some((name, path)) => (name.to_owned(), PathBuf::from(path)),
            None => {
                let path = PathBuf::from(s);
                let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                (stem.to_owned(), path)
            }
        };
        let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        match !name.is_empty() && name.chars().all(plain) && !path.as_os_str().is_empty() {
            true => Ok(Self { name, path }),
            false => Err("must be NAME=FILE, with letters and digits in NAME".to_owned()),
        }
    }
}

/// Choices of `predict` for models of sequences.
#[derive(Args, Clone, Debug, Default)]
pub struct TagAskArgs {
    /// Give the K best label sequences, one column for each, or the K best trees, one after the other; --output jsonl lists them with their probabilities
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = n_best, help_heading = TAG)]
    pub n_best: Option<usize>,

    /// Put sequences or trees less probable than P first, the least certain one at the top
    #[arg(long, value_name = "P", value_parser = probability, help_heading = TAG)]
    pub review_below: Option<f64>,

    /// Keep the labels that this column has, and predict the others [default column: the label's]; for trees, keep the heads and relations, or the brackets, that the file has
    #[arg(long, value_name = "COL", num_args = 0..=1, default_missing_value = "", help_heading = TAG)]
    pub known: Option<String>,

    /// With --known: the mark for a label that is not known [default: _]
    #[arg(long, value_name = "MARK", requires = "known", help_heading = TAG)]
    pub unlabelled: Option<String>,
}

impl TagAskArgs {
    /// The first flag that was given.
    pub fn first(&self) -> Option<&'static str> {
        let given = [
            ("--n-best", self.n_best.is_some()),
            ("--review-below", self.review_below.is_some()),
            ("--known", self.known.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// The most label sequences or trees that are listed: all are in memory at a time.
const N_BEST: usize = 10_000;

fn n_best(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=N_BEST).contains(&n) => Ok(n),
        _ => Err(format!("must be a number from 1 to {N_BEST}")),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("must be a probability between 0 and 1".to_owned()),
    }
}

/// A number of bytes: `2MB`, `500 kB`, `1048576`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let digits = s.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(s.len());
        let (number, unit) = s.split_at(digits);
        let factor = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "kib" => 1024.0,
            "mib" => 1024.0 * 1024.0,
            "gib" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err("must be a size, as 2MB or 500kB".to_owned()),
        };
        match number.parse::<f64>() {
            Ok(n) if n > 0.0 && n.is_finite() => Ok(Self((n * factor) as u64)),
            _ => Err("must be a size, as 2MB or 500kB".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("2MB", 2_000_000), ("1.5 kb", 1500), ("1MiB", 1 << 20), ("7", 7)] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        assert!(["", "MB", "-1", "2 apples", "0"].iter().all(|s| s.parse::<Size>().is_err()));
    }
}
