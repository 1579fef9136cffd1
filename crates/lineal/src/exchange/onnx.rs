//! ONNX: a graph of operators. Classes are a `LinearClassifier` and numbers a `LinearRegressor` of the domain `ai.onnx.ml`, as other converters write them; weights are f32
//! (<https://onnx.ai/onnx/operators/onnx_aionnxml_LinearClassifier.html>).
//!
//! The input is `features`, N × features. Outputs: `label` and `probabilities` or `scores` for classes, `value` for a number, `labels` (N × labels, true or false) and `scores`
//! for several labels, whose names are in the file's metadata.

use super::plain::Plain;
use super::protobuf::{Message, Value, fields};
use crate::Error;
use crate::request::spec::{LossKind, Task};

/// Numbers of fields, from `onnx.proto`.
mod number {
    pub const IR_VERSION: u64 = 1;
    pub const PRODUCER: u64 = 2;
    pub const PRODUCER_VERSION: u64 = 3;
    pub const GRAPH: u64 = 7;
    pub const OPSET: u64 = 8;
    pub const METADATA: u64 = 14;

    pub const NODE: u64 = 1;
    pub const GRAPH_NAME: u64 = 2;
    pub const INITIALIZER: u64 = 5;
    pub const INPUT: u64 = 11;
    pub const OUTPUT: u64 = 12;

    pub const NODE_INPUT: u64 = 1;
    pub const NODE_OUTPUT: u64 = 2;
    pub const NODE_NAME: u64 = 3;
    pub const OPERATOR: u64 = 4;
    pub const ATTRIBUTE: u64 = 5;
    pub const DOMAIN: u64 = 7;

    pub const NAME: u64 = 1;
    pub const INT: u64 = 3;
    pub const STRING: u64 = 4;
    pub const FLOATS: u64 = 7;
    pub const INTS: u64 = 8;
    pub const STRINGS: u64 = 9;
    pub const KIND: u64 = 20;
}

const FLOAT: i64 = 1;
const STRING: i64 = 8;
const BOOL: i64 = 9;

const ML: &str = "ai.onnx.ml";
/// The metadata that names several labels.
const LABELS: &str = "lineal.labels";

fn attribute(name: &str, kind: i64) -> Message {
    Message::default().bytes(number::NAME, name).int(number::KIND, kind)
}

fn int(name: &str, value: i64) -> Message {
    attribute(name, 2).int(number::INT, value)
}

fn string(name: &str, value: &str) -> Message {
    attribute(name, 3).bytes(number::STRING, value)
}

fn floats(name: &str, values: &[f32]) -> Message {
    attribute(name, 6).floats(number::FLOATS, values)
}

fn ints(name: &str, values: &[i64]) -> Message {
    values.iter().fold(attribute(name, 7), |all, &v| all.int(number::INTS, v))
}

fn strings(name: &str, values: &[String]) -> Message {
    values.iter().fold(attribute(name, 8), |all, v| all.bytes(number::STRINGS, v))
}

fn node(operator: &str, domain: &str, from: &[&str], to: &[&str], with: Vec<Message>) -> Message {
    let node = from.iter().fold(Message::default(), |n, v| n.bytes(number::NODE_INPUT, v));
    let node = to.iter().fold(node, |n, v| n.bytes(number::NODE_OUTPUT, v));
    node.bytes(number::NODE_NAME, operator)
        .bytes(number::OPERATOR, operator)
        .messages(number::ATTRIBUTE, with)
        .bytes(number::DOMAIN, domain)
}

/// A tensor of N rows: its name, the type of its entries, its columns.
fn tensor(name: &str, of: i64, columns: Option<usize>) -> Message {
    let rows = Message::default().bytes(2, "N");
    let columns = columns.map(|n| Message::default().int(1, n as i64));
    let shape = Message::default().messages(1, std::iter::once(rows).chain(columns));
    let kind = Message::default().message(1, Message::default().int(1, of).message(2, shape));
    Message::default().bytes(1, name).message(2, kind)
}

