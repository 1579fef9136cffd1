//! The pages of models with structured outputs.

use lineal::Examples;

use super::StructuredTask;
use super::explain::{Explained, shown};
use super::program::Measured;
use crate::args::ExplainArgs;
use crate::html::{Page, draw, numbers, pairs, section};
use crate::talk::{count, rough, thousands};

/// Metrics, and tables of finer ones.
pub fn eval<M: StructuredTask>(model: &M, found: &Measured<M>, data: &str) -> Page {
    let lead = format!("{} loss; trained on {}", model.report().loss, model.provenance().source);
    let mut page = Page::new("Evaluation on", data, &lead);
    let rows = M::metric_rows(&found.metrics);
    let cards: Vec<_> = rows.iter().filter(|row| M::CARDS.contains(&row.0)).cloned().collect();
    page.facts(&cards);
    if let Some((n, _)) = &found.unseen {
        page.warning(&format!(
            "{n} with a {} that training did not see: each counts as wrong",
            M::CLASS
        ));
    }
    let mut blocks = vec![section("Metrics", &pairs(&rows), "")];
    for table in M::metric_tables(&found.metrics) {
        if let Some((heads, rows)) = table.rows.split_first() {
            let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
            blocks.push(section(table.title, &numbers(&heads, rows), table.note));
        }
    }
    page.grid(&blocks);
    found.sections.iter().for_each(|section| page.section(section));
    page
}

/// Examples that are looked at for decisions close to the border, and decisions: each is a search of its own.
const LOOKED_AT: usize = 40;
const DECISIONS: usize = 400;
/// Decisions close to the border that are listed.
const BORDER: usize = 15;

/// The decisions that lead the next best by least; nothing where none has a lead.
pub fn border<M: StructuredTask>(model: &M, data: &M::Data) -> anyhow::Result<String> {
    let args = ExplainArgs::plain()?;
    let mut found = Vec::new();
    let mut n_examples = 0;
    for i in 0..data.n_examples().min(LOOKED_AT) {
        if found.len() >= DECISIONS {
            break;
        }
        // Of some models a part must be named: a pixel.
        let Ok(parts) = model.explain(data, i, &args) else { break };
        n_examples += 1;
        for part in parts {
            let about = model.explanation_json(i, &part);
            // What has no rival is far from every border.
            let lead = about["lead"].as_f64().filter(|_| !about["against"].is_null());
            found.extend(lead.map(|lead| (lead.abs(), model.headline(data, i, &part))));
        }
    }
    if found.is_empty() {
        return Ok(String::new());
    }
    let n_found = found.len();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.truncate(BORDER);
    let cells: Vec<Vec<String>> =
        found.into_iter().map(|(lead, headline)| vec![headline, rough(lead)]).collect();
    let note = format!(
        "The decisions that a small change of the weights would turn: those with the smallest lead over the next best, among {} of the first {}.",
        thousands(n_found),
        count(n_examples, M::EXAMPLE)
    );
    Ok(section("Closest to the border", &numbers(&["decision", "lead"], &cells), &note))
}

/// One block for each explanation.
pub fn explain<M: StructuredTask>(model: &M, explained: &Explained<M>, top: usize) -> String {
    let Explained { data, found } = explained;
    let n: usize = found.iter().map(|(_, parts)| parts.len()).sum();
    let lead = format!(
        "{} in {} of {}; {} loss, trained on {}",
        count(n, "explanation"),
        count(found.len(), M::EXAMPLE),
        thousands(data.n_examples()),
        model.report().loss,
        model.provenance().source
    );
    let mut page = Page::new("Why, for", data.source(), &lead);
    for (i, part) in found.iter().flat_map(|(i, parts)| parts.iter().map(move |p| (*i, p))) {
        let (reasons, n_others, rest) = shown::<M>(part, top);
        let name = |what: &str, place: &str| format!("{what} ({place})");
        let mut rows: Vec<(f64, String)> =
            reasons.iter().map(|r| (r.amount, name(&r.what, &r.place))).collect();
        rows.push((rest, count(n_others, "other weight")));
        rows.retain(|row| row.0 != 0.0);
        page.section(&section(&model.headline(data, i, part), &draw(&rows), ""));
    }
    page.finish()
}
