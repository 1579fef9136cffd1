//! Several classes as binary problems.

use serde_json::{Value, json};

use crate::world::{Run, World};

/// Six classes of sparse words, 2,000 rows.
fn tickets() -> World {
    let world = World::new();
    world.run(&["demo", "tickets", "--write", "."]).done();
    world
}

/// Four classes of the plane, 200 rows: lower, right, strip, upper.
fn plane() -> World {
    let world = World::new();
    world.run(&["demo", "four-classes", "--write", "."]).done();
    world
}

fn train(world: &World, flags: &[&str]) -> Run {
    let command = ["train", "four-classes-train.csv", "--label", "class", "-o", "m.lineal"];
    world.run(&[&command[..], flags].concat())
}

fn accuracy(world: &World) -> f64 {
    let eval = ["eval", "m.lineal", "four-classes-test.csv", "--json"];
    world.run(&eval).done().json()["accuracy"].as_f64().unwrap()
}

#[test]
fn each_strategy_says_what_it_solved() {
    let world = tickets();
    for (flags, problems, rows, said) in [
        (&["--strategy", "joint"][..], 1, 2000, "hinge loss by"),
        (&["--strategy", "ova"], 6, 12_000, "strategy: ova, 6 binary problems of 12,000 rows"),
        (&["--strategy", "ovo"], 15, 10_000, "strategy: ovo, 15 binary problems of 10,000 rows"),
        (
            &["--strategy", "ecoc", "--code", "hadamard"],
            7,
            14_000,
            "code: minimum distance 4, corrects 1 wrong answer",
        ),
        (&["--strategy", "tree", "--tree", "random"], 5, 0, "tree: 5 nodes, depth 3"),
    ] {
        let command =
            ["train", "tickets-train.svm", "-o", "m.lineal", "--loss", "hinge", "-C", "0.1"];
        let run = world
            .run(&[&command[..], &["--json", "--test", "tickets-test.svm"], flags].concat())
            .done()
            .says(&[said, "of the optimum"]);
        let json = run.json();
        assert_eq!((&json["strategy"], &json["problems"]), (&json!(flags[1]), &json!(problems)));
        if rows > 0 {
            assert_eq!(json["rows_touched"], rows, "{flags:?}");
        }
        assert_eq!(json["converged"], true, "{flags:?}");
        assert!(json["test"]["accuracy"].as_f64().unwrap() > 0.7, "{flags:?}");
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys[16..21], ["problems", "rows_touched", "code", "tree", "calibration"]);
        match flags[1] {
            "ecoc" => {
                assert_eq!(json["code"], json!({"columns": 7, "min_distance": 4, "corrects": 1}))
            }
            "tree" => assert_eq!(json["tree"], json!({"nodes": 5, "depth": 3})),
            _ => assert_eq!((&json["code"], &json["tree"]), (&Value::Null, &Value::Null)),
        }
        let inspect = world.run(&["inspect", "m.lineal", "--top", "2"]).done().out;
        assert!(inspect.contains(&format!("strategy     {}", flags[1])), "{inspect}");
        assert_eq!(
            inspect.matches("\n  access").count(),
            1 + usize::from(json["margins"].is_object())
        );
        let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
        assert_eq!(json["problems"], problems);
        assert_eq!(json["top_features"].as_array().unwrap().len(), 6);
    }
}

#[test]
fn every_choice_of_every_strategy() {
    let world = plane();
    for flags in [
        &["--strategy", "ovo", "--pairs", "votes"][..],
        &["--strategy", "ovo", "--pairs", "scores"],
        &["--strategy", "ovo", "--pairs", "tournament"],
        &["--strategy", "ecoc", "--code", "dense", "--code-length", "5"],
        &["--strategy", "ecoc", "--code", "sparse", "--code-length", "9"],
        &["--strategy", "ecoc", "--code", "exhaustive", "--decoding", "hamming"],
        &["--strategy", "ecoc", "--code", "hadamard", "--decoding", "loss"],
        &["--strategy", "ecoc", "--code", "bch", "--decoding", "probability"],
        &["--strategy", "ecoc", "--code", "greedy"],
        &["--strategy", "ecoc", "--code", "ova"],
        &["--strategy", "ecoc", "--code", "ovo"],
        &["--strategy", "tree", "--tree", "clusters"],
        &["--strategy", "tree", "--tree", "random", "--beam", "1"],
        &["--strategy", "tree", "--tree", "huffman", "--beam", "4"],
        &["--strategy", "tree", "--leaf-size", "2"],
    ] {
        train(&world, &[flags, &["-C", "10", "-q"]].concat()).done();
        assert!(accuracy(&world) > 0.6, "{flags:?}: {}", accuracy(&world));
    }
}

