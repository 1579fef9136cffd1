//! Trains the nodes of a label tree: each a small set of columns over the rows below it.
//!
//! A node sees only its own rows and only the features that occur in them, renumbered, so that the work and the memory of
//! all nodes of one depth are those of one pass over the data, however many classes there are. Nodes share nothing and are spread over threads.

use super::compact_features::localise;
use super::{BlockPass, ColumnFit, ColumnTask, OnBlock, dual, sum};
use crate::rounding::Proof;
use lineal_linalg::{Matrix, Scalar};
use lineal_loss::OfMargin;
use lineal_model::Bias;
use lineal_model::label_tree::{Child, LabelTree, NodeShape};
use lineal_model::space::{Columns, Signs};
use lineal_solver as solver;
use rayon::prelude::*;
use std::ops::Range;

/// What the rows are below.
#[derive(Clone, Copy, Debug)]
pub enum Outputs<'a> {
    /// A class each.
    Classes(&'a [u32]),
    /// Labels of row i: `ids[start[i]..start[i + 1]]`, rising; maybe none.
    Labels {
        /// Where each list starts.
        start: &'a [usize],
        /// Labels.
        ids: &'a [u32],
    },
}

impl Outputs<'_> {
    fn of(&self, row: usize) -> &[u32] {
        match self {
            Outputs::Classes(y) => std::slice::from_ref(&y[row]),
            Outputs::Labels { start, ids } => &ids[start[row]..start[row + 1]],
        }
    }
}

/// A tree about to be trained.
#[derive(Clone, Copy, Debug)]
pub struct TreeTask<'a> {
    /// Inputs.
    pub x: &'a Matrix,
    /// What the rows are below.
    pub outputs: Outputs<'a>,
    /// Number of classes or labels.
    pub n_outputs: usize,
    /// How much each row counts; 1 for `None`.
    pub weights: Option<&'a [f32]>,
    /// The nodes' children, the root's first; a child comes after its parent.
    pub nodes: &'a [Vec<Child>],
    /// The bias of each column.
    pub bias: Bias,
    /// How strong the penalty is.
    pub penalty: NodePenalty,
    /// Δ(y, ŷ), row-major, for cost-weighted examples.
    pub costs: Option<&'a [f64]>,
}

/// The penalty of problems that differ in their number of rows.
#[derive(Clone, Copy, Debug)]
pub enum NodePenalty {
    /// mean loss + (λ/2)‖w‖².
    L2(f64),
    /// ½‖w‖² + C·Σ loss.
    C(f64),
}

impl NodePenalty {
    /// λ over the mean of all rows, and the factor on a column's examples that makes it so, for a column whose examples weigh `own` of
    /// the rows' `total`.
    pub fn of_column(self, own: f64, total: f64) -> ColumnScale {
        let part = if own > 0.0 { total / own } else { 1.0 };
        match self {
            NodePenalty::L2(l2) => ColumnScale { l2, examples: part, report: 1.0 },
            NodePenalty::C(c) => ColumnScale { l2: 1.0 / (c * total), examples: 1.0, report: part },
        }
    }
}

/// How a column of its own number of rows fits among the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnScale {
    /// λ over the mean of all rows: the same for every column.
    pub l2: f64,
    /// The factor on the column's examples.
    pub examples: f64,
    /// The factor that turns its value into that of its own problem.
    pub report: f64,
}

/// A trained tree.
#[derive(Debug)]
pub struct TreeFit<F> {
    /// Its shape.
    pub tree: LabelTree,
    /// The weights of all nodes, one after the other.
    pub w: Vec<F>,
    /// What is proven of the sum over all columns.
    pub certificate: Proof,
    /// The most passes of any node.
    pub passes: usize,
    /// Whether every node met the tolerance.
    pub converged: bool,
    /// Rows that the problems saw, summed.
    pub rows: u64,
}