pub(super) fn write(plain: &Plain, notes: &mut Vec<String>) -> Result<Vec<u8>, Error> {
    let (k, n) = (plain.n_outputs(), plain.n_features);
    let mut weights = vec![0.0f32; k * n];
    let (mut rounded, mut is_finite) = (false, true);
    let mut narrow = |w: f64| {
        let narrow = w as f32;
        rounded |= f64::from(narrow) != w;
        is_finite &= narrow.is_finite();
        narrow
    };
    for (j, row) in plain.weights.chunks_exact(k).enumerate() {
        for (c, &w) in row.iter().enumerate() {
            weights[c * n + j] = narrow(w);
        }
    }
    let mut bias: Vec<f32> = plain.bias.iter().map(|&b| narrow(b)).collect();
    bias.resize(k, 0.0);
    if !is_finite {
        return Err(Error::request("ONNX has weights of single precision, and some are beyond it"));
    }
    if rounded {
        notes.push("weights are rounded to single precision, which ONNX has".to_owned());
    }

    let graph = match plain.task {
        Task::Regress => one_number(&weights, &bias),
        Task::Multilabel => several_labels(&weights, &bias),
        _ => classes(plain, weights, bias),
    };
    let graph = graph
        .bytes(number::GRAPH_NAME, "lineal")
        .message(number::INPUT, tensor("features", FLOAT, Some(n)));
    let opset = |domain: &str, version: i64| Message::default().bytes(1, domain).int(2, version);
    let entry = |key: &str, value: &[String]| {
        let value = serde_json::to_string(value).unwrap_or_default();
        Message::default().bytes(1, key).bytes(2, value)
    };
    let mut metadata = Vec::new();
    if plain.task == Task::Multilabel {
        metadata.push(entry(LABELS, &plain.names));
    }
    if !plain.feature_names.is_empty() {
        metadata.push(entry("lineal.features", &plain.feature_names));
    }
    Ok(Message::default()
        .int(number::IR_VERSION, 8)
        .bytes(number::PRODUCER, "lineal")
        .bytes(number::PRODUCER_VERSION, env!("CARGO_PKG_VERSION"))
        .message(number::GRAPH, graph)
        .messages(number::OPSET, [opset("", 13), opset(ML, 1)])
        .messages(number::METADATA, metadata)
        .into_bytes())
}

fn classes(plain: &Plain, mut weights: Vec<f32>, mut bias: Vec<f32>) -> Message {
    if plain.n_outputs() == 1 {
        // −f and f, as the operator wants a row for each class.
        weights.splice(0..0, weights.iter().map(|w| -w).collect::<Vec<_>>());
        bias = vec![-bias[0], bias[0]];
    }
    let has_proba = plain.loss == LossKind::Logistic;
    let one_by_one = has_proba && plain.is_ova && plain.n_outputs() > 1;
    let transform = match (has_proba, plain.n_outputs()) {
        _ if one_by_one => "NONE",
        (true, 1) => "LOGISTIC",
        (true, _) => "SOFTMAX",
        (false, _) => "NONE",
    };
    let shown = if has_proba { "probabilities" } else { "scores" };
    let scored = if one_by_one { "scores" } else { shown };
    let with = vec![
        floats("coefficients", &weights),
        floats("intercepts", &bias),
        strings("classlabels_strings", &plain.names),
        int("multi_class", i64::from(plain.n_outputs() > 1)),
        string("post_transform", transform),
    ];
    let mut nodes = vec![node("LinearClassifier", ML, &["features"], &["label", scored], with)];
    if one_by_one {
        let axes = vec![ints("axes", &[1]), int("keepdims", 1)];
        nodes.push(node("Sigmoid", "", &["scores"], &["each"], vec![]));
        nodes.push(node("ReduceL1", "", &["each"], &["sum"], axes));
        nodes.push(node("Div", "", &["each", "sum"], &[shown], vec![]));
    }
    Message::default().messages(number::NODE, nodes).messages(
        number::OUTPUT,
        [tensor("label", STRING, None), tensor(shown, FLOAT, Some(plain.names.len()))],
    )
}

fn regressor(weights: &[f32], bias: &[f32], to: &str) -> Message {
    let targets = int("targets", bias.len() as i64);
    let with = vec![floats("coefficients", weights), floats("intercepts", bias), targets];
    node("LinearRegressor", ML, &["features"], &[to], with)
}

fn one_number(weights: &[f32], bias: &[f32]) -> Message {
    Message::default()
        .message(number::NODE, regressor(weights, bias, "value"))
        .message(number::OUTPUT, tensor("value", FLOAT, Some(1)))
}

fn several_labels(weights: &[f32], bias: &[f32]) -> Message {
    let k = Some(bias.len());
    let zero = Message::default().int(2, FLOAT).floats(4, &[0.0]).bytes(8, "zero");
    Message::default()
        .messages(
            number::NODE,
            [
                regressor(weights, bias, "scores"),
                node("Greater", "", &["scores", "zero"], &["labels"], vec![]),
            ],
        )
        .message(number::INITIALIZER, zero)
        .messages(number::OUTPUT, [tensor("labels", BOOL, k), tensor("scores", FLOAT, k)])
}

