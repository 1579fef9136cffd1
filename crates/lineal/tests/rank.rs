//! Rankings: every loss, files, tables, explanations.

use lineal::{
    AnyModel, FeatureSpec, LossKind, RankKind, RankModel, RankSpec, RankedRows, ReadOptions,
    ScheduleKind, SolverKind, Source, StructuredModel, Task, TrainSpec, rank_options, read_ranking,
    train,
};

fn read(name: &str, text: &str, options: &ReadOptions) -> RankedRows {
    let source = Source::Memory { name: name.into(), bytes: text.as_bytes().to_vec() };
    read_ranking(source, options, &FeatureSpec::default()).unwrap()
}

/// Queries whose grades follow the first feature; the second is noise.
fn letor(n_queries: usize) -> String {
    let mut text = String::new();
    for q in 0..n_queries {
        for d in 0..6 {
            let (grade, noise) = (d / 2, (q * 7 + d * 5) % 11);
            let x = grade as f64 + 0.05 * ((q + d) % 4) as f64;
            text.push_str(&format!("{grade} qid:{q} 1:{x} 2:{}\n", noise as f64 / 10.0));
        }
    }
    text
}

fn spec(kind: RankKind, loss: Option<LossKind>) -> TrainSpec {
    let rank = RankSpec { kind, ..RankSpec::default() };
    TrainSpec { loss, ..TrainSpec::from(rank) }
}

#[test]
fn every_loss_orders_what_can_be_ordered() {
    let data = read("t.letor", &letor(8), &rank_options());
    let losses =
        [LossKind::Hinge, LossKind::SquaredHinge, LossKind::Logistic, LossKind::Perceptron];
    for (kind, loss) in RankKind::ALL.iter().flat_map(|&kind| losses.map(move |loss| (kind, loss)))
    {
        let is_order = matches!(kind, RankKind::Ndcg | RankKind::Map);
        let allowed = match loss {
            LossKind::SquaredHinge => kind == RankKind::Pairs,
            LossKind::Logistic => !is_order,
            _ => true,
        };
        match train(&data, &spec(kind, Some(loss))) {
            Ok((model, report)) => {
                assert!(allowed, "{kind} {loss}");
                assert_eq!((report.task, report.examples, report.loss), (Task::Rank, 8, loss));
                let metrics = model.evaluate(&data).unwrap();
                assert!(metrics.map > 0.99, "{kind} {loss}: {metrics:?}");
            }
            Err(error) => assert!(!allowed, "{kind} {loss}: {error}"),
        }
    }
}

#[test]
fn a_file_comes_back_and_ranks_the_same() {
    let data = read("t.letor", &letor(8), &rank_options());
    let (model, report) = train(&data, &RankSpec::default().into()).unwrap();
    assert!(report.converged && report.gap.is_some(), "{}", report.certificate());
    let bytes = model.to_bytes().unwrap();
    let again = RankModel::from_bytes(&bytes).unwrap();
    assert_eq!(again.rank(&data).unwrap(), model.rank(&data).unwrap());
    assert_eq!(again.to_bytes().unwrap(), bytes);
    assert!(matches!(AnyModel::from_bytes(&bytes), Ok(AnyModel::Rank(_))));
    assert!(lineal::TagModel::from_bytes(&bytes).is_err());
    let (going_on, _) = {
        let spec = RankSpec::default().into();
        lineal::Training::new(&data, &spec).start_from(&again).run().unwrap()
    };
    assert_eq!(going_on.rank(&data).unwrap()[0].order, model.rank(&data).unwrap()[0].order);
}

