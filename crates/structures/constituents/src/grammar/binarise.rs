//! From trees to binary derivations and back.
//!
//! Phrases over the same words become one node whose symbol has all their labels. A phrase with the children c₁ … cₘ becomes, to the right,
//!
//! ```text
//! X → c₁ @X,   @X → c₂ @X,   …,   @X → cₘ₋₁ cₘ
//! ```
//!
//! and to the left X → @X cₘ and so on. @X remembers the last `horizontal` children that were split off, and phrases the `vertical` − 1 labels above them (Klein and Manning 2003). Nothing is
//! lost: the phrases of a derivation, in the order of its nodes, are those of the tree.

use super::symbols::{Kind, Symbol};
use super::{Branching, GrammarSpec};
use crate::{Phrase, Tree};

/// A node of a derivation whose symbol has no number yet.
pub(super) struct Derived {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) symbol: Symbol,
}

/// A child of a node.
#[derive(Clone, Copy)]
enum Child {
    Word(u32),
    Node(usize),
}

/// All phrases over the same words.
struct Collapsed<'a> {
    phrases: &'a [Phrase],
    children: Vec<Child>,
}

impl Collapsed<'_> {
    fn start(&self) -> u32 {
        self.phrases[0].start
    }

    fn end(&self) -> u32 {
        self.phrases[0].end
    }
}

/// What is still to be derived.
enum Task {
    Child(Child, Vec<u32>),
    /// The children `from..to` of a node, with the labels above the node.
    Rest {
        node: usize,
        from: usize,
        to: usize,
        ancestors: Vec<u32>,
    },
}

/// The nodes of a tree without its first `skip` phrases. `label` and `tag` number labels and the parts of speech of words.
pub(super) fn derive(
    tree: &Tree,
    skip: usize,
    spec: GrammarSpec,
    label: &mut dyn FnMut(&str) -> u32,
    tag: &dyn Fn(u32) -> Option<u32>,
) -> Vec<Derived> {
    let nodes = collapse(tree, skip);
    let mut found = Vec::with_capacity(2 * tree.n_words());
    let first = if nodes.is_empty() { Child::Word(0) } else { Child::Node(0) };
    let mut tasks = vec![Task::Child(first, Vec::new())];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Child(Child::Word(word), _) => {
                let symbol = Symbol { kind: Kind::Word(tag(word)), ancestors: Vec::new() };
                found.push(Derived { start: word, end: word + 1, symbol });
            }
            Task::Child(Child::Node(at), ancestors) => {
                let node = &nodes[at];
                let labels: Vec<u32> = node.phrases.iter().map(|p| label(&p.label)).collect();
                let mut below: Vec<u32> = labels.iter().rev().copied().collect();
                below.extend(&ancestors);
                below.truncate(spec.vertical.saturating_sub(1));
                if node.children.len() > 1 {
                    let all = (0, node.children.len());
                    split(&mut tasks, &nodes, spec, at, all, (&ancestors, &below));
                }
                let symbol = Symbol { kind: Kind::Phrase(labels), ancestors };
                found.push(Derived { start: node.start(), end: node.end(), symbol });
            }
            Task::Rest { node: at, from, to, ancestors } => {
                let node = &nodes[at];
                let labels: Vec<u32> = node.phrases.iter().map(|p| label(&p.label)).collect();
                let key = |child: &Child| match *child {
                    Child::Word(word) => tag(word).map_or(1, |tag| 2 * tag + 3),
                    Child::Node(node) => 2 * label(&nodes[node].phrases[0].label),
                };
                let siblings = match spec.branching {
                    Branching::Right => {
                        node.children[..from].iter().rev().take(spec.horizontal).map(key).collect()
                    }
                    Branching::Left => {
                        node.children[to..].iter().take(spec.horizontal).map(key).collect()
                    }
                };
                let mut below: Vec<u32> = labels.iter().rev().copied().collect();
                below.extend(&ancestors);
                below.truncate(spec.vertical.saturating_sub(1));
                split(&mut tasks, &nodes, spec, at, (from, to), (&ancestors, &below));
                let ends = |child: Child| match child {
                    Child::Word(word) => (word, word + 1),
                    Child::Node(node) => (nodes[node].start(), nodes[node].end()),
                };
                let (start, end) = (ends(node.children[from]).0, ends(node.children[to - 1]).1);
                let category = labels.last().copied().unwrap_or_default();
                let kind = Kind::Rest { label: category, siblings };
                found.push(Derived { start, end, symbol: Symbol { kind, ancestors } });
            }
        }
    }
    found
}

/// Splits the children `from..to` of a node in two; the left part is derived first.
fn split(
    tasks: &mut Vec<Task>,
    nodes: &[Collapsed<'_>],
    spec: GrammarSpec,
    node: usize,
    (from, to): (usize, usize),
    (own, below): (&[u32], &[u32]),
) {
    let children = &nodes[node].children;
    let part = |from: usize, to: usize| match to - from {
        1 => Task::Child(children[from], below.to_vec()),
        _ => Task::Rest { node, from, to, ancestors: own.to_vec() },
    };
    let middle = match spec.branching {
        Branching::Right => from + 1,
        Branching::Left => to - 1,
    };
    tasks.push(part(middle, to));
    tasks.push(part(from, middle));
}

/// The nodes of a tree, each before those below it.
fn collapse(tree: &Tree, skip: usize) -> Vec<Collapsed<'_>> {
    let phrases = &tree.phrases()[skip..];
    let mut nodes: Vec<Collapsed<'_>> = Vec::new();
    // Open nodes, each with the first word that none of its children has yet.
    let mut open: Vec<(usize, u32)> = Vec::new();
    let close = |nodes: &mut Vec<Collapsed<'_>>, (node, next): (usize, u32)| {
        let words = next..nodes[node].end();
        nodes[node].children.extend(words.map(Child::Word));
    };
    let same = |a: &Phrase, b: &Phrase| (a.start, a.end) == (b.start, b.end);
    for phrases in phrases.chunk_by(same) {
        let start = phrases[0].start;
        while let Some(&(node, next)) = open.last().filter(|&&(node, _)| nodes[node].end() <= start)
        {
            close(&mut nodes, (node, next));
            open.pop();
        }
        let own = nodes.len();
        if let Some((parent, next)) = open.last_mut() {
            nodes[*parent].children.extend((*next..start).map(Child::Word));
            nodes[*parent].children.push(Child::Node(own));
            *next = phrases[0].end;
        }
        nodes.push(Collapsed { phrases, children: Vec::new() });
        open.push((own, start));
    }
    while let Some(last) = open.pop() {
        close(&mut nodes, last);
    }
    nodes
}
