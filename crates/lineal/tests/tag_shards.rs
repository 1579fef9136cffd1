//! Taggers of sequences in several parts: the problem, the objective and the numbers of one file.

use lineal::erm::partial::{Question, add, middle};
use lineal::{
    CurvePoint, DistributedTagging, Error, LossKind, SequenceOptions, Source, TagFeatures, TagPlan,
    TagShard, TagSurvey, Task, TrainSpec, WeightsKind, read_sequences, train,
};
use std::ops::{ControlFlow, Range};

const OPTIONS: SequenceOptions =
    SequenceOptions { format: None, label: None, unlabelled: None, weight: None };

fn source(text: &str) -> Source {
    Source::Memory { name: "part.conll".into(), bytes: text.as_bytes().to_vec() }
}

/// Sentences whose labels mostly follow from words and from the label before, in four parts; the last has a label of its own.
fn parts() -> Vec<String> {
    let (words, mut state) = (["the", "Dog", "barks", "at", "42", "cats"], 7u32);
    let mut next = |n: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    };
    let sentence = |part: usize, next: &mut dyn FnMut(u32) -> u32| {
        let mut text = String::new();
        for _ in 0..1 + next(6) {
            let word = next(6) as usize;
            let label = match (next(8), part, word) {
                (0, 3, _) => "Z",
                (1, ..) => "X",
                (_, _, 0 | 3) => "D",
                (_, _, 1 | 5) => "N",
                _ => "V",
            };
            text.push_str(&format!("{} t{} {label}\n", words[word], word % 3));
        }
        text + "\n"
    };
    (0..4).map(|part| (0..25).map(|_| sentence(part, &mut next)).collect()).collect()
}

fn plan_and_shards(parts: &[String], spec: &TrainSpec) -> Result<(TagPlan, Vec<TagShard>), Error> {
    let mut surveys = parts.iter().map(|part| TagSurvey::read(source(part), &OPTIONS));
    let first = surveys.next().unwrap()?;
    let survey = surveys.try_fold(first, |all, one| all.merge(one?))?;
    let plan = TagPlan::new(survey, spec)?;
    let data: Vec<_> =
        parts.iter().map(|part| plan.read(source(part), &OPTIONS).unwrap()).collect();
    let plan = match plan.needs_counts() {
        true => {
            let counts: Vec<_> = data.iter().map(|data| plan.count(data).unwrap()).collect();
            let all = counts[1..].iter().fold(counts[0].clone(), |all, one| all.merge(one));
            plan.with_attributes(&all)
        }
        false => plan,
    };
    let mut bits = plan.observe(&data[0])?;
    for data in &data[1..] {
        bits.iter_mut().zip(plan.observe(data)?).for_each(|(all, one)| *all |= one);
    }
    let plan = plan.with_observed(bits)?;
    // As another process would have it.
    let plan = TagPlan::from_parts(plan.to_parts()?)?;
    let shards = data.iter().map(|data| plan.shard(data)).collect::<Result<_, _>>()?;
    Ok((plan, shards))
}

fn sum(shards: &[TagShard], range: Range<usize>, question: Question<'_>) -> (f64, Vec<f64>) {
    let Some(middle) = middle(&range) else {
        let w = match question {
            Question::Gradient { w } | Question::Diagonal { w } | Question::Steps { w, .. } => w,
            Question::Product { .. } => unreachable!("structures are not asked for products"),
        };
        let mut out = vec![0.0; w.len()];
        let value = shards[range.start].answer(question, &mut out).unwrap();
        return (value, out);
    };
    let mut left = sum(shards, range.start..middle, question);
    add(&mut left, &sum(shards, middle..range.end, question)).unwrap();
    left
}

fn spec(tol: f64) -> TrainSpec {
    TrainSpec { loss: Some(LossKind::Logistic), tol, ..TrainSpec::for_task(Task::Tag) }
}

