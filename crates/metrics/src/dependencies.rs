//! Heads and relations of words: how many arcs of dependency trees are right.
//!
//! Word t has the gold head h(t), 0 for the root, and the gold relation r(t); a parser answers ĥ(t), r̂(t). Over words whose gold head is known,
//!
//! ```text
//! UAS = mean [ĥ = h]      LAS = mean [ĥ = h and r̂ = r]      label accuracy = mean [r̂ = r]
//! ```
//!
//! Punctuation and subtypes of relations (`nsubj:pass`) count; the evaluation script of the CoNLL 2018 shared task leaves subtypes out. Words whose gold head is not
//! known are not counted at all, and words whose gold relation is not known are left out of what is about relations. A gold relation that the model has never seen is a
//! relation like others that is never predicted, and so always wrong.
//!
//! Of relation r, let gold be the words with r(t) = r, found those with r̂(t) = r, and right those that are both and have the right head: precision is right / found,
//! recall right / gold, and F1 their harmonic mean. An arc's length is |t − h(t)|; recall goes by gold lengths, precision by predicted ones, and arcs from the
//! root have no length (McDonald and Nivre 2007).

use crate::{Error, UNSEEN};
use serde::Serialize;
use std::collections::BTreeMap;

/// The head or relation of a word that has none: in gold trees because nobody said, in predicted ones because the model does not tell relations.
pub const NOT_ANNOTATED: u32 = UNSEEN;

/// Trees that are known and trees that were predicted, over the words of all sentences one after the other.
#[derive(Clone, Copy, Debug)]
pub struct ParsedTrees<'a> {
    /// Where each sentence starts, and where the last one ends: n + 1 numbers, rising from 0.
    pub start: &'a [usize],
    /// The true head of each word: 0 is the root, 1 the first word of the sentence, or [`NOT_ANNOTATED`].
    pub gold_heads: &'a [u32],
    /// The true relation of each word, a number of `relations`, or [`NOT_ANNOTATED`].
    pub gold_deprels: &'a [u32],
    /// The predicted head of each word.
    pub heads: &'a [u32],
    /// The predicted relation of each word, a number of `relations`, or [`NOT_ANNOTATED`], which is wrong.
    pub deprels: &'a [u32],
    /// Names of the relations: those of the model, then others that are in the gold trees.
    pub relations: &'a [String],
    /// How many of the relations are the model's.
    pub n_known: usize,
    /// Which words are punctuation, if the data says so.
    pub is_punct: Option<&'a [bool]>,
}

/// Metrics of dependency parsing. Words count alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DependencyMetrics {
    /// Fraction of words with the right head: the unlabelled attachment score.
    pub uas: f64,
    /// Fraction of words with the right head and the right relation: the labelled attachment score. `None` where no gold relation is known, as for
    /// everything else that is about relations.
    pub las: Option<f64>,
    /// Fraction of words with the right relation, whatever their head.
    pub label_accuracy: Option<f64>,
    /// As `uas`, without punctuation; `None` where the data does not say what that is, or has nothing else.
    pub uas_no_punct: Option<f64>,
    /// As `las`, without punctuation.
    pub las_no_punct: Option<f64>,
    /// Fraction of sentences in which every head and every relation is right, among those whose gold heads are all known.
    pub exact: Option<f64>,
    /// Of the words that are roots, the fraction that was found to be so.
    pub root_accuracy: Option<f64>,
    /// Number of sentences with a word that counts.
    pub sentences: u64,
    /// Number of words that count.
    pub tokens: u64,
    /// Words whose gold relation the model does not know.
    pub unseen: u64,
    /// Arcs with each relation that is gold or predicted somewhere.
    pub by_relation: BTreeMap<String, RelationScores>,
    /// Arcs by length, whatever their relation: 1, 2, 3–6, 7 and more.
    pub by_length: Vec<LengthScores>,
    /// Words by the length of their sentence: up to 10, 20, 40, and more. Lengths that do not occur are left out.
    pub by_sentence_length: Vec<SentenceLengthScores>,
}

/// How well one relation is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RelationScores {
    /// Of the arcs predicted with this relation, the fraction that is right; 0 if there is none.
    pub precision: f64,
    /// Of the gold arcs with this relation, the fraction that was found; 0 if there is none.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Gold arcs with this relation.
    pub gold: u64,
    /// Predicted arcs with this relation.
    pub found: u64,
    /// Arcs that are both.
    pub right: u64,
}

