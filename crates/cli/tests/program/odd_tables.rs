//! What is written otherwise than usual in a table, and what is said of it.

use crate::world::World;

/// Columns `a`, `b` and `sum` = a + 2 b, with `separator` between cells and a comma before fractions of three digits, as between thousands.
fn sums(separator: char, quote: &str) -> String {
    let cell = |value: f64| format!("{quote}{}{quote}", format!("{value:.3}").replace('.', ","));
    let row = |i: usize| {
        let (a, b) = ((i % 17) as f64 / 8.0 - 1.0, (i * 5 % 23) as f64 / 10.0);
        [cell(a), cell(b), cell(a + 2.0 * b)].join(&separator.to_string()) + "\n"
    };
    let header = ["a", "b", "sum"].join(&separator.to_string());
    format!("{header}\n{}", (0..100).map(row).collect::<String>())
}

#[test]
fn a_comma_stands_before_fractions_where_the_file_shows_it() {
    for (name, separator, quote) in [("a.csv", ';', ""), ("a.tsv", '\t', ""), ("b.csv", ',', "\"")]
    {
        let world = World::new();
        world.file(name, sums(separator, quote));
        let train = ["train", name, "--label", "sum", "-C", "1e6", "-o", "m.lineal"];
        world.run(&train).done().says(&["so the task is regression"]);
        let json = world.run(&["eval", "m.lineal", name, "--json"]).done().json();
        assert!(json["rmse"].as_f64().unwrap() < 1e-2, "{name}: {json}");
        // One row alone could be of thousands: the model remembers.
        let cells = [format!("{quote}1,250{quote}"), format!("{quote}0,500{quote}")];
        let row = format!("a{separator}b\n{}\n", cells.join(&separator.to_string()));
        world.file(&format!("one-{name}"), row);
        let out = world.run(&["predict", "m.lineal", &format!("one-{name}")]).done().out;
        assert!((out.trim().parse::<f64>().unwrap() - 2.25).abs() < 0.02, "{name}: {out}");
    }
    // Commas between thousands stay what they are.
    let world = World::new();
    let row = |i: usize| format!("\"1,{i:03}\",{}\n", if i < 500 { "few" } else { "many" });
    world.file("t.csv", format!("n,label\n{}", (0..1000).step_by(7).map(row).collect::<String>()));
    world.run(&["train", "t.csv", "-o", "m.lineal", "-q"]).done();
    world.file("one.csv", "n\n1900\n");
    assert_eq!(world.run(&["predict", "m.lineal", "one.csv"]).done().out, "many\n");
    // A first row of such numbers is data.
    world.file("n.csv", "1,5;2,5;x\n".repeat(3) + &"0,5;1,5;y\n".repeat(3));
    let json = world.run(&["train", "n.csv", "--label", "3", "-o", "m.lineal", "--json"]).done();
    assert_eq!(json.json()["examples"], 6);
}

#[test]
fn marks_of_missing_categories_are_one_value() {
    let world = World::new();
    let colours = ["red", "", "?", "NULL", "blue", "nan", "None"];
    let row = |i: usize| {
        let colour = colours[i % colours.len()];
        let is_known = matches!(colour, "red" | "blue");
        format!("{colour},{}\n", if is_known { "yes" } else { "no" })
    };
    let rows: String = (0..140).map(row).collect();
    world.file("a.csv", format!("colour,label\n{rows}"));
    world
        .run(&["train", "a.csv", "-o", "m.lineal"])
        .done()
        .says(&["colour  categorical, 3 values: (missing), blue, red"]);
    let json = world.run(&["eval", "m.lineal", "a.csv", "--json"]).done().json();
    assert_eq!(json["accuracy"], 1.0);
    // So is a mark that training did not see.
    world.file("b.csv", "colour\nN/A\nred\n");
    let run = world.run(&["predict", "m.lineal", "b.csv"]).done();
    assert_eq!(run.out, "no\nyes\n");
    assert!(!run.err.contains("did not see"), "{}", run.err);
}