#[test]
fn the_problem_is_that_of_one_file() {
    let parts = parts();
    let whole = read_sequences(source(&parts.concat()), &OPTIONS).unwrap();
    let kinds = [
        WeightsKind::Frequent,
        WeightsKind::Observed,
        WeightsKind::ObservedAttributes,
        WeightsKind::AllAttributes,
        WeightsKind::All,
    ];
    let features = [
        TagFeatures::Default,
        TagFeatures::List("rich".into()),
        TagFeatures::Templates("U0:%x[0,0]\nB1:%x[0,1]\nB\n".into()),
    ];
    for (at, (weights, features)) in
        kinds.into_iter().flat_map(|k| features.iter().map(move |f| (k, f.clone()))).enumerate()
    {
        let mut spec = spec(1e-8);
        spec.tag.choose = false;
        (spec.tag.weights, spec.tag.features) = (weights, features);
        spec.tag.min_count = 1 + at as u32 % 2;
        spec.tag.order = 1 + at as u32 / 2 % 2;
        let (twin, expected) = train(&whole, &spec).unwrap();
        let (plan, shards) = plan_and_shards(&parts, &spec).unwrap();
        let norm = shards.iter().map(TagShard::gold_norm).sum();
        for rounds in [0, 3] {
            let mut ask = |question: Question<'_>, out: &mut [f64]| {
                let (value, vector) = sum(&shards, 0..shards.len(), question);
                out.copy_from_slice(&vector);
                Ok::<_, Error>(value)
            };
            let data = plan.read(source(&parts[0]), &OPTIONS).unwrap();
            let mut names = |hashes: &[u64]| plan.names(&data, hashes);
            let run = DistributedTagging::new(&plan).gold_norm(norm).rounds(rounds);
            let (model, report) = run.run(&mut ask, &mut names).unwrap();
            assert_eq!(model.labels(), twin.labels());
            let n = |report: &lineal::Report| report.structured.as_ref().unwrap().weights;
            assert_eq!(n(&report), n(&expected), "{weights:?}");
            let distance = (report.objective - expected.objective).abs();
            assert!(
                distance <= 1e-6 * expected.objective,
                "{weights:?}, {rounds} rounds: {report:?}"
            );
            let gap = report.gap.unwrap();
            assert!(report.converged && gap <= 2e-6 * report.objective, "{gap}");
            assert!(report.objective - gap <= expected.objective);
            assert!(
                model.notable().iter().any(|n| n.attributes.iter().any(|(a, _)| !a.is_empty()))
            );
        }
    }
}

/// The model and the report of a run on some parts.
fn learnt(
    parts: &[String],
    spec: &TrainSpec,
    rounds: usize,
    see: &mut (dyn FnMut(&CurvePoint) -> ControlFlow<()> + Send),
) -> (lineal::TagModel, lineal::Report) {
    let (plan, shards) = plan_and_shards(parts, spec).unwrap();
    let norm = shards.iter().map(TagShard::gold_norm).sum();
    let mut ask = |question: Question<'_>, out: &mut [f64]| {
        let (value, vector) = sum(&shards, 0..shards.len(), question);
        out.copy_from_slice(&vector);
        Ok::<_, Error>(value)
    };
    let run = DistributedTagging::new(&plan).gold_norm(norm).rounds(rounds).monitor(see);
    run.run(&mut ask, &mut |_| Ok(Vec::new())).unwrap()
}

fn go_on(_: &CurvePoint) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Counts replaced the hashes of the plan that was given them, and of that one alone.
#[test]
fn hashes_of_attributes_are_those_of_one_file() {
    let parts = parts();
    let mut spec = spec(1e-8);
    (spec.tag.choose, spec.tag.hash_bits) = (false, Some(8));
    let whole = read_sequences(source(&parts.concat()), &OPTIONS).unwrap();
    let (_, expected) = train(&whole, &spec).unwrap();
    let (_, report) = learnt(&parts, &spec, 2, &mut go_on);
    assert!((report.objective - expected.objective).abs() <= 1e-6 * expected.objective);
    let survey = parts.iter().map(|part| TagSurvey::read(source(part), &OPTIONS).unwrap());
    let plan = TagPlan::new(survey.reduce(|a, b| a.merge(b).unwrap()).unwrap(), &spec).unwrap();
    let data = plan.read(source(&parts[0]), &OPTIONS).unwrap();
    let seen = plan.observe(&data).unwrap();
    assert!(!plan.needs_counts());
    let counts = plan.count(&data).unwrap();
    assert_eq!(plan.with_attributes(&counts).observe(&data).unwrap(), seen);
}

