//! Label tree: a binary problem a node of a [`Tree`], "which half?", over the rows of the classes below it.
//!
//! K−1 problems, but a row is in only as many as its class is deep: about N·log₂K rows instead of K·N. A prediction walks
//! from the root to a leaf. P(class | x) is the product of the probabilities along its path, so that all classes sum to
//! one; a greedy walk may miss the most probable class, a beam seldom does.

use crate::learner::{Rule, log_probas, score};
use crate::problems::{self, Answers, Problem, Report, Scratch, check_classes};
use crate::tree::At;
use crate::{BinaryLearner, BinaryScorer, Examples, FitError, InputOf, InputsOf, Tree};
use std::borrow::Cow;

/// A scorer a node of a tree; yes is left.
#[derive(Clone, Debug)]
pub struct LabelTree<S> {
    tree: Tree,
    splits: Vec<Split<S>>,
    report: Report,
}

/// What a node does.
#[derive(Clone, Debug)]
pub(crate) enum Split<S> {
    Ask(S),
    /// No training row goes right.
    Left,
    /// None goes left.
    Right,
}

impl<S: BinaryScorer> Split<S> {
    pub(crate) fn is_left(&self, x: InputOf<'_, S>) -> bool {
        match self {
            Split::Ask(scorer) => score(scorer, x) >= 0.0,
            Split::Left => true,
            Split::Right => false,
        }
    }
}

/// A place that a beam has reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    log_p: f64,
    at: At,
}

impl<S: BinaryScorer> LabelTree<S> {
    /// Learns a problem a node that has rows on both sides.
    pub fn fit<L: BinaryLearner<Scorer = S>>(
        learner: &L,
        examples: &Examples<'_, InputsOf<S>>,
        tree: Tree,
    ) -> Result<Self, FitError<L::Error>> {
        check_classes("tree", tree.n_classes(), examples.n_classes())?;
        // Rows left of each leaf.
        let mut before = vec![0];
        before.extend(tree.leaves().iter().scan(0, |sum, &class| {
            *sum += examples.rows_of(class as usize).len();
            Some(*sum)
        }));
        let has_rows = |lo: u32, hi: u32| before[hi as usize] > before[lo as usize];

        let pose = |number: usize| {
            let node = tree.nodes()[number];
            let classes = &tree.leaves()[node.lo as usize..node.hi as usize];
            match (has_rows(node.lo, node.split), has_rows(node.split, node.hi)) {
                (true, true) => Ok(Problem {
                    rows: Cow::Owned(examples.rows_of_all(classes.iter().map(|&k| k as usize))),
                    answers: Answers::By(Rule::Left { rank: tree.rank(), split: node.split }),
                }),
                (_, false) => Err(Split::Left),
                (false, true) => Err(Split::Right),
            }
        };
        let (splits, report) =
            problems::learn(learner, examples, 0..tree.nodes().len(), pose, question(&tree))?;
        let splits = splits.into_iter().map(|learnt| learnt.map_or_else(|side| side, Split::Ask));
        let splits = splits.collect();
        Ok(Self { tree, splits, report })
    }

    /// How many problems and rows it took.
    pub fn report(&self) -> Report {
        self.report
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The class that a walk by signs ends in, from the root, left at a score of 0 or more. At most
    /// [`Tree::depth`] questions.
    pub fn predict(&self, x: InputOf<'_, S>) -> u32 {
        self.tree.walk(self.tree.root(), |node| self.splits[node].is_left(x))
    }

    /// The most probable classes that a beam of `width` places finds, with their probabilities, best first, into `out`;
    /// the lowest class first among equals. A beam as wide as there are classes finds all of them.
    pub fn predict_beam(
        &self,
        x: InputOf<'_, S>,
        width: usize,
        out: &mut Vec<(u32, f64)>,
        scratch: &mut Scratch,
    ) {
        let Scratch { beam, next, .. } = scratch;
        beam.clear();
        beam.push(Place { log_p: 0.0, at: self.tree.root() });
        while beam.iter().any(|place| matches!(place.at, At::Node(_))) {
            next.clear();
            for place in beam.iter() {
                let At::Node(node) = place.at else {
                    next.push(*place);
                    continue;
                };
                for (log_p, at) in self.log_split(node, x).into_iter().zip(self.tree.children(node))
                {
                    if log_p > f64::NEG_INFINITY {
                        next.push(Place { log_p: place.log_p + log_p, at });
                    }
                }
            }
            // Stable, and children are pushed from left to right: among equals the left one stays.
            next.sort_by(|a, b| b.log_p.total_cmp(&a.log_p));
            next.truncate(width.max(1));
            std::mem::swap(beam, next);
        }
        out.clear();
        out.extend(beam.iter().filter_map(|place| match place.at {
            At::Leaf(leaf) => Some((self.tree.class(leaf), place.log_p.exp())),
            At::Node(_) => None,
        }));
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }

    /// P(class | x), asking only along its path; 0 for a class that there is not.
    pub fn probability(&self, x: InputOf<'_, S>, class: u32) -> f64 {
        let Some(&rank) = self.tree.rank().get(class as usize) else { return 0.0 };
        let mut log_p = 0.0;
        let mut at = self.tree.root();
        while let At::Node(node) = at {
            let side = usize::from(rank >= self.tree.nodes()[node].split);
            log_p += self.log_split(node, x)[side];
            at = self.tree.children(node)[side];
        }
        log_p.exp()
    }

    /// P(class | x) of every class into `out`, asking every node; they sum to one.
    pub fn proba(&self, x: InputOf<'_, S>, out: &mut Vec<f64>, scratch: &mut Scratch) {
        let stack = &mut scratch.beam;
        stack.clear();
        stack.push(Place { log_p: 0.0, at: self.tree.root() });
        out.clear();
        out.resize(self.tree.n_classes(), 0.0);
        while let Some(Place { log_p, at }) = stack.pop() {
            match at {
                At::Leaf(leaf) => out[self.tree.class(leaf) as usize] = log_p.exp(),
                At::Node(node) => {
                    for (step, at) in
                        self.log_split(node, x).into_iter().zip(self.tree.children(node))
                    {
                        if step > f64::NEG_INFINITY {
                            stack.push(Place { log_p: log_p + step, at });
                        }
                    }
                }
            }
        }
    }

    /// ln P(left) and ln P(right) at a node.
    fn log_split(&self, node: usize, x: InputOf<'_, S>) -> [f64; 2] {
        match &self.splits[node] {
            Split::Ask(scorer) => log_probas(scorer, x),
            Split::Left => [0.0, f64::NEG_INFINITY],
            Split::Right => [f64::NEG_INFINITY, 0.0],
        }
    }
}

/// What a node asks, for messages.
pub(crate) fn question(tree: &Tree) -> impl Fn(usize) -> String {
    |number| {
        let node = tree.nodes()[number];
        let (left, right) = (node.split - node.lo, node.hi - node.split);
        format!("a node of the tree with {left} classes to the left, {right} to the right")
    }
}
