//! Branch and bound over labels, best bound first, with [dual](super::dual) bounds.
//!
//! A node allows some labels of each variable. Its bound comes from the ascent, warm from its parent's messages; the labels of the highest beliefs are a
//! candidate. If the node's bound is above the best legal output so far, it is divided at the variable whose two best labels are
//! nearest: one child has the best label, the other has not. Until a legal output is met the deepest node is taken first. Labels with which the bound would fall to the best output so far are
//! removed at once.
//!
//! A few nodes suffice for most problems. Where they do not, the ascent has stalled, and the [relaxation](super::relaxation) takes over if it is small enough.

use super::dual::{Beliefs, FactorKind, Graph};
use super::pairwise;
use super::plan::Component;
use super::program::Program;
use super::relaxation::{self, Relaxed};
use super::solve::{NoSolution, Scratch};
use std::time::{Duration, Instant};

/// When a search gives up.
pub(crate) struct SearchLimits {
    pub max_nodes: usize,
    pub deadline: Option<Instant>,
    /// The deadline as long as no legal output was met.
    pub last: Option<Instant>,
}

impl SearchLimits {
    /// From now on.
    pub(crate) fn new(max_nodes: usize, seconds: Option<f64>) -> Self {
        // Later than any clock tells is never.
        let after = |seconds: f64| {
            let seconds = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
            Instant::now().checked_add(seconds)
        };
        let deadline = seconds.and_then(after);
        let last = seconds.and_then(|seconds| after(seconds * PATIENCE as f64 + GRACE));
        Self { max_nodes, deadline, last }
    }

    /// Whether time is over; as long as nothing is found it is given more of it.
    pub(crate) fn is_over(&self, is_found: impl FnOnce() -> bool) -> bool {
        is_past(self.deadline) && (is_past(self.last) || is_found())
    }
}

fn is_past(time: Option<Instant>) -> bool {
    time.is_some_and(|time| Instant::now() >= time)
}

/// Passes of the ascent at the root and at other nodes.
const PASSES: [usize; 2] = [60, 12];
/// Nodes of the depth-first search, which are cheap, for each node of the limit.
const VISITS: usize = 50;
/// As long as no legal output was met, limits are that many times what was asked for, and so many seconds.
const PATIENCE: usize = 10;
const GRACE: f64 = 0.1;
/// Nodes × labels before the relaxation is tried: in small problems nodes are cheap.
const FIRST_LABELS: usize = 400;
/// A node of the relaxation costs as much as this many others.
const NODES_PER_SIMPLEX: usize = 4;

/// Searches a component of what elimination left. Returns how much better an output may be than the labels that were found.
pub(crate) fn component(
    program: &Program,
    component: &Component,
    s: &Scratch,
    limits: &SearchLimits,
    labels: &mut [u32],
) -> Result<f64, NoSolution> {
    let (mut unary, mut starts) = (Vec::new(), vec![0]);
    let mut local = vec![usize::MAX; program.n_variables()];
    for (at, &v) in component.variables.iter().enumerate() {
        local[v as usize] = at;
        unary.extend_from_slice(&s.unary[program.start(v as usize)..program.start(v as usize + 1)]);
        starts.push(unary.len());
    }
    let scope = |scope: &[u32]| scope.iter().map(|&v| local[v as usize]).collect::<Vec<_>>();
    let mut graph = Graph::new(unary, starts);
    for &t in &component.tables {
        let table = &program.plan().tables[t];
        let entries = &s.entries[table.start..table.start + table.len];
        graph.push(scope(&table.scope), FactorKind::Table(entries));
    }
    for &c in &component.constraints {
        let constraint = &program.constraints()[c];
        graph.push(scope(&constraint.scope), FactorKind::Constraint(constraint));
    }
    let (y, score, upper) = search(&graph, limits)?;
    for (&v, y) in component.variables.iter().zip(y) {
        labels[v as usize] = y as u32;
    }
    Ok(upper - score)
}

/// Searches the whole problem as it stands, without a plan. Returns the upper bound.
pub(crate) fn whole(
    program: &Program,
    theta: &[f64],
    s: &Scratch,
    limits: &SearchLimits,
    labels: &mut [u32],
) -> Result<f64, NoSolution> {
    let starts = (0..=program.n_variables()).map(|v| program.start(v)).collect();
    let mut graph = Graph::new(s.unary.clone(), starts);
    let scope = |scope: &[u32]| scope.iter().map(|&v| v as usize).collect::<Vec<_>>();
    for table in program.tables() {
        let entries = &theta[table.start..table.start + table.len];
        graph.push(scope(&table.scope), FactorKind::Table(entries));
    }
    for constraint in program.constraints().iter().filter(|c| !c.scope.is_empty()) {
        graph.push(scope(&constraint.scope), FactorKind::Constraint(constraint));
    }
    let (y, _, upper) = search(&graph, limits)?;
    labels.iter_mut().zip(y).for_each(|(label, y)| *label = y as u32);
    Ok(upper)
}

/// The best output that was met.
pub(crate) struct Incumbent {
    pub y: Vec<usize>,
    pub score: f64,
}

impl Incumbent {
    /// Whether nothing below a bound is worth a look.
    fn beats(&self, bound: f64) -> bool {
        bound <= self.score + 1e-10 * (1.0 + self.score.abs())
    }
}

