//! Taggers: files, probabilities, constraints, explanations, sizes.

use lineal::metrics::TagSet;
use lineal::{
    Ask, LossKind, SchemeKind, SequenceOptions, Sequences, Source, StructuredModel, TagFeatures,
    TagModel, Task, TrainSpec, Training, UNLABELLED, WeightsKind, read_sequences,
};
use lineal_model::file::{ModelFile, TensorData, encode};

fn read(name: &str, text: &str) -> Sequences {
    read_with(name, text, &SequenceOptions::default())
}

fn read_with(name: &str, text: &str, options: &SequenceOptions) -> Sequences {
    let source = Source::Memory { name: name.into(), bytes: text.as_bytes().to_vec() };
    read_sequences(source, options).unwrap()
}

/// Names of people and places in made-up sentences: which word comes decides the label, not always at once.
fn sentences(n: usize) -> String {
    const FIRST: [&str; 4] = ["Ann", "Bob", "Cara", "Paris"];
    const LAST: [&str; 4] = ["Smith", "Hill", "York", "Lane"];
    const PLACE: [&str; 4] = ["Paris", "New York", "Rome", "Hill Lane"];
    let mut state = 7u64;
    let mut pick = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % n) as usize
    };
    let mut text = String::new();
    for _ in 0..n {
        let mut put = |word: &str, label: &str| text.push_str(&format!("{word} {label}\n"));
        if pick(3) > 0 {
            put(FIRST[pick(4)], "B-PER");
            if pick(2) == 0 {
                put(LAST[pick(4)], "I-PER");
            }
            put(["lives", "works", "sat"][pick(3)], "O");
            put("in", "O");
        } else {
            put("near", "O");
        }
        for (i, word) in PLACE[pick(4)].split(' ').enumerate() {
            put(word, if i == 0 { "B-LOC" } else { "I-LOC" });
        }
        text.push('\n');
    }
    text
}

fn tagging() -> TrainSpec {
    TrainSpec::for_task(Task::Tag)
}

fn change(mut spec: TrainSpec, by: impl FnOnce(&mut TrainSpec)) -> TrainSpec {
    by(&mut spec);
    spec
}

fn crf() -> TrainSpec {
    change(tagging(), |s| {
        s.tag.features = TagFeatures::List("word,suffix:2,window:1".into());
        s.solver = lineal::SolverKind::Sgd
    })
}

fn train(data: &Sequences, spec: &TrainSpec) -> TagModel {
    Training::new(data, spec).run().unwrap().0
}

fn specs() -> Vec<(&'static str, TrainSpec)> {
    let with = |change: &dyn Fn(&mut TrainSpec)| {
        let mut spec = crf();
        change(&mut spec);
        spec
    };
    vec![
        ("crf", crf()),
        ("perceptron", with(&|s| s.loss = Some(LossKind::Perceptron))),
        ("hinge", with(&|s| s.loss = Some(LossKind::Hinge))),
        ("hashed", with(&|s| s.tag.hash_bits = Some(8))),
        ("order 2", with(&|s| s.tag.order = 2)),
        ("scheme", with(&|s| s.tag.scheme = Some(SchemeKind::Bio))),
        ("no ends", with(&|s| s.tag.ends = false)),
        ("observed", with(&|s| s.tag.weights = WeightsKind::Observed)),
        ("rare words out", with(&|s| s.tag.min_count = 3)),
        (
            "transitions by word",
            with(&|s| {
                s.tag.features = TagFeatures::Templates("U0:%x[0,0]\nB1:%x[0,0]\nB\n".into());
            }),
        ),
        (
            "rich",
            with(&|s| {
                s.tag.features = TagFeatures::List("rich".into());
                s.tag.bias = Some(true);
            }),
        ),
        ("labels alone", with(&|s| s.tag.features = TagFeatures::Templates("U0:%x[0,0]\n".into()))),
    ]
}

