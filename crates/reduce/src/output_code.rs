//! Error-correcting output codes: a binary problem a column of a [`Code`], and the class whose codeword the answers
//! are nearest to.

mod decode;

pub use decode::{Decoding, MarginLoss};

use crate::learner::{Rule, log_probas, proba, score};
use crate::problems::{self, Answers, Problem, Report, Scratch, check_classes, scatter};
use crate::{BinaryLearner, BinaryScorer, Code, Examples, FitError, InputOf, InputsOf};
use decode::Decoder;
use lineal_calibrate::couple::CodeColumns;
use std::borrow::Cow;

/// A scorer a column of a code.
#[derive(Clone, Debug)]
pub struct OutputCode<S> {
    code: Code,
    /// `None` where the classes seen in training have only one sign in the column.
    scorers: Vec<Option<S>>,
    decoder: Decoder,
    /// Of the classes seen in training and the columns that were learnt.
    columns: CodeColumns,
    report: Report,
}

impl<S: BinaryScorer> OutputCode<S> {
    /// Learns one problem per column, over the rows of the classes that are not 0 in it.
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
            let answers = Answers::By(Rule::Column { code: &code, column });
            (has(1) && has(-1)).then(|| Problem { rows: rows(), answers }).ok_or(())
        };
        let question = |column| format!("column {column} of the code");
        let (scorers, report) =
            problems::learn(learner, examples, 0..code.n_columns(), pose, question)?;
        let scorers: Vec<Option<S>> = scorers.into_iter().map(Result::ok).collect();
        let asked: Vec<bool> = scorers.iter().map(Option::is_some).collect();
        let columns = learnt_columns(&code, &asked, &seen);
        let decoder = Decoder::new(&code, asked, seen);
        Ok(Self { code, scorers, decoder, columns, report })
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

    /// P(class | x) of every class into `out`, by a Bradley–Terry model of the columns that were learnt
    /// ([`CodeColumns`]); 0 for a class without training rows. As good as the scorers' probabilities are: see
    /// [`BinaryScorer::proba`].
    ///
    /// Its most probable class is seldom another than that of [`Decoding::Probability`], which multiplies the
    /// probabilities of a codeword's bits: good for a decision, far too sure as a probability.
    pub fn proba(&self, x: InputOf<'_, S>, out: &mut Vec<f64>, scratch: &mut Scratch) {
        let Scratch { scores, classes, couple, .. } = scratch;
        scores.clear();
        scores.extend(self.scorers.iter().flatten().map(|s| proba(s, x)));
        let seen = self.decoder.seen();
        classes.clear();
        classes.resize(seen.iter().filter(|seen| **seen).count(), 0.0);
        self.columns.couple(scores, classes, couple);
        scatter(classes, seen, out);
    }

    /// ln P(+) and ln P(−) of each column, side by side.
    fn ask_probas(&self, x: InputOf<'_, S>, out: &mut Vec<f64>) {
        out.extend(
            self.scorers.iter().flat_map(|s| s.as_ref().map_or([0.0; 2], |s| log_probas(s, x))),
        );
    }
}

fn learnt_columns(code: &Code, asked: &[bool], seen: &[bool]) -> CodeColumns {
    let n_seen = seen.iter().filter(|seen| **seen).count();
    let columns: Vec<usize> = (0..code.n_columns()).filter(|&l| asked[l]).collect();
    let classes = (0..code.n_classes()).filter(|&k| seen[k]);
    let entries: Vec<i8> =
        classes.flat_map(|k| columns.iter().map(move |&l| code.entry(k, l))).collect();
    CodeColumns::new(n_seen, columns.len(), &entries)
        .expect("as many entries as classes and columns")
}
