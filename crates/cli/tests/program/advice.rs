//! What messages advise can be done, and what they show can be read.

use crate::world::World;

#[test]
fn predict_and_eval_advise_no_flags_that_only_train_has() {
    let world = World::new();
    let rows: String = (0..20).map(|i| format!("{i},{}\n", i % 2)).collect();
    world.file("a.csv", format!("a,label\n{rows}"));
    world.run(&["train", "a.csv", "-o", "m.lineal", "-q"]).done();
    world.file("b.csv", "a,label\n1,0\nfoo,1\n");
    world.file("c.csv", "a,label\n1,0\n1e99,1\n");
    world.file("d.csv", "a,label\n1,0\n,1\n");
    for command in ["predict", "eval"] {
        let remedy = "correct it, leave the cell empty, or train again with --ignore a";
        world.run(&[command, "m.lineal", "b.csv"]).failed(1, &["b.csv:3:1", "`foo`", remedy]);
        world.run(&[command, "m.lineal", "c.csv"]).failed(1, &["c.csv:3:1", "`1e99`", remedy]);
        let run = world.run(&[command, "m.lineal", "d.csv"]).done();
        assert!(run.err.contains("1 missing number, read as the mean"), "{}", run.err);
        assert!(!run.err.contains("--categorical"), "{}", run.err);
    }
    let train = ["train", "b.csv", "-o", "m.lineal", "--numeric", "a"];
    world.run(&train).failed(1, &["leave the cell empty, or say --ignore a"]);
    let train = ["train", "c.csv", "-o", "m.lineal"];
    world.run(&train).failed(1, &["too large", "leave the cell empty, or say --ignore a"]);
    let train = ["train", "d.csv", "-o", "m.lineal"];
    world.run(&train).done().says(&["with --categorical a, missing is a category"]);
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let is_shown = |text: &str| text.chars().all(|c| !c.is_control() || c == '\n');
    let world = World::new();
    let long = "x".repeat(100);
    let rows: String = (0..30)
        .map(|i| format!("\"{}\",{}\n", ["a\u{0}\u{1b}[31m", "b\nc", &long][i % 3], i % 2))
        .collect();
    world.file("a.csv", format!("kind,label\n{rows}"));
    let run = world.run(&["train", "a.csv", "-o", "m.lineal"]).done();
    assert!(is_shown(&run.err), "{:?}", run.err);
    assert!(
        run.err.contains("a\\u{0}\\u{1b}[31m, b\\nc, xxxx") && !run.err.contains(&long),
        "{}",
        run.err
    );
    for command in
        [&["inspect", "m.lineal"][..], &["explain", "m.lineal", "a.csv", "--rows", "1-3"]]
    {
        let out = world.run(command).done().out;
        assert!(is_shown(&out), "{out:?}");
    }
    let binary: Vec<u8> =
        (0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 % 128).collect();
    world.file("b.csv", binary);
    let run = world.run(&["train", "b.csv", "-o", "n.lineal"]);
    assert!(run.code == 1 && is_shown(&run.err), "{run:?}");
    world.file("c.csv", "\u{7f}ELF\u{2}\u{0}\u{0},x\n1,2\n3,4\n");
    world
        .run(&["train", "c.csv", "-o", "n.lineal"])
        .failed(1, &["the columns are \\u{7f}ELF\\u{2}\\u{0}", "this is hardly a table"]);
}

#[test]
fn whole_numbers_of_a_small_table_are_predicted_as_numbers() {
    // Chin-ups and weights of linnerud's 20 men.
    let chins = [5, 2, 12, 12, 13, 4, 8, 6, 15, 17, 17, 13, 14, 1, 6, 12, 4, 11, 15, 2];
    let weights = [
        191, 189, 193, 162, 189, 182, 211, 167, 176, 154, 169, 166, 154, 247, 193, 202, 176, 157,
        156, 138,
    ];
    let rows = chins.iter().zip(weights).map(|(chins, weight)| format!("{chins},{weight}\n"));
    let world = World::new();
    world.file("men.csv", format!("chins,kilos\n{}", rows.collect::<String>()));
    world
        .run(&["train", "men.csv", "--label", "kilos", "-o", "m.lineal"])
        .done()
        .says(&["different numbers in 20 rows, so the task is regression", "--task classify"]);
}

