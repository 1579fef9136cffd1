//! Ctrl-C and other signals, broken and closed pipes, full disks, and files that change while they are read.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use crate::world::{Run, TINY, World};

/// A run that would take days, once it has told of a pass: not in its first second.
fn training(world: &World) -> (Child, BufReader<std::process::ChildStderr>) {
    world.file("a.svm", TINY.repeat(500));
    let epochs = ["--solver", "sgd", "--epochs", "1000000000"];
    let mut child = world
        .child()
        .args(["train", "a.svm", "-o", "m.lineal", "--report", "r.html"])
        .args(epochs)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("pass ") {
        line.clear();
        assert!(err.read_line(&mut line).unwrap() > 0, "it ended");
    }
    (child, err)
}

fn interrupt(child: Child, err: impl Read) -> (i32, String) {
    end(child, err, "-INT")
}

fn end(mut child: Child, mut err: impl Read, signal: &str) -> (i32, String) {
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
    let mut text = String::new();
    err.read_to_string(&mut text).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), text)
}

#[test]
fn ctrl_c_leaves_no_file() {
    let world = World::new();
    let (child, err) = training(&world);
    let (code, text) = interrupt(child, err);
    assert_eq!(code, 130, "{text}");
    assert!(text.contains("interrupted"), "{text}");
    assert_eq!(world.names(), ["a.svm"]);
}

#[test]
fn ctrl_c_leaves_the_old_file() {
    let world = World::new();
    world.file("m.lineal", "old");
    let (child, err) = training(&world);
    assert_eq!(interrupt(child, err).0, 130);
    assert_eq!(world.bytes("m.lineal"), b"old");
    assert_eq!(world.names(), ["a.svm", "m.lineal"]);
}

#[test]
fn other_signals_end_it_like_ctrl_c() {
    for signal in ["-TERM", "-HUP"] {
        let world = World::new();
        let (child, err) = training(&world);
        let (code, text) = end(child, err, signal);
        assert_eq!(code, 130, "{signal} {text}");
        assert!(text.contains("interrupted"), "{text}");
        assert_eq!(world.names(), ["a.svm"]);
    }
}

