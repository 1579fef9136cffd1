//! Constituency trees of up to four words for the registry, and the spans of known ones.

use lineal_constituents::features::{Sentences, Templates};
use lineal_constituents::problem::{Constituents, SpanClassifier};
use lineal_constituents::{Branching, Derivation, Grammar, GrammarSpec, Node, Phrase, Tree};
use lineal_model::structure::{Ask, Structure};

const TEMPLATES: &str = "
[label]
first.tag last.tag
last+1.tag length
[left]
last.tag last+1.tag
[right]
first-1.tag first.tag
[span]
first.tag last.tag
first-1.tag length
";

/// Brackets as label, first word, one after the last; and parts of speech.
type Small = (&'static [(&'static str, u32, u32)], &'static str);

const TREES: [Small; 5] = [
    (&[("S", 0, 4), ("N", 0, 2), ("V", 2, 4)], "d n v n"),
    (&[("S", 0, 3), ("V", 1, 3)], "n v n"),
    (&[("S", 0, 3), ("N", 0, 1), ("V", 1, 2)], "n v p"),
    (&[("S", 0, 4), ("V", 1, 4), ("N", 2, 3)], "n v n p"),
    (&[("S", 0, 2), ("V", 1, 2)], "n v"),
];
const BITS: u32 = 8;

struct Bank {
    grammar: Grammar,
    templates: Templates,
    sentences: Sentences,
    gold: Vec<Derivation>,
}

fn bank(horizontal: usize, vertical: usize, branching: Branching) -> Bank {
    let phrase = |&(label, i, j): &(&str, u32, u32)| Phrase::new(label, i, j);
    let tags: Vec<Vec<&str>> = TREES.iter().map(|tree| tree.1.split(' ').collect()).collect();
    let tree = |(tree, tags): (&Small, &Vec<_>)| {
        Tree::new(tags.len(), tree.0.iter().map(phrase).collect()).unwrap()
    };
    let trees: Vec<Tree> = TREES.iter().zip(&tags).map(tree).collect();
    let pairs = trees.iter().zip(tags.iter().map(Vec::as_slice));
    let spec = GrammarSpec { horizontal, vertical, branching, min_count: 1 };
    let grammar = Grammar::read(pairs.clone(), spec);
    let gold = pairs.map(|(tree, tags)| grammar.derive(tree, tags).unwrap()).collect();
    let templates = Templates::parse(TEMPLATES).unwrap();
    let mut sentences = Sentences::new(&templates);
    tags.iter().for_each(|tags| sentences.push(&templates, &grammar, tags, tags));
    Bank { grammar, templates, sentences, gold }
}

pub fn with_constituents(
    horizontal: usize,
    vertical: usize,
    branching: Branching,
    run: &mut dyn FnMut(&Constituents<'_>),
) {
    let Bank { grammar, templates, sentences, gold } = bank(horizontal, vertical, branching);
    run(&Constituents::new(&grammar, &templates, &sentences, None, BITS).with_gold(&gold));
}

pub fn with_spans(run: &mut dyn FnMut(&SpanClassifier<'_>)) {
    let Bank { templates, sentences, gold, .. } = bank(0, 1, Branching::Right);
    run(&SpanClassifier::new(&templates, &sentences, BITS).with_gold(&gold));
}

/// All derivations that the gold ones of all sentences show to be possible, or the gold one.
pub fn derivations(s: &Constituents<'_>, i: usize, ask: Ask) -> Vec<Derivation> {
    let gold: Vec<Derivation> = (0..TREES.len())
        .map(|i| {
            let mut y = Derivation::default();
            Structure::<f64>::gold(s, i, &mut y);
            y
        })
        .collect();
    // A gold derivation has one node for each word, in order.
    if ask == Ask::Gold {
        return vec![gold[i].clone()];
    }
    let words: Vec<u32> = TREES[i].1.split(' ').map(|tag| s.grammar().word_symbol(tag)).collect();
    let all = below(s.grammar(), &gold, &words, 0, words.len());
    let is_root = |nodes: &Vec<Node>| gold.iter().any(|y| y.nodes[0].symbol == nodes[0].symbol);
    all.into_iter().filter(is_root).map(|nodes| Derivation { nodes }).collect()
}

/// All nodes and their children in gold derivations.
fn shown(gold: &[Derivation], is_it: impl Fn(Node, Option<[Node; 2]>) -> bool) -> bool {
    let mut found = false;
    gold.iter().for_each(|y| y.each(|node, children| found |= is_it(node, children)));
    found
}

fn below(
    grammar: &Grammar,
    gold: &[Derivation],
    words: &[u32],
    i: usize,
    j: usize,
) -> Vec<Vec<Node>> {
    let node = |symbol: u32| Node { start: i as u32, end: j as u32, symbol };
    let seen = |symbol: &u32| {
        shown(gold, |node, _| node.symbol == *symbol && node.is_leaf() == (j - i == 1))
    };
    let phrases: Vec<u32> = (0..grammar.n_parents() as u32).filter(seen).collect();
    if j - i == 1 {
        return phrases.iter().chain([&words[i]]).map(|&symbol| vec![node(symbol)]).collect();
    }
    let mut all = Vec::new();
    for k in i + 1..j {
        for left in below(grammar, gold, words, i, k) {
            for right in below(grammar, gold, words, k, j) {
                for &symbol in &phrases {
                    let has = |side: usize, child: &[Node]| {
                        shown(gold, |node, children| {
                            let child = child[0].symbol;
                            node.symbol == symbol
                                && children.is_some_and(|both| both[side].symbol == child)
                        })
                    };
                    if has(0, &left) && has(1, &right) {
                        all.push([&[node(symbol)], &left[..], &right[..]].concat());
                    }
                }
            }
        }
    }
    all
}

/// Every way to pick spans, or the gold one.
pub fn picks(s: &SpanClassifier<'_>, i: usize, ask: Ask) -> Vec<Vec<bool>> {
    let mut gold = Vec::new();
    Structure::<f64>::gold(s, i, &mut gold);
    if ask == Ask::Gold {
        return vec![gold];
    }
    let pick = |number: usize| (0..gold.len()).map(|at| number >> at & 1 == 1).collect();
    (0..1 << gold.len()).map(pick).collect()
}
