//! How a problem is taken apart before any score is known: elimination, components, sweeps.
//!
//! Constraints on few variables become tables of 0 and −∞. Variables that stand in tables alone are then *eliminated* one after the other (Bertelè and Brioschi 1972; bucket
//! elimination, Dechter 1999): variable v with tables over v and S gives way to one table over S,
//!
//! ```text
//! m(s) = max over labels l of θᵥ(l) + Σ over tables t of t(s, l),
//! ```
//!
//! as long as that table is small. Trees and chains vanish altogether. Given the types of entities, relations are independent of each other: each becomes a table over
//! its two entities. What is left falls into components with constraints on many variables, or with dense tables; each is swept from left to right if
//! few states suffice, or searched.

use super::constraint::{Constraint, DEAD};
use super::groups::Groups;
use super::network::{self, Network};
use super::program::Table;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// The largest table that elimination may make, in entries.
const LARGEST_TABLE: usize = 4096;
/// Constraints on at most this many joint labels become tables.
const LARGEST_HARD_TABLE: usize = 512;
/// A sweep is planned if its layers have at most this many states.
const WIDEST_SWEEP: f64 = 20_000.0;
/// So many variables are looked at for the next one of a sweep.
const FARTHEST_LOOK: usize = 200;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Tables in the order of their making: those of the program, hard ones, those of elimination. Their entries stand in one buffer.
    pub tables: Vec<PlannedTable>,
    pub n_entries: usize,
    pub steps: Vec<Step>,
    pub components: Vec<Component>,
    /// Assignments, which are solved as they stand.
    pub networks: Vec<Network>,
    /// Whether no score but those of single labels counts.
    pub is_unary: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PlannedTable {
    pub scope: Vec<u32>,
    pub start: usize,
    pub len: usize,
    pub source: Source,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Scores from here on.
    Scores(usize),
    /// 0 where legal, −∞ elsewhere.
    Hard(Vec<f64>),
    /// Made by a step.
    Made,
}

/// One variable is maximised out.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub variable: u32,
    pub n_labels: usize,
    pub scope: Vec<u32>,
    pub sizes: Vec<usize>,
    pub inputs: Vec<Input>,
    /// Where the entries of the new table begin.
    pub out: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub start: usize,
    /// By variable of the step's scope.
    pub strides: Vec<usize>,
    /// Of the variable itself.
    pub own: usize,
}

/// Variables that are left and hang together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Component {
    /// In the order of a sweep, if there is one.
    pub variables: Vec<u32>,
    /// Numbers of planned tables.
    pub tables: Vec<usize>,
    /// Numbers of constraints.
    pub constraints: Vec<usize>,
    pub sweep: bool,
}

impl Plan {
    pub(crate) fn new(sizes: &[u32], scored: &[Table], constraints: &[Constraint]) -> Self {
        let mut plan = Plan {
            tables: Vec::new(),
            n_entries: 0,
            steps: Vec::new(),
            components: Vec::new(),
            networks: network::find(sizes, scored, constraints),
            is_unary: scored.is_empty(),
        };
        for table in scored {
            plan.push(table.scope.clone(), table.len, Source::Scores(table.start));
        }
        let mut is_left = vec![true; sizes.len()];
        let mut is_solved = vec![false; constraints.len()];
        for network in &plan.networks {
            network.variables.iter().for_each(|&v| is_left[v as usize] = false);
            network.constraints.iter().for_each(|&c| is_solved[c] = true);
        }
        let global = plan.push_hard(sizes, constraints, &is_solved);
        let mut is_live = vec![true; plan.tables.len()];
        let mut is_bound = vec![false; sizes.len()];
        for &c in &global {
            constraints[c].scope.iter().for_each(|&v| is_bound[v as usize] = true);
        }
        plan.eliminate(sizes, &is_bound, &mut is_live, &mut is_left);
        plan.split(sizes, constraints, &global, &is_live, &is_left);
        plan
    }

    fn push(&mut self, scope: Vec<u32>, len: usize, source: Source) -> usize {
        self.tables.push(PlannedTable { scope, start: self.n_entries, len, source });
        self.n_entries += len;
        self.tables.len() - 1
    }

