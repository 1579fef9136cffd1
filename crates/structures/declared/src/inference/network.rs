//! Assignments with capacities, exactly, as a flow of greatest reward.
//!
//! People to jobs, speakers to slots: the constraints count, no table scores variables together, and the problem is
//!
//! ```text
//! max Σⱼ cⱼ xⱼ,      low_r ≤ Σ over columns j of row r of xⱼ ≤ high_r,      xⱼ ∈ {0, 1}.
//! ```
//!
//! A column is a label of a variable (of two labels the second one, with the difference of their scores), a row is a counter, or a variable of three or more labels, which has exactly one of
//! them. If every column stands in at most two rows, and the rows fall into two sides such that no column has both of its rows on one side, this is a flow from the source through the rows of the left, along
//! the columns, through those of the right to the sink. It is found by shortest augmenting paths with potentials (Edmonds and Karp 1972), in flow × columns × log columns.
//!
//! Where every variable is counted at most once (one count over all items, or one for each of their owners), no flow is needed: with `gain` the best score of a counted label less that of
//! another one, the variables of the largest gains are counted, as many as pay and the bounds allow. That takes n log n.
//!
//! What must be (the lower bounds of rows, labels without an alternative) is paid in a currency that comes before scores: costs are pairs, compared first by their first member, so
//! that no large constant spoils the digits of the scores.

use super::constraint::{Constraint, Kind};
use super::groups::Groups;
use super::program::{Program, Table};
use super::search::SearchLimits;
use super::solve::{NoSolution, Scratch, best};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Constraints on at most this many variables are left to elimination, unless longer ones are around.
const SHORT: usize = 3;
const SOURCE: usize = 0;
const SINK: usize = 1;

/// Variables whose constraints are an assignment.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub variables: Vec<u32>,
    /// Numbers of constraints.
    pub constraints: Vec<usize>,
    rows: Vec<Row>,
    columns: Vec<Column>,
    /// The counts, if no variable stands in two of them.
    counts: Option<Vec<Count>>,
}

/// A counter that shares no variable with another one.
#[derive(Clone, Debug)]
struct Count {
    low: usize,
    high: usize,
    /// Variables, each with the labels that are counted.
    members: Vec<(u32, Vec<bool>)>,
}

/// low ≤ Σ x ≤ high.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    low: i64,
    high: i64,
    is_right: bool,
}

/// A label of a variable, with the rows that it stands in.
#[derive(Clone, Copy, Debug)]
struct Column {
    variable: u32,
    label: u32,
    left: Option<u32>,
    right: Option<u32>,
}

/// The groups of variables that are networks; each stands in none but its own constraints.
pub(crate) fn find(sizes: &[u32], tables: &[Table], constraints: &[Constraint]) -> Vec<Network> {
    let mut groups = Groups::new(sizes.len());
    let mut is_plain = vec![true; sizes.len()];
    for table in tables {
        table.scope.iter().for_each(|&v| is_plain[v as usize] = false);
        groups.join(&table.scope);
    }
    for constraint in constraints {
        if constraint.is_ordered() {
            constraint.scope.iter().for_each(|&v| is_plain[v as usize] = false);
        }
        groups.join(&constraint.scope);
    }
    // By root: variables and constraints, in their order.
    let mut members: Vec<(Vec<u32>, Vec<usize>)> = vec![Default::default(); sizes.len()];
    for v in 0..sizes.len() {
        members[groups.root(v)].0.push(v as u32);
    }
    for (c, constraint) in constraints.iter().enumerate() {
        if let Some(&first) = constraint.scope.first() {
            members[groups.root(first as usize)].1.push(c);
        }
    }
    let is_long = |&c: &usize| constraints[c].scope.len() > SHORT;
    members
        .into_iter()
        .filter(|(variables, own)| {
            own.iter().any(is_long) && variables.iter().all(|&v| is_plain[v as usize])
        })
        .filter_map(|(variables, own)| Network::new(sizes, constraints, variables, own))
        .collect()
}

