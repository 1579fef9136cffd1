//! Bracketed trees: what is read, what is written back, and where a file is said to be wrong.

use std::ops::ControlFlow;

use lineal_data::{
    BracketReadOptions, BracketSchema, BracketTreebank, Error, Format, LabelledSpan, LabelledTree,
    NO_TAG, ReadOptions, Source, read_brackets, read_brackets_with, stream_brackets,
};
use proptest::prelude::*;

fn memory(name: &str, bytes: impl AsRef<[u8]>) -> Source {
    Source::Memory { name: name.to_owned(), bytes: bytes.as_ref().to_vec() }
}

fn try_read(text: impl AsRef<[u8]>) -> Result<BracketTreebank, Error> {
    read_brackets(memory("a.mrg", text), &BracketReadOptions::default())
}

fn read(text: &str) -> BracketTreebank {
    try_read(text).unwrap()
}

/// The first tree on one line.
fn line(text: &str, options: &BracketReadOptions) -> String {
    read_brackets(memory("a.mrg", text), options).unwrap().get(0).tree().line()
}

const TREE: &str =
    "( (S (NP-SBJ-1 (NNP Ms.) (NNP Haag)) (VP (VBZ plays) (NP (NNP Elianti))) (. .)))";

#[test]
fn words_tags_and_phrases() {
    let data = read(TREE);
    assert_eq!((data.len(), data.n_words(), data.n_nodes()), (1, 5, 4));
    assert_eq!(data.labels, ["S", "NP-SBJ-1", "VP", "NP"]);
    assert_eq!(data.tags, ["NNP", "VBZ", "."]);
    assert_eq!(data.schema, BracketSchema { labels: data.labels.clone(), tags: data.tags.clone() });
    let sentence = data.get(0);
    assert_eq!(sentence.words().collect::<Vec<_>>(), ["Ms.", "Haag", "plays", "Elianti", "."]);
    assert_eq!((sentence.tags(), sentence.root()), (&[0, 0, 1, 0, 2][..], Some("")));
    let spans: Vec<_> = sentence.nodes().iter().map(|n| (n.label, n.start, n.end)).collect();
    assert_eq!(spans, [(0, 0, 5), (1, 0, 2), (2, 2, 4), (3, 3, 4)]);
    assert_eq!(sentence.tree().line(), TREE);
}

#[test]
fn trees_take_lines_as_they_like() {
    let text = "# a comment (with a bracket\n\n(S\n  (NP (PRP it))\r\n\t(VP\n(VBZ rains)\n)\n)(X (Y z))\n  % (another\n( TOP\n(S(NP(PRP it))(VP(VBZ rains))))\n(NN word)";
    let data = read(text);
    let lines: Vec<String> = data.iter().map(|s| s.tree().line()).collect();
    let rains = "(S (NP (PRP it)) (VP (VBZ rains)))";
    assert_eq!(lines, [rains, "(X (Y z))", &format!("(TOP {rains})"), "(NN word)"]);
    assert_eq!(data.iter().map(|s| s.line()).collect::<Vec<_>>(), [3, 8, 10, 12]);
    assert_eq!(data.error_at(2, "is odd").to_string(), "a.mrg:10: is odd");
}

#[test]
fn functions_are_cut_if_asked_for() {
    let cut = BracketReadOptions { cut_functions: true, ..Default::default() };
    let text = "(S-TPC-2 (NP=1 (NN-X dog)) (-LRB- (-LRB- -LRB-)) (ADVP|PRT-A (RB up)))";
    assert_eq!(line(text, &Default::default()), text);
    assert_eq!(line(text, &cut), "(S (NP (NN-X dog)) (-LRB- (-LRB- -LRB-)) (ADVP|PRT (RB up)))");
}

#[test]
fn empty_elements_go_with_what_they_empty() {
    let text = "(S (NP (-NONE- *)) (VP (VBD said) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) (. .))";
    assert_eq!(line(text, &Default::default()), "(S (VP (VBD said)) (. .))");
    let keep = BracketReadOptions { remove_empty: false, ..Default::default() };
    assert_eq!(line(text, &keep), text);
}