/// How well arcs of some length are found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LengthScores {
    /// The least length.
    pub from: u32,
    /// The greatest length, or `None` without a limit.
    pub to: Option<u32>,
    /// Of the predicted arcs of this length, the fraction that is right; `None` if there is none.
    pub precision: Option<f64>,
    /// Of the gold arcs of this length, the fraction that was found; `None` if there is none.
    pub recall: Option<f64>,
    /// Gold arcs of this length.
    pub gold: u64,
    /// Predicted arcs of this length.
    pub found: u64,
    /// Arcs that are both.
    pub right: u64,
}

/// How well the words of sentences of some length are attached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SentenceLengthScores {
    /// The least number of words.
    pub from: u32,
    /// The greatest number of words, or `None` without a limit.
    pub to: Option<u32>,
    /// Sentences of this length with a word that counts.
    pub sentences: u64,
    /// Words of theirs that count.
    pub tokens: u64,
    /// As above, of these words.
    pub uas: f64,
    /// As above, of these words.
    pub las: Option<f64>,
}

/// The greatest length of each bin of arcs but the last.
const ARC_LENGTHS: [u32; 3] = [1, 2, 6];
/// The greatest length of each bin of sentences but the last.
const SENTENCE_LENGTHS: [u32; 3] = [10, 20, 40];

/// Computes the metrics, after checking that the parts fit together.
pub fn dependencies(trees: &ParsedTrees<'_>) -> Result<DependencyMetrics, Error> {
    check(trees)?;
    let mut all = Attachments::default();
    let mut no_punct = Attachments::default();
    let mut by_sentence_length = [Attachments::default(); SENTENCE_LENGTHS.len() + 1];
    let mut by_relation = vec![Counts::default(); trees.relations.len()];
    let mut by_length = [Counts::default(); ARC_LENGTHS.len() + 1];
    let mut roots = Share::default();
    let mut exact = Share::default();
    for bounds in trees.start.windows(2) {
        let (start, end) = (bounds[0], bounds[1]);
        let mut sentence = Attachments { sentences: 1, ..Attachments::default() };
        for t in start..end {
            let (gold, head) = (trees.gold_heads[t], trees.heads[t]);
            if gold == NOT_ANNOTATED {
                continue;
            }
            let is_right = gold == head;
            let deprel = trees.gold_deprels[t];
            let labelled =
                (deprel != NOT_ANNOTATED).then_some((deprel, deprel == trees.deprels[t]));
            sentence.add(is_right, labelled.map(|(_, is_right)| is_right));
            if trees.is_punct.is_some_and(|is_punct| !is_punct[t]) {
                no_punct.add(is_right, labelled.map(|(_, is_right)| is_right));
            }
            if gold == 0 {
                roots.add(is_right);
            }
            let position = (t - start + 1) as u32;
            for (arc, is_gold) in [(gold, true), (head, false)] {
                if arc != 0 {
                    let counts = &mut by_length[bin(&ARC_LENGTHS, position.abs_diff(arc))];
                    counts.add(is_gold, is_right);
                }
            }
            if let Some((deprel, same)) = labelled {
                by_relation[deprel as usize].add(true, is_right && same);
                if let Some(counts) = by_relation.get_mut(trees.deprels[t] as usize) {
                    counts.add(false, is_right && same);
                }
            }
        }
        if sentence.heads.of > 0 {
            all.merge(&sentence);
            by_sentence_length[bin(&SENTENCE_LENGTHS, (end - start) as u32)].merge(&sentence);
        }
        if end > start && sentence.heads.of as usize == end - start {
            let labels_are_right = sentence.both.right == sentence.both.of;
            exact.add(sentence.heads.right == sentence.heads.of && labels_are_right);
        }
    }
    let is_unseen = |&&r: &&u32| r != NOT_ANNOTATED && r as usize >= trees.n_known;
    Ok(DependencyMetrics {
        uas: all.heads.fraction().ok_or(Error::Empty)?,
        las: all.both.fraction(),
        label_accuracy: all.labels.fraction(),
        uas_no_punct: no_punct.heads.fraction(),
        las_no_punct: no_punct.both.fraction(),
        exact: exact.fraction(),
        root_accuracy: roots.fraction(),
        sentences: all.sentences,
        tokens: all.heads.of,
        unseen: trees.gold_deprels.iter().filter(is_unseen).count() as u64,
        by_relation: trees
            .relations
            .iter()
            .zip(&by_relation)
            .filter(|(_, counts)| counts.gold + counts.found > 0)
            .map(|(name, counts)| (name.clone(), counts.relation()))
            .collect(),
        by_length: (0..by_length.len())
            .map(|i| by_length[i].length(bounds_of(&ARC_LENGTHS, i)))
            .collect(),
        by_sentence_length: (0..by_sentence_length.len())
            .filter_map(|i| by_sentence_length[i].scores(bounds_of(&SENTENCE_LENGTHS, i)))
            .collect(),
    })
}

