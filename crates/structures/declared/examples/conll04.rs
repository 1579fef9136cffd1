//! Entities and relations of CoNLL-04 with a declaration: local classifiers, local with rules at prediction, and joint.
//!
//!     cargo run --release -p lineal-declared --example conll04 -- DIRECTORY [--declaration FILE] [--passes N] [--c C] [--min-count N] [--cost "relation 1 Kill 3"] [--test]
//!
//! With `--problems FILE` the joint problems with their scores and best scores are written as JSON lines, for `bench/declared_peer.py`.
//!
//! DIRECTORY has train.jsonl.gz, dev.jsonl.gz and test.jsonl.gz. Without `--test` figures are those of the dev part, by which everything was chosen.

use lineal_data::{DeclaredValue, read_declared};
use lineal_declared::inference::{Kind, Scratch, solve};
use lineal_declared::{
    Declaration, Example, Examples, Predictor, Problem, ProblemOptions, Record, Rivals,
    SolveOptions, Value, Vocabulary,
};
use lineal_erm::structured::{LearnSpec, Loss, Solver, Update, learn_max};
use lineal_linalg::Rng;
use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option =
        |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let directory = Path::new(arguments.first().ok_or("name the directory of the data")?);
    let text = match option("--declaration") {
        Some(file) => std::fs::read_to_string(file)?,
        None => include_str!("conll04.declared").to_owned(),
    };
    let passes = option("--passes").map_or(Ok(30), |n| n.parse())?;
    let c: f64 = option("--c").map_or(Ok(0.03), |n| n.parse())?;
    let min_count = option("--min-count").map_or(Ok(1), |n| n.parse())?;
    let is_test = arguments.iter().any(|a| a == "--test");
    let text = match option("--cost") {
        Some(cost) => format!("{text}\ncost {cost}\n"),
        None => text,
    };
    let setting = Setting { passes, c, min_count, update: option("--update").cloned() };

    let train = read(directory, "train")?;
    let seen: HashSet<Vec<String>> = train.iter().map(tokens).collect();
    let held_out = read(directory, if is_test { "test" } else { "dev" })?;
    let is_seen: Vec<bool> =
        held_out.iter().map(|example| seen.contains(&tokens(example))).collect();

    let alone: String =
        text.lines().filter(|line| !line.starts_with("factor")).map(|l| format!("{l}\n")).collect();
    let mut all = Vec::new();
    for (name, text, rivals, keeps_rules) in [
        ("local", &alone, Rivals::Free, false),
        ("local, rules at prediction", &alone, Rivals::Free, true),
        ("joint", &text, Rivals::Legal, true),
    ] {
        if !is_test && option("--only").is_some_and(|only| only != name) {
            continue;
        }
        let declaration = Declaration::parse(text)?;
        let system = System::train(&declaration, &train, rivals, &setting)?;
        let counts = system.evaluate(&declaration, &held_out, keeps_rules)?;
        report(name, &counts);
        all.push((name, counts));
        if let (Some(file), Rivals::Legal) = (option("--problems"), rivals) {
            std::fs::write(file, system.problems(&declaration, &held_out)?)?;
        }
    }
    if let [(_, local), .., (_, joint)] = &all[..] {
        interval("joint", joint, None);
        interval("joint less local", joint, Some(local));
        let n = is_seen.iter().filter(|seen| **seen).count();
        println!("without the {n} sentences that are in the training part:");
        let fresh = |counts: &[Counts]| {
            counts
                .iter()
                .zip(&is_seen)
                .filter(|(_, seen)| !**seen)
                .map(|(c, _)| *c)
                .collect::<Vec<_>>()
        };
        let (local, joint) = (fresh(local), fresh(joint));
        report("joint", &joint);
        interval("joint", &joint, None);
        interval("joint less local", &joint, Some(&local));
    }
    Ok(())
}

struct Setting {
    passes: usize,
    c: f64,
    min_count: usize,
    update: Option<String>,
}

fn tokens(example: &Example) -> Vec<String> {
    example
        .columns
        .iter()
        .find(|(name, _)| name == "tokens")
        .map(|(_, tokens)| tokens.clone())
        .unwrap_or_default()
}