#[test]
fn classes_that_differ_in_case_alone_are_said() {
    let world = World::new();
    let answers = ["Yes", "yes", "no"];
    let rows: String = (0..30).map(|i| format!("{i},{}\n", answers[i % 3])).collect();
    world.file("a.csv", format!("x,label\n{rows}"));
    world
        .run(&["train", "a.csv", "-o", "m.lineal"])
        .done()
        .says(&["the classes `Yes` and `yes` differ only in case", "label  label, 3 classes"]);
    world.file("b.csv", format!("x,label\n{}", rows.replace("Yes", "yes")));
    let run = world.run(&["train", "b.csv", "-o", "m.lineal"]).done();
    assert!(!run.err.contains("differ only"), "{}", run.err);
}

#[test]
fn attributes_of_crfsuite_on_standard_input_are_recognised() {
    let world = World::new();
    let data = "B\tw=the\tp=DT\nI\tw=dog\n\nO\tw=barks\tp=VB\tend=1\n\n".repeat(5);
    let train = ["train", "-", "--task", "tag", "-o", "m.lineal", "-q"];
    world.run_with_input(&train, &data).done();
    let run = world.run_with_input(&["predict", "m.lineal", "-"], &data).done();
    assert!(run.out.starts_with('B'), "{}", run.out);
    world
        .run_with_input(&["train", "-", "-o", "m.lineal"], &data)
        .failed(1, &["crfsuite holds sequences of tokens", "--task tag"]);
    // Attributes that are not recognised.
    world
        .run_with_input(&train, "B\tthe\tDT\nI\tdog\n\nO\tbarks\n")
        .failed(1, &["2 columns", "where line 1 has 3", "--format crfsuite"]);
    for weight in ["@weight 3", "@weight\t3", "@weight=3"] {
        world.file("w.crfsuite", format!("{weight}\n{data}"));
        world
            .run(&["train", "w.crfsuite", "--task", "tag", "-o", "m.lineal"])
            .failed(1, &["w.crfsuite:1: ", "is not a weight", "write @weight:3"]);
    }
}

#[test]
fn a_header_without_rows_and_a_table_of_one_column_are_recognised() {
    let world = World::new();
    let rows: String = (0..20).map(|i| format!("{i},{},{}\n", i * i, i % 2)).collect();
    world.file("a.csv", format!("a,b,label\n{rows}"));
    world.run(&["train", "a.csv", "-o", "m.lineal", "-q"]).done();
    let predict = ["predict", "m.lineal", "-"];
    for header in ["a,b\n", "a,b,label", "b\ta\n"] {
        world.run_with_input(&predict, header).failed(1, &["<stdin>: no rows after the header"]);
    }
    world
        .run_with_input(&["train", "-", "-o", "n.lineal"], "a,b,label\n")
        .failed(1, &["header of a table, and no rows"]);
    world.run(&["train", "a.csv", "-o", "m.lineal", "-q", "--ignore", "b"]).done();
    assert_eq!(world.run_with_input(&predict, "a\n1\n2\n").done().out.lines().count(), 2);
    world.run_with_input(&predict, "a\n").failed(1, &["<stdin>: no rows after the header"]);
}

#[test]
fn utf_32_is_told_from_utf_16() {
    let world = World::new();
    let text = "\u{feff}x,label\n1,a\n2,b\n";
    world.file("a.csv", text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>());
    world
        .run(&["train", "a.csv", "-o", "m.lineal"])
        .failed(1, &["a.csv: the file is in UTF-32", "iconv"]);
}

#[test]
fn names_of_tasks_and_metrics_are_understood_or_told() {
    let world = World::new();
    let rows: String = (0..20).map(|i| format!("{i},{}\n", i % 2)).collect();
    world.file("a.csv", format!("x,label\n{rows}"));
    world.run(&["train", "a.csv", "--task", "regressor", "-o", "m.lineal", "-q"]).done();
    world.file("a.conll", "the DT\ndog NN\n\nbarks VB\n");
    world.run(&["train", "a.conll", "--task", "pos", "-o", "m.lineal", "-q"]).done();
    world
        .run(&["tune", "a.csv", "--metric", "f1"])
        .failed(2, &["macro_f1", "micro_f1", "mean over classes"]);
}
