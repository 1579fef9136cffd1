//! Labels for sequences, and how sure they are.

use super::model::TagModel;
use super::vectorize;
use crate::Error;
use crate::structured::{Ask, StructuredModel, in_chunks};
use lineal_chain::{Decoder, Error as ChainError, LabelSets, Observations, Parts, Scratch};
use lineal_data::{Sequence, Sequences, UNLABELLED};
use lineal_features::sequence::{AttributeRows, ExtractScratch};
use lineal_linalg::Rng;
use lineal_linalg::Scalar;
use lineal_metrics::{Span, TagSet};

/// The labels of a sequence, with what was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagged {
    /// One a position: see [`TagModel::label`].
    pub labels: Vec<u32>,
    /// The score of the sequence; its logarithm of the probability, up to a constant of the sequence, where the model has probabilities.
    pub score: f64,
    /// The probability of the whole sequence, if asked for.
    pub probability: Option<f64>,
    /// `[t·K + label]`, if asked for.
    pub marginals: Option<Vec<f64>>,
    /// The spans that the labels mean, if probabilities were asked for.
    pub spans: Vec<TaggedSpan>,
    /// The best label sequences, if asked for.
    pub n_best: Vec<Ranking>,
}

/// A span and how probable it is: with these labels, and not longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaggedSpan {
    /// Where, and of which type: an index into [`TagSet::types`].
    pub span: Span,
    /// That exactly these positions are a span of this type.
    pub probability: f64,
}

/// One of the best label sequences.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// One a position.
    pub labels: Vec<u32>,
    /// Its score.
    pub score: f64,
    /// Its probability, where the model has any.
    pub probability: Option<f64>,
}

impl TagModel {
    /// The best labels of each sequence: [`answer`](StructuredModel::answer) to a plain question.
    pub fn tag(&self, data: &Sequences) -> Result<Vec<Tagged>, Error> {
        self.answer(data, &Ask::default())
    }

    /// The labels of the tokens of one sequence, by name, from a model that reads words and nothing beside them. For many sequences in one thread see [`Tagger::tokens`].
    ///
    /// ```
    /// use lineal::{Sequences, Task, TrainSpec, train};
    ///
    /// let tokens = [vec!["the", "dog", "barks"], vec!["a", "cat", "sleeps"]];
    /// let labels = [vec!["DT", "NN", "VBZ"], vec!["DT", "NN", "VBZ"]];
    /// let data = Sequences::from_tokens(&tokens, &labels)?;
    /// let (model, _) = train(&data, &TrainSpec::for_task(Task::Tag))?;
    /// assert_eq!(model.tag_tokens(&["the", "cat", "barks"])?, ["DT", "NN", "VBZ"]);
    /// # Ok::<(), lineal::Error>(())
    /// ```
    pub fn tag_tokens(&self, tokens: &[impl AsRef<str>]) -> Result<Vec<&str>, Error> {
        Tagger::new(self).tokens(tokens)
    }
}

/// The labels of each sequence and what else is asked for, in the current thread pool.
pub(super) fn tag(model: &TagModel, data: &Sequences, ask: &Ask) -> Result<Vec<Tagged>, Error> {
    let new = || Tagger::new(model);
    in_chunks(data.len(), new, |tagger, which| {
        which.map(|i| tagger.tag(data.get(i), ask)).collect()
    })
}

/// A model with the memory that tagging uses: one per thread.
#[derive(Clone, Debug)]
pub struct Tagger<'m> {
    pub(super) model: &'m TagModel,
    rows: AttributeRows,
    scratch: ExtractScratch,
    fast: Bench<f32>,
    exact: Option<Box<Bench<f64>>>,
    tags: TagSet,
}

/// Scores of a sequence and what answers about them.
#[derive(Clone, Debug)]
pub(super) struct Bench<F: Scalar> {
    pub(super) parts: Parts<F>,
    pub(super) decoder: Decoder<F>,
    pub(super) s: Scratch<F>,
    loaded: bool,
}

impl<F: Scalar> Bench<F> {
    pub(super) fn new(model: &TagModel) -> Self {
        let decoder = Decoder::new(model.grammar.clone(), model.weights.model().triples);
        Self { parts: Parts::new(), decoder, s: Scratch::new(), loaded: false }
    }

