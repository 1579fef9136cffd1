//! Which trees there are, and what an output is.

/// Which trees there are, and what their scores are sums of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeKind {
    /// No two arcs cross; scores of arcs.
    #[default]
    Projective,
    /// No two arcs cross; scores of arcs, grandparents and siblings.
    SecondOrder,
    /// All trees; scores of arcs.
    NonProjective,
}

impl TreeKind {
    /// Whether crossing arcs are excluded.
    pub fn is_projective(self) -> bool {
        self != TreeKind::NonProjective
    }
}

/// Which trees, with how many weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSpec {
    /// The trees.
    pub kind: TreeKind,
    /// Exactly one word depends on the root.
    pub single_root: bool,
    /// How many relations each arc chooses from; 0 leaves relations to a [second stage](super::Relations).
    pub n_relations: usize,
    /// There are 2^`bits` weights, [`MIN_BITS`](Self::MIN_BITS) to [`MAX_BITS`](Self::MAX_BITS), and more than relations; others are brought into this range.
    pub bits: u32,
}

impl TreeSpec {
    /// The sixteen weights of one feature.
    pub const MIN_BITS: u32 = 4;
    /// Hashes have 32 bits.
    pub const MAX_BITS: u32 = 31;

    /// The longest sentences, in words: scores of all arcs take n² numbers, those of all grandparents n³.
    pub fn longest(&self, is_pruned: bool) -> usize {
        match self.kind {
            TreeKind::SecondOrder if !is_pruned => 150,
            _ => 2000,
        }
    }

    /// The longest where several trees are listed: their chart keeps every grandparent of every span (1.4 kB for each pair of words with ten candidates per word).
    pub fn longest_listed(&self, is_pruned: bool) -> usize {
        match self.kind {
            TreeKind::SecondOrder => self.longest(is_pruned).min(600),
            _ => self.longest(is_pruned),
        }
    }
}

impl Default for TreeSpec {
    /// Projective trees of first order with one root, without relations, 2²² weights. Trees of second order gain from 2²³ (EWT's dev part: 90.3 with 2²², 90.5 with 2²³ in one run each).
    fn default() -> Self {
        Self { kind: TreeKind::Projective, single_root: true, n_relations: 0, bits: 22 }
    }
}

/// A tree of a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The head of each word, 0 for the root.
    pub heads: Vec<u32>,
    /// The relation of each word to its head; empty where trees have none.
    pub relations: Vec<u32>,
}
