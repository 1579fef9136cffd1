//! Tables as people bring them, from the file to the answers.

use serde_json::Value;

use crate::world::{FRUIT, World};

/// Numbers to predict, which are not named as classes.
fn prices() -> String {
    let row = |i: usize| format!("{},{},{}\n", i % 13, (i * 7) % 10, 100 + 9 * (i % 13) + i % 3);
    format!("rooms,age,price\n{}", (0..120).map(row).collect::<String>())
}

/// Two classes of which the second is rare: a third of the rows with visits, and none of the others.
fn rare() -> String {
    let row = |i: usize| {
        let class = if i.is_multiple_of(8) { "yes" } else { "no" };
        let visits = u8::from(class == "yes" || i % 10 < 3);
        format!("{i},{visits},{class}\n")
    };
    format!("customer_id,visits,left\n{}", (0..320).map(row).collect::<String>())
}

#[test]
fn numbers_are_a_regression_in_every_command_that_trains() {
    let world = World::new();
    world.file("houses.csv", prices());
    let said = "so the task is regression (--task regress); if each number names a class, say --task classify";
    let label = ["houses.csv", "--label", "price", "--json"];
    let run = world.run(&[&["compare"], &label[..]].concat()).done().says(&[said]);
    let json = run.json();
    assert_eq!(json["task"], "regress");
    let rows = json["rows"].as_array().unwrap();
    let losses: Vec<&Value> = rows.iter().map(|row| &row["loss"]).collect();
    assert_eq!(losses, ["squared", "huber", "epsilon"]);
    assert!(rows.iter().all(|row| row["metrics"]["r2"].as_f64().unwrap() > 0.9), "{json}");
    let table = world.run(&["compare", "houses.csv", "--label", "price", "-q"]).done().out;
    assert!(table.starts_with("loss") && table.contains("rmse"), "{table}");

    let run = world.run(&[&["tune"], &label[..]].concat()).done().says(&[said]);
    let json = run.json();
    assert_eq!((&json["task"], &json["metric"]), (&"regress".into(), &"rmse".into()));
    let metric = ["--metric", "r2", "-q"];
    let json = world.run(&[&["tune"], &label[..], &metric].concat()).done().json();
    assert!(json["best"]["mean"].as_f64().unwrap() > 0.9, "{json}");

    let stream = ["--stream", "-o", "m.lineal", "--epochs", "20"];
    let run = world.run(&[&["train"], &label[..], &stream].concat()).done().says(&[said]);
    assert_eq!(run.json()["task"], "regress");
    // Standard input is looked at and still read as a whole.
    let stream = ["train", "-", "--label", "price", "--stream", "-o", "s.lineal", "--json"];
    let json = world.run_with_input(&stream, &prices()).done().json();
    assert_eq!((&json["task"], &json["rows"]), (&"regress".into(), &120.into()));

    // Tasks have the names that people know them by.
    for (name, task) in [("regression", "regress"), ("classification", "classify")] {
        let named = ["-o", "n.lineal", "-q", "--task", name];
        let json = world.run(&[&["train"], &label[..], &named].concat()).done().json();
        assert_eq!(json["task"], task);
    }
    let classes = ["--task", "classify", "-q"];
    let json = world.run(&[&["compare"], &label[..], &classes].concat()).done().json();
    assert_eq!(json["task"], "classify");
    world
        .run(&[
            "compare",
            "houses.csv",
            "--label",
            "price",
            "--task",
            "regress",
            "--strategies",
            "ova",
        ])
        .failed(2, &["--strategies"]);
}

