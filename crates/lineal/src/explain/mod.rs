//! Why a row got its answer: the features that decided between the winner and the runner-up.
//!
//! The lead of the winner over the runner-up is linear in the features, lead = bias + Σ_j x_j·d_j, and feature j contributed x_j·d_j. What d is
//! depends on the strategy:
//!
//! | columns | lead | d |
//! |---|---|---|
//! | classes, joint or one-vs-all | difference of the two scores | w_winner − w_runner-up |
//! | two classes | the score f, turned so that the winner's is positive | ±w |
//! | one-vs-one by scores | difference of the summed scores | the same sums of weights |
//! | one-vs-one by votes or a tournament | the answer of the duel between the two | ±w of the duel |
//! | output codes | summed answers of the columns in which the codewords differ | the same sum of weights |
//! | label tree | difference of the answers where the ways to the two part | of that node |
//! | labels | score above the label's threshold | w of the label |
//! | labels in a tree | the answer of the least sure decision on the way to the label | of that node |
//! | numbers | the prediction | w |
//!
//! For codes without zeros, answered by a logistic loss and decoded by loss or probability, the summed answers are the difference of the codewords'
//! log-likelihoods exactly. Votes, tournaments, other decodings and calibration are not linear: the winner may then have a negative lead, which
//! is shown as it is.

pub(crate) mod highlight;

use crate::Error;
use crate::predict::layout::{Decoder, Layout};
use crate::predict::model::{Model, Predicted, Table};
use crate::predict::scoring::highest;
use crate::request::spec::{PairKind, Task, Threshold};
use crate::train::weights::with_weights;
use lineal_data::Dataset;
use lineal_linalg::Row;
use lineal_model::Bias;
use rayon::prelude::*;
use std::ops::Range;

/// Why a row got its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The row, from 0.
    pub row: usize,
    /// The class that won, or the label in question; `None` for numbers.
    pub winner: Option<u32>,
    /// The class that it is compared with; `None` for labels and numbers.
    pub runner_up: Option<u32>,
    /// Whether the answer is (or has) the winner: only a label may be explained that was not predicted.
    pub predicted: bool,
    /// Which quantity the lead is.
    pub decision: Decision,
    /// `bias − threshold + Σ contributions + rest`.
    pub lead: f64,
    /// The lead of a row without features; if columns were standardised in training, the lead of an average row.
    pub bias: f64,
    /// The score above which the label, or the second of two classes, is predicted; negated if the first class won.
    pub threshold: f64,
    /// The features with the largest contributions, largest first.
    pub contributions: Vec<Contribution>,
    /// How many other features contributed.
    pub n_rest: usize,
    /// The sum of their contributions.
    pub rest: f64,
    /// Probabilities of winner and runner-up (twice the label's), if the model has them.
    pub proba: Option<[f64; 2]>,
}

/// What one feature contributed to the lead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// The feature.
    pub feature: usize,
    /// Its value in the row.
    pub value: f64,
    /// What one unit of it adds to the lead.
    pub weight: f64,
    /// What it added on average in the training data, if that is known; else 0. For a category, this is the average of the
    /// whole column.
    pub average: f64,
}

impl Contribution {
    /// What it added to the lead, compared with the average.
    pub fn amount(&self) -> f64 {
        self.value * self.weight - self.average
    }
}

/// Which quantity a lead is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The difference of scores.
    Scores,
    /// The score of the binary model for the two classes.
    Duel,
    /// The columns in which the codewords differ.
    Columns {
        /// The number of these columns.
        differ: usize,
        /// How many of them agree with the winner's codeword.
        agree: usize,
    },
    /// A node of a tree.
    Node,
    /// A label's score against its threshold.
    Label,
    /// The prediction itself.
    Number,
}

/// What to explain.
#[derive(Clone, Debug, Default)]
pub struct ExplainSpec {
    /// Which rows, from 0; all for `None`.
    pub rows: Option<Vec<usize>>,
    /// Compare with this class instead of the runner-up; for labels, explain only this one.
    pub class: Option<u32>,
    /// How many features to return; all for `None`.
    pub top: Option<usize>,
}

/// A linear function of the features, as signed columns of the weights.
struct Form {
    /// Of a tree: the node whose columns they are.
    node: Option<usize>,
    columns: Vec<(usize, f64)>,
}

/// What is to be explained of a row.
struct Question {
    row: usize,
    winner: Option<u32>,
    runner_up: Option<u32>,
    predicted: bool,
    proba: Option<[f64; 2]>,
}

