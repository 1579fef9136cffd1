//! Sums over sentences, and the scores that they give.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{SentenceBrackets, SentenceStatus};

/// Metrics of constituency parsing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BracketMetrics {
    /// Of all sentences.
    #[serde(flatten)]
    pub all: BracketScores,
    /// Of sentences of up to [`BracketOptions::short_length`](super::BracketOptions::short_length) words; `None` if there is none that counts.
    pub short: Option<BracketScores>,
    /// The greatest length of those.
    pub short_length: usize,
    /// Brackets with each label that is gold or predicted somewhere.
    pub by_label: BTreeMap<String, BracketLabelScores>,
}

/// Scores of some sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BracketScores {
    /// Of the predicted brackets, the fraction that is right; 0 if there is none.
    pub precision: f64,
    /// Of the gold brackets, the fraction that was found; 0 if there is none.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Fraction of sentences with all brackets right and no other.
    pub exact: f64,
    /// Crossing brackets per sentence.
    pub average_crossing: f64,
    /// Fraction of sentences without a crossing bracket.
    pub no_crossing: f64,
    /// Fraction of sentences with two crossing brackets or fewer.
    pub up_to_two_crossing: f64,
    /// Fraction of words with the right tag; `None` without words.
    pub tag_accuracy: Option<f64>,
    /// Gold brackets.
    pub gold: u64,
    /// Predicted brackets.
    pub found: u64,
    /// Brackets that are both.
    pub right: u64,
    /// Number of sentences that count.
    pub sentences: u64,
    /// Number of sentences whose predicted tree has no words.
    pub skipped: u64,
    /// Number of sentences whose predicted tree has other words.
    pub mismatches: u64,
    /// Number of words that count.
    pub words: u64,
}

/// How well the brackets of one label are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BracketLabelScores {
    /// Of the predicted brackets, the fraction that is right; 0 if there is none.
    pub precision: f64,
    /// Of the gold brackets, the fraction that was found; 0 if there is none.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Gold brackets.
    pub gold: u64,
    /// Predicted brackets.
    pub found: u64,
    /// Brackets that are both.
    pub right: u64,
}

/// Precision, recall and F1.
pub(super) fn scores(gold: u64, found: u64, right: u64) -> (f64, f64, f64) {
    let share = |right: u64, of: u64| if of > 0 { right as f64 / of as f64 } else { 0.0 };
    (share(right, found), share(right, gold), share(2 * right, gold + found))
}

/// Sums over sentences.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    sums: SentenceBrackets,
    sentences: u64,
    skipped: u64,
    mismatches: u64,
    exact: u64,
    no_crossing: u64,
    up_to_two_crossing: u64,
}

impl Totals {
    pub(super) fn add(&mut self, sentence: &SentenceBrackets) {
        match sentence.status {
            SentenceStatus::Skipped => self.skipped += 1,
            SentenceStatus::Mismatch => self.mismatches += 1,
            SentenceStatus::Counted => {
                let &SentenceBrackets { gold, found, right, crossing, .. } = sentence;
                self.sentences += 1;
                self.sums.gold += gold;
                self.sums.found += found;
                self.sums.right += right;
                self.sums.crossing += crossing;
                self.sums.words += sentence.words;
                self.sums.right_tags += sentence.right_tags;
                self.exact += u64::from(gold == found && found == right);
                self.no_crossing += u64::from(crossing == 0);
                self.up_to_two_crossing += u64::from(crossing <= 2);
            }
        }
    }

    pub(super) fn scores(&self) -> Option<BracketScores> {
        let Totals { sums, sentences, .. } = *self;
        let per_sentence = |n: u64| n as f64 / sentences as f64;
        let (precision, recall, f1) = scores(sums.gold, sums.found, sums.right);
        (sentences > 0).then(|| BracketScores {
            precision,
            recall,
            f1,
            exact: per_sentence(self.exact),
            average_crossing: per_sentence(sums.crossing),
            no_crossing: per_sentence(self.no_crossing),
            up_to_two_crossing: per_sentence(self.up_to_two_crossing),
            tag_accuracy: (sums.words > 0).then(|| sums.right_tags as f64 / sums.words as f64),
            gold: sums.gold,
            found: sums.found,
            right: sums.right,
            sentences,
            skipped: self.skipped,
            mismatches: self.mismatches,
            words: sums.words,
        })
    }
}
