//! Learns to label columns, the last of which is the label, and tells how long each part took.
//!
//!     cargo run --release -p lineal-erm --example chunk -- train.conll test.conll [key=value …]
//!
//! Keys: loss, solver, update, weights, features (a list or a template file), scheme, passes, c2 and c1 (as CRFsuite has them), tol, rate, order, ends. Times are of the CPU.

use lineal_chain::{
    ChainModel, Decoder, Grammar, Observations, Parts, PrunedModel, Scheme, Scratch,
};
use lineal_erm::chain::{
    ChainLoss, ChainSolver, ChainSpec, ChainUpdate, ChainWeights, Sentences, learn,
};
use lineal_features::sequence::{
    Attributes, Cut, ExtractScratch, Extractor, ExtractorBuilder, Sentence, Templates, expand,
};
use lineal_metrics::{SpanEvaluation, TagSet};
use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

struct Text<'a> {
    cells: Vec<&'a str>,
    labels: Vec<u32>,
    /// Where each sentence ends, in tokens.
    ends: Vec<usize>,
    n_columns: usize,
}

impl<'a> Text<'a> {
    fn read(text: &'a str, names: &mut Vec<&'a str>) -> Self {
        let mut known: HashMap<&str, u32> =
            names.iter().enumerate().map(|(i, &n)| (n, i as u32)).collect();
        let (mut cells, mut labels, mut ends, mut n_columns) =
            (Vec::new(), Vec::new(), Vec::new(), 0);
        for line in text.lines().chain([""]) {
            let at = cells.len();
            cells.extend(line.split_ascii_whitespace());
            if cells.len() > at
                && let Some(label) = cells.pop()
            {
                n_columns = cells.len() - at;
                labels.push(*known.entry(label).or_insert_with(|| {
                    names.push(label);
                    names.len() as u32 - 1
                }));
            } else if ends.last().copied().unwrap_or(0) < labels.len() {
                ends.push(labels.len());
            }
        }
        Self { cells, labels, ends, n_columns }
    }

    fn sentences(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    fn cells(&self, s: &std::ops::Range<usize>) -> Sentence<'_> {
        Sentence::new(&self.cells[s.start * self.n_columns..s.end * self.n_columns], self.n_columns)
    }
}

