//! No number that is given makes the program panic, hang or take the memory of the machine.

use crate::world::{FRUIT, Run, TINY, World};

/// What a number can be set to that nobody should.
const NUMBERS: [&str; 6] = ["0", "1", "1000000000", "1000000000000", "18446744073709551615", "-1"];

/// Runs in 4 GB of addresses.
#[cfg(target_os = "linux")]
fn within(world: &World, args: &[&str]) -> Run {
    let mut shell = std::process::Command::new("sh");
    shell
        .current_dir(world.path(""))
        .args(["-c", "ulimit -v 4000000; ulimit -c 0; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_lineal"))
        .args(args);
    shell.output().unwrap().into()
}

/// A result, or one message and exit code 1 or 2.
#[cfg(target_os = "linux")]
fn check(world: &World, flags: &[&str], command: &[&str]) {
    for flag in flags {
        for number in NUMBERS {
            let given = format!("{flag}={number}");
            let args = [command, &[&given]].concat();
            let run = within(world, &args);
            let shown = format!("lineal {}\n{}", args.join(" "), run.err);
            match run.code {
                0 => {}
                1 | 2 => assert_eq!(run.err.matches("error: ").count(), 1, "{shown}"),
                code => panic!("exit code {code} of {shown}"),
            }
            assert!(!run.err.contains("backtrace"), "{shown}");
        }
    }
}

/// Rows of five classes.
fn many() -> String {
    (0..20).map(|i| format!("{} {}:1 {}:{}\n", i % 5, i % 5 + 1, i % 5 + 7, i / 5)).collect()
}

const TOKENS: &str = "the DT B\ndog NN I\nruns VB O\n\na DT B\ncat NN I\nsits VB O\n\n";

#[cfg(target_os = "linux")]
mod of_flags {
    use super::*;

