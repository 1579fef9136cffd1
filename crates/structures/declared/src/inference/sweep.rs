//! Exact dynamic programming from left to right.
//!
//! Variables are read in the order of the plan. A state is the labels of those read variables that a later table still asks for, and the states of the
//! constraints that are being read; of all ways to a state only the best one is kept. A chain with a rule that counts has labels × counts as states,
//! a pattern over a sequence labels × states of its automaton. Labels that nobody asks for any more give their place to later ones, so that a state is as long as the frontier is wide, whatever
//! the number of variables.

use super::constraint::DEAD;
use super::plan::{Component, strides};
use super::program::Program;
use super::search::SearchLimits;
use super::solve::{NoSolution, Scratch};
use std::collections::HashMap;

/// More ways than this in all, and the search takes over.
const MOST_STATES: usize = 10_000_000;

/// What happens when a variable is read.
struct Layer {
    variable: u32,
    /// Constraints (by their place in the state) with the place of the variable in their scope, and whether this is their last variable.
    reads: Vec<(usize, usize, bool)>,
    /// Tables that are complete now.
    tables: Vec<Complete>,
    /// Whether the variable's label is asked for later: its place in the state.
    keeps: Option<usize>,
    /// Places that nobody asks for any more.
    forgets: Vec<usize>,
}

/// A table all of whose variables have been read.
struct Complete {
    /// Its first entry.
    start: usize,
    /// How far apart labels of the variable that was read last stand.
    own: usize,
    /// The others: the place of a label in the state, and how far apart labels stand.
    others: Vec<(usize, usize)>,
}

/// Finds the best labels of a component. `false` if there were too many states, or if time ran out.
pub(crate) fn best(
    program: &Program,
    component: &Component,
    s: &Scratch,
    limits: &SearchLimits,
    labels: &mut [u32],
) -> Result<bool, NoSolution> {
    let (layers, start) = layers(program, component);
    let mut states: Vec<(Vec<u32>, f64)> = vec![(start, 0.0)];
    // For each layer and state the state before and the label.
    let mut back: Vec<Vec<(u32, u32)>> = Vec::with_capacity(layers.len());
    let mut n_states = 0;
    let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
    for layer in &layers {
        let v = layer.variable as usize;
        let unary = &s.unary[program.start(v)..program.start(v + 1)];
        let mut next: Vec<(Vec<u32>, f64)> = Vec::new();
        let mut ways: Vec<(u32, u32)> = Vec::new();
        places.clear();
        for (from, (state, score)) in states.iter().enumerate() {
            for (label, &own) in unary.iter().enumerate() {
                let mut total = score + own;
                for table in &layer.tables {
                    let at: usize = table
                        .others
                        .iter()
                        .map(|&(place, stride)| state[place] as usize * stride)
                        .sum();
                    total += s.entries[table.start + at + label * table.own];
                }
                if total == f64::NEG_INFINITY {
                    continue;
                }
                let Some(state) = follow(program, component, layer, state, label) else { continue };
                match places.get(&state) {
                    Some(&at) if next[at].1 >= total => {}
                    Some(&at) => {
                        next[at].1 = total;
                        ways[at] = (from as u32, label as u32);
                    }
                    None => {
                        places.insert(state.clone(), next.len());
                        next.push((state, total));
                        ways.push((from as u32, label as u32));
                    }
                }
            }
        }
        if next.is_empty() {
            return Err(NoSolution::Infeasible);
        }
        n_states += next.len();
        if n_states > MOST_STATES || limits.is_over(|| true) {
            return Ok(false);
        }
        back.push(ways);
        states = next;
    }
    let mut at = 0;
    for (state, (_, score)) in states.iter().enumerate() {
        if *score > states[at].1 {
            at = state;
        }
    }
    for (layer, ways) in layers.iter().zip(&back).rev() {
        let (from, label) = ways[at];
        labels[layer.variable as usize] = label;
        at = from as usize;
    }
    Ok(true)
}

