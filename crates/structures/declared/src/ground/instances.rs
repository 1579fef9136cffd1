//! The variables of an example, with their links, spans and gold labels.

use super::example::{Example, ExampleError, Record, Value};
use super::rules::constraints;
use crate::inference::Program;
use crate::language::{Declaration, Hop};
use std::collections::HashMap;
use std::sync::Arc;

/// Examples as a declaration understands them.
#[derive(Clone, Debug)]
pub struct Examples {
    grounds: Vec<Ground>,
}

/// The variables of one example, numbered through: those of the first kind, of the second, …
#[derive(Clone, Debug)]
pub struct Ground {
    /// What is asked: shared by all examples of the same shape.
    pub program: Arc<Program>,
    /// The same without rules.
    pub free: Arc<Program>,
    /// The factors, in the order of the program's tables.
    pub factors: Vec<GroundFactor>,
    /// Where the variables of each kind begin; the last is the number of all.
    pub starts: Vec<usize>,
    /// By variable: its kind.
    pub kinds: Vec<u32>,
    /// By variable: the gold label, if it is known.
    pub gold: Vec<Option<u32>>,
    /// Variables whose label is not in the declaration, with that label. Their gold label is not known.
    pub unknown: Vec<(u32, String)>,
    /// By variable: its span of tokens.
    pub spans: Vec<Option<(usize, usize)>>,
    /// By variable: the features that the example lists.
    pub features: Vec<Vec<(String, f32)>>,
    /// By variable: where its links lead.
    links: Vec<Vec<Option<u32>>>,
    /// Columns of tokens.
    pub columns: Vec<(String, Vec<String>)>,
    /// How much the example counts.
    pub weight: f64,
}

/// A factor between variables of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroundFactor {
    /// The factor of the declaration.
    pub factor: usize,
    /// The variable that it is a factor of.
    pub subject: u32,
}

type Shapes =
    HashMap<(Vec<usize>, Vec<Vec<Option<u32>>>), (Arc<Program>, Arc<Program>, Vec<GroundFactor>)>;

impl Examples {
    /// Finds the variables of each example and checks them. Every label must be in the declaration.
    pub fn new(declaration: &Declaration, examples: Vec<Example>) -> Result<Self, ExampleError> {
        let all = Self::with_unknown_labels(declaration, examples)?;
        for (example, ground) in all.iter().enumerate() {
            if let Some((v, label)) = ground.unknown.first() {
                let message = ground.unknown_label(declaration, *v as usize, label);
                return Err(ExampleError { example, message });
            }
        }
        Ok(all)
    }

    /// The same, but labels may be unknown: see [`Ground::unknown`].
    pub fn with_unknown_labels(
        declaration: &Declaration,
        examples: Vec<Example>,
    ) -> Result<Self, ExampleError> {
        let mut shapes = Shapes::new();
        let ground = |(at, example): (usize, Example)| {
            Ground::new(declaration, example, &mut shapes)
                .map_err(|message| ExampleError { example: at, message })
        };
        let grounds = examples.into_iter().enumerate().map(ground).collect::<Result<_, _>>()?;
        Ok(Self { grounds })
    }

    /// Some of them, in the order asked for.
    ///
    /// # Panics
    /// If there is none of some number.
    pub fn select(&self, which: &[usize]) -> Self {
        Self { grounds: which.iter().map(|&i| self.grounds[i].clone()).collect() }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.grounds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.grounds.is_empty()
    }

    /// One of them.
    pub fn get(&self, i: usize) -> &Ground {
        &self.grounds[i]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Ground> {
        self.grounds.iter()
    }
}

impl Ground {
    /// Where the links of a variable lead: numbers of variables.
    ///
    /// # Panics
    /// If there is no such variable.
    pub fn links(&self, variable: usize) -> &[Option<u32>] {
        &self.links[variable]
    }