    /// Small constraints as tables, one for each scope; the numbers of the others are returned.
    fn push_hard(
        &mut self,
        sizes: &[u32],
        constraints: &[Constraint],
        is_solved: &[bool],
    ) -> Vec<usize> {
        let mut global = Vec::new();
        let mut by_scope: HashMap<Vec<u32>, usize> = HashMap::new();
        for (c, constraint) in constraints.iter().enumerate() {
            // Over nothing it holds or not, and the program knows.
            if constraint.scope.is_empty() || is_solved[c] {
                continue;
            }
            let mut scope = constraint.scope.clone();
            scope.sort_unstable();
            let n = |&v: &u32| sizes[v as usize] as usize;
            let len = scope.iter().map(n).try_fold(1usize, |a, b| a.checked_mul(b));
            let Some(len) = len.filter(|&len| len <= LARGEST_HARD_TABLE && scope.len() <= 6) else {
                global.push(c);
                continue;
            };
            let table = *by_scope
                .entry(scope.clone())
                .or_insert_with(|| self.push(scope.clone(), len, Source::Hard(vec![0.0; len])));
            let Source::Hard(entries) = &mut self.tables[table].source else { continue };
            // By variable in the order of the constraint: how far apart its labels stand in the table.
            let strides = strides(sizes, &scope);
            let stride = |v: &u32| scope.binary_search(v).map_or(0, |at| strides[at]);
            let own: Vec<(usize, usize)> =
                constraint.scope.iter().map(|v| (stride(v), n(v))).collect();
            for (entry, number) in entries.iter_mut().zip(0..) {
                let read = |state: u32, (at, &(stride, size)): (usize, &(usize, usize))| match state
                {
                    DEAD => DEAD,
                    state => constraint.step(at, state, number / stride % size),
                };
                let last = own.iter().enumerate().fold(constraint.start(), read);
                if last == DEAD || !constraint.accepts(last) {
                    *entry = f64::NEG_INFINITY;
                }
            }
        }
        global
    }

    /// Eliminates variables while the tables that this makes are small, the smallest first.
    fn eliminate(
        &mut self,
        sizes: &[u32],
        is_bound: &[bool],
        is_live: &mut Vec<bool>,
        is_left: &mut [bool],
    ) {
        let mut of_variable: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
        for (t, table) in self.tables.iter().enumerate() {
            table.scope.iter().for_each(|&v| of_variable[v as usize].push(t));
        }
        // The size of the table that a variable would leave; what is too large need not be counted to the end.
        let (mut seen, mut round) = (vec![0usize; sizes.len()], 0);
        let mut size_without = |plan: &Plan, of: &[usize], v: usize| {
            let mut size = 1usize;
            round += 1;
            seen[v] = round;
            for &u in of.iter().flat_map(|&t| &plan.tables[t].scope) {
                if std::mem::replace(&mut seen[u as usize], round) != round {
                    size = size.saturating_mul(sizes[u as usize] as usize);
                    if size > LARGEST_TABLE {
                        break;
                    }
                }
            }
            size
        };
        let mut cost: Vec<usize> =
            (0..sizes.len()).map(|v| size_without(self, &of_variable[v], v)).collect();
        let free = (0..sizes.len()).filter(|&v| is_left[v] && !is_bound[v]);
        let mut queue: BTreeSet<(usize, usize)> = free.map(|v| (cost[v], v)).collect();
        while let Some((size, v)) = queue.pop_first() {
            if size > LARGEST_TABLE {
                return;
            }
            let mut scope: Vec<u32> = of_variable[v]
                .iter()
                .flat_map(|&t| self.tables[t].scope.iter().copied())
                .filter(|&u| u as usize != v)
                .collect();
            scope.sort_unstable();
            scope.dedup();
            let inputs = std::mem::take(&mut of_variable[v]);
            let out = self.push(scope.clone(), size, Source::Made);
            is_live.push(!scope.is_empty());
            let step = self.step(sizes, v as u32, &scope, &inputs, self.tables[out].start);
            self.steps.push(step);
            is_left[v] = false;
            for &t in &inputs {
                is_live[t] = false;
            }
            for &u in &scope {
                let of = &mut of_variable[u as usize];
                of.retain(|t| is_live[*t]);
                of.push(out);
            }
            for &u in &scope {
                let u = u as usize;
                let now = size_without(self, &of_variable[u], u);
                let was = std::mem::replace(&mut cost[u], now);
                if queue.remove(&(was, u)) {
                    queue.insert((now, u));
                }
            }
        }
    }

    fn step(&self, sizes: &[u32], v: u32, scope: &[u32], inputs: &[usize], out: usize) -> Step {
        let input = |&t: &usize| {
            let table = &self.tables[t];
            let strides = strides(sizes, &table.scope);
            let of = |u: u32| table.scope.iter().position(|&w| w == u).map_or(0, |at| strides[at]);
            Input {
                start: table.start,
                strides: scope.iter().map(|&u| of(u)).collect(),
                own: of(v),
            }
        };
        Step {
            variable: v,
            n_labels: sizes[v as usize] as usize,
            scope: scope.to_vec(),
            sizes: scope.iter().map(|&u| sizes[u as usize] as usize).collect(),
            inputs: inputs.iter().map(input).collect(),
            out,
        }
    }