impl Model {
    /// Why rows got their answers. Multilabel models have an explanation for each label that was predicted, and for the likeliest one in rows
    /// without.
    ///
    /// # Panics
    /// If a row of the spec is not below `data.n_rows()`, or if the data was not read with this model's schema and has more features.
    pub fn explain(&self, data: &Dataset, spec: &ExplainSpec) -> Result<Vec<Explanation>, Error> {
        if let Some(class) = spec.class
            && class as usize >= self.classes().len()
        {
            return Err(Error::request(format!("the model has no class {class}")));
        }
        let picked = spec.rows.as_ref().map(|rows| data.select(rows));
        let asked = picked.as_ref().unwrap_or(data);
        let questions = match self.task() {
            Task::Classify => self.about_classes(asked, spec.class)?,
            Task::Multilabel => self.about_labels(asked, spec.class)?,
            // Models of structures have explanations of their own.
            _ => {
                let nothing = |row| Question {
                    row,
                    winner: None,
                    runner_up: None,
                    predicted: true,
                    proba: None,
                };
                (0..asked.n_rows()).map(nothing).collect()
            }
        };
        let top = spec.top.unwrap_or(usize::MAX);
        let categories = self.schema().category_features();
        let explained = questions.par_iter().map(|question| {
            let mut explanation =
                self.answer(question, asked.x.row(question.row), top, &categories);
            if let Some(rows) = &spec.rows {
                explanation.row = rows[question.row];
            }
            explanation
        });
        Ok(explained.collect())
    }

    /// Winner against runner-up, or against the class asked about.
    fn about_classes(&self, data: &Dataset, class: Option<u32>) -> Result<Vec<Question>, Error> {
        let Predicted::Classes(winners) = self.predict(data)? else {
            return Err(Error::request("the model does not predict classes"));
        };
        let proba = if self.has_proba() { Some(self.proba(data)?) } else { None };
        let scores = match &proba {
            Some(proba) if self.calibration().is_some() => proba,
            _ => &self.scores(data)?,
        };
        let question = |(row, &winner): (usize, &u32)| {
            let best = highest(scores.row(row), 2);
            let other = best.iter().map(|b| b.0).find(|&c| c != winner);
            let runner_up = class.filter(|&c| c != winner).or(other);
            let of = |table: &Table| {
                let p = table.row(row);
                Some([p[winner as usize], p[runner_up? as usize]])
            };
            let proba = proba.as_ref().and_then(of);
            Question { row, winner: Some(winner), runner_up, predicted: true, proba }
        };
        Ok(winners.iter().enumerate().map(question).collect())
    }

    /// Each label that was predicted, the likeliest where none was, or the one asked about.
    fn about_labels(&self, data: &Dataset, class: Option<u32>) -> Result<Vec<Question>, Error> {
        let Predicted::Labels(predicted) = self.predict(data)? else {
            return Err(Error::request("the model does not predict labels"));
        };
        let proba = if self.has_proba() { Some(self.proba(data)?) } else { None };
        let scores = self.scores(data)?;
        let mut questions = Vec::new();
        for (row, labels) in predicted.iter().enumerate() {
            let likeliest = || highest(scores.row(row), 1).iter().map(|b| b.0).collect();
            let asked: Vec<u32> = match class {
                Some(label) => vec![label],
                None if labels.is_empty() => likeliest(),
                None => labels.to_vec(),
            };
            questions.extend(asked.into_iter().map(|label| Question {
                row,
                winner: Some(label),
                runner_up: None,
                predicted: labels.contains(&label),
                proba: proba.as_ref().map(|p| [p.row(row)[label as usize]; 2]),
            }));
        }
        Ok(questions)
    }