#[test]
fn roots_are_kept_beside_the_tree() {
    let data = read("(ROOT (NP (NN a)) (. .))\n(S1 (NN b))\n(ROOT (ROOT (NN c)))\n(FRAG (NN d))\n");
    let roots: Vec<_> = data.iter().map(|s| (s.root(), s.nodes().len())).collect();
    assert_eq!(roots, [(Some("ROOT"), 1), (Some("S1"), 0), (Some("ROOT"), 1), (None, 1)]);
    let lines: Vec<String> = data.iter().map(|s| s.tree().line()).collect();
    assert_eq!(lines[..2], ["(ROOT (NP (NN a)) (. .))", "(S1 (NN b))"]);
    let none = BracketReadOptions { roots: Vec::new(), ..Default::default() };
    let data = read_brackets(memory("a.mrg", "(ROOT (NP (NN a)))"), &none).unwrap();
    assert_eq!((data.get(0).root(), data.n_nodes()), (None, 2));
}

#[test]
fn faults_have_their_place_and_remedy() {
    for (text, said) in [
        ("", "a.mrg: the file is empty"),
        (" \n\n# x\n", "a.mrg: the file has no words"),
        ("()", "a.mrg:1:2: empty brackets"),
        ("(S (NP (NN a)) ())", "a.mrg:1:17: empty brackets"),
        ("( )", "a.mrg:1:3: empty brackets"),
        ("(S)", "a.mrg:1:3: the bracket `S` has neither a word nor brackets"),
        ("(S (NP ))", "a.mrg:1:8: the bracket `NP` has neither"),
        ("(S (NN dog) barks)", "a.mrg:1:13: the word `barks` has no tag; write it as in (NN dog)"),
        ("(NP New York)", "a.mrg:1:9: a second word, `York`, after `New`"),
        ("(NP dog (NN cat))", "a.mrg:1:9: a bracket after the word `dog`"),
        ("(S (NN a))\n(S (NN b)))\n", "a.mrg:2:11: a closing bracket that closes nothing"),
        (")", "a.mrg:1:1: a closing bracket"),
        (
            "(S (NN a))\n\n  (S (NP (NN b))\n(S (NN c))\n",
            "a.mrg:3:3: the tree that begins here is not closed: 1 bracket is open",
        ),
        ("(S (NN a", "a.mrg:1:1: the tree that begins here is not closed: 2 brackets are open"),
        ("(S (NN a)) text after\n", "a.mrg:1:12: `text` outside of brackets"),
        ("(S (NN a)) # no comment\n", "a.mrg:1:12: `#` outside of brackets"),
        ("(S ((NN a)))", "a.mrg:1:5: a bracket without a label before this one"),
        ("(S (NN a\0b))", "a.mrg:1:9: a NUL byte"),
        ("(S (-NONE- *))", "a.mrg:1:14: a tree without words"),
    ] {
        let error = try_read(text).unwrap_err().to_string();
        assert!(error.starts_with(said), "{text:?}: {error}");
    }
    let error = try_read(b"(S (NN a))\n(S (NN caf\xe9))\n").unwrap_err().to_string();
    assert!(error.starts_with("a.mrg:2:11: byte 0xe9 is not valid UTF-8"), "{error}");
    let trees = BracketReadOptions { require_trees: true, ..Default::default() };
    let error = read_brackets(memory("a.txt", "it rains\n"), &trees).unwrap_err();
    assert!(error.message.contains("trees are needed"), "{error}");
    let error = read_brackets(memory("a.conllu", "1\tit\n"), &trees).unwrap_err();
    assert!(error.message.contains("options.format = brackets"), "{error}");
    let error = lineal_data::read(memory("a.mrg", TREE), &ReadOptions::default()).unwrap_err();
    assert!(error.message.contains("read_brackets"), "{error}");
}