#[test]
fn files_come_back_as_they_were_at_any_number_of_threads() {
    let data = read("train.conll", &sentences(60));
    for (name, spec) in specs() {
        let bytes = |threads| {
            lineal::with_threads(Some(threads), || train(&data, &spec).to_bytes().unwrap())
        };
        let (one, two) = (bytes(1), bytes(2));
        assert!(one == two, "{name}: other bytes with two threads");
        let model = train(&data, &spec);
        let again = TagModel::from_bytes(&one).unwrap();
        assert_eq!(model.tag(&data).unwrap(), again.tag(&data).unwrap(), "{name}");
        assert_eq!(again.to_bytes().unwrap(), one, "{name}");
        assert!(again.evaluate(&data).unwrap().token_accuracy > 0.8, "{name}");
    }
}

#[test]
fn named_attributes_are_features_as_they_stand() {
    let mut text = String::new();
    for (i, line) in sentences(30).lines().enumerate() {
        match line.split_once(' ') {
            Some((word, label)) => {
                text.push_str(&format!("{label}\tw={word}\tn\\:{}:0.5\n", i % 3))
            }
            None => text.push('\n'),
        }
    }
    let data = read("train.crfsuite", &text);
    for hash_bits in [None, Some(10)] {
        let spec = change(crf(), |s| {
            s.tag.features = TagFeatures::Default;
            s.tag.hash_bits = hash_bits
        });
        let model = train(&data, &spec);
        assert!(model.evaluate(&data).unwrap().span_f1.unwrap() > 0.8);
        let again = TagModel::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.tag(&data).unwrap(), model.tag(&data).unwrap());
        assert!(
            model.notable().iter().any(|n| n.attributes.iter().any(|(name, _)| name == "w=Rome"))
        );
        let why = again.explain(data.get(0), Some(0), None).unwrap();
        assert!(why[0].reasons.iter().any(|reason| reason.what.starts_with("w=")));
    }
    let error = Training::new(&data, &crf()).run().unwrap_err().to_string();
    assert!(error.contains("leave them out"), "{error}");
    // The bias is an attribute that could as well stand in the file.
    let written = read("train.crfsuite", &text.replace("\tw=", "\t(bias)\tw="));
    let spec = change(crf(), |s| s.tag.features = TagFeatures::Default);
    let without = change(spec.clone(), |s| s.tag.bias = Some(false));
    let (own, given) = (train(&data, &spec), train(&written, &without));
    assert_eq!(own.n_weights(), given.n_weights());
    let objective = |model: &TagModel| model.report().objective;
    assert!((objective(&own) - objective(&given)).abs() < 1e-6);
    assert!(objective(&train(&data, &without)) != objective(&own));
    assert!(own.notable().iter().any(|n| n.attributes.iter().any(|(name, _)| name == "(bias)")));
    let ask = Ask { proba: true, ..Ask::default() };
    let again = TagModel::from_bytes(&own.to_bytes().unwrap()).unwrap();
    assert_eq!(again.answer(&data, &ask).unwrap(), own.answer(&data, &ask).unwrap());
    let bad = read("bad.crfsuite", "A\tx:1\nB\ty:one\n");
    let error = Training::new(&bad, &tagging()).run().unwrap_err().to_string();
    assert!(
        error.starts_with("bad.crfsuite:2: attribute `y`: `one` is not a finite number"),
        "{error}"
    );
}