/// Dual coordinate ascent in every node.
pub fn dual_tree<F: Scalar, L: OfMargin<F> + OfMargin<f64>>(
    task: &TreeTask<'_>,
    loss: L,
    config: &solver::Dual,
    monitor: &OnBlock<'_>,
) -> Result<TreeFit<F>, String> {
    let spans = Spans::new(task.nodes, task.n_outputs)?;
    let rows = rows_below(task, &spans);
    let exclusive = matches!(task.outputs, Outputs::Classes(_));
    let n_nodes = task.nodes.len();
    let interrupt = solver::Interrupt::current();
    let fits: Vec<NodeFit<F>> = rows
        .into_par_iter()
        .enumerate()
        .map(|(number, rows)| {
            let see = |pass: BlockPass| {
                monitor(BlockPass {
                    block: number,
                    n_blocks: n_nodes,
                    done: pass.done && pass.block + 1 == pass.n_blocks,
                    ..pass
                })
            };
            let node = NodeTask { task, number, rows: &rows, spans: &spans, exclusive };
            interrupt.scope(|| node.fit(loss, config, &see))
        })
        .collect();

    let mut w = Vec::with_capacity(fits.iter().map(|fit| fit.fit.w.len()).sum());
    let (mut certificates, mut passes, mut converged, mut seen) = (Vec::new(), 0, true, 0);
    let mut shapes = Vec::with_capacity(n_nodes);
    for (node, children) in fits.into_iter().zip(task.nodes) {
        certificates.push(node.certificate);
        passes = passes.max(node.fit.passes);
        converged &= node.fit.converged;
        seen += node.rows;
        w.extend(node.fit.w);
        let single = exclusive && children.len() == 2;
        shapes.push(NodeShape { children: children.clone(), single, features: node.features });
    }
    let tree = LabelTree::new(shapes, task.n_outputs, task.bias != Bias::None, exclusive)?;
    let certificate = sum(&certificates, &vec![1.0; n_nodes]);
    Ok(TreeFit { tree, w, certificate, passes, converged, rows: seen })
}

/// Outputs in the order of the leaves: below a node is a run of them.
struct Spans {
    /// The leaf of each output.
    leaf: Vec<u32>,
    /// The output of each leaf.
    order: Vec<u32>,
    /// For each node, where its children's runs start, and the end of the last.
    starts: Vec<Vec<u32>>,
}

impl Spans {
    fn new(nodes: &[Vec<Child>], n_outputs: usize) -> Result<Self, String> {
        let mut order = Vec::with_capacity(n_outputs);
        let mut starts: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
        // A node is entered once for each child and once to end it.
        let mut stack = vec![(0usize, 0usize)];
        while let Some((node, child)) = stack.pop() {
            let children = nodes.get(node).ok_or("a child that is not there")?;
            starts[node].push(order.len() as u32);
            if child == children.len() {
                continue;
            }
            stack.push((node, child + 1));
            match children[child] {
                Child::Leaf(id) => order.push(id),
                Child::Node(id) if id as usize > node => stack.push((id as usize, 0)),
                Child::Node(_) => return Err("a child before its parent".into()),
            }
            if order.len() > n_outputs {
                return Err("an output with two leaves".into());
            }
        }
        let mut leaf = vec![u32::MAX; n_outputs];
        for (at, &id) in (0..).zip(&order) {
            *leaf.get_mut(id as usize).ok_or("a leaf that is no output")? = at;
        }
        if leaf.contains(&u32::MAX) {
            return Err("an output without a leaf".into());
        }
        Ok(Self { leaf, order, starts })
    }

    /// The child of a node that an output is below.
    fn child(&self, node: usize, output: u32) -> Option<usize> {
        let leaf = self.leaf[output as usize];
        let starts = &self.starts[node];
        (leaf >= starts[0] && leaf < *starts.last()?)
            .then(|| starts.partition_point(|&start| start <= leaf) - 1)
    }
}

/// The rows of each node: those that its parent sends there.
fn rows_below(task: &TreeTask<'_>, spans: &Spans) -> Vec<Vec<u32>> {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); task.nodes.len()];
    rows[0] = (0..task.x.n_rows() as u32).collect();
    for (number, children) in task.nodes.iter().enumerate() {
        let own = std::mem::take(&mut rows[number]);
        for &row in &own {
            let mut last = None;
            let mut below: Vec<usize> = task
                .outputs
                .of(row as usize)
                .iter()
                .filter_map(|&output| spans.child(number, output))
                .collect();
            below.sort_unstable();
            for child in below {
                if last != Some(child)
                    && let Child::Node(id) = children[child]
                {
                    rows[id as usize].push(row);
                }
                last = Some(child);
            }
        }
        rows[number] = own;
    }
    rows
}

struct NodeTask<'a> {
    task: &'a TreeTask<'a>,
    number: usize,
    rows: &'a [u32],
    spans: &'a Spans,
    exclusive: bool,
}

