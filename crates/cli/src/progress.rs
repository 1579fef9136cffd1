//! Passes as they go by: a bar on a terminal, lines elsewhere, nothing with `--quiet`.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lineal::{CurvePoint, Task};

use crate::talk::{Talk, rough, seconds};

/// Shows passes.
pub struct Progress {
    task: Task,
    shape: Shape,
}

enum Shape {
    Nothing,
    Bar(ProgressBar),
    /// The last pass that was not printed.
    Lines(Talk, Option<String>),
}

impl Progress {
    /// `n_passes` if they are known beforehand: then the bar fills, else it turns.
    pub fn new(talk: Talk, n_passes: Option<usize>, task: Task) -> Self {
        let shape = if talk.is_quiet() {
            Shape::Nothing
        } else if std::io::stderr().is_terminal() {
            Shape::Bar(bar(n_passes))
        } else {
            Shape::Lines(talk, None)
        };
        Self { task, shape }
    }

    /// After a pass.
    pub fn pass(&mut self, point: &CurvePoint) {
        match &mut self.shape {
            Shape::Nothing => {}
            Shape::Bar(bar) => {
                bar.set_message(describe(point, self.task));
                bar.set_position(point.pass as u64);
            }
            Shape::Lines(talk, last) => {
                let line = format!("pass {}: {}", point.pass, describe(point, self.task));
                if is_shown(point.pass) {
                    talk.say(line);
                    *last = None;
                } else {
                    *last = Some(line);
                }
            }
        }
    }

    /// After the last pass.
    pub fn finish(&mut self) {
        match &mut self.shape {
            Shape::Nothing => {}
            Shape::Bar(bar) => bar.finish_and_clear(),
            Shape::Lines(talk, last) => {
                if let Some(line) = last.take() {
                    talk.say(line);
                }
            }
        }
    }
}

fn bar(n_passes: Option<usize>) -> ProgressBar {
    let (bar, template) = match n_passes {
        Some(n) => (ProgressBar::new(n as u64), "{bar:30.cyan} {pos}/{len} passes  {msg}"),
        None => (ProgressBar::new_spinner(), "{spinner:.cyan} pass {pos}  {msg}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Every pass up to 20, then every tenth, from 100 on every hundredth, ….
fn is_shown(pass: usize) -> bool {
    pass <= 20 || pass.is_multiple_of(10usize.pow(pass.ilog10()))
}

fn describe(point: &CurvePoint, task: Task) -> String {
    let mut words = Vec::new();
    let mut add = |name: &str, value: Option<f64>| {
        words.extend(value.map(|value| format!("{name} {}", rough(value))));
    };
    add("objective", point.objective);
    if point.objective.is_none() {
        // Without a curve sgd only knows the loss of the examples that it met, before it learnt from them.
        add("loss on the way", point.train_loss);
    }
    let estimate = point.gap_estimate.map(|gap| format!("gap ≈ {gap:.1e}"));
    words.extend(point.gap.map(|gap| format!("gap {gap:.1e}")).or(estimate));
    let mut add = |name: &str, value: Option<f64>| {
        words.extend(value.map(|value| format!("held-out {name} {}", rough(value))));
    };
    match task {
        Task::Classify => add("accuracy", point.held_out_metric),
        Task::Regress => add("rmse", point.held_out_metric.map(|m| -m)),
    }
    words.push(seconds(point.seconds));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_passes_are_not_a_thousand_lines() {
        let shown: Vec<usize> = (1..=1000).filter(|&pass| is_shown(pass)).collect();
        assert_eq!(shown[..20], (1..=20).collect::<Vec<_>>());
        assert_eq!(shown[20..23], [30, 40, 50]);
        assert_eq!(shown.last(), Some(&1000));
        assert!(shown.len() < 40);
    }
}
