//! Bracketed trees: files, raw sentences, known brackets, probabilities, sizes.

use lineal::{
    AnyModel, Ask, BracketTreebank, ConstituencyModel, ConstituencySpec, LossKind, Source,
    StructuredModel, Task, TrainSpec, constituency_options, read_brackets, train,
};

fn read(text: &str) -> BracketTreebank {
    let source = Source::Memory { name: "t.mrg".into(), bytes: text.as_bytes().to_vec() };
    read_brackets(source, &constituency_options()).unwrap()
}

fn trees(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let noun = ["dog", "cat", "bank"][i % 3];
        let verb = ["sees", "hears"][i % 2];
        let object =
            ["(NP (DT a) (NN tree))", "(NP (NP (DT a) (NN house)) (PP (IN of) (NP (NN stone))))"]
                [i / 2 % 2];
        text.push_str(&format!(
            "(TOP (S (NP-SBJ (DT the) (NN {noun})) (VP (VBZ {verb}) {object}) (. .)))\n"
        ));
    }
    text
}

fn spec(change: impl FnOnce(&mut TrainSpec)) -> TrainSpec {
    let mut spec =
        TrainSpec::from(ConstituencySpec { hash_bits: Some(14), ..ConstituencySpec::default() });
    change(&mut spec);
    spec
}

fn crf(spec: &mut TrainSpec) {
    spec.loss = Some(LossKind::Logistic);
    spec.sgd.passive_aggressive = None;
    spec.max_passes = Some(20);
}

#[test]
fn a_file_comes_back_and_parses_the_same() {
    let data = read(&trees(24));
    for (horizontal, vertical, candidates) in [(0, 1, None), (1, 2, None), (0, 2, Some(0))] {
        let (model, report) = train(
            &data,
            &spec(|s| {
                s.constituency.horizontal = horizontal;
                s.constituency.vertical = vertical;
                s.constituency.candidates = candidates;
            }),
        )
        .unwrap();
        assert_eq!((report.task, report.examples), (Task::Constituency, 24));
        assert_eq!(model.evaluate(&data).unwrap().all.f1, 1.0);
        let bytes = model.to_bytes().unwrap();
        let again = ConstituencyModel::from_bytes(&bytes).unwrap();
        assert_eq!(again.parse(&data).unwrap(), model.parse(&data).unwrap());
        assert_eq!(again.to_bytes().unwrap(), bytes);
        assert!(matches!(AnyModel::from_bytes(&bytes), Ok(AnyModel::Constituency(_))));
        assert!(lineal::DependencyModel::from_bytes(&bytes).is_err());
        // Most of so small a file is its tagger and its description.
        assert_eq!(model.shrink(bytes.len() as u64).unwrap().to_bytes().unwrap(), bytes);
        assert!(model.shrink(1000).unwrap_err().to_string().contains("cannot be made as small"));
    }
}

#[test]
fn damaged_files_are_refused() {
    use lineal_model::file::{ModelFile, encode};
    let (model, _) = train(&read(&trees(6)), &spec(|_| {})).unwrap();
    let bytes = model.to_bytes().unwrap();
    for cut in [0, 7, bytes.len() / 2, bytes.len() - 1] {
        assert!(ConstituencyModel::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    type Change = fn(&mut serde_json::Value);
    let changes: [Change; 6] = [
        |v| v["schema"]["labels"] = serde_json::json!(["x", "x"]),
        |v| v["labels"] = serde_json::json!([]),
        |v| v["tables"][1]["len"] = 17.into(),
        |v| v["candidates"] = 0.into(),
        |v| v["spec"]["constituency"]["templates"] = "[nothing]".into(),
        |v| v["spec"]["task"] = "classify".into(),
    ];
    let file = ModelFile::from_bytes(&bytes).unwrap();
    for (i, change) in changes.iter().enumerate() {
        let mut about = file.model().clone();
        change(&mut about);
        let tensors: Vec<_> = file
            .names()
            .into_iter()
            .map(|name| {
                (name, file.shape(name).unwrap().to_vec(), file.tensor(name).unwrap().unwrap())
            })
            .collect();
        let changed = encode(&about, &tensors).unwrap();
        assert!(ConstituencyModel::from_bytes(&changed).is_err(), "change {i}");
    }
}

#[test]
fn raw_sentences_are_tagged_and_parsed() {
    let (model, _) = train(&read(&trees(24)), &spec(|_| {})).unwrap();
    let raw = Source::Memory {
        name: "raw.txt".into(),
        bytes: b"the cat hears a tree .\nwords nobody knows\n".to_vec(),
    };
    let raw = model.read(raw, &constituency_options()).unwrap();
    let parsed = model.parse(&raw).unwrap();
    assert_eq!(parsed[0].tags, ["DT", "NN", "VBZ", "DT", "NN", "."]);
    assert_eq!(parsed[0].phrases[0].label, "S");
    assert_eq!(parsed[1].tags.len(), 3);
}

#[test]
fn known_brackets_hold() {
    let (model, _) = train(&read(&trees(24)), &spec(|_| {})).unwrap();
    let known = |text: &str| {
        let source = Source::Memory { name: "k.mrg".into(), bytes: text.as_bytes().to_vec() };
        let data = model.read(source, &constituency_options()).unwrap();
        model.answer(&data, &Ask { known: true, ..Ask::default() })
    };
    let text = "(_ (DT the) (_ (NN dog) (VBZ sees)) (DT a) (NN tree) (. .))\n";
    let parsed = &known(text).unwrap()[0];
    assert!(parsed.phrases.iter().any(|p| (p.start, p.end) == (1, 3)), "{:?}", parsed.phrases);
    let error = known("(QP (DT the) (NN dog))\n").unwrap_err().to_string();
    assert!(error.contains("is not one of the model's"), "{error}");
}

#[test]
fn probabilities_and_rivals() {
    let data = read(&trees(12));
    let (model, report) = train(&data, &spec(crf)).unwrap();
    assert!(report.gap.is_some(), "{}", report.certificate());
    let ask = Ask { proba: true, n_best: 3, ..Ask::default() };
    for parsed in model.answer(&data, &ask).unwrap() {
        let p = parsed.probability.unwrap();
        assert!(p > 0.0 && p <= 1.0);
        assert!((parsed.n_best[0].probability.unwrap() - p).abs() < 1e-9);
        for phrase in &parsed.phrases {
            assert!(parsed.phrase_probability(phrase).unwrap() >= p - 1e-9);
        }
    }
    for one in model.explain(&data, 0, None).unwrap() {
        let sum: f64 = one.reasons.iter().map(|reason| reason.amount).sum();
        if one.instead.is_some() {
            assert!((sum - one.lead).abs() < 1e-4 * (1.0 + one.lead.abs()), "{one:?}");
        }
    }
    let (model, _) = train(&data, &spec(|_| {})).unwrap();
    assert!(model.answer(&data, &ask).is_err());
}

#[test]
fn pairs_that_come_twice_in_a_tree_have_a_crf() {
    let data = read("(NP (NP (JJ A) (NN B)) (CC and) (NP (JJ C) (NN D)))\n(NP (NN B))\n");
    let (model, report) = train(&data, &spec(crf)).unwrap();
    assert!(report.objective.is_finite() && report.gap.is_some(), "{}", report.certificate());
    assert_eq!(model.evaluate(&data).unwrap().all.f1, 1.0);
}
