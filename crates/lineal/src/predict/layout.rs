//! What the columns of a model's weights are, and how their scores become classes.

use crate::Error;
use crate::request::spec::{
    CodeKind, DecodingKind, LossKind, PairKind, ReductionSpec, Strategy, Task, TrainSpec,
};
use lineal_calibrate::couple::{self, CodeColumns};
use lineal_linalg::special::log1p_exp;
use lineal_reduce::Code;
use serde::{Deserialize, Serialize};

/// What the columns are. The model file has it as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "columns")]
pub(crate) enum Layout {
    /// One per output: joint classes, the single score of two classes, a number.
    #[default]
    Joint,
    /// One per class, each trained alone.
    Ova,
    /// One per pair of classes, in the order of [`pairs`].
    Ovo,
    /// One per column of a code.
    Code {
        /// The codewords, class by class.
        words: Vec<String>,
    },
    /// One per label.
    Labels,
    /// In the nodes of a tree.
    Tree,
}

/// Pairs a < b of classes, those of one of [`squares`] after the other.
pub(crate) fn pairs(n_classes: usize) -> Vec<(u32, u32)> {
    squares(n_classes).concat()
}

/// Pairs a < b of classes that are trained together, since a row takes part in half of them: all pairs of four classes, and else squares of 2 × 2.
///
/// In larger squares a row takes part in fewer of the columns that it is scored for, and the weights no longer stay in the cache; in the plain order
/// a row of class c would meet most blocks, in one column each.
pub(crate) fn squares(n_classes: usize) -> Vec<Vec<(u32, u32)>> {
    let group = |side: usize, g: usize| {
        (g * side..((g + 1) * side).min(n_classes)).map(|class| class as u32)
    };
    let fours = (0..n_classes.div_ceil(4)).map(|g| (group(4, g), group(4, g)));
    let n_twos = n_classes.div_ceil(2);
    let twos = (0..n_twos).flat_map(|first| {
        (2 * (first / 2 + 1)..n_twos).map(move |second| (group(2, first), group(2, second)))
    });
    fours
        .chain(twos)
        .map(|(first, second)| {
            first
                .flat_map(|a| second.clone().filter(move |&b| b > a).map(move |b| (a, b)))
                .collect::<Vec<_>>()
        })
        .filter(|square| !square.is_empty())
        .collect()
}

/// The code that a spec asks for.
pub(crate) fn code(spec: &ReductionSpec, n_classes: usize, seed: u64) -> Result<Code, Error> {
    let dense = spec.code_length.unwrap_or_else(|| Code::usual_dense_columns(n_classes));
    let code = match spec.code {
        CodeKind::Dense => Code::random_dense(n_classes, dense, seed),
        CodeKind::Sparse => {
            let usual = || Code::usual_sparse_columns(n_classes);
            Code::random_sparse(n_classes, spec.code_length.unwrap_or_else(usual), seed)
        }
        CodeKind::Greedy => Code::greedy(n_classes, dense, seed),
        CodeKind::Bch => {
            let usual = || Code::usual_bch_columns(n_classes);
            Code::bch(n_classes, spec.code_length.unwrap_or_else(usual))
        }
        CodeKind::Exhaustive => Code::exhaustive(n_classes),
        CodeKind::Hadamard => Code::hadamard(n_classes),
        CodeKind::Ova => Code::one_vs_all(n_classes),
        CodeKind::Ovo => Code::one_vs_one(n_classes),
        CodeKind::File => {
            let text = spec.code_text.as_deref().ok_or_else(|| {
                Error::request(
                    "spec.reduction.code = file needs the code: say spec.reduction.code_text",
                )
            })?;
            text.parse()
        }
    };
    let code = code.map_err(|why| Error::request(format!("spec.reduction.code: {why}")))?;
    if code.n_classes() != n_classes {
        return Err(Error::request(format!(
            "the code has {} codewords, the data {n_classes} classes",
            code.n_classes()
        )));
    }
    Ok(code)
}

/// Turns the scores of columns into classes.
#[derive(Clone, Debug)]
pub(crate) enum Decoder {
    /// Columns are classes (one column for two).
    Direct,
    Pairs {
        pairs: Vec<(u32, u32)>,
        decision: PairKind,
    },
    Code {
        code: Code,
        columns: CodeColumns,
        decoding: DecodingKind,
        loss: LossKind,
    },
}