#[test]
fn columns_are_carried_and_a_name_tells_the_form() {
    let world = World::new();
    let csv = format!("id,{}", FRUIT.replace('\n', "\n007,").trim_end_matches("007,"));
    world.file("fruit.csv", &csv);
    world
        .run(&["train", "fruit.csv", "--label", "fruit", "--ignore", "id", "-o", "m.lineal", "-q"])
        .done();
    let predict =
        |flags: &[&str]| world.run(&[&["predict", "m.lineal", "fruit.csv"], flags].concat());
    predict(&["-o", "p.csv"]).done();
    let lines = String::from_utf8(world.bytes("p.csv")).unwrap();
    assert_eq!(lines.lines().next(), Some("label"));
    predict(&["-o", "p.csv", "--keep", "id,fruit", "--proba"]).done();
    let lines = String::from_utf8(world.bytes("p.csv")).unwrap();
    assert_eq!(lines.lines().next(), Some("id,fruit,label,apple,banana,orange"));
    assert!(lines.lines().nth(1).unwrap().starts_with("007,apple,"), "{lines}");
    predict(&["-o", "p.jsonl", "--keep", "weight"]).done();
    let line = String::from_utf8(world.bytes("p.jsonl")).unwrap();
    let row: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert_eq!((&row["weight"], row["label"].is_string()), (&150.into(), true));
    // What was said counts more than the name.
    predict(&["-o", "p.csv", "--output", "text"]).done();
    assert_eq!(String::from_utf8(world.bytes("p.csv")).unwrap().lines().count(), 9);
    let all = predict(&["--keep", "all", "--output", "csv"]).done().out;
    assert!(all.starts_with("id,weight,colour,fruit,label\n007,150,red,apple,"), "{all}");
    let run = world.run_with_input(&["predict", "m.lineal", "-", "--keep", "id"], &csv).done();
    assert_eq!(run.out.lines().filter(|line| line.starts_with("007\t")).count(), 9);
    predict(&["--keep", "name"]).failed(1, &["no column \"name\"", "colour"]);

    // A column of the data that is called as the answer is does not hide it.
    world.file("named.csv", csv.replace("id,", "label,"));
    let named = ["predict", "m.lineal", "named.csv", "--keep", "label", "--output", "csv"];
    assert!(world.run(&named).done().out.starts_with("label,predicted\n007,"));
    // Rows of JSON have the same cells.
    world.run(&["convert", "fruit.csv", "fruit.jsonl", "-q"]).done();
    let json = ["predict", "m.lineal", "fruit.jsonl", "--keep", "id", "--output", "jsonl"];
    let line = world.run(&json).done().out;
    assert!(line.starts_with("{\"id\":\"007\",\"label\":"), "{line}");
    world.file("a.svm", "+1 1:1\n-1 2:1\n".repeat(5));
    world.run(&["train", "a.svm", "-o", "s.lineal", "-q"]).done();
    world.run(&["predict", "s.lineal", "a.svm", "--keep", "id"]).failed(1, &["no columns"]);
}

#[test]
fn two_classes_are_cut_where_the_user_says_or_where_it_is_best() {
    let world = World::new();
    world.file("churn.csv", rare());
    let train = |flags: &[&str]| {
        let command = ["train", "churn.csv", "--label", "left", "-o", "m.lineal", "--json"];
        world.run(&[&command[..], &["--test", "churn.csv"], flags].concat())
    };
    let f1 = |json: &Value| json["test"]["macro_f1"].as_f64().unwrap();
    let run = train(&[]).done();
    run.says(&["class \"yes\" (40 rows) is never predicted"]);
    let counts = |flags: &[&str]| {
        let out = world.run(&[&["predict", "m.lineal", "churn.csv"], flags].concat()).done().out;
        out.lines().filter(|line| line.starts_with("yes")).count()
    };
    let (none, some, all) =
        (counts(&[]), counts(&["--threshold", "0.2"]), counts(&["--threshold", "0.000001"]));
    assert_eq!((none, all), (0, 320));
    assert!(some > 40 && some < 200, "{some}");
    // The answer follows the probability that is shown.
    let out = world.run(&["predict", "m.lineal", "churn.csv", "--threshold", "0.2", "--proba"]);
    for line in out.done().out.lines() {
        let p: f64 = line.rsplit_once(':').unwrap().1.parse().unwrap();
        assert_eq!(line.starts_with("yes"), p > 0.2, "{line}");
    }
    let eval = |flags: &[&str]| {
        let command = ["eval", "m.lineal", "churn.csv", "--json", "-q"];
        world.run(&[&command[..], flags].concat()).done().json()
    };
    assert!(eval(&["--threshold", "0.2"])["macro_f1"].as_f64() > eval(&[])["macro_f1"].as_f64());
    let plain = f1(&train(&["-q"]).done().json());
    for aim in ["auto", "f1", "macro-f1", "cost:1,6", "0.2"] {
        let run = train(&["--threshold", aim]).done();
        assert!(f1(&run.json()) > plain + 0.1, "{aim}: {plain} {}", f1(&run.json()));
        assert!(counts(&[]) > 10, "{aim}");
    }
    // With calibrated scores and another loss, too.
    let run =
        train(&["--threshold", "auto", "--loss", "squared-hinge", "--calibrate", "platt"]).done();
    assert!(f1(&run.json()) > plain + 0.1);
    run.says(&["to fit probabilities and thresholds", "threshold: yes if its score is at least "]);
    // The lead is over the threshold: it is positive for each answer, and adds up.
    train(&["--threshold", "auto", "-q"]).done();
    let explain = ["explain", "m.lineal", "churn.csv", "--output", "jsonl", "--rows", "1-8"];
    for line in world.run(&explain).done().out.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert!(row["lead"].as_f64().unwrap() > 0.0 && row["threshold"].is_number(), "{row}");
    }
    // A stored threshold can be overruled.
    assert_eq!(counts(&["--threshold", "0.999"]), 0);

    train(&["--threshold", "micro-f1"]).failed(1, &["--task multilabel", "macro-f1"]);
    train(&["--threshold", "2"]).failed(2, &["auto, f1"]);
    train(&["--loss", "hinge", "-q"]).done();
    let no_proba = ["predict", "m.lineal", "churn.csv", "--threshold", "0.2"];
    world.run(&no_proba).failed(1, &["hinge", "--calibrate"]);
    world.file("fruit.csv", FRUIT);
    let three = ["train", "fruit.csv", "--label", "fruit", "-o", "f.lineal", "--threshold", "auto"];
    world.run(&three).failed(1, &["two classes", "3 classes"]);
    world.run(&["train", "fruit.csv", "--label", "fruit", "-o", "f.lineal", "-q"]).done();
    let three = ["eval", "f.lineal", "fruit.csv", "--threshold", "0.3"];
    world.run(&three).failed(1, &["two classes"]);
}

