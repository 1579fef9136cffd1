//! What `lineal demo` shows of a tagger.

use lineal::{Ask, Sequences, StructuredModel, TagModel};

use super::inspect;
use super::write::Writer;
use crate::args::Output;
use crate::demo::Sections;
use crate::structured::{explanation_lines, metric_lines};

/// What is shown of a tagger: the doubtful sequence, and why it is labelled so.
pub fn more(
    model: &TagModel,
    test: &Sequences,
    [model_name, test_name]: [&str; 2],
) -> anyhow::Result<Sections> {
    let shown = doubtful(model, test)?;
    let token = 3.min(test.get(shown).len() - 1);
    let found = model.explain(test.get(shown), Some(token), None)?;
    let explained = explanation_lines(model, test, shown, &found[0], 4);
    let review = format!("lineal predict {model_name} {test_name} --proba --review-below 0.9");
    let explain = format!("lineal explain {model_name} {test_name}");
    Ok(vec![
        (
            format!("lineal eval {model_name} {test_name}"),
            metric_lines::<TagModel>(&model.evaluate(test)?),
        ),
        (format!("lineal inspect {model_name} --top 3"), inspect::attribute_lines(model, Some(3))),
        (format!("{review}   # the first one"), tagged(model, test, shown)?),
        (format!("{explain} --rows {} --token {} --top 4", shown + 1, token + 1), explained),
    ])
}

/// The least probable sequence.
fn doubtful(model: &TagModel, data: &Sequences) -> anyhow::Result<usize> {
    let tagged = model.answer(data, &Ask { proba: true, ..Ask::default() })?;
    let p = |i: &usize| tagged[*i].probability.unwrap_or(1.0);
    Ok((0..tagged.len()).min_by(|a, b| p(a).total_cmp(&p(b))).unwrap_or(0))
}

fn tagged(model: &TagModel, data: &Sequences, at: usize) -> anyhow::Result<Vec<String>> {
    let one = data.select(&[at]);
    let tagged = model.answer(&one, &Ask { proba: true, ..Ask::default() })?;
    let mut text = Vec::new();
    Writer::new(model, Output::Text, true, 0).write(&mut text, one.get(0), 0, &tagged[0])?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}
