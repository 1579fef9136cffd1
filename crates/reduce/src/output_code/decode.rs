//! From the answers f ∈ ℝ^L of a code's columns to a class.
//!
//! - Hamming: min over k of Σ_l (1 − M_kl sign f_l)/2. A 0 in the code counts ½. Among equals the class of the largest
//!   Σ_l M_kl f_l, then the lowest: with that, one-vs-all and one-vs-one as codes predict what they predict directly.
//! - Loss-based: min over k of Σ_l L(M_kl f_l), L the loss that the learner minimised (Allwein et al. 2000).
//! - Probability: max over k of Σ_l ln P(bit l is M_kl), ln ½ for a 0.
//!
//! Columns that were not learnt take no part, nor do classes without training rows.

use crate::Code;
use crate::code::BitRows;
use crate::learner::tame;
use crate::problems::{Scratch, argmax};
use lineal_linalg::special;

/// How answers become a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decoding {
    /// The codeword that the fewest answers contradict. Only signs count; it corrects [`Code::corrects`] wrong ones.
    #[default]
    Hamming,
    /// The codeword of the least summed loss. Scores count as well; pick the loss that the learner minimised.
    Loss(MarginLoss),
    /// The most probable codeword if columns err independently. Scores are log-odds unless the scorer has
    /// probabilities.
    Probability,
}

/// A loss of a margin z = (entry of the code) · score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarginLoss {
    /// e^(−z): boosting.
    Exponential,
    /// max(0, 1 − z): support vector machines.
    Hinge,
    /// ln(1 + e^(−z)): logistic regression.
    Logistic,
}

impl MarginLoss {
    /// The loss at a margin.
    pub fn value(self, margin: f64) -> f64 {
        match self {
            // e⁶⁰⁰ still leaves room for a sum over all columns.
            MarginLoss::Exponential => (-margin).min(600.0).exp(),
            MarginLoss::Hinge => (1.0 - margin).max(0.0),
            MarginLoss::Logistic => special::log1p_exp(-margin),
        }
    }
}

impl Code {
    /// The class for given answers, one score per column (log-odds for [`Decoding::Probability`]); answers that are
    /// missing are not used. To decode many, fit an [`OutputCode`](crate::OutputCode).
    pub fn decode(&self, scores: &[f64], decoding: Decoding) -> u32 {
        let asked: Vec<bool> = (0..self.n_columns()).map(|l| l < scores.len()).collect();
        let decoder = Decoder::new(self, asked, vec![true; self.n_classes()]);
        let mut scratch = Scratch::default();
        let scores =
            scores.iter().map(|&s| tame(s)).chain(std::iter::repeat(0.0)).take(self.n_columns());
        match decoding {
            Decoding::Hamming | Decoding::Loss(_) => scratch.scores.extend(scores),
            Decoding::Probability => scratch
                .scores
                .extend(scores.flat_map(|s| [-special::log1p_exp(-s), -special::log1p_exp(s)])),
        }
        decoder.decode(self, decoding, &mut scratch)
    }
}

/// What decoding knows of a code and of what was learnt, prepared once.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    rows: BitRows,
    /// A bit a learnt column.
    asked: Vec<u64>,
    columns: Vec<usize>,
    /// Zeros of each class among them.
    zeros: Vec<u32>,
    seen: Vec<bool>,
}

impl Decoder {
    pub(super) fn new(code: &Code, is_asked: Vec<bool>, seen: Vec<bool>) -> Self {
        let rows = BitRows::new(code);
        let columns: Vec<usize> = (0..code.n_columns()).filter(|&l| is_asked[l]).collect();
        let mut asked = vec![0u64; code.n_columns().div_ceil(64)];
        for l in &columns {
            asked[l / 64] |= 1 << (l % 64);
        }
        let zeros = (0..code.n_classes())
            .map(|k| columns.len() as u32 - rows.nonzeros(k, &asked))
            .collect();
        Self { rows, asked, columns, zeros, seen }
    }

    /// Whether each class has training rows.
    pub(super) fn seen(&self) -> &[bool] {
        &self.seen
    }

    /// Decodes `scratch.scores`: one score per column, or for probabilities ln P(+) and ln P(−) side by side.
    pub(super) fn decode(&self, code: &Code, decoding: Decoding, scratch: &mut Scratch) -> u32 {
        match decoding {
            Decoding::Hamming => self.nearest(code, scratch),
            Decoding::Loss(loss) => {
                let margin = |k: usize, l: usize| f64::from(code.entry(k, l)) * scratch.scores[l];
                let total = |k| self.columns.iter().map(|&l| loss.value(margin(k, l))).sum::<f64>();
                argmax((0..code.n_classes()).map(|k| -total(k)), &self.seen)
            }
            Decoding::Probability => {
                argmax(self.log_likelihoods(code, &scratch.scores), &self.seen)
            }
        }
    }

