//! Rows as they go by: a spinner on a terminal, a line whenever their number has doubled elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lineal::{Progressive, StreamPoint, Task};

use crate::talk::{Talk, count, rough, seconds};

/// Shows what was seen of rows before they were learnt from.
pub struct Progress {
    talk: Talk,
    task: Task,
    bar: Option<ProgressBar>,
    /// Pass, and the number of rows in it at which the next line is due.
    due: (usize, u64),
    held_back: Option<String>,
}

impl Progress {
    pub fn new(talk: Talk, task: Task) -> Self {
        let wants_bar = !talk.is_quiet() && std::io::stderr().is_terminal();
        let bar = wants_bar.then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { talk, task, bar, due: (0, 0), held_back: None }
    }

    /// After a chunk.
    pub fn chunk(&mut self, point: &StreamPoint) {
        let line = describe(point, self.task);
        if let Some(bar) = &self.bar {
            return bar.set_message(line);
        }
        if point.pass.pass != self.due.0 {
            self.finish();
            self.due = (point.pass.pass, 0);
        }
        if point.pass.rows < self.due.1 {
            self.held_back = Some(line);
            return;
        }
        self.talk.say(line);
        self.held_back = None;
        self.due.1 = 2 * point.pass.rows;
    }

    /// After the last chunk.
    pub fn finish(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if let Some(line) = self.held_back.take() {
            self.talk.say(line);
        }
    }
}

fn describe(point: &StreamPoint, task: Task) -> String {
    let (pass, chunk) = (&point.pass, &point.chunk);
    format!(
        "pass {}, {}: {} (lately {}), {}",
        pass.pass,
        count(pass.rows as usize, "row"),
        measured(pass, task),
        metric(chunk, task),
        seconds(point.seconds)
    )
}

/// Loss and metric in words.
pub fn measured(seen: &Progressive, task: Task) -> String {
    let name = match task {
        Task::Multilabel => "share of right answers",
        Task::Regress => "rmse",
        _ => "accuracy",
    };
    format!("loss {}, {name} {}", rough(seen.loss), metric(seen, task))
}

fn metric(seen: &Progressive, task: Task) -> String {
    match task {
        Task::Regress => rough(-seen.metric),
        _ => format!("{:.4}", seen.metric),
    }
}
