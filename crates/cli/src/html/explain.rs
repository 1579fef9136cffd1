//! The page of explanations: words lit up, and one bar per feature, towards the winner or away from it.

use lineal::{Contribution, Explanation, Lit};

use super::page::{Page, escape, section};
use crate::rows::explain::{Explained, amount, headline, value_of};
use crate::talk::count;

/// One block per row.
pub fn explain_page(found: &Explained<'_>) -> String {
    let model = found.model;
    let lead = format!(
        "{} of {}; {} loss, trained on {}",
        count(found.explanations.len(), "explanation"),
        count(found.data.n_rows(), "row"),
        model.report().loss,
        model.provenance().source
    );
    let mut page = Page::new("Why, for", &found.data.source, &lead);
    for explanation in &found.explanations {
        let title = format!("Row {}: {}", explanation.row + 1, headline(explanation, found));
        let html = format!("{}{}", texts(explanation, found), bars(explanation, found));
        page.section(&section(&title, &html, ""));
    }
    page.finish()
}

/// Longer texts are cut.
const LONGEST: usize = 5000;

/// The row's text, its words lit up by what they added.
fn texts(explanation: &Explanation, found: &Explained<'_>) -> String {
    let Some(cells) = found.texts.get(&explanation.row) else { return String::new() };
    let names: Vec<&str> = found.model.schema().text_columns().collect();
    let lit: Vec<Vec<Lit>> = cells
        .iter()
        .enumerate()
        .map(|(slot, text)| found.model.highlight(explanation, slot, text))
        .collect();
    let most = lit.iter().flatten().fold(f64::MIN_POSITIVE, |m, lit| m.max(lit.amount.abs()));
    let mut html = String::new();
    for (slot, text) in cells.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        html.push_str("<p class=\"text\">");
        if cells.len() > 1 {
            html.push_str(&format!("<b>{}</b> ", escape(names.get(slot).unwrap_or(&""))));
        }
        html.push_str(&marked(text, &lit[slot], most));
        html.push_str("</p>");
    }
    html
}

fn marked(text: &str, lit: &[Lit], most: f64) -> String {
    let end =
        (0..=LONGEST.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let mut html = String::new();
    let mut at = 0;
    for part in lit.iter().take_while(|part| part.end <= end) {
        html.push_str(&lines(&text[at..part.start]));
        let class = if part.amount > 0.0 { "for" } else { "against" };
        let much = 75.0 * part.amount.abs() / most;
        html.push_str(&format!(
            "<mark class=\"{class}\" style=\"--much:{much:.0}\" title=\"{}\">{}</mark>",
            escape(&amount(part.amount)),
            lines(&text[part.start..part.end])
        ));
        at = part.end;
    }
    html.push_str(&lines(&text[at..end]));
    if end < text.len() {
        html.push('…');
    }
    html
}

/// Escaped, its line breaks kept.
fn lines(text: &str) -> String {
    text.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

fn bars(explanation: &Explanation, found: &Explained<'_>) -> String {
    let (shown, others) =
        explanation.contributions.split_at(found.top.min(explanation.contributions.len()));
    let mut rows: Vec<(f64, String)> =
        shown.iter().map(|c| (c.amount(), value_of(c, found.model))).collect();
    let rest = explanation.rest + others.iter().map(Contribution::amount).sum::<f64>();
    let n_rest = explanation.n_rest + others.len();
    rows.push((rest, format!("the other {}", count(n_rest, "feature"))));
    rows.push((explanation.bias, "bias".to_owned()));
    rows.push((-explanation.threshold, "threshold".to_owned()));
    rows.retain(|row| row.0 != 0.0);
    draw(&rows)
}

/// A bar for each amount and its name.
pub fn draw(rows: &[(f64, String)]) -> String {
    let longest = rows.iter().fold(f64::MIN_POSITIVE, |m, row| m.max(row.0.abs()));
    let mut html = String::from("<div class=\"scroll\" tabindex=\"0\"><table class=\"bars\">");
    for (value, name) in rows {
        let width = 100.0 * value.abs() / longest;
        let bar = |is_here: bool, class: &str| match is_here {
            true => format!("<div class=\"{class}\" style=\"width:{width:.1}%\"></div>"),
            false => String::new(),
        };
        html.push_str(&format!(
            "<tr><td class=\"n\">{}</td><td class=\"half\">{}</td><td class=\"half\">{}</td><td>{}</td></tr>",
            escape(&amount(*value)),
            bar(*value < 0.0, "against"),
            bar(*value > 0.0, "for"),
            escape(name)
        ));
    }
    html.push_str("</table></div>");
    html
}
