//! The walk along C that every search takes, whatever it measures.

use super::table::{Trial, TuneTable};
use crate::Error;
use crate::request::spec::LossKind;
use crate::train::report::CurvePoint;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Called after each step of a path; `Break` ends the search.
pub type OnTrial<'a, L = LossKind> = dyn FnMut(&Trial<L>) -> ControlFlow<()> + Send + 'a;

/// What a fold found at one step of the path.
pub(super) struct Measured {
    pub score: f64,
    pub passes: usize,
    pub converged: bool,
    /// Whether the end of the budget stopped it.
    pub interrupted: bool,
}

/// A monitor that stops a run after the pass in which this time is reached.
pub fn stop_at(deadline: Option<Instant>) -> impl FnMut(&CurvePoint) -> ControlFlow<()> + Send {
    move |_| match deadline {
        Some(deadline) if Instant::now() >= deadline => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

/// Trains all folds of the path of that number with this loss and C, until the deadline at most; `None` where there is nothing to measure.
pub(super) type Measure<'m, L> =
    dyn FnMut(usize, L, f64, Option<Instant>) -> Result<Option<Vec<Measured>>, Error> + 'm;

/// A walk that is about to start.
pub(super) struct Walk<'a, L> {
    /// What the features are called in the table.
    pub features: String,
    /// The losses, each with its values of C.
    pub paths: Vec<(L, Vec<f64>)>,
    pub budget: Option<Duration>,
    pub on_trial: Option<&'a mut OnTrial<'a, L>>,
}

impl<L: Copy> Walk<'_, L> {
    /// Takes every step that the budget allows. Where `measure` finds nothing to measure, the rest of that path is passed over.
    pub(super) fn run(
        self,
        table: &mut TuneTable<L>,
        measure: &mut Measure<'_, L>,
    ) -> Result<ControlFlow<()>, Error> {
        let Self { features, paths, budget, mut on_trial } = self;
        let started = Instant::now();
        let deadline = budget.and_then(|budget| started.checked_add(budget));
        let mut longest = Duration::ZERO;
        let mut is_over = vec![false; paths.len()];
        let mut n_left: usize = paths.iter().map(|(_, cs)| cs.len()).sum();
        let n_steps = paths.iter().map(|(_, cs)| cs.len()).max().unwrap_or(0);
        let mut is_first = true;
        // All losses move along the path together, so that a budget is fair to them.
        for step in 0..n_steps {
            for (at, (loss, cs)) in paths.iter().enumerate() {
                let Some(&c) = cs.get(step).filter(|_| !is_over[at]) else { continue };
                if !is_first && budget.is_some_and(|b| started.elapsed() + longest > b) {
                    table.left_out += n_left;
                    return Ok(ControlFlow::Break(()));
                }
                let begun = Instant::now();
                let Some(measured) = measure(at, *loss, c, deadline)? else {
                    is_over[at] = true;
                    n_left -= cs.len() - step;
                    continue;
                };
                is_first = false;
                longest = begun.elapsed();
                n_left -= 1;
                let trial = Trial::new(&features, *loss, c, measured, longest.as_secs_f64());
                let seen = on_trial.as_mut().map_or(ControlFlow::Continue(()), |see| see(&trial));
                table.trials.push(trial);
                if seen.is_break() {
                    table.left_out += n_left;
                    return Ok(seen);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