#[test]
fn numbers_that_32_bits_cannot_tell_apart_are_said() {
    let world = World::new();
    let row =
        |i: usize| format!("{},{},{}\n", 1_700_000_000 + 10 * i, i, if i < 50 { "a" } else { "b" });
    world.file("times.csv", format!("time,n,label\n{}", (0..100).map(row).collect::<String>()));
    world.run(&["train", "times.csv", "-o", "m.lineal"]).done().says(&[
        "column \"time\" run from 1700000000 to 1700000990",
        "as differences from 1700000000",
    ]);
    let run = world.run(&["train", "times.csv", "--ignore", "time", "-o", "m.lineal"]).done();
    assert!(!run.err.contains("32 bits"), "{}", run.err);
}

#[test]
fn names_of_columns_are_refused_where_there_are_none() {
    let world = World::new();
    world.file("a.svm", "1 1:1 2:3\n2 1:2\n".repeat(10));
    world.file("a.letor", "1 qid:1 1:1\n0 qid:1 1:0\n2 qid:2 1:2\n0 qid:2 1:1\n");
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q"]).done();
    for (command, flag) in [
        (&["train", "a.svm", "-o", "n.lineal"][..], "--label"),
        (&["train", "a.svm", "-o", "n.lineal"], "--weight"),
        (&["train", "a.svm", "-o", "n.lineal", "--stream"], "--weight"),
        (&["train", "a.letor", "--task", "rank", "-o", "n.lineal"], "--label"),
        (&["train", "a.letor", "--task", "rank", "-o", "n.lineal"], "--weight"),
        (&["eval", "m.lineal", "a.svm"], "--label"),
    ] {
        let said = format!("leave {flag} out");
        world
            .run(&[command, &[flag, "size"]].concat())
            .failed(1, &["there is no column \"size\"", &said]);
    }
    assert!(!world.has("n.lineal"));
}

#[test]
fn a_penalty_that_is_next_to_none_is_named_where_nothing_converges() {
    let world = World::new();
    world.file("a.svm", "1 1:1 2:3\n2 1:2\n1 2:1\n2 1:1 2:1\n".repeat(10));
    let run = |flags: &[&str]| {
        world.run(&[&["train", "a.svm", "-o", "m.lineal", "--max-passes", "1"], flags].concat())
    };
    run(&["-C", "1e300", "--tol", "1e-9"]).done().says(&[
        "stopped after 1 pass",
        "did not converge",
        "lower -C, which is 1e300",
    ]);
    let said = run(&["--l2", "1e-30", "--tol", "1e-9"]).done();
    let warning = said.err.lines().find(|line| line.contains("did not converge")).unwrap();
    assert!(
        warning.contains("raise --l2, which is") && !warning.contains(" passes ("),
        "{warning}"
    );
}

#[test]
fn files_of_other_programs_are_named_with_what_to_do() {
    let world = World::new();
    world.file("a.xlsx", b"PK\x03\x04 and so on");
    // The name does not help.
    world.file("a.csv", b"PAR1 and so on PAR1");
    world.file("a.json", "[\n {\"x\": 1, \"label\": \"a\"},\n {\"x\": 2, \"label\": \"b\"}\n]\n");
    for (file, parts) in [
        ("a.xlsx", ["Excel", "save the sheet as CSV"]),
        ("a.csv", ["Parquet", "to_csv"]),
        ("a.json", ["one JSON array", "one object per line"]),
    ] {
        world.run(&["train", file, "-o", "m.lineal"]).failed(1, &parts);
    }
}

#[test]
fn y_is_a_coordinate_beside_a_label() {
    let world = World::new();
    let row = |i: usize| format!("{},{},{}\n", i % 7, i % 5, if i % 7 > 3 { "a" } else { "b" });
    world.file("points.csv", format!("x,y,label\n{}", (0..60).map(row).collect::<String>()));
    let run = world.run(&["train", "points.csv", "-o", "m.lineal"]).done();
    run.says(&["y      numeric", "label  label, 2 classes"]);
}