/// Whether bytes look like an ONNX model: a message with a graph.
pub(super) fn is_model(bytes: &[u8]) -> bool {
    let is_graph = |(at, value): &(u64, Value<'_>)| *at == number::GRAPH && value.bytes().is_some();
    fields(bytes).is_some_and(|all| all.iter().any(is_graph))
}

/// A node of the graph.
#[cfg(feature = "train")]
struct Node<'a> {
    operator: &'a str,
    attributes: Vec<Vec<(u64, Value<'a>)>>,
}

#[cfg(feature = "train")]
impl<'a> Node<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let all = fields(bytes)?;
        let operator = text(&all, number::OPERATOR)?;
        let attributes = all.iter().filter(|(at, _)| *at == number::ATTRIBUTE);
        let attributes = attributes.map(|(_, value)| fields(value.bytes()?));
        Some(Self { operator, attributes: attributes.collect::<Option<_>>()? })
    }

    /// The values of a field of an attribute.
    fn values<'s>(&'s self, name: &str, field: u64) -> impl Iterator<Item = Value<'a>> + 's {
        let found = self.attributes.iter().find(|all| text(all, number::NAME) == Some(name));
        let values = found.into_iter().flatten();
        values.filter(move |(at, _)| *at == field).map(|(_, value)| *value)
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        self.values(name, number::FLOATS).filter_map(Value::floats).flatten().collect()
    }

    fn ints(&self, name: &str) -> Vec<i64> {
        self.values(name, number::INTS).filter_map(Value::ints).flatten().collect()
    }

    fn int(&self, name: &str) -> Option<i64> {
        self.values(name, number::INT).filter_map(Value::ints).flatten().next()
    }

    fn strings(&self, name: &str) -> Option<Vec<String>> {
        self.values(name, number::STRINGS).map(|v| v.text().map(str::to_owned)).collect()
    }

    fn string(&self, name: &str) -> Option<&'a str> {
        self.values(name, number::STRING).find_map(Value::text)
    }
}

#[cfg(feature = "train")]
fn text<'a>(all: &[(u64, Value<'a>)], field: u64) -> Option<&'a str> {
    all.iter().find(|(at, _)| *at == field).and_then(|(_, value)| value.text())
}

/// Operators around a linear model that do not change which class it predicts.
#[cfg(feature = "train")]
const HARMLESS: [&str; 8] =
    ["Cast", "Div", "Greater", "Identity", "Normalizer", "ReduceL1", "Sigmoid", "ZipMap"];

#[cfg(feature = "train")]
pub(super) fn read(bytes: &[u8]) -> Result<Plain, Error> {
    let damaged = || Error::request("it is damaged: its fields do not fit together");
    let model = fields(bytes).ok_or_else(damaged)?;
    let mut parts = model.iter().filter(|(at, _)| *at == number::GRAPH);
    let graph = parts.next().and_then(|(_, graph)| graph.bytes()).ok_or_else(damaged)?;
    let graph = fields(graph).ok_or_else(damaged)?;
    let nodes = graph.iter().filter(|(at, _)| *at == number::NODE);
    let nodes: Option<Vec<Node<'_>>> = nodes.map(|(_, node)| Node::read(node.bytes()?)).collect();
    let nodes = nodes.ok_or_else(damaged)?;
    let is_linear = |node: &&Node<'_>| node.operator.starts_with("Linear");
    if let Some(other) = nodes
        .iter()
        .find(|n| !is_linear(n) && n.operator != "Scaler" && !HARMLESS.contains(&n.operator))
    {
        return Err(Error::request(format!(
            "its operator {} is not read: a linear model is a LinearClassifier or a LinearRegressor, with a Scaler before it at most",
            other.operator
        )));
    }
    let mut linear = nodes.iter().filter(is_linear);
    let (Some(node), None) = (linear.next(), linear.next()) else {
        return Err(Error::request("it has not one linear operator, but none or several"));
    };
    let metadata = model.iter().filter(|(at, _)| *at == number::METADATA);
    let metadata = metadata.filter_map(|(_, entry)| fields(entry.bytes()?));
    let labels = metadata
        .filter(|entry| text(entry, 1) == Some(LABELS))
        .find_map(|entry| serde_json::from_str::<Vec<String>>(text(&entry, 2)?).ok());
    let is_one_by_one = nodes.iter().any(|n| matches!(n.operator, "Normalizer" | "ReduceL1"));
    let mut plain = match node.operator {
        "LinearClassifier" => classifier(node, is_one_by_one)?,
        "LinearRegressor" => regression(node, labels)?,
        other => return Err(Error::request(format!("its operator {other} is not read"))),
    };
    let at = |operator: &str| nodes.iter().position(|n| n.operator == operator);
    if let Some(scaler) = at("Scaler") {
        if at(node.operator) < Some(scaler) {
            return Err(Error::request("its Scaler does not stand before the linear operator"));
        }
        unscale(&mut plain, &nodes[scaler])?;
    }
    Ok(plain)
}

