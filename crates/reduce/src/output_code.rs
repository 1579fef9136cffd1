//! Error-correcting output codes: a binary problem a column of a [`Code`], and the class whose codeword the answers
//! are nearest to.

mod decode;

pub use decode::{Decoding, MarginLoss};

use crate::learner::{Rule, log_probas, score};
use crate::problems::{self, Problem, Report, Scratch, check_classes};
use crate::{BinaryLearner, BinaryScorer, Code, Examples, FitError, InputOf, InputsOf};
use decode::Decoder;
use lineal_linalg::special;
use std::borrow::Cow;

/// A scorer a column of a code.
#[derive(Clone, Debug)]
pub struct OutputCode<S> {
    code: Code,
    /// `None` where the classes seen in training have only one sign in the column.
    scorers: Vec<Option<S>>,
    decoder: Decoder,
    report: Report,
}

impl<S: BinaryScorer> OutputCode<S> {
    /// Learns a problem a column, over the rows of the classes that are not 0 in it.
    pub fn fit<L: BinaryLearner<Scorer = S>>(
        learner: &L,
        examples: &Examples<'_, InputsOf<S>>,
        code: Code,
    ) -> Result<Self, FitError<L::Error>> {
        check_classes("code", code.n_classes(), examples.n_classes())?;
        let seen = examples.seen();
        let all_rows: Vec<u32> = (0..examples.n_rows() as u32).collect();
        let pose = |column: usize| {
            let asked = |k: &usize| seen[*k] && code.entry(*k, column) != 0;
            let has =
                |sign: i8| (0..code.n_classes()).any(|k| seen[k] && code.entry(k, column) == sign);
            let rows = || {
                if has(0) {
                    Cow::Owned(examples.rows_of_all((0..code.n_classes()).filter(asked)))
                } else {
                    Cow::Borrowed(&all_rows[..])
                }
            };
            let rule = Rule::Column { code: &code, column };
            (has(1) && has(-1)).then(|| Problem { rows: rows(), rule })
        };
        let question = |column| format!("column {column} of the code");
        let (scorers, report) =
            problems::learn(learner, examples, code.n_columns(), pose, question)?;
        let asked = scorers.iter().map(Option::is_some).collect();
        let decoder = Decoder::new(&code, asked, seen);
        Ok(Self { code, scorers, decoder, report })
    }

    /// How many problems and rows it took.
    pub fn report(&self) -> Report {
        self.report
    }

    /// The code.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The scorer of a column; `None` if its problem was not learnt.
    pub fn scorer(&self, column: usize) -> Option<&S> {
        self.scorers.get(column)?.as_ref()
    }

    /// The predicted class.
    pub fn predict(&self, x: InputOf<'_, S>, decoding: Decoding, scratch: &mut Scratch) -> u32 {
        scratch.scores.clear();
        match decoding {
            Decoding::Hamming | Decoding::Loss(_) => {
                let scores = self.scorers.iter().map(|s| s.as_ref().map_or(0.0, |s| score(s, x)));
                scratch.scores.extend(scores);
            }
            Decoding::Probability => self.ask_probas(x, &mut scratch.scores),
        }
        self.decoder.decode(&self.code, decoding, scratch)
    }

    /// P(class | x), into `out`: the probability of each codeword if columns err independently, a 0 in the code being
    /// an even chance, normalised over the classes seen in training.
    pub fn probabilities(&self, x: InputOf<'_, S>, scratch: &mut Scratch, out: &mut Vec<f64>) {
        scratch.scores.clear();
        self.ask_probas(x, &mut scratch.scores);
        let log_probas = &scratch.scores;
        scratch.classes.clear();
        scratch.classes.extend(self.decoder.log_likelihoods(&self.code, log_probas));
        out.clear();
        out.resize(self.code.n_classes(), 0.0);
        special::softmax(&scratch.classes, out);
    }

    /// ln P(+) and ln P(−) of each column, side by side.
    fn ask_probas(&self, x: InputOf<'_, S>, out: &mut Vec<f64>) {
        out.extend(
            self.scorers.iter().flat_map(|s| s.as_ref().map_or([0.0; 2], |s| log_probas(s, x))),
        );
    }
}