#[test]
fn a_model_remembers_how_its_file_was_read() {
    let world = World::new();
    // Without the flags: one column, and characters that are none.
    let rows: String =
        (0..40).map(|i| if i % 2 == 0 { "caf\u{e9}~1\n" } else { "th\u{e9}~2\n" }).collect();
    let latin: Vec<u8> = rows.chars().map(|c| c as u8).collect();
    world.file("drinks.csv", &latin);
    let train = ["train", "drinks.csv", "--no-header", "--delimiter", "~", "--encoding", "latin1"];
    let more = ["--label", "1", "--task", "classify", "-o", "m.lineal", "-q"];
    world.run(&[&train[..], &more].concat()).done();
    let json = world.run(&["eval", "m.lineal", "drinks.csv", "--json", "-q"]).done().json();
    assert_eq!((&json["accuracy"], &json["examples"]), (&1.0.into(), &40.into()));
    let out = world.run(&["predict", "m.lineal", "drinks.csv"]).done().out;
    assert!(out.starts_with("café\nthé\n"), "{out}");
    // A file in UTF-8 is still read as one, and another separator is found.
    world.file("utf8.csv", "café,1\nthé,2\n".repeat(3));
    let json = world.run(&["eval", "m.lineal", "utf8.csv", "--json", "-q"]).done().json();
    assert_eq!((&json["accuracy"], &json["examples"]), (&1.0.into(), &6.into()));
}

#[test]
fn the_format_of_standard_input_is_recognised() {
    let world = World::new();
    world.file(
        "t.csv",
        "text,label\nthe cat purrs,cat\nthe dog barks,dog\n".to_owned()
            + &"a cat,cat\na dog,dog\n".repeat(9),
    );
    world.run(&["train", "t.csv", "--text", "text", "-o", "m.lineal", "-q"]).done();
    let predict =
        |input: &str| world.run_with_input(&["predict", "m.lineal", "-"], input).done().out;
    assert_eq!(predict("my dog\nmy cat\n"), "dog\ncat\n");
    assert_eq!(predict("text,label\nmy dog,cat\n\"a cat, black\",dog\n"), "dog\ncat\n");
    assert_eq!(predict("id\ttext\n1\tmy dog\n2\tmy cat\n"), "dog\ncat\n");
    assert_eq!(predict("{\"text\":\"my dog\"}\n{\"text\":\"my cat\"}\n"), "dog\ncat\n");
    // Text that only looks like JSON is text.
    assert_eq!(predict("{dog}\n{cat}\n"), "dog\ncat\n");
    for (input, label) in
        [(FRUIT, "fruit"), ("{\"a\":1,\"label\":\"x\"}\n{\"a\":2,\"label\":\"y\"}\n", "label")]
    {
        let train = ["train", "-", "--label", label, "-o", "f.lineal", "-q"];
        world.run_with_input(&train, input).done();
        let eval = ["eval", "f.lineal", "-", "--json", "-q"];
        assert!(world.run_with_input(&eval, input).done().json()["accuracy"].is_number());
    }
}

