//! What tagging alone can choose, with its defaults.

use crate::request::spec::choice;
use lineal_chain::Scheme;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Choices about sequences beside those of every [`TrainSpec`](crate::TrainSpec).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TagSpec {
    /// What is read off the columns.
    pub features: TagFeatures,
    /// Number attributes by so many bits of a hash, in place of a table of those that were seen.
    pub hash_bits: Option<u32>,
    /// Leave out attributes that come less often.
    pub min_count: u32,
    /// Labels in a row that have weights of their own less one: 1, or 2.
    pub order: u32,
    /// Whether the first and the last label of a sequence have weights.
    pub ends: bool,
    /// Which labels an attribute has weights for.
    pub weights: WeightsKind,
    /// Whether each label has a weight that counts at every token: an attribute that all tokens have. By default yes where attributes come with their names, as
    /// nobody else would add it; templates and lists of features say it themselves.
    pub bias: Option<bool>,
    /// How spans are written as labels; what it does not allow is forbidden to the labels of the training data and in prediction.
    pub scheme: Option<SchemeKind>,
    /// Other transitions that are forbidden.
    pub forbidden: Vec<(Border, Border)>,
    /// Rules about whole sequences, one per line, in the language of [declared structures](lineal_declared::language): `at most 1 spans of PER`. Predictions keep them.
    pub rules: Option<String>,
    /// Whether training sets the gold labels against legal sequences only, too. By default it is against all: the figures are no worse.
    pub legal_rivals: bool,
    /// Whether the learner is chosen among a few by a trial on held-out sequences, in place of loss, penalty and updates of the request.
    #[serde(skip_serializing_if = "is_false")]
    pub choose: bool,
    /// Lists of phrases whose words get a column: stored with the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<WordList>,
    /// Clusters by word, which get columns, too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub clusters: BTreeMap<String, String>,
}

fn is_false(choose: &bool) -> bool {
    !choose
}

/// A list of phrases (a gazetteer): names of cities, say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordList {
    /// What its attributes are called.
    pub name: String,
    /// A phrase of one or more words each. One that is written in small letters is found in any case.
    pub entries: Vec<String>,
}

impl Default for TagSpec {
    fn default() -> Self {
        Self {
            features: TagFeatures::Default,
            hash_bits: None,
            min_count: 1,
            order: 1,
            ends: true,
            weights: WeightsKind::Frequent,
            bias: None,
            scheme: None,
            forbidden: Vec::new(),
            rules: None,
            legal_rivals: false,
            choose: false,
            lists: Vec::new(),
            clusters: BTreeMap::new(),
        }
    }
}

/// What is read off the columns of a token and its neighbours. Files of named attributes have their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TagFeatures {
    /// Word, shape, affixes and other columns in a window of two.
    #[default]
    Default,
    /// A list of the built-in vocabulary: `word,suffix:1-4,window:2`.
    List(String),
    /// The text of a CRF++ template file.
    Templates(String),
}

/// A label, or the border of the sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Border {
    /// Before the first position, or after the last.
    Edge,
    /// A label by name.
    Label(String),
}

choice! {
    /// Schemes that write spans as labels.
    SchemeKind {
        /// `B-X` begins a span, `I-X` goes on (IOB2).
        Bio = "bio",
        /// `B-X I-X … E-X` for two or more tokens, `S-X` for one.
        Bioes = "bioes",
        /// `I-X` in a span; `B-X` only where a span follows another of its own type.
        Iob1 = "iob1",
    }
}

impl SchemeKind {
    pub(crate) fn scheme(self) -> Scheme {
        match self {
            SchemeKind::Bio => Scheme::Bio,
            SchemeKind::Bioes => Scheme::Bioes,
            SchemeKind::Iob1 => Scheme::Iob1,
        }
    }
}

choice! {
    /// Which labels an attribute has weights for.
    WeightsKind {
        /// All labels for attributes that come with several, those that it came with for the others.
        Frequent = "frequent",
        /// Those that it came with in the training data, as CRFsuite does it.
        Observed = "observed",
        /// Those that it came with, and all transitions: CRFsuite's `feature.possible_transitions`.
        ObservedAttributes = "observed-attributes",
        /// All, and the transitions that were there: CRFsuite's `feature.possible_states`.
        AllAttributes = "all-attributes",
        /// All, as CRF++ does it.
        All = "all",
    }
}
