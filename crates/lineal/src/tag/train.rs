//! From a spec and sequences to a certified tagger.

use super::choose;
use super::constraints;
use super::evaluate::compare;
use super::file::{About, MAX_LABELS, MAX_LABELS_OF_TRIPLES};
use super::model::TagModel;
use super::notable::{Notable, notable};
use super::rules;
use super::shrink::compact;
use super::spec::{SchemeKind, TagFeatures, TagSpec, WeightsKind};
use super::vectorize;
use super::warm;
use super::weigh;
use crate::Error;
use crate::request::spec::{Task, TrainSpec};
use crate::structured::{
    Counts, Header, Learning, Metric, Run, fit, in_chunks, train_and_held_out,
};
use crate::train::report::{Report, StructuredReport};
use crate::train::{Trainable, Training};
use lineal_chain::{
    ChainModel, ChainOptions, ChainProblem, ChainWeights, Decoder, Grammar, LabelCost,
    Observations, Parts, PrunedModel, Scratch, Sentences,
};
use lineal_data::{Format, SequenceSchema, Sequences, UNLABELLED};
use lineal_declared::automaton::Automaton;
use lineal_erm::structured::learn;
use lineal_features::sequence::{AttributeIndex, AttributeRows, Vectorizer};
use std::collections::BTreeSet;
use std::ops::Range;

impl Trainable for Sequences {
    type Model = TagModel;

    fn is_for(task: Task) -> bool {
        task == Task::Tag
    }

    fn train(run: Training<'_, Self>) -> Result<(TagModel, Report), Error> {
        let Training { data, spec, held_out, start, on_pass, .. } = run;
        check(spec, &data.schema, &data.source)?;
        let (data, held_out) = train_and_held_out(data, held_out, spec)?;
        let data = &*data;
        let (chosen, trials) = match spec.tag.choose && start.is_none() {
            true => choose::choose(data, spec)?,
            false => (spec.clone(), Vec::new()),
        };
        let spec = &chosen;
        let labels = &data.schema.labels;
        let grammar = constraints::grammar(&spec.tag, labels)
            .map_err(|e| suggest(first_seen(e, data), spec, data))?;
        let label_weights = weigh::of_labels(spec, data)?;
        let weights = weigh::of_sequences(data, label_weights.as_deref())?;
        let n = weights
            .as_ref()
            .map_or(data.len() as f64, |weights| weights.iter().map(|&w| f64::from(w)).sum());
        let learning = spec.learning(n)?;

        let (vectorizer, rows) = vectorize::learn(data, &spec.tag)?;
        let shape = shape(&vectorizer, &spec.tag, labels.len());
        let start = start.map(|old| warm::start(old, &vectorizer, shape, labels)).transpose()?;
        let ends: Vec<usize> = (0..data.len()).map(|i| data.tokens(i).end).collect();
        let sentences = Sentences {
            unary: &rows.unary,
            pairs: (shape.n_pairs > 0).then_some(&rows.pairs),
            labels: data.gold(),
            ends: &ends,
            weights: weights.as_deref(),
        };
        let rules = rules::compile(&spec.tag, labels, shape.n_pairs > 0)?;
        let options = options(spec, &grammar);
        let problem = ChainProblem::new(shape, sentences, &options, start.as_ref())
            .map_err(|e| suggest(placed(e, data), spec, data))?;
        let start = start.map(|start| problem.weights_of(&start)).transpose()?;
        let metric = held_out
            .as_deref()
            .map(|data| HeldOut::metric_on(data, &vectorizer, &grammar, &problem))
            .transpose()?;
        let mut run = fit(spec, on_pass, metric, |see| {
            Ok(learn(&problem, &learning.request, start.as_deref(), see)?)
        })?;
        let (weights, n_weights) = (problem.pruned(&run.w)?, problem.n_weights());
        run.w = Vec::new();
        drop(problem);

        let notable = notable(&vectorizer, &weights, data, &rows)?;
        drop(rows);
        let structured = StructuredReport {
            tokens: data.n_tokens(),
            weights: n_weights,
            unlabelled: data.gold().iter().filter(|&&label| label == UNLABELLED).count(),
            stages: trials,
            ..StructuredReport::default()
        };
        let learnt = LearntTagger {
            schema: &data.schema,
            source: &data.source,
            n_examples: data.len(),
            vectorizer,
            weights,
            grammar,
            rules,
            notable,
        };
        let broken = rules::broken(&spec.tag, data);
        learnt.model(spec, &learning, run, structured, broken)
    }
}

/// The model that a spec means for attributes and labels.
pub(super) fn shape(vectorizer: &Vectorizer, spec: &TagSpec, n_labels: usize) -> ChainModel {
    ChainModel {
        n_labels,
        n_unary: vectorizer.n_unary(),
        n_pairs: vectorizer.n_pairs(),
        transitions: vectorizer.has_transitions(),
        ends: spec.ends && vectorizer.has_transitions(),
        triples: spec.order == 2,
    }
}