#[test]
fn a_messy_table_trains_without_a_flag_but_the_label() {
    let world = World::new();
    let mut csv = String::from("order_id|placed|spent|discount|postcode|age|remark|returned\n");
    for i in 0..60 {
        let spent = format!("${},{:03}.50", 1 + i % 3, (i * 37) % 1000);
        let age = if i % 9 == 0 { "n/a".to_owned() } else { (20 + i % 40).to_string() };
        let (remark, returned) = match i % 2 {
            0 => (format!("parcel {i} came broken and wet"), "yes"),
            _ => (format!("parcel {i} came quickly and well"), "no"),
        };
        csv += &format!(
            "A-{i}|{:02}.{:02}.2024|{spent}|{}%|0{}12|{age}|{remark}|{returned}\n",
            1 + i % 28,
            1 + i % 12,
            i % 30,
            1 + i % 4
        );
    }
    world.file("orders.csv", &csv);
    let train = ["train", "orders.csv", "--label", "returned", "-o", "m.lineal"];
    let run = world.run(&[&train[..], &["--test", "orders.csv", "--json"]].concat()).done();
    let json = run.json();
    assert_eq!(json["test"]["accuracy"], 1.0);
    assert_eq!((&json["test"]["baseline"], json["converged"].as_bool()), (&0.5.into(), Some(true)));
    run.says(&[
        "order_id  ignored: identifies the row",
        "placed    date",
        "spent     numeric",
        "discount  numeric",
        "postcode  categorical, 4 values: 0112",
        "age       numeric",
        "remark    text",
        "column \"age\" has 7 missing numbers, read as the mean",
    ]);
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(csv.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    world.file("utf16.csv", utf16);
    let eval = |name: &str| world.run(&["eval", "m.lineal", name, "--json", "-q"]).done().json();
    assert_eq!(eval("utf16.csv")["accuracy"], 1.0);
    world.file("orders.tsv", csv.replace('|', "\t"));
    assert_eq!(eval("orders.tsv")["accuracy"], 1.0);
}

#[test]
fn columns_that_are_aligned_by_spaces_are_found() {
    let world = World::new();
    let row = |i: usize| {
        let (name, class) =
            (format!("SEQ{i}_ECOLI"), if i.is_multiple_of(2) { "cp" } else { "im" });
        format!("{name:<12} 0.{:02}   {:>5}  {class}\n", 10 + (i * 7) % 80, 1 + i % 2 * 4)
    };
    let rows: String = (0..40).map(row).collect();
    // As the file of the repository is called, and as a table of a known kind.
    for name in ["ecoli.data", "ecoli.csv"] {
        world.file(name, &rows);
        let train = ["train", name, "--label", "4", "-o", "m.lineal", "--json"];
        let run = world.run(&train).done();
        assert_eq!((&run.json()["examples"], &run.json()["features"]), (&40.into(), &2.into()));
        run.says(&["1  ignored: different in most rows", "2  numeric", "3  numeric"]);
        let json = world.run(&["eval", "m.lineal", name, "--json", "-q"]).done().json();
        assert_eq!(json["accuracy"], 1.0);
    }
    // A text is not cut, even if it has numbers.
    world.file("t.csv", format!("text\n{}", "room 12 is cold\nroom 7 is warm\n".repeat(9)));
    world.run(&["train", "t.csv", "-o", "m.lineal"]).failed(1, &["the columns are text"]);
    let said = ["train", "ecoli.csv", "--label", "4", "--delimiter", "spaces", "-o", "m.lineal"];
    world.run(&said).done();
}

#[test]
fn what_concerns_several_columns_is_one_warning() {
    let world = World::new();
    let rows: String = (0..30).map(|i| format!("{},{},?,x,u,{}\n", i, i * i % 7, i % 2)).collect();
    let holes: String = (0..30).map(|i| format!(",NA,{i},x,u,{}\n", i % 2)).collect();
    world.file("t.csv", format!("a,b,c,d,e,label\n{rows}{holes}"));
    let train = ["train", "t.csv", "-o", "m.lineal", "--task", "classify"];
    let run = world.run(&train).done();
    assert_eq!(run.err.matches("warning: ").count(), 1, "{}", run.err);
    run.says(&["3 columns have missing numbers (90 in all", "the mean of the column"]);
    world.file("new.csv", "a,b,c,d,e,label\n1,2,3,y,v,0\n1,2,3,z,u,1\n");
    let run = world.run(&["predict", "m.lineal", "new.csv"]).done();
    assert_eq!(run.err.matches("warning: ").count(), 1, "{}", run.err);
    run.says(&["2 columns have values that training did not see (3 in all, such as", "taken as 0"]);
    world.file("odd.csv", format!("a,b,label\n{}oops,bad,1\n", "1,2,0\n3,4,1\n".repeat(20)));
    let run = world.run(&["train", "odd.csv", "-o", "m.lineal", "--task", "classify"]).done();
    assert_eq!(run.err.matches("is not numeric because of").count(), 1, "{}", run.err);
    run.says(&["(and 1 more column like it)"]);
}

#[test]
fn columns_on_any_scale_converge_and_are_ranked_by_what_they_do() {
    let world = World::new();
    // Grams decide, and their weight is small; kilometres do little, and their weight is large.
    let row = |i: usize| {
        let (grams, km) = ((i * 7919) % 10_000, ((i * 31) % 7) as f64 / 1000.0);
        let class = if grams as f64 + 100_000.0 * km > 5200.0 { "late" } else { "early" };
        format!("{grams},{km},{class}\n")
    };
    world.file("t.csv", format!("grams,km,label\n{}", (0..300).map(row).collect::<String>()));
    let train = ["train", "t.csv", "-o", "m.lineal", "--json", "-q"];
    let json = world.run(&train).done().json();
    assert!(json["converged"].as_bool() == Some(true) && json["passes"].as_u64().unwrap() < 30);
    let facts = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    let top = facts["top_features"][0]["features"].as_array().unwrap();
    let weight = |at: usize| top[at][1].as_f64().unwrap().abs();
    assert_eq!((&top[0][0], weight(0) < weight(1)), (&"grams".into(), true), "{top:?}");
    // An average row is explained by nothing: contributions are differences from it.
    let explain = ["explain", "m.lineal", "t.csv", "--rows", "1", "--output", "jsonl"];
    let row: Value = serde_json::from_str(&world.run(&explain).done().out).unwrap();
    assert!(row.to_string().contains("grams"), "{row}");
}

#[test]
fn a_first_row_of_data_and_objects_within_objects_are_read() {
    let world = World::new();
    world.file("t.csv", "5.1,3.5,a\n4.9,3.0,b\n".repeat(10));
    let run = world.run(&["train", "t.csv", "--label", "3", "-o", "m.lineal", "--json"]).done();
    assert_eq!(run.json()["examples"], 20);
    run.says(&["--header"]);
    let json = world.run(&["eval", "m.lineal", "t.csv", "--json", "-q"]).done().json();
    assert_eq!((&json["examples"], &json["accuracy"]), (&20.into(), &1.0.into()));
    let rows = "{\"user\":{\"age\":31,\"plan\":{\"name\":\"free\"}},\"label\":\"stays\"}\n\
                {\"user\":{\"age\":62,\"plan\":{\"name\":\"paid\"}},\"label\":\"leaves\"}\n";
    world.file("t.jsonl", rows.repeat(10));
    let run = world.run(&["train", "t.jsonl", "-o", "j.lineal"]).done();
    run.says(&["user.age", "numeric", "user.plan.name", "categorical, 2 values: free, paid"]);
    world.file("latin.csv", [&b"town,label\n"[..], &b"caf\xe9,a\nbar,b\n".repeat(5)].concat());
    world.run(&["train", "latin.csv", "-o", "l.lineal"]).failed(1, &["--encoding latin1"]);
    for name in ["latin1", "latin-1", "Latin-1", "iso-8859-1"] {
        world.run(&["train", "latin.csv", "-o", "l.lineal", "--encoding", name, "-q"]).done();
    }
    // Tokyo in Shift-JIS, and UTF-16 without a mark.
    let rows = b"\x93\x8c\x8b\x9e,a\nbar,b\n".repeat(5);
    world.file("japanese.csv", [&b"town,label\n"[..], &rows].concat());
    world.run(&["train", "japanese.csv", "-o", "l.lineal"]).failed(1, &["--encoding shift_jis"]);
    let text = format!("town,label\n{}", "café,a\nbar,b\n".repeat(5));
    world.file("wide.csv", text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>());
    let run = world.run(&["train", "wide.csv", "-o", "l.lineal"]).done();
    run.says(&["categorical, 2 values: bar, café"]);
}