#[test]
fn plain_sentences_have_words_alone() {
    let data =
        read_brackets(memory("a.txt", "It rains .\n\n  so :) (what)\t?\r\n"), &Default::default());
    let data = data.unwrap();
    assert_eq!((data.len(), data.n_nodes(), data.has_tags()), (2, 0, false));
    let words: Vec<&str> = data.get(1).words().collect();
    assert_eq!(words, ["so", ":-RRB-", "-LRB-what-RRB-", "?"]);
    assert_eq!((data.get(1).line(), data.get(0).tag(0), data.get(0).tags()[0]), (3, None, NO_TAG));
    let tagged = data.with_tags(&["PRP", "VBZ", ".", "RB", "UH", "WP", "."]);
    assert_eq!(tagged.get(0).tree().line(), "( (PRP It) (VBZ rains) (. .))");
    assert_eq!(read(&tagged.get(1).tree().line()).get(0).words().collect::<Vec<_>>(), words);
    // What is plain text is told by the first character, unless somebody says it.
    let text = "( it ) rains\n";
    assert!(read_brackets(memory("-", text), &Default::default()).is_err());
    let plain = BracketReadOptions { format: Some(Format::Sentences), ..Default::default() };
    assert_eq!(read_brackets(memory("-", text), &plain).unwrap().get(0).word(0), "-LRB-");
}

#[test]
fn sentences_are_made_and_selected() {
    let mut data = BracketTreebank::new("made", BracketSchema::default());
    data.push_sentence(&["(", "a"], Some(&["-LRB-", "DT"]));
    data.push_sentence(&["b"], None);
    let some = data.select(&[1, 0, 0]);
    assert_eq!((some.len(), some.n_words(), some.words(1)), (3, 5, 1..3));
    assert_eq!(some.get(2).words().collect::<Vec<_>>(), ["-LRB-", "a"]);
    let data = read(&format!("{TREE}\n(ROOT (X (Y z)))\n"));
    let some = data.select(&[1, 0]);
    assert_eq!(some.get(1).tree(), data.get(0).tree());
    assert_eq!(some.get(0).tree().line(), "(ROOT (X (Y z)))");
}

#[test]
fn a_schema_is_applied() {
    let train = read("(S (NP (PRP it)) (VP (VBZ rains)))");
    let test = read_brackets_with(
        memory("t", "(VP (VB go) (PP (IN in)))"),
        &Default::default(),
        &train.schema,
    );
    let test = test.unwrap();
    assert_eq!(test.labels, ["S", "NP", "VP", "PP"]);
    assert_eq!((test.get(0).nodes()[0].label, test.get(0).tags()), (2, &[2, 3][..]));
    assert_eq!(test.schema, train.schema);
    for bad in ["", "a b", "(", "S"] {
        let mut schema = train.schema.clone();
        schema.labels.push(bad.to_owned());
        let error =
            read_brackets_with(memory("t", TREE), &Default::default(), &schema).unwrap_err();
        assert!(error.message.contains("damaged"), "{bad}: {error}");
    }
    let json = serde_json::to_string(&train.schema).unwrap();
    assert_eq!(serde_json::from_str::<BracketSchema>(&json).unwrap(), train.schema);
}

/// Nesting as deep as no tree has: no recursion, and no time that grows with its square.
#[test]
fn deep_nesting_is_read_and_written() {
    const DEPTH: usize = 100_000;
    let text = format!("{}(N w){}", "(X ".repeat(DEPTH), ")".repeat(DEPTH));
    let data = read(&text);
    assert_eq!((data.n_nodes(), data.n_words()), (DEPTH, 1));
    let tree = data.get(0).tree();
    assert_eq!(tree.line(), text);
    for written in [tree.indented(80), tree.drawn(80)] {
        assert!(written.len() < 200 * DEPTH);
        assert_eq!(read(&written).get(0).nodes(), data.get(0).nodes());
    }
    let combs = [
        format!("{}(N w){}", "(X (N w) ".repeat(DEPTH), ")".repeat(DEPTH)),
        format!("{}(N w){}", "(X ".repeat(DEPTH), " (N w))".repeat(DEPTH)),
    ];
    for text in combs {
        let data = read(&text);
        assert_eq!((data.n_nodes(), data.n_words()), (DEPTH, DEPTH + 1));
        assert_eq!(read(&data.get(0).tree().indented(80)).get(0).nodes(), data.get(0).nodes());
    }
    assert!(try_read("(X ".repeat(DEPTH)).is_err());
    assert!(try_read("(X".repeat(5_000_000)).unwrap_err().message.contains("is one not closed?"));
    // Many trees on one line.
    assert_eq!(read(&"(N w)".repeat(DEPTH)).len(), DEPTH);
}