impl Network {
    /// `None` if the constraints are no assignment.
    fn new(
        sizes: &[u32],
        constraints: &[Constraint],
        variables: Vec<u32>,
        own: Vec<usize>,
    ) -> Option<Self> {
        let mut rows: Vec<Row> = Vec::new();
        // The rows of each label, by variable.
        let mut of_label: Vec<Vec<Vec<u32>>> = Vec::new();
        for &v in &variables {
            let size = sizes[v as usize];
            let is_row = size > 2;
            let of = if is_row { vec![rows.len() as u32] } else { Vec::new() };
            of_label.push(vec![of; size as usize]);
            if is_row {
                rows.push(Row { low: 1, high: 1, is_right: false });
            }
        }
        let n_variable_rows = rows.len();
        for &c in &own {
            let Kind::Counter(counter) = &constraints[c].kind else { return None };
            let (mut low, mut high) = counter.bounds();
            let number = rows.len() as u32;
            let (mut n_columns, mut sign) = (0, 0);
            for (at, v) in constraints[c].scope.iter().enumerate() {
                let place = variables.binary_search(v).ok()?;
                let amounts: Vec<i64> = (0..sizes[*v as usize] as usize)
                    .map(|label| i64::from(counter.amount(at, label)))
                    .collect();
                let base = if amounts.len() > 2 { most_common(&amounts) } else { amounts[0] };
                let shift = |bound: i64| match bound {
                    i64::MIN | i64::MAX => bound,
                    bound => bound.saturating_sub(base),
                };
                (low, high) = (shift(low), shift(high));
                for (label, amount) in amounts.iter().enumerate().filter(|(_, a)| **a != base) {
                    let amount = amount - base;
                    if amount.abs() != 1 || (sign != 0 && sign != amount) {
                        return None;
                    }
                    sign = amount;
                    n_columns += 1;
                    of_label[place][label].push(number);
                }
            }
            if sign < 0 {
                (low, high) = (high.saturating_neg(), low.saturating_neg());
            }
            let (low, high) = (low.max(0), high.min(n_columns));
            if low > high {
                // Nothing fits: the other methods say so.
                return None;
            }
            rows.push(Row { low, high, is_right: false });
        }
        let counts = separate(&variables, &rows, n_variable_rows, &of_label);
        let is_separate = counts.is_some();
        let mut network = Self { variables, constraints: own, rows, columns: Vec::new(), counts };
        if !is_separate {
            network.take_sides(&of_label)?;
        }
        Some(network)
    }

    /// Divides the rows into two sides, and makes the columns.
    fn take_sides(&mut self, of_label: &[Vec<Vec<u32>>]) -> Option<()> {
        let mut near: Vec<Vec<u32>> = vec![Vec::new(); self.rows.len()];
        for rows in of_label.iter().flatten() {
            match rows[..] {
                [] | [_] => {}
                [a, b] => {
                    near[a as usize].push(b);
                    near[b as usize].push(a);
                }
                _ => return None,
            }
        }
        let mut is_placed = vec![false; self.rows.len()];
        for first in 0..self.rows.len() {
            if std::mem::replace(&mut is_placed[first], true) {
                continue;
            }
            let mut waiting = vec![first];
            while let Some(row) = waiting.pop() {
                for &other in &near[row] {
                    let side = !self.rows[row].is_right;
                    let other = other as usize;
                    if !std::mem::replace(&mut is_placed[other], true) {
                        self.rows[other].is_right = side;
                        waiting.push(other);
                    } else if self.rows[other].is_right != side {
                        return None;
                    }
                }
            }
        }
        for (&variable, labels) in self.variables.iter().zip(of_label) {
            // Of two labels the first is what is there without the second.
            let first = usize::from(labels.len() <= 2);
            for (label, rows) in labels.iter().enumerate().skip(first) {
                let on = |right: bool| {
                    rows.iter().copied().find(|&r| self.rows[r as usize].is_right == right)
                };
                let (left, right) = (on(false), on(true));
                self.columns.push(Column { variable, label: label as u32, left, right });
            }
        }
        Some(())
    }