struct NodeFit<F> {
    fit: ColumnFit<F>,
    features: Vec<u32>,
    certificate: Proof,
    rows: u64,
}

impl NodeTask<'_> {
    fn fit<F: Scalar, L: OfMargin<F> + OfMargin<f64>>(
        &self,
        loss: L,
        config: &solver::Dual,
        see: &OnBlock<'_>,
    ) -> NodeFit<F> {
        let task = self.task;
        let (x, features) = localise(task.x, self.rows);
        let weights: Option<Vec<f32>> =
            task.weights.map(|w| self.rows.iter().map(|&row| w[row as usize]).collect());
        let n_children = task.nodes[self.number].len();
        let single = self.exclusive && n_children == 2;
        let n_columns = if single { 1 } else { n_children };
        let total = match &weights {
            Some(w) => w.iter().map(|&w| f64::from(w)).sum(),
            None => self.rows.len() as f64,
        };
        let mut config = *config;
        config.seed ^= self.number as u64;
        let run = |kinds: &[u32], signs: Signs<'_>, scale: &[ColumnScale]| {
            let report: Vec<f64> = scale.iter().map(|s| s.report).collect();
            let task = ColumnTask {
                x: &x,
                kinds,
                weights: weights.as_deref(),
                space: Columns::new(signs, n_columns),
                side_by_side: &[],
                bias: task.bias,
                l2: scale[0].l2,
                report: &report,
            };
            let fit = dual::<F, L>(&task, loss, &config, see);
            let certificate = sum(&fit.certificates, &report);
            (fit, certificate)
        };
        let even = vec![task.penalty.of_column(total, total.max(f64::MIN_POSITIVE)); n_columns];
        let (fit, certificate) = match task.outputs {
            _ if total == 0.0 => (empty(&x, n_columns, task.bias), Proof::of_nothing()),
            Outputs::Labels { .. } => {
                let (start, ids) = self.child_lists();
                let kinds: Vec<u32> = (0..self.rows.len() as u32).collect();
                run(&kinds, Signs::Labels { start: &start, ids: &ids }, &even)
            }
            Outputs::Classes(y) => {
                let child =
                    |row: &u32| self.spans.child(self.number, y[*row as usize]).unwrap_or(0) as u32;
                let (kinds, table, scale) = match task.costs {
                    Some(costs) => self.weighted(y, costs, n_columns, weights.as_deref(), total),
                    None if single => {
                        (self.rows.iter().map(child).collect(), vec![1.0, -1.0], even)
                    }
                    None => (self.rows.iter().map(child).collect(), Vec::new(), even),
                };
                if table.is_empty() {
                    run(&kinds, Signs::OneVsAll, &scale)
                } else {
                    run(&kinds, Signs::Table { table: &table, n_columns }, &scale)
                }
            }
        };
        NodeFit { fit, features, certificate, rows: self.rows.len() as u64 * n_columns as u64 }
    }

    /// For each row the children that its labels are below.
    fn child_lists(&self) -> (Vec<usize>, Vec<u32>) {
        let (mut start, mut ids) = (vec![0], Vec::new());
        for &row in self.rows {
            let from = ids.len();
            let labels = self.task.outputs.of(row as usize);
            ids.extend(
                labels.iter().filter_map(|&l| self.spans.child(self.number, l)).map(|c| c as u32),
            );
            ids[from..].sort_unstable();
            let mut kept = from;
            for at in from..ids.len() {
                if kept == from || ids[kept - 1] != ids[at] {
                    ids[kept] = ids[at];
                    kept += 1;
                }
            }
            ids.truncate(kept);
            start.push(kept);
        }
        (start, ids)
    }

    /// Examples weighted by what a wrong answer costs: the mean cost of the outputs on the other side.
    fn weighted(
        &self,
        y: &[u32],
        costs: &[f64],
        n_columns: usize,
        weights: Option<&[f32]>,
        total: f64,
    ) -> (Vec<u32>, Vec<f64>, Vec<ColumnScale>) {
        let n_outputs = self.task.n_outputs;
        let all = self.spans.starts[self.number].clone();
        let (first, end) = (all[0], all[all.len() - 1]);
        let below: Vec<u32> = self.spans.order[first as usize..end as usize].to_vec();
        let mean = |gold: u32, others: &mut dyn Iterator<Item = u32>| {
            let (mut sum, mut n) = (0.0, 0usize);
            for other in others.filter(|&o| o != gold) {
                sum += costs[gold as usize * n_outputs + other as usize];
                n += 1;
            }
            if n == 0 { 0.0 } else { sum / n as f64 }
        };
        let mut table = vec![0.0f64; below.len() * n_columns];
        for (&gold, row) in below.iter().zip(table.chunks_exact_mut(n_columns)) {
            let own = self.spans.child(self.number, gold).unwrap_or(0);
            for (l, c) in row.iter_mut().enumerate() {
                let inside = |&o: &u32| self.spans.child(self.number, o) == Some(l);
                let yes = own == l;
                let weight = mean(gold, &mut below.iter().copied().filter(|o| inside(o) != yes));
                *c = if yes { weight } else { -weight };
            }
        }
        let kind = |row: &u32| self.spans.leaf[y[*row as usize] as usize] - first;
        let kinds: Vec<u32> = self.rows.iter().map(kind).collect();
        let mut own = vec![0.0f64; n_columns];
        for (i, &kind) in kinds.iter().enumerate() {
            let weight = weights.map_or(1.0, |w| f64::from(w[i]));
            let row = &table[kind as usize * n_columns..][..n_columns];
            own.iter_mut().zip(row).for_each(|(own, c)| *own += weight * c.abs());
        }
        let scale: Vec<ColumnScale> =
            own.iter().map(|&own| self.task.penalty.of_column(own, total)).collect();
        for row in table.chunks_exact_mut(n_columns) {
            row.iter_mut().zip(&scale).for_each(|(c, s)| *c *= s.examples);
        }
        (kinds, table, scale)
    }
}