/// `kill` keeps what a stream has learnt.
#[test]
fn a_stream_that_is_terminated_can_be_taken_up() {
    let world = World::new();
    world.file("a.svm", TINY.repeat(3000));
    let args = ["train", "a.svm", "-o", "m.lineal", "--stream", "--epochs", "1000000000"];
    let mut child = world.child().args(args).stderr(Stdio::piped()).spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("pass 2") {
        line.clear();
        assert!(err.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let (code, text) = end(child, err, "-TERM");
    assert_eq!(code, 130, "{text}");
    assert!(text.contains("--resume m.lineal"), "{text}");
    assert_eq!(world.names(), ["a.svm", "m.lineal"]);
    world.run(&["train", "a.svm", "-o", "m.lineal", "--resume", "m.lineal", "-q"]).done();
}

/// What `nohup` has the program ignore stays ignored.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_is_ignored_stays_so() {
    let world = World::new();
    world.file("a.svm", TINY);
    let mut child = std::process::Command::new("env")
        .current_dir(world.path(""))
        .args(["--default-signal=INT,TERM", "sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_lineal"))
        .args(["train", "-", "--format", "libsvm", "-o", "m.lineal"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    // Until it has taken over the signals, which it does before it reads. The shell before it catches SIGINT, too, a moment before it ignores SIGHUP.
    let catches = |text: String| {
        let set = |key: &str| {
            let hex = text.lines().find_map(|line| line.strip_prefix(key))?.trim();
            u64::from_str_radix(hex, 16).ok()
        };
        set("SigIgn:").is_some_and(|set| set & 1 != 0)
            && set("SigCgt:").is_some_and(|set| set & 2 != 0)
    };
    while !std::fs::read_to_string(&status).is_ok_and(catches) {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), TINY.as_bytes()).unwrap();
    let run: Run = child.wait_with_output().unwrap().into();
    run.done();
    assert!(world.has("m.lineal"));
}

/// Temporary files of processes that are gone are removed; others are not.
#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let world = World::new();
    world.file("a.svm", TINY);
    for name in [".lineal-1-1700000000-0.tmp", ".lineal-99-1700000000-12.tmp"] {
        world.file(name, vec![0; 100_000]);
    }
    let others = [".lineal-7-1700000000-0.tmp", ".lineal-notes.tmp", "lineal-1-2-3.tmp"];
    others.iter().for_each(|name| world.file(name, "not ours to remove"));
    // The first of them is being written by a process that lives: this one.
    let living = std::fs::File::open(world.path(others[0])).unwrap();
    living.try_lock().unwrap();
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q"]).done();
    let mut names = [&others[..], &["a.svm", "m.lineal"]].concat();
    names.sort_unstable();
    assert_eq!(world.names(), names);
}

/// The limit on the size of a file is an error like a full disk.
#[test]
fn a_limit_on_the_size_of_files() {
    let world = World::new();
    world.file("a.svm", TINY);
    let out = std::process::Command::new("sh")
        .current_dir(world.path(""))
        .args(["-c", "ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_lineal"))
        .args(["train", "a.svm", "-o", "m.lineal", "-q"])
        .output();
    let run: Run = out.unwrap().into();
    run.failed(1, &["cannot write m.lineal", "File too large", "ulimit -f"]);
    assert_eq!(world.names(), ["a.svm"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_loses_nothing_silently() {
    let world = World::with_model(&[]);
    let closed = |args: &[&str]| -> Run {
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(world.path("")).args(["-c", "exec \"$0\" \"$@\" >&-"]);
        shell.arg(env!("CARGO_BIN_EXE_lineal")).args(args).output().unwrap().into()
    };
    let why = &["standard output", "closed"];
    closed(&["predict", "m.lineal", "fruit.csv"]).failed(1, why);
    closed(&["inspect", "m.lineal", "--json"]).failed(1, why);
    closed(&["eval", "m.lineal", "fruit.csv"]).failed(1, why);
    // What writes a file needs none.
    closed(&["predict", "m.lineal", "fruit.csv", "-o", "p.txt"]).done();
    assert_eq!(world.bytes("p.txt").iter().filter(|&&b| b == b'\n').count(), 9);
}

/// A model that is cut short while it is mapped.
#[cfg(target_os = "linux")]
#[test]
fn a_model_that_is_truncated_in_use() {
    let world = World::new();
    world.file("a.svm", TINY);
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q"]).done();
    let mut child = world
        .child()
        .args(["predict", "m.lineal", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let maps = format!("/proc/{}/maps", child.id());
    while !std::fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("m.lineal")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
    }
    std::fs::OpenOptions::new().write(true).truncate(true).open(world.path("m.lineal")).unwrap();
    // It may have ended by now.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), TINY.as_bytes());
    let run: Run = child.wait_with_output().unwrap().into();
    run.failed(1, &["m.lineal was cut short", "run it again"]);
}

/// A file of rows that is cut short while it is read. Reading may win the race, so it is tried again.
#[cfg(target_os = "linux")]
#[test]
fn a_training_file_that_is_truncated_in_use() {
    let world = World::new();
    for _ in 0..20 {
        world.file("a.svm", TINY.repeat(200_000));
        let child = world
            .child()
            .args(["train", "a.svm", "-o", "m.lineal", "-q", "--max-passes", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let maps = format!("/proc/{}/maps", child.id());
        while !std::fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("a.svm")) {
            std::thread::yield_now();
        }
        std::fs::OpenOptions::new().write(true).truncate(true).open(world.path("a.svm")).unwrap();
        let run: Run = child.wait_with_output().unwrap().into();
        if run.code != 0 {
            run.failed(1, &["a.svm was cut short", "run it again"]);
            assert_eq!(world.names(), ["a.svm"]);
            return;
        }
        std::fs::remove_file(world.path("m.lineal")).unwrap();
    }
    panic!("it read faster than the file could be cut, twenty times");
}

#[test]
fn a_broken_pipe_is_success() {
    let world = World::new();
    // More than a pipe holds.
    world.file("a.svm", TINY.repeat(20_000));
    world.file("b.svm", TINY);
    world.run(&["train", "b.svm", "-o", "m.lineal", "-q"]).done();
    let mut child = world
        .child()
        .args(["predict", "m.lineal", "a.svm", "--scores"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    let run: Run = child.wait_with_output().unwrap().into();
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

#[test]
fn a_full_disk() {
    let world = World::new();
    world.file("a.svm", TINY);
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q"]).done();
    let full = &["/dev/full", "No space left"];
    world.run(&["train", "a.svm", "-o", "/dev/full"]).failed(1, full);
    world.run(&["predict", "m.lineal", "a.svm", "-o", "/dev/full"]).failed(1, full);
    world.run(&["eval", "m.lineal", "a.svm", "--report", "/dev/full"]).failed(1, full);
    // Less than a buffer, which is written at the end, and more.
    world.file("long.svm", TINY.repeat(5000));
    for data in ["a.svm", "long.svm"] {
        let out = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let child = world
            .child()
            .args(["predict", "m.lineal", data])
            .stdout(out)
            .stderr(Stdio::piped())
            .spawn();
        let run: Run = child.unwrap().wait_with_output().unwrap().into();
        run.failed(1, &["standard output", "No space left"]);
    }
}

#[test]
fn places_that_cannot_be_written() {
    let world = World::new();
    world.file("a.svm", TINY);
    world
        .run(&["train", "a.svm", "-o", "none/m.lineal"])
        .failed(1, &["none/m.lineal", "no folder none"]);
    world.run(&["train", "a.svm", "-o", "."]).failed(1, &["folder", "file name"]);
    world
        .run(&["train", "a.svm", "-o", "m.lineal", "--report", "none/r.html"])
        .failed(1, &["no folder none"]);
    world.run(&["train", "a.svm", "-o", "a.svm"]).failed(2, &["a.svm is also an input"]);
    world
        .run(&["train", "a.svm", "-o", "m", "--report", "./m"])
        .failed(2, &["m would be written twice"]);
    world.run(&["train", "a.svm", "-o", "m.gz"]).failed(1, &["compressed files are read"]);
    assert_eq!(world.bytes("a.svm"), TINY.as_bytes());
    assert_eq!(world.names(), ["a.svm"]);
}

#[test]
fn ctrl_c_ends_a_prediction_that_is_under_way() {
    let world = World::new();
    world.file("a.svm", TINY);
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q"]).done();
    // Its input never ends, so its output file is begun and not finished.
    let mut child = world
        .child()
        .args(["predict", "m.lineal", "-", "--format", "libsvm", "-o", "out.txt"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (input, err) = (child.stdin.take(), child.stderr.take().unwrap());
    while !world.names().iter().any(|name| name.ends_with(".tmp")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
    }
    let (code, text) = end(child, BufReader::new(err), "-INT");
    assert_eq!(code, 130, "{text}");
    assert_eq!(world.names(), ["a.svm", "m.lineal"]);
    drop(input);
}
