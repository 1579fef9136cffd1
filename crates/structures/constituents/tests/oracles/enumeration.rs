//! All derivations of small sentences, found by recursion over what the training trees show; and a small problem.

use lineal_constituents::features::{Sentences, Templates};
use lineal_constituents::problem::Constituents;
use lineal_constituents::{Branching, Derivation, Grammar, GrammarSpec, Node, Phrase, Tree};
use lineal_linalg::Rng;
use std::collections::HashSet;

/// What the derivations of some trees show.
#[derive(Default)]
pub struct Seen {
    /// (symbol, whether it is over one word, whether it is over all words).
    symbols: HashSet<(u32, bool)>,
    roots: HashSet<u32>,
    /// (side, parent, child).
    pairs: HashSet<(usize, u32, u32)>,
}

impl Seen {
    pub fn new(gold: &[Derivation]) -> Self {
        let mut seen = Self::default();
        for derivation in gold {
            seen.roots.insert(derivation.nodes[0].symbol);
            derivation.each(|node, children| {
                seen.symbols.insert((node.symbol, node.end - node.start == 1));
                for (side, child) in children.into_iter().flatten().enumerate() {
                    seen.pairs.insert((side, node.symbol, child.symbol));
                }
            });
        }
        seen
    }

    /// All derivations of words with these symbols.
    pub fn derivations(&self, grammar: &Grammar, words: &[u32]) -> Vec<Derivation> {
        let all = self.below(grammar, words, 0, words.len());
        let roots = all.into_iter().filter(|nodes| self.roots.contains(&nodes[0].symbol));
        roots.map(|nodes| Derivation { nodes }).collect()
    }

    fn below(&self, grammar: &Grammar, words: &[u32], i: usize, j: usize) -> Vec<Vec<Node>> {
        let node = |symbol: u32| Node { start: i as u32, end: j as u32, symbol };
        let phrases = || 0..grammar.n_parents() as u32;
        if j - i == 1 {
            let phrases = phrases().filter(|&symbol| self.symbols.contains(&(symbol, true)));
            return phrases.chain([words[i]]).map(|symbol| vec![node(symbol)]).collect();
        }
        let mut all = Vec::new();
        for k in i + 1..j {
            let (lefts, rights) =
                (self.below(grammar, words, i, k), self.below(grammar, words, k, j));
            for symbol in phrases().filter(|&symbol| self.symbols.contains(&(symbol, false))) {
                let fits =
                    |side, child: &Vec<Node>| self.pairs.contains(&(side, symbol, child[0].symbol));
                for left in lefts.iter().filter(|left| fits(0, left)) {
                    for right in rights.iter().filter(|right| fits(1, right)) {
                        all.push([&[node(symbol)], &left[..], &right[..]].concat());
                    }
                }
            }
        }
        all
    }
}

/// Trees as label, first word, one after the last; and the parts of speech of their words.
type Small = (&'static [(&'static str, u32, u32)], &'static str);

pub const TREES: [Small; 6] = [
    (&[("S", 0, 4), ("N", 0, 2), ("V", 2, 4), ("N", 3, 4)], "d n v n"),
    (&[("S", 0, 5), ("N", 0, 1), ("V", 1, 5), ("N", 2, 4)], "n v d n p"),
    (
        &[
            ("S", 0, 6),
            ("N", 0, 3),
            ("N", 0, 1),
            ("N", 2, 3),
            ("V", 3, 6),
            ("S", 4, 6),
            ("V", 4, 6),
        ],
        "n c n v v n",
    ),
    (&[("S", 0, 3), ("N", 0, 1), ("V", 1, 2)], "n v p"),
    (&[("S", 0, 1), ("V", 0, 1)], "v"),
    // The same words in another tree, so that the sentence of six has several derivations.
    (
        &[("S", 0, 6), ("S", 0, 3), ("N", 1, 3), ("V", 3, 6), ("V", 4, 6), ("N", 5, 6)],
        "n c n v v n",
    ),
];

pub const TEMPLATES: &str = "
[label]
first.tag last.tag
first.word length
last+1.tag tags
[left]
last.tag last+1.tag
[right]
first-1.tag first.word
length
[span]
first.tag last.tag
";

pub struct Fixture {
    pub grammar: Grammar,
    pub templates: Templates,
    pub sentences: Sentences,
    pub gold: Vec<Derivation>,
    pub symbols: Vec<Vec<u32>>,
}

impl Fixture {
    pub fn new(horizontal: usize, vertical: usize, branching: Branching) -> Self {
        let phrase = |&(label, i, j): &(&str, u32, u32)| Phrase::new(label, i, j);
        let tags: Vec<Vec<&str>> = TREES.iter().map(|tree| tree.1.split(' ').collect()).collect();
        let trees: Vec<Tree> = TREES
            .iter()
            .zip(&tags)
            .map(|(tree, tags)| Tree::new(tags.len(), tree.0.iter().map(phrase).collect()).unwrap())
            .collect();
        let spec = GrammarSpec { horizontal, vertical, branching, min_count: 1 };
        let pairs = trees.iter().zip(tags.iter().map(Vec::as_slice));
        let grammar = Grammar::read(pairs.clone(), spec);
        let gold = pairs.map(|(tree, tags)| grammar.derive(tree, tags).unwrap()).collect();
        let templates = Templates::parse(TEMPLATES).unwrap();
        let mut sentences = Sentences::new(&templates);
        tags.iter().for_each(|tags| sentences.push(&templates, &grammar, tags, tags));
        let symbols =
            tags.iter().map(|tags| tags.iter().map(|tag| grammar.word_symbol(tag)).collect());
        Self { symbols: symbols.collect(), grammar, templates, sentences, gold }
    }

    /// A grammar of each kind.
    pub fn all() -> Vec<Self> {
        let kinds = [
            (0, 1, Branching::Right),
            (0, 1, Branching::Left),
            (1, 1, Branching::Right),
            (1, 2, Branching::Left),
            (0, 2, Branching::Right),
        ];
        kinds.map(|(h, v, branching)| Self::new(h, v, branching)).into()
    }

    pub fn problem(&self) -> Constituents<'_> {
        Constituents::new(&self.grammar, &self.templates, &self.sentences, None, 10)
            .with_gold(&self.gold)
    }

    pub fn derivations(&self, i: usize) -> Vec<Derivation> {
        Seen::new(&self.gold).derivations(&self.grammar, &self.symbols[i])
    }
}

pub fn random_weights(dim: usize, seed: u64, range: f64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..dim).map(|_| range * (rng.unit() - 0.5)).collect()
}
