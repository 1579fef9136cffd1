//! Progress: a bar on a terminal, lines elsewhere (none in the first second), nothing with `--quiet`.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lineal::{CurvePoint, Task};

use crate::talk::{Talk, rough, seconds};

/// Shows passes.
pub struct Progress {
    task: Task,
    shape: Shape,
    /// The last pass, as long as all of them are of one run.
    last: Option<usize>,
    several_runs: bool,
}

enum Shape {
    Nothing,
    Bar(ProgressBar),
    Lines(Lines),
}

struct Lines {
    talk: Talk,
    /// The last pass that was not printed, and whether it is worth telling at the end: of a run that took its time, or what held-out examples came to.
    held_back: Option<(String, bool)>,
    /// The last pass, and the tenths of all blocks, that were.
    said: (usize, usize),
}

impl Progress {
    /// `n_passes` if there is a bound on them: then the bar fills, with an estimate of the time that is left; else it turns.
    pub fn new(talk: Talk, n_passes: Option<usize>, task: Task) -> Self {
        let shape = if talk.is_quiet() {
            Shape::Nothing
        } else if std::io::stderr().is_terminal() {
            Shape::Bar(bar(n_passes))
        } else {
            Shape::Lines(Lines { talk, held_back: None, said: (0, 0) })
        };
        // A parser is learnt in stages, each with passes of its own.
        let several_runs = !matches!(
            task,
            Task::Classify | Task::Multilabel | Task::Regress | Task::Tag | Task::Rank
        );
        Self { task, shape, last: None, several_runs }
    }

    /// The number of the last pass, where all were of one run.
    pub fn last_pass(&self) -> Option<usize> {
        self.last.filter(|_| !self.several_runs)
    }

    /// After a pass.
    pub fn pass(&mut self, point: &CurvePoint) {
        self.last = Some(point.pass);
        match &mut self.shape {
            Shape::Nothing => {}
            Shape::Bar(bar) => {
                match several(point) {
                    None => {
                        bar.set_message(describe(point, self.task));
                        bar.set_position(point.pass as u64);
                    }
                    Some((done, all)) => {
                        // The bar itself counts blocks.
                        let point = CurvePoint { blocks: None, ..*point };
                        bar.set_message(format!(
                            "pass {}, {}",
                            point.pass,
                            describe(&point, self.task)
                        ));
                        if bar.length() != Some(all as u64) {
                            bar.set_length(all as u64);
                            set_style(bar, BLOCKS);
                        }
                        bar.set_position(done as u64);
                    }
                }
            }
            Shape::Lines(lines) => {
                if let Some(line) = lines.pass(point, self.task) {
                    lines.talk.say(line);
                }
            }
        }
    }

    /// Before a fold is trained, to be calibrated on.
    pub fn fold(&mut self, fold: usize, all: usize) {
        let told = format!("calibrating: fold {fold} of {all}");
        match &mut self.shape {
            Shape::Nothing => {}
            Shape::Bar(bar) => bar.set_message(told),
            Shape::Lines(lines) => {
                lines.tell_held_back();
                lines.talk.say(told);
            }
        }
    }

    /// After the last pass.
    pub fn finish(&mut self) {
        match &mut self.shape {
            Shape::Nothing => {}
            Shape::Bar(bar) => bar.finish_and_clear(),
            Shape::Lines(lines) => lines.tell_held_back(),
        }
    }
}

impl Lines {
    fn tell_held_back(&mut self) {
        if let Some(line) = self.last() {
            self.talk.say(line);
        }
    }

    /// The last pass, unless it was printed or the whole run was short.
    fn last(&mut self) -> Option<String> {
        let (line, is_worth_it) = self.held_back.take()?;
        is_worth_it.then_some(line)
    }

    /// What to say after a pass. Blocks of problems end at any time, many in the same pass: a line for each tenth of them.
    fn pass(&mut self, point: &CurvePoint, task: Task) -> Option<String> {
        let line = format!("pass {}: {}", point.pass, describe(point, task));
        let tenths = several(point).map_or(0, |(done, all)| 10 * done / all.max(1));
        let is_due = (point.pass > self.said.0 && is_shown(point.pass)) || tenths > self.said.1;
        if is_due && point.seconds >= QUIET_SECONDS {
            self.said = (point.pass, tenths);
            self.held_back = None;
            Some(line)
        } else {
            let told_nowhere_else = point.held_out_metric.is_some();
            self.held_back = Some((line, told_nowhere_else || point.seconds >= QUIET_SECONDS));
            None
        }
    }
}

/// Runs that are shorter than this print no progress lines.
const QUIET_SECONDS: f64 = 1.0;

const BLOCKS: &str = "{bar:30.cyan} {pos}/{len} blocks, {eta} left  {msg}";

