//! Scores and orders as text, CSV or JSON lines.

use std::io::{self, Write};

use lineal::RankedQuery;
use serde_json::json;

use crate::args::{Output, PredictArgs};
use crate::table::quoted;

/// Writes queries, one after the other.
pub struct Writer {
    form: Output,
    top: Option<usize>,
    begun: bool,
}

impl Writer {
    pub fn new(args: &PredictArgs) -> Self {
        Self { form: args.output, top: args.top, begun: false }
    }

    pub fn write(&mut self, out: &mut dyn Write, found: &RankedQuery) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.begun, true);
        let best = &found.order[..self.top.unwrap_or(usize::MAX).min(found.order.len())];
        let ranked = || best.iter().zip(1..).map(|(&d, rank)| (d as usize, rank));
        match (self.form, self.top) {
            // What svm_rank_classify writes: a score for each document, in the order of the data.
            (Output::Text, None) => {
                found.scores.iter().try_for_each(|score| writeln!(out, "{score}"))
            }
            (Output::Text, Some(_)) => ranked().try_for_each(|(d, rank)| {
                writeln!(out, "{}\t{rank}\t{}\t{}", found.query, d + 1, found.scores[d])
            }),
            (Output::Csv, top) => {
                if first {
                    writeln!(out, "query,document,score,rank")?;
                }
                let query = quoted(&found.query);
                let mut line = |d: usize, rank: usize| {
                    writeln!(out, "{query},{},{},{rank}", d + 1, found.scores[d])
                };
                match top {
                    Some(_) => ranked().try_for_each(|(d, rank)| line(d, rank)),
                    None => found.ranks().iter().enumerate().try_for_each(|(d, &r)| line(d, r)),
                }
            }
            (Output::Jsonl, _) => {
                let order: Vec<usize> = ranked().map(|(d, _)| d + 1).collect();
                let object = json!({"query": found.query, "scores": found.scores, "order": order});
                serde_json::to_writer(&mut *out, &object)?;
                writeln!(out)
            }
        }
    }
}