    fn new(
        declaration: &Declaration,
        example: Example,
        shapes: &mut Shapes,
    ) -> Result<Self, String> {
        let n_tokens = check_columns(&example)?;
        let weight = example.weight;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(format!("the weight {weight} is not a number that is 0 or more"));
        }
        let none = Vec::new();
        let list = |name: &str| {
            example.lists.iter().find(|(list, _)| list == name).map(|(_, records)| records)
        };
        // How many there are of each kind must be known before links are checked.
        let mut counts: Vec<usize> = Vec::new();
        for kind in &declaration.variables {
            let n = list(&kind.source).map_or(0, Vec::len);
            counts.push(if kind.all_pairs {
                let (a, b) = (counts[kind.links[0].to], counts[kind.links[1].to]);
                if kind.links[0].to == kind.links[1].to { a * a.saturating_sub(1) } else { a * b }
            } else {
                n
            });
        }
        let mut starts = vec![0];
        counts.iter().for_each(|n| starts.push(starts[starts.len() - 1] + n));
        let n = starts[counts.len()];
        if n > 1_000_000 {
            return Err(format!("it has {n} variables; at most 1000000 are possible"));
        }
        let mut ground = Self {
            program: Arc::default(),
            free: Arc::default(),
            factors: Vec::new(),
            kinds: Vec::new(),
            gold: vec![None; n],
            unknown: Vec::new(),
            spans: vec![None; n],
            features: vec![Vec::new(); n],
            links: vec![Vec::new(); n],
            columns: Vec::new(),
            starts,
            weight,
        };
        for (k, kind) in declaration.variables.iter().enumerate() {
            ground.kinds.resize(ground.starts[k + 1], k as u32);
            let records = list(&kind.source);
            let first = ground.starts[k];
            let mut pairs: HashMap<(u32, u32), usize> = HashMap::new();
            if kind.all_pairs {
                let [a, b] = [0, 1].map(|link: usize| {
                    let to = kind.links[link].to;
                    ground.starts[to]..ground.starts[to + 1]
                });
                let every = a.flat_map(|i| {
                    b.clone().filter(move |&j| i != j).map(move |j| (i as u32, j as u32))
                });
                for ((i, j), v) in every.zip(first..) {
                    pairs.insert((i, j), v);
                    ground.links[v] = vec![Some(i), Some(j)];
                    ground.gold[v] = records.map(|_| 0);
                }
            }
            for (r, record) in records.unwrap_or(&none).iter().enumerate() {
                let name = || format!("{} {r}", kind.name);
                let mut links = Vec::new();
                for link in &kind.links {
                    let to = whole(record, &link.name, &name)?;
                    let range = ground.starts[link.to]..ground.starts[link.to + 1];
                    if let Some(to) = to.filter(|to| *to >= range.len()) {
                        return Err(format!(
                            "{}: `{}` is {to}, but there are {} of {}, counted from 0",
                            name(),
                            link.name,
                            range.len(),
                            declaration.variables[link.to].name
                        ));
                    }
                    links.push(to.map(|to| (range.start + to) as u32));
                }
                let (label, unknown) = label(record, &kind.label_field, &kind.labels, &name)?;
                let v = if kind.all_pairs {
                    let (Some(i), Some(j)) = (links[0], links[1]) else {
                        return Err(format!(
                            "{}: a pair needs `{}` and `{}`",
                            name(),
                            kind.links[0].name,
                            kind.links[1].name
                        ));
                    };
                    let Some(&v) = pairs.get(&(i, j)) else {
                        return Err(format!(
                            "{}: `{}` and `{}` are the same",
                            name(),
                            kind.links[0].name,
                            kind.links[1].name
                        ));
                    };
                    let is_default = ground.gold[v] == Some(0) || unknown.is_some();
                    if !is_default && label.is_some() && ground.gold[v] != label {
                        return Err(format!(
                            "{}: this pair stands in the list twice with two labels",
                            name()
                        ));
                    }
                    v
                } else {
                    first + r
                };
                ground.gold[v] = label;
                ground.unknown.extend(unknown.map(|label| (v as u32, label)));
                ground.links[v] = links;
                if let Some(start) = whole(record, "start", &name)? {
                    // Without an end it is one token.
                    let end = whole(record, "end", &name)?.unwrap_or(start.saturating_add(1));
                    if start >= end || (end > n_tokens && n_tokens > 0) {
                        return Err(format!(
                            "{}: the span {start}..{end} is not within {n_tokens} tokens",
                            name()
                        ));
                    }
                    ground.spans[v] = Some((start, end));
                }
                match record.get("features") {
                    Some(Value::Features(features)) => ground.features[v].clone_from(features),
                    Some(_) => {
                        return Err(format!("{}: `features` must be names with numbers", name()));
                    }
                    None => {}
                }
            }
        }
        ground.columns = example.columns;
        ground.attach(declaration, &counts, shapes)?;
        Ok(ground)
    }

