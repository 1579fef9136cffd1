//! Points of the plane, learnt: what `lineal playground` asks.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lineal::map::MapSpec;
use lineal::{Interrupt, Model, Predicted, Source, Targets, Training, read_features};
use lineal_server::{Fault, Playground};
use serde::Deserialize;
use serde_json::{Value, json};

use super::lines::in_fields;
use super::surface::{Point, Surface};
use crate::demo::parse;
use crate::demo::regions::classify;
use crate::train::Trainable;

/// More than anybody draws.
const POINTS: usize = 5000;
const SQUARES: usize = 200;
const PASSES: usize = 1000;
/// Random features of a point: a thousand points of them take megabytes.
const RANDOM: usize = 1000;
/// Passes whose weights are marked on the loss surface: each is a run of its own.
const TRAIL: usize = 60;
/// With more points than this there are no such runs.
const TRAIL_POINTS: usize = 1000;

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
    /// The score whose loss surface is wanted.
    #[serde(default)]
    surface: Option<SurfaceAsk>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SurfaceAsk {
    /// Which binary problem, or which class.
    column: usize,
    /// Half the side of the square, around 0; by the weights if not given.
    #[serde(default)]
    reach: Option<f64>,
}

impl Playground for Points {
    fn train(&self, request: &str, unwanted: &Arc<AtomicBool>) -> Result<String, Fault> {
        let request: Request =
            serde_json::from_str(request).map_err(|e| Fault::request("", e.to_string()))?;
        check(&request)?;
        let learnt = Interrupt::of(unwanted.clone()).scope(|| learn(&request));
        let answer = learnt.map_err(|e| Fault::request("", in_fields(&e.to_string())))?;
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
    // What is no map is told where it becomes a flag.
    if let Some(Ok(MapSpec::Rff { n_features, .. })) = request.map.as_deref().map(str::parse)
        && n_features > RANDOM
    {
        return wrong("/map", format!("{RANDOM} random features at most"));
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
    let mut asked = Model::request(&args)?;
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
    let mut drawn = json!(null);
    if let (Some(ask), Targets::Classes(y)) = (&request.surface, &data.y) {
        let points: Vec<Point> =
            request.points.iter().zip(y).map(|((x, y, _), class)| (*x, *y, *class)).collect();
        if let Some(surface) = Surface::new(&model, &points, ask.column) {
            drawn = surface.json(ask.reach);
            let last = request.passes.unwrap_or(report.passes).min(report.passes);
            let mut trail = Vec::new();
            if points.len() <= TRAIL_POINTS {
                for passes in passes_to_mark(last) {
                    asked.spec.max_passes = Some(passes);
                    let (model, _) = Training::new(&data, &asked.spec).features(&features).run()?;
                    trail.push([model.weight(0, ask.column), model.weight(1, ask.column)]);
                }
            }
            drawn["trail"] = json!(trail);
        }
    }
    Ok(json!({
        "surface": drawn,
        "classes": model.classes(),
        "grid": classify(&model, &grid)?,
        "lines": if has_map { Vec::new() } else { lines(&model) },
        "wrong": wrong,
        "report": report,
        "certificate": report.certificate(),
        "command": command,
    }))
}

/// Passes before the last: all of them if they are few, else more of the first ones.
fn passes_to_mark(last: usize) -> Vec<usize> {
    if last <= TRAIL {
        return (1..last).collect();
    }
    let at = |i: usize| (last as f64).powf(i as f64 / TRAIL as f64).round() as usize;
    let mut passes: Vec<usize> = (0..TRAIL).map(at).filter(|pass| *pass < last).collect();
    passes.dedup();
    passes
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
        Points
            .train(&request.to_string(), &Arc::default())
            .map(|text| serde_json::from_str(&text).unwrap())
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
    fn the_surface_has_the_objective_where_the_weights_are() {
        for loss in ["hinge", "logistic", "squared-hinge", "squared", "perceptron"] {
            let ask = json!({"loss": loss, "strategy": "joint", "c": 3, "surface": {"column": 1}});
            let found = answer(ask).unwrap();
            let (surface, report) = (&found["surface"], &found["report"]);
            let objective = report["objective"].as_f64().unwrap();
            let value = surface["value"].as_f64().unwrap();
            assert!(
                (value - objective).abs() <= 1e-5 * objective.max(1e-3),
                "{loss}: {value} {objective}"
            );
            // Where training has come to its end, no other place of the square is lower by more than the gap.
            let values = surface["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap());
            let least = values.fold(f64::INFINITY, f64::min);
            let gap = report["gap"].as_f64().unwrap_or(1e-3);
            assert!(least >= objective - gap - 1e-6, "{loss}: {least} {objective} {gap}");
        }
        // The objectives of binary problems add up to the reported one.
        for strategy in ["ova", "ovo"] {
            let ask = |column: usize| json!({"loss": "logistic", "strategy": strategy, "surface": {"column": column}});
            let of = |column| answer(ask(column)).unwrap()["surface"]["value"].as_f64().unwrap();
            let sum: f64 = (0..3).map(of).sum();
            let found = answer(json!({"loss": "logistic", "strategy": strategy})).unwrap();
            let objective = found["report"]["objective"].as_f64().unwrap();
            assert!((sum - objective).abs() < 1e-5 * objective, "{strategy}: {sum} {objective}");
            assert_eq!(found["surface"], json!(null));
        }
        for more in [json!({"strategy": "ecoc"}), json!({"map": "poly:2"})] {
            let mut ask = more.clone();
            ask["surface"] = json!({"column": 0});
            assert_eq!(answer(ask).unwrap()["surface"], json!(null), "{more}");
        }
        let ask = json!({"solver": "sgd", "passes": 5, "surface": {"column": 0, "reach": 2}});
        let found = answer(ask).unwrap();
        assert_eq!(found["surface"]["reach"], json!(2.0));
        assert_eq!(found["surface"]["trail"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn passes_that_are_marked_rise() {
        for last in [0, 1, 2, TRAIL, TRAIL + 1, 1000] {
            let passes = passes_to_mark(last);
            assert!(passes.windows(2).all(|pair| pair[0] < pair[1]), "{passes:?}");
            assert!(passes.len() < TRAIL + 1 && passes.iter().all(|pass| (1..last).contains(pass)));
        }
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
            json!({"map": "rff:1048576"}),
            json!({"map": "cubes"}),
            json!({"output": "/etc/passwd"}),
        ] {
            assert!(answer(more.clone()).is_err(), "{more}");
        }
    }
}
