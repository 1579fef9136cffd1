//! The built-in set of sequences, lines of addresses made by formula, and the show that goes with it.

use std::fmt::Write;

use lineal::{Ask, Sequences, StructuredModel, TagModel};

use super::inspect;
use super::write::Writer;
use crate::args::Output;
use crate::demo::Sections;
use crate::random::Random;
use crate::structured::{explanation_lines, metric_lines};

const FIRST: [&str; 12] = [
    "Ada", "Bruno", "Carla", "Denis", "Edith", "Florian", "Grace", "Hugo", "Iris", "Jasper",
    "Lincoln", "Victoria",
];
const LAST: [&str; 12] = [
    "Abbott", "Baker", "Carter", "Dean", "Hill", "Kent", "Lake", "Marsh", "Park", "Reed",
    "Victoria", "York",
];
const STREET: [&str; 12] = [
    "Abbey", "Baker", "Bridge", "Castle", "Church", "Hill", "Kent", "Lake", "Lincoln", "Marsh",
    "Park", "Victoria",
];
const WAY: [&str; 5] = ["Street", "Road", "Lane", "Park", "Hill"];
const CITY: [&str; 12] = [
    "York",
    "Lincoln",
    "Bath",
    "Castle Hill",
    "Kent Bridge",
    "Lake Marsh",
    "Old Church",
    "Reed",
    "Dean",
    "Park End",
    "Marsh Hill",
    "New Abbey",
];

/// Addresses whose words come in several roles: the neighbours tell which.
pub fn addresses(n: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for _ in 0..n {
        let mut put = |words: &str, kind: &str| {
            for (i, word) in words.split(' ').enumerate() {
                let place = if i == 0 { "B" } else { "I" };
                let _ = match kind {
                    "O" => writeln!(text, "{word} O"),
                    kind => writeln!(text, "{word} {place}-{kind}"),
                };
            }
        };
        let mut name = FIRST[random.below(12)].to_owned();
        if random.uniform() < 0.3 {
            name.push_str(&format!(" {}.", ["A", "J", "M", "T"][random.below(4)]));
        }
        put(&format!("{name} {}", LAST[random.below(12)]), "NAME");
        if random.uniform() < 0.5 {
            put(",", "O");
        }
        let number = (1 + random.below(180)).to_string();
        let street = format!("{} {}", STREET[random.below(12)], WAY[random.below(5)]);
        if random.uniform() < 0.7 {
            put(&number, "NUMBER");
            put(&street, "STREET");
        } else {
            put(&street, "STREET");
            put(&number, "NUMBER");
        }
        if random.uniform() < 0.5 {
            put(",", "O");
        }
        let code = format!("{}{}", ["YO", "LN", "BA", "KT"][random.below(4)], 1 + random.below(30));
        let city = CITY[random.below(12)];
        if random.uniform() < 0.6 {
            put(city, "CITY");
            put(&code, "CODE");
        } else {
            put(&code, "CODE");
            put(city, "CITY");
        }
        text.push('\n');
    }
    text
}

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
