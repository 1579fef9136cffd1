//! Parsers: files, constraints, probabilities, sizes.

use lineal::{
    AnyModel, ArcEnd, Ask, DependencyModel, DependencySpec, LabellerKind, LossKind, Source,
    StructuredModel, Task, TrainSpec, Treebank, TreebankOptions, read_treebank, train,
};

fn read(text: &str) -> Treebank {
    let source = Source::Memory { name: "t.conllu".into(), bytes: text.as_bytes().to_vec() };
    read_treebank(source, &TreebankOptions::default()).unwrap()
}

/// Sentences in which the verb is the root, and everything before and after depends on it or on the noun behind.
fn sentences(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let noun = ["dog", "cat", "bank"][i % 3];
        let verb = ["sees", "hears"][i % 2];
        let rows = [
            ("the", "DET", 2, "det"),
            (noun, "NOUN", 3, "nsubj"),
            (verb, "VERB", 0, "root"),
            ("a", "DET", 5, "det"),
            (["tree", "house"][i / 2 % 2], "NOUN", 3, "obj"),
        ];
        for (t, (form, upos, head, relation)) in rows.iter().enumerate() {
            text.push_str(&format!(
                "{}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\t_\n",
                t + 1
            ));
        }
        text.push('\n');
    }
    text
}

fn spec(change: impl FnOnce(&mut TrainSpec)) -> TrainSpec {
    let mut spec =
        TrainSpec::from(DependencySpec { hash_bits: Some(14), ..DependencySpec::default() });
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
    let data = read(&sentences(20));
    for labeller in [LabellerKind::Second, LabellerKind::Joint] {
        let (model, report) = train(&data, &spec(|s| s.dependency.labeller = labeller)).unwrap();
        assert_eq!((report.task, report.examples), (Task::Dependency, 20));
        assert_eq!(model.evaluate(&data).unwrap().las, Some(1.0));
        let bytes = model.to_bytes().unwrap();
        let again = DependencyModel::from_bytes(&bytes).unwrap();
        assert_eq!(again.parse(&data).unwrap(), model.parse(&data).unwrap());
        assert_eq!(again.to_bytes().unwrap(), bytes);
        assert!(matches!(AnyModel::from_bytes(&bytes), Ok(AnyModel::Dependency(_))));
        assert!(lineal::TagModel::from_bytes(&bytes).is_err());
        assert!(lineal::Model::from_bytes(&bytes).is_err());
    }
}