#[test]
fn probabilities_are_those_of_all_sequences_together() {
    let data = read("train.conll", &sentences(40));
    for (name, spec) in specs().into_iter().filter(|(_, spec)| spec.loss.is_none()) {
        // Weak weights, so that nothing is certain.
        let spec = change(spec, |s| s.penalty = lineal::Penalty::L2(0.05));
        let model = train(&data, &spec);
        let k = model.labels().len();
        let tags = TagSet::new(model.labels());
        let short = read(
            "short.conll",
            "Ann B-PER\nYork I-PER\nsat O\n\nParis B-LOC\nLane I-LOC\nin O\nin O\n",
        );
        let short = model
            .read(
                Source::Memory {
                    name: "s.conll".into(),
                    bytes: (0..short.len())
                        .map(|i| short.raw(i))
                        .collect::<Vec<_>>()
                        .join("\n")
                        .into_bytes(),
                },
                &SequenceOptions::default(),
            )
            .unwrap();
        let ask = Ask { proba: true, n_best: k.pow(4), ..Ask::default() };
        for (sequence, tagged) in short.iter().zip(model.answer(&short, &ask).unwrap()) {
            let all = &tagged.n_best;
            let p = |i: usize| all[i].probability.unwrap();
            let sum: f64 = (0..all.len()).map(p).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{name}: {sum}");
            assert_eq!(all[0].labels, tagged.labels, "{name}");
            assert!((p(0) - tagged.probability.unwrap()).abs() < 1e-12);
            let marginals = tagged.marginals.as_ref().unwrap();
            for t in 0..sequence.len() {
                for label in 0..k as u32 {
                    let sum: f64 =
                        (0..all.len()).filter(|&i| all[i].labels[t] == label).map(p).sum();
                    assert!((marginals[t * k + label as usize] - sum).abs() < 1e-9, "{name}");
                }
            }
            for found in &tagged.spans {
                let (start, end) = (found.span.start, found.span.end);
                let has = |labels: &[u32]| {
                    tags.spans(labels).contains(&found.span)
                        && labels[start..end] == tagged.labels[start..end]
                };
                let sum: f64 = (0..all.len()).filter(|&i| has(&all[i].labels)).map(p).sum();
                assert!(
                    (found.probability - sum).abs() < 1e-9,
                    "{name}: {} {sum}",
                    found.probability
                );
            }
            let ask = Ask { min_risk: true, proba: true, ..Ask::default() };
            let min_risk = lineal::Tagger::new(&model).tag(sequence, &ask).unwrap();
            let expected = |labels: &[u32]| -> f64 {
                labels.iter().enumerate().map(|(t, &l)| marginals[t * k + l as usize]).sum()
            };
            let best = all.iter().map(|r| expected(&r.labels)).fold(0.0, f64::max);
            assert!((expected(&min_risk.labels) - best).abs() < 1e-9, "{name}");
        }
    }
}

#[test]
fn samples_follow_the_seed_and_the_distribution() {
    let data = read("train.conll", &sentences(40));
    let model = train(&data, &change(crf(), |s| s.penalty = lineal::Penalty::L2(0.2)));
    let draw = |seed| {
        let ask = Ask { sample: Some(seed), ..Ask::default() };
        model.answer(&data, &ask).unwrap().into_iter().map(|t| t.labels).collect::<Vec<_>>()
    };
    assert_eq!(draw(3), draw(3));
    let first: Vec<u32> = (0..400).map(|seed| draw(seed)[0][0]).collect();
    let ask = Ask { proba: true, ..Ask::default() };
    let marginals = model.answer(&data, &ask).unwrap()[0].marginals.clone().unwrap();
    for label in 0..model.labels().len() {
        let share = first.iter().filter(|&&l| l as usize == label).count() as f64 / 400.0;
        assert!((share - marginals[label]).abs() < 0.1, "{share} {}", marginals[label]);
    }
}

#[test]
fn a_margin_has_no_probabilities() {
    let data = read("train.conll", &sentences(20));
    let model = train(&data, &change(crf(), |s| s.loss = Some(LossKind::Perceptron)));
    let error = model.answer(&data, &Ask { proba: true, ..Ask::default() }).unwrap_err();
    assert!(error.to_string().contains("train with spec.loss = logistic"), "{error}");
    let best = model.answer(&data, &Ask { n_best: 3, ..Ask::default() }).unwrap();
    assert!(best[0].n_best.len() == 3 && best[0].n_best[0].score >= best[0].n_best[1].score);
    assert_eq!(best[0].n_best[0].probability, None);
}

