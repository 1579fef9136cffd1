//! From scores of labels to sets of labels: a label fires where its score is at least its threshold.
//!
//! With rows sorted by falling score, a threshold is a cut: the rows before it fire. One pass over the sorted rows sees every
//! cut's true positives tp and false positives fp, hence F1 = 2tp/(tp + fp + n₊), or the cost c_fp·fp + c_fn·(n₊ − tp). Rows of
//! equal score fire together. The threshold is halfway between the two scores at the cut; the lowest score where all rows
//! fire; [`NEVER`] where none does, which is also so for a label without a positive row. Among equally good cuts the one
//! that fires least is taken. Works for probabilities as for scores.

use crate::held::Held;
use crate::{Answers, Error};
use rayon::prelude::*;

/// The threshold of a label that no finite score below it fires. Finite, because JSON knows no infinity.
pub const NEVER: f64 = f64::MAX;

/// What thresholds are good for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// The largest F1 of each label by itself, which is the largest macro F1.
    ///
    /// With few positive rows the best cut may be far down by accident, and fire on everything. Where the best F1 is below
    /// `floor`, the threshold is the highest score instead: Fan and Lin, *A study on threshold selection for multi-label
    /// classification*, 2007 (SCutFBR.1), who take 0.1. A `floor` of 0 never does that.
    F1 {
        /// From 0 to 1.
        floor: f64,
    },
    /// One threshold for all labels, of the largest micro F1.
    MicroF1,
    /// Of two classes told apart by one score: the largest mean of both classes' F1.
    MacroF1,
    /// The least cost of each label.
    Cost {
        /// Cost of firing wrongly.
        false_positive: f64,
        /// Cost of not firing where it should.
        false_negative: f64,
    },
}

/// One threshold per column of held-out scores. Labels in parallel, with the same result at any number of threads.
pub fn thresholds(aim: Aim, held: &Held<'_>) -> Result<Vec<f64>, Error> {
    aim.check()?;
    let columns = (0..held.n_columns()).into_par_iter();
    if aim == Aim::MicroF1 {
        let mut rows: Vec<Row> =
            columns.flat_map_iter(|l| rows(&held.column(l).answers())).collect();
        rows.par_sort_unstable_by(Row::falling);
        return Ok(vec![best_cut(aim, &rows); held.n_columns()]);
    }
    Ok(columns.map(|l| of_rows(aim, rows(&held.column(l).answers()))).collect())
}

/// The threshold of one label.
pub fn threshold(aim: Aim, answers: &Answers<'_>) -> Result<f64, Error> {
    aim.check()?;
    Ok(of_rows(aim, rows(answers)))
}

impl Aim {
    fn check(&self) -> Result<(), Error> {
        let settings = match *self {
            Aim::F1 { floor } => [("floor of F1", floor, 1.0), ("", 0.0, 0.0)],
            Aim::MicroF1 | Aim::MacroF1 => [("", 0.0, 0.0); 2],
            Aim::Cost { false_positive, false_negative } => [
                ("cost of a false positive", false_positive, f64::MAX),
                ("cost of a false negative", false_negative, f64::MAX),
            ],
        };
        for (what, value, most) in settings {
            if !(0.0..=most).contains(&value) {
                let wanted = if most == 1.0 { "from 0 to 1" } else { "finite and not negative" };
                return Err(Error::Setting { what, value, wanted });
            }
        }
        Ok(())
    }
}

/// A score, and its weight if yes, or minus its weight if no.
#[derive(Clone, Copy, Debug)]
struct Row {
    score: f64,
    signed_weight: f64,
}

impl Row {
    /// By falling score. The weight makes it a total order: sums are then the same however a sort treats equals.
    fn falling(a: &Self, b: &Self) -> std::cmp::Ordering {
        // −0 and 0 are one score: adding 0 turns one into the other.
        (b.score + 0.0)
            .total_cmp(&(a.score + 0.0))
            .then(a.signed_weight.total_cmp(&b.signed_weight))
    }
}

fn rows(answers: &Answers<'_>) -> Vec<Row> {
    let row = |(score, yes, weight): (f64, bool, f64)| Row {
        score,
        signed_weight: if yes { weight } else { -weight },
    };
    answers.iter().map(row).collect()
}

fn of_rows(aim: Aim, mut rows: Vec<Row>) -> f64 {
    rows.sort_unstable_by(Row::falling);
    best_cut(aim, &rows)
}

/// The best threshold over rows of falling score.
fn best_cut(aim: Aim, rows: &[Row]) -> f64 {
    let n_yes: f64 = rows.iter().map(|row| row.signed_weight.max(0.0)).sum();
    if n_yes == 0.0 {
        return NEVER;
    }
    let (mut true_yes, mut false_yes, mut n_fired) = (0.0, 0.0, 0);
    let n_no = rows.iter().map(|row| (-row.signed_weight).max(0.0)).sum::<f64>();
    // Twice the mean F1 of yes and of no.
    let both = |true_yes: f64, false_yes: f64| {
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        let true_no = n_no - false_yes;
        ratio(2.0 * true_yes, true_yes + false_yes + n_yes)
            + ratio(2.0 * true_no, 2.0 * true_no + false_yes + n_yes - true_yes)
    };
    let mut best = Cut { n_fired: 0, gain: 0.0, of: 1.0 };
    if aim == Aim::MacroF1 {
        best.gain = both(0.0, 0.0);
    }
    for tie in rows.chunk_by(|a, b| a.score == b.score) {
        n_fired += tie.len();
        for row in tie {
            *(if row.signed_weight > 0.0 { &mut true_yes } else { &mut false_yes }) +=
                row.signed_weight.abs();
        }
        let cut = match aim {
            Aim::F1 { .. } | Aim::MicroF1 => {
                Cut { n_fired, gain: 2.0 * true_yes, of: true_yes + false_yes + n_yes }
            }
            Aim::MacroF1 => Cut { n_fired, gain: both(true_yes, false_yes), of: 1.0 },
            // What is saved against not firing at all.
            Aim::Cost { false_positive, false_negative } => {
                let saved = false_negative * true_yes - false_positive * false_yes;
                Cut { n_fired, gain: saved, of: 1.0 }
            }
        };
        // Crosswise: whole numbers stay whole, and equal fractions equal.
        if cut.gain * best.of > best.gain * cut.of {
            best = cut;
        }
    }
    if let Aim::F1 { floor } = aim
        && best.gain < floor * best.of
    {
        return rows[0].score;
    }
    match best.n_fired {
        0 => NEVER,
        n if n == rows.len() => rows[n - 1].score,
        n => between(rows[n].score, rows[n - 1].score),
    }
}

/// The first `n_fired` rows fire, which is worth `gain / of`.
struct Cut {
    n_fired: usize,
    gain: f64,
    of: f64,
}

/// Above `lo` and at most `hi`, halfway if there is a number there.
fn between(lo: f64, hi: f64) -> f64 {
    let middle = lo / 2.0 + hi / 2.0;
    if lo < middle && middle < hi { middle } else { hi }
}
