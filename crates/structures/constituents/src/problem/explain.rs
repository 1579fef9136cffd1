//! In which features two derivations differ, by name.

use super::Constituents;
use crate::derivation::Derivation;
use crate::features::Section;
use crate::features::names::Texts;

/// A feature that one of two derivations has more often than the other, and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// What it belongs to: `NP over words 4-7`, `words 4-5 as left child of NP`, `DT as left child of NP`.
    pub part: String,
    /// Its atoms with their values: `first.tag=DT last.word=dog`; empty for pairs.
    pub feature: String,
    /// How much more often the first derivation has it.
    pub value: f64,
    /// Its place among the weights.
    pub index: usize,
    /// Its weight: value × weight is what it adds to the lead of the first derivation.
    pub weight: f32,
}

impl Constituents<'_> {
    /// Every feature of sentence `i` in which two of its derivations differ. `words` and `tags` are the sentence as text. The sum of value × weight is the difference of the scores.
    pub fn explain<W: AsRef<str>, T: AsRef<str>>(
        &self,
        i: usize,
        (words, tags): (&[W], &[T]),
        plus: &Derivation,
        minus: &Derivation,
        w: &[f32],
    ) -> Vec<Contribution> {
        let texts = Texts { words, tags };
        let mut all = Vec::new();
        for difference in self.differences(i, plus, minus) {
            let Some((section, start, end)) = difference.span else {
                let weight = w[difference.indices[0]];
                all.push(Contribution {
                    part: self.pair_name(difference.column),
                    feature: String::new(),
                    value: difference.value,
                    index: difference.indices[0],
                    weight,
                });
                continue;
            };
            let place = match end - start {
                1 => format!("word {end}"),
                _ => format!("words {}-{end}", start + 1),
            };
            let part = match section {
                Section::Label => {
                    format!("{} over {place}", self.grammar.column_name(difference.column))
                }
                Section::Left => {
                    format!(
                        "{place} as left child of {}",
                        self.grammar.category_name(difference.column)
                    )
                }
                _ => format!(
                    "{place} as right child of {}",
                    self.grammar.category_name(difference.column)
                ),
            };
            let names = texts.names(self.templates, section, start, end);
            all.extend(names.into_iter().zip(difference.indices).map(|(feature, index)| {
                Contribution {
                    part: part.clone(),
                    feature,
                    value: difference.value,
                    index,
                    weight: w[index],
                }
            }));
        }
        all
    }

    fn pair_name(&self, number: usize) -> String {
        let (side, child, parent) = self.grammar.pairs().pair(number);
        let side = ["left", "right"][side];
        format!("{} as {side} child of {}", self.grammar.name(child), self.grammar.name(parent))
    }
}