fn read(directory: &Path, part: &str) -> Result<Vec<Example>, Box<dyn Error>> {
    let value = |value: DeclaredValue| match value {
        DeclaredValue::Number(number) => Value::Number(number),
        DeclaredValue::Text(text) => Value::Text(text),
        DeclaredValue::Features(features) => Value::Features(features),
    };
    let examples = read_declared(directory.join(format!("{part}.jsonl.gz")))?;
    let example = |example: lineal_data::DeclaredExample| Example {
        columns: example.columns,
        weight: example.weight,
        lists: example
            .lists
            .into_iter()
            .map(|(name, records)| {
                let record = |record: lineal_data::DeclaredRecord| Record {
                    fields: record.fields.into_iter().map(|(name, v)| (name, value(v))).collect(),
                };
                (name, records.into_iter().map(record).collect())
            })
            .collect(),
    };
    Ok(examples.into_iter().map(example).collect())
}

struct System {
    vocabulary: Vocabulary,
    w: Vec<f32>,
}

/// Of one sentence: right, predicted and gold entities and relations.
#[derive(Clone, Copy, Default)]
struct Counts {
    entities: [f64; 2],
    relations: [f64; 3],
    illegal: f64,
    independent: bool,
    seconds: f64,
}

impl System {
    fn train(
        declaration: &Declaration,
        train: &[Example],
        rivals: Rivals,
        setting: &Setting,
    ) -> Result<Self, Box<dyn Error>> {
        let examples = Examples::new(declaration, train.to_vec())?;
        let vocabulary = Vocabulary::learn(declaration, &examples, setting.min_count);
        let options = ProblemOptions { rivals, solve: SolveOptions::default() };
        let problem = Problem::new(declaration, &vocabulary, &examples, options);
        let spec = match setting.update.as_deref() {
            Some("dual") => LearnSpec {
                loss: Loss::Hinge,
                solver: Solver::Dual,
                l2: 1.0 / (setting.c * train.len() as f64),
                passes: setting.passes,
                tol: 1e-3,
                ..LearnSpec::default()
            },
            Some("perceptron") => {
                LearnSpec { loss: Loss::Perceptron, passes: setting.passes, ..LearnSpec::default() }
            }
            _ => LearnSpec {
                loss: Loss::Hinge,
                solver: Solver::Sgd,
                update: Update::PassiveAggressive { aggressiveness: setting.c },
                passes: setting.passes,
                ..LearnSpec::default()
            },
        };
        let begun = Instant::now();
        let learnt = learn_max(&problem, &spec, None, &mut |_| ControlFlow::Continue(()))?;
        println!(
            "{} weights, {} illegal gold outputs, trained in {:.1} s",
            vocabulary.dim(),
            problem.illegal_gold().len(),
            begun.elapsed().as_secs_f64()
        );
        Ok(Self { w: learnt.w, vocabulary })
    }

    fn evaluate(
        &self,
        declaration: &Declaration,
        held_out: &[Example],
        keeps_rules: bool,
    ) -> Result<Vec<Counts>, Box<dyn Error>> {
        let examples = Examples::new(declaration, held_out.to_vec())?;
        let predictor =
            Predictor::new(declaration, &self.vocabulary, &self.w, SolveOptions::default());
        let mut s = Scratch::default();
        let mut all = Vec::new();
        for ground in examples.iter() {
            let theta = predictor.scores(ground);
            let program = if keeps_rules { &ground.program } else { &ground.free };
            let begun = Instant::now();
            let found = solve(program, &theta, None, &SolveOptions::default(), &mut s)?;
            let mut counts = Counts { seconds: begun.elapsed().as_secs_f64(), ..Counts::default() };
            if found.upper > found.score + 1e-6 {
                println!("not proved: {} {}", found.score, found.upper);
            }
            let free = solve(&ground.free, &theta, None, &SolveOptions::default(), &mut s)?;
            counts.independent = ground.program.is_legal(&free.labels);
            let n_entities = ground.starts[1];
            for (v, (&label, gold)) in found.labels.iter().zip(&ground.gold).enumerate() {
                let gold = gold.ok_or("a gold label is missing")?;
                if v < n_entities {
                    counts.entities[0] += f64::from(u8::from(label == gold));
                    counts.entities[1] += 1.0;
                } else {
                    counts.relations[0] += f64::from(u8::from(label == gold && label > 0));
                    counts.relations[1] += f64::from(u8::from(label > 0));
                    counts.relations[2] += f64::from(u8::from(gold > 0));
                }
            }
            let broken = ground.program.constraints().iter().filter(|c| !c.holds(&found.labels));
            let mut broken: Vec<u32> = broken.filter_map(|c| c.scope.last().copied()).collect();
            broken.dedup();
            counts.illegal = broken.len() as f64;
            all.push(counts);
        }
        Ok(all)
    }
}

