//! A whole session on a tiny CSV, word for word where the words do not depend on the clock.

use crate::world::World;

const CSV: &str = "\
height,width,kind
1,5,flat
2,6,flat
3,7,flat
7,2,tall
8,1,tall
9,3,tall
";

#[test]
fn train_predict_eval_inspect() {
    let world = World::new();
    world.file("shapes.csv", CSV);
    let train =
        ["train", "shapes.csv", "--label", "kind", "-o", "shapes.lineal", "--solver", "newton"];
    let run = world.run(&train).done();
    assert_eq!(run.out, "");
    let lines: Vec<&str> = run.err.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "shapes.csv: 6 rows, 2 features, 2 classes",
            "  height  numeric",
            "  width   numeric",
            "  kind    label, 2 classes"
        ]
    );
    // Passes are told only of runs that take longer, which this one does on a busy machine only.
    assert!(
        lines[4].starts_with("pass ") || lines[4].starts_with("logistic loss by newton"),
        "{}",
        run.err
    );
    run.says(&[
        "logistic loss by newton: converged after ",
        "of the optimum (duality gap ",
        "wrote shapes.lineal (",
    ]);

    world.file("new.csv", "width,height\n9,1\n1,9\n");
    assert_eq!(world.run(&["predict", "shapes.lineal", "new.csv"]).done().out, "flat\ntall\n");

    let run = world.run(&["eval", "shapes.lineal", "shapes.csv"]).done();
    assert!(
        run.out
            .starts_with("examples   6\naccuracy   1.0000\nmacro_f1   1.0000\nmicro_f1   1.0000\n"),
        "{}",
        run.out
    );
    assert!(
        run.out.ends_with(
            "\nconfusion: true classes in rows, predicted ones in columns\n\
             \x20       flat  tall  recall  precision\n\
             \x20 flat     3     ·   1.000      1.000\n\
             \x20 tall     ·     3   1.000      1.000\n"
        ),
        "{}",
        run.out
    );
    assert_eq!(run.err, "");

    let run = world.run(&["inspect", "shapes.lineal"]).done();
    for part in [
        "task         classify\n",
        "loss         logistic\n",
        "solver       newton, f64\n",
        "certificate  objective ",
        "examples     6\n",
        "features     2, 3 nonzero weights\n",
        "classes      2: flat, tall\n",
        "trained on   shapes.csv\n",
        "margins of the training rows (quantiles)\n",
        "features that weigh most\n  tall against flat (bias ",
    ] {
        assert!(run.out.contains(part), "no {part:?} in:\n{}", run.out);
    }
    let json = world.run(&["inspect", "shapes.lineal", "--json", "--top", "1"]).done().json();
    assert_eq!(json["class_names"], serde_json::json!(["flat", "tall"]));
    assert_eq!(json["top_features"][0]["class"], "tall");
    assert_eq!(json["top_features"][0]["features"].as_array().unwrap().len(), 1);
    assert_eq!(json["provenance"]["source"], "shapes.csv");
    assert_eq!(json["converged"], true);
}

#[test]
fn regression() {
    let world = World::new();
    world.file("line.csv", "x,y\n0,1\n1,3\n2,5\n3,7\n");
    let train = [
        "train",
        "line.csv",
        "--task",
        "regress",
        "--l2",
        "0",
        "--solver",
        "exact",
        "-o",
        "line.lineal",
    ];
    world
        .run(&train)
        .done()
        .says(&["y  label, a number", "squared loss by exact: converged after 1 pass"]);
    let out = world.run(&["predict", "line.lineal", "line.csv"]).done().out;
    let values: Vec<f64> = out.lines().map(|line| line.parse().unwrap()).collect();
    assert!(values.iter().zip([1.0, 3.0, 5.0, 7.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{out}");
    let run = world.run(&["eval", "line.lineal", "line.csv"]).done();
    assert!(run.out.starts_with("examples  4\nrmse      "), "{}", run.out);
    let run = world.run(&["inspect", "line.lineal"]).done();
    assert!(
        run.out.contains("weights (bias 1.000") && run.out.contains("    +2.000  x"),
        "{}",
        run.out
    );
}