#[test]
fn a_code_from_a_file() {
    let world = plane();
    let run = |code: &str| {
        world.file("code.txt", code);
        train(&world, &["--strategy", "ecoc", "--code", "code.txt"])
    };
    // The classes are lower, right, strip, upper.
    run("# mine\n+ + + + -\n+ - - - +\n- + - - -\n- - + - -\n")
        .done()
        .says(&["ecoc, 5 binary problems"]);
    let plain = world.bytes("m.lineal");
    run("upper: --+--\nstrip: -+---\nright: +---+\nlower: ++++-\n").done();
    assert!(plain == world.bytes("m.lineal"), "the order of named lines does not matter");
    std::fs::remove_file(world.path("m.lineal")).unwrap();

    run("++-\n+-+\n-++\n")
        .failed(1, &["code.txt", "3 codewords", "4 classes", "lower, right, strip, upper"]);
    run("lower: ++-\nright: +-+\nstrip: -++\n").failed(1, &["code.txt", "`upper`"]);
    run("lower: +\nmiddle: -\n").failed(1, &["code.txt:2", "`middle` is not a class"]);
    run("++-\n+x+\n-++\n---\n").failed(1, &["code.txt:2", "`x`"]);
    run("+-+\n+-+\n-++\n--+\n").failed(1, &["code.txt", "column 3"]);
    train(&world, &["--strategy", "ecoc", "--code", "dens"])
        .failed(1, &["--code dens", "none of dense", "no file"]);
    assert!(!world.has("m.lineal"));
}

#[test]
fn a_tree_from_a_file() {
    let world = plane();
    let run = |tree: &str| {
        world.file("tree.txt", tree);
        train(&world, &["--strategy", "tree", "--tree", "tree.txt"])
    };
    run("((upper lower) (strip right))\n").done().says(&["tree: 3 nodes, depth 2"]);
    let named = world.bytes("m.lineal");
    run("((3 0)\n (2 1)) # by number\n").done();
    assert!(named == world.bytes("m.lineal"));
    run("(((\"upper\" lower) strip), right)").done().says(&["tree: 3 nodes, depth 3"]);
    std::fs::remove_file(world.path("m.lineal")).unwrap();

    run("((upper lower) strip)")
        .failed(1, &["tree.txt", "`right` is not in the tree", "4 classes"]);
    run("((upper lower) (strip (right upper)))").failed(1, &["tree.txt", "`upper` stands 2 times"]);
    run("((upper lower)\n(strip left))").failed(1, &["tree.txt:2", "`left` is not a class"]);
    run("((upper lower) (strip right)").failed(1, &["tree.txt", "ends early"]);
    run("(upper lower strip right)").failed(1, &["tree.txt", "third child"]);
    train(&world, &["--strategy", "tree", "--tree", "cluster"])
        .failed(1, &["--tree cluster", "none of clusters, random, huffman"]);
    assert!(!world.has("m.lineal"));
}

#[test]
fn contradictory_flags_are_usage_errors() {
    let world = plane();
    train(&world, &["--strategy", "all"]).failed(2, &["all", "joint", "tree"]);
    train(&world, &["--pairs", "votes"]).failed(2, &["--pairs", "--strategy ovo"]);
    train(&world, &["--strategy", "ova", "--code", "dense"])
        .failed(2, &["--code", "--strategy ecoc"]);
    train(&world, &["--strategy", "ovo", "--beam", "3"]).failed(2, &["--beam", "--strategy tree"]);
    train(&world, &["--strategy", "tree", "--beam", "0"]).failed(2, &["at least 1"]);
    train(&world, &["--strategy", "ecoc", "--code", "hadamard", "--code-length", "3"])
        .failed(2, &["--code-length", "hadamard has its own length"]);
    train(&world, &["--threshold", "f1"])
        .failed(1, &["--threshold", "two classes", "--task multilabel", "4 classes"]);
    train(&world, &["--folds", "3"]).failed(2, &["--folds", "--calibrate"]);
    train(&world, &["--calibrate", "platt", "--folds", "1"]).failed(2, &["at least 2"]);
    train(&world, &["--label-separator", ";"]).failed(2, &["--label-separator", "multilabel"]);
    world.file("h.csv", "area,price\n50,100\n60,130\n80,160\n90,210\n");
    for flag in [&["--calibrate", "platt"][..], &["--strategy", "ova"], &["--threshold", "0.3"]] {
        let command = ["train", "h.csv", "--label", "price", "--task", "regress", "-o", "m.lineal"];
        world.run(&[&command[..], flag].concat()).failed(2, &[flag[0]]);
    }
    assert!(!world.has("m.lineal"));
}

#[test]
fn requests_that_a_strategy_cannot_meet() {
    let world = plane();
    let ova = |flags: &[&str]| train(&world, &[&["--strategy", "ova"], flags].concat());
    ova(&["--loss", "squared"]).failed(1, &["--strategy ova", "joint"]);
    ova(&["--loss", "hinge", "--sum"]).failed(1, &["--sum", "ova"]);
    ova(&["--hard-margin"]).failed(1, &["--hard-margin", "joint"]);
    train(&world, &["--strategy", "tree", "--solver", "newton"])
        .failed(1, &["tree", "--solver dual"]);
    train(&world, &["--strategy", "tree", "--l2", "0"]).failed(1, &["tree", "l2"]);
    assert!(!world.has("m.lineal"));
}