/// A node without rows answers 0.
fn empty<F: Scalar>(x: &Matrix, n_columns: usize, bias: Bias) -> ColumnFit<F> {
    let n_rows = x.n_cols() + usize::from(bias != Bias::None);
    ColumnFit {
        w: vec![F::ZERO; n_rows * n_columns],
        certificates: vec![Proof::of_nothing(); n_columns],
        passes: 0,
        converged: true,
    }
}

/// Children of a binary tree given as leaves and nodes in preorder, with subtrees of at most `leaf_size` outputs made one wide node.
///
/// `order` are the outputs of the leaves; a node is (lo, split, hi) over leaves.
pub fn cut(order: &[u32], nodes: &[(u32, u32, u32)], leaf_size: usize) -> Vec<Vec<Child>> {
    let leaves = |range: Range<u32>| -> Vec<Child> {
        range.map(|at| Child::Leaf(order[at as usize])).collect()
    };
    if nodes.is_empty() || order.len() <= leaf_size {
        return vec![leaves(0..order.len() as u32)];
    }
    let mut out: Vec<Vec<Child>> = Vec::new();
    // Preorder: a kept node's number is known when its parent has been pushed.
    let mut number = vec![u32::MAX; nodes.len()];
    let mut kept = 0u32;
    let mut at = 0;
    let wide = |n: u32| n as usize <= leaf_size.max(1);
    let mut wide_nodes: Vec<(usize, usize, Range<u32>)> = Vec::new();
    while at < nodes.len() {
        let (lo, split, hi) = nodes[at];
        number[at] = kept;
        kept += 1;
        let mut children = Vec::with_capacity(2);
        for (range, child_at) in [(lo..split, at + 1), (split..hi, at + (split - lo) as usize)] {
            let n = range.end - range.start;
            if n == 1 {
                children.push(Child::Leaf(order[range.start as usize]));
            } else if wide(n) {
                wide_nodes.push((out.len(), children.len(), range));
                children.push(Child::Leaf(u32::MAX));
            } else {
                // Known by its place in preorder; filled in below.
                children.push(Child::Node(child_at as u32));
            }
        }
        out.push(children);
        // The next node in preorder that is not inside a wide one.
        at += 1;
        while at < nodes.len() && wide(nodes[at].2 - nodes[at].0) {
            at += (nodes[at].2 - nodes[at].0) as usize - 1;
        }
    }
    for children in &mut out {
        for child in children {
            if let Child::Node(id) = child {
                *id = number[*id as usize];
            }
        }
    }
    for (node, child, range) in wide_nodes {
        out[node][child] = Child::Node(out.len() as u32);
        out.push(leaves(range));
    }
    out
}
