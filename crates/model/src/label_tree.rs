//! A tree whose leaves are the classes or labels, with a small linear model in each node.
//!
//! A node asks "below which child?", one column a child; where there are two children and an output is below just one of
//! them, one column is enough. Its weights cover only the features that occur below it: `features` lists these, rising, and
//! row f of its weights, `columns` numbers, is that of the f-th of them; a last row is the bias. A tree over K classes
//! so takes memory for what its training rows contain, not for K times the number of features.
//!
//! Probabilities multiply along the path (Jasinska-Kobus et al., *Probabilistic label trees*, 2020). Children are stored after
//! their parent, so that walking nodes in order walks down.

use lineal_linalg::{Row, Scalar, kernels};
use std::collections::BinaryHeap;
use std::ops::Range;

/// Below which child? The shape of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeShape {
    /// What is below it.
    pub children: Vec<Child>,
    /// Whether one column decides between two children; else there is a column a child.
    pub single: bool,
    /// The features that its weights cover, rising.
    pub features: Vec<u32>,
}

/// What is below a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Another node, of a higher number than its parent.
    Node(u32),
    /// A class or label.
    Leaf(u32),
}

/// How an answer's score becomes a probability.
pub trait Link {
    /// ln P(yes) and ln P(no) for a score.
    fn log_probas(&self, score: f64) -> [f64; 2];
    /// Whether these are probabilities, so that those of a node's children should sum to one. Else they only order outputs.
    fn is_proba(&self) -> bool {
        true
    }
}

impl<T: Fn(f64) -> [f64; 2]> Link for T {
    fn log_probas(&self, score: f64) -> [f64; 2] {
        self(score)
    }
}

/// The shape of a tree; weights live elsewhere, so that they can be mapped from a file.
#[derive(Clone, Debug)]
pub struct LabelTree {
    nodes: Vec<Node>,
    children: Vec<Child>,
    features: Vec<u32>,
    n_outputs: usize,
    n_weights: usize,
    has_bias: bool,
    /// Whether an output is below exactly one child of each node on its way: classes, not sets of labels.
    exclusive: bool,
}

#[derive(Clone, Debug)]
struct Node {
    children: Range<usize>,
    features: Range<usize>,
    weights: Range<usize>,
    columns: usize,
    /// For a node of many features: the place of each feature among them.
    place: Vec<u32>,
}

/// No place.
const NOWHERE: u32 = u32::MAX;

/// The flat form of a tree, for files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlatTree {
    /// For each node: number of children, 1 if one column decides, number of features.
    pub nodes: Vec<u32>,
    /// Twice the node's number, or twice the class plus one.
    pub children: Vec<u32>,
    /// All features, node by node.
    pub features: Vec<u32>,
}

impl LabelTree {
    /// A tree over outputs `0..n_outputs`, its root first.
    pub fn new(
        shapes: impl IntoIterator<Item = NodeShape>,
        n_outputs: usize,
        has_bias: bool,
        exclusive: bool,
    ) -> Result<Self, String> {
        let mut flat = FlatTree::default();
        for shape in shapes {
            let number =
                |n: usize| u32::try_from(n).map_err(|_| "a node that is too large".to_owned());
            flat.nodes.extend([
                number(shape.children.len())?,
                u32::from(shape.single),
                number(shape.features.len())?,
            ]);
            for child in shape.children {
                let (Child::Node(id) | Child::Leaf(id)) = child;
                let twice = id.checked_mul(2).ok_or("too many nodes")?;
                flat.children.push(twice + u32::from(matches!(child, Child::Leaf(_))));
            }
            flat.features.extend(shape.features);
        }
        Self::from_flat(&flat.nodes, &flat.children, flat.features, n_outputs, has_bias, exclusive)
    }