#[test]
fn costs_move_the_answer_with_every_strategy() {
    let world = plane();
    // To take anything for right is cheap, to miss a right one dear.
    world.file(
        "cost.csv",
        ",lower,right,strip,upper\nlower,0,0.1,5,1\nright,50,0,50,50\nstrip,1,0.1,0,1\nupper,1,0.1,5,0\n",
    );
    let n_right = |flags: &[&str]| {
        let out = world
            .run(&[&["predict", "m.lineal", "four-classes-test.csv"], flags].concat())
            .done()
            .out;
        out.lines().filter(|line| *line == "right").count()
    };
    for strategy in ["joint", "ova", "ovo", "ecoc", "tree"] {
        let flags = ["--strategy", strategy, "-q", "-C", "0.05"];
        train(&world, &flags).done();
        let (plain, careful) = (n_right(&[]), n_right(&["--min-cost", "--cost", "cost.csv"]));
        assert!(careful > plain, "{strategy}: {careful} {plain}");
        train(&world, &[&flags[..], &["--cost", "cost.csv"]].concat()).done();
        assert!(n_right(&[]) >= plain, "{strategy}: trained with costs");
        assert!(n_right(&["--min-cost"]) > plain, "{strategy}");
        let eval = ["eval", "m.lineal", "four-classes-test.csv", "--json"];
        assert!(world.run(&eval).done().json()["mean_cost"].is_number());
        train(&world, &[&flags[..], &["--cost", "cost.csv", "--loss", "hinge"]].concat()).done();
    }
}

#[test]
fn top_of_a_tree_follows_its_beam() {
    let world = tickets();
    let command = ["train", "tickets-train.svm", "-o", "m.lineal", "-q", "--strategy", "tree"];
    world.run(&[&command[..], &["--beam", "2"]].concat()).done();
    let rows = |flags: &[&str]| -> Vec<String> {
        let out =
            world.run(&[&["predict", "m.lineal", "tickets-test.svm"], flags].concat()).done().out;
        out.lines().map(str::to_owned).collect()
    };
    let labels = rows(&[]);
    for (label, row) in labels.iter().zip(rows(&["--top", "3", "--proba", "--output", "jsonl"])) {
        let row: Value = serde_json::from_str(&row).unwrap();
        assert_eq!(row["label"], label.as_str());
        assert_eq!(row["top"].as_array().unwrap().len(), 3);
        let sum: f64 = row["proba"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    }
    let csv = rows(&["--top", "6", "--output", "csv"]);
    assert!(csv.iter().all(|line| line.split(',').count() == 13), "{}", csv[1]);
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    let world = tickets();
    for flags in [
        &["--strategy", "ova", "--loss", "hinge"][..],
        &["--strategy", "ova", "--solver", "sgd", "--epochs", "2"],
        &["--strategy", "ova", "--loss", "squared-hinge", "--bias", "penalised"],
        &["--strategy", "ovo", "--loss", "hinge"],
        &["--strategy", "ecoc", "--code", "sparse", "--loss", "squared-hinge"],
        &["--strategy", "tree"],
        &["--strategy", "ova", "--loss", "hinge", "--calibrate", "platt", "--folds", "2"],
        &["--strategy", "tree", "--loss", "hinge", "--calibrate", "isotonic", "--folds", "2"],
        &["--loss", "hinge", "--calibrate", "temperature", "--folds", "2"],
    ] {
        let bytes = ["1", "2"].map(|threads| {
            let train = ["train", "tickets-train.svm", "-o", "m.lineal", "-q", "-C", "0.1"];
            world.run(&[&train[..], &["--threads", threads], flags].concat()).done();
            world.bytes("m.lineal")
        });
        assert!(bytes[0] == bytes[1], "{flags:?}");
    }
}

#[test]
fn binary_problems_are_counted() {
    let world = World::new();
    let rows: String =
        (0..240).map(|i| format!("c{:02} {}:1 {}:1\n", i % 40, i % 40 + 1, 50 + i % 7)).collect();
    world.file("a.svm", rows);
    let run = world.run(&["train", "a.svm", "-o", "m.lineal", "--strategy", "ova"]).done();
    run.says(&["strategy: ova, 40 binary problems of 9,600 rows"]);
}

#[test]
fn held_out_rows_are_watched_or_it_is_said_that_they_are_not() {
    let world = plane();
    let watch = ["--strategy", "ova", "--validation", "0.3"];
    train(&world, &watch)
        .done()
        .says(&["warning: the held-out rows were not measured", "--solver sgd"]);
    let run = train(&world, &[&watch[..], &["--solver", "sgd"]].concat()).done();
    assert!(run.err.contains("held-out accuracy") && !run.err.contains("nobody"), "{}", run.err);
    train(&world, &[&watch[..], &["--patience", "2"]].concat())
        .failed(1, &["--patience", "--solver sgd"]);
    train(&world, &["--strategy", "tree", "--report", "r.html", "--calibrate", "platt"]).done();
    let page = String::from_utf8(world.bytes("r.html")).unwrap();
    for part in ["binary problems", "3 nodes, depth", "platt", "Features that weigh most"] {
        assert!(page.contains(part), "{part}");
    }
}
