//! Spans from labels, counted as the script `conlleval` (Tjong Kim Sang, version of 2004-01-26) counts them.
//!
//! A label is a place (`B`, `I`, `E`, `S`, `O`) and, after the first hyphen, a type. Where a span begins and ends follows from two neighbouring labels alone, legal or not:
//! `I-X` after `O`, after another type or at the start of the sentence begins a span; `I-X` after `B-X` or `I-X` goes on. For the labels that the script knows, the
//! rules are its rules. It does not know `S` and takes `E-X B-X` for one span; here, as in its later ports, `S` is a span of its own and `E` ends one.

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Begin,
    Inside,
    End,
    Single,
    Outside,
    /// `.`, outside for the script's older formats.
    Dot,
    /// `[` and `]`: one token.
    Bracket,
    /// A label of no scheme: begins a span only where the type changes.
    Other,
}

/// A run of tokens and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first token.
    pub start: usize,
    /// One after the last token.
    pub end: usize,
    /// The number of its type, see [`TagSet::types`].
    pub kind: u32,
}

/// What the labels of a set mean as tags of spans.
#[derive(Clone, Debug)]
pub struct TagSet {
    tags: Vec<(Place, u32)>,
    types: Vec<String>,
}

const OUTSIDE: (Place, u32) = (Place::Outside, 0);

impl TagSet {
    /// Reads the names of labels.
    pub fn new<S: AsRef<str>>(names: &[S]) -> Self {
        // Type 0 is the empty one, which `O` has.
        let mut types = vec![String::new()];
        let tags = names
            .iter()
            .map(|name| {
                let (place, kind) = name.as_ref().split_once('-').unwrap_or((name.as_ref(), ""));
                let kind = types.iter().position(|known| known == kind).unwrap_or_else(|| {
                    types.push(kind.to_string());
                    types.len() - 1
                });
                let place = match place {
                    "B" => Place::Begin,
                    "I" => Place::Inside,
                    "E" => Place::End,
                    "S" => Place::Single,
                    "O" => Place::Outside,
                    "." => Place::Dot,
                    "[" | "]" => Place::Bracket,
                    _ => Place::Other,
                };
                (place, kind as u32)
            })
            .collect();
        Self { tags, types }
    }

    /// The types of spans; the first is empty.
    pub fn types(&self) -> &[String] {
        &self.types
    }

    /// The spans of a label sequence, in order.
    ///
    /// # Panics
    /// If there is no such label.
    ///
    /// ```
    /// use lineal_metrics::{Span, TagSet};
    /// let tags = TagSet::new(&["O", "B-NP", "I-NP", "I-VP"]);
    /// let spans = tags.spans(&[2, 2, 1, 3, 0, 2]);
    /// assert_eq!(spans.iter().map(|s| (s.start, s.end)).collect::<Vec<_>>(), [(0, 2), (2, 3), (3, 4), (5, 6)]);
    /// assert_eq!(tags.types()[spans[2].kind as usize], "VP");
    /// ```
    pub fn spans(&self, labels: &[u32]) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut open: Option<(usize, u32)> = None;
        let mut before = OUTSIDE;
        for t in 0..=labels.len() {
            let tag = labels.get(t).map_or(OUTSIDE, |&label| self.tags[label as usize]);
            let starts = starts(before, tag);
            if (starts || ends(before, tag))
                && let Some((start, kind)) = open.take()
            {
                spans.push(Span { start, end: t, kind });
            }
            if starts {
                open = Some((t, tag.1));
            }
            before = tag;
        }
        spans
    }
}

/// Does a span begin with the second of two neighbours?
fn starts((before, before_kind): (Place, u32), (place, kind): (Place, u32)) -> bool {
    use Place::{Begin, Bracket, Dot, End, Inside, Outside, Single};
    matches!(place, Begin | Single | Bracket)
        || (matches!(before, End | Single | Outside) && matches!(place, End | Inside))
        || (!matches!(place, Outside | Dot) && before_kind != kind)
}

/// Does a span end with the first of two neighbours?
fn ends((before, before_kind): (Place, u32), (place, kind): (Place, u32)) -> bool {
    use Place::{Begin, Bracket, Dot, End, Inside, Outside, Single};
    matches!(before, End | Single | Bracket)
        || (matches!(before, Begin | Inside) && matches!(place, Begin | Single | Outside))
        || (!matches!(before, Outside | Dot) && before_kind != kind)
}

/// How many spans there are, were found, and are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// In the gold labels.
    pub gold: u64,
    /// In the predicted labels.
    pub found: u64,
    /// In both, of the same type.
    pub correct: u64,
}

impl SpanCounts {
    /// The share of the found that are right; 0 if none was found.
    pub fn precision(&self) -> f64 {
        ratio(self.correct, self.found)
    }

    /// The share of the gold that was found; 0 if there is none.
    pub fn recall(&self) -> f64 {
        ratio(self.correct, self.gold)
    }