    /// The tree that its flat form describes; nothing in it is believed.
    pub fn from_flat(
        nodes: &[u32],
        children: &[u32],
        features: Vec<u32>,
        n_outputs: usize,
        has_bias: bool,
        exclusive: bool,
    ) -> Result<Self, String> {
        if !nodes.len().is_multiple_of(3) || nodes.is_empty() {
            return Err("it has no nodes, or half of one".into());
        }
        let n_nodes = nodes.len() / 3;
        let decode = |&c: &u32| if c % 2 == 1 { Child::Leaf(c / 2) } else { Child::Node(c / 2) };
        let children: Vec<Child> = children.iter().map(decode).collect();
        let (mut at_child, mut at_feature, mut at_weight) = (0usize, 0usize, 0usize);
        let mut own = Vec::with_capacity(n_nodes);
        let mut has_parent = vec![false; n_nodes];
        let mut has_leaf = vec![false; n_outputs];
        for (number, node) in nodes.chunks_exact(3).enumerate() {
            let [n_children, single, n_features] = [node[0], node[1], node[2]].map(|v| v as usize);
            if n_children == 0 || single > 1 || (single == 1 && n_children != 2) {
                return Err(format!("node {number} has {n_children} children"));
            }
            let columns = if single == 1 { 1 } else { n_children };
            let n_rows =
                n_features.checked_add(usize::from(has_bias)).ok_or("too many features")?;
            let n_weights = n_rows.checked_mul(columns).ok_or("too many weights")?;
            let take = |at: &mut usize, n: usize| {
                let range = *at..at.checked_add(n)?;
                *at = range.end;
                Some(range)
            };
            let too_many = || "too many entries".to_owned();
            let node = Node {
                children: take(&mut at_child, n_children).ok_or_else(too_many)?,
                features: take(&mut at_feature, n_features).ok_or_else(too_many)?,
                weights: take(&mut at_weight, n_weights).ok_or_else(too_many)?,
                columns,
                place: Vec::new(),
            };
            let below = children.get(node.children.clone()).ok_or("it lacks children")?;
            for child in below {
                let seen = match *child {
                    Child::Node(id) if id as usize <= number => None,
                    Child::Node(id) => has_parent.get_mut(id as usize),
                    Child::Leaf(id) => has_leaf.get_mut(id as usize),
                };
                match seen {
                    Some(seen) if !*seen => *seen = true,
                    _ => return Err(format!("node {number} has the child {child:?}")),
                }
            }
            let covered = features.get(node.features.clone()).ok_or("it lacks features")?;
            if !covered.is_sorted_by(|a, b| a < b) {
                return Err(format!("the features of node {number} do not rise"));
            }
            own.push(node);
        }
        let whole = at_child == children.len() && at_feature == features.len();
        if !whole || has_parent[1..].contains(&false) || has_leaf.contains(&false) {
            return Err("it leaves out nodes, outputs or entries".into());
        }
        let n_places = features.iter().max().map_or(0, |&j| j as usize + 1);
        for node in &mut own {
            // Finding a feature by halving costs a cache miss a step; a table costs 4 bytes a feature, so only nodes near the root have one.
            if node.features.len() >= n_places / 8 && n_places <= 1 << 24 {
                node.place = vec![NOWHERE; n_places];
                for (local, &j) in (0..).zip(&features[node.features.clone()]) {
                    node.place[j as usize] = local;
                }
            }
        }
        Ok(Self {
            nodes: own,
            children,
            features,
            n_outputs,
            n_weights: at_weight,
            has_bias,
            exclusive,
        })
    }

