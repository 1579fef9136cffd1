//! Trains and measures a parser on CoNLL-U files.
//!
//! ```text
//! cargo run --release -p lineal-dependencies --example parse_ewt -- train.conllu dev.conllu [--order 2] [--full] [--epochs 10] …
//! ```
//!
//! Times are of the processor, so that other programs do not count.

use lineal_dependencies::features::{Sentences, Templates};
use lineal_dependencies::problem::{
    Candidates, Heads, PruneSpec, Relations, Tree, TreeKind, TreeSpec, Trees, projectivize,
};
use lineal_erm::structured::{LearnPass, LearnSpec, Loss, Solver, Update, learn, learn_max};
use lineal_model::structure::{Ask, MaxOracle, Structure};
use std::ops::ControlFlow;

const COLUMNS: [&str; 5] = ["form", "lemma", "upos", "xpos", "feats"];

/// Words of all sentences, their heads and relations.
struct Treebank {
    cells: Vec<Vec<String>>,
    heads: Vec<u32>,
    relations: Vec<String>,
}

impl Treebank {
    fn read(path: &str) -> Self {
        let text = std::fs::read_to_string(path).expect("a file");
        let (mut cells, mut heads, mut relations) = (Vec::new(), Vec::new(), Vec::new());
        let mut sentence = Vec::new();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            if line.is_empty() {
                cells.push(std::mem::take(&mut sentence));
            } else if !line.starts_with('#') && !fields[0].contains(['-', '.']) {
                sentence.extend(fields[1..6].iter().map(|cell| cell.to_string()));
                heads.push(fields[6].parse().expect("a head"));
                relations.push(fields[7].to_string());
            }
        }
        Self { cells, heads, relations }
    }

    fn hash(&self, templates: &Templates) -> Sentences {
        let mut sentences = Sentences::new(templates);
        for cells in &self.cells {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            sentences.push(templates, &cells);
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

fn same(a: &[u32], b: &[u32]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64 * 100.0
}

fn predict<S: MaxOracle<f32>>(s: &S, w: &[f32]) -> Vec<S::Output> {
    let (mut scratch, mut theta) = (s.scratch(), S::Parts::default());
    // A table of weights is read all over: in large pages labels come twice as fast.
    let mut large = vec![0.0; w.len()];
    lineal_linalg::prefer_large_pages(&large);
    large.copy_from_slice(w);
    let w = &large[..];
    (0..s.n_examples())
        .map(|i| {
            let mut y = S::Output::default();
            s.scores(i, w, 1.0, &mut scratch, &mut theta);
            s.argmax(i, &mut theta, Ask::Plain, &mut scratch, &mut y).expect("an output");
            y
        })
        .collect()
}

fn heads_of(trees: &[Tree]) -> Vec<u32> {
    trees.iter().flat_map(|tree| tree.heads.iter().copied()).collect()
}

fn prune(heads: &Heads<'_>, w: &[f32], spec: PruneSpec) -> Candidates {
    let mut kept = Candidates::default();
    let (mut scratch, mut theta) = (Structure::<f32>::scratch(heads), Vec::new());
    for i in 0..Structure::<f32>::n_examples(heads) {
        heads.scores(i, w, 1.0, &mut scratch, &mut theta);
        heads.prune(i, &theta, spec, &mut kept);
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
        Some(path) => Templates::parse(&std::fs::read_to_string(path).expect("a file"), &COLUMNS),
        None => Templates::built_in(&COLUMNS),
    }
    .expect("templates");
    let mut train = Treebank::read(&args[1]);
    let dev = Treebank::read(&args[2]);
    let epochs = option("--epochs", 10.0) as usize;

    let start = seconds();
    let (train_words, dev_words) = (train.hash(&templates), dev.hash(&templates));
    eprintln!(
        "hashed {} words in {:.2} s",
        train_words.n_words() + dev_words.n_words(),
        seconds() - start
    );
    let kind = match (has("--crossing"), option("--order", 1.0) == 2.0) {
        (true, _) => TreeKind::NonProjective,
        (_, true) => TreeKind::SecondOrder,
        _ => TreeKind::Projective,
    };
    let mut gold = Vec::new();
    for i in 0..train_words.len() {
        let mut heads = train.heads[train_words.words(i)].to_vec();
        if kind.is_projective() {
            projectivize(&mut heads, true).expect("a tree");
        }
        gold.extend(heads);
    }
    eprintln!("projective gold keeps {:.2} %", same(&gold, &train.heads));
    let true_heads = std::mem::replace(&mut train.heads, gold);

    let mut tick = seconds();
    let mut show = |pass: &LearnPass<'_>| {
        let (took, now) = (seconds() - tick, seconds());
        tick = now;
        eprintln!("  pass {} loss {:.4} {took:.2} s", pass.pass, pass.loss.unwrap_or_default());
        ControlFlow::Continue(())
    };

    let bits = option("--pruner-bits", 20.0) as u32;
    let start = seconds();
    let pruner = Heads::new(&templates, &train_words, bits).with_gold(&train.heads);
    let spec = LearnSpec {
        loss: Loss::Logistic,
        solver: Solver::Sgd,
        passes: option("--pruner-epochs", 2.0) as usize,
        rate: Some(option("--rate", 0.05)),
        average: Some(has("--pruner-average")),
        ..LearnSpec::default()
    };
    let w = learn(&pruner, &spec, None, &mut show).expect("a pruner").w;
    eprintln!("pruner trained in {:.2} s", seconds() - start);
    let keep =
        PruneSpec { most: option("--most", 20.0) as usize, threshold: option("--threshold", 2e-3) };
    let start = seconds();
    let candidates = prune(&pruner, &w, keep);
    eprintln!(
        "train: {:.2} heads per word",
        candidates.n_arcs() as f64 / candidates.n_words() as f64
    );
    eprintln!("pruned in {:.2} s", seconds() - start);
    let start = seconds();
    let pruner = Heads::new(&templates, &dev_words, bits);
    let dev_candidates = prune(&pruner, &w, keep);
    let prune_seconds = seconds() - start;
    let n = dev.heads.len() as f64;
    let report = |kept: &Candidates| {
        format!(
            "{:.2} heads per word, recall {:.3}",
            kept.n_arcs() as f64 / n,
            kept.recall(&dev.heads) * 100.0
        )
    };
    eprintln!("dev: {}, {:.0} tokens/s", report(&dev_candidates), n / prune_seconds);
    if has("--pruner-table") {
        for (most, threshold) in
            [(10, 1e-4), (10, 1e-3), (12, 1e-3), (16, 1e-3), (20, 1e-3), (20, 3e-4), (20, 3e-3)]
        {
            eprintln!(
                "  {most} {threshold}: {}",
                report(&prune(&pruner, &w, PruneSpec { most, threshold }))
            );
        }
    }
    if epochs == 0 {
        return;
    }

    let mut names: Vec<&String> = train.relations.iter().collect();
    names.sort();
    names.dedup();
    let number = |bank: &Treebank| -> Vec<u32> {
        let numbers = bank.relations.iter().map(|name| names.binary_search(&name));
        numbers.map(|k| k.map_or(u32::MAX, |k| k as u32)).collect()
    };
    let (gold_relations, dev_gold) = (number(&train), number(&dev));
    let spec = TreeSpec {
        bits: option("--bits", if kind == TreeKind::SecondOrder { 23.0 } else { 22.0 }) as u32,
        n_relations: if has("--joint") { names.len() } else { 0 },
        kind,
        ..TreeSpec::default()
    };
    let start = seconds();
    let full = has("--full");
    let trees = Trees::new(&templates, &train_words, Some(&candidates).filter(|_| !full), spec)
        .with_gold(&train.heads, &gold_relations);
    let passive = LearnSpec {
        loss: if has("--perceptron") { Loss::Perceptron } else { Loss::Hinge },
        solver: Solver::Sgd,
        update: Update::PassiveAggressive { aggressiveness: option("--c", 0.05) },
        passes: epochs,
        ..LearnSpec::default()
    };
    let trees_dev =
        Trees::new(&templates, &dev_words, Some(&dev_candidates).filter(|_| !full), spec);
    let mut show_trees = |pass: &LearnPass<'_>| {
        if has("--watch") && pass.pass.is_multiple_of(2) {
            let found = heads_of(&predict(&trees_dev, &pass.weights()));
            eprintln!("  dev UAS {:.2}", same(&found, &dev.heads));
        }
        show(pass)
    };
    let w = learn_max(&trees, &passive, None, &mut show_trees).expect("a parser").w;
    eprintln!(
        "trees trained in {:.2} s; {} weights are not zero",
        seconds() - start,
        w.iter().filter(|w| **w != 0.0).count()
    );
    let start = seconds();
    let trees_found = predict(&trees_dev, &w);
    let found = heads_of(&trees_found);
    let tree_seconds = seconds() - start;
    let uas = same(&found, &dev.heads);
    eprintln!(
        "dev UAS {uas:.2}, {:.0} tokens/s, {:.0} with pruning",
        n / tree_seconds,
        n / (tree_seconds + prune_seconds)
    );

    if has("--joint") {
        let labels: Vec<u32> = trees_found.iter().flat_map(|tree| tree.relations.clone()).collect();
        let right = (0..labels.len())
            .filter(|&t| found[t] == dev.heads[t] && labels[t] == dev_gold[t])
            .count();
        println!("dev UAS {uas:.2} LAS {:.2}, jointly", right as f64 / n * 100.0);
    }
    let bits = option("--relation-bits", 21.0) as u32;
    let start = seconds();
    let relations = Relations::new(&templates, &train_words, &true_heads, names.len(), bits)
        .with_gold(&gold_relations);
    eprintln!(
        "{:.1} features per word",
        Structure::<f32>::work(&relations) as f64
            / names.len() as f64
            / train_words.n_words() as f64
    );
    eprintln!("features of relations in {:.2} s", seconds() - start);
    let passive = LearnSpec {
        update: Update::PassiveAggressive { aggressiveness: option("--relation-c", 0.05) },
        passes: option("--relation-epochs", 5.0) as usize,
        ..passive
    };
    let w = learn_max(&relations, &passive, None, &mut show).expect("a labeller").w;
    eprintln!(
        "relations trained in {:.2} s; {} weights are not zero",
        seconds() - start,
        w.iter().filter(|w| **w != 0.0).count()
    );
    let start = seconds();
    let relations = Relations::new(&templates, &dev_words, &found, names.len(), bits);
    let labels = predict(&relations, &w);
    let label_seconds = seconds() - start;
    let relations = Relations::new(&templates, &dev_words, &dev.heads, names.len(), bits);
    let in_gold = same(&predict(&relations, &w), &dev_gold);
    let right =
        (0..labels.len()).filter(|&t| found[t] == dev.heads[t] && labels[t] == dev_gold[t]).count();
    println!(
        "dev UAS {uas:.2} LAS {:.2}; {:.2} of relations right in gold trees; {:.0} tokens/s for labels, {:.0} for all",
        right as f64 / n * 100.0,
        in_gold,
        n / label_seconds,
        n / (label_seconds + tree_seconds + prune_seconds)
    );
}