impl Decoder {
    /// The decoder of a layout; `Err` says how a model file contradicts itself.
    pub(crate) fn new(
        layout: &Layout,
        spec: &TrainSpec,
        loss: LossKind,
        n_classes: usize,
    ) -> Result<Self, String> {
        match layout {
            Layout::Ovo => {
                Ok(Self::Pairs { pairs: pairs(n_classes), decision: spec.reduction.pairs })
            }
            Layout::Code { words } => {
                let code: Code = words.join("\n").parse().map_err(|e| format!("its code: {e}"))?;
                if code.n_classes() != n_classes {
                    return Err(format!("{} codewords for {n_classes} classes", code.n_classes()));
                }
                Self::of_code(code, spec.reduction.decoding, loss)
            }
            Layout::Joint | Layout::Ova | Layout::Labels | Layout::Tree => Ok(Self::Direct),
        }
    }

    fn of_code(code: Code, decoding: DecodingKind, loss: LossKind) -> Result<Self, String> {
        let entries: Vec<i8> = (0..code.n_classes()).flat_map(|k| code.row(k).to_vec()).collect();
        let columns = CodeColumns::new(code.n_classes(), code.n_columns(), &entries)
            .map_err(|e| format!("its code: {e}"))?;
        Ok(Self::Code { code, columns, decoding, loss })
    }

    /// Number of columns for that many classes.
    pub(crate) fn n_columns(&self, n_classes: usize) -> usize {
        match self {
            Self::Direct => n_classes,
            Self::Pairs { pairs, .. } => pairs.len(),
            Self::Code { code, .. } => code.n_columns(),
        }
    }

    /// A score for each class, whose argmax is the prediction but for a tournament's.
    pub(crate) fn class_scores(&self, columns: &[f64], out: &mut [f64]) {
        match self {
            Self::Direct => out.copy_from_slice(columns),
            Self::Pairs { pairs, decision } => {
                let votes = *decision != PairKind::Scores;
                let mut sums = vec![0.0; out.len()];
                out.fill(0.0);
                for (&(a, b), &score) in pairs.iter().zip(columns) {
                    sums[a as usize] += score;
                    sums[b as usize] -= score;
                    out[if score >= 0.0 { a } else { b } as usize] += 1.0;
                }
                for (out, sum) in out.iter_mut().zip(sums) {
                    // Votes are whole numbers: a third of what is between them decides among equals.
                    *out = if votes { *out + sum / (3.0 * (sum.abs() + 1.0)) } else { sum };
                }
            }
            Self::Code { code, decoding, loss, .. } => {
                for (class, out) in out.iter_mut().enumerate() {
                    let word = code.row(class);
                    *out = match decoding {
                        DecodingKind::Hamming => agreement(word, columns),
                        DecodingKind::Loss => -word
                            .iter()
                            .zip(columns)
                            .map(|(&c, &s)| of_margin(*loss, f64::from(c) * s))
                            .sum::<f64>(),
                        DecodingKind::Probability => word
                            .iter()
                            .zip(columns)
                            .map(|(&c, &s)| -log1p_exp(-f64::from(c) * s))
                            .sum(),
                    };
                }
            }
        }
    }

    /// The class that the columns decide for; the lowest among equals.
    pub(crate) fn decide(&self, columns: &[f64], scratch: &mut Vec<f64>, n_classes: usize) -> u32 {
        if let Self::Pairs { pairs, decision: PairKind::Tournament } = self {
            return tournament(pairs, columns, n_classes);
        }
        scratch.clear();
        scratch.resize(n_classes, 0.0);
        self.class_scores(columns, scratch);
        argmax(scratch)
    }

    /// Probabilities of classes from the columns' probabilities of yes; they sum to one.
    pub(crate) fn class_proba(&self, yes: &[f64], out: &mut [f64]) {
        match self {
            Self::Direct => {
                out.copy_from_slice(yes);
                couple::one_vs_all(out);
            }
            Self::Pairs { pairs, .. } => {
                let k = out.len();
                let mut duels = vec![0.0; yes.len()];
                for (&(a, b), &p) in pairs.iter().zip(yes) {
                    let (a, b) = (a as usize, b as usize);
                    // (0,1), (0,2), …: before those of a there are a rows of K − 1, K − 2, … duels.
                    duels[a * (2 * k - a - 1) / 2 + b - a - 1] = p;
                }
                couple::pairwise(&duels, out, &mut couple::Scratch::default());
            }
            Self::Code { columns, .. } => columns.couple(yes, out, &mut couple::Scratch::default()),
        }
    }
}

