//! Trains and measures a parser on files of bracketed trees, function tags cut.
//!
//! ```text
//! cargo run --release -p lineal-constituents --example parse -- train.mrg dev.mrg [--test test.mrg] [--epochs 5] [--c 0.02] [--full] …
//! ```
//!
//! F1 is of labelled brackets with punctuation, without parts of speech and the top label, for sentences of up to 40 words. Times are of the processor, so that other programs do not count.

use lineal_constituents::features::{Sentences, Templates};
use lineal_constituents::problem::{Candidates, Constituents, Known, PruneSpec, SpanClassifier};
use lineal_constituents::{Branching, Derivation, Grammar, GrammarSpec, Phrase, Tree};
use lineal_data::{BracketReadOptions, read_brackets};
use lineal_erm::structured::{LearnPass, LearnSpec, Loss, Solver, Update, learn};
use lineal_metrics::{Bracket, BracketEvaluation, BracketOptions, BracketTree};
use lineal_model::structure::{Ask, MaxOracle, Structure};
use std::ops::ControlFlow;

/// Trees with their words and parts of speech.
#[derive(Default)]
struct Treebank {
    trees: Vec<Tree>,
    words: Vec<Vec<String>>,
    tags: Vec<Vec<String>>,
}

/// Stands over every tree, as most treebanks have it; the reader takes it off.
const TOP: &str = "ROOT";

impl Treebank {
    fn read(path: &str) -> Self {
        let options = BracketReadOptions { cut_functions: true, ..BracketReadOptions::default() };
        let data = read_brackets(std::path::Path::new(path), &options).expect("trees");
        let mut bank = Self::default();
        for sentence in data.iter() {
            let n = sentence.len();
            let mut phrases = vec![Phrase::new(TOP, 0, n as u32)];
            phrases.extend(
                sentence.nodes().iter().map(|node| {
                    Phrase::new(&data.labels[node.label as usize], node.start, node.end)
                }),
            );
            bank.trees.push(Tree::new(n, phrases).expect("a tree"));
            bank.words.push(sentence.words().map(str::to_string).collect());
            let tag = |word| sentence.tag(word).unwrap_or_default().to_string();
            bank.tags.push((0..n).map(tag).collect());
        }
        bank
    }

    fn pairs(&self) -> impl Iterator<Item = (&Tree, &[String])> + Clone {
        self.trees.iter().zip(self.tags.iter().map(Vec::as_slice))
    }

    fn hash(&self, templates: &Templates, grammar: &Grammar) -> Sentences {
        let mut sentences = Sentences::new(templates);
        for (words, tags) in self.words.iter().zip(&self.tags) {
            sentences.push(templates, grammar, words, tags);
        }
        sentences
    }
}

/// Seconds of the processor.
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split(' ').collect();
    let ticks =
        |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or_default();
    (ticks(12) + ticks(13)) / 100.0
}

/// Labelled F1 and exact matches in percent, over sentences of up to 40 words.
fn measure(gold: &Treebank, found: &[Tree]) -> (f64, f64) {
    let mut evaluation = BracketEvaluation::new(BracketOptions::default());
    for (i, found) in found.iter().enumerate() {
        let words: Vec<&str> = gold.words[i].iter().map(String::as_str).collect();
        let tags: Vec<&str> = gold.tags[i].iter().map(String::as_str).collect();
        let [own, found] = [&gold.trees[i], found].map(|tree| {
            let bracket = |phrase: &'_ Phrase| (phrase.start as usize, phrase.end as usize);
            let all = tree.phrases().iter().map(|phrase| (phrase.label.as_str(), bracket(phrase)));
            all.map(|(label, (start, end))| Bracket { label, start, end }).collect::<Vec<_>>()
        });
        let tree = |brackets| BracketTree { words: &words, tags: &tags, brackets };
        evaluation.add(&tree(&own), &tree(&found)).expect("brackets");
    }
    let short = evaluation.finish().ok().and_then(|metrics| metrics.short).unwrap_or_default();
    (100.0 * short.f1, 100.0 * short.exact)
}

