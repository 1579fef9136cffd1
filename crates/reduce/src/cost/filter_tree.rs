//! Filter tree: a knockout with costs. K−1 problems, one per node of a [`Tree`]: "which of the two winners below is cheaper?"
//!
//! Beygelzimer, Langford and Ravikumar, *Error-correcting tournaments*, ALT 2009: cost-sensitive filter trees. Nodes are learnt from
//! the leaves up. At a node a row goes down either side by the answers of the nodes already learnt, to the classes a (left) and
//! b (right) that win there; it says left if Δ(y, a) < Δ(y, b), else right, with weight |Δ(y, a) − Δ(y, b)|. A node thus learns from what
//! it will meet, errors below included, which a [`LabelTree`](crate::LabelTree) does not: the prediction costs no more above the
//! best than the nodes do together, each weighted so. A prediction walks from the root to a leaf, log₂K questions.
//!
//! Nodes of one height are learnt at once. To find the winners costs about 2·K·N answers in a balanced tree; rows whose class
//! costs the same whatever wins below are not sent down.

use super::Costs;
use crate::label_tree::{Split, question};
use crate::problems::{self, Answers, Problem, Report, check_classes};
use crate::tree::At;
use crate::{BinaryLearner, BinaryScorer, Examples, FitError, InputOf, Inputs, InputsOf, Tree};
use rayon::prelude::*;
use std::borrow::Cow;

/// A scorer a node of a tree; yes is left.
#[derive(Clone, Debug)]
pub struct FilterTree<S> {
    tree: Tree,
    splits: Vec<Split<S>>,
    report: Report,
}

impl<S: BinaryScorer + Sync> FilterTree<S> {
    /// Learns a problem a node whose winners differ in cost both ways.
    pub fn fit<L: BinaryLearner<Scorer = S>>(
        learner: &L,
        examples: &Examples<'_, InputsOf<S>>,
        costs: &Costs<'_>,
        tree: Tree,
    ) -> Result<Self, FitError<L::Error>> {
        check_classes("cost table", costs.n_classes(), examples.n_classes())?;
        check_classes("tree", tree.n_classes(), examples.n_classes())?;
        // Those above a node are not asked before they are learnt.
        let mut splits: Vec<Split<S>> = tree.nodes().iter().map(|_| Split::Left).collect();
        let mut report = Report::default();
        for level in levels(&tree) {
            let pose = |node: usize| duel(node, &tree, &splits, examples, costs);
            let (learnt, took) = problems::learn(
                learner,
                examples,
                level.par_iter().copied(),
                pose,
                question(&tree),
            )?;
            for (node, learnt) in level.into_iter().zip(learnt) {
                splits[node] = learnt.map_or_else(|side| side, Split::Ask);
            }
            report.problems += took.problems;
            report.skipped += took.skipped;
            report.rows += took.rows;
        }
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

    /// The class that a walk from the root ends in, left at a score of 0 or more.
    pub fn predict(&self, x: InputOf<'_, S>) -> u32 {
        self.tree.walk(self.tree.root(), |node| self.splits[node].is_left(x))
    }
}

/// Nodes by height, the lowest first.
fn levels(tree: &Tree) -> Vec<Vec<usize>> {
    let n_nodes = tree.nodes().len();
    let mut height = vec![0usize; n_nodes];
    let mut levels: Vec<Vec<usize>> = Vec::new();
    // Preorder: children stand after their parents.
    for node in (0..n_nodes).rev() {
        let below = tree.children(node).into_iter().filter_map(|child| match child {
            At::Node(child) => Some(height[child] + 1),
            At::Leaf(_) => None,
        });
        height[node] = below.max().unwrap_or(0);
        if levels.len() <= height[node] {
            levels.resize(height[node] + 1, Vec::new());
        }
        levels[height[node]].push(node);
    }
    levels.iter_mut().for_each(|level| level.reverse());
    levels
}

/// The problem of a node, or its answer where the rows have one only.
fn duel<'a, S: BinaryScorer>(
    node: usize,
    tree: &Tree,
    splits: &[Split<S>],
    examples: &Examples<'_, InputsOf<S>>,
    costs: &Costs<'_>,
) -> Result<Problem<'a>, Split<S>> {
    let span = tree.nodes()[node];
    let below = &tree.leaves()[span.lo as usize..span.hi as usize];
    let cares: Vec<bool> = (0..costs.n_classes() as u32)
        .map(|y| below.iter().any(|&k| costs.row(y)[k as usize] != costs.row(y)[below[0] as usize]))
        .collect();
    let sides = tree.children(node);
    let (mut rows, mut signed) = (Vec::new(), Vec::new());
    for (row, &y) in (0u32..).zip(examples.y()).filter(|(_, y)| cares[**y as usize]) {
        let x = examples.inputs().get(row as usize);
        let [a, b] = sides.map(|side| tree.walk(side, |node| splits[node].is_left(x)));
        let gain = costs.row(y)[b as usize] - costs.row(y)[a as usize];
        let weight = gain * examples.weight(row);
        if weight != 0.0 {
            rows.push(row);
            signed.push(weight);
        }
    }
    match (signed.iter().any(|s| *s > 0.0), signed.iter().any(|s| *s < 0.0)) {
        (true, true) => Ok(Problem { rows: Cow::Owned(rows), answers: Answers::Signed(signed) }),
        (_, false) => Err(Split::Left),
        (false, true) => Err(Split::Right),
    }
}