    /// ln P(answers are the codeword) of each class; −∞ for classes without training rows.
    fn log_likelihoods(&self, code: &Code, log_probas: &[f64]) -> impl Iterator<Item = f64> {
        let bit = |k: usize, l: usize| match code.entry(k, l) {
            1 => log_probas[2 * l],
            -1 => log_probas[2 * l + 1],
            _ => -std::f64::consts::LN_2,
        };
        let total = move |k| self.columns.iter().map(|&l| bit(k, l)).sum();
        (0..code.n_classes()).map(move |k| if self.seen[k] { total(k) } else { f64::NEG_INFINITY })
    }

    fn nearest(&self, code: &Code, scratch: &mut Scratch) -> u32 {
        let Scratch { scores, bits: yes, .. } = scratch;
        yes.clear();
        yes.resize(self.asked.len(), 0);
        for &l in &self.columns {
            yes[l / 64] |= u64::from(scores[l] >= 0.0) << (l % 64);
        }
        let agreement = |k: usize| {
            let margins = self.columns.iter().map(|&l| f64::from(code.entry(k, l)) * scores[l]);
            margins.sum::<f64>()
        };
        // Agreement is summed only when distances tie.
        let mut best: Option<(u32, Option<f64>, u32)> = None;
        for k in (0..code.n_classes()).filter(|&k| self.seen[k]) {
            let distance = 2 * self.rows.contradictions(k, &self.asked, yes) + self.zeros[k];
            match &mut best {
                Some((least, _, _)) if distance > *least => {}
                Some((least, highest, class)) if distance == *least => {
                    let highest = highest.get_or_insert_with(|| agreement(*class as usize));
                    let own = agreement(k);
                    if own > *highest {
                        (*highest, *class) = (own, k as u32);
                    }
                }
                _ => best = Some((distance, None, k as u32)),
            }
        }
        best.map_or(0, |(_, _, class)| class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_of_two_opposite_codewords_is_taken() {
        // The first two rows are the example; the others only keep columns apart, and are 3 or more away.
        let code: Code = "+----\n-++++\n-----\n---++\n-+-+-\n".parse().unwrap();
        let answers = [1.0, 1.0, 1.0, -1.0, -1.0];
        assert_eq!(code.decode(&answers, Decoding::Hamming), 0);
        for loss in [MarginLoss::Exponential, MarginLoss::Hinge, MarginLoss::Logistic] {
            assert_eq!(code.decode(&answers, Decoding::Loss(loss)), 0);
        }
        assert_eq!(code.decode(&answers, Decoding::Probability), 0);
    }

    #[test]
    fn a_firm_answer_outweighs_weak_ones_in_all_but_hamming_decoding() {
        // Classes 0 and 1 differ in four columns. Three say 1, weakly; one says 0, firmly.
        let code = Code::hadamard(8).unwrap();
        let mut answers: Vec<f64> = code.row(1).iter().map(|&entry| f64::from(entry)).collect();
        let differ: Vec<usize> = (0..7).filter(|&l| code.entry(0, l) != code.entry(1, l)).collect();
        answers[differ[0]] *= -5.0;
        differ[1..].iter().for_each(|&l| answers[l] *= 0.1);
        assert_eq!(code.decode(&answers, Decoding::Hamming), 1);
        for loss in [MarginLoss::Exponential, MarginLoss::Hinge, MarginLoss::Logistic] {
            assert_eq!(code.decode(&answers, Decoding::Loss(loss)), 0);
        }
        assert_eq!(code.decode(&answers, Decoding::Probability), 0);
    }

    #[test]
    fn extreme_answers_decode() {
        let code = Code::one_vs_all(3).unwrap();
        for decoding in [
            Decoding::Hamming,
            Decoding::Loss(MarginLoss::Exponential),
            Decoding::Loss(MarginLoss::Hinge),
            Decoding::Loss(MarginLoss::Logistic),
            Decoding::Probability,
        ] {
            assert_eq!(code.decode(&[-1e100, 1e100, -1e100], decoding), 1);
            assert_eq!(code.decode(&[], decoding), 0);
        }
    }
}