/// What was learnt, before it is a model.
pub(super) struct LearntTagger<'a> {
    pub(super) schema: &'a SequenceSchema,
    /// The file of the training data.
    pub(super) source: &'a str,
    pub(super) n_examples: usize,
    pub(super) vectorizer: Vectorizer,
    pub(super) weights: PrunedModel,
    pub(super) grammar: Grammar,
    pub(super) rules: Option<Automaton>,
    pub(super) notable: Vec<Notable>,
}

impl LearntTagger<'_> {
    /// The model, without attributes that have no weight, and its report; `warnings` are said, too.
    pub(super) fn model(
        self,
        spec: &TrainSpec,
        learning: &Learning,
        run: Run,
        structured: StructuredReport,
        warnings: Vec<String>,
    ) -> Result<(TagModel, Report), Error> {
        let Self { schema, source, n_examples, grammar, rules, notable, .. } = self;
        let shape = self.weights.model();
        let (vectorizer, weights) = compact(&self.vectorizer, &self.weights)?;
        let counts = Counts {
            examples: n_examples,
            features: vectorizer.n_unary() + vectorizer.n_pairs(),
            classes: schema.labels.len(),
        };
        let mut report = run.report(spec, learning, counts, structured);
        if report.classes == 1 {
            let told = "all positions have the same label: there is nothing to tell apart";
            report.warnings.push(told.into());
        }
        report.warnings.extend(columns_after_label(&vectorizer, schema));
        report.warnings.extend(warnings);
        if report.features == 0 {
            let told = "no attribute has a weight: labels follow from their neighbours alone";
            report.warnings.push(told.into());
        }
        let templates = vectorizer.templates().map(|t| t.text().to_owned());
        let features = templates.clone().map_or(TagFeatures::Default, TagFeatures::Templates);
        let tag = TagSpec { features, ends: shape.ends, ..spec.tag.clone() };
        let spec = TrainSpec { tag, ..spec.clone() };
        let about = About {
            header: Header::new(&spec, &report, source),
            schema: schema.clone(),
            templates,
            hashed: vectorizer.unary_index().hash_bits(),
            hashed_pairs: vectorizer.pair_index().and_then(|index| index.hash_bits()),
            transitions: shape.transitions,
            step: None,
            notable,
        };
        Ok((TagModel { vectorizer, weights, grammar, rules, about }, report))
    }
}

/// Attributes made of columns after the label, which new data often does not have.
fn columns_after_label(vectorizer: &Vectorizer, schema: &SequenceSchema) -> Option<String> {
    let columns = vectorizer.templates()?.columns().filter(|&column| column > schema.label);
    let names = columns.filter_map(|column| schema.columns.get(column).map(String::as_str));
    let names: Vec<&str> = names.collect::<BTreeSet<_>>().into_iter().collect();
    let (columns, them) = if names.len() == 1 { ("column", "it") } else { ("columns", "them") };
    (schema.format == Format::Conll && !names.is_empty()).then(|| {
        format!(
            "attributes are made of {columns} {}, after the label: if new data will not have {them}, leave {them} out by spec.tag.features",
            names.join(", ")
        )
    })
}

/// Sees that the choices fit each other and the data.
pub(super) fn check(spec: &TrainSpec, schema: &SequenceSchema, source: &str) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Request(why));
    let TagSpec { order, hash_bits, .. } = spec.tag;
    if !(1..=2).contains(&order) {
        return refuse(format!("spec.tag.order = {order} is not available: choose 1 or 2"));
    }
    let most = AttributeIndex::MAX_BITS;
    if let Some(bits) = hash_bits.filter(|bits| !(1..=most).contains(bits)) {
        return refuse(format!("spec.tag.hash_bits = {bits}: choose from 1 to {most} bits"));
    }
    let n_labels = schema.labels.len();
    if n_labels > MAX_LABELS {
        let label = &schema.columns[schema.label];
        return refuse(format!(
            "{source}: column {label} has {n_labels} different values, and labels may be {MAX_LABELS} at most; is it the label? (see options.label)"
        ));
    }
    if order == 2 && n_labels > MAX_LABELS_OF_TRIPLES {
        return refuse(format!(
            "spec.tag.order = 2 has weights for three labels in a row, and {n_labels} labels are too many for that ({MAX_LABELS_OF_TRIPLES} at most)"
        ));
    }
    if let Some(cost) = spec.cost.as_ref().filter(|cost| cost.n_classes() != n_labels) {
        return refuse(format!(
            "the costs are of {} labels, and the data has {n_labels}",
            cost.n_classes()
        ));
    }
    if spec.cost.is_some() && !spec.uses_cost() {
        return refuse(
            "for sequences, spec.cost works with the hinge loss only: choose spec.loss = hinge"
                .into(),
        );
    }
    Ok(())
}

