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
    run(&["-C", "1e25", "--tol", "1e-9"]).done().says(&[
        "stopped after 1 pass",
        "did not converge",
        "lower -C, which is 1e25",
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
        ("a.csv", ["Parquet", "a name that ends in .parquet"]),
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

#[test]
fn a_header_of_numbers_is_told_by_the_name_of_the_label() {
    let world = World::new();
    let row = |i: usize| format!("{},{},{}\n", i % 7, i % 5, if i % 7 > 3 { "a" } else { "b" });
    let rows: String = (0..60).map(row).collect();
    for (header, label) in [("2019,2020,outcome", "outcome"), ("2019,2020,label", "label")] {
        world.file("years.csv", format!("{header}\n{rows}"));
        let train = ["train", "years.csv", "-o", "m.lineal", "--label", label];
        // A usual name needs no flag.
        let given = if label == "label" { &train[..4] } else { &train[..] };
        let run = world.run(given).done().says(&["60 rows", "2019", "2020", "label, 2 classes"]);
        assert!(!run.err.contains("looks like data"), "{}", run.err);
    }
}

#[test]
fn columns_of_one_name_are_told_apart_as_pandas_does() {
    let world = World::new();
    let row = |i: usize| format!("{},{},{}\n", i % 5, i % 7, if i % 7 > 3 { "a" } else { "b" });
    let rows: String = (0..70).map(row).collect();
    world.file("t.csv", format!("size,size,label\n{rows}"));
    world.run(&["train", "t.csv", "-o", "m.lineal"]).done().says(&[
        "two columns are named `size`; the later one is called `size.1`",
        "size.1  numeric",
    ]);
    // The model asks for the same names of other files.
    world.file("new.csv", "size,size\n0,6\n4,0\n");
    assert_eq!(world.run(&["predict", "m.lineal", "new.csv"]).done().out, "a\nb\n");
    world.file("new.csv", "size.1,size\n6,0\n0,4\n");
    assert_eq!(world.run(&["predict", "m.lineal", "new.csv"]).done().out, "a\nb\n");
}

#[test]
fn a_first_line_for_excel_names_the_separator() {
    let world = World::new();
    let row = |i: usize| format!("{}|{}|{}\n", i % 5, i % 7, if i % 7 > 3 { "a" } else { "b" });
    let rows: String = (0..70).map(row).collect();
    world.file("t.csv", format!("\u{feff}sep=|\r\nx|y|label\n{rows}"));
    world.run(&["train", "t.csv", "-o", "m.lineal", "--test", "t.csv"]).done().says(&[
        "70 rows",
        "x      numeric",
        "accuracy 1.0000",
    ]);
    // A file without the line is read all the same, and standard input as well.
    let run = world
        .run_with_input(&["predict", "m.lineal", "-", "--keep", "x"], "sep=|\nx|y\n3|6\n")
        .done();
    assert_eq!(run.out, "3\ta\n");
    world.file("plain.csv", "x,y\n3,6\n");
    assert_eq!(world.run(&["predict", "m.lineal", "plain.csv"]).done().out, "a\n");
}

#[test]
fn the_area_under_precision_and_recall_says_of_which_class() {
    let world = World::new();
    let row =
        |i: usize| format!("{},{}\n", i % 10, if i.is_multiple_of(10) { "fraud" } else { "ok" });
    world.file("t.csv", format!("x,label\n{}", (0..100).map(row).collect::<String>()));
    world.run(&["train", "t.csv", "-o", "m.lineal", "-q"]).done();
    let eval = world.run(&["eval", "m.lineal", "t.csv"]).done();
    let line = eval.out.lines().find(|line| line.starts_with("pr_auc")).unwrap();
    assert!(line.ends_with("(class ok)"), "{line}");
}

/// Forty rows that Arrow wrote.
const ARROW: &[u8] = include_bytes!("../../../parquet/tests/data/snappy.parquet");

#[test]
fn parquet_files_are_tables() {
    let world = World::new();
    world.file("t.parquet", ARROW);
    world.file("t.jsonl", include_bytes!("../../../parquet/tests/data/table.jsonl"));
    let leave = ["--label", "colour", "--ignore", "tags,pairs"];
    let train =
        |data, model| world.run(&[&["train", data, "-o", model], &leave[..]].concat()).done();
    let run = train("t.parquet", "p.lineal").says(&[
        "t.parquet: 40 rows",
        "person.home.zip",
        "2 columns have missing numbers (9 in all",
    ]);
    let kind = |column: &str| {
        let line = run.err.lines().find(|line| line.split_whitespace().next() == Some(column));
        line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or_default().to_owned()
    };
    assert_eq!(["day", "moment", "nanos"].map(kind), ["date"; 3]);
    assert_eq!(["whole", "price", "single"].map(kind), ["numeric"; 3]);
    // The same rows are the same model, whatever they were read from, and have the same answers.
    train("t.jsonl", "j.lineal");
    let predict = |args: &[&str]| world.run(&[&["predict", "-q"], args].concat()).done().out;
    let answers = predict(&["j.lineal", "t.jsonl", "--proba"]);
    assert_eq!(predict(&["p.lineal", "t.parquet", "--proba"]), answers);
    let kept = predict(&["p.lineal", "t.parquet", "--keep", "small"]);
    assert!(kept.starts_with("-1\t"), "{kept}");
    world.run(&["convert", "t.parquet", "u.jsonl", "-q"]).done();
    assert!(world.bytes("u.jsonl").starts_with(b"{\"whole\":-7"));
    let stream = ["train", "t.parquet", "-o", "s.lineal", "--stream", "-q"];
    world.run(&[&stream[..], &leave[..]].concat()).done();
}

#[test]
fn parquet_files_that_are_damaged_or_not_written_are_told() {
    let world = World::new();
    let said = |name: &str, bytes: &[u8], parts: &[&str]| {
        world.file(name, bytes);
        world.run(&["train", name, "--label", "colour", "-o", "m.lineal"]).failed(1, parts);
    };
    said("a.parquet", &ARROW[..ARROW.len() - 9], &["a.parquet", "damaged", "write it again"]);
    said("b.parquet", b"whole,colour\n1,red\n", &["ends in .parquet", "rename the file"]);
    let brotli = include_bytes!("../../../parquet/tests/data/brotli.parquet");
    said("c.parquet", brotli, &["Brotli", "compression=\"zstd\""]);
    let mut damaged = ARROW.to_vec();
    damaged[40..400].fill(0xee);
    said("d.parquet", &damaged, &["d.parquet", "damaged"]);
    world.file("e.csv", "x,label\n1,a\n2,b\n");
    world.run(&["convert", "e.csv", "e.parquet"]).failed(1, &["Parquet is read and not written"]);
    assert!(!world.has("e.parquet") && !world.has("m.lineal"));
}

#[test]
fn row_numbers_and_names_that_pandas_and_r_write_are_left_out() {
    // As pandas writes a part of a table: no name above the numbers of the rows, which do not follow each other.
    let row = |i: usize| format!("{},{},{}\n", i * 7 % 100, i % 13, ["no", "yes"][i / 50]);
    let rows: String = (0..100).map(row).collect();
    let world = World::new();
    for name in ["", "Unnamed: 0", "index", "rownames"] {
        world.file("a.csv", format!("{name},x,label\n{rows}"));
        let run = world.run(&["train", "a.csv", "-o", "m.lineal", "--json"]).done();
        assert_eq!(run.json()["features"], 1, "{name}: {}", run.err);
        run.says(&["ignored: identifies the row"]);
        assert!(world.run(&["eval", "m.lineal", "a.csv"]).done().err.is_empty());
    }
    // Where numbers come twice, or are not whole, they tell something.
    world.file("a.csv", format!(",x,label\n{}", rows.replace("\n7,", "\n14,")));
    world.run(&["train", "a.csv", "-o", "m.lineal"]).done().says(&["1      numeric"]);
    let fractions: String = (0..40).map(|i| format!("{}.5,{},{}\n", i, i % 7, i % 2)).collect();
    world.file("a.csv", format!("index,x,label\n{fractions}"));
    world.run(&["train", "a.csv", "-o", "m.lineal"]).done().says(&["index  numeric"]);

    // As R's write.table does it: the names of the rows have no header.
    let row = |i: usize, separator: char| {
        let cells = [
            format!("\"row {i}\""),
            (i % 13).to_string(),
            (i % 5).to_string(),
            (i / 50).to_string(),
        ];
        cells.join(&separator.to_string()) + "\n"
    };
    for separator in [',', ';', '\t', ' '] {
        let rows: String = (0..100).map(|i| row(i, separator)).collect();
        let header = ["\"x\"", "\"z\"", "\"label\""].join(&separator.to_string());
        world.file("r.txt", format!("{header}\n{rows}"));
        let train = ["train", "r.txt", "--format", "csv", "-o", "m.lineal", "--json"];
        let run = world.run(&train).done();
        assert_eq!(run.json()["features"], 2, "{separator:?}: {}", run.err);
        run.says(&["the first cell is taken for the name of the row", "1      ignored"]);
        let eval = ["eval", "m.lineal", "r.txt", "--format", "csv", "--json"];
        assert_eq!(world.run(&eval).done().json()["examples"], 100);
    }
    // A separator at the end of each row.
    let rows: String = (0..40).map(|i| format!("{};{};{};\n", i % 7, i % 3, i % 2)).collect();
    world.file("t.csv", format!("x;z;label\n{rows}"));
    let run = world.run(&["train", "t.csv", "-o", "m.lineal"]).done();
    run.says(&["x      numeric", "4      ignored: empty in every row"]);
    // One longer row is a mistake.
    world.file("t.csv", "x,z,label\n1,2,a\n1,2,3,b\n2,1,b\n");
    world.run(&["train", "t.csv", "-o", "m.lineal"]).failed(1, &["t.csv:3: 4 fields"]);
}

#[test]
fn marks_of_other_programs_for_missing_numbers_and_other_currencies_are_read() {
    let marks = ["", ".", "n.a.", "<NA>", "NaT", "#DIV/0!", "#VALUE!"];
    let row = |i: usize| {
        let mark =
            if i.is_multiple_of(3) { marks[i / 3 % marks.len()].to_owned() } else { i.to_string() };
        format!("{mark},₹1 {:03},{} zł,{}\n", i * 7, i % 9, i % 2)
    };
    let world = World::new();
    world.file("a.csv", format!("x,rupees,other,label\n{}", (0..90).map(row).collect::<String>()));
    world.run(&["train", "a.csv", "-o", "m.lineal"]).done().says(&[
        "x       numeric",
        "rupees  numeric",
        "column \"x\" has 30 missing numbers",
    ]);
}

#[test]
fn rows_without_a_label_are_left_out_and_counted() {
    let world = World::new();
    let numbers = |i: usize| match i % 10 {
        3 => "NA".to_owned(),
        7 => String::new(),
        _ => format!("{}.5", 2 * (i % 17)),
    };
    let is_low = |i: usize| i % 17 < 8;
    let classes = |i: usize| match (i % 10, is_low(i)) {
        (7, _) => String::new(),
        (_, true) => "low".to_owned(),
        (_, false) => "high".to_owned(),
    };
    let a_note = |_: usize| "a".to_owned();
    let text = |i: usize| {
        let when = if is_low(i) { "soon" } else { "late" };
        format!("parcel {i} came {when} and wet")
    };
    type Cells<'a> = &'a dyn Fn(usize) -> String;
    let cases: [(Cells<'_>, Cells<'_>, usize); 3] =
        [(&numbers, &a_note, 20), (&classes, &a_note, 10), (&classes, &text, 10)];
    for (label, note, left_out) in cases {
        let row = |i: usize| format!("{},{},{}\n", i % 17, note(i), label(i));
        world.file("a.csv", format!("x,note,amount\n{}", (0..100).map(row).collect::<String>()));
        let train = ["train", "a.csv", "--label", "amount", "-o", "m.lineal"];
        let run = world.run(&[&train[..], &["--test", "a.csv", "--json"]].concat()).done();
        let json = run.json();
        assert_eq!(json["examples"], 100 - left_out);
        let score = json["test"]["r2"].as_f64().or(json["test"]["accuracy"].as_f64());
        assert!(score.unwrap() > 0.9, "{json}");
        let said = format!("a.csv: {left_out} rows without a label are left out (the first is in");
        assert!(!run.err.contains("did not see"), "{}", run.err);
        run.says(&[said.as_str()]);
        let eval = ["eval", "m.lineal", "a.csv", "--json", "--report", "r.html"];
        assert_eq!(world.run(&eval).done().json(), json["test"]);
        // Each row has an answer.
        assert_eq!(world.run(&["predict", "m.lineal", "a.csv"]).done().out.lines().count(), 100);
        world.run(&["tune", "a.csv", "--label", "amount", "-C", "1"]).done();
        world.run(&["compare", "a.csv", "--label", "amount", "--test", "a.csv"]).done();
        let run = world.run(&[&train[..], &["--strict"]].concat());
        assert!(run.code == 1 && run.err.contains("label"), "{run:?}");
    }
    world.file("a.csv", "x,label\n1,\n2,\n");
    world
        .run(&["train", "a.csv", "-o", "m.lineal", "--task", "classify"])
        .failed(1, &["a.csv: no row has a label", "--label"]);
    let row = |i: usize| format!("{i},{}\n", ["NA", "a", "b"][i % 3]);
    world.file("a.csv", format!("x,label\n{}", (0..60).map(row).collect::<String>()));
    let run = world.run(&["train", "a.csv", "-o", "m.lineal"]).done();
    run.says(&["`NA` is a class like the others"]);
}

#[test]
fn a_carriage_return_within_a_cell_does_not_end_the_row() {
    let row = |i: usize| format!("word{}\rmore,\"{}\",{}\r\n", i % 5, i % 7, i % 2);
    let rows: String = (0..40).map(row).collect();
    let world = World::new();
    world.file("a.csv", format!("name,x,label\r\n\r\n{rows}\r\n"));
    let run = world.run(&["train", "a.csv", "-o", "m.lineal", "--json"]).done();
    assert_eq!((&run.json()["examples"], &run.json()["features"]), (&40.into(), &6.into()));
    run.says(&["name   categorical, 5 values: word0\\rmore", "x      numeric"]);
    // Where rows end so, it does.
    let rows: String = (0..40).map(|i| format!("{},{}\r", i % 7, i % 2)).collect();
    world.file("mac.csv", format!("x,label\r{rows}"));
    let run = world.run(&["train", "mac.csv", "-o", "m.lineal", "--json"]).done();
    assert_eq!(run.json()["examples"], 40);
}