    /// `categories` are the features of each column of categories.
    fn answer(
        &self,
        question: &Question,
        x: Row<'_>,
        top: usize,
        categories: &[Range<usize>],
    ) -> Explanation {
        let (decision, form) = match (question.winner, question.runner_up) {
            (None, _) => (Decision::Number, Form::plain(vec![(0, 1.0)])),
            (Some(label), None) => self.label_form(label, x),
            (Some(winner), Some(runner_up)) => self.class_form(winner, runner_up, x),
        };
        let mut contributions: Vec<Contribution> = Vec::with_capacity(x.nnz());
        let mut bias = self.form_bias(&form);
        // The values of one column of categories become one contribution: features rise.
        let mut categories = categories.iter().peekable();
        let mut column_begun = usize::MAX;
        let mut take = |feature: usize, value: f32, mean: f32| {
            let (value, weight) = (f64::from(value), self.form_weight(&form, feature));
            let average = f64::from(mean) * weight;
            bias += average;
            while categories.next_if(|column| column.end <= feature).is_some() {}
            let column = categories.peek().filter(|column| column.contains(&feature));
            match (column, contributions.last_mut()) {
                (Some(column), Some(last)) if column_begun == column.start => {
                    last.average += average;
                    if value != 0.0 {
                        (last.feature, last.value, last.weight) = (feature, value, weight);
                    }
                }
                _ => {
                    column_begun = column.map_or(usize::MAX, |column| column.start);
                    contributions.push(Contribution { feature, value, weight, average });
                }
            }
        };
        // A column that was standardised counts where it is 0, too.
        let mut scales = self.about.scales.iter().peekable();
        x.for_each(|feature, value| {
            while let Some(scale) = scales.next_if(|scale| (scale.at as usize) < feature) {
                take(scale.at as usize, 0.0, scale.mean);
            }
            let own = scales.next_if(|scale| scale.at as usize == feature);
            take(feature, value, own.map_or(0.0, |scale| scale.mean));
        });
        scales.for_each(|scale| take(scale.at as usize, 0.0, scale.mean));
        contributions.retain(|c| c.amount() != 0.0);
        contributions.iter_mut().for_each(|c| *c = self.in_units_of_the_data(*c));
        contributions.sort_by(|a, b| {
            b.amount().abs().total_cmp(&a.amount().abs()).then(a.feature.cmp(&b.feature))
        });
        let rest = contributions.split_off(top.min(contributions.len()));
        let sum = |of: &[Contribution]| of.iter().map(Contribution::amount).sum::<f64>();
        let (n_rest, rest) = (rest.len(), sum(&rest));
        let threshold = match (decision, question.winner) {
            (Decision::Label, Some(label)) => self.score_threshold(label),
            (_, Some(winner)) if self.classes().len() == 2 && self.task() == Task::Classify => {
                // That of the second class; the first wins below it.
                if winner == 1 { self.score_threshold(0) } else { -self.score_threshold(0) }
            }
            _ => 0.0,
        };
        Explanation {
            row: question.row,
            winner: question.winner,
            runner_up: question.runner_up,
            predicted: question.predicted,
            decision,
            lead: bias - threshold + sum(&contributions) + rest,
            bias,
            threshold,
            contributions,
            n_rest,
            rest,
            proba: question.proba,
        }
    }

    /// Numbers beside text were rescaled before they met the weights; people know them as they were.
    fn in_units_of_the_data(&self, c: Contribution) -> Contribution {
        let Some(by) = self.features.scale_of(c.feature).filter(|by| by.scale != 0.0) else {
            return c;
        };
        let (scale, mean) = (f64::from(by.scale), f64::from(by.mean));
        let weight = c.weight * scale;
        let value = c.value / scale + mean;
        Contribution { value, weight, average: c.average + mean * weight, ..c }
    }

    /// The value of a feature as the data has it.
    pub(crate) fn raw_value(&self, feature: usize, value: f32) -> f64 {
        let value = f64::from(value);
        self.in_units_of_the_data(Contribution { feature, value, average: 0.0, weight: 0.0 }).value
    }

