//! An experiment: how fast the oracles let one learn. Averaged perceptron and CRF by SGD on columns, the last of which is the label.
//!
//!     cargo run --release -p lineal-chain --example chunk -- train.conll test.conll [crf|perceptron] [EPOCHS] [FEATURES|TEMPLATE] [SCHEME]
//!
//! The CRF's penalty is CRFsuite's: c2 = 1, or what the variable C2 says. Times are of the CPU.

use lineal_chain::features::{
    Attributes, Cut, ExtractScratch, Extractor, ExtractorBuilder, Sentence, Templates, expand,
};
use lineal_chain::{
    ChainModel, Grammar, Observations, Parts, PrunedModel, Rng, Scheme, Scratch, SpanEvaluation,
    TagSet, Transitions,
};
use lineal_linalg::{Sink, kernels};
use std::collections::HashMap;
use std::fs;

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
    let arg = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.to_string());
    let (train, test) = (fs::read_to_string(arg(1, ""))?, fs::read_to_string(arg(2, ""))?);
    let crf = arg(3, "crf") == "crf";
    let epochs: usize = arg(4, "15").parse()?;
    let from = cpu();
    let mut names = Vec::new();
    let train = Text::read(&train, &mut names);
    let n_labels = names.len();
    let mut all_names = names.clone();
    let test = Text::read(&test, &mut all_names);
    println!("read: {:.2} s, {} tokens, {n_labels} labels", cpu() - from, train.labels.len());

    let from = cpu();
    let features = arg(5, "word,column:1,window:2");
    let template = fs::read_to_string(&features).or_else(|_| expand(&features))?;
    let mut builder = ExtractorBuilder::new(Templates::parse(&template)?);
    let (mut unary, mut pairs) = (Attributes::new(), Attributes::new());
    for sentence in train.sentences() {
        builder.add(train.cells(&sentence), &mut unary, &mut pairs)?;
    }
    let (extractor, [renumber, renumber_pairs]) = builder.finish(Cut::default());
    unary.renumber(&renumber);
    pairs.renumber(&renumber_pairs);
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
        ends: true,
    };
    let grammar = match args.get(6) {
        Some(scheme) => scheme.parse::<Scheme>()?.grammar(&names)?,
        None => Grammar::free(n_labels),
    };
    let from = cpu();
    let x = |s: &std::ops::Range<usize>| Observations {
        unary: &unary,
        pairs: Some(&pairs),
        start: s.start,
        end: s.end,
    };
    let w = if crf {
        train_crf(model, &grammar, &train, x, epochs)?
    } else {
        train_perceptron(model, &grammar, &train, x, epochs)?
    };
    println!("train: {:.2} s, {:.3} s an epoch", cpu() - from, (cpu() - from) / epochs as f64);
    evaluate(model, &grammar, &extractor, &test, &w, &all_names)
}

/// Weights that are all to be multiplied by `a`.
struct Scaled {
    w: Vec<f32>,
    a: f32,
}

impl Sink<f32> for Scaled {
    fn add_row(&mut self, at: usize, x: lineal_linalg::Row<'_>, g: &[f32]) {
        kernels::add_outer(x, g, &mut self.w[at..]);
    }
    fn add_block(&mut self, at: usize, g: &[f32]) {
        for (w, &g) in self.w[at..].iter_mut().zip(g) {
            *w += g;
        }
    }
}

fn shuffled(n: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
    }
    order
}

fn train_crf<'a>(
    model: ChainModel,
    grammar: &Grammar,
    text: &Text<'_>,
    x: impl Fn(&std::ops::Range<usize>) -> Observations<'a>,
    epochs: usize,
) -> Outcome<Vec<f32>> {
    let sentences: Vec<_> = text.sentences().collect();
    // λ of the mean loss: c2 = 1 of CRFsuite has 2·c2 / n.
    let lambda = 2.0 * std::env::var("C2").map_or(1.0, |c| c.parse().unwrap_or(1.0))
        / sentences.len() as f64;
    let rate = 0.1;
    let mut weights = Scaled { w: vec![0.0; model.dim()], a: 1.0 };
    let (mut parts, mut grad, mut s) = (Parts::new(), Parts::new(), Scratch::new());
    let mut transitions = Transitions::new(grammar.clone());
    let mut rng = Rng::new(1);
    let mut t = 0.0;
    for epoch in 0..epochs {
        let mut loss = 0.0;
        for i in shuffled(sentences.len(), &mut rng) {
            let gold = &text.labels[sentences[i].clone()];
            let eta = rate / (1.0 + rate * lambda * t);
            t += 1.0;
            weights.a *= (1.0 - eta * lambda) as f32;
            model.scores(x(&sentences[i]), &weights.w, &mut parts);
            parts.scale(weights.a);
            parts.load(&mut transitions);
            let chain = parts.chain(&transitions);
            let score = chain.score(gold);
            let mut posterior = chain.posterior(&mut s)?;
            loss += posterior.log_partition() - score;
            grad.set_expected(&mut posterior, model.n_pairs > 0);
            drop(posterior);
            grad.add_labels(gold, -1.0);
            grad.scale(-(eta as f32) / weights.a);
            model.accumulate(x(&sentences[i]), &mut grad, &mut weights);
        }
        if epoch + 1 == epochs || epoch % 5 == 0 {
            println!("epoch {}: loss {:.1}", epoch + 1, loss);
        }
    }
    Ok(weights.w.iter().map(|w| w * weights.a).collect())
}