    /// What is left, by connected components.
    fn split(
        &mut self,
        sizes: &[u32],
        constraints: &[Constraint],
        global: &[usize],
        is_live: &[bool],
        is_left: &[bool],
    ) {
        let mut groups = Groups::new(sizes.len());
        let live: Vec<usize> = (0..self.tables.len()).filter(|&t| is_live[t]).collect();
        live.iter().for_each(|&t| groups.join(&self.tables[t].scope));
        global.iter().for_each(|&c| groups.join(&constraints[c].scope));
        let mut by_root: BTreeMap<usize, Component> = BTreeMap::new();
        for v in (0..sizes.len()).filter(|&v| is_left[v]) {
            by_root.entry(groups.root(v)).or_default().variables.push(v as u32);
        }
        let mut of = |scope: &[u32]| scope.first().map(|&v| groups.root(v as usize));
        for t in live {
            let component = of(&self.tables[t].scope).and_then(|root| by_root.get_mut(&root));
            component.into_iter().for_each(|component| component.tables.push(t));
        }
        for &c in global {
            let component = of(&constraints[c].scope).and_then(|root| by_root.get_mut(&root));
            component.into_iter().for_each(|component| component.constraints.push(c));
        }
        for mut component in by_root.into_values() {
            self.order(sizes, constraints, &mut component);
            self.components.push(component);
        }
    }

    /// Orders the variables of a component for a sweep, and says whether its layers would be narrow.
    fn order(&self, sizes: &[u32], constraints: &[Constraint], component: &mut Component) {
        let states: f64 =
            component.constraints.iter().map(|&c| constraints[c].n_states() as f64).product();
        if states > WIDEST_SWEEP {
            return;
        }
        // Variables by their place in the component, tables by theirs in `n_open`.
        let variables = &component.variables;
        let local = |v: u32| variables.partition_point(|&u| u < v);
        let size = |at: usize| f64::from(sizes[variables[at] as usize]);
        let scopes: Vec<Vec<usize>> = component
            .tables
            .iter()
            .map(|&t| self.tables[t].scope.iter().map(|&v| local(v)).collect())
            .collect();
        let mut of_variable: Vec<Vec<usize>> = vec![Vec::new(); variables.len()];
        for (t, scope) in scopes.iter().enumerate() {
            scope.iter().for_each(|&v| of_variable[v].push(t));
        }
        let mut n_open: Vec<usize> = scopes.iter().map(Vec::len).collect();
        // Patterns must be read in their order; other than that, a variable follows those that it shares a table with.
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); variables.len()];
        for &c in component.constraints.iter().filter(|&&c| constraints[c].is_ordered()) {
            constraints[c].scope.windows(2).for_each(|p| after[local(p[1])].push(local(p[0])));
        }
        let (mut order, mut is_placed) = (Vec::new(), vec![false; variables.len()]);
        let mut left: VecDeque<usize> = (0..variables.len()).collect();
        let mut width = 1.0f64;
        while !left.is_empty() {
            // Of those that may come next the one that leaves the narrowest frontier.
            let mut best: Option<(f64, usize)> = None;
            for (at, &v) in left.iter().enumerate() {
                if after[v].iter().any(|&u| !is_placed[u]) {
                    continue;
                }
                let is_open_after = |t: usize| n_open[t] > usize::from(scopes[t].contains(&v));
                let stays = |u: usize| of_variable[u].iter().any(|&t| is_open_after(t));
                let mut closed: Vec<usize> = of_variable[v]
                    .iter()
                    .filter(|&&t| n_open[t] == 1)
                    .flat_map(|&t| scopes[t].iter().copied())
                    .filter(|&u| u != v && !stays(u))
                    .collect();
                closed.sort_unstable();
                closed.dedup();
                let gone: f64 = closed.iter().map(|&u| size(u)).product();
                let own = if stays(v) { size(v) } else { 1.0 };
                let width = width * own / gone;
                if best.is_none_or(|(least, _)| width < least) {
                    best = Some((width, at));
                }
                // In long sequences the first that fits is good enough.
                if left.len() > 32 && (width <= size(v) || at >= FARTHEST_LOOK) {
                    break;
                }
            }
            // Two patterns that read in opposite orders: no sweep.
            let Some((next, at)) = best else { return };
            let Some(v) = left.remove(at) else { return };
            if width * size(v) * states > WIDEST_SWEEP {
                return;
            }
            width = next;
            is_placed[v] = true;
            of_variable[v].iter().for_each(|&t| n_open[t] -= 1);
            order.push(variables[v]);
        }
        component.variables = order;
        component.sweep = true;
    }
}

/// How far apart labels of each variable of a table stand.
pub(crate) fn strides(sizes: &[u32], scope: &[u32]) -> Vec<usize> {
    let mut strides = vec![1; scope.len()];
    for at in (1..scope.len()).rev() {
        strides[at - 1] = strides[at] * sizes[scope[at] as usize] as usize;
    }
    strides
}