#[test]
fn damaged_files_are_refused() {
    use lineal_model::file::{ModelFile, encode};
    let (model, _) = train(&read(&sentences(5)), &spec(|_| {})).unwrap();
    let bytes = model.to_bytes().unwrap();
    for cut in [0, 7, bytes.len() / 2, bytes.len() - 1] {
        assert!(DependencyModel::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    type Change = fn(&mut serde_json::Value);
    let changes: [Change; 9] = [
        |v| v["schema"]["relations"] = serde_json::json!(["x", "x"]),
        |v| v["schema"]["relations"] = serde_json::json!([]),
        |v| v["tables"][1]["len"] = 17.into(),
        |v| v["tables"][1]["name"] = "leaves".into(),
        |v| v["order"] = 3.into(),
        |v| v["candidates"] = 1.into(),
        |v| v["tables"][0]["step"] = 1.0.into(),
        |v| v["columns"] = serde_json::json!(["colour"]),
        |v| v["spec"]["task"] = "classify".into(),
    ];
    let file = ModelFile::from_bytes(&bytes).unwrap();
    let names =
        ["trees_places", "trees", "relations_places", "relations", "pruner_places", "pruner"];
    for (i, change) in changes.iter().enumerate() {
        let mut about = file.model().clone();
        change(&mut about);
        let tensors: Vec<_> = names
            .iter()
            .map(|name| {
                (*name, file.shape(name).unwrap().to_vec(), file.tensor(name).unwrap().unwrap())
            })
            .collect();
        let changed = encode(&about, &tensors).unwrap();
        assert!(DependencyModel::from_bytes(&changed).is_err(), "change {i}");
    }
}

#[test]
fn known_heads_and_relations_stay() {
    let data = read(&sentences(20));
    // The first word hangs from the verb by a relation that nobody would guess there.
    let given = read(
        "1\tthe\t_\tDET\t_\t_\t3\tobj\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n3\tsees\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n",
    );
    for labeller in [LabellerKind::Second, LabellerKind::Joint] {
        let (model, _) = train(&data, &spec(|s| s.dependency.labeller = labeller)).unwrap();
        // The numbers of relations are those of the model.
        let given = model
            .read(
                Source::Memory { name: "g.conllu".into(), bytes: given.text().into() },
                &TreebankOptions::default(),
            )
            .unwrap();
        let ask = Ask { known: true, n_best: 2, ..Ask::default() };
        let parsed = &model.answer(&given, &ask).unwrap()[0];
        for (heads, relations) in [
            (&parsed.heads, &parsed.relations),
            (&parsed.n_best[1].heads, &parsed.n_best[1].relations),
        ] {
            assert_eq!((heads[0], model.relation(relations[0])), (3, "obj"), "{labeller}");
        }
    }
}

#[test]
fn a_relation_counts_as_known_only_beside_a_known_head() {
    let (model, _) = train(&read(&sentences(20)), &spec(|_| {})).unwrap();
    let parsed = |head: &str| {
        let text = format!(
            "1\tthe\t_\tDET\t_\t_\t{head}\tnovel\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n"
        );
        let source = Source::Memory { name: "g.conllu".into(), bytes: text.into() };
        let data = model.read(source, &TreebankOptions::default()).unwrap();
        model.answer(&data, &Ask { known: true, ..Ask::default() })
    };
    // The relation was an error here, too, although nothing would have come of it.
    assert_eq!(model.relation(parsed("_").unwrap()[0].relations[0]), "det");
    let error = parsed("2").unwrap_err().to_string();
    assert!(error.contains("g.conllu:1: the known relation `novel`"), "{error}");
}

#[test]
fn probabilities_are_those_of_all_trees() {
    let data = read(&sentences(20));
    for labeller in [LabellerKind::Second, LabellerKind::Joint] {
        let spec = spec(|s| {
            crf(s);
            s.dependency.labeller = labeller;
            s.dependency.candidates = Some(0);
            s.dependency.order = Some(1);
        });
        let (model, report) = train(&data, &spec).unwrap();
        assert!(report.gap.is_some());
        let ask = Ask { proba: true, n_best: 1000, min_risk: true, ..Ask::default() };
        let short = data.select(&[0]);
        let parsed = &model.answer(&short, &ask).unwrap()[0];
        for arcs in parsed.arcs.as_ref().unwrap() {
            let sum: f64 = arcs.iter().map(|(_, p)| p).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        }
        assert_eq!(parsed.heads, data.get(0).heads());
        assert_eq!(model.relation(parsed.relations[0]), "det");
        if labeller == LabellerKind::Second {
            // Every projective tree of five words with one root is in the list.
            let sum: f64 = parsed.n_best.iter().map(|tree| tree.probability.unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{sum} of {}", parsed.n_best.len());
        }
    }
}

#[test]
fn data_of_another_task_is_refused() {
    let data = read(&sentences(3));
    let error = train(&data, &TrainSpec::default()).err().unwrap().to_string();
    assert!(error.contains("not for the task classify"), "{error}");
    let roots = read("1\ta\t_\tX\t_\t_\t0\tx\t_\t_\n2\tb\t_\tX\t_\t_\t0\tx\t_\t_\n\n");
    let error = train(&roots, &spec(|_| {})).err().unwrap().to_string();
    assert!(error.contains("t.conllu:2") && error.contains("second root"), "{error}");
    let templates = spec(|s| s.dependency.templates = Some("[arcs]\nh.upos m.upos\n".into()));
    let error = train(&data, &templates).err().unwrap().to_string();
    assert!(error.contains("[heads]"), "{error}");
}

#[test]
fn constraints_are_checked() {
    let data = read(&sentences(5));
    let noun = |name: &str| ArcEnd::Tag(name.into());
    for (arc, message) in [
        ((noun("NOON"), ArcEnd::Any), "has the part of speech `NOON`"),
        ((ArcEnd::Root, ArcEnd::Any), "leave no tree"),
    ] {
        let forbidden = vec![arc];
        let error = train(&data, &spec(|s| s.dependency.forbidden = forbidden)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let forbidden = vec![(noun("VERB"), noun("NOUN"))];
    let (model, report) = train(&data, &spec(|s| s.dependency.forbidden = forbidden)).unwrap();
    assert!(report.warnings.iter().any(|w| w.contains("10 arcs")), "{:?}", report.warnings);
    for parsed in model.parse(&data).unwrap() {
        assert!(parsed.heads[1] != 3 && parsed.heads[4] != 3, "{:?}", parsed.heads);
    }
    let given = |misc: &str| {
        let text =
            format!("1\tthe\t_\tDET\t_\t_\t_\t_\t_\t{misc}\n2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n");
        let data = read(&text);
        model.answer(&data, &Ask { known: true, ..Ask::default() })
    };
    assert_eq!(given("NotHead=2").unwrap()[0].heads, [0, 1]);
    for wrong in ["NotHead=two", "NotHead=3", "NotHead="] {
        assert!(given(wrong).unwrap_err().to_string().contains("NotHead has"), "{wrong}");
    }
}
