//! Labelled brackets of constituency trees: how many were found, counted as EVALB counts (Sekine and Collins 1997).
//!
//! A bracket is a label and a span of words. Tags of words are not brackets. With gold and predicted brackets as multisets, so that `(NP (NP …))` over the same words is
//! two of them,
//!
//! ```text
//! right = |gold ∩ predicted|      precision = right / |predicted|      recall = right / |gold|      F1 = 2 right / (|gold| + |predicted|)
//! ```
//!
//! summed over sentences before dividing. A predicted bracket crosses if it overlaps a gold one and neither contains the other. A sentence is exact if both
//! multisets are equal. Before anything is counted,
//!
//! 1. words with the tag of traces (`-NONE-`) are taken out of each tree, with brackets that lose all their words;
//! 2. a sentence is skipped if the predicted tree has no words then, and is a mismatch if the two trees have other words; neither is counted further;
//! 3. words with a tag to delete (punctuation by [`BracketOptions::collins`], none by default) are taken out of both trees in the same way;
//! 4. labels lose what follows a `-` or `=`, and brackets with a label to delete (`TOP`, `ROOT`, `S1`, or none) do not count.
//!
//! The length of a sentence is its number of words after step 1. One rule differs: in step 3 the gold tags decide for both trees. EVALB asks each tree for its own and then
//! refuses the sentence where a tagger took a comma for something else.

mod crossing;
mod options;
mod scores;

pub use options::BracketOptions;
pub use scores::{BracketLabelScores, BracketMetrics, BracketScores};

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::Error;
use crossing::GoldSpans;
use options::is_in;
use scores::{Totals, scores};

/// A labelled span: words `start..end`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bracket<'a> {
    /// Its label.
    pub label: &'a str,
    /// The first word.
    pub start: usize,
    /// The word after the last one.
    pub end: usize,
}

/// The tree of a sentence.
#[derive(Clone, Copy, Debug)]
pub struct BracketTree<'a> {
    /// Its words.
    pub words: &'a [&'a str],
    /// The tag of each word.
    pub tags: &'a [&'a str],
    /// Its brackets, in any order. Those of single words are brackets only where they are phrases.
    pub brackets: &'a [Bracket<'a>],
}

/// What became of a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SentenceStatus {
    /// It is counted.
    #[default]
    Counted,
    /// The predicted tree has no words.
    Skipped,
    /// The predicted tree has other words.
    Mismatch,
}

/// The counts of a sentence: a line of EVALB's table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SentenceBrackets {
    /// What became of it. If it is not counted, all numbers but the length are 0.
    pub status: SentenceStatus,
    /// Words, without traces.
    pub length: usize,
    /// Gold brackets.
    pub gold: u64,
    /// Predicted brackets.
    pub found: u64,
    /// Brackets that are both.
    pub right: u64,
    /// Predicted brackets that cross a gold one.
    pub crossing: u64,
    /// Words that count.
    pub words: u64,
    /// Those with the right tag.
    pub right_tags: u64,
}

/// Counts brackets sentence by sentence.
///
/// ```
/// use lineal_metrics::{Bracket, BracketEvaluation, BracketOptions, BracketTree};
///
/// let bracket = |label, start, end| Bracket { label, start, end };
/// let gold = [bracket("S", 0, 2), bracket("NP-SBJ", 0, 1), bracket("VP", 1, 2)];
/// let predicted = [bracket("S", 0, 2), bracket("NP", 0, 1)];
/// let tree = |brackets| BracketTree { words: &["it", "rains"], tags: &["PRP", "VBZ"], brackets };
/// let mut evaluation = BracketEvaluation::new(BracketOptions::default());
/// evaluation.add(&tree(&gold), &tree(&predicted))?;
/// let metrics = evaluation.finish()?;
/// assert_eq!((metrics.all.precision, metrics.all.recall), (1.0, 2.0 / 3.0));
/// # Ok::<(), lineal_metrics::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BracketEvaluation {
    options: BracketOptions,
    all: Totals,
    short: Totals,
    /// Gold, predicted and right brackets by label.
    by_label: BTreeMap<String, [u64; 3]>,
}