/// Weights of (x − offset) · scale, as weights of x.
#[cfg(feature = "train")]
fn unscale(plain: &mut Plain, scaler: &Node<'_>) -> Result<(), Error> {
    let n = plain.n_features;
    let [offset, scale] = ["offset", "scale"].map(|name| scaler.floats(name));
    let fits = |values: &[f32]| values.len() == n || values.len() == 1;
    if !fits(&offset) || !fits(&scale) {
        return Err(Error::request(format!(
            "its Scaler has {} offsets and {} scales for {n} features",
            offset.len(),
            scale.len()
        )));
    }
    let k = plain.n_outputs();
    plain.bias.resize(k, 0.0);
    let of = |values: &[f32], j: usize| f64::from(values[if values.len() == 1 { 0 } else { j }]);
    for (j, weights) in plain.weights.chunks_exact_mut(k).enumerate() {
        for (w, b) in weights.iter_mut().zip(&mut plain.bias) {
            *w *= of(&scale, j);
            *b -= *w * of(&offset, j);
        }
    }
    Ok(())
}

/// Weights feature by feature from those that a node has output by output, and their biases.
#[cfg(feature = "train")]
fn weights_of(node: &Node<'_>, k: usize) -> Result<(usize, Vec<f64>, Vec<f64>), Error> {
    let (rows, mut bias) = (node.floats("coefficients"), node.floats("intercepts"));
    if k == 0 || rows.is_empty() || !rows.len().is_multiple_of(k) || ![0, k].contains(&bias.len()) {
        return Err(Error::request(format!(
            "{} coefficients and {} intercepts do not fit {k} outputs",
            rows.len(),
            bias.len()
        )));
    }
    bias.resize(k, 0.0);
    let n = rows.len() / k;
    let at = |j: usize| rows[j..].iter().step_by(n).map(|&w| f64::from(w));
    Ok((n, (0..n).flat_map(at).collect(), bias.iter().map(|&b| f64::from(b)).collect()))
}

#[cfg(feature = "train")]
fn classifier(node: &Node<'_>, is_one_by_one: bool) -> Result<Plain, Error> {
    let damaged = || Error::request("the names of its classes are not text");
    let mut names = node.strings("classlabels_strings").ok_or_else(damaged)?;
    if names.is_empty() {
        names = node.ints("classlabels_ints").iter().map(i64::to_string).collect();
    }
    let n_rows =
        if names.len() == 2 && node.floats("intercepts").len() == 1 { 1 } else { names.len() };
    let (n_features, mut weights, mut bias) = weights_of(node, n_rows)?;
    let transform = node.string("post_transform").unwrap_or("NONE");
    let mut loss = match transform {
        "NONE" if is_one_by_one => LossKind::Logistic,
        "SOFTMAX" | "LOGISTIC" => LossKind::Logistic,
        _ => LossKind::Hinge,
    };
    if n_rows == 2 {
        let is_mirrored =
            [&weights, &bias].iter().all(|w| w.chunks_exact(2).all(|w| w[0] == -w[1]));
        // σ(f) of each class, or softmax: the second class leads by f, or by the difference.
        let lead = |w: &[f64]| -> Vec<f64> {
            let is_sigmoid = is_mirrored && transform != "SOFTMAX";
            w.chunks_exact(2).map(|w| if is_sigmoid { w[1] } else { w[1] - w[0] }).collect()
        };
        (weights, bias) = (lead(&weights), lead(&bias));
        if transform == "LOGISTIC" && !is_mirrored {
            loss = LossKind::Hinge;
        }
    }
    if names.len() < 2 {
        return Err(Error::request("it has fewer than two classes"));
    }
    Ok(Plain {
        task: Task::Classify,
        is_ova: names.len() > 2 && loss == LossKind::Logistic && transform != "SOFTMAX",
        names,
        n_features,
        weights,
        bias,
        loss,
        has_l1: false,
        feature_names: Vec::new(),
        feature_ids: None,
    })
}

#[cfg(feature = "train")]
fn regression(node: &Node<'_>, labels: Option<Vec<String>>) -> Result<Plain, Error> {
    let k = node.int("targets").unwrap_or(1);
    let task = if labels.is_some() { Task::Multilabel } else { Task::Regress };
    let names = labels.unwrap_or_default();
    let k = usize::try_from(k).unwrap_or(0);
    if k != names.len().max(1) {
        return Err(Error::request(format!(
            "it has {k} numbers per row, which no model here predicts; one number, or labels that {LABELS} names, are read"
        )));
    }
    let (n_features, weights, bias) = weights_of(node, k)?;
    let loss = if task == Task::Regress { LossKind::Squared } else { LossKind::Hinge };
    Ok(Plain {
        task,
        names,
        n_features,
        weights,
        bias,
        loss,
        is_ova: false,
        has_l1: false,
        feature_names: Vec::new(),
        feature_ids: None,
    })
}