fn check(trees: &ParsedTrees<'_>) -> Result<(), Error> {
    let n = trees.gold_heads.len();
    let rises = trees.start.windows(2).all(|pair| pair[0] <= pair[1]);
    if !rises || trees.start.first() != Some(&0) || trees.start.last() != Some(&n) {
        return Err(Error::Lists { what: "sentence" });
    }
    Error::unless_len("gold relations", n, trees.gold_deprels.len())?;
    Error::unless_len("predicted heads", n, trees.heads.len())?;
    Error::unless_len("predicted relations", n, trees.deprels.len())?;
    Error::unless_len("marks of punctuation", n, trees.is_punct.map_or(n, <[bool]>::len))?;
    let n_labels = trees.relations.len();
    for (what, deprels) in [("gold", trees.gold_deprels), ("predicted", trees.deprels)] {
        let known = |r: u32| (r as usize) < n_labels || r == NOT_ANNOTATED;
        if let Some(t) = deprels.iter().position(|&r| !known(r)) {
            return Err(Error::Label { row: t + 1, what, label: deprels[t], n_labels });
        }
    }
    Ok(())
}

/// Which bin a length falls into, of those that end at `ends` and the one after them.
fn bin(ends: &[u32], length: u32) -> usize {
    ends.iter().position(|&end| length <= end).unwrap_or(ends.len())
}

/// The least and the greatest length of a bin.
fn bounds_of(ends: &[u32], bin: usize) -> (u32, Option<u32>) {
    let from = bin.checked_sub(1).map_or(1, |before| ends[before] + 1);
    (from, ends.get(bin).copied())
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    right: u64,
    of: u64,
}

impl Share {
    fn add(&mut self, is_right: bool) {
        self.right += u64::from(is_right);
        self.of += 1;
    }

    fn fraction(&self) -> Option<f64> {
        (self.of > 0).then(|| self.right as f64 / self.of as f64)
    }
}

/// Heads, relations and both together of some words.
#[derive(Clone, Copy, Debug, Default)]
struct Attachments {
    heads: Share,
    labels: Share,
    both: Share,
    sentences: u64,
}

impl Attachments {
    fn add(&mut self, head_is_right: bool, label_is_right: Option<bool>) {
        self.heads.add(head_is_right);
        if let Some(label_is_right) = label_is_right {
            self.labels.add(label_is_right);
            self.both.add(head_is_right && label_is_right);
        }
    }

    fn merge(&mut self, other: &Attachments) {
        let pairs = [
            (&mut self.heads, other.heads),
            (&mut self.labels, other.labels),
            (&mut self.both, other.both),
        ];
        for (to, from) in pairs {
            to.right += from.right;
            to.of += from.of;
        }
        self.sentences += other.sentences;
    }

    fn scores(&self, (from, to): (u32, Option<u32>)) -> Option<SentenceLengthScores> {
        Some(SentenceLengthScores {
            from,
            to,
            sentences: self.sentences,
            tokens: self.heads.of,
            uas: self.heads.fraction()?,
            las: self.both.fraction(),
        })
    }
}

/// Arcs of one sort in the gold trees, in the predicted ones, and in both.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    gold: u64,
    found: u64,
    right: u64,
}

impl Counts {
    /// Counts an arc of the gold tree or of the predicted one. One that is in both comes twice and is counted as right once.
    fn add(&mut self, is_gold: bool, is_right: bool) {
        self.gold += u64::from(is_gold);
        self.found += u64::from(!is_gold);
        self.right += u64::from(is_gold && is_right);
    }

    fn precision(&self) -> Option<f64> {
        Share { right: self.right, of: self.found }.fraction()
    }

    fn recall(&self) -> Option<f64> {
        Share { right: self.right, of: self.gold }.fraction()
    }

    fn relation(&self) -> RelationScores {
        RelationScores {
            precision: self.precision().unwrap_or(0.0),
            recall: self.recall().unwrap_or(0.0),
            f1: 2.0 * self.right as f64 / (self.gold + self.found) as f64,
            gold: self.gold,
            found: self.found,
            right: self.right,
        }
    }

    fn length(&self, (from, to): (u32, Option<u32>)) -> LengthScores {
        let (precision, recall) = (self.precision(), self.recall());
        let Counts { gold, found, right } = *self;
        LengthScores { from, to, precision, recall, gold, found, right }
    }
}
