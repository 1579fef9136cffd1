//! Bracket metrics: the rules that EVALB's README and sample publish, on trees made for them, and what holds for any trees.

use lineal_metrics::{
    Bracket, BracketEvaluation, BracketMetrics, BracketOptions, BracketTree, Error,
    SentenceBrackets, SentenceStatus,
};
use proptest::prelude::*;

/// Words, tags and brackets of a tree.
#[derive(Clone, Debug, Default)]
struct Tree {
    words: Vec<String>,
    tags: Vec<String>,
    brackets: Vec<(String, usize, usize)>,
}

/// A tree of a text such as `(S (NP (DT the) (NN man)) (VP (VBZ sleeps)))`, or several in a row.
fn tree(text: &str) -> Tree {
    let text = text.replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let (mut tree, mut open) = (Tree::default(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == ")" {
            let bracket: usize = open.pop().unwrap();
            tree.brackets[bracket].2 = tree.words.len();
            at += 1;
        } else if tokens[at + 2] != "(" && tokens[at + 3] == ")" {
            tree.tags.push(tokens[at + 1].to_owned());
            tree.words.push(tokens[at + 2].to_owned());
            at += 4;
        } else {
            open.push(tree.brackets.len());
            tree.brackets.push((tokens[at + 1].to_owned(), tree.words.len(), 0));
            at += 2;
        }
    }
    tree
}

fn add(evaluation: &mut BracketEvaluation, gold: &Tree, predicted: &Tree) -> SentenceBrackets {
    let views = [gold, predicted].map(|tree| {
        let words: Vec<&str> = tree.words.iter().map(String::as_str).collect();
        let tags: Vec<&str> = tree.tags.iter().map(String::as_str).collect();
        let brackets: Vec<Bracket<'_>> =
            tree.brackets.iter().map(|b| Bracket { label: &b.0, start: b.1, end: b.2 }).collect();
        (words, tags, brackets)
    });
    let [gold, predicted] =
        [&views[0], &views[1]].map(|(words, tags, brackets)| BracketTree { words, tags, brackets });
    evaluation.add(&gold, &predicted).unwrap()
}

fn compare(gold: &str, predicted: &str, options: &BracketOptions) -> SentenceBrackets {
    add(&mut BracketEvaluation::new(options.clone()), &tree(gold), &tree(predicted))
}

/// Right, gold, predicted and crossing brackets, words and right tags.
fn counts(gold: &str, predicted: &str, options: &BracketOptions) -> [u64; 6] {
    let s = compare(gold, predicted, options);
    assert_eq!(s.status, SentenceStatus::Counted, "{gold} {predicted}");
    [s.right, s.gold, s.found, s.crossing, s.words, s.right_tags]
}

const GOLD: &str = "(S (NP (PRP we)) (VP (VBP see) (NP (DT the) (NN sea))))";

#[test]
fn labels_spans_and_tags() {
    let plain = BracketOptions::default();
    for (predicted, expected) in [
        (GOLD, [4, 4, 4, 0, 4, 4]),
        // Another label, another tag, both.
        ("(S (NP (PRP we)) (VP (VBP see) (PP (DT the) (NN sea))))", [3, 4, 4, 0, 4, 4]),
        ("(S (NP (PRP we)) (VP (VBP see) (NP (DT the) (NNP sea))))", [4, 4, 4, 0, 4, 3]),
        ("(S (X (PRP we)) (VP (VBP see) (NP (DT the) (NNP sea))))", [3, 4, 4, 0, 4, 3]),
        // A span that is inside of a gold one, and one that crosses `see the sea`.
        ("(S (NP (PRP we)) (VP (VBP see) (DT the) (NP (NN sea))))", [3, 4, 4, 0, 4, 4]),
        ("(S (NP (PRP we) (VBP see)) (NP (DT the) (NN sea)))", [2, 4, 3, 1, 4, 4]),
        // One bracket, and none.
        ("(S (PRP we) (VBP see) (DT the) (NN sea))", [1, 4, 1, 0, 4, 4]),
        ("(PRP we) (VBP see) (DT the) (NN sea)", [0, 4, 0, 0, 4, 4]),
        // The same bracket again: n gold and m predicted ones have min(n, m) in common.
        ("(S (NP (PRP we)) (VP (VBP see) (NP (NP (DT the) (NN sea)))))", [4, 4, 5, 0, 4, 4]),
        ("(S (NP (PRP we)) (VP (VBP see) (NP (NP (NP (DT the) (NN sea))))))", [4, 4, 6, 0, 4, 4]),
        // The root does not count, and neither do functions and traces.
        ("(TOP (S (NP (PRP we)) (VP (VBP see) (NP (DT the) (NN sea)))))", [4, 4, 4, 0, 4, 4]),
        ("(S (NP-SBJ-1 (PRP we)) (VP=2 (VBP see) (NP (DT the) (NN sea))))", [4, 4, 4, 0, 4, 4]),
        (
            "(S (NP (PRP we)) (VP (VBP see) (NP (DT the) (NN sea)) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))))",
            [4, 4, 4, 0, 4, 4],
        ),
    ] {
        assert_eq!(counts(GOLD, predicted, &plain), expected, "{predicted}");
    }
    let twice = "(S (NP (PRP we)) (VP (VBP see) (NP (NP (DT the) (NN sea)))))";
    assert_eq!(counts(twice, GOLD, &plain), [4, 5, 4, 0, 4, 4]);
    let whole = BracketOptions { cut_functions: false, ..plain };
    let functions = "(S (NP-SBJ (PRP we)) (VP (VBP see) (NP (DT the) (NN sea))))";
    assert_eq!(counts(GOLD, functions, &whole)[0], 3);
}

#[test]
fn sentences_with_other_words_do_not_count() {
    let options = BracketOptions::default();
    let mut evaluation = BracketEvaluation::new(options);
    let gold = tree(GOLD);
    for (predicted, status) in [
        ("", SentenceStatus::Skipped),
        ("(S (-NONE- *))", SentenceStatus::Skipped),
        ("(S (NP (PRP we)) (VP (VBP saw) (NP (DT the) (NN sea))))", SentenceStatus::Mismatch),
        ("(S (NP (PRP we)) (VP (VBP see) (NP (NN sea))))", SentenceStatus::Mismatch),
        (
            "(S (NP (PRP we)) (VP (VBP see) (RB not) (NP (DT the) (NN sea))))",
            SentenceStatus::Mismatch,
        ),
    ] {
        let counted = add(&mut evaluation, &gold, &tree(predicted));
        assert_eq!((counted.status, counted.gold, counted.length), (status, 0, 4), "{predicted}");
    }
    assert_eq!(evaluation.finish(), Err(Error::Empty));
    add(&mut evaluation, &gold, &gold);
    let m = evaluation.finish().unwrap();
    assert_eq!((m.all.sentences, m.all.skipped, m.all.mismatches), (1, 2, 3));
    assert_eq!((m.all.f1, m.all.exact, m.all.tag_accuracy), (1.0, 1.0, Some(1.0)));
}

#[test]
fn punctuation_counts_unless_it_is_deleted() {
    let gold = "(S (S (NP (PRP we)) (, ,) (VP (VBP go) (ADVP (RB up)))) (. .))";
    let predicted = "(S (NP (PRP we) (, ,)) (VP (VBP go) (PRT (RB up)) (. .)))";
    assert_eq!(counts(gold, predicted, &BracketOptions::default()), [1, 5, 4, 1, 5, 5]);
    // Without punctuation both trees are (S (NP we) (VP go (X up))), the gold one with S twice.
    assert_eq!(counts(gold, predicted, &BracketOptions::collins()), [4, 5, 4, 0, 3, 3]);
    assert_eq!(compare(gold, predicted, &BracketOptions::collins()).length, 5);
    // A comma with another tag is the same comma.
    let mistagged = predicted.replace("(, ,)", "(NN ,)");
    assert_eq!(counts(gold, &mistagged, &BracketOptions::collins()), [4, 5, 4, 0, 3, 3]);
    // A bracket of punctuation alone is gone with it, and a sentence of it has no bracket.
    let paren = "(S (NP (PRP we)) (VP (VBP go)) (PRN (: -) (: -)))";
    assert_eq!(counts(paren, paren, &BracketOptions::collins())[..3], [3, 3, 3]);
    assert_eq!(counts("(X (. .))", "(Y (. .))", &BracketOptions::collins()), [0; 6]);
}

#[test]
fn totals_by_length_and_label() {
    let mut evaluation =
        BracketEvaluation::new(BracketOptions { short_length: 4, ..BracketOptions::default() });
    let crossing = "(S (NP (PRP we) (VBP see)) (NP (DT the) (NN sea)))";
    let long = "(S (NP (NN a) (NN b) (NN c)) (VP (VB d) (RB e)))";
    let three = "(S (A (NN a)) (B (NN b) (C (NN c) (VB d))) (D (RB e)))";
    add(&mut evaluation, &tree(GOLD), &tree(GOLD));
    add(&mut evaluation, &tree(GOLD), &tree(crossing));
    let last = add(&mut evaluation, &tree(long), &tree(long));
    assert_eq!((last.length, last.right), (5, 3));
    let BracketMetrics { all, short, short_length, by_label } = evaluation.finish().unwrap();
    let short = short.unwrap();
    assert_eq!((short_length, all.sentences, short.sentences), (4, 3, 2));
    assert_eq!((all.gold, all.found, all.right), (11, 10, 9));
    assert_eq!((all.precision, all.recall, all.f1), (0.9, 9.0 / 11.0, 18.0 / 21.0));
    assert_eq!((short.gold, short.found, short.right), (8, 7, 6));
    assert_eq!((all.exact, short.exact), (2.0 / 3.0, 0.5));
    assert_eq!(
        (short.average_crossing, short.no_crossing, short.up_to_two_crossing),
        (0.5, 0.5, 1.0)
    );
    let scores = |label: &str| (by_label[label].gold, by_label[label].found, by_label[label].right);
    assert_eq!((scores("S"), scores("NP"), scores("VP")), ((3, 3, 3), (5, 5, 4), (3, 2, 2)));
    assert_eq!(by_label["VP"].recall, 2.0 / 3.0);
    let crossed = compare(long, three, &BracketOptions::default());
    // `b c d` and `c d` cross both gold phrases, and each counts once.
    assert_eq!(crossed.crossing, 2);
}

#[test]
fn trees_that_do_not_fit_are_refused() {
    let mut evaluation = BracketEvaluation::new(BracketOptions::default());
    let good = BracketTree { words: &["a"], tags: &["A"], brackets: &[] };
    let tags = BracketTree { tags: &[], ..good };
    assert!(matches!(evaluation.add(&good, &tags), Err(Error::Length { .. })));
    for (start, end) in [(1, 0), (0, 2), (3, 3)] {
        let bad = BracketTree { brackets: &[Bracket { label: "S", start, end }], ..good };
        assert!(matches!(evaluation.add(&bad, &good), Err(Error::Value { .. })));
    }
}

#[test]
fn json_has_the_names_of_eval() {
    let mut evaluation = BracketEvaluation::new(BracketOptions::default());
    add(&mut evaluation, &tree(GOLD), &tree(GOLD));
    let json = serde_json::to_value(evaluation.finish().unwrap()).unwrap();
    assert!(json["f1"].is_f64() && json["short"]["exact"].is_f64(), "{json}");
    assert_eq!(json["by_label"]["NP"]["gold"], 2);
}

proptest! {
    #[test]
    fn counts_agree_with_a_look_at_every_pair(
        n in 1..9usize,
        gold in prop::collection::vec((0..3usize, 0..9usize, 0..9usize), 0..14),
        predicted in prop::collection::vec((0..3usize, 0..9usize, 0..9usize), 0..14),
    ) {
        let words = vec!["w".to_owned(); n];
        let make = |spans: &[(usize, usize, usize)]| {
            let bracket = |&(l, a, b): &(usize, usize, usize)| {
                let (a, b) = (a.min(b) % n, a.max(b) % n + 1);
                (["A", "B", "C"][l].to_owned(), a.min(b - 1), b)
            };
            Tree { words: words.clone(), tags: words.clone(), brackets: spans.iter().map(bracket).collect() }
        };
        let (gold, predicted) = (make(&gold), make(&predicted));
        let found = add(&mut BracketEvaluation::new(BracketOptions::default()), &gold, &predicted);
        let mut left = gold.brackets.clone();
        let mut right = 0;
        let mut crossing = 0;
        for b in &predicted.brackets {
            if let Some(at) = left.iter().position(|g| g == b) {
                left.swap_remove(at);
                right += 1;
            }
            let crosses = |g: &&(String, usize, usize)| {
                g.1 < b.1 && b.1 < g.2 && g.2 < b.2 || b.1 < g.1 && g.1 < b.2 && b.2 < g.2
            };
            crossing += u64::from(gold.brackets.iter().any(|g| crosses(&g)));
        }
        prop_assert_eq!((found.right, found.crossing), (right, crossing));
        prop_assert_eq!((found.gold, found.found), (gold.brackets.len() as u64, predicted.brackets.len() as u64));
    }
}