    /// Finds the best labels. Returns how much better an output may be, which is 0 unless time ran out.
    pub(crate) fn best(
        &self,
        program: &Program,
        s: &Scratch,
        limits: &SearchLimits,
        labels: &mut [u32],
    ) -> Result<f64, NoSolution> {
        if let Some(counts) = &self.counts {
            for count in counts {
                count.best(program, s, labels)?;
            }
            return Ok(0.0);
        }
        let mut flow = Flow::new(2 + self.rows.len());
        let node = |row: Option<u32>, end: usize| row.map_or(end, |row| 2 + row as usize);
        // By column: its arc, if it can be taken.
        let mut arcs: Vec<Option<usize>> = Vec::with_capacity(self.columns.len());
        let mut due: Vec<usize> = Vec::new();
        for column in &self.columns {
            let scores = &s.unary[program.start(column.variable as usize)..]
                [..program.n_labels(column.variable as usize)];
            let own = scores[column.label as usize];
            let (forced, reward) = match scores.len() {
                0..=2 if scores[0] == f64::NEG_INFINITY => (true, 0.0),
                0..=2 => (false, own - scores[0]),
                _ => (false, own),
            };
            if own == f64::NEG_INFINITY {
                arcs.push(None);
                continue;
            }
            let cost = Cost { due: -i64::from(forced), score: -reward };
            let (from, to) = (node(column.left, SOURCE), node(column.right, SINK));
            arcs.push(Some(flow.add(from, to, 1, cost)));
            if forced {
                due.push(flow.arcs.len() - 2);
            }
        }
        for (row, at) in self.rows.iter().zip(2..) {
            let (from, to) = if row.is_right { (at, SINK) } else { (SOURCE, at) };
            if row.low > 0 {
                due.push(flow.add(from, to, row.low, Cost { due: -1, score: 0.0 }));
            }
            flow.add(from, to, row.high - row.low, Cost::default());
        }
        let is_due = |flow: &Flow| due.iter().any(|&arc| flow.arcs[arc].left > 0);
        flow.prepare(self.rows.iter().map(|row| row.is_right));
        let mut is_finished = false;
        while !is_finished && !limits.is_over(|| !is_due(&flow)) {
            is_finished = !flow.augment();
        }
        if is_due(&flow) {
            let over = if is_finished { NoSolution::Infeasible } else { NoSolution::Limit };
            return Err(over);
        }
        // What must be is paid first: from here on every flow is legal.
        let of = |v: &u32| &s.unary[program.start(*v as usize)..program.start(*v as usize + 1)];
        let most: f64 = self.variables.iter().map(|v| best(of(v)).1).sum();
        for &v in self.variables.iter().filter(|&&v| program.n_labels(v as usize) <= 2) {
            labels[v as usize] = 0;
        }
        for (column, arc) in self.columns.iter().zip(arcs) {
            if arc.is_some_and(|arc| flow.arcs[arc].left == 0) {
                labels[column.variable as usize] = column.label;
            }
        }
        let own: f64 = self.variables.iter().map(|v| of(v)[labels[*v as usize] as usize]).sum();
        Ok(if is_finished { 0.0 } else { most - own })
    }
}

/// The counts, if no variable stands in two of them. The rows before `first` are those of variables.
fn separate(
    variables: &[u32],
    rows: &[Row],
    first: usize,
    of_label: &[Vec<Vec<u32>>],
) -> Option<Vec<Count>> {
    let size = |n: i64| usize::try_from(n).unwrap_or(0);
    let count = |row: &Row| Count { low: size(row.low), high: size(row.high), members: Vec::new() };
    let mut counts: Vec<Count> = rows[first..].iter().map(count).collect();
    for (&v, labels) in variables.iter().zip(of_label) {
        let counted = |rows: &Vec<u32>| rows.iter().any(|&row| row as usize >= first);
        let mut own = labels.iter().flatten().filter(|&&row| row as usize >= first);
        let Some(&row) = own.next() else { continue };
        if own.any(|&other| other != row) {
            return None;
        }
        let members = &mut counts[row as usize - first].members;
        members.push((v, labels.iter().map(counted).collect()));
    }
    Some(counts)
}