fn follow(
    program: &Program,
    component: &Component,
    layer: &Layer,
    state: &[u32],
    label: usize,
) -> Option<Vec<u32>> {
    let mut state = state.to_vec();
    for &(place, at, is_last) in &layer.reads {
        let constraint = &program.constraints()[component.constraints[place]];
        let next = constraint.step(at, state[place], label);
        if next == DEAD || (is_last && !constraint.accepts(next)) {
            return None;
        }
        state[place] = if is_last { 0 } else { next };
    }
    if let Some(place) = layer.keeps {
        state[place] = label as u32;
    }
    layer.forgets.iter().for_each(|&place| state[place] = 0);
    Some(state)
}

/// The layers, and the first state: states of constraints, then labels by variable.
fn layers(program: &Program, component: &Component) -> (Vec<Layer>, Vec<u32>) {
    let sizes: Vec<u32> = (0..program.n_variables()).map(|v| program.n_labels(v) as u32).collect();
    let mut position = vec![usize::MAX; sizes.len()];
    for (at, &v) in component.variables.iter().enumerate() {
        position[v as usize] = at;
    }
    let last_of = |scope: &[u32]| scope.iter().map(|&v| position[v as usize]).max().unwrap_or(0);
    let mut start: Vec<u32> =
        component.constraints.iter().map(|&c| program.constraints()[c].start()).collect();
    let layer = |&variable: &u32| Layer {
        variable,
        reads: Vec::new(),
        tables: Vec::new(),
        keeps: None,
        forgets: Vec::new(),
    };
    let mut layers: Vec<Layer> = component.variables.iter().map(layer).collect();
    for (place, &c) in component.constraints.iter().enumerate() {
        let scope = &program.constraints()[c].scope;
        let last = last_of(scope);
        for (at, &v) in scope.iter().enumerate() {
            let layer = position[v as usize];
            layers[layer].reads.push((place, at, layer == last));
        }
    }
    // Until which layer the label of each is asked for, and its place in the state as long as it is.
    let mut needed = vec![0; component.variables.len()];
    for &t in &component.tables {
        let scope = &program.plan().tables[t].scope;
        let last = last_of(scope);
        for &v in scope {
            let at = position[v as usize];
            needed[at] = needed[at].max(last);
        }
    }
    let (mut place_of, mut free) = (vec![0; needed.len()], Vec::new());
    for (at, &until) in needed.iter().enumerate() {
        if until > at {
            let place = free.pop().unwrap_or_else(|| {
                start.push(0);
                start.len() - 1
            });
            place_of[at] = place;
            layers[at].keeps = Some(place);
            layers[until].forgets.push(place);
        }
        free.extend_from_slice(&layers[at].forgets);
    }
    for &t in &component.tables {
        let table = &program.plan().tables[t];
        let (last, strides) = (last_of(&table.scope), strides(&sizes, &table.scope));
        let (mut own, mut others) = (0, Vec::new());
        for (&v, &stride) in table.scope.iter().zip(&strides) {
            let at = position[v as usize];
            if at == last {
                own = stride;
            } else {
                others.push((place_of[at], stride));
            }
        }
        layers[last].tables.push(Complete { start: table.start, own, others });
    }
    (layers, start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{Constraint, Counter, Kind};

    #[test]
    fn a_state_is_as_long_as_the_frontier_and_not_as_the_chain() {
        for n in [10u32, 400] {
            let amounts = vec![vec![0, 1]; n as usize];
            let counter = Counter::new(&amounts, i64::MIN, 3);
            let constraint =
                Constraint { rule: 0, scope: (0..n).collect(), kind: Kind::Counter(counter) };
            let scopes = (1..n).map(|v| vec![v - 1, v]).collect();
            let program = Program::new(vec![2; n as usize], scopes, vec![constraint]);
            let component = &program.plan().components[0];
            assert!(component.sweep);
            // The counter and one or two labels.
            assert!(layers(&program, component).1.len() <= 3, "{n}");
        }
    }
}
