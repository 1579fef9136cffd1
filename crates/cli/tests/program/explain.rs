//! `lineal explain`: contributions that add up, in each form.

use serde_json::Value;

use crate::world::{FRUIT, World};

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sum(row: &Value) -> f64 {
    let features = row["features"].as_array().unwrap().iter();
    let shown: f64 = features.map(|f| f["contribution"].as_f64().unwrap()).sum();
    let rest = row["rest"]["contribution"].as_f64().unwrap();
    shown + rest + row["bias"].as_f64().unwrap() - row["threshold"].as_f64().unwrap_or(0.0)
}

#[test]
fn contributions_add_up_to_the_difference_of_scores() {
    let world = World::with_model(&[]);
    let run =
        world.run(&["explain", "m.lineal", "fruit.csv", "--top", "1", "--output", "jsonl"]).done();
    let rows = objects(&run.out);
    let scores = ["predict", "m.lineal", "fruit.csv", "--scores", "--output", "jsonl"];
    let scores = objects(&world.run(&scores).done().out);
    assert_eq!(rows.len(), 9);
    for (i, (row, scores)) in rows.iter().zip(&scores).enumerate() {
        assert_eq!(row["row"], i + 1);
        assert_eq!(row["label"], scores["label"]);
        assert_eq!(row["features"].as_array().unwrap().len(), 1);
        let of = |key: &str| scores["scores"][row[key].as_str().unwrap()].as_f64().unwrap();
        let lead = row["lead"].as_f64().unwrap();
        assert!((lead - (of("label") - of("against"))).abs() < 1e-4 * (1.0 + lead.abs()), "{row}");
        assert!((lead - sum(row)).abs() < 1e-9 * (1.0 + lead.abs()), "{row}");
        assert!(lead >= 0.0 && row["proba"].is_object());
    }
}

/// Two classes by a number, a category that matters and one that is rare.
fn visitors() -> String {
    let row = |i: usize| {
        let plan = ["free", "pro", "pro", "team"][i % 4];
        let city = if i == 17 { "Ulm" } else { "Bonn" };
        let stays =
            (i * 7) % 10 + 4 * usize::from(plan == "free") + usize::from(i.is_multiple_of(3)) > 7;
        format!("{},{plan},{city},{}\n", (i * 7) % 10, if stays { "yes" } else { "no" })
    };
    format!("visits,plan,city,label\n{}", (0..120).map(row).collect::<String>())
}

#[test]
fn contributions_are_against_an_average_row() {
    let world = World::new();
    world.file("v.csv", visitors());
    world.run(&["train", "v.csv", "-o", "m.lineal", "-q"]).done();
    let rows = objects(&world.run(&["explain", "m.lineal", "v.csv", "--json"]).done().out);
    // The sign of the second class.
    let signed = |row: &Value, key: &str| {
        let sign = if row["label"] == "yes" { 1.0 } else { -1.0 };
        sign * row[key].as_f64().unwrap()
    };
    let mean = rows.iter().map(|row| signed(row, "lead")).sum::<f64>() / rows.len() as f64;
    for row in &rows {
        assert!((signed(row, "bias") - mean).abs() < 1e-4, "{mean} {row}");
        let lead = row["lead"].as_f64().unwrap();
        assert!((lead - sum(row)).abs() < 1e-9 * (1.0 + lead.abs()), "{row}");
        // A column of categories has one contribution, that of the value that the row has.
        let names: Vec<&str> =
            row["features"].as_array().unwrap().iter().filter_map(|f| f["name"].as_str()).collect();
        assert_eq!(names.iter().filter(|name| name.starts_with("plan=")).count(), 1, "{names:?}");
    }
    // What every row has says little about any; a number shows its value even where that is 1.
    world.file("new.csv", "visits,plan,city\n1,gold,Bonn\n");
    let out = world.run(&["explain", "m.lineal", "new.csv", "-q"]).done().out;
    assert!(out.contains("visits = 1.000") && out.contains("plan: a new value"), "{out}");
}

#[test]
fn rare_categories_do_not_hide_what_matters() {
    let world = World::new();
    world.file("v.csv", visitors());
    world.run(&["train", "v.csv", "-o", "m.lineal", "-C", "100", "-q"]).done();
    let out = world.run(&["inspect", "m.lineal"]).done().out;
    let at = |name: &str| out.find(name).unwrap_or_else(|| panic!("no {name} in {out}"));
    assert!(at("  visits") < at("plan=free") && at("plan=free") < at("city=Ulm"), "{out}");
}

#[test]
fn text_names_the_two_classes_and_the_features() {
    let world = World::with_model(&[]);
    let run = world.run(&["explain", "m.lineal", "fruit.csv", "--rows", "1,4-5"]).done();
    assert_eq!(run.err, "");
    let heads: Vec<&str> = run.out.lines().filter(|line| line.starts_with("row ")).collect();
    assert_eq!(heads.len(), 3);
    assert!(heads[1].starts_with("row 4: orange, not "), "{}", run.out);
    for part in ["weight = 150", "colour=orange", "bias", " by ", "(probability 0."] {
        assert!(run.out.contains(part), "{part} in {}", run.out);
    }
    let asked =
        world.run(&["explain", "m.lineal", "fruit.csv", "--rows", "4", "--class", "banana"]);
    assert!(asked.done().out.starts_with("row 4: orange, not banana, by "));
}

