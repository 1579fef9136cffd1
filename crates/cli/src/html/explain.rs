//! The page of explanations: a bar a feature, towards the winner or away from it.

use lineal::Explanation;

use super::page::{Page, escape, section};
use crate::explain::{Explained, amount, headline, value_of};
use crate::talk::count;

const BARS: &str = "\
<style>
table.bars td { padding: 2px 8px 2px 0; white-space: nowrap; }
table.bars tr + tr > * { border-top: 0; }
table.bars .half { width: 160px; padding: 2px 0; }
table.bars .half div { height: 12px; border-radius: 3px; }
table.bars .half div.for { background: var(--c2); }
table.bars .half div.against { background: var(--c4); margin-left: auto; }
</style>
";

/// A block a row.
pub fn explain_page(found: &Explained) -> String {
    let model = &found.model;
    let lead = format!(
        "{} of {}; {} loss, trained on {}",
        count(found.explanations.len(), "explanation"),
        count(found.data.n_rows(), "row"),
        model.report().loss,
        model.provenance().source
    );
    let mut page = Page::new(&format!("Why, for {}", found.data.source), &lead);
    page.section(BARS);
    for explanation in &found.explanations {
        let title = format!("Row {}: {}", explanation.row + 1, headline(explanation, found));
        page.section(&section(&title, &bars(explanation, found), ""));
    }
    page.finish()
}

fn bars(explanation: &Explanation, found: &Explained) -> String {
    let features = explanation.contributions.iter();
    let mut rows: Vec<(f64, String)> =
        features.map(|c| (c.amount(), value_of(c, &found.model))).collect();
    rows.push((explanation.rest, format!("the other {}", count(explanation.n_rest, "feature"))));
    rows.push((explanation.bias, "bias".to_owned()));
    rows.push((-explanation.threshold, "threshold".to_owned()));
    rows.retain(|row| row.0 != 0.0);
    let longest = rows.iter().fold(f64::MIN_POSITIVE, |m, row| m.max(row.0.abs()));
    let mut html = String::from("<div class=\"scroll\"><table class=\"bars\">");
    for (value, name) in rows {
        let width = 100.0 * value.abs() / longest;
        let bar = |is_here: bool, class: &str| match is_here {
            true => format!("<div class=\"{class}\" style=\"width:{width:.1}%\"></div>"),
            false => String::new(),
        };
        html.push_str(&format!(
            "<tr><td class=\"n\">{}</td><td class=\"half\">{}</td><td class=\"half\">{}</td><td>{}</td></tr>",
            escape(&amount(value)),
            bar(value < 0.0, "against"),
            bar(value > 0.0, "for"),
            escape(&name)
        ));
    }
    html.push_str("</table></div>");
    html
}
