//! `--task constituency`: what was once wrong.

use crate::world::World;

#[test]
fn a_phrase_without_which_the_grammar_has_no_tree_has_no_rival() {
    let world = World::new();
    let trees = "\
(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))
(S (NP (PRP it)) (VP (VBZ sees) (NP (DT the) (NN cat))) (. .))
(S (VP (VB say) (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ sees) (NP (DT the) (NN cat)))))) (. .))
";
    world.file("tiny.mrg", trees.repeat(4));
    let train = ["train", "tiny.mrg", "--task", "constituency", "--loss", "logistic"];
    world.run(&[&train[..], &["--hash", "16", "-o", "m.lineal", "-q"]].concat()).done();
    let explain = ["explain", "m.lineal", "-", "--output", "jsonl", "-q"];
    let run = world.run_with_input(&explain, "the dog sees the cat .\n").done();
    let best = ["predict", "m.lineal", "-", "--n-best", "5", "-q"];
    let trees = world.run_with_input(&best, "the dog sees the cat .\n").done();
    assert_eq!(trees.out.matches("(S").count(), 1, "one tree: {}", trees.out);
    let phrases: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!phrases.is_empty());
    for phrase in phrases {
        assert!(phrase["lead"].is_null(), "a lead over no tree: {phrase}");
    }
}