/// Seconds of this process on a CPU.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.split_whitespace().collect();
    fields.get(13).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0) / 100.0
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, train, test, ..] = &args[..] else { return Err("train.conll test.conll".into()) };
    let option = |key: &str, default: &str| {
        let given = args.iter().find_map(|a| a.strip_prefix(key)?.strip_prefix('='));
        given.unwrap_or(default).to_string()
    };
    let (train, test) = (fs::read_to_string(train)?, fs::read_to_string(test)?);
    let from = cpu();
    let mut names = Vec::new();
    let train = Text::read(&train, &mut names);
    let n_labels = names.len();
    let mut all_names = names.clone();
    let test = Text::read(&test, &mut all_names);
    println!("read: {:.2} s, {} tokens, {n_labels} labels", cpu() - from, train.labels.len());

    let from = cpu();
    let features = option("features", "word,column:1,window:2");
    let template = fs::read_to_string(&features).or_else(|_| expand(&features))?;
    let mut builder = ExtractorBuilder::new(Templates::parse(&template)?);
    let (mut unary, mut pairs) = (Attributes::new(), Attributes::new());
    for sentence in train.sentences() {
        builder.add(train.cells(&sentence), &mut unary, &mut pairs)?;
    }
    let (extractor, [renumber, renumber_pairs]) = builder.finish(Cut::default());
    unary.renumber(|id| renumber.get(id));
    pairs.renumber(|id| renumber_pairs.get(id));
    println!(
        "extract: {:.2} s, {} attributes, {} entries",
        cpu() - from,
        extractor.n_unary(),
        unary.nnz()
    );

    let model = ChainModel {
        n_labels,
        n_unary: extractor.n_unary(),
        n_pairs: extractor.n_pairs(),
        transitions: true,
        ends: option("ends", "yes") == "yes",
        triples: option("order", "1") == "2",
    };
    let grammar = match &option("scheme", "")[..] {
        "" => Grammar::free(n_labels),
        scheme => scheme.parse::<Scheme>()?.grammar(&names)?,
    };
    let number = |key: &str, default: &str| option(key, default).parse::<f64>();
    let n = train.ends.len() as f64;
    let spec = ChainSpec {
        loss: match &option("loss", "logistic")[..] {
            "perceptron" => ChainLoss::Perceptron,
            "hinge" => ChainLoss::Hinge,
            _ => ChainLoss::Logistic,
        },
        solver: match &option("solver", "auto")[..] {
            "sgd" => ChainSolver::Sgd,
            "lbfgs" => ChainSolver::Lbfgs,
            "dual" => ChainSolver::Dual,
            _ => ChainSolver::Auto,
        },
        update: match number("pa", "0")? {
            0.0 => ChainUpdate::Gradient,
            aggressiveness => ChainUpdate::PassiveAggressive { aggressiveness },
        },
        weights: match &option("weights", "frequent")[..] {
            "observed" => ChainWeights::Observed,
            "all" => ChainWeights::All,
            _ => ChainWeights::Frequent,
        },
        grammar: Some(grammar.clone()),
        l2: 2.0 * number("c2", "0")? / n,
        l1: number("c1", "0")? / n,
        passes: option("passes", "20").parse()?,
        tol: number("tol", "1e-3")?,
        rate: option("rate", "").parse().ok(),
        ..ChainSpec::default()
    };
    let sentences = Sentences {
        unary: &unary,
        pairs: Some(&pairs),
        labels: &train.labels,
        ends: &train.ends,
        weights: None,
    };
    let from = cpu();
    let learnt = learn(model, sentences, &spec, None, &mut |pass| {
        println!(
            "{:3} {:7.2} s  loss {:.6}  objective {:?}  gap {:?}  |g| {:?}",
            pass.pass,
            cpu() - from,
            n * pass.loss,
            pass.objective.map(|o| n * o),
            pass.gap.map(|g| n * g),
            pass.grad_norm
        );
        ControlFlow::Continue(())
    })?;
    println!("train: {:.2} s, {:?}", cpu() - from, learnt.report);
    evaluate(&learnt.model, &grammar, &extractor, &test, &all_names)
}

fn evaluate(
    model: &PrunedModel,
    grammar: &Grammar,
    extractor: &Extractor,
    test: &Text<'_>,
    names: &[&str],
) -> Outcome<()> {
    let tags = TagSet::new(names);
    let mut decoder = Decoder::<f64>::new(grammar.clone(), model.model().triples);
    let from = cpu();
    let mut eval = SpanEvaluation::new();
    let (mut unary, mut pairs) = (Attributes::new(), Attributes::new());
    let (mut es, mut s, mut parts, mut labels) =
        (ExtractScratch::default(), Scratch::new(), Parts::new(), Vec::new());
    for sentence in test.sentences() {
        unary.clear();
        pairs.clear();
        extractor.extract(test.cells(&sentence), &mut es, &mut unary, &mut pairs)?;
        let x = Observations { unary: &unary, pairs: Some(&pairs), start: 0, end: sentence.len() };
        model.scores(x, &mut parts);
        decoder.load(&parts);
        decoder.viterbi(&parts, None, &mut s, &mut labels)?;
        eval.add(&tags, &test.labels[sentence], &labels);
    }
    println!(
        "F1 {:.2} (P {:.2}, R {:.2}), accuracy {:.2}, {:.2} M tokens/s, {} weights",
        100.0 * eval.all.f1(),
        100.0 * eval.all.precision(),
        100.0 * eval.all.recall(),
        100.0 * eval.token_accuracy(),
        test.labels.len() as f64 / (cpu() - from) / 1e6,
        model.n_weights()
    );
    Ok(())
}