/// How far each score is ahead of the best other one. Joint scores mean something only against one another, so these are what the map of each
/// class is fitted to.
pub(crate) fn leads(scores: &[f64], out: &mut [f64]) {
    let best = argmax(scores) as usize;
    let others = scores.iter().enumerate().filter(|&(c, _)| c != best);
    let second = others.fold(f64::NEG_INFINITY, |m, (_, &s)| m.max(s));
    for (c, (out, &s)) in out.iter_mut().zip(scores).enumerate() {
        *out = s - if c == best { second } else { scores[best] };
    }
}

pub(crate) fn argmax(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (c, &s) in scores.iter().enumerate() {
        if s > scores[best] {
            best = c;
        }
    }
    best as u32
}

/// How many answers agree with the codeword, zeros counting half, and among equals how firmly.
fn agreement(word: &[i8], columns: &[f64]) -> f64 {
    let (mut agree, mut firm) = (0.0, 0.0);
    for (&c, &s) in word.iter().zip(columns) {
        let signed = f64::from(c) * s;
        agree += match c {
            0 => 0.5,
            _ if (s >= 0.0) == (c > 0) => 1.0,
            _ => 0.0,
        };
        firm += signed;
    }
    // Agreement moves by halves.
    agree + firm / (6.0 * (firm.abs() + 1.0))
}

fn of_margin(loss: LossKind, m: f64) -> f64 {
    match loss {
        LossKind::Logistic => log1p_exp(-m),
        LossKind::SquaredHinge => (1.0 - m).max(0.0).powi(2),
        _ => (1.0 - m).max(0.0),
    }
}

/// Neighbours in the order of classes meet, winners move on, an odd one out waits: K − 1 duels.
fn tournament(pairs: &[(u32, u32)], columns: &[f64], n_classes: usize) -> u32 {
    let mut left: Vec<u32> = (0..n_classes as u32).collect();
    let winner = |duel: &[u32]| match *duel {
        [a, b] => match pairs.iter().position(|&pair| pair == (a, b)) {
            Some(at) if columns[at] < 0.0 => b,
            _ => a,
        },
        _ => duel[0],
    };
    while left.len() > 1 {
        left = left.chunks(2).map(winner).collect();
    }
    left[0]
}

/// Whether a spec's problem is trained column by column.
pub(crate) fn by_columns(spec: &TrainSpec, n_classes: usize) -> bool {
    spec.task == Task::Multilabel || (spec.strategy != Strategy::Joint && n_classes > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_hold_every_pair_once() {
        for k in [2, 3, 4, 5, 9, 20] {
            let mut all = pairs(k);
            assert_eq!(all.len(), k * (k - 1) / 2);
            assert!(all.iter().all(|&(a, b)| a < b && (b as usize) < k));
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), k * (k - 1) / 2);
        }
    }

    #[test]
    fn duels_decide_by_votes_scores_or_a_tournament() {
        // 0 beats 1 firmly, 1 beats 2, 2 beats 0: a vote each, and sums 5 − 1, −5 + 2, −2 + 1.
        let pairs = pairs(3);
        let columns: Vec<f64> = pairs
            .iter()
            .map(|p| match p {
                (0, 1) => 5.0,
                (0, 2) => -1.0,
                _ => 2.0,
            })
            .collect();
        let decide = |decision| {
            Decoder::Pairs { pairs: pairs.clone(), decision }.decide(&columns, &mut Vec::new(), 3)
        };
        assert_eq!(decide(PairKind::Votes), 0);
        assert_eq!(decide(PairKind::Scores), 0);
        assert_eq!(decide(PairKind::Tournament), 2);
    }

    #[test]
    fn a_code_decodes_to_the_nearest_word() {
        let code: Code = "+----\n-++++\n-----\n---++\n-+-+-\n".parse().unwrap();
        for decoding in [DecodingKind::Hamming, DecodingKind::Loss, DecodingKind::Probability] {
            let decoder = Decoder::of_code(code.clone(), decoding, LossKind::Hinge).unwrap();
            assert_eq!(decoder.decide(&[1.0, 1.0, 1.0, -1.0, -1.0], &mut Vec::new(), 5), 0);
        }
    }
}