#[test]
fn blocks_are_the_whole() {
    let tree = "(ROOT\n  (S (NP (DT the) (NN dog))\n     (VP (VBZ barks)))\n)\n# next\n";
    let text = tree.repeat((3 << 20) / tree.len());
    let whole = read(&text);
    let (mut n, mut n_blocks, mut last) = (0, 0, 0);
    let stream =
        stream_brackets(memory("a.mrg", &text), &Default::default(), &whole.schema, &mut |block| {
            n_blocks += 1;
            for sentence in block.iter() {
                assert_eq!(sentence.tree(), whole.get(n).tree());
                assert_eq!(sentence.line(), whole.get(n).line());
                n += 1;
            }
            last = block.len();
            ControlFlow::Continue(())
        });
    stream.unwrap();
    assert_eq!(n, whole.len());
    assert!(n_blocks > 2 && last < n);
    // A walk that is stopped says nothing of what comes after.
    let bad = format!("{text}(S (NN a)");
    let stopped =
        stream_brackets(memory("a.mrg", &bad), &Default::default(), &whole.schema, &mut |_| {
            ControlFlow::Break(())
        });
    assert_eq!(stopped, Ok(()));
    let walked =
        stream_brackets(memory("a.mrg", &bad), &Default::default(), &whole.schema, &mut |_| {
            ControlFlow::Continue(())
        });
    let n_lines = text.lines().count();
    assert_eq!(
        (walked.as_ref().unwrap_err().line, walked.unwrap_err().column),
        (Some(n_lines + 1), Some(1))
    );
}

#[test]
fn trees_are_made_of_phrases_in_any_order() {
    let span = |label, start, end| LabelledSpan { label, start, end };
    let words = vec!["so", "it", "goes"];
    let tags = vec!["RB", "PRP", "VBZ"];
    let make = |nodes| LabelledTree::new(Some("ROOT"), words.clone(), tags.clone(), nodes);
    let nodes = vec![span("VP", 2, 3), span("NP", 1, 2), span("S", 0, 3), span("SBAR", 0, 3)];
    assert_eq!(
        make(nodes).unwrap().line(),
        "(ROOT (S (SBAR (RB so) (NP (PRP it)) (VP (VBZ goes)))))"
    );
    for bad in
        [span("A", 1, 1), span("A", 2, 4), span("A B", 0, 1), span("", 0, 1), span("A", 0, 2)]
    {
        assert!(make(vec![span("X", 1, 3), bad]).is_err(), "{bad:?}");
    }
    assert!(LabelledTree::new(None, vec!["a"], vec![], vec![]).is_err());
    assert!(LabelledTree::new(None, vec!["a b"], vec!["X"], vec![]).is_err());
    let forest = LabelledTree::new(None, vec![":)", "a"], vec!["X", "Y"], vec![]).unwrap();
    assert_eq!(forest.line(), "( (X :-RRB-) (Y a))");
}

#[test]
fn what_does_not_fit_on_a_line_is_indented() {
    let tree = read(TREE);
    let tree = tree.get(0).tree();
    assert_eq!(tree.indented(100), TREE);
    let expected = "\
(
  (S
    (NP-SBJ-1 (NNP Ms.) (NNP Haag))
    (VP
      (VBZ plays)
      (NP (NNP Elianti)))
    (. .)))";
    assert_eq!(tree.indented(36), expected);
}

#[test]
fn trees_are_drawn() {
    let draw = |text: &str, width| read(text).get(0).tree().drawn(width);
    let check = |text: &str, width, expected: &[&str]| {
        let drawn = draw(text, width);
        assert!(drawn.lines().eq(expected.iter().copied()), "\n{drawn}");
    };
    let text = "(S (NP (PRP it)) (VP (VBZ rains) (ADVP (RB hard))))";
    let top_down = [
        "     S",
        " ┌───┴────┐",
        "NP       VP",
        " │     ┌──┴───┐",
        "PRP   VBZ   ADVP",
        " │     │      │",
        "it   rains   RB",
        "              │",
        "            hard",
    ];
    check(text, 80, &top_down);
    let branches = [
        "S",
        "├─ NP",
        "│  └─ PRP it",
        "└─ VP",
        "   ├─ VBZ rains",
        "   └─ ADVP",
        "      └─ RB hard",
    ];
    check(text, 12, &branches);
    check(
        "(ROOT (NN a) (NN b) (NN c))",
        80,
        &["  ROOT", "┌───┼───┐", "NN  NN  NN", "│   │   │", "a   b   c"],
    );
    // What a terminal would take for a command is not written to it.
    assert!(!draw("(X \u{1b}[2J)", 80).contains('\u{1b}'));
    assert_eq!(draw("(X (N 東京) (N x))", 80).lines().last(), Some("東京  x"));
}