/// The weights, the costs and the constraints of the problem.
pub(super) fn options(spec: &TrainSpec, grammar: &Grammar) -> ChainOptions {
    let k = grammar.n_labels();
    let delta = |cost: &lineal_model::cost::CostMatrix| {
        (0..k as u32).flat_map(|y| cost.row(y).to_vec()).collect()
    };
    ChainOptions {
        weights: match spec.tag.weights {
            WeightsKind::Frequent => ChainWeights::Frequent,
            WeightsKind::Observed => ChainWeights::Observed,
            WeightsKind::ObservedAttributes => ChainWeights::ObservedAttributes,
            WeightsKind::AllAttributes => ChainWeights::AllAttributes,
            WeightsKind::All => ChainWeights::All,
        },
        cost: spec.cost.as_ref().and_then(|cost| LabelCost::new(k, delta(cost))),
        legal_rivals: spec.tag.legal_rivals,
        grammar: (!grammar.is_free()).then(|| grammar.clone()),
    }
}

/// A label that does not fit the scheme, at the line where it first stands.
fn first_seen(error: Error, data: &Sequences) -> Error {
    let Error::Chain(lineal_chain::Error::Label { label, .. }) = &error else { return error };
    let at = data.iter().find_map(|sequence| {
        let is_it = |&gold: &u32| data.labels.get(gold as usize) == Some(label);
        Some((sequence.index(), sequence.gold().iter().position(is_it)?))
    });
    match at {
        Some((sequence, token)) => data.error_at(sequence, token, error.to_string()).into(),
        None => error,
    }
}

/// The error, with the scheme that the labels do fit, if there is one.
pub(super) fn suggest(error: Error, spec: &TrainSpec, data: &Sequences) -> Error {
    let fits = |scheme: &SchemeKind| {
        let Ok(grammar) = scheme.scheme().grammar(&data.schema.labels) else { return false };
        data.iter().all(|sequence| {
            let gold = sequence.gold();
            let known = |&&label: &&u32| label != UNLABELLED;
            let pairs = gold.windows(2).filter(|p| p.iter().all(|label| known(&label)));
            gold.first().filter(known).is_none_or(|&l| grammar.permits_start(l as usize))
                && gold.last().filter(known).is_none_or(|&l| grammar.permits_end(l as usize))
                && pairs.into_iter().all(|p| grammar.permits(p[0] as usize, p[1] as usize))
        })
    };
    match error {
        Error::Data(mut told) if spec.tag.scheme.is_some() => {
            let other = |scheme: &&SchemeKind| Some(**scheme) != spec.tag.scheme;
            if let Some(scheme) = SchemeKind::ALL.iter().filter(other).find(|scheme| fits(scheme)) {
                told.message
                    .push_str(&format!("; all labels fit spec.tag.scheme = {scheme}: say that"));
            }
            Error::Data(told)
        }
        error => error,
    }
}

/// Gold labels that cannot be, at their line.
pub(super) fn placed(error: lineal_chain::Error, data: &Sequences) -> Error {
    match error {
        lineal_chain::Error::Gold { sentence, position } => {
            let label = data.get(sentence).gold()[position];
            let label = data.labels.get(label as usize).map_or("?", String::as_str);
            let message = format!(
                "the label `{label}` of token {} of sequence {} is forbidden here by spec.tag.scheme or the forbidden transitions; correct the data, or leave the constraint out",
                position + 1,
                sentence + 1
            );
            data.error_at(sentence, position, message).into()
        }
        error => error.into(),
    }
}

/// Sequences to watch, with their attributes.
struct HeldOut<'a> {
    data: &'a Sequences,
    rows: AttributeRows,
    grammar: &'a Grammar,
}

impl<'a> HeldOut<'a> {
    /// How good weights are on these sequences.
    fn metric_on(
        data: &'a Sequences,
        vectorizer: &Vectorizer,
        grammar: &'a Grammar,
        problem: &'a ChainProblem<'_>,
    ) -> Result<Metric<'a>, Error> {
        let held_out = Self { data, rows: vectorize::rows(vectorizer, data)?, grammar };
        Ok(Box::new(move |w| held_out.metric(&problem.pruned(w)?)))
    }

    fn metric(&self, model: &PrunedModel) -> Result<f64, Error> {
        let shape = model.model();
        let new = || {
            let decoder = Decoder::new(self.grammar.clone(), shape.triples);
            (Parts::<f32>::new(), decoder, Scratch::new(), false)
        };
        let labels = in_chunks(self.data.len(), new, |(parts, decoder, s, loaded), which| {
            let one = |i: usize| {
                let Range { start, end } = self.data.tokens(i);
                let AttributeRows { unary, pairs } = &self.rows;
                model.scores(Observations { unary, pairs: Some(pairs), start, end }, parts);
                if !std::mem::replace(loaded, true) {
                    decoder.load(parts);
                }
                let mut labels = Vec::new();
                decoder.viterbi(parts, None, s, &mut labels)?;
                Ok(labels)
            };
            which.map(one).collect()
        })?;
        Ok(compare(self.data, shape.n_labels, labels.iter().map(Vec::as_slice))?.main())
    }
}
