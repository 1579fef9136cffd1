//! Binary trees of symbols: the outputs that are learnt.

/// A node of a derivation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Node {
    /// The first word, from 0.
    pub start: u32,
    /// One after the last word.
    pub end: u32,
    /// The number of its symbol in the grammar.
    pub symbol: u32,
}

impl Node {
    /// Whether it is over one word.
    pub fn is_leaf(&self) -> bool {
        self.end - self.start == 1
    }
}

/// A binary tree over the words of a sentence: 2n − 1 nodes for n words, each before those below it, left before right. So the left child of a node is the next one, and
/// its right child the next one that starts where the left one ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derivation {
    /// The nodes.
    pub nodes: Vec<Node>,
}

impl Derivation {
    /// Calls `f` with each node and its two children; `None` for the nodes over one word.
    pub fn each(&self, mut f: impl FnMut(Node, Option<[Node; 2]>)) {
        // Where the right child of each node stands: after the left one's nodes, of which there are two for each word but one.
        for (at, &node) in self.nodes.iter().enumerate() {
            let left = self.nodes.get(at + 1).filter(|_| !node.is_leaf());
            let right =
                left.and_then(|left| self.nodes.get(at + 2 * (left.end - left.start) as usize));
            f(node, left.zip(right).map(|(&left, &right)| [left, right]));
        }
    }
}