impl Count {
    /// The labels of its variables; of equal gains those of the first variables count.
    fn best(&self, program: &Program, s: &Scratch, labels: &mut [u32]) -> Result<(), NoSolution> {
        let mut n = 0;
        let mut gains: Vec<(f64, u32, u32)> = Vec::new();
        for (v, counted) in &self.members {
            let scores = &s.unary[program.start(*v as usize)..program.start(*v as usize + 1)];
            let of = |is_counted: bool| {
                let mut top = (0, f64::NEG_INFINITY);
                for (label, &score) in scores.iter().enumerate() {
                    if counted[label] == is_counted && score > top.1 {
                        top = (label, score);
                    }
                }
                top
            };
            let (inside, outside) = (of(true), of(false));
            if outside.1 == f64::NEG_INFINITY {
                labels[*v as usize] = inside.0 as u32;
                n += 1;
            } else {
                labels[*v as usize] = outside.0 as u32;
                if inside.1 > f64::NEG_INFINITY {
                    gains.push((inside.1 - outside.1, *v, inside.0 as u32));
                }
            }
        }
        gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        if n > self.high || n + gains.len() < self.low {
            return Err(NoSolution::Infeasible);
        }
        for (gain, v, label) in gains {
            if n >= self.high || (n >= self.low && gain <= 0.0) {
                break;
            }
            labels[v as usize] = label;
            n += 1;
        }
        Ok(())
    }
}

/// The amount that most labels have; the smallest of several.
fn most_common(amounts: &[i64]) -> i64 {
    let mut sorted = amounts.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.rev().max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

/// What must be, then what scores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cost {
    due: i64,
    score: f64,
}

impl Cost {
    fn plus(self, other: Self) -> Self {
        Self { due: self.due + other.due, score: self.score + other.score }
    }

    fn minus(self, other: Self) -> Self {
        Self { due: self.due - other.due, score: self.score - other.score }
    }
}

impl Eq for Cost {}
impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Cost {
    fn cmp(&self, other: &Self) -> Ordering {
        self.due.cmp(&other.due).then(self.score.total_cmp(&other.score))
    }
}

struct Edge {
    to: usize,
    left: i64,
    cost: Cost,
}

/// A residual graph: arc 2k and its reverse 2k + 1.
struct Flow {
    arcs: Vec<Edge>,
    of_node: Vec<Vec<usize>>,
    potentials: Vec<Option<Cost>>,
}

impl Flow {
    fn new(n: usize) -> Self {
        Self { arcs: Vec::new(), of_node: vec![Vec::new(); n], potentials: vec![None; n] }
    }

    fn add(&mut self, from: usize, to: usize, capacity: i64, cost: Cost) -> usize {
        let number = self.arcs.len();
        self.arcs.push(Edge { to, left: capacity, cost });
        self.arcs.push(Edge { to: from, left: 0, cost: Cost::default().minus(cost) });
        self.of_node[from].push(number);
        self.of_node[to].push(number + 1);
        number
    }

    /// The first potentials. `is_right` tells the sides of the rows.
    fn prepare(&mut self, is_right: impl Iterator<Item = bool>) {
        // Without flow there is no cycle: distances from left to right are the first potentials.
        let (mut order, mut right) = (vec![SOURCE], Vec::new());
        for (is_right, at) in is_right.zip(2..) {
            if is_right { &mut right } else { &mut order }.push(at);
        }
        order.extend(right);
        self.potentials[SOURCE] = Some(Cost::default());
        for from in order {
            let Some(so_far) = self.potentials[from] else { continue };
            for &number in &self.of_node[from] {
                let arc = &self.arcs[number];
                let way = so_far.plus(arc.cost);
                if arc.left > 0 && self.potentials[arc.to].is_none_or(|now| way < now) {
                    self.potentials[arc.to] = Some(way);
                }
            }
        }
    }