    /// The flat form.
    pub fn to_flat(&self) -> FlatTree {
        let mut flat = FlatTree { features: self.features.clone(), ..FlatTree::default() };
        for node in &self.nodes {
            let single = node.columns == 1 && node.children.len() == 2;
            flat.nodes.extend([
                node.children.len() as u32,
                u32::from(single),
                node.features.len() as u32,
            ]);
        }
        flat.children.extend(self.children.iter().map(|child| match *child {
            Child::Node(id) => 2 * id,
            Child::Leaf(id) => 2 * id + 1,
        }));
        flat
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Number of binary problems: columns of all nodes.
    pub fn n_columns(&self) -> usize {
        self.nodes.iter().map(|node| node.columns).sum()
    }

    /// Number of weights of all nodes, one node after the other.
    pub fn n_weights(&self) -> usize {
        self.n_weights
    }

    /// The largest feature plus one.
    pub fn n_features(&self) -> usize {
        self.features.iter().max().map_or(0, |&j| j as usize + 1)
    }

    /// The largest number of decisions to reach an output.
    pub fn depth(&self) -> usize {
        let mut depth = vec![1; self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            for child in &self.children[node.children.clone()] {
                if let Child::Node(id) = *child {
                    depth[id as usize] = depth[number] + 1;
                }
            }
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// The columns' scores in a node.
    fn answers<F: Scalar>(&self, number: usize, x: Row<'_>, w: &[F], s: &mut Scratch<F>) {
        let node = &self.nodes[number];
        let features = &self.features[node.features.clone()];
        s.idx.clear();
        s.val.clear();
        let mut from = 0;
        x.for_each(|j, v| {
            if !node.place.is_empty() {
                if let Some(&local) = node.place.get(j).filter(|&&local| local != NOWHERE) {
                    s.idx.push(local);
                    s.val.push(v);
                }
                return;
            }
            // Rows are short and nodes long, or the other way round near the leaves: halving serves both.
            let rest = &features[from..];
            let at = rest.partition_point(|&f| (f as usize) < j);
            from += at;
            if rest.get(at) == Some(&(j as u32)) {
                s.idx.push(from as u32);
                s.val.push(v);
            }
        });
        let w = &w[node.weights.clone()];
        s.scores.clear();
        s.scores.resize(node.columns, F::ZERO);
        if let Some(local) = Row::sparse(&s.idx, &s.val) {
            kernels::scores(local, w, &mut s.scores);
        }
        if self.has_bias {
            let bias = &w[w.len() - node.columns..];
            s.scores.iter_mut().zip(bias).for_each(|(score, &b)| *score += b);
        }
    }

    /// ln P(child | node) for each child, into `s.logs`.
    fn decide<F: Scalar>(
        &self,
        number: usize,
        x: Row<'_>,
        w: &[F],
        link: &impl Link,
        s: &mut Scratch<F>,
    ) {
        self.answers(number, x, w, s);
        let node = &self.nodes[number];
        s.logs.clear();
        if node.columns < node.children.len() {
            s.logs.extend(link.log_probas(s.scores[0].to_f64()));
            return;
        }
        s.logs.extend(s.scores.iter().map(|score| link.log_probas(score.to_f64())[0]));
        if self.exclusive && link.is_proba() {
            let top = s.logs.iter().fold(f64::NEG_INFINITY, |m, &l| m.max(l));
            let sum: f64 = s.logs.iter().map(|l| (l - top).exp()).sum();
            let norm = top + sum.ln();
            s.logs.iter_mut().for_each(|l| *l -= norm);
        }
    }

    /// ln P of every output.
    pub fn log_probas<F: Scalar>(
        &self,
        x: Row<'_>,
        w: &[F],
        link: &impl Link,
        s: &mut Scratch<F>,
        out: &mut [f64],
    ) {
        let mut at = std::mem::take(&mut s.at);
        at.clear();
        at.resize(self.nodes.len(), 0.0);
        for number in 0..self.nodes.len() {
            self.decide(number, x, w, link, s);
            for (child, log) in
                self.children[self.nodes[number].children.clone()].iter().zip(&s.logs)
            {
                match *child {
                    Child::Node(id) => at[id as usize] = at[number] + log,
                    Child::Leaf(id) => out[id as usize] = at[number] + log,
                }
            }
        }
        s.at = at;
    }

    /// The `k` likeliest outputs with ln P, best first, the lower number among equals. The likeliest node is opened first, so that the first outputs
    /// met are the best ones; at each depth at most `beam` nodes are opened, so that a prediction's work is bounded. A beam of 1 is greedy.
    pub fn best<F: Scalar>(
        &self,
        x: Row<'_>,
        w: &[F],
        link: &impl Link,
        (k, beam): (usize, usize),
        s: &mut Scratch<F>,
    ) -> Vec<(u32, f64)> {
        let k = k.min(self.n_outputs);
        let mut found = Vec::with_capacity(k);
        let mut opened: Vec<usize> = Vec::new();
        let mut front = std::mem::take(&mut s.front);
        front.clear();
        front.push(Reached { log: 0.0, child: Child::Node(0), depth: 0 });
        while let Some(Reached { log, child, depth }) = front.pop() {
            let number = match child {
                Child::Leaf(id) => {
                    found.push((id, log));
                    if found.len() == k {
                        break;
                    }
                    continue;
                }
                Child::Node(number) => number as usize,
            };
            opened.resize(opened.len().max(depth + 1), 0);
            if opened[depth] == beam.max(1) {
                continue;
            }
            opened[depth] += 1;
            self.decide(number, x, w, link, s);
            let children = &self.children[self.nodes[number].children.clone()];
            for (&child, step) in children.iter().zip(&s.logs) {
                front.push(Reached { log: log + step, child, depth: depth + 1 });
            }
        }
        s.front = front;
        found
    }

    /// Every score of a node on the way to an output of `gold`, with whether the answer should be yes: what a link is fitted to.
    pub fn path_answers<F: Scalar>(
        &self,
        x: Row<'_>,
        w: &[F],
        gold: &[u32],
        s: &mut Scratch<F>,
        mut see: impl FnMut(f64, bool),
    ) {
        // Which nodes have a gold output below them: children come after their parents.
        let mut has = vec![false; self.nodes.len()];
        let below = |has: &[bool], child: &Child| match *child {
            Child::Node(id) => has[id as usize],
            Child::Leaf(id) => gold.binary_search(&id).is_ok(),
        };
        for number in (0..self.nodes.len()).rev() {
            let children = &self.children[self.nodes[number].children.clone()];
            has[number] = children.iter().any(|child| below(&has, child));
        }
        // The root is asked about every row, also of those without an output.
        for number in (0..self.nodes.len()).filter(|&number| number == 0 || has[number]) {
            self.answers(number, x, w, s);
            let children = &self.children[self.nodes[number].children.clone()];
            for (child, score) in children.iter().zip(&s.scores) {
                see(score.to_f64(), below(&has, child));
            }
        }
    }

    /// Shows each node's features, number of columns and weights (one row per feature, then the bias).
    pub fn for_each_node<F>(&self, w: &mut [F], mut see: impl FnMut(&[u32], usize, &mut [F])) {
        for node in &self.nodes {
            let features = &self.features[node.features.clone()];
            see(features, node.columns, &mut w[node.weights.clone()]);
        }
    }

    /// Adds to `out`, by feature, the weights of the answers on the way to an output, a "no" turned round.
    pub fn path_weights<F: Scalar>(&self, w: &[F], output: u32, out: &mut [f64]) {
        for (number, child) in self.way(output) {
            let (column, sign) = self.column_of(number, child);
            let node = &self.nodes[number];
            let rows = w[node.weights.clone()].chunks_exact(node.columns);
            for (&j, row) in self.features[node.features.clone()].iter().zip(rows) {
                out[j as usize] += sign * row[column].to_f64();
            }
        }
    }

    /// The way to an output, root first: the nodes, and which child of each.
    pub fn way(&self, output: u32) -> Vec<(usize, usize)> {
        let mut wanted = Child::Leaf(output);
        let mut way = Vec::new();
        for (number, node) in self.nodes.iter().enumerate().rev() {
            let children = &self.children[node.children.clone()];
            let Some(at) = children.iter().position(|&child| child == wanted) else { continue };
            wanted = Child::Node(number as u32);
            way.push((number, at));
        }
        way.reverse();
        way
    }

    /// The column of a node whose answer speaks for a child, and the sign that it does so with.
    pub fn column_of(&self, node: usize, child: usize) -> (usize, f64) {
        let single = self.nodes[node].columns < self.nodes[node].children.len();
        if single { (0, 1.0 - 2.0 * child as f64) } else { (child, 1.0) }
    }

    /// The weight of a feature in a column of a node: 0 where the node does not cover it.
    pub fn node_weight<F: Scalar>(&self, w: &[F], node: usize, column: usize, j: usize) -> f64 {
        let node = &self.nodes[node];
        match self.features[node.features.clone()].binary_search(&(j as u32)) {
            Ok(at) => w[node.weights.start + at * node.columns + column].to_f64(),
            Err(_) => 0.0,
        }
    }

    /// What is added to a column's answer in a node.
    pub fn node_bias<F: Scalar>(&self, w: &[F], node: usize, column: usize) -> f64 {
        let node = &self.nodes[node];
        if self.has_bias { w[node.weights.end - node.columns + column].to_f64() } else { 0.0 }
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }
}

/// A place on the way down, ordered by probability; among equals leaves and lower numbers come first.
#[derive(Clone, Copy, Debug)]
struct Reached {
    log: f64,
    child: Child,
    depth: usize,
}

impl Reached {
    fn key(&self) -> (bool, std::cmp::Reverse<u32>) {
        let (Child::Node(id) | Child::Leaf(id)) = self.child;
        (matches!(self.child, Child::Leaf(_)), std::cmp::Reverse(id))
    }
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Reached {}
impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Reached {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.log.total_cmp(&other.log).then(self.key().cmp(&other.key()))
    }
}

/// Working memory of a prediction.
#[derive(Debug, Default)]
pub struct Scratch<F> {
    idx: Vec<u32>,
    val: Vec<f32>,
    scores: Vec<F>,
    logs: Vec<f64>,
    at: Vec<f64>,
    front: BinaryHeap<Reached>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (0 1) against a wide node (2 3 4), over two features and a bias.
    fn tree() -> LabelTree {
        let node = |children: &[Child], single, features: &[u32]| NodeShape {
            children: children.to_vec(),
            single,
            features: features.to_vec(),
        };
        let shapes = [
            node(&[Child::Node(1), Child::Node(2)], true, &[0, 5]),
            node(&[Child::Leaf(0), Child::Leaf(1)], true, &[5]),
            node(&[Child::Leaf(3), Child::Leaf(2), Child::Leaf(4)], false, &[]),
        ];
        LabelTree::new(shapes, 5, true, true).unwrap()
    }

    fn sigmoid(score: f64) -> [f64; 2] {
        [-(1.0 + (-score).exp()).ln(), -(1.0 + score.exp()).ln()]
    }

    #[test]
    fn probabilities_multiply_along_the_path_and_sum_to_one() {
        let tree = tree();
        assert_eq!(
            (tree.n_weights(), tree.n_columns(), tree.depth(), tree.n_features()),
            (8, 5, 2, 6)
        );
        let w = [1.0f64, 2.0, 0.5, -1.0, 0.25, 0.1, 0.2, 0.3];
        let (idx, val) = ([0, 3, 5], [1.0, 9.0, 0.5]);
        let x = Row::sparse(&idx, &val).unwrap();
        let mut out = [0.0; 5];
        let mut s = Scratch::default();
        tree.log_probas(x, &w, &sigmoid, &mut s, &mut out);
        assert!((out.iter().map(|l| l.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
        // Root: 1 + 2/2 + 1/2 = 2.5; node 1: −1/2 + 1/4.
        let want = sigmoid(2.5)[0] + sigmoid(-0.25)[0];
        assert!((out[0] - want).abs() < 1e-12);
        let best = tree.best(x, &w, &sigmoid, (5, 10), &mut s);
        let mut order: Vec<u32> = (0..5).collect();
        order.sort_by(|&a, &b| out[b as usize].total_cmp(&out[a as usize]));
        assert_eq!(best.iter().map(|b| b.0).collect::<Vec<_>>(), order);
        assert_eq!(tree.best(x, &w, &sigmoid, (1, 1), &mut s)[0].0, order[0]);
        // All that there are, however many are asked for.
        assert_eq!(tree.best(x, &w, &sigmoid, (usize::MAX, usize::MAX), &mut s), best);
        let mut seen = Vec::new();
        tree.path_answers(x, &w, &[2], &mut s, |score, yes| seen.push((score, yes)));
        assert_eq!(seen, [(2.5, false), (0.1, false), (0.2, true), (0.3, false)]);
        // Answers are what the weights on the way add up to.
        assert_eq!(tree.way(2), [(0, 1), (2, 1)]);
        assert_eq!((tree.column_of(0, 1), tree.column_of(2, 1)), ((0, -1.0), (1, 1.0)));
        let at = |j, v| v * tree.node_weight(&w, 0, 0, j);
        assert_eq!(at(0, 1.0) + at(3, 9.0) + at(5, 0.5) + tree.node_bias(&w, 0, 0), 2.5);
        assert_eq!(tree.node_bias(&w, 2, 1), 0.2);
    }

    #[test]
    fn a_tree_survives_its_flat_form_and_bad_ones_are_refused() {
        let flat = tree().to_flat();
        let from = |f: &FlatTree| {
            LabelTree::from_flat(&f.nodes, &f.children, f.features.clone(), 5, true, true)
        };
        assert_eq!(from(&flat).unwrap().to_flat(), flat);
        for at in 0..flat.nodes.len() + flat.children.len() + flat.features.len() {
            for value in [0, 1, 2, 3, 7, u32::MAX] {
                let mut bad = flat.clone();
                let cell =
                    bad.nodes.iter_mut().chain(&mut bad.children).chain(&mut bad.features).nth(at);
                *cell.unwrap() = value;
                if let Ok(tree) = from(&bad) {
                    // Whatever is accepted can be walked.
                    let w = vec![0.0f64; tree.n_weights()];
                    let mut out = [0.0; 5];
                    let x = Row::Dense(&[1.0; 6]);
                    tree.log_probas(x, &w, &sigmoid, &mut Scratch::default(), &mut out);
                }
            }
        }
    }
}