/// Labels that are missing are summed over, so that the objective is not convex and nothing is proven.
#[test]
fn positions_without_a_label_and_weights_of_sequences() {
    let line = |at: usize, weight: f64, labels: &str| {
        let words = ["the", "dog", "barks", "at", "cats"];
        let tokens: Vec<_> = (0..3).map(|t| format!("{:?}", words[(at * 7 + t * 3) % 5])).collect();
        let tokens = tokens.join(", ");
        format!(r#"{{"tokens": [{tokens}], "labels": [{labels}], "weight": {weight}}}"#) + "\n"
    };
    let options = SequenceOptions {
        weight: Some("weight".into()),
        format: Some(lineal::Format::Jsonl),
        ..OPTIONS
    };
    let source =
        |text: &str| Source::Memory { name: "part.jsonl".into(), bytes: text.as_bytes().to_vec() };
    for missing in [false, true] {
        let gold = |at: usize| match (missing && at.is_multiple_of(5), at % 2) {
            (true, _) => r#""A", null, "B""#,
            (false, 0) => r#""A", "B", "B""#,
            (false, _) => r#""B", "A", "C""#,
        };
        let part = |from: usize| -> String {
            (from..from + 15).map(|at| line(at, 0.5 + (at % 3) as f64, gold(at))).collect()
        };
        let parts = [part(0), part(15), part(30)];
        let spec = spec(1e-7);
        let whole = read_sequences(source(&parts.concat()), &options).unwrap();
        let (_, expected) = train(&whole, &spec).unwrap();
        let surveys = parts.iter().map(|part| TagSurvey::read(source(part), &options).unwrap());
        let survey = surveys.reduce(|a, b| a.merge(b).unwrap()).unwrap();
        assert_eq!(survey.n_unlabelled, if missing { 9 } else { 0 });
        assert_eq!(survey.total_weight, 67.5);
        let plan = TagPlan::new(survey, &spec).unwrap();
        let data: Vec<_> =
            parts.iter().map(|part| plan.read(source(part), &options).unwrap()).collect();
        let counts = data.iter().map(|data| plan.count(data).unwrap());
        let plan = plan.clone().with_attributes(&counts.reduce(|a, b| a.merge(&b)).unwrap());
        let mut bits = plan.observe(&data[0]).unwrap();
        for data in &data[1..] {
            bits.iter_mut().zip(plan.observe(data).unwrap()).for_each(|(all, one)| *all |= one);
        }
        let plan = plan.with_observed(bits).unwrap();
        let shards: Vec<_> = data.iter().map(|data| plan.shard(data).unwrap()).collect();
        let norm = shards.iter().map(TagShard::gold_norm).sum();
        for rounds in [0, 2] {
            let mut ask = |question: Question<'_>, out: &mut [f64]| {
                let (value, vector) = sum(&shards, 0..shards.len(), question);
                out.copy_from_slice(&vector);
                Ok::<_, Error>(value)
            };
            let run = DistributedTagging::new(&plan).gold_norm(norm).rounds(rounds);
            let (_, report) = run.run(&mut ask, &mut |_| Ok(Vec::new())).unwrap();
            assert_eq!(report.gap.is_none(), missing, "{report:?}");
            assert!(!missing || report.curve.iter().all(|point| point.gap.is_none()));
            if !missing {
                let distance = (report.objective - expected.objective).abs();
                assert!(distance <= 1e-6 * expected.objective, "{report:?}");
            } else {
                // Not the same optimum, perhaps, but not a worse one by much.
                assert!(report.objective <= 1.05 * expected.objective, "{report:?}");
            }
        }
    }
}

