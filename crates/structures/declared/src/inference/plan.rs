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

use super::constraint::Constraint;
use super::program::Table;

/// The largest table that elimination may make, in entries.
const LARGEST_TABLE: usize = 4096;
/// Constraints on at most this many joint labels become tables.
const LARGEST_HARD_TABLE: usize = 512;
/// A sweep is planned if its layers have at most this many states.
const WIDEST_SWEEP: f64 = 20_000.0;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Tables in the order of their making: those of the program, hard ones, those of elimination. Their entries stand in one buffer.
    pub tables: Vec<PlannedTable>,
    pub n_entries: usize,
    pub steps: Vec<Step>,
    pub components: Vec<Component>,
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
#[derive(Clone, Debug)]
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
            is_unary: scored.is_empty(),
        };
        for table in scored {
            plan.push(table.scope.clone(), table.len, Source::Scores(table.start));
        }
        let global = plan.push_hard(sizes, constraints);
        let mut is_live = vec![true; plan.tables.len()];
        let mut is_left = vec![true; sizes.len()];
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
    fn push_hard(&mut self, sizes: &[u32], constraints: &[Constraint]) -> Vec<usize> {
        let mut global = Vec::new();
        let mut by_scope: std::collections::HashMap<Vec<u32>, usize> = Default::default();
        for (c, constraint) in constraints.iter().enumerate() {
            // Over nothing it holds or not, and the program knows.
            if constraint.scope.is_empty() {
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
            let mut labels = vec![0u32; scope.last().map_or(0, |&v| v as usize + 1)];
            for (entry, at) in entries.iter_mut().zip(0..) {
                let mut rest: usize = at;
                for &v in scope.iter().rev() {
                    labels[v as usize] = (rest % sizes[v as usize] as usize) as u32;
                    rest /= sizes[v as usize] as usize;
                }
                if !constraint.holds(&labels) {
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
        let neighbours = |plan: &Plan, of: &[usize], v: u32| {
            let mut scope: Vec<u32> = of
                .iter()
                .flat_map(|&t| plan.tables[t].scope.iter().copied())
                .filter(|&u| u != v)
                .collect();
            scope.sort_unstable();
            scope.dedup();
            let size = scope.iter().map(|&u| sizes[u as usize] as f64).product::<f64>();
            (scope, size)
        };
        let mut cost: Vec<f64> =
            (0..sizes.len()).map(|v| neighbours(self, &of_variable[v], v as u32).1).collect();
        loop {
            let free = (0..sizes.len()).filter(|&v| is_left[v] && !is_bound[v]);
            let Some(v) = free.min_by(|&a, &b| cost[a].total_cmp(&cost[b]).then(a.cmp(&b))) else {
                return;
            };
            if cost[v] > LARGEST_TABLE as f64 {
                return;
            }
            let (scope, size) = neighbours(self, &of_variable[v], v as u32);
            let inputs = std::mem::take(&mut of_variable[v]);
            let out = self.push(scope.clone(), size as usize, Source::Made);
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
                cost[u as usize] = neighbours(self, &of_variable[u as usize], u).1;
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
        let mut root: Vec<usize> = (0..sizes.len()).collect();
        fn find(root: &mut [usize], mut v: usize) -> usize {
            while root[v] != v {
                root[v] = root[root[v]];
                v = root[v];
            }
            v
        }
        let live: Vec<usize> = (0..self.tables.len()).filter(|&t| is_live[t]).collect();
        let scopes = live.iter().map(|&t| &self.tables[t].scope);
        for scope in scopes.chain(global.iter().map(|&c| &constraints[c].scope)) {
            for pair in scope.windows(2) {
                let (a, b) = (find(&mut root, pair[0] as usize), find(&mut root, pair[1] as usize));
                root[a.max(b)] = a.min(b);
            }
        }
        for v in (0..sizes.len()).filter(|&v| is_left[v]) {
            let of = find(&mut root, v);
            if of != v {
                continue;
            }
            let variables: Vec<u32> = (0..sizes.len())
                .filter(|&u| is_left[u] && find(&mut root, u) == v)
                .map(|u| u as u32)
                .collect();
            let mut inside =
                |scope: &[u32]| scope.first().is_some_and(|&u| find(&mut root, u as usize) == v);
            let tables: Vec<usize> =
                live.iter().copied().filter(|&t| inside(&self.tables[t].scope)).collect();
            let own: Vec<usize> =
                global.iter().copied().filter(|&c| inside(&constraints[c].scope)).collect();
            let mut component = Component { variables, tables, constraints: own, sweep: false };
            self.order(sizes, constraints, &mut component);
            self.components.push(component);
        }
    }

    /// Orders the variables of a component for a sweep, and says whether its layers would be narrow.
    fn order(&self, sizes: &[u32], constraints: &[Constraint], component: &mut Component) {
        // Patterns must be read in their order; other than that, a variable follows those that it shares a table with.
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); sizes.len()];
        for &c in component.constraints.iter().filter(|&&c| constraints[c].is_ordered()) {
            constraints[c].scope.windows(2).for_each(|p| after[p[1] as usize].push(p[0]));
        }
        let states: f64 =
            component.constraints.iter().map(|&c| constraints[c].n_states() as f64).product();
        let mut of_variable: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
        let mut n_open: Vec<usize> = vec![0; self.tables.len()];
        for &t in &component.tables {
            n_open[t] = self.tables[t].scope.len();
            self.tables[t].scope.iter().for_each(|&v| of_variable[v as usize].push(t));
        }
        let (mut order, mut is_placed) = (Vec::new(), vec![false; sizes.len()]);
        let mut left = component.variables.clone();
        let mut width = 1.0f64;
        while !left.is_empty() {
            // Of those that may come next the one that leaves the narrowest frontier.
            let mut best: Option<(f64, usize)> = None;
            for (at, &v) in left.iter().enumerate() {
                if after[v as usize].iter().any(|&u| !is_placed[u as usize]) {
                    continue;
                }
                let is_open_after =
                    |t: usize| n_open[t] > usize::from(self.tables[t].scope.contains(&v));
                let stays = |u: u32| of_variable[u as usize].iter().any(|&t| is_open_after(t));
                let mut closed: Vec<u32> = of_variable[v as usize]
                    .iter()
                    .filter(|&&t| n_open[t] == 1)
                    .flat_map(|&t| self.tables[t].scope.iter().copied())
                    .filter(|&u| u != v && !stays(u))
                    .collect();
                closed.sort_unstable();
                closed.dedup();
                let gone: f64 = closed.iter().map(|&u| f64::from(sizes[u as usize])).product();
                let own = if stays(v) { f64::from(sizes[v as usize]) } else { 1.0 };
                let width = width * own / gone;
                if best.is_none_or(|(least, _)| width < least) {
                    best = Some((width, at));
                }
                // In long sequences the first that fits is good enough.
                if left.len() > 32 && width <= f64::from(sizes[v as usize]) {
                    break;
                }
            }
            // Two patterns that read in opposite orders: no sweep.
            let Some((next, at)) = best else { return };
            let v = left.remove(at);
            if width * f64::from(sizes[v as usize]) * states > WIDEST_SWEEP {
                return;
            }
            width = next;
            is_placed[v as usize] = true;
            of_variable[v as usize].iter().for_each(|&t| n_open[t] -= 1);
            order.push(v);
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