#[test]
fn known_labels_are_kept_and_impossible_ones_named() {
    let data = read("train.conll", &sentences(60));
    let model = train(&data, &change(crf(), |s| s.tag.scheme = Some(SchemeKind::Bio)));
    let options = SequenceOptions { unlabelled: Some("_".into()), ..SequenceOptions::default() };
    let with = |text: &str| {
        let source = Source::Memory { name: "new.conll".into(), bytes: text.into() };
        let data = model.read(source, &options).unwrap();
        model.answer(&data, &Ask { known: true, ..Ask::default() })
    };
    let names = |labels: &[u32]| labels.iter().map(|&l| model.label(l)).collect::<Vec<_>>();
    let tagged = with("Paris _\nsat _\nin _\nRome B-PER\n").unwrap();
    assert_eq!(names(&tagged[0].labels), ["B-PER", "O", "O", "B-PER"]);
    // An inside of a place needs a place before it.
    let tagged = with("Ann _\nsat I-LOC\n").unwrap();
    assert_eq!(names(&tagged[0].labels), ["B-LOC", "I-LOC"]);
    let error = with("Ann _\n\nAnn O\nsat _\nin O\nRome I-LOC\n").unwrap_err().to_string();
    assert!(
        error.starts_with("new.conll:6: no label is possible for token 4 of sequence 2"),
        "{error}"
    );
    let error = with("Ann Q\n").unwrap_err().to_string();
    assert!(error.starts_with("new.conll:1: `Q` is not a label of the model"), "{error}");
}

#[test]
fn gold_labels_that_a_scheme_forbids_are_named() {
    let data = read("bad.conll", "a O\nb B-X\n\na O\nb I-X\n");
    let spec = change(crf(), |s| s.tag.scheme = Some(SchemeKind::Bio));
    let error = Training::new(&data, &spec).run().unwrap_err().to_string();
    assert!(error.starts_with("bad.conll:5: the label `I-X` of token 2 of sequence 2"), "{error}");
    let data = read("bad.conll", "a O\nb Q-X\n");
    let error = Training::new(&data, &spec).run().unwrap_err().to_string();
    assert!(error.contains("label `Q-X` does not fit the scheme bio"), "{error}");
}

#[test]
fn a_scheme_allows_no_illegal_span() {
    let data = read("train.conll", &sentences(60));
    let model = train(
        &data,
        &change(crf(), |s| {
            s.tag.scheme = Some(SchemeKind::Bio);
            s.sgd.epochs = 1
        }),
    );
    let metrics = model.evaluate(&data).unwrap();
    assert_eq!(metrics.illegal, Some(0));
    assert_eq!(train(&data, &crf()).evaluate(&data).unwrap().illegal, None);
}

#[test]
fn reasons_add_up_to_the_lead() {
    let data = read("train.conll", &sentences(50));
    for (name, spec) in specs() {
        let model = train(&data, &spec);
        for sequence in data.iter().take(6) {
            let best = lineal::Tagger::new(&model).tag(sequence, &Ask::default()).unwrap();
            for (t, why) in model.explain(sequence, None, None).unwrap().iter().enumerate() {
                assert_eq!(why.label, model.label(best.labels[t]), "{name}");
                assert!(why.lead >= -1e-6, "{name}: {}", why.lead);
                if why.other.is_some() {
                    let sum: f64 = why.reasons.iter().map(|r| r.difference()).sum();
                    assert!((sum - why.lead).abs() < 1e-4, "{name}: {sum} {}", why.lead);
                    assert_ne!(why.other.as_deref(), Some(&why.label[..]));
                }
            }
        }
        let error = model.explain(data.get(0), Some(99), None).unwrap_err().to_string();
        assert!(error.contains("no token 100"), "{error}");
    }
}