    /// One cheapest path. `false` if there is none that pays.
    fn augment(&mut self) -> bool {
        let n = self.of_node.len();
        let mut distances: Vec<Option<Cost>> = vec![None; n];
        let (mut before, mut is_done) = (vec![usize::MAX; n], vec![false; n]);
        let mut queue = BinaryHeap::from([Reverse((Cost::default(), SOURCE))]);
        distances[SOURCE] = Some(Cost::default());
        while let Some(Reverse((so_far, from))) = queue.pop() {
            if std::mem::replace(&mut is_done[from], true) {
                continue;
            }
            if from == SINK {
                break;
            }
            let Some(own) = self.potentials[from] else { continue };
            for &number in &self.of_node[from] {
                let arc = &self.arcs[number];
                let Some(other) = self.potentials[arc.to] else { continue };
                if arc.left == 0 || is_done[arc.to] {
                    continue;
                }
                // Never below 0 but for rounding.
                let reduced = arc.cost.plus(own).minus(other).max(Cost::default());
                let way = so_far.plus(reduced);
                if distances[arc.to].is_none_or(|now| way < now) {
                    distances[arc.to] = Some(way);
                    before[arc.to] = number;
                    queue.push(Reverse((way, arc.to)));
                }
            }
        }
        let Some(reached) = distances[SINK].filter(|_| is_done[SINK]) else { return false };
        for v in 0..n {
            let moved = distances[v].filter(|_| is_done[v]).unwrap_or(reached);
            if let Some(potential) = &mut self.potentials[v] {
                *potential = potential.plus(moved);
            }
        }
        // The potential of the source stays 0, so that of the sink is the length of the path.
        if self.potentials[SINK].is_none_or(|length| length >= Cost::default()) {
            return false;
        }
        let (mut at, mut least) = (SINK, i64::MAX);
        while at != SOURCE {
            least = least.min(self.arcs[before[at]].left);
            at = self.arcs[before[at] ^ 1].to;
        }
        at = SINK;
        while at != SOURCE {
            let number = before[at];
            self.arcs[number].left -= least;
            self.arcs[number ^ 1].left += least;
            at = self.arcs[number ^ 1].to;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{Counter, SolveOptions, solve};

    #[test]
    fn one_count_needs_no_flow() {
        // Of the first label at most 2, by three labels; and at least 7 of the second of two.
        let cases = [(vec![1, 0, 0], i64::MIN, 2), (vec![0, 1], 7, i64::MAX)];
        for (amounts, low, high) in cases {
            let (n, k) = (9u32, amounts.len());
            let counter = Counter::new(&vec![amounts.clone(); n as usize], low, high);
            let constraint =
                Constraint { rule: 0, scope: (0..n).collect(), kind: Kind::Counter(counter) };
            let program = Program::new(vec![k as u32; n as usize], Vec::new(), vec![constraint]);
            let networks = &program.plan().networks;
            assert!(networks[0].counts.is_some() && networks[0].columns.is_empty());
            let theta: Vec<f64> = (0..program.n_parts()).map(|i| ((i * 7) % 11) as f64).collect();
            let options = SolveOptions::default();
            let found = solve(&program, &theta, None, &options, &mut Scratch::default()).unwrap();
            let sum: i64 = found.labels.iter().map(|&l| i64::from(amounts[l as usize])).sum();
            assert!(low <= sum && sum <= high);
            // No change of one label, or exchange of two, is legal and better.
            for (a, b) in (0..9).flat_map(|a| (0..9).map(move |b| (a, b))) {
                for (x, y) in (0..k).flat_map(|x| (0..k).map(move |y| (x, y))) {
                    let mut other = found.labels.clone();
                    (other[a], other[b]) = (x as u32, y as u32);
                    let better = program.score(&theta, &other) > found.score + 1e-9;
                    assert!(!better || !program.is_legal(&other));
                }
            }
        }
    }
}