    fn class_form(&self, a: u32, b: u32, x: Row<'_>) -> (Decision, Form) {
        if let Some(tree) = &self.tree {
            let (to_a, to_b) = (tree.way(a), tree.way(b));
            let parts = to_a.iter().zip(&to_b).find(|(a, b)| a.1 != b.1);
            let Some((&(node, child_a), &(_, child_b))) = parts else {
                return (Decision::Node, Form::plain(Vec::new()));
            };
            let (first, second) = (tree.column_of(node, child_a), tree.column_of(node, child_b));
            // One column answers for both children, once.
            let columns =
                if first.0 == second.0 { vec![first] } else { vec![first, (second.0, -second.1)] };
            return (Decision::Node, Form { node: Some(node), columns });
        }
        match &self.decoder {
            Decoder::Direct if self.n_outputs() == 1 => {
                (Decision::Scores, Form::plain(vec![(0, if a == 1 { 1.0 } else { -1.0 })]))
            }
            Decoder::Direct => {
                (Decision::Scores, Form::plain(vec![(a as usize, 1.0), (b as usize, -1.0)]))
            }
            Decoder::Pairs { pairs, decision: PairKind::Scores } => {
                let of = |class: u32, &(first, second): &(u32, u32)| {
                    f64::from(u8::from(first == class)) - f64::from(u8::from(second == class))
                };
                let signed = pairs.iter().enumerate().map(|(l, p)| (l, of(a, p) - of(b, p)));
                (Decision::Scores, Form::plain(signed.filter(|s| s.1 != 0.0).collect()))
            }
            Decoder::Pairs { pairs, .. } => {
                let (duel, sign) = if a < b { ((a, b), 1.0) } else { ((b, a), -1.0) };
                let column = pairs.iter().position(|&pair| pair == duel);
                (Decision::Duel, Form::plain(column.map(|l| (l, sign)).into_iter().collect()))
            }
            Decoder::Code { code, .. } => {
                let words = code.row(a as usize).iter().zip(code.row(b as usize));
                let half = |(l, (&a, &b))| (l, 0.5 * (f64::from(a) - f64::from(b)));
                let columns: Vec<_> = words.enumerate().map(half).filter(|c| c.1 != 0.0).collect();
                let spoke_for = |&&(l, sign): &&(usize, f64)| {
                    let answer = self.form_value(&Form::plain(vec![(l, 1.0)]), x);
                    (answer >= 0.0) == (sign > 0.0)
                };
                let agree = columns.iter().filter(spoke_for).count();
                (Decision::Columns { differ: columns.len(), agree }, Form::plain(columns))
            }
        }
    }

    fn label_form(&self, label: u32, x: Row<'_>) -> (Decision, Form) {
        let Some(tree) = &self.tree else {
            return (Decision::Label, Form::plain(vec![(label as usize, 1.0)]));
        };
        let forms = tree.way(label).into_iter().map(|(node, child)| Form {
            node: Some(node),
            columns: vec![tree.column_of(node, child)],
        });
        // Probabilities multiply, and each rises with its answer: the lowest answer holds the label back most.
        let least = forms.min_by(|a, b| self.form_value(a, x).total_cmp(&self.form_value(b, x)));
        (Decision::Node, least.unwrap_or(Form::plain(Vec::new())))
    }

    /// The score from which on a label is predicted, or (by the number 0) the second of two classes; 0 where a probability decides.
    fn score_threshold(&self, label: u32) -> f64 {
        match (&self.about.thresholds, self.about.spec.threshold) {
            (Some(thresholds), _) => thresholds[label as usize],
            (None, Threshold::Fixed(p)) if self.about.calibration.is_none() => (p / (1.0 - p)).ln(),
            _ => 0.0,
        }
    }

    fn form_weight(&self, form: &Form, j: usize) -> f64 {
        match (form.node, &self.tree) {
            (Some(node), Some(tree)) => with_weights!(self.weights, w => {
                form.columns.iter().map(|&(l, s)| s * tree.node_weight(w, node, l, j)).sum()
            }),
            _ => form.columns.iter().map(|&(l, s)| s * self.weight(j, l)).sum(),
        }
    }

    fn form_bias(&self, form: &Form) -> f64 {
        match (form.node, &self.tree) {
            (Some(node), Some(tree)) => with_weights!(self.weights, w => {
                form.columns.iter().map(|&(l, s)| s * tree.node_bias(w, node, l)).sum()
            }),
            _ if self.about.spec.bias == Bias::None => 0.0,
            _ => form.columns.iter().map(|&(l, s)| s * self.weight(self.n_features(), l)).sum(),
        }
    }

    fn form_value(&self, form: &Form, x: Row<'_>) -> f64 {
        let mut sum = self.form_bias(form);
        x.for_each(|j, v| sum += f64::from(v) * self.form_weight(form, j));
        sum
    }

    /// Whether the lead orders classes as the model does, so that a winner's is never negative.
    pub fn lead_is_exact(&self) -> bool {
        let layout = matches!(self.about.layout, Layout::Joint | Layout::Ova | Layout::Labels);
        let by_scores = matches!(self.decoder, Decoder::Pairs { decision: PairKind::Scores, .. });
        (layout || by_scores) && self.about.calibration.is_none()
    }
}

impl Form {
    fn plain(columns: Vec<(usize, f64)>) -> Self {
        Self { node: None, columns }
    }
}