#[test]
fn other_strategies_say_what_decided() {
    for (flags, decided_by) in [
        (&["--strategy", "ova"][..], "scores"),
        (&["--strategy", "ovo"], "duel"),
        (&["--strategy", "ovo", "--pairs", "scores"], "scores"),
        (&["--strategy", "ecoc"], "columns"),
        (&["--strategy", "tree"], "node"),
    ] {
        let world = World::with_model(flags);
        let rows = objects(&world.run(&["explain", "m.lineal", "fruit.csv", "--json"]).done().out);
        assert_eq!(rows.len(), 9);
        for row in &rows {
            assert_eq!(row["decided_by"], decided_by, "{row}");
            let lead = row["lead"].as_f64().unwrap();
            assert!((lead - sum(row)).abs() < 1e-9 * (1.0 + lead.abs()), "{row}");
        }
    }
}

#[test]
fn labels_and_numbers_are_explained_too() {
    let world = World::new();
    world.file("l.svm", "0,1 1:1 2:1\n1 2:2\n0 1:3\n 3:1\n0 1:2 3:1\n1 2:1 3:1\n");
    world.run(&["train", "l.svm", "--task", "multilabel", "-o", "l.lineal", "-q"]).done();
    let run = world.run(&["explain", "l.lineal", "l.svm", "--json", "--class", "1"]).done();
    for row in objects(&run.out) {
        let lead = row["lead"].as_f64().unwrap();
        assert_eq!(row["predicted"], lead > 0.0, "{row}");
        assert_eq!((&row["label"], &row["decided_by"]), (&"1".into(), &"threshold".into()));
    }
    world.file("r.csv", "a,b,y\n1,2,3\n2,1,3\n3,5,8\n4,4,8\n");
    world
        .run(&["train", "r.csv", "--label", "y", "--task", "regress", "-o", "r.lineal", "-q"])
        .done();
    let told = world.run(&["predict", "r.lineal", "r.csv"]).done().out;
    let rows = objects(&world.run(&["explain", "r.lineal", "r.csv", "--json"]).done().out);
    for (row, y) in rows.iter().zip(told.lines()) {
        assert!((sum(row) - y.parse::<f64>().unwrap()).abs() < 1e-6, "{row} {y}");
    }
    let text = world.run(&["explain", "r.lineal", "r.csv", "--rows", "1"]).done().out;
    assert!(text.contains("; the data says 3"), "{text}");
}

#[test]
fn a_page_has_one_block_per_row_and_escapes_names() {
    let world = World::new();
    world.file("x.csv", FRUIT.replace("apple", "<b>apple").replace("red", "<i>red"));
    world.run(&["train", "x.csv", "--label", "fruit", "-o", "m.lineal", "-q"]).done();
    world.run(&["explain", "m.lineal", "x.csv", "--html", "why.html"]).done().says(&["wrote"]);
    let page = String::from_utf8(world.bytes("why.html")).unwrap();
    assert_eq!(page.matches("<h2>Row ").count(), 9);
    assert!(page.contains("&lt;b&gt;apple") && page.contains("colour=&lt;i&gt;red"));
    assert!(!page.contains("<b>apple") && !page.contains("<i>red"));
}

#[test]
fn a_page_lights_up_the_words_that_counted() {
    let world = World::new();
    let rows = "the <invoice> is wrong,money\ncannot log in,access\n".repeat(10);
    world.file("t.csv", format!("text,label\n{rows}"));
    world
        .run(&["train", "t.csv", "--text", "text", "--label", "label", "-o", "m.lineal", "-q"])
        .done();
    world.run(&["explain", "m.lineal", "t.csv", "--rows", "1-2", "--html", "w.html", "-q"]).done();
    let page = String::from_utf8(world.bytes("w.html")).unwrap();
    assert_eq!(page.matches("<p class=\"text\">").count(), 2);
    assert!(page.contains(">invoice</mark>"), "{page}");
    assert!(page.contains("<mark class=\"for\"") && !page.contains("<invoice>"));
    let text = world.run(&["explain", "m.lineal", "t.csv", "--rows", "1"]).done().out;
    assert!(text.contains("invoice"), "{text}");
}

#[test]
fn what_cannot_be_explained() {
    let world = World::with_model(&[]);
    let explain =
        |flags: &[&str]| world.run(&[&["explain", "m.lineal", "fruit.csv"], flags].concat());
    explain(&["--rows", "3-10"]).failed(1, &["fruit.csv", "no row 10", "9 rows"]);
    explain(&["--class", "kiwi"]).failed(1, &["`kiwi` is not a class", "apple"]);
    explain(&["--html", "fruit.csv"]).failed(2, &["also an input"]);
    explain(&["--rows", "0"]).failed(2, &["counted from 1"]);
    assert_eq!(world.bytes("fruit.csv"), FRUIT.as_bytes());
}