impl BracketEvaluation {
    /// An evaluation that has seen no sentence.
    pub fn new(options: BracketOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Counts a sentence, and says what it counted.
    pub fn add(
        &mut self,
        gold: &BracketTree<'_>,
        predicted: &BracketTree<'_>,
    ) -> Result<SentenceBrackets, Error> {
        check(gold)?;
        check(predicted)?;
        let sentence = self.count(gold, predicted);
        self.all.add(&sentence);
        if sentence.length <= self.options.short_length {
            self.short.add(&sentence);
        }
        Ok(sentence)
    }

    /// The metrics of the sentences so far; an error if none of them counts.
    pub fn finish(&self) -> Result<BracketMetrics, Error> {
        let by_label = self.by_label.iter().map(|(label, &[gold, found, right])| {
            let (precision, recall, f1) = scores(gold, found, right);
            let scores = BracketLabelScores { precision, recall, f1, gold, found, right };
            (label.clone(), scores)
        });
        Ok(BracketMetrics {
            all: self.all.scores().ok_or(Error::Empty)?,
            short: self.short.scores(),
            short_length: self.options.short_length,
            by_label: by_label.collect(),
        })
    }

    fn count(&mut self, gold: &BracketTree<'_>, predicted: &BracketTree<'_>) -> SentenceBrackets {
        let options = &self.options;
        let is_word = |tag: &&str| !is_in(&options.empty_tags, tag);
        let gold_words: Vec<usize> = positions(gold.tags, is_word);
        let predicted_words: Vec<usize> = positions(predicted.tags, is_word);
        let length = gold_words.len();
        let uncounted = |status| SentenceBrackets { status, length, ..SentenceBrackets::default() };
        if predicted_words.is_empty() {
            return uncounted(SentenceStatus::Skipped);
        }
        let same = |(&g, &p): (&usize, &usize)| gold.words[g] == predicted.words[p];
        if predicted_words.len() != length || !gold_words.iter().zip(&predicted_words).all(same) {
            return uncounted(SentenceStatus::Mismatch);
        }
        let is_kept = |&(g, _): &(usize, usize)| !is_in(&options.delete_tags, gold.tags[g]);
        let (gold_words, predicted_words): (Vec<usize>, Vec<usize>) =
            gold_words.into_iter().zip(predicted_words).filter(is_kept).unzip();
        let same_tag = |&(&g, &p): &(&usize, &usize)| {
            options.canonical(gold.tags[g]) == options.canonical(predicted.tags[p])
        };
        let right_tags = gold_words.iter().zip(&predicted_words).filter(same_tag).count() as u64;
        let gold = options.kept(gold, &gold_words);
        let predicted = options.kept(predicted, &predicted_words);

        let spans = GoldSpans::new(gold_words.len(), gold.iter().map(|b| (b.start, b.end)));
        let crossing = predicted.iter().filter(|b| spans.cross(b.start, b.end)).count() as u64;
        let mut left: HashMap<(&str, usize, usize), u64> = HashMap::new();
        for b in &gold {
            *left.entry((b.label, b.start, b.end)).or_default() += 1;
            count_label(&mut self.by_label, b.label)[0] += 1;
        }
        let mut right = 0;
        for b in &predicted {
            let counts = count_label(&mut self.by_label, b.label);
            counts[1] += 1;
            if let Some(n) = left.get_mut(&(b.label, b.start, b.end)).filter(|n| **n > 0) {
                *n -= 1;
                counts[2] += 1;
                right += 1;
            }
        }
        SentenceBrackets {
            status: SentenceStatus::Counted,
            length,
            gold: gold.len() as u64,
            found: predicted.len() as u64,
            right,
            crossing,
            words: gold_words.len() as u64,
            right_tags,
        }
    }
}

fn positions(tags: &[&str], is_kept: impl Fn(&&str) -> bool) -> Vec<usize> {
    (0..tags.len()).filter(|&at| is_kept(&tags[at])).collect()
}

fn count_label<'a>(counts: &'a mut BTreeMap<String, [u64; 3]>, label: &str) -> &'a mut [u64; 3] {
    counts.entry(label.to_owned()).or_default()
}

fn check(tree: &BracketTree<'_>) -> Result<(), Error> {
    let n = tree.words.len();
    Error::unless_len("tags", n, tree.tags.len())?;
    match tree.brackets.iter().find(|b| b.start > b.end || b.end > n) {
        None => Ok(()),
        Some(b) => {
            Err(Error::Value { row: b.start + 1, what: "end of a bracket", value: b.end as f64 })
        }
    }
}