fn train_perceptron<'a>(
    model: ChainModel,
    grammar: &Grammar,
    text: &Text<'_>,
    x: impl Fn(&std::ops::Range<usize>) -> Observations<'a>,
    epochs: usize,
) -> Outcome<Vec<f32>> {
    let sentences: Vec<_> = text.sentences().collect();
    let mut w = vec![0.0f32; model.dim()];
    // Σ over updates of (step · update): the average is w − sum / steps.
    let mut sum = vec![0.0f32; model.dim()];
    let (mut parts, mut s, mut labels) = (Parts::new(), Scratch::new(), Vec::new());
    let mut transitions = Transitions::new(grammar.clone());
    let mut rng = Rng::new(1);
    let mut step = 0.0f32;
    for epoch in 0..epochs {
        let mut wrong = 0;
        for i in shuffled(sentences.len(), &mut rng) {
            let gold = &text.labels[sentences[i].clone()];
            model.scores(x(&sentences[i]), &w, &mut parts);
            parts.load(&mut transitions);
            parts.chain(&transitions).viterbi(&mut s, &mut labels)?;
            if gold != labels {
                wrong += 1;
                model.each_difference(x(&sentences[i]), gold, &labels, |i, v| {
                    w[i] += v;
                    sum[i] += step * v;
                });
            }
            step += 1.0;
        }
        if epoch + 1 == epochs || epoch % 5 == 0 {
            println!("epoch {}: {wrong} sentences wrong", epoch + 1);
        }
    }
    Ok(w.iter().zip(&sum).map(|(w, sum)| w - sum / step).collect())
}

fn evaluate(
    model: ChainModel,
    grammar: &Grammar,
    extractor: &Extractor,
    test: &Text<'_>,
    w: &[f32],
    names: &[&str],
) -> Outcome<()> {
    let pruned = PrunedModel::new(model, w, 0.0);
    let tags = TagSet::new(names);
    let mut transitions = Transitions::new(grammar.clone());
    for sparse in [false, true] {
        let from = cpu();
        let mut eval = SpanEvaluation::new();
        let (mut unary, mut pairs) = (Attributes::new(), Attributes::new());
        let (mut es, mut s, mut parts, mut labels) =
            (ExtractScratch::default(), Scratch::new(), Parts::new(), Vec::new());
        for _ in 0..20 {
            eval = SpanEvaluation::new();
            for sentence in test.sentences() {
                unary.clear();
                pairs.clear();
                extractor.extract(test.cells(&sentence), &mut es, &mut unary, &mut pairs)?;
                let x = Observations {
                    unary: &unary,
                    pairs: Some(&pairs),
                    start: 0,
                    end: sentence.len(),
                };
                if sparse {
                    pruned.scores(x, &mut parts);
                } else {
                    model.scores(x, w, &mut parts);
                }
                parts.load(&mut transitions);
                parts.chain(&transitions).viterbi(&mut s, &mut labels)?;
                eval.add(&tags, &test.labels[sentence], &labels);
            }
        }
        let speed = 20.0 * test.labels.len() as f64 / (cpu() - from);
        println!(
            "{}: F1 {:.2} (P {:.2}, R {:.2}), accuracy {:.2}, {:.2} M tokens/s, {} weights",
            if sparse { "pruned" } else { "dense" },
            100.0 * eval.all.f1(),
            100.0 * eval.all.precision(),
            100.0 * eval.all.recall(),
            100.0 * eval.token_accuracy(),
            speed / 1e6,
            if sparse { pruned.n_weights() } else { w.len() }
        );
    }
    Ok(())
}