    /// Scores the parts of a sequence. What all sequences share is loaded once.
    pub(super) fn score(&mut self, model: &TagModel, x: Observations<'_>) {
        model.weights.scores(x, &mut self.parts);
        if !self.loaded {
            self.decoder.load(&self.parts);
            self.decoder.prepare_sums();
            self.loaded = true;
        }
    }
}

impl<'m> Tagger<'m> {
    /// For one thread.
    pub fn new(model: &'m TagModel) -> Self {
        Self {
            model,
            rows: AttributeRows::default(),
            scratch: ExtractScratch::default(),
            fast: Bench::new(model),
            exact: None,
            tags: model.tags(),
        }
    }

    /// The labels of a sequence and what else is asked for.
    pub fn tag(&mut self, sequence: Sequence<'_>, ask: &Ask) -> Result<Tagged, Error> {
        self.model.check_proba(ask)?;
        self.extract(sequence)?;
        let allowed = if ask.known { Some(self.known(sequence)?) } else { None };
        let x = observations(&self.rows, sequence.len());
        if let Some(rules) = &self.model.rules {
            self.fast.score(self.model, x);
            let found = self.model.by_rules(rules, &self.fast.parts, allowed.as_ref(), ask)?;
            return found.ok_or_else(|| {
                let message = "no sequence of labels keeps the rules and what else is asked for";
                sequence.data().error_at(sequence.index(), 0, message).into()
            });
        }
        if !ask.needs_proba() && ask.n_best == 0 {
            self.fast.score(self.model, x);
            let mut labels = Vec::new();
            let Bench { parts, decoder, s, .. } = &mut self.fast;
            let score = decoder
                .viterbi(parts, allowed.as_ref(), s, &mut labels)
                .map_err(|e| place(e, sequence))?;
            return Ok(Tagged {
                labels,
                score,
                probability: None,
                marginals: None,
                spans: Vec::new(),
                n_best: Vec::new(),
            });
        }
        let model = self.model;
        let bench = self.exact.get_or_insert_with(|| Box::new(Bench::new(model)));
        bench.score(model, x);
        let answer = bench.answer(model, &self.tags, ask, allowed.as_ref(), sequence.index());
        answer.map_err(|e| place(e, sequence))
    }

    /// The labels of the tokens of one sequence, by name.
    pub fn tokens(&mut self, tokens: &[impl AsRef<str>]) -> Result<Vec<&'m str>, Error> {
        if tokens.is_empty() {
            return Ok(Vec::new());
        }
        let data = Sequences::tokens_for(self.model.schema(), &[tokens])?;
        let tagged = self.tag(data.get(0), &Ask::default())?;
        Ok(tagged.labels.iter().map(|&label| self.model.label(label)).collect())
    }

    /// Makes the rows of a sequence.
    fn extract(&mut self, sequence: Sequence<'_>) -> Result<(), Error> {
        self.rows.clear();
        vectorize::extract(&self.model.vectorizer, sequence, &mut self.scratch, &mut self.rows)
    }

    /// The labels that are possible where the data has some.
    fn known(&self, sequence: Sequence<'_>) -> Result<LabelSets, Error> {
        let n_labels = self.model.labels().len();
        let mut allowed = LabelSets::full(sequence.len(), n_labels);
        for (t, &label) in sequence.gold().iter().enumerate() {
            if label == UNLABELLED {
                continue;
            }
            if label as usize >= n_labels {
                let data = sequence.data();
                let name = &data.labels[label as usize];
                let message = format!(
                    "`{name}` is not a label of the model, which has {}; where a label is not known, write the marker of options.unlabelled",
                    some(self.model.labels())
                );
                return Err(data.error_at(sequence.index(), t, message).into());
            }
            allowed.keep_only(t, label as usize);
        }
        Ok(allowed)
    }
}