/// A tree as nested lists: words, or phrases.
#[derive(Clone, Debug)]
enum Node {
    Word(String, String),
    Phrase(String, Vec<Node>),
}

impl Node {
    fn write(&self, out: &mut String, blank: &str) {
        match self {
            Node::Word(tag, word) => out.push_str(&format!("({tag}{blank}{word})")),
            Node::Phrase(label, children) => {
                out.push_str(&format!("({label}"));
                for child in children {
                    out.push_str(blank);
                    child.write(out, blank);
                }
                out.push(')');
            }
        }
    }
}

fn node() -> impl Strategy<Value = Node> {
    let name = || "[A-Z$#%.,:é-][A-Z0-9=-]{0,4}";
    let word = (name(), "[a-z0-9#%'`.,é東-]{1,6}").prop_map(|(tag, word)| Node::Word(tag, word));
    let tag = |node: &Node| matches!(node, Node::Word(tag, _) if tag == "-NONE-");
    let word = word.prop_filter("not a trace", move |node| !tag(node));
    word.prop_recursive(6, 60, 5, move |inner| {
        (name(), prop::collection::vec(inner, 1..5))
            .prop_map(|(label, nodes)| Node::Phrase(label, nodes))
    })
}

proptest! {
    #[test]
    fn trees_come_back_as_written(trees in prop::collection::vec((node(), prop::bool::ANY), 1..5), blank in "[ \n\t]{1,3}") {
        let (mut spaced, mut lines) = (String::new(), Vec::new());
        for (tree, has_root) in &trees {
            let mut line = String::new();
            tree.write(&mut line, " ");
            if *has_root {
                line = format!("(ROOT {line})");
            }
            let mut other = String::new();
            tree.write(&mut other, &blank);
            spaced.push_str(&if *has_root { format!("(ROOT{blank}{other})\n") } else { other });
            lines.push(line);
        }
        let data = read(&spaced);
        let written: Vec<String> = data.iter().map(|s| s.tree().line()).collect();
        prop_assert_eq!(&written, &lines);
        for width in [0, 20, 60] {
            let indented: String = data.iter().map(|s| s.tree().indented(width) + "\n").collect();
            let again = read(&indented);
            prop_assert!(again.iter().zip(data.iter()).all(|(a, b)| a.tree() == b.tree()));
            prop_assert!(data.iter().all(|s| !s.tree().drawn(width).is_empty()));
        }
        let spans = data.get(0);
        let tree = spans.tree();
        let made = LabelledTree::new(tree.root(), tree.words().to_vec(), tree.tags().to_vec(), tree.nodes().to_vec());
        prop_assert_eq!(made, Ok(tree));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn soup_never_panics(words in prop::collection::vec(prop::sample::select(vec![
        "(", "(", ")", ")", " ", "\n", "S", "NP-SBJ", "(NN dog)", "-NONE-", "(-NONE- *)", "TOP", "(ROOT ", "#", "%", "\0", "é", "\r", "\u{b}", "=", "(S (NP (NN a)))",
    ]), 0..40), cut in prop::bool::ANY) {
        let text = words.concat();
        for format in [None, Some(Format::Brackets), Some(Format::Sentences)] {
            let options = BracketReadOptions { format, cut_functions: cut, ..Default::default() };
            if let Ok(data) = read_brackets(memory("soup", &text), &options) {
                for sentence in data.iter() {
                    let tree = sentence.tree();
                    let again = read(&tree.line());
                    let again = again.get(0).tree();
                    prop_assert_eq!(again.nodes(), tree.nodes());
                    prop_assert_eq!(again.words(), tree.words());
                    tree.drawn(30);
                    tree.indented(30);
                }
            }
        }
    }
}