fn parse(problem: &Constituents<'_>, w: &[f32]) -> Vec<Tree> {
    let (mut scratch, mut theta) = (Structure::<f32>::scratch(problem), Default::default());
    // A table of weights is read all over: large pages help.
    let mut large = vec![0.0; w.len()];
    lineal_linalg::prefer_large_pages(&large);
    large.copy_from_slice(w);
    let n = Structure::<f32>::n_examples(problem);
    let parse = |i| {
        let mut y = Derivation::default();
        problem.scores(i, &large, 1.0, &mut scratch, &mut theta);
        problem.argmax(i, &mut theta, Ask::Plain, &mut scratch, &mut y).expect("a derivation");
        problem.grammar().restore(&y)
    };
    (0..n).map(parse).collect()
}

fn prune(
    spans: &SpanClassifier<'_>,
    w: &[f32],
    keep: PruneSpec,
    branching: Branching,
) -> Candidates {
    let mut kept = Candidates::default();
    let (mut scratch, mut theta) = (Structure::<f32>::scratch(spans), Vec::new());
    for i in 0..Structure::<f32>::n_examples(spans) {
        spans.scores(i, w, 1.0, &mut scratch, &mut theta);
        spans.prune(i, &theta, keep, branching, &Known::default(), &mut kept);
    }
    kept
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let has = |name: &str| args.iter().any(|arg| arg == name);
    let text = |name: &str| args.iter().position(|arg| arg == name).map(|at| args[at + 1].as_str());
    let option = |name: &str, default: f64| {
        text(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let templates = match text("--templates") {
        Some(path) => {
            Templates::parse(&std::fs::read_to_string(path).expect("a file")).expect("templates")
        }
        None => Templates::built_in(),
    };
    let (train, dev) = (Treebank::read(&args[1]), Treebank::read(&args[2]));
    let spec = GrammarSpec {
        horizontal: option("--horizontal", 0.0) as usize,
        vertical: option("--vertical", 2.0) as usize,
        branching: if has("--right") { Branching::Right } else { Branching::Left },
        min_count: option("--min-count", 5.0) as usize,
    };
    let branching = spec.branching;
    let start = seconds();
    let grammar = Grammar::read(train.pairs(), spec);
    let derive = |bank: &Treebank| -> Vec<Derivation> {
        bank.pairs().map(|(tree, tags)| grammar.derive(tree, tags).unwrap_or_default()).collect()
    };
    let (gold, dev_gold) = (derive(&train), derive(&dev));
    assert!(train.trees.iter().zip(&gold).all(|(tree, gold)| grammar.restore(gold) == *tree));
    eprintln!(
        "{} symbols, {} with children, {} pairs, {} columns, {} categories; {} of {} dev trees have a derivation; {:.2} s",
        grammar.symbols().len(),
        grammar.n_parents(),
        grammar.pairs().len(),
        grammar.n_columns(),
        grammar.n_categories(),
        dev_gold.iter().filter(|gold| !gold.nodes.is_empty()).count(),
        dev_gold.len(),
        seconds() - start
    );
    let (words, dev_words) = (train.hash(&templates, &grammar), dev.hash(&templates, &grammar));

    let mut tick = seconds();
    let mut show = |pass: &LearnPass<'_>| {
        let (took, now) = (seconds() - tick, seconds());
        tick = now;
        eprintln!("  pass {} loss {:.4} {took:.2} s", pass.pass, pass.loss.unwrap_or_default());
        ControlFlow::Continue(())
    };
    let mut candidates = None;
    let mut prune_seconds = 0.0;
    let mut pruner = None;
    if !has("--full") {
        let bits = option("--pruner-bits", 20.0) as u32;
        let classifier = SpanClassifier::new(&templates, &words, bits).with_gold(&gold);
        let spec = LearnSpec {
            loss: Loss::Logistic,
            solver: Solver::Sgd,
            passes: option("--pruner-epochs", 2.0) as usize,
            rate: Some(option("--pruner-rate", 0.05)),
            ..LearnSpec::default()
        };
        let w = learn(&classifier, &spec, None, &mut show).expect("a pruner").w;
        let keep =
            PruneSpec { threshold: option("--threshold", 2e-3), most: option("--most", 20.0) };
        let kept = prune(&classifier, &w, keep, branching);
        let classifier = SpanClassifier::new(&templates, &dev_words, bits);
        for threshold in
            [1e-4, 3e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2].into_iter().filter(|_| has("--pruner-table"))
        {
            let kept = prune(&classifier, &w, PruneSpec { threshold, ..keep }, branching);
            eprintln!(
                "  {threshold}: {} spans, recall {:.3}",
                kept.n_spans(),
                100.0 * kept.recall(&dev_gold)
            );
        }
        let start = seconds();
        let dev_kept = prune(&classifier, &w, keep, branching);
        prune_seconds = seconds() - start;
        let all: usize =
            dev.words.iter().map(|words| words.len() * words.len().saturating_sub(1) / 2).sum();
        eprintln!(
            "pruner keeps {} of {all} spans of dev, recall {:.3}",
            dev_kept.n_spans(),
            100.0 * dev_kept.recall(&dev_gold)
        );
        candidates = Some((kept, dev_kept));
        pruner = Some((w, bits, keep));
    }
    let bits = option("--bits", 24.0) as u32;
    let (kept, dev_kept) = candidates.as_ref().map(|(a, b)| (a, b)).unzip();
    let problem = Constituents::new(&grammar, &templates, &words, kept, bits).with_gold(&gold);
    let dev_problem = Constituents::new(&grammar, &templates, &dev_words, dev_kept, bits);
    let spec = LearnSpec {
        passes: option("--epochs", 5.0) as usize,
        l2: option("--l2", 0.0),
        solver: Solver::Sgd,
        rate: text("--rate").map(|rate| rate.parse().expect("a number")),
        average: has("--average").then_some(true),
        seed: option("--seed", 0.0) as u64,
        ..LearnSpec::default()
    };
    let spec = match text("--learner").unwrap_or("passive") {
        "perceptron" => LearnSpec { loss: Loss::Perceptron, ..spec },
        "svm" => LearnSpec { loss: Loss::Hinge, ..spec },
        "crf" => LearnSpec { loss: Loss::Logistic, ..spec },
        _ => {
            let update = Update::PassiveAggressive { aggressiveness: option("--c", 0.02) };
            LearnSpec { loss: Loss::Hinge, update, ..spec }
        }
    };
    let start = seconds();
    let every = option("--watch", f64::INFINITY) as usize;
    let mut watch = |pass: &LearnPass<'_>| {
        if pass.pass.is_multiple_of(every) {
            let (f1, exact) = measure(&dev, &parse(&dev_problem, &pass.weights()));
            eprintln!("  dev F1 {f1:.2} exact {exact:.2}");
        }
        show(pass)
    };
    let w = learn(&problem, &spec, None, &mut watch).expect("a parser").w;
    eprintln!(
        "trained in {:.1} s; {} of {} weights are not zero",
        seconds() - start,
        w.iter().filter(|w| **w != 0.0).count(),
        w.len()
    );
    let start = seconds();
    let found = parse(&dev_problem, &w);
    let took = seconds() - start;
    let n = found.len() as f64;
    let (f1, exact) = measure(&dev, &found);
    println!(
        "F1 {f1:.2} exact {exact:.2}; {:.0} sentences per second, {:.0} with pruning",
        n / took,
        n / (took + prune_seconds)
    );
    if let Some(path) = text("--test") {
        let test = Treebank::read(path);
        let words = test.hash(&templates, &grammar);
        let kept = pruner.map(|(w, bits, keep)| {
            prune(&SpanClassifier::new(&templates, &words, bits), &w, keep, branching)
        });
        let problem = Constituents::new(&grammar, &templates, &words, kept.as_ref(), bits);
        let (f1, exact) = measure(&test, &parse(&problem, &w));
        println!("test F1 {f1:.2} exact {exact:.2}");
    }
}