    /// The harmonic mean of precision and recall; 0 if both are.
    pub fn f1(&self) -> f64 {
        let (p, r) = (self.precision(), self.recall());
        if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

/// Counts over many sequences.
#[derive(Clone, Debug, Default)]
pub struct SpanEvaluation {
    /// Of all types.
    pub all: SpanCounts,
    /// By type.
    pub by_type: BTreeMap<String, SpanCounts>,
    /// Tokens, and those with the right label.
    pub tokens: [u64; 2],
    /// Sequences, and those with all labels right.
    pub sequences: [u64; 2],
}

impl SpanEvaluation {
    /// Nothing counted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a sequence.
    ///
    /// # Panics
    /// If the two are not as long, or have labels that are not in the set.
    pub fn add(&mut self, tags: &TagSet, gold: &[u32], predicted: &[u32]) {
        assert_eq!(gold.len(), predicted.len());
        let right =
            gold.iter().zip(predicted).filter(|(gold, predicted)| gold == predicted).count();
        self.tokens[0] += gold.len() as u64;
        self.tokens[1] += right as u64;
        self.sequences[0] += 1;
        self.sequences[1] += u64::from(right == gold.len());
        let mut counts = vec![SpanCounts::default(); tags.types.len()];
        // A span is right from the start on until the two part, as in the script; the border of a sequence is `O`.
        let mut together = false;
        let (mut last_gold, mut last_found) = (OUTSIDE, OUTSIDE);
        for t in 0..=gold.len() {
            let tag = |labels: &[u32]| labels.get(t).map_or(OUTSIDE, |&l| tags.tags[l as usize]);
            let (tag_gold, tag_found) = (tag(gold), tag(predicted));
            let (end_gold, end_found) = (ends(last_gold, tag_gold), ends(last_found, tag_found));
            if together && end_gold && end_found && last_gold.1 == last_found.1 {
                counts[last_gold.1 as usize].correct += 1;
                together = false;
            } else if end_gold != end_found || tag_gold.1 != tag_found.1 {
                together = false;
            }
            let (start_gold, start_found) =
                (starts(last_gold, tag_gold), starts(last_found, tag_found));
            together |= start_gold && start_found && tag_gold.1 == tag_found.1;
            counts[tag_gold.1 as usize].gold += u64::from(start_gold);
            counts[tag_found.1 as usize].found += u64::from(start_found);
            (last_gold, last_found) = (tag_gold, tag_found);
        }
        for (count, kind) in counts.iter().zip(&tags.types) {
            if *count != SpanCounts::default() {
                add(&mut self.all, count);
                add(self.by_type.entry(kind.clone()).or_default(), count);
            }
        }
    }

    /// The share of tokens with the right label.
    pub fn token_accuracy(&self) -> f64 {
        ratio(self.tokens[1], self.tokens[0])
    }

    /// The share of sequences with all labels right.
    pub fn sequence_accuracy(&self) -> f64 {
        ratio(self.sequences[1], self.sequences[0])
    }
}

fn add(to: &mut SpanCounts, more: &SpanCounts) {
    to.gold += more.gold;
    to.found += more.found;
    to.correct += more.correct;
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 7] = ["O", "B-A", "I-A", "B-B", "I-B", "B-C-D", "I-C-D"];

    /// 400 sequences of random labels, two thirds of them predicted right.
    fn random() -> Vec<(Vec<u32>, Vec<u32>)> {
        let mut state = 12345u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        (0..400)
            .map(|_| {
                let n = 1 + below(12);
                (0..n)
                    .map(|_| {
                        let gold = below(7);
                        let predicted = if below(3) > 0 { gold } else { below(7) };
                        (gold as u32, predicted as u32)
                    })
                    .unzip()
            })
            .collect()
    }

    #[test]
    fn counts_are_those_of_conlleval() {
        let tags = TagSet::new(&NAMES);
        let mut eval = SpanEvaluation::new();
        for (gold, predicted) in random() {
            eval.add(&tags, &gold, &predicted);
        }
        // The same labels, one token `w GOLD PREDICTED` a line, through `perl conlleval`, its counters printed.
        assert_eq!(eval.all, SpanCounts { gold: 1949, found: 1943, correct: 1300 });
        let by_type = [("A", 654, 633, 437), ("B", 675, 681, 448), ("C-D", 620, 629, 415)];
        for (kind, gold, found, correct) in by_type {
            assert_eq!(eval.by_type[kind], SpanCounts { gold, found, correct }, "{kind}");
        }
        assert_eq!(eval.tokens, [2599, 1849]);
        assert_eq!(eval.sequences[0], 400);
    }

    #[test]
    fn right_spans_are_the_common_ones() {
        let tags = TagSet::new(&NAMES);
        for (gold, predicted) in random() {
            let mut eval = SpanEvaluation::new();
            eval.add(&tags, &gold, &predicted);
            let (gold, predicted) = (tags.spans(&gold), tags.spans(&predicted));
            assert_eq!(eval.all.gold, gold.len() as u64);
            assert_eq!(eval.all.found, predicted.len() as u64);
            let common = gold.iter().filter(|span| predicted.contains(span)).count();
            assert_eq!(eval.all.correct, common as u64);
        }
    }

    #[test]
    fn bioes_spans_end_where_they_say() {
        let names = ["O", "B-A", "I-A", "E-A", "S-A", "S-B"];
        let tags = TagSet::new(&names);
        let spans = |labels: &[u32]| -> Vec<(usize, usize)> {
            tags.spans(labels).iter().map(|s| (s.start, s.end)).collect()
        };
        assert_eq!(
            spans(&[1, 2, 3, 4, 4, 5, 0, 1, 3, 1, 3]),
            [(0, 3), (3, 4), (4, 5), (5, 6), (7, 9), (9, 11)]
        );
        assert_eq!(spans(&[3, 2, 4]), [(0, 1), (1, 2), (2, 3)]);
        let mut eval = SpanEvaluation::new();
        eval.add(&tags, &[4, 0, 1, 3], &[4, 4, 1, 3]);
        assert_eq!((eval.all.precision(), eval.all.recall()), (2.0 / 3.0, 1.0));
        assert!((eval.all.f1() - 0.8).abs() < 1e-12);
        assert_eq!(SpanCounts::default().f1(), 0.0);
        assert_eq!((eval.token_accuracy(), eval.sequence_accuracy()), (0.75, 0.0));
    }
}
