//! What is asked: variables with labels, tables of scores over several of them, constraints. No scores yet.

use super::constraint::Constraint;
use super::plan::Plan;

/// A score for each joint label of a few variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Its variables, each once; labels of the last one change fastest.
    pub scope: Vec<u32>,
    /// Its first score.
    pub start: usize,
    /// How many scores it has.
    pub len: usize,
}

/// The shape of one problem: everything but its scores, and the plan by which it is solved. Made once for each shape and used for every question.
///
/// Scores are one flat vector: those of the labels of variable 0, of variable 1, …, then those of each table.
#[derive(Clone, Debug)]
pub struct Program {
    sizes: Vec<u32>,
    starts: Vec<usize>,
    tables: Vec<Table>,
    constraints: Vec<Constraint>,
    n_parts: usize,
    plan: Plan,
}

impl Program {
    /// `sizes` are the numbers of labels of the variables, `scopes` the variables of each table. Every scope names variables that exist, each once; every variable
    /// has a label.
    ///
    /// # Panics
    /// If a scope names a variable that does not exist, or names one twice.
    pub fn new(sizes: Vec<u32>, scopes: Vec<Vec<u32>>, constraints: Vec<Constraint>) -> Self {
        let mut starts = vec![0usize];
        for &size in &sizes {
            starts.push(starts[starts.len() - 1] + size as usize);
        }
        let mut last_seen = vec![usize::MAX; sizes.len()];
        for (number, scope) in scopes.iter().chain(constraints.iter().map(|c| &c.scope)).enumerate()
        {
            let is_fresh = |&v: &u32| {
                let seen = last_seen.get_mut(v as usize);
                seen.is_some_and(|seen| std::mem::replace(seen, number) != number)
            };
            assert!(scope.iter().all(is_fresh), "a scope of {scope:?}");
        }
        let mut n_parts = starts[sizes.len()];
        let table = |scope: Vec<u32>| {
            let len = scope.iter().map(|&v| sizes[v as usize] as usize).product();
            let start = n_parts;
            n_parts += len;
            Table { scope, start, len }
        };
        let tables: Vec<Table> = scopes.into_iter().map(table).collect();
        let plan = Plan::new(&sizes, &tables, &constraints);
        Self { sizes, starts, tables, constraints, n_parts, plan }
    }

    /// How many variables.
    pub fn n_variables(&self) -> usize {
        self.sizes.len()
    }

    /// How many labels a variable has.
    pub fn n_labels(&self, variable: usize) -> usize {
        self.sizes[variable] as usize
    }

    /// Where the scores of the labels of a variable begin; that of the number of variables is the end of all.
    pub fn start(&self, variable: usize) -> usize {
        self.starts[variable]
    }

    /// How many labels all variables have together.
    pub fn n_unary(&self) -> usize {
        self.starts[self.sizes.len()]
    }

    /// How many scores there are.
    pub fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// The tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The constraints.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Whether another program asks the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.sizes == other.sizes
            && self.tables == other.tables
            && self.constraints == other.constraints
    }

    /// Whether a constraint over no variable at all fails.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.constraints.iter().any(|c| c.scope.is_empty() && !c.holds(&[]))
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Where the score of the labels that an output has in a table stands.
    pub fn cell(&self, table: &Table, labels: &[u32]) -> usize {
        let place = |at: usize, &v: &u32| {
            at * self.sizes[v as usize] as usize + labels[v as usize] as usize
        };
        table.start + table.scope.iter().fold(0, place)
    }

    /// The score of an output.
    pub fn score(&self, theta: &[f64], labels: &[u32]) -> f64 {
        let unary: f64 = labels
            .iter()
            .zip(&self.starts)
            .map(|(&label, start)| theta[start + label as usize])
            .sum();
        unary + self.tables.iter().map(|table| theta[self.cell(table, labels)]).sum::<f64>()
    }

    /// Whether an output keeps all constraints.
    pub fn is_legal(&self, labels: &[u32]) -> bool {
        self.constraints.iter().all(|constraint| constraint.holds(labels))
    }

    /// The same problem without some of its constraints.
    pub fn with_constraints(&self, keep: &dyn Fn(&Constraint) -> bool) -> Program {
        let constraints = self.constraints.iter().filter(|c| keep(c)).cloned().collect();
        let scopes = self.tables.iter().map(|table| table.scope.clone()).collect();
        Program::new(self.sizes.clone(), scopes, constraints)
    }
}

impl Default for Program {
    /// No variables: one output, the empty one.
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new(), Vec::new())
    }
}

/// Which labels of the variables are allowed: all, but for what is known or excluded.
#[derive(Clone, Debug, PartialEq)]
pub struct Domains {
    pub(crate) allowed: Vec<bool>,
}

impl Domains {
    /// Everything is allowed.
    pub fn full(program: &Program) -> Self {
        Self { allowed: vec![true; program.n_unary()] }
    }

    /// Only this label of a variable is left.
    pub fn keep_only(&mut self, program: &Program, variable: usize, label: usize) {
        let labels = program.start(variable)..program.start(variable + 1);
        self.allowed[labels].iter_mut().enumerate().for_each(|(l, allowed)| *allowed &= l == label);
    }

    /// This label of a variable is no longer allowed.
    pub fn exclude(&mut self, program: &Program, variable: usize, label: usize) {
        self.allowed[program.start(variable) + label] = false;
    }

    /// Whether a label of a variable is allowed.
    pub fn permits(&self, program: &Program, variable: usize, label: usize) -> bool {
        self.allowed[program.start(variable) + label]
    }
}