impl System {
    /// Problems with scores, one JSON object per line: clauses as lists of variables with the labels that satisfy them.
    fn problems(
        &self,
        declaration: &Declaration,
        held_out: &[Example],
    ) -> Result<String, Box<dyn Error>> {
        let examples = Examples::new(declaration, held_out.to_vec())?;
        let predictor =
            Predictor::new(declaration, &self.vocabulary, &self.w, SolveOptions::default());
        let mut lines = String::new();
        for ground in examples.iter() {
            let (theta, program) = (predictor.scores(ground), &ground.program);
            let found =
                solve(program, &theta, None, &SolveOptions::default(), &mut Scratch::default())?;
            let sizes: Vec<usize> =
                (0..program.n_variables()).map(|v| program.n_labels(v)).collect();
            let tables: Vec<&Vec<u32>> =
                program.tables().iter().map(|table| &table.scope).collect();
            let mut rules: Vec<String> = Vec::new();
            for constraint in program.constraints() {
                let Kind::Counter(counter) = &constraint.kind else { continue };
                let of = |(at, &v): (usize, &u32)| {
                    (0..sizes[v as usize]).map(|l| counter.amount(at, l)).collect::<Vec<_>>()
                };
                let amounts: Vec<Vec<i32>> = constraint.scope.iter().enumerate().map(of).collect();
                rules.push(format!(
                    "[{:?}, {amounts:?}, {}]",
                    constraint.scope,
                    counter.bounds().0
                ));
            }
            writeln!(
                lines,
                "{{\"sizes\": {sizes:?}, \"tables\": {tables:?}, \"rules\": [{}], \"theta\": {theta:?}, \"score\": {:?}}}",
                rules.join(", "),
                found.score
            )?;
        }
        Ok(lines)
    }
}

fn f1(counts: impl Iterator<Item = [f64; 3]>) -> (f64, f64, f64) {
    let mut sum = [0.0; 3];
    for counts in counts {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [right, predicted, gold] = sum;
    (
        200.0 * right / (predicted + gold).max(1.0),
        100.0 * right / predicted.max(1.0),
        100.0 * right / gold.max(1.0),
    )
}

fn report(name: &str, all: &[Counts]) {
    let entities = f1(all.iter().map(|c| [c.entities[0], c.entities[1], c.entities[1]])).0;
    let (f, p, r) = f1(all.iter().map(|c| c.relations));
    let illegal: f64 = all.iter().map(|c| c.illegal).sum();
    let seconds: Vec<f64> = all.iter().map(|c| c.seconds).collect();
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    let most = seconds.iter().copied().fold(0.0, f64::max);
    let legal = all.iter().filter(|c| c.independent).count() as f64 / all.len() as f64;
    println!(
        "{name}: entities {entities:.2}, relations {f:.2} (precision {p:.2}, recall {r:.2}), illegal {illegal}, legal without rules {:.1} %, mean {:.3} ms, longest {:.2} ms",
        100.0 * legal,
        1e3 * mean,
        1e3 * most
    );
}

/// The middle 95 % of the relation F1 (or of a difference) over 10,000 samples of sentences.
fn interval(name: &str, all: &[Counts], less: Option<&[Counts]>) {
    let mut rng = Rng::new(1);
    let mut values: Vec<f64> = (0..10_000)
        .map(|_| {
            let sample: Vec<usize> =
                (0..all.len()).map(|_| (rng.next_u64() % all.len() as u64) as usize).collect();
            let of = |counts: &[Counts]| f1(sample.iter().map(|&i| counts[i].relations)).0;
            of(all) - less.map_or(0.0, of)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    println!("  {name}: relation F1 {:.2} to {:.2}", values[250], values[9749]);
}
