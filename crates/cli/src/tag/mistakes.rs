//! The sequences with the most wrong labels, as the page of `eval --report` shows them.

use lineal::{Sequence, Sequences, TagModel, Tagged, UNLABELLED};

use crate::html;
use crate::table::cut;
use crate::talk::count;

/// Sequences that are listed, and tokens of each.
const SEQUENCES: usize = 20;
const TOKENS: usize = 120;
/// Characters of a token.
const LONGEST: usize = 60;

/// The block of the page; nothing where everything is right.
pub fn section(model: &TagModel, data: &Sequences, tagged: &[Tagged]) -> String {
    let wrong = |sequence: Sequence<'_>, tagged: &Tagged| {
        let pairs = sequence.gold().iter().zip(&tagged.labels);
        pairs.filter(|(gold, label)| **gold != UNLABELLED && gold != label).count()
    };
    let mut order: Vec<(usize, usize)> = data
        .iter()
        .zip(tagged)
        .map(|(sequence, tagged)| (wrong(sequence, tagged), sequence.index()))
        .filter(|(n, _)| *n > 0)
        .collect();
    if order.is_empty() {
        return String::new();
    }
    let n_wrong = order.len();
    order.sort_by_key(|&(n, at)| (std::cmp::Reverse(n), at));
    order.truncate(SEQUENCES);
    let rows: String = order
        .iter()
        .map(|&(n, at)| {
            format!(
                "<tr><td class=\"n\">{}</td><td class=\"n\">{n}</td><td class=\"tokens\">{}</td></tr>",
                at + 1,
                tokens(model, data.get(at), &tagged[at])
            )
        })
        .collect();
    let table = format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\"><thead><tr><th class=\"n\">sequence</th><th class=\"n\">wrong</th>\
         <th>predicted where it should be</th></tr></thead><tbody>{rows}</tbody></table></div>"
    );
    let note = format!(
        "{} at least one wrong label; those with the most come first.",
        match n_wrong {
            1 => "1 sequence has".to_owned(),
            n => format!("{} have", count(n, "sequence")),
        }
    );
    html::section("Worst mistakes", &table, &note)
}

fn tokens(model: &TagModel, sequence: Sequence<'_>, tagged: &Tagged) -> String {
    let data = sequence.data();
    let has_words = !data.schema.has_attributes();
    let mut html = String::new();
    for t in 0..sequence.len().min(TOKENS) {
        let word = match has_words {
            true => cut(sequence.cell(t, data.schema.words()), LONGEST),
            false => (t + 1).to_string(),
        };
        let (gold, label) = (sequence.gold()[t], tagged.labels[t]);
        let word = html::escape(&word);
        if gold == UNLABELLED || gold == label {
            html.push_str(&format!("<span>{word}</span> "));
            continue;
        }
        let right = data.labels.get(gold as usize).map_or("?", String::as_str);
        html.push_str(&format!(
            "<span class=\"wrong\">{word} <small><s>{}</s> {}</small></span> ",
            html::escape(model.label(label)),
            html::escape(right)
        ));
    }
    if sequence.len() > TOKENS {
        html.push('…');
    }
    html
}