    /// Finds the program of this shape, or makes it.
    fn attach(
        &mut self,
        declaration: &Declaration,
        counts: &[usize],
        shapes: &mut Shapes,
    ) -> Result<(), String> {
        let key = (counts.to_vec(), self.links.clone());
        if let Some((program, free, factors)) = shapes.get(&key) {
            (self.program, self.free) = (program.clone(), free.clone());
            self.factors.clone_from(factors);
            return Ok(());
        }
        let labels = |&kind: &u32| declaration.variables[kind as usize].labels.len() as u32;
        let sizes: Vec<u32> = self.kinds.iter().map(labels).collect();
        let mut scopes = Vec::new();
        for (f, factor) in declaration.factors.iter().enumerate() {
            for subject in self.starts[factor.subject]..self.starts[factor.subject + 1] {
                let scope: Option<Vec<u32>> = factor
                    .paths
                    .iter()
                    .map(|path| self.follow(declaration, subject, path))
                    .collect();
                let Some(scope) = scope else { continue };
                if (1..scope.len()).any(|at| scope[..at].contains(&scope[at])) {
                    let kind = &declaration.variables[factor.subject].name;
                    let number = subject - self.starts[factor.subject];
                    return Err(format!(
                        "factor {}: {kind} {number} has links that lead to the same variable",
                        factor.name
                    ));
                }
                scopes.push(scope);
                self.factors.push(GroundFactor { factor: f, subject: subject as u32 });
            }
        }
        let constraints = constraints(declaration, self)?;
        self.free = Arc::new(Program::new(sizes.clone(), scopes.clone(), Vec::new()));
        self.program = if constraints.is_empty() {
            self.free.clone()
        } else {
            Arc::new(Program::new(sizes, scopes, constraints))
        };
        // Examples repeat in training, not without end.
        if shapes.len() < 10_000 {
            shapes.insert(key, (self.program.clone(), self.free.clone(), self.factors.clone()));
        }
        Ok(())
    }

    /// The variable at the end of a path, if all links exist.
    pub fn follow(&self, declaration: &Declaration, variable: usize, path: &[Hop]) -> Option<u32> {
        let mut at = variable;
        for hop in path {
            let kind = self.kinds[at] as usize;
            debug_assert!(kind < declaration.variables.len());
            at = match hop {
                Hop::Link(link) => (*self.links[at].get(*link)?)? as usize,
                Hop::Next => Some(at + 1).filter(|&next| next < self.starts[kind + 1])?,
                Hop::Previous => at.checked_sub(1).filter(|&before| before >= self.starts[kind])?,
            };
        }
        Some(at as u32)
    }

    /// Why a label cannot be.
    pub fn unknown_label(&self, declaration: &Declaration, v: usize, label: &str) -> String {
        let kind = &declaration.variables[self.kinds[v] as usize];
        let number = v - self.starts[self.kinds[v] as usize];
        let name = match (kind.all_pairs, &self.links[v][..]) {
            (true, &[Some(a), Some(b)]) => {
                let end = |link: usize, to: u32| to as usize - self.starts[kind.links[link].to];
                format!("{} of {} and {}", kind.name, end(0, a), end(1, b))
            }
            _ => format!("{} {number}", kind.name),
        };
        let shown = kind.labels[..kind.labels.len().min(12)].join(", ");
        let more = if kind.labels.len() > 12 { ", …" } else { "" };
        format!("{name}: `{label}` is not a label; the declaration has {shown}{more}")
    }

    /// How many variables it has.
    pub fn n_variables(&self) -> usize {
        self.kinds.len()
    }

    /// Whether all gold labels are known. A variable with one label only has that one.
    pub fn is_whole(&self) -> bool {
        let is_known =
            |(v, gold): (usize, &Option<u32>)| gold.is_some() || self.program.n_labels(v) == 1;
        self.gold.iter().enumerate().all(is_known)
    }
}

fn check_columns(example: &Example) -> Result<usize, String> {
    let Some((first, column)) = example.columns.first() else { return Ok(0) };
    for (name, other) in &example.columns {
        if other.len() != column.len() {
            return Err(format!(
                "`{first}` has {} tokens and `{name}` has {}; each token needs both",
                column.len(),
                other.len()
            ));
        }
    }
    Ok(column.len())
}

fn whole(record: &Record, field: &str, name: &dyn Fn() -> String) -> Result<Option<usize>, String> {
    match record.get(field) {
        None => Ok(None),
        Some(Value::Number(n)) if *n >= 0.0 && n.fract() == 0.0 && *n < 1e9 => {
            Ok(Some(*n as usize))
        }
        Some(Value::Number(n)) => {
            Err(format!("{}: `{field}` is {n}, not a whole number from 0", name()))
        }
        Some(_) => Err(format!("{}: `{field}` must be a whole number from 0", name())),
    }
}

/// The number of a record's label, or its name where there is no such label.
fn label(
    record: &Record,
    field: &str,
    labels: &[String],
    name: &dyn Fn() -> String,
) -> Result<(Option<u32>, Option<String>), String> {
    let text = match record.get(field) {
        None => return Ok((None, None)),
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Number(n)) => n.to_string(),
        Some(Value::Features(_)) => return Err(format!("{}: `{field}` must be a label", name())),
    };
    Ok(match labels.iter().position(|label| *label == text) {
        Some(label) => (Some(label as u32), None),
        None => (None, Some(text)),
    })
}