#[test]
fn leads_are_sums_of_reasons() {
    let data = read("t.letor", &letor(4), &rank_options());
    let (model, _) = train(&data, &RankSpec::default().into()).unwrap();
    let ranked = &model.rank(&data).unwrap()[1];
    let all = model.explain(&data, 1, None, None).unwrap();
    assert_eq!(all.len(), 6);
    for one in &all {
        let sum: f64 = one.reasons.iter().map(|reason| reason.lead).sum();
        // Scores are sums in f32.
        assert!((sum - one.lead).abs() < 1e-5, "{one:?}");
        assert_eq!(ranked.order[one.rank - 1] as usize, one.document);
    }
    let below = &model.explain(&data, 1, Some(0), Some(5)).unwrap()[0];
    assert!(below.lead < 0.0 && below.other == Some(5));
    assert!(model.explain(&data, 1, Some(6), None).is_err());
}

#[test]
fn tables_have_a_column_of_queries() {
    let text =
        "session,colour,price,grade\na,red,1,2\na,blue,3,0\na,red,2,1\nb,red,5,1\nb,blue,9,0\n";
    let options = ReadOptions { query: Some("session".into()), ..rank_options() };
    let data = read("t.csv", text, &options);
    let (model, _) = train(&data, &RankSpec::default().into()).unwrap();
    let new = Source::Memory {
        name: "n.csv".into(),
        bytes: b"session,colour,price\nz,blue,2\nz,red,2\n".to_vec(),
    };
    let new = model.read(new, &ReadOptions::default()).unwrap();
    assert_eq!(model.rank(&new).unwrap()[0].order, [1, 0]);
    assert!(model.evaluate(&new).is_err());
}

#[test]
fn nothing_to_learn_is_said() {
    for text in ["1 qid:1 1:1\n", "1 qid:1 1:1\n1 qid:1 1:2\n"] {
        let data = read("t.letor", text, &rank_options());
        let error = train(&data, &RankSpec::default().into()).unwrap_err().to_string();
        assert!(error.contains("documents of different grades"), "{error}");
    }
}

/// Steps of 1/(l2·t) with the l2 of many pairs left weights that were worse than none, whatever the rate.
#[test]
fn stochastic_steps_of_the_hinge_are_better_than_nothing() {
    let data = read("t.letor", &letor(40), &rank_options());
    let with = |rate: Option<f64>, average: Option<bool>| {
        let mut spec = spec(RankKind::Pairs, Some(LossKind::Hinge));
        spec.solver = SolverKind::Sgd;
        (spec.sgd.rate, spec.sgd.average) = (rate, average);
        let (model, report) = train(&data, &spec).unwrap();
        (model.rows().weight(0, 0), report.objective)
    };
    // The objective of weights that are all 0 is 1.
    let (by_default, objective) = with(None, None);
    assert!(objective < 0.9, "{objective}");
    let (slow, _) = with(Some(1e-4), None);
    assert!(slow.abs() < 0.5 * by_default.abs(), "{slow} {by_default}");
    assert_ne!(with(None, Some(false)).0, by_default);
}

#[test]
fn pegasos_is_refused_for_the_squared_hinge() {
    let data = read("t.letor", &letor(8), &rank_options());
    for solver in [SolverKind::Auto, SolverKind::Sgd] {
        let mut spec = spec(RankKind::Pairs, None);
        spec.solver = solver;
        spec.sgd.schedule = Some(ScheduleKind::Pegasos);
        let why = train(&data, &spec).unwrap_err().to_string();
        assert!(why.contains("spec.sgd.schedule = inverse"), "{why}");
    }
}

#[test]
fn newton_is_taken_for_pairs() {
    let data = read("t.letor", &letor(20), &rank_options());
    for loss in [LossKind::Hinge, LossKind::SquaredHinge, LossKind::Logistic] {
        for solver in [SolverKind::Auto, SolverKind::Newton] {
            let mut spec = spec(RankKind::Pairs, Some(loss));
            (spec.solver, spec.tol) = (solver, 1e-6);
            let (_, report) = train(&data, &spec).unwrap();
            assert_eq!(report.solver, SolverKind::Newton);
            assert!(report.converged && report.gap.unwrap() <= 2e-6, "{}", report.certificate());
        }
    }
}
