//! Points of the plane, learnt: what `lineal playground` asks.

use std::fmt::Write;

use lineal::{Model, Predicted, Source, Targets, Training, read_features};
use lineal_server::{Fault, Playground};
use serde::Deserialize;
use serde_json::{Value, json};

use super::lines::in_fields;
use crate::demo::parse;
use crate::demo::regions::classify;
use crate::train::Trainable;

/// More than anybody draws.
const POINTS: usize = 5000;
const SQUARES: usize = 200;
const PASSES: usize = 1000;

/// Trains on points.
pub struct Points;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// x, y and the class.
    points: Vec<(f64, f64, String)>,
    #[serde(default)]
    loss: Option<String>,
    #[serde(default)]
    strategy: Option<String>,
    #[serde(default)]
    solver: Option<String>,
    #[serde(default)]
    c: Option<f64>,
    #[serde(default)]
    map: Option<String>,
    /// Stop after so many.
    #[serde(default)]
    passes: Option<usize>,
    /// The corners of what is shown, and into how many squares a side is cut.
    frame: [f64; 4],
    squares: usize,
}

impl Playground for Points {
    fn train(&self, request: &str) -> Result<String, Fault> {
        let request: Request =
            serde_json::from_str(request).map_err(|e| Fault::request("", e.to_string()))?;
        check(&request)?;
        let answer = learn(&request).map_err(|e| Fault::request("", in_fields(&e.to_string())))?;
        Ok(answer.to_string())
    }
}

fn check(request: &Request) -> Result<(), Fault> {
    let wrong = |pointer: &str, detail: String| Err(Fault::request(pointer, detail));
    if request.points.len() > POINTS {
        return wrong("/points", format!("{POINTS} points at most"));
    }
    let is_odd =
        |(x, y, class): &(f64, f64, String)| !x.is_finite() || !y.is_finite() || !is_name(class);
    if let Some(i) = request.points.iter().position(is_odd) {
        return wrong(
            &format!("/points/{i}"),
            "must be two numbers and the name of a class, of letters and digits".into(),
        );
    }
    if request.squares == 0 || request.squares > SQUARES {
        return wrong("/squares", format!("must be a number from 1 to {SQUARES}"));
    }
    if request.passes.is_some_and(|n| n == 0 || n > PASSES) {
        return wrong("/passes", format!("must be a number from 1 to {PASSES}"));
    }
    if request.frame.iter().any(|x| !x.is_finite()) {
        return wrong("/frame", "must be four numbers".into());
    }
    Ok(())
}

fn is_name(class: &str) -> bool {
    (1..=40).contains(&class.len()) && class.chars().all(char::is_alphanumeric)
}

fn learn(request: &Request) -> anyhow::Result<Value> {
    let mut csv = String::from("x,y,class\n");
    for (x, y, class) in &request.points {
        writeln!(csv, "{x},{y},{class}")?;
    }
    // The same words as on the command line, so that they mean the same.
    let words = [
        "lineal",
        "train",
        "points.csv",
        "-o",
        "m.lineal",
        "--label=class",
        "--no-standardize",
        "--numeric=x,y",
        "--task=classify",
        "--quiet",
    ];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    let said = [
        ("loss", &request.loss),
        ("strategy", &request.strategy),
        ("solver", &request.solver),
        ("map", &request.map),
    ];
    for (flag, value) in said {
        words.extend(value.as_ref().map(|value| format!("--{flag}={value}")));
    }
    words.extend(request.c.map(|c| format!("-C={c}")));
    words.push(format!("--max-passes={}", request.passes.unwrap_or(PASSES)));
    let shown = words[5..].iter().filter(|word| *word != "--quiet");
    let command =
        format!("lineal train points.csv {}", shown.cloned().collect::<Vec<_>>().join(" "));
    let args = parse(&words)?;
    let asked = Model::request(&args)?;
    let source = Source::Memory { name: "points.csv".into(), bytes: csv.into_bytes() };
    let (data, features) = read_features(source, &asked.options.read, &asked.options.features)?;
    let (model, report) = Training::new(&data, &asked.spec).features(&features).run()?;
    let wrong = match (model.predict(&data)?, &data.y) {
        (Predicted::Classes(y_hat), Targets::Classes(y)) => {
            y_hat.iter().zip(y).filter(|(a, b)| a != b).count()
        }
        _ => 0,
    };
    let n = request.squares;
    let [x0, y0, x1, y1] = request.frame;
    let middle = |i: usize, low: f64, high: f64| low + (i as f64 + 0.5) * (high - low) / n as f64;
    let grid: Vec<[f64; 2]> =
        (0..n * n).map(|at| [middle(at % n, x0, x1), middle(at / n, y0, y1)]).collect();
    let has_map = model.features().map().is_some();
    Ok(json!({
        "classes": model.classes(),
        "grid": classify(&model, &grid)?,
        "lines": if has_map { Vec::new() } else { lines(&model) },
        "wrong": wrong,
        "report": report,
        "certificate": report.certificate(),
        "command": command,
    }))
}

/// The weight vectors of binary problems, or of classes: where a·x + b·y + c is 0 is a line.
fn lines(model: &Model) -> Vec<Value> {
    let line = |(l, bias): (usize, f64)| json!([model.weight(0, l), model.weight(1, l), bias]);
    model.bias().into_iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(more: Value) -> Result<Value, Fault> {
        let mut request = json!({
            "points": [[0, 0, "a"], [0, 1, "a"], [3, 0, "b"], [3, 1, "b"], [0, 4, "c"], [1, 4, "c"]],
            "frame": [-1, -1, 4, 5], "squares": 10,
        });
        more.as_object().unwrap().iter().for_each(|(k, v)| request[k] = v.clone());
        Points.train(&request.to_string()).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn points_become_regions_and_lines() {
        let found = answer(json!({"loss": "hinge", "strategy": "ova", "c": 100})).unwrap();
        assert_eq!(found["classes"], json!(["a", "b", "c"]));
        assert_eq!(found["grid"].as_array().unwrap().len(), 100);
        assert_eq!(found["lines"].as_array().unwrap().len(), 3);
        // The corner at the right is b's.
        assert_eq!(found["grid"][9], 1);
        assert!(found["command"].as_str().unwrap().contains("--strategy=ova"), "{found}");
        let mapped = answer(json!({"map": "poly:2", "passes": 1})).unwrap();
        assert_eq!(mapped["lines"], json!([]));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for more in [
            json!({"loss": "none"}),
            json!({"squares": 0}),
            json!({"passes": 0}),
            json!({"points": []}),
            json!({"points": [[0, 0, "a,b"]]}),
            json!({"c": -1}),
            json!({"output": "/etc/passwd"}),
        ] {
            assert!(answer(more.clone()).is_err(), "{more}");
        }
    }
}
