//! Where in the texts of rows the reasons are.

use std::io::Write;

use lineal::{ExplainSpec, Model};
use serde_json::{Value, json};

use crate::args::ExplainArgs;

/// Adds `words` to the explanations that stand in `out` from `start` on: for each text column its parts in their order, each with what it added.
pub fn add(
    model: &Model,
    args: &ExplainArgs,
    out: &mut Vec<u8>,
    start: usize,
) -> anyhow::Result<()> {
    let options = args.file.options();
    let data = model.read(args.source(), &options)?;
    let class = args.class.as_ref().and_then(|name| model.classes().iter().position(|c| c == name));
    let spec = ExplainSpec { rows: None, class: class.map(|class| class as u32), top: None };
    let explanations = model.explain(&data, &spec)?;
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let texts = model.read_texts(args.source(), &options, &rows)?;
    let columns: Vec<&str> = model.schema().text_columns().collect();
    let lines = out.split_off(start);
    let lines = lines.split(|&b| b == b'\n').filter(|line| !line.is_empty());
    for (line, explanation) in lines.zip(&explanations) {
        let mut object: Value = serde_json::from_slice(line)?;
        let cells = texts.get(explanation.row).into_iter().flatten().enumerate();
        let words = cells.map(|(slot, text)| {
            let (mut parts, mut end) = (Vec::new(), 0);
            for lit in model.highlight(explanation, slot, text) {
                if lit.start > end {
                    parts.push(json!([text.get(end..lit.start), 0.0]));
                }
                parts.push(json!([text.get(lit.start..lit.end), lit.amount]));
                end = lit.end;
            }
            if end < text.len() {
                parts.push(json!([text.get(end..), 0.0]));
            }
            json!({"column": columns.get(slot), "parts": parts})
        });
        object["words"] = words.collect();
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)?;
    }
    Ok(())
}
