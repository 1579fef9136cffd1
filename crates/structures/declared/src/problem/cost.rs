//! The cost of labels: Δ(gold, y) = Σ over variables with a wrong label of what their kind and gold label cost. It is a sum over labels, so that score + cost has the
//! same argmax.

use crate::ground::Ground;
use crate::language::Declaration;

/// Adds to each score of a label what that label costs.
pub(super) fn add(declaration: &Declaration, ground: &Ground, theta: &mut [f64]) {
    for (v, gold) in ground.gold.iter().enumerate() {
        let Some(gold) = gold else { continue };
        let cost = declaration.variables[ground.kinds[v] as usize].costs[*gold as usize];
        let start = ground.program.start(v);
        for label in (0..ground.program.n_labels(v)).filter(|&label| label != *gold as usize) {
            theta[start + label] += cost;
        }
    }
}

/// What an output costs. Labels that are not known cost nothing.
pub(super) fn of(declaration: &Declaration, ground: &Ground, labels: &[u32]) -> f64 {
    let wrong = ground.gold.iter().zip(labels).enumerate();
    let wrong = wrong.filter(|(_, (gold, label))| gold.is_some_and(|gold| gold != **label));
    wrong
        .map(|(v, (gold, _))| {
            let costs = &declaration.variables[ground.kinds[v] as usize].costs;
            gold.map_or(0.0, |gold| costs[gold as usize])
        })
        .sum()
}
