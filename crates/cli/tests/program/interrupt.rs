//! Ctrl-C, broken pipes and full disks.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use crate::world::{Run, TINY, World};

/// A run that would take days, once its first pass is over.
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
    while !line.starts_with("pass 1:") {
        line.clear();
        assert!(err.read_line(&mut line).unwrap() > 0, "it ended");
    }
    (child, err)
}

fn interrupt(mut child: Child, mut err: impl Read) -> (i32, String) {
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
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
    let (code, text) = interrupt(child, err);
    assert_eq!(code, 130, "{text}");
    assert_eq!(world.names(), ["a.svm", "m.lineal"]);
    drop(input);
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
    let out = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let child = world
        .child()
        .args(["predict", "m.lineal", "a.svm"])
        .stdout(out)
        .stderr(Stdio::piped())
        .spawn();
    let run: Run = child.unwrap().wait_with_output().unwrap().into();
    run.failed(1, &["standard output", "No space left"]);
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
    assert_eq!(world.bytes("a.svm"), TINY.as_bytes());
    assert_eq!(world.names(), ["a.svm"]);
}
