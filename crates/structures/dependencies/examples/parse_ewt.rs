//! Trains and measures a parser on CoNLL-U files: `parse_ewt TRAIN DEV [TEST]`.

use lineal_dependencies::features::{Sentences, Templates};
use lineal_dependencies::problem::*;
use lineal_model::structure::*;
use std::time::Instant;

const COLUMNS: [&str; 5] = ["form", "lemma", "upos", "xpos", "feats"];

struct Treebank {
    cells: Vec<Vec<String>>,
    heads: Vec<u32>,
    relations: Vec<String>,
}

fn read(path: &str) -> Treebank {
    let text = std::fs::read_to_string(path).expect("a file");
    let (mut cells, mut heads, mut relations) = (Vec::new(), Vec::new(), Vec::new());
    let mut sentence = Vec::new();
    for line in text.lines() {
        if line.is_empty() {
            cells.push(std::mem::take(&mut sentence));
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        if line.starts_with('#') || fields[0].contains(['-', '.']) {
            continue;
        }
        sentence.extend(fields[1..6].iter().map(|s| s.to_string()));
        heads.push(fields[6].parse().expect("a head"));
        relations.push(fields[7].to_string());
    }
    Treebank { cells, heads, relations }
}

fn hash(templates: &Templates, bank: &Treebank) -> Sentences {
    let mut sentences = Sentences::new(templates);
    for cells in &bank.cells {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        sentences.push(templates, &cells);
    }
    sentences
}

fn train<S: MaxOracle<f32>>(s: &S, epochs: usize, c: f32) -> Vec<f32> {
    let dim = s.dim();
    let (mut w, mut u, mut d) = (vec![0f32; dim], vec![0f32; dim], vec![0f32; dim]);
    let mut order: Vec<usize> = (0..s.n_examples()).collect();
    let mut rng = 12345u64;
    let (mut t, mut theta, mut y, mut gold) =
        (1f32, S::Parts::default(), S::Output::default(), S::Output::default());
    let mut scratch = s.scratch();
    let mut touched = Vec::new();
    for epoch in 0..epochs {
        let start = Instant::now();
        for k in (1..order.len()).rev() {
            rng ^= rng << 13;
            rng ^= rng >> 7;
            rng ^= rng << 17;
            order.swap(k, (rng % (k as u64 + 1)) as usize);
        }
        let (mut cost, mut size) = (0.0, 0);
        for &i in &order {
            s.scores(i, &w, 1.0, &mut scratch, &mut theta);
            s.gold(i, &mut gold);
            let gold_score = s.score(i, &theta, &gold);
            let Ok(found) = s.argmax(i, &mut theta, Ask::Augmented, &mut scratch, &mut y) else {
                continue;
            };
            cost += s.cost(i, &y);
            size += s.size(i);
            let loss = (found.score - gold_score) as f32;
            if y != gold && loss > 0.0 {
                touched.clear();
                s.each_difference(i, &gold, &y, &mut scratch, |at, v: f32| {
                    d[at] += v;
                    touched.push(at as u32);
                });
                let mut norm = 0.0;
                touched.sort_unstable();
                touched.dedup();
                for &at in &touched {
                    norm += d[at as usize].powi(2);
                }
                let step = (loss / norm.max(1.0)).min(c);
                for &at in &touched {
                    let at = at as usize;
                    w[at] += step * d[at];
                    u[at] += step * d[at] * t;
                    d[at] = 0.0;
                }
            }
            t += 1.0;
        }
        eprintln!(
            "epoch {} augmented cost {:.4} {:.2} s",
            epoch + 1,
            cost / size as f64,
            start.elapsed().as_secs_f64()
        );
    }
    w.iter().zip(&u).map(|(w, u)| w - u / t).collect()
}

fn predict<S: MaxOracle<f32>>(s: &S, w: &[f32]) -> Vec<S::Output> {
    let mut scratch = s.scratch();
    let mut theta = S::Parts::default();
    (0..s.n_examples())
        .map(|i| {
            let mut y = S::Output::default();
            s.scores(i, w, 1.0, &mut scratch, &mut theta);
            s.argmax(i, &mut theta, Ask::Plain, &mut scratch, &mut y).expect("a tree");
            y
        })
        .collect()
}

fn prune(heads: &Heads, w: &[f32], spec: PruneSpec) -> Candidates {
    let mut kept = Candidates::default();
    let mut scratch = Structure::<f32>::scratch(heads);
    let mut theta = Vec::new();
    for i in 0..Structure::<f32>::n_examples(heads) {
        heads.scores(i, w, 1.0, &mut scratch, &mut theta);
        heads.prune(i, &theta, spec, &mut kept);
    }
    kept
}

fn same(a: &[u32], b: &[u32]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64 * 100.0
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str, default: f64| {
        let at = args.iter().position(|a| a == name);
        at.map_or(default, |at| args[at + 1].parse().expect("a number"))
    };
    let templates = match args.iter().position(|a| a == "--templates") {
        Some(at) => {
            Templates::parse(&std::fs::read_to_string(&args[at + 1]).expect("a file"), &COLUMNS)
        }
        None => Templates::built_in(&COLUMNS),
    }
    .expect("templates");
    let mut banks: Vec<Treebank> = args[1..3].iter().map(|path| read(path)).collect();
    let epochs = option("--epochs", 10.0) as usize;
    let bits = option("--bits", 22.0) as u32;
    let start = Instant::now();
    let hashed: Vec<Sentences> = banks.iter().map(|bank| hash(&templates, bank)).collect();
    eprintln!("hashed {} words in {:.2} s", hashed[0].n_words(), start.elapsed().as_secs_f64());
    let gold = {
        let mut gold = Vec::new();
        for i in 0..hashed[0].len() {
            let mut heads = banks[0].heads[hashed[0].words(i)].to_vec();
            projectivize(&mut heads, true).expect("a tree");
            gold.extend(heads);
        }
        eprintln!("projective gold keeps {:.2} %", same(&gold, &banks[0].heads));
        std::mem::replace(&mut banks[0].heads, gold)
    };
    let _ = gold;
    let (train_set, dev) = (&banks[0], &banks[1]);

    let pruner_bits = option("--pruner-bits", 20.0) as u32;
    let start = Instant::now();
    let pruner = Heads::new(&templates, &hashed[0], &train_set.heads, pruner_bits);
    let w =
        train(&pruner, option("--pruner-epochs", 3.0) as usize, option("--pruner-c", 0.1) as f32);
    eprintln!("pruner trained in {:.2} s", start.elapsed().as_secs_f64());
    let spec =
        PruneSpec { most: option("--most", 10.0) as usize, threshold: option("--threshold", 1e-4) };
    let candidates = prune(&pruner, &w, spec);
    eprintln!(
        "train: {:.2} heads per word, recall {:.3}",
        candidates.n_arcs() as f64 / candidates.n_words() as f64,
        candidates.recall(&train_set.heads) * 100.0
    );
    let start = Instant::now();
    let pruner = Heads::new(&templates, &hashed[1], &[], pruner_bits);
    let dev_candidates = prune(&pruner, &w, spec);
    eprintln!(
        "dev: {:.2} heads per word, recall {:.3}, {:.0} tokens/s",
        dev_candidates.n_arcs() as f64 / dev_candidates.n_words() as f64,
        dev_candidates.recall(&dev.heads) * 100.0,
        dev_candidates.n_words() as f64 / start.elapsed().as_secs_f64()
    );

    let full = args.iter().any(|a| a == "--full");
    let spec = TreeSpec {
        bits,
        kind: if args.iter().any(|a| a == "--second") {
            TreeKind::SecondOrder
        } else {
            TreeKind::Projective
        },
        ..TreeSpec::default()
    };
    let start = Instant::now();
    let trees = Trees::new(
        &templates,
        &hashed[0],
        Some(&candidates).filter(|_| !full),
        &train_set.heads,
        spec,
    );
    let w = train(&trees, epochs, option("--c", 0.05) as f32);
    eprintln!("trees trained in {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let trees =
        Trees::new(&templates, &hashed[1], Some(&dev_candidates).filter(|_| !full), &[], spec);
    let found = predict(&trees, &w).concat();
    eprintln!(
        "dev UAS {:.2}, {:.0} tokens/s; {} nonzero weights",
        same(&found, &dev.heads),
        found.len() as f64 / start.elapsed().as_secs_f64(),
        w.iter().filter(|w| **w != 0.0).count()
    );
    let mut names: Vec<&String> = train_set.relations.iter().collect();
    names.sort();
    names.dedup();
    let number = |bank: &Treebank| -> Vec<u32> {
        bank.relations
            .iter()
            .map(|r| names.binary_search(&r).map_or(u32::MAX, |k| k as u32))
            .collect()
    };
    let (gold, dev_gold) = (number(train_set), number(dev));
    let bits = option("--relation-bits", 22.0) as u32;
    let start = Instant::now();
    let relations =
        Relations::new(&templates, &hashed[0], &train_set.heads, &gold, names.len(), bits);
    eprintln!("{} relations, features in {:.2} s", names.len(), start.elapsed().as_secs_f64());
    let w = train(
        &relations,
        option("--relation-epochs", 5.0) as usize,
        option("--relation-c", 0.05) as f32,
    );
    eprintln!("relations trained in {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let relations = Relations::new(&templates, &hashed[1], &found, &[], names.len(), bits);
    let labels = predict(&relations, &w);
    let time = start.elapsed().as_secs_f64();
    let relations = Relations::new(&templates, &hashed[1], &dev.heads, &[], names.len(), bits);
    let gold_tree = predict(&relations, &w);
    let right =
        (0..labels.len()).filter(|&t| found[t] == dev.heads[t] && labels[t] == dev_gold[t]).count();
    eprintln!(
        "dev UAS {:.2} LAS {:.2}, {:.0} tokens/s; relations in gold trees {:.2}",
        same(&found, &dev.heads),
        right as f64 / labels.len() as f64 * 100.0,
        labels.len() as f64 / time,
        same(&gold_tree, &dev_gold)
    );
}