impl Bench<f64> {
    fn answer(
        &mut self,
        model: &TagModel,
        tags: &TagSet,
        ask: &Ask,
        allowed: Option<&LabelSets>,
        index: usize,
    ) -> Result<Tagged, ChainError> {
        let Self { parts, decoder, s, .. } = self;
        let mut labels = Vec::new();
        let mut expected = Parts::new();
        let log_z = match model.has_proba() {
            true => Some(decoder.expect(parts, allowed, s, &mut expected)?),
            false => None,
        };
        if let Some(seed) = ask.sample {
            let mut rng =
                Rng::new(seed ^ (ask.first + index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let mut found = Vec::new();
            decoder.chain(parts, allowed).posterior(s)?.sample(&mut rng, &mut found);
            decoder.labels(&found, &mut labels);
        } else if ask.min_risk {
            by_position(model, &expected, allowed, &mut labels)?;
        } else {
            decoder.viterbi(parts, allowed, s, &mut labels)?;
        }
        let probability = |labels: &[u32]| log_z.map(|z| (parts.score(labels) - z).exp().min(1.0));
        let mut n_best = Vec::new();
        if ask.n_best > 0 {
            for ranked in decoder.chain(parts, allowed).k_best(ask.n_best, s)? {
                let mut labels = Vec::new();
                decoder.labels(&ranked.labels, &mut labels);
                let probability = probability(&labels);
                n_best.push(Ranking { labels, score: ranked.score, probability });
            }
        }
        let mut spans = Vec::new();
        if ask.proba {
            let found = tags.spans(&labels);
            let sets: Vec<(usize, LabelSets)> = found
                .iter()
                .map(|&span| {
                    let (at, sets) = exactly(tags, span, &labels, model.labels().len());
                    (at, decoder.allowed(&sets))
                })
                .collect();
            let mut posterior = decoder.chain(parts, allowed).posterior(s)?;
            for (&span, (at, sets)) in found.iter().zip(&sets) {
                let probability = posterior.span_in(*at, sets).min(1.0);
                spans.push(TaggedSpan { span, probability });
            }
        }
        Ok(Tagged {
            score: parts.score(&labels),
            probability: probability(&labels).filter(|_| ask.proba),
            marginals: ask.proba.then_some(expected.unary),
            labels,
            spans,
            n_best,
        })
    }
}

/// The legal label sequence with the most labels expected to be right.
fn by_position(
    model: &TagModel,
    expected: &Parts<f64>,
    allowed: Option<&LabelSets>,
    labels: &mut Vec<u32>,
) -> Result<(), ChainError> {
    let mut parts = Parts::new();
    parts.reset(0, model.labels().len(), false);
    parts.unary.clone_from(&expected.unary);
    let mut decoder = Decoder::new(model.grammar.clone(), false);
    decoder.load(&parts);
    decoder.viterbi(&parts, allowed, &mut Scratch::new(), labels)?;
    Ok(())
}

/// The labels of a span and, before and after it, those labels beside which it begins and ends there; and where these sets begin.
fn exactly(tags: &TagSet, span: Span, labels: &[u32], n_labels: usize) -> (usize, LabelSets) {
    let before = usize::from(span.start > 0);
    let after = usize::from(span.end < labels.len());
    let n = span.end - span.start;
    let mut sets = LabelSets::empty(before + n + after, n_labels);
    for (i, &label) in labels[span.start..span.end].iter().enumerate() {
        sets.insert(before + i, label as usize);
    }
    for other in 0..n_labels as u32 {
        let begins = |first: u32| tags.spans(&[other, first]).iter().any(|s| s.start == 1);
        let ends = |last: u32| tags.spans(&[last, other]).iter().any(|s| s.end == 1);
        if before == 1 && begins(labels[span.start]) {
            sets.insert(0, other as usize);
        }
        if after == 1 && ends(labels[span.end - 1]) {
            sets.insert(before + n, other as usize);
        }
    }
    (span.start - before, sets)
}

pub(super) fn observations(rows: &AttributeRows, n: usize) -> Observations<'_> {
    Observations { unary: &rows.unary, pairs: Some(&rows.pairs), start: 0, end: n }
}

/// An error of the oracles, at its line.
pub(super) fn place(error: ChainError, sequence: Sequence<'_>) -> Error {
    match error {
        ChainError::Infeasible { position } => {
            let data = sequence.data();
            let message = format!(
                "no label is possible for token {} of sequence {}: the known labels and the forbidden transitions exclude each other",
                position + 1,
                sequence.index() + 1
            );
            data.error_at(sequence.index(), position, message).into()
        }
        error => error.into(),
    }
}

/// Some names for a message.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown}, …") } else { shown }
}