#[test]
fn labels_that_are_missing_or_new_are_counted_apart() {
    let data = read("train.conll", &sentences(60));
    let model = train(&data, &crf());
    let metrics = |text: &str, options: &SequenceOptions| {
        let source = Source::Memory { name: "test.conll".into(), bytes: text.into() };
        model.evaluate(&model.read(source, options).unwrap())
    };
    let new = metrics("Ann B-PER\nsat O\nin O\nRome B-GPE\n", &SequenceOptions::default()).unwrap();
    assert_eq!((new.unseen, new.tokens, new.token_accuracy), (1, 4, 0.75));
    assert_eq!((new.types["GPE"].gold, new.types["GPE"].found, new.types["LOC"].gold), (1, 0, 0));
    assert_eq!(new.sentence_accuracy, 0.0);
    let some = SequenceOptions { unlabelled: Some("_".into()), ..SequenceOptions::default() };
    let part = metrics("Ann B-PER\nsat _\n\nAnn B-PER\n", &some).unwrap();
    assert_eq!((part.unlabelled, part.tokens, part.token_accuracy), (1, 2, 1.0));
    assert!(
        metrics("Ann _\n", &some).unwrap_err().to_string().contains("no labels to compare with")
    );
}

#[test]
fn unlabelled_positions_are_learnt_around() {
    // Every second label is gone, and the words still tell.
    let text = sentences(120);
    let hidden: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| match line.split_once(' ') {
            Some((word, _)) if i % 2 == 0 => format!("{word} _\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let options = SequenceOptions { unlabelled: Some("_".into()), ..SequenceOptions::default() };
    let data = read_with("part.conll", &hidden, &options);
    let whole = read("whole.conll", &text);
    assert!(data.gold().iter().filter(|&&g| g == UNLABELLED).count() > data.n_tokens() / 3);
    for loss in [LossKind::Logistic, LossKind::Perceptron, LossKind::Hinge] {
        let model = train(&data, &change(crf(), |s| s.loss = Some(loss)));
        let source = Source::Memory { name: "t.conll".into(), bytes: text.clone().into() };
        let read = model.read(source, &SequenceOptions::default()).unwrap();
        let accuracy = model.evaluate(&read).unwrap().token_accuracy;
        assert!(accuracy > 0.9, "{loss}: {accuracy}");
        assert!(
            model.report().structured.as_ref().unwrap().unlabelled > 0 && whole.len() == read.len()
        );
    }
}

#[test]
fn a_model_can_be_made_small() {
    let data = read("train.conll", &sentences(200));
    let spec = change(crf(), |s| {
        s.tag.features = TagFeatures::List("word,lower,prefix:1-4,suffix:1-4,window:2".into())
    });
    let model = train(&data, &spec);
    let size = model.to_bytes().unwrap().len() as u64;
    let json = {
        // What no shrinking takes away.
        let empty = model.shrink(1).unwrap_err().to_string();
        assert!(empty.contains("cannot be made as small as 1 bytes"), "{empty}");
        empty.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(model.shrink(size).unwrap().to_bytes().unwrap(), model.to_bytes().unwrap());
    for max in [json + (size - json) * 3 / 4, json + (size - json) / 3, json] {
        let small = model.shrink(max).unwrap();
        let bytes = small.to_bytes().unwrap();
        assert!(bytes.len() as u64 <= max, "{} {max}", bytes.len());
        let again = TagModel::from_bytes(&bytes).unwrap();
        assert_eq!(again.tag(&data).unwrap(), small.tag(&data).unwrap());
        assert!(small.n_weights() <= model.n_weights());
    }
    let third = model.shrink(json + (size - json) / 3).unwrap();
    assert!(
        third.n_weights() > model.n_weights() / 6,
        "{} {}",
        third.n_weights(),
        model.n_weights()
    );
    assert!(third.evaluate(&data).unwrap().token_accuracy > 0.95);
}

#[test]
fn a_run_can_start_from_a_model() {
    let data = read("train.conll", &sentences(60));
    let spec = change(crf(), |s| {
        s.loss = Some(LossKind::Perceptron);
        s.sgd.average = Some(false);
        s.sgd.epochs = 60
    });
    let (model, report) = Training::new(&data, &spec).run().unwrap();
    assert!(report.converged);
    // Other sequences first and a label that was not there: what is the same is found again.
    let text = format!("York B-X\n\n{}", sentences(60));
    let more = read("more.conll", &text);
    let (_, again) = Training::new(&more, &spec).start_from(&model).run().unwrap();
    assert!(again.updates < report.updates, "{:?} {:?}", again.updates, report.updates);
    let (_, same) = Training::new(&data, &spec).start_from(&model).run().unwrap();
    assert_eq!((same.updates, same.passes), (Some(0), 1));
    let other = change(spec, |s| s.tag.features = TagFeatures::List("word".into()));
    let error = Training::new(&data, &other).start_from(&model).run().err().unwrap().to_string();
    assert!(error.contains("other templates"), "{error}");
}

#[test]
fn patience_keeps_the_best_pass() {
    let data = read("train.conll", &sentences(80));
    let spec = change(crf(), |s| {
        s.validation = 0.25;
        s.patience = Some(2);
        s.sgd.epochs = 30
    });
    let (model, report) = Training::new(&data, &spec).run().unwrap();
    assert!(report.passes < 30 && report.curve.iter().all(|p| p.held_out_metric.is_some()));
    let best = report.curve.iter().map(|p| p.held_out_metric.unwrap()).fold(0.0, f64::max);
    let kept = report.best_pass.unwrap_or(report.passes);
    assert_eq!(report.curve[kept - 1].held_out_metric, Some(best));
    assert_eq!(report.examples, 60);
    assert!(model.evaluate(&data).unwrap().token_accuracy > 0.9);
}

#[test]
fn hostile_requests_are_refused() {
    let data = read("train.conll", "a DT B\nb NN I\n");
    let fails = |spec: &TrainSpec, want: &str| {
        let error =
            Training::new(&data, spec).run().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(want), "{error}");
    };
    let templates =
        |text: &str| change(tagging(), |s| s.tag.features = TagFeatures::Templates(text.into()));
    fails(&templates("U0:%x[0,7]\n"), "the templates read column 7, but the data has 3");
    fails(&templates("U0:%x[0,2]\n"), "the templates read column 2, which is the label");
    fails(&templates("X\n"), "template line 1");
    fails(&change(tagging(), |s| s.tag.order = 3), "spec.tag.order = 3");
    fails(&change(tagging(), |s| s.tag.hash_bits = Some(40)), "spec.tag.hash_bits = 40");
    fails(&change(tagging(), |s| s.loss = Some(LossKind::Squared)), "spec.loss = squared");
    fails(&change(tagging(), |s| s.solver = lineal::SolverKind::Newton), "spec.solver = newton");
    fails(&change(tagging(), |s| s.patience = Some(1)), "held-out");
    fails(&change(tagging(), |s| s.validation = 0.1), "at least two");
}

/// A run without an objective can leave the range of its numbers, too: what it says is an error, not a model that nobody can load.
#[test]
fn weights_beyond_all_bounds_are_an_error() {
    let data = read("a.conll", &sentences(5));
    let mut n_refused = 0;
    for rate in [1e30, 1e38, 1e300] {
        for passive in [None, Some(1e300)] {
            let spec = change(tagging(), |spec| {
                spec.loss = Some(LossKind::Perceptron);
                spec.solver = lineal::SolverKind::Sgd;
                spec.sgd.rate = passive.is_none().then_some(rate);
                spec.sgd.passive_aggressive = passive;
            });
            match lineal::train(&data, &spec) {
                Ok((model, _)) => drop(TagModel::from_bytes(&model.to_bytes().unwrap()).unwrap()),
                Err(why) => {
                    n_refused += 1;
                    assert!(why.to_string().contains("became"), "{why}");
                }
            }
        }
    }
    assert!(n_refused > 0);
}

#[test]
fn one_token_and_many() {
    let one = read("one.conll", "word X\n");
    for loss in [LossKind::Perceptron, LossKind::Hinge, LossKind::Logistic] {
        let (model, report) =
            Training::new(&one, &change(crf(), |s| s.loss = Some(loss))).run().unwrap();
        assert_eq!(model.tag(&one).unwrap()[0].labels, [0]);
        assert!(report.warnings.iter().any(|w| w.contains("same label")), "{:?}", report.warnings);
    }
    let small = read("train.conll", &sentences(30));
    let model = train(&small, &crf());
    let long: String = sentences(25_000)
        .lines()
        .filter(|l| !l.is_empty())
        .map(|l| format!("{l}\n"))
        .take(100_000)
        .collect();
    let source = Source::Memory { name: "long.conll".into(), bytes: long.into() };
    let long = model.read(source, &SequenceOptions::default()).unwrap();
    assert_eq!((long.len(), long.n_tokens()), (1, 100_000));
    let ask = Ask { proba: true, n_best: 2, ..Ask::default() };
    let tagged = &model.answer(&long, &ask).unwrap()[0];
    assert!(tagged.marginals.as_ref().unwrap().iter().all(|p| (0.0..=1.000001).contains(p)));
    assert!(tagged.n_best[0].score >= tagged.n_best[1].score);
    assert!(model.compare(&long, std::slice::from_ref(tagged)).unwrap().token_accuracy > 0.9);
    let (model, _) = Training::new(&long, &change(crf(), |s| s.sgd.epochs = 2)).run().unwrap();
    assert!(model.evaluate(&long).unwrap().token_accuracy > 0.9);
}

#[test]
fn damaged_files_are_refused() {
    let data = read("train.conll", &sentences(20));
    let model = train(&data, &change(crf(), |s| s.tag.scheme = Some(SchemeKind::Bio)));
    let bytes = model.to_bytes().unwrap();
    for cut in [0, 7, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(TagModel::from_bytes(&bytes[..cut]).is_err());
    }
    let file = ModelFile::from_bytes(&bytes).unwrap();
    // The same file with another description, or another tensor, and a right checksum.
    let with = |about: &dyn Fn(&mut serde_json::Value),
                name: &str,
                other: Option<(Vec<usize>, Vec<u8>)>| {
        let mut says = file.model().clone();
        about(&mut says);
        let mut tensors = Vec::new();
        for tensor in file.names().into_iter().filter(|n| !n.starts_with("__pad")) {
            match &other {
                Some((shape, bytes)) if tensor == name => {
                    tensors.push((tensor, shape.clone(), TensorData::U8(bytes)));
                }
                _ if tensor == name => {}
                _ => tensors.push((
                    tensor,
                    file.shape(tensor).unwrap().to_vec(),
                    file.tensor(tensor).unwrap().unwrap(),
                )),
            }
        }
        TagModel::from_bytes(&encode(&says, &tensors).unwrap())
    };
    let same = |_: &mut serde_json::Value| {};
    assert!(with(&same, "", None).is_ok());
    for name in ["counts", "columns", "weights", "shared", "hashes"] {
        assert!(with(&same, name, None).is_err(), "{name}");
        assert!(with(&same, name, Some((vec![2, 1], vec![255, 255]))).is_err(), "{name}");
        assert!(with(&same, name, Some((vec![0, 4], vec![]))).is_err(), "{name}");
    }
    type Change = fn(&mut serde_json::Value);
    let changes: [Change; 12] = [
        |v| v["schema"]["labels"] = serde_json::json!(["O", "O"]),
        |v| v["schema"]["labels"] = serde_json::json!([]),
        |v| v["schema"]["labels"] = serde_json::json!(vec!["x"; 3]),
        |v| v["schema"]["label"] = 9.into(),
        |v| v["schema"]["columns"] = serde_json::json!(["0"]),
        |v| v["schema"]["format"] = "csv".into(),
        |v| v["templates"] = "U0:%x[0,900]\n".into(),
        |v| v["templates"] = "nonsense".into(),
        |v| v["hashed"] = 31.into(),
        |v| v["spec"]["tag"]["order"] = 2.into(),
        |v| v["transitions"] = false.into(),
        |v| v["step"] = 1.0.into(),
    ];
    for (i, change) in changes.iter().enumerate() {
        assert!(with(change, "", None).is_err(), "change {i}");
    }
    let error = lineal::Model::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("tag"), "{error}");
}