#[test]
fn a_run_may_end_in_a_round() {
    for (rounds, ends_in) in [(4, 2), (1, 1), (0, 3)] {
        let mut n_told = 0;
        let mut see = |point: &CurvePoint| {
            n_told += 1;
            match point.pass == ends_in {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let (_, report) = learnt(&parts(), &spec(1e-8), rounds, &mut see);
        assert!(!report.converged && report.objective.is_finite());
        assert_eq!((n_told, report.curve.len()), (ends_in, ends_in), "{rounds} rounds");
    }
}

/// Every part sent up to half a million values of each column, and a plan those of all parts.
#[test]
fn surveys_send_no_more_values_than_matter() {
    let part = |n_labels: usize, n_values: usize, from: usize| -> String {
        (0..n_values).map(|at| format!("w v{} L{}\n\n", from + at, at % n_labels)).collect()
    };
    let survey = |text: &str| TagSurvey::read(source(text), &OPTIONS).unwrap();
    let in_json = |survey: &TagSurvey| serde_json::to_string(survey).unwrap();
    // 2²⁰ / 40² / 2 = 327 values may have transitions of their own.
    let [few, most, many] = [300, 327, 328].map(|n| survey(&part(40, n, 0)));
    assert!(in_json(&few).contains("v299") && in_json(&most).contains("v326"));
    assert!(!in_json(&many).contains("v7"));
    let both = few.clone().merge(survey(&part(40, 40, 290))).unwrap();
    assert!(!in_json(&both).contains("v7"), "330 values");
    let both = few.merge(survey(&part(40, 40, 280))).unwrap();
    assert!(in_json(&both).contains("v7"), "320 values");
    // Labels that come later lower the limit of the values that came before.
    let later = survey(&part(2, 327, 0)).merge(survey(&part(41, 41, 0))).unwrap();
    assert!(!in_json(&later).contains("v326"));
    let plan = TagPlan::new(both, &spec(1e-3)).unwrap();
    assert!(!plan.to_parts().unwrap().json.contains("v7"));
}

/// Whether a column has few values decides on features; a plan that was sent has to know.
#[test]
fn rich_features_are_those_of_one_file() {
    let mut spec = spec(1e-3);
    spec.tag.features = TagFeatures::List("rich".into());
    let text = |n: usize| -> Vec<String> {
        let line = |at: usize| format!("a v{at} L{}\nb v{at} L1\n\n", at % 40);
        vec![(0..n / 2).map(line).collect(), (n / 2..n).map(line).collect()]
    };
    let n_weights = |n: usize| {
        let parts = text(n);
        let whole = read_sequences(source(&parts.concat()), &OPTIONS).unwrap();
        let (_, expected) =
            train(&whole, &TrainSpec { max_passes: Some(1), ..spec.clone() }).unwrap();
        let once = TrainSpec { max_passes: Some(1), ..spec.clone() };
        let (_, report) = learnt(&parts, &once, 0, &mut go_on);
        let n = |report: &lineal::Report| report.structured.as_ref().unwrap().weights;
        assert_eq!(n(&report), n(&expected));
        n(&report)
    };
    // One value more, and the column has no transitions of its own.
    assert!(n_weights(327) > n_weights(328));
}

#[test]
fn parts_that_differ_and_requests_that_cannot_be_met_are_refused() {
    let one = TagSurvey::read(source("a X\n\n"), &OPTIONS).unwrap();
    let two = TagSurvey::read(source("a b X\n\n"), &OPTIONS).unwrap();
    let said = one.clone().merge(two).unwrap_err().to_string();
    assert!(said.contains("all parts must be alike"), "{said}");
    let hinge = TrainSpec { loss: Some(LossKind::Hinge), ..spec(1e-3) };
    let parts = ["a X\n\n".to_owned()];
    let (plan, shards) = plan_and_shards(&parts, &hinge).unwrap();
    let mut ask = |question: Question<'_>, out: &mut [f64]| shards[0].answer(question, out);
    let run = DistributedTagging::new(&plan).run(&mut ask, &mut |_| Ok(Vec::new()));
    let said = run.map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("must be logistic"), "{said}");
    let mut held = spec(1e-3);
    held.validation = 0.2;
    let said = TagPlan::new(one, &held).map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("validation"), "{said}");
}