    #[test]
    fn of_training() {
        let world = World::new();
        world.file("a.svm", TINY.repeat(4));
        world.file("m.svm", many());
        let out = ["-o", "o.lineal", "-q", "--threads", "1"];
        let on = |args: &[&'static str]| -> Vec<&'static str> { [args, &out].concat() };
        let flags = ["-C", "--l2", "--l1", "--tol", "--max-passes", "--seed", "--validation"];
        check(&world, &flags, &on(&["train", "a.svm"]));
        let sgd = ["train", "a.svm", "--solver", "sgd", "--epochs", "3"];
        check(&world, &["--batch-size", "--rate", "--patience"], &on(&sgd));
        check(&world, &["--folds"], &on(&["train", "m.svm", "--calibrate", "platt"]));
        check(&world, &["--code-length"], &on(&["train", "m.svm", "--strategy", "ecoc"]));
        let tree = ["train", "m.svm", "--strategy", "tree"];
        check(&world, &["--leaf-size", "--beam"], &on(&tree));
        let regress = ["train", "a.svm", "--task", "regress"];
        check(&world, &["--delta"], &on(&[&regress[..], &["--loss", "huber"]].concat()));
        check(&world, &["--epsilon"], &on(&[&regress[..], &["--loss", "epsilon"]].concat()));
        let flags = ["--map=fourier", "--map=polynomial"].map(|map| map.to_owned());
        for map in flags {
            for number in NUMBERS {
                let run =
                    within(&world, &["train", "a.svm", &format!("{map}:{number}"), "-o", "o"]);
                assert!(matches!(run.code, 0..=2), "{map}:{number} {run:?}");
            }
        }
    }

    #[test]
    fn of_streams() {
        let world = World::new();
        world.file("a.svm", TINY.repeat(4));
        let stream = ["train", "a.svm", "--stream", "-o", "o.lineal", "-q", "--threads", "1"];
        check(
            &world,
            &["--checkpoint", "--chunk", "--sample", "--rate", "--l2", "--seed"],
            &stream,
        );
    }

    #[test]
    fn of_text() {
        let world = World::new();
        let rows = "a,good fine thing\nb,bad worse thing\n".repeat(4);
        world.file("t.csv", format!("label,text\n{rows}"));
        let text = ["train", "t.csv", "--label", "label", "--text", "text"];
        let train = [&text[..], &["-o", "o.lineal", "-q", "--threads", "1"]].concat();
        let flags = [
            "--hash",
            "--min-df",
            "--max-df",
            "--max-features",
            "--ngrams",
            "--chars",
            "--prefixes",
            "--suffixes",
        ];
        check(&world, &flags, &train);
        check(&world, &["--chunk", "--sample"], &[&train[..], &["--stream"]].concat());
        let convert = ["convert", "t.csv", "x.svm", "--label", "label", "--text", "text"];
        check(&world, &["--hash", "--max-features", "--seed"], &convert);
    }

    #[test]
    fn of_predictions() {
        let world = World::with_model(&[]);
        world.file("m.svm", many());
        world.file("s.conll", TOKENS.repeat(3));
        let train = |args: &[&str]| world.run(&[&["train"], args, &["-q"]].concat()).done();
        train(&["m.svm", "--strategy", "tree", "-o", "tree"]);
        train(&["s.conll", "--task", "tag", "--epochs", "2", "-o", "tag"]);
        for (model, data) in [("m.lineal", "fruit.csv"), ("tree", "m.svm"), ("tag", "s.conll")] {
            let flags = ["--top", "--n-best", "--review-below", "--threads"];
            check(&world, &flags, &["predict", model, data]);
            check(&world, &["--top"], &["predict", model, data, "--output", "csv"]);
            check(&world, &["--seed"], &["predict", model, data, "--sample"]);
            check(&world, &["--top"], &["inspect", model, "--json"]);
            check(&world, &["--top", "--rows", "--token"], &["explain", model, data]);
            check(&world, &["--threads"], &["eval", model, data]);
        }
    }

    #[test]
    fn of_sequences_and_rankings() {
        let world = World::new();
        world.file("s.conll", TOKENS.repeat(3));
        let rows = |q| format!("1 qid:{q} 1:1\n0 qid:{q} 2:1\n2 qid:{q} 1:2\n");
        world.file("q.svm", (1..5).map(rows).collect::<String>());
        let out = ["-o", "o.lineal", "-q", "--threads", "1"];
        let tag = [&["train", "s.conll", "--task", "tag"], &out[..]].concat();
        check(&world, &["--min-count", "--order", "--passive-aggressive"], &tag);
        let rank = [&["train", "q.svm", "--task", "rank"], &out[..]].concat();
        check(&world, &["--ndcg-at", "--max-passes"], &rank);
    }

    #[test]
    fn of_searches() {
        let world = World::new();
        world.file("m.svm", many());
        let few = ["--threads", "1", "-q"];
        let tune = [&["tune", "m.svm"], &few[..]].concat();
        check(&world, &["-C", "--folds", "--tol", "--budget"], &tune);
        let compare = ["compare", "m.svm", "--strategies", "ova", "--losses", "hinge"];
        let compare = [&compare, &few[..]].concat();
        check(&world, &["--holdout", "--folds", "-C", "--max-passes"], &compare);
    }

    #[test]
    fn weights_that_cannot_fit_are_told_before_the_work() {
        let world = World::new();
        let text: String = (0..300).map(|i| format!("c{i},word{i}\n")).collect();
        world.file("t.csv", format!("label,text\n{text}"));
        let args = ["train", "t.csv", "--label", "label", "--text", "text", "--hash", "24"];
        let joint = ["--loss", "logistic", "--strategy", "joint", "-o", "m.lineal", "-q"];
        let run = within(&world, &[&args[..], &joint].concat());
        run.failed(1, &["16777216 features × 300 weights and", "ulimit -v", "--hash"]);
        assert_eq!(world.names(), ["t.csv"]);
    }
}

/// Where no thread can be started, the one that is there does the work.
#[cfg(target_os = "linux")]
#[test]
fn one_thread_is_enough() {
    let world = World::with_model(&[]);
    let alone = |args: &[&str]| -> Run {
        // No system has room for such a stack, so every further thread is refused.
        world.child().env("RUST_MIN_STACK", "100000000000000").args(args).output().unwrap().into()
    };
    let train = ["train", "fruit.csv", "--label", "fruit", "-q", "-o"];
    alone(&[&train[..], &["a.lineal"]].concat()).done();
    assert_eq!(world.bytes("a.lineal"), world.bytes("m.lineal"));
    assert_eq!(alone(&["predict", "m.lineal", "fruit.csv"]).done().out.lines().count(), 9);
    // A stream is read by a second one.
    alone(&[&train[..], &["s.lineal", "--stream"]].concat()).failed(1, &["thread", "ulimit -u"]);
}

#[test]
fn a_header_of_costs_asks_for_no_memory() {
    let world = World::with_model(&[]);
    let names: String = (0..200_000).map(|i| format!(",c{i}")).collect();
    world.file("cost.csv", format!("{names}\nc0,1\n"));
    let args = ["train", "fruit.csv", "--label", "fruit", "-o", "o.lineal", "--stream"];
    let run = world.run(&[&args[..], &["--cost", "cost.csv"]].concat());
    run.failed(1, &["cost.csv:2", "2 fields where the header has 200001"]);
}

/// Two short lines once wrote a model of 12 GB.
#[test]
fn a_stream_with_huge_indices_has_few_features() {
    let world = World::new();
    world.file("a.svm", "1 7:1 1000000000:2\n2 9:3\n");
    world.run(&["train", "a.svm", "-o", "m.lineal", "--stream", "-q"]).done();
    assert!(world.bytes("m.lineal").len() < 100_000);
    let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    assert_eq!(json["features"], 3);
    let run = world.run(&["predict", "m.lineal", "a.svm"]).done();
    assert_eq!((run.out.as_str(), run.err.as_str()), ("1\n2\n", ""));
    // Others, and a class, may come.
    world.file("b.svm", "3 4000000000:1 8:1\n1 7:1\n".repeat(5));
    let go_on = ["train", "b.svm", "-o", "m.lineal", "--resume", "m.lineal", "--json", "-q"];
    let json = world.run(&go_on).done().json();
    assert_eq!((&json["features"], &json["classes"]), (&5.into(), &3.into()));
}

/// A hashed model of zeros was written and could not be read.
#[test]
fn a_model_without_weights_is_read_back() {
    let world = World::new();
    let rows = "a,good fine\nb,bad worse\nc,odd strange\n".repeat(4);
    world.file("t.csv", format!("label,text\n{rows}"));
    let args = ["train", "t.csv", "--label", "label", "--text", "text", "-o", "m.lineal", "-q"];
    let zeros = ["--hash", "10", "--l1", "100", "--bias", "none"];
    world.run(&[&args[..], &zeros].concat()).done();
    let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    assert_eq!(json["nonzeros"], 0);
    assert_eq!(world.run(&["predict", "m.lineal", "t.csv"]).done().out.lines().count(), 12);
    let stream = ["--stream", "--hash", "10", "--bias", "none", "--loss", "perceptron"];
    world.run(&[&args[..], &stream].concat()).done();
    world.run(&["train", "t.csv", "-o", "m.lineal", "--resume", "m.lineal", "-q"]).done();
}

/// Predictions come in parts; together they are those of all rows at once.
#[test]
fn many_rows_are_predicted_in_parts() {
    let world = World::with_model(&[]);
    let rows = FRUIT.split_once('\n').unwrap().1;
    world.file("many.csv", format!("weight,colour,fruit\n{}", rows.repeat(500)));
    for flags in [&["--proba"][..], &["--sample"], &["--top", "2"], &[]] {
        for form in ["text", "csv", "jsonl"] {
            let args = [&["predict", "m.lineal", "many.csv", "--output", form], flags].concat();
            let out = world.run(&args).done().out;
            let n_header = usize::from(form == "csv");
            assert_eq!(out.lines().count(), 4500 + n_header);
            if flags != ["--sample"] {
                let lines: Vec<&str> = out.lines().skip(n_header).collect();
                assert_eq!(lines[..9], lines[4491..]);
            }
        }
    }
}

/// Of a parser only the weights of one of its three stages were counted.
#[test]
fn no_more_weights_are_set_than_there_are() {
    let world = World::new();
    let mut text = String::new();
    for i in 0..40 {
        for j in 1..=6 {
            let (word, tag) = ((i * 7 + j * j) % 31, ["N", "V", "A", "D"][(i + j) % 4]);
            let head = if j == 1 + i % 3 { 0 } else { 1 + i % 3 };
            let relation = if head == 0 { "root" } else { ["a", "b", "c"][j % 3] };
            text += &format!("{j}\tw{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n");
        }
        text.push('\n');
    }
    world.file("d.conllu", text);
    let args = ["train", "d.conllu", "--task", "dependency", "--epochs", "2", "--hash", "10"];
    world.run(&[&args[..], &["-o", "m.lineal", "-q"]].concat()).done();
    let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    assert!(json["nonzeros"].as_u64() > Some(1024), "{json}");
    assert!(json["nonzeros"].as_u64() <= json["weights"].as_u64(), "{json}");
}
