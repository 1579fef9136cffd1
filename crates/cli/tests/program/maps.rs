//! `--map` and `--interact`: train, predict and inspect agree on what is made of columns.

use crate::world::World;

const XOR: &str = "a,b,label\n1,1,same\n2,1,same\n-1,-2,same\n-2,-1,same\n1,-1,different\n2,-2,different\n-1,1,different\n-1,2,different\n";

#[test]
fn a_map_is_kept_by_the_model() {
    let world = World::new();
    world.file("xor.csv", XOR);
    world.run(&["train", "xor.csv", "-o", "m.lineal", "--map", "poly:2", "-C", "100"]).done();
    let predicted = world.run(&["predict", "m.lineal", "xor.csv"]).done().out;
    assert_eq!(predicted.lines().collect::<String>(), "same".repeat(4) + &"different".repeat(4));
    let shown = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(shown.contains("poly:2 of 2 numbers: 3 more features"), "{shown}");
    assert!(shown.contains("a*b"), "{shown}");
}

#[test]
fn columns_interact() {
    let world = World::new();
    world.file("xor.csv", XOR);
    let command = [
        "train",
        "xor.csv",
        "-o",
        "m.lineal",
        "--interact",
        "a*b",
        "-C",
        "100",
        "--test",
        "xor.csv",
    ];
    world.run(&command).done().says(&["a*b: 1 more feature", "accuracy 1.0000"]);
}

#[test]
fn a_map_that_makes_no_sense_is_refused() {
    let world = World::new();
    world.file("xor.csv", XOR);
    for (flags, code, why) in [
        (["--map", "poly:9"], 2, "from 2 to 6"),
        (["--map", "spline"], 2, "rff:D"),
        (["--interact", "a"], 2, "age*city"),
        (["--interact", "a*z"], 1, "there is no column `z`"),
    ] {
        let command = ["train", "xor.csv", "-o", "m.lineal"];
        world.run(&[&command, &flags[..]].concat()).failed(code, &[why]);
    }
}

#[test]
fn tune_and_convert_make_the_same_features() {
    let world = World::new();
    world.file("xor.csv", XOR.to_owned() + XOR.split_once('\n').unwrap().1);
    let tune = ["tune", "xor.csv", "-o", "m.lineal", "-C", "10,100", "--losses", "logistic"];
    let flags = ["--folds", "2", "--interact", "a*b", "--test", "xor.csv"];
    world
        .run(&[&tune[..], &flags].concat())
        .done()
        .says(&["a*b: 1 more feature", "accuracy 1.0000"]);
    world.run(&["predict", "m.lineal", "xor.csv"]).done();
    let convert = ["convert", "xor.csv", "xor.svm", "--names", "names.txt", "--map", "poly:2"];
    world.run(&convert).done().says(&["5 features"]);
    let names = String::from_utf8(world.bytes("names.txt")).unwrap();
    assert_eq!(names, "a\nb\na^2\na*b\nb^2\n");
    let rows = String::from_utf8(world.bytes("xor.svm")).unwrap();
    assert_eq!(rows.lines().nth(1), Some("2 1:2 2:1 3:4 4:2 5:1"));
    // Also where cells could be copied: what was asked for is features.
    world.run(&["convert", "xor.csv", "x.jsonl", "--interact", "a*b"]).done();
    assert!(String::from_utf8(world.bytes("x.jsonl")).unwrap().contains("\"a*b\":2"));
    let command = ["convert", "xor.csv", "y.svm", "--model", "m.lineal", "--map", "poly:2"];
    world.run(&command).failed(2, &["--map is about learning features"]);
}

#[test]
fn standardized_columns_go_into_a_map_whatever_their_units() {
    let world = World::new();
    let in_metres = XOR.to_owned() + XOR.split_once('\n').unwrap().1;
    let in_millimetres: String = in_metres
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let (a, rest) = line.split_once(',').unwrap();
            let a = if i == 0 { a.to_owned() } else { format!("{a}000") };
            format!("{a},{rest}\n")
        })
        .collect();
    world.file("m.csv", &in_metres);
    world.file("mm.csv", &in_millimetres);
    for map in ["rff:50", "poly:2"] {
        let scores = |data: &str| -> Vec<f64> {
            let command = ["train", data, "-o", "x.lineal", "--map", map, "--standardize", "-q"];
            world.run(&command).done();
            let rows = world.run(&["predict", "x.lineal", data, "--output", "jsonl", "--scores"]);
            let score = |line: &str| {
                let json: serde_json::Value = serde_json::from_str(line).unwrap();
                json["scores"]["same"].as_f64().unwrap()
            };
            rows.done().out.lines().map(score).collect()
        };
        let (short, long) = (scores("m.csv"), scores("mm.csv"));
        assert!(short.iter().zip(&long).all(|(a, b)| (a - b).abs() < 1e-3), "{short:?} {long:?}");
        assert!(short[0] > short[4], "{map} {short:?}");
    }
}