/// The best output, its score, and the bound.
fn search(graph: &Graph<'_>, limits: &SearchLimits) -> Result<(Vec<usize>, f64, f64), NoSolution> {
    let mut best = Incumbent { y: Vec::new(), score: f64::NEG_INFINITY };
    let mut root = graph.beliefs();
    let mut open: Vec<Beliefs> = Vec::new();
    if ascend(graph, &mut root, PASSES[0], limits, &mut best) {
        if !best.y.is_empty() {
            let incumbent = (best.y.clone(), best.score);
            let visits = limits.max_nodes.saturating_mul(VISITS);
            let found = pairwise::search(graph, &root, incumbent, visits, limits.deadline);
            if let Some((descent, is_finished)) = found {
                // Scores once more as they are defined, without what the messages rounded.
                let score = graph.score(&descent.y);
                let upper = if is_finished { score } else { root.bound.max(score) };
                return Ok((descent.y, score, upper));
            }
        }
        open.push(root.clone());
    }
    let (mut n_nodes, mut is_relaxed) = (1, false);
    while !open.is_empty() {
        if n_nodes * graph.unary.len() > FIRST_LABELS && !is_relaxed {
            is_relaxed = true;
            graph.discard(&mut root, best.score);
            let left = limits.max_nodes.saturating_sub(n_nodes) / NODES_PER_SIMPLEX;
            match relaxation::solve(graph, &root, limits, left, &mut best) {
                Relaxed::Unknown => {}
                Relaxed::Infeasible if best.y.is_empty() => return Err(NoSolution::Infeasible),
                Relaxed::Bound(bound) if !best.y.is_empty() => {
                    let open = open.iter().map(|node| node.bound).fold(best.score, f64::max);
                    let upper = if best.beats(bound) { best.score } else { bound.min(open) };
                    let score = best.score;
                    return Ok((best.y, score, upper.max(score)));
                }
                Relaxed::Infeasible | Relaxed::Bound(_) => {}
            }
        }
        let mut at = open.len() - 1;
        if !best.y.is_empty() {
            for (node, beliefs) in open.iter().enumerate() {
                if beliefs.bound > open[at].bound {
                    at = node;
                }
            }
            if best.beats(open[at].bound) {
                break;
            }
        }
        if !best.y.is_empty() {
            if n_nodes >= limits.max_nodes || is_past(limits.deadline) {
                return Ok((best.y, best.score, open[at].bound.max(best.score)));
            }
        } else if n_nodes >= PATIENCE.saturating_mul(limits.max_nodes.max(100))
            || is_past(limits.last)
        {
            return Err(NoSolution::Limit);
        }
        let node = open.swap_remove(at);
        let Some((v, label)) = division(graph, &node) else { continue };
        for has_label in [false, true] {
            let mut child = node.clone();
            for (l, b) in graph.labels(v).enumerate() {
                if (l == label) != has_label {
                    child.beliefs[b] = f64::NEG_INFINITY;
                }
            }
            n_nodes += 1;
            if ascend(graph, &mut child, PASSES[1], limits, &mut best) {
                open.push(child);
            }
        }
    }
    if best.y.is_empty() {
        return Err(NoSolution::Infeasible);
    }
    let score = best.score;
    Ok((best.y, score, score))
}

/// Lowers the bound of a node. `false` if nothing better than the best is below it.
fn ascend(
    graph: &Graph<'_>,
    node: &mut Beliefs,
    n_passes: usize,
    limits: &SearchLimits,
    best: &mut Incumbent,
) -> bool {
    for pass in 0..n_passes {
        // Without a pass there is no bound.
        if pass > 0 && is_past(limits.deadline) {
            break;
        }
        let before = node.bound;
        if !graph.pass(node, pass % 2 == 1) {
            return false;
        }
        let mut y: Vec<usize> = (0..graph.n_variables())
            .map(|v| super::solve::best(&node.beliefs[graph.labels(v)]).0)
            .collect();
        if pass % 8 == 0 {
            graph.improve(&mut y, limits);
        }
        let score = graph.score(&y);
        if score > best.score {
            *best = Incumbent { y, score };
        }
        if !best.y.is_empty() && best.beats(node.bound) {
            return false;
        }
        graph.discard(node, best.score);
        if pass > 2 && before - node.bound < 1e-5 * (1.0 + node.bound.abs()) {
            break;
        }
    }
    true
}

/// The variable whose two best labels are nearest, and its best label.
fn division(graph: &Graph<'_>, node: &Beliefs) -> Option<(usize, usize)> {
    let mut nearest: Option<(f64, usize, usize)> = None;
    for v in 0..graph.n_variables() {
        let beliefs = &node.beliefs[graph.labels(v)];
        let (label, most) = super::solve::best(beliefs);
        let second = beliefs.iter().enumerate().filter(|(l, _)| *l != label);
        let second = second.map(|(_, &b)| b).fold(f64::NEG_INFINITY, f64::max);
        let gap = most - second;
        if second > f64::NEG_INFINITY && nearest.is_none_or(|(least, ..)| gap < least) {
            nearest = Some((gap, v, label));
        }
    }
    nearest.map(|(_, v, label)| (v, label))
}
