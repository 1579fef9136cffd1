//! Trees become derivations and come back as they were, whatever the grammar remembers.

use lineal_constituents::{Branching, Grammar, GrammarSpec, Phrase, Tree};
use proptest::prelude::*;

/// A tree by its brackets: `(` opens a phrase with the label that follows, a small letter is a word with that part of speech.
fn tree(text: &str) -> (Tree, Vec<String>) {
    let (mut phrases, mut tags, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut chars = text.chars().filter(|c| *c != ' ');
    while let Some(c) = chars.next() {
        match c {
            '(' => {
                open.push(phrases.len());
                let label = chars.next().unwrap().to_string();
                phrases.push(Phrase::new(&label, tags.len() as u32, 0));
            }
            ')' => phrases[open.pop().unwrap()].end = tags.len() as u32,
            tag => tags.push(tag.to_string()),
        }
    }
    (Tree::new(tags.len(), phrases).unwrap(), tags)
}

fn read(texts: &[&str], spec: GrammarSpec) -> (Grammar, Vec<(Tree, Vec<String>)>) {
    let trees: Vec<_> = texts.iter().map(|text| tree(text)).collect();
    let pairs = trees.iter().map(|(tree, tags)| (tree, tags.as_slice()));
    (Grammar::read(pairs, spec), trees)
}

fn names(grammar: &Grammar, tree: &Tree, tags: &[String]) -> Vec<String> {
    let derivation = grammar.derive(tree, tags).unwrap();
    derivation.nodes.iter().map(|node| grammar.name(node.symbol)).collect()
}

#[test]
fn symbols_remember_what_they_are_told_to() {
    let text = "(T (S (N d n) (V v (N (N n))) p))";
    let named = |horizontal, vertical, branching| {
        let spec = GrammarSpec { horizontal, vertical, branching, ..GrammarSpec::default() };
        let (grammar, trees) = read(&[text], spec);
        assert_eq!(grammar.top(), Some("T"));
        names(&grammar, &trees[0].0, &trees[0].1).join(" ")
    };
    assert_eq!(named(0, 1, Branching::Right), "S N d n @S V v N+N p");
    assert_eq!(named(1, 1, Branching::Right), "S N d n @S|N V v N+N p");
    assert_eq!(named(0, 2, Branching::Right), "S N^S d n @S V^S v N+N^V p");
    assert_eq!(named(0, 3, Branching::Right), "S N^S d n @S V^S v N+N^V^S p");
    assert_eq!(named(0, 1, Branching::Left), "S @S N d n V v N+N p");
    assert_eq!(named(2, 1, Branching::Left), "S @S|p N d n V v N+N p");
}

#[test]
fn the_top_label_is_taken_off_only_where_a_phrase_is_left() {
    let texts = ["(T (S a b))", "(T a b)", "(T a)", "(T (S a))"];
    let (grammar, trees) = read(&texts, GrammarSpec::default());
    assert_eq!(grammar.top(), Some("T"));
    for (tree, tags) in &trees {
        assert_eq!(&grammar.restore(&grammar.derive(tree, tags).unwrap()), tree);
    }
    // A label that occurs inside as well stays.
    assert_eq!(read(&["(S (S a) b)"], GrammarSpec::default()).0.top(), None);
}

#[test]
fn rare_chains_share_the_weights_of_their_inner_phrases() {
    let texts = ["(S (V v (N a b)) (A (N a b)))"; 3];
    let columns =
        |min_count| read(&texts, GrammarSpec { min_count, ..GrammarSpec::default() }).0.n_columns();
    // Words, S, V, N, A+N.
    assert_eq!((columns(3), columns(4)), (5, 4));
}

#[test]
fn what_was_not_seen_has_no_derivation() {
    let (grammar, _) = read(&["(S (N a) (V b))"], GrammarSpec::default());
    for unseen in
        ["(S (V b) (N a))", "(S (N a) (V b) (V b))", "(Q (N a) (V b))", "(N a)", "(S c d)"]
    {
        let (tree, tags) = tree(unseen);
        assert_eq!(grammar.derive(&tree, &tags), None, "{unseen}");
    }
}

#[test]
fn deep_trees_need_no_deep_stack() {
    let n = 100_000;
    let chain = Tree::new(2, vec![Phrase::new("X", 0, 2); n]).unwrap();
    let right: Vec<Phrase> = (0..n as u32 - 1).map(|i| Phrase::new("X", i, n as u32)).collect();
    let right = Tree::new(n, right).unwrap();
    let wide = Tree::new(n, vec![Phrase::new("X", 0, n as u32)]).unwrap();
    let tags = vec!["t"; n];
    for tree in [chain, right, wide] {
        let tags = &tags[..tree.n_words()];
        let grammar = Grammar::read([(&tree, tags)].into_iter(), GrammarSpec::default());
        assert_eq!(grammar.restore(&grammar.derive(&tree, tags).unwrap()), tree);
    }
}

/// Random brackets as text.
fn any_tree() -> impl Strategy<Value = String> {
    let leaf = "[a-c]".prop_map(String::from);
    let inner = leaf.prop_recursive(6, 24, 5, |inner| {
        ("[S-V]", prop::collection::vec(inner, 1..5))
            .prop_map(|(label, children)| format!("({label}{})", children.concat()))
    });
    ("[S-V]", prop::collection::vec(inner, 1..4))
        .prop_map(|(label, children)| format!("({label}{})", children.concat()))
}

#[test]
fn damaged_tables_are_refused() {
    let texts = ["(T (S (N d n) (V v (N (N n))) p))", "(T (S (N n) (V v)))"];
    let (grammar, _) = read(&texts, GrammarSpec { horizontal: 2, ..GrammarSpec::default() });
    let whole = grammar.to_tables();
    for at in 0..whole.numbers.len() {
        let mut short = whole.clone();
        short.numbers.truncate(at);
        assert!(Grammar::from_tables(&short).is_err());
        for value in [0, 1, 7, u32::MAX - 1, u32::MAX] {
            let mut changed = whole.clone();
            changed.numbers[at] = value;
            // Some changes make another grammar; none may panic, there or when it is used.
            if let Ok(other) = Grammar::from_tables(&changed) {
                (0..other.symbols().len() as u32).for_each(|symbol| drop(other.name(symbol)));
                let (tree, tags) = tree(texts[0]);
                drop(other.derive(&tree, &tags));
            }
        }
    }
    let mut twice = whole.clone();
    twice.labels[1] = twice.labels[0].clone();
    assert!(Grammar::from_tables(&twice).is_err());
}

proptest! {
    #[test]
    fn derivations_restore_trees(
        texts in prop::collection::vec(any_tree(), 1..6),
        horizontal in 0..4usize,
        vertical in 1..4usize,
        left: bool,
    ) {
        let branching = if left { Branching::Left } else { Branching::Right };
        let spec = GrammarSpec { horizontal, vertical, branching, ..GrammarSpec::default() };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (grammar, trees) = read(&texts, spec);
        for (tree, tags) in &trees {
            let derivation = grammar.derive(tree, tags).unwrap();
            prop_assert_eq!(derivation.nodes.len(), 2 * tags.len() - 1);
            prop_assert_eq!(&grammar.restore(&derivation), tree);
        }
        prop_assert_eq!(Grammar::from_tables(&grammar.to_tables()), Ok(grammar.clone()));
        // The same trees, the same grammar: numbers do not depend on the order of a hash table.
        prop_assert_eq!(grammar, read(&texts, spec).0);
    }
}