fn bar(n_passes: Option<usize>) -> ProgressBar {
    let (bar, template) = match n_passes {
        Some(n) => {
            (ProgressBar::new(n as u64), "{bar:30.cyan} {pos}/{len} passes, {eta} left  {msg}")
        }
        None => (ProgressBar::new_spinner(), "{spinner:.cyan} pass {pos}  {msg}"),
    };
    set_style(&bar, template);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

/// Every pass up to 20, then every tenth, from 100 on every hundredth, ….
fn is_shown(pass: usize) -> bool {
    pass <= 20 || pass.is_multiple_of(10usize.pow(pass.ilog10()))
}

/// Blocks that have ended and all, where there are several.
fn several(point: &CurvePoint) -> Option<(usize, usize)> {
    point.blocks.filter(|(_, all)| *all > 1)
}

fn describe(point: &CurvePoint, task: Task) -> String {
    let mut words = Vec::new();
    words.extend(several(point).map(|(done, all)| format!("{done} of {all} blocks done")));
    let mut add = |name: &str, value: Option<f64>| {
        words.extend(value.map(|value| format!("{name} {}", rough(value))));
    };
    add("objective", point.objective);
    if point.objective.is_none() {
        // Without a curve sgd only knows the loss of the examples that it met, before it learnt from them.
        add("loss before each step", point.train_loss);
    }
    let estimate = point.gap_estimate.map(|gap| format!("gap ≈ {gap:.1e}"));
    words.extend(point.gap.map(|gap| format!("gap {gap:.1e}")).or(estimate));
    let mut add = |name: &str, value: Option<f64>| {
        words.extend(value.map(|value| format!("held-out {name} {}", rough(value))));
    };
    match task {
        Task::Classify => add("accuracy", point.held_out_metric),
        Task::Multilabel => add("share of right answers", point.held_out_metric),
        Task::Regress => add("rmse", point.held_out_metric.map(|m| -m)),
        // F1 of spans, or the accuracy of tokens where there are none.
        Task::Tag => add("score", point.held_out_metric),
        Task::Dependency => add("uas", point.held_out_metric),
        Task::Constituency => add("F1", point.held_out_metric),
        Task::Rank => add("ndcg@10", point.held_out_metric),
        Task::Segment => add("iou", point.held_out_metric),
        Task::Declared => add("accuracy", point.held_out_metric),
    }
    words.push(seconds(point.seconds));
    words.join(", ")
}

/// Shows a series of runs: which of how many, and what it does now.
pub struct Series {
    shape: SeriesShape,
    n_runs: usize,
    n_begun: usize,
}

enum SeriesShape {
    Nothing,
    Bar(ProgressBar),
    Lines(Talk),
}

impl Series {
    /// `n_runs` are to come.
    pub fn new(talk: Talk, n_runs: usize) -> Self {
        let shape = if talk.is_quiet() {
            SeriesShape::Nothing
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(n_runs as u64);
            set_style(&bar, "{bar:30.cyan} {pos}/{len} runs, {eta} left  {msg}");
            bar.enable_steady_tick(Duration::from_millis(120));
            SeriesShape::Bar(bar)
        } else {
            SeriesShape::Lines(talk)
        };
        Self { shape, n_runs, n_begun: 0 }
    }

    /// The next run begins; `note` says what it does.
    pub fn begin(&mut self, name: &str) {
        self.n_begun += 1;
        if let SeriesShape::Bar(bar) = &self.shape {
            bar.set_message(name.to_owned());
        }
    }

    /// After a pass of the run.
    pub fn pass(&self, name: &str, point: &CurvePoint, task: Task) {
        if let SeriesShape::Bar(bar) = &self.shape {
            bar.set_message(format!("{name}: pass {}, {}", point.pass, describe(point, task)));
        }
    }

    /// The run has ended.
    pub fn end(&self, name: &str, told: &str) {
        match &self.shape {
            SeriesShape::Nothing => {}
            SeriesShape::Bar(bar) => bar.inc(1),
            SeriesShape::Lines(talk) => {
                talk.say(format_args!("{} of {}: {name}: {told}", self.n_begun, self.n_runs));
            }
        }
    }

    /// After the last run.
    pub fn finish(&self) {
        if let SeriesShape::Bar(bar) = &self.shape {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Lines {
        Lines { talk: Talk::new(true), held_back: None, said: (0, 0) }
    }

    fn point(pass: usize, seconds: f64, blocks: Option<(usize, usize)>) -> CurvePoint {
        CurvePoint { pass, seconds, blocks, objective: Some(0.5), ..CurvePoint::default() }
    }

    #[test]
    fn nothing_is_told_in_the_first_second() {
        let mut short = lines();
        for pass in 1..=9 {
            assert_eq!(short.pass(&point(pass, 0.1 * pass as f64, None), Task::Classify), None);
        }
        assert_eq!(short.last(), None);
        // What held-out examples came to is told nowhere else.
        let watched = CurvePoint { held_out_metric: Some(0.75), ..point(9, 0.9, None) };
        assert_eq!(short.pass(&watched, Task::Classify), None);
        assert!(short.last().unwrap().contains("held-out accuracy 0.75"));
        let mut long = lines();
        assert_eq!(long.pass(&point(1, 0.9, None), Task::Classify), None);
        let told = long.pass(&point(2, 1.1, None), Task::Classify).unwrap();
        assert!(told.starts_with("pass 2: objective 0.5"), "{told}");
        // Pass 21 is held back, and told at the end.
        assert_eq!(long.pass(&point(21, 2.0, None), Task::Classify), None);
        assert!(long.last().unwrap().starts_with("pass 21: "));
        assert_eq!(long.last(), None);
    }

    #[test]
    fn blocks_of_problems_are_told_as_they_end() {
        let mut lines = lines();
        let mut told = |pass, done| lines.pass(&point(pass, 2.0, Some((done, 40))), Task::Classify);
        assert!(told(1, 0).unwrap().starts_with("pass 1: 0 of 40 blocks done"));
        assert_eq!(told(1, 3), None);
        assert!(told(1, 4).unwrap().contains("4 of 40 blocks done"));
    }

    #[test]
    fn a_thousand_passes_are_not_a_thousand_lines() {
        let shown: Vec<usize> = (1..=1000).filter(|&pass| is_shown(pass)).collect();
        assert_eq!(shown[..20], (1..=20).collect::<Vec<_>>());
        assert_eq!(shown[20..23], [30, 40, 50]);
        assert_eq!(shown.last(), Some(&1000));
        assert!(shown.len() < 40);
    }
}
