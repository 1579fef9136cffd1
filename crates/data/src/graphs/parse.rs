//! A line of JSON into a graph, checked throughout.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::{Error, ErrorKind, count, quote};
use crate::images::VOID;
use crate::table::json::Json;

use super::GraphReadOptions;
use super::schema::FeatureNames;
use super::table::{Graphs, Place, Rows};

/// What reading needs to remember from line to line.
pub(super) struct Parser {
    learning: bool,
    require_labels: bool,
    /// Whether a node, and an edge, has been met: the first ones fix the form of the others.
    met: [bool; 2],
    /// Edges of the graph at hand, to find those that come back.
    seen: HashMap<[u32; 2], usize>,
}

/// Nodes or edges.
#[derive(Clone, Copy)]
enum Element {
    Node(usize),
    Edge(usize),
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Element::Node(i) => write!(f, "node {i}"),
            Element::Edge(i) => write!(f, "edge {i}"),
        }
    }
}

type Fault = (ErrorKind, String);

impl Parser {
    /// A parser that takes up features and their form from what it reads.
    pub(super) fn learning(options: &GraphReadOptions) -> Self {
        Self { learning: true, ..Self::applying(options) }
    }

    /// A parser that knows them.
    pub(super) fn applying(options: &GraphReadOptions) -> Self {
        let require_labels = options.require_labels;
        Self { learning: false, require_labels, met: [false; 2], seen: HashMap::new() }
    }

    /// Appends the graph of a line.
    pub(super) fn read(
        &mut self,
        line: &str,
        n_line: usize,
        data: &mut Graphs,
    ) -> Result<(), Error> {
        let file = data.source.clone();
        let refuse = |(kind, message): Fault| Error::in_line(kind, &file, n_line, None, message);
        let entries = match serde_json::from_str(line) {
            Ok(Json::Object(entries)) => entries,
            Ok(other) => {
                let message = format!(
                    "{other} is not an object; write {{\"nodes\": […], \"edges\": […], \"labels\": […]}}"
                );
                return Err(refuse((ErrorKind::Syntax, message)));
            }
            Err(e) => {
                let message = format!("not JSON: {e}");
                return Err(Error::in_line(
                    ErrorKind::Syntax,
                    &file,
                    n_line,
                    Some(e.column()),
                    message,
                ));
            }
        };
        self.graph(&entries, n_line, data).map_err(refuse)
    }

    fn graph(
        &mut self,
        entries: &[(Cow<'_, str>, Json<'_>)],
        line: usize,
        data: &mut Graphs,
    ) -> Result<(), Fault> {
        let find = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let Some(Json::List(nodes)) = find("nodes") else {
            return fault(
                ErrorKind::Columns,
                "the object has no list \"nodes\": one list or object of features per node",
            );
        };
        if nodes.is_empty() {
            return fault(ErrorKind::Empty, "the graph has no nodes; leave the line out");
        }
        if u32::try_from(nodes.len()).is_err() {
            return fault(
                ErrorKind::Value,
                format!("the graph has {}: too many", count(nodes.len(), "node")),
            );
        }
        for (at, node) in nodes.iter().enumerate() {
            self.features(node, Element::Node(at), data)?;
        }
        match find("edges") {
            None | Some(Json::Null) => {}
            Some(Json::List(edges)) => {
                self.seen.clear();
                for (at, edge) in edges.iter().enumerate() {
                    self.edge(edge, at, nodes.len(), data)?;
                }
            }
            Some(other) => {
                return fault(
                    ErrorKind::Columns,
                    format!("\"edges\" is {other}; write a list of edges [0, 1, [0.5]]"),
                );
            }
        }
        let had = data.gold.len();
        match find("labels") {
            None | Some(Json::Null) => data.gold.extend(nodes.iter().map(|_| VOID)),
            Some(Json::List(labels)) if labels.len() == nodes.len() => {
                for (node, label) in labels.iter().enumerate() {
                    data.gold.push(label_of(label, node, &mut data.labels, &mut data.label_index)?);
                }
            }
            Some(Json::List(labels)) => {
                let message = format!(
                    "there are {} for {}; write null where a label is not known",
                    count(labels.len(), "label"),
                    count(nodes.len(), "node")
                );
                return fault(ErrorKind::Label, message);
            }
            Some(other) => {
                return fault(
                    ErrorKind::Label,
                    format!("\"labels\" is {other}; write a list with one label per node"),
                );
            }
        }
        if self.require_labels && data.gold[had..].iter().all(|&label| label == VOID) {
            return fault(ErrorKind::Label, "the graph has no label; add \"labels\", one per node");
        }
        let weight = match find("weight") {
            None | Some(Json::Null) => 1.0,
            Some(value) => match value.number().map(|weight| weight as f32) {
                Some(weight) if weight.is_finite() && weight >= 0.0 => weight,
                _ => {
                    return fault(
                        ErrorKind::Weight,
                        format!("the weight {value} is not a number of 0 or more"),
                    );
                }
            },
        };
        let id = find("id");
        let id_is_number = matches!(id, Some(Json::Number(_)));
        let id = id.and_then(|id| id.name()).map_or_else(|| line.to_string(), Cow::into_owned);
        let (node_end, edge_end) = (data.gold.len(), data.ends.len());
        data.places.push(Place { id, id_is_number, line, weight, node_end, edge_end });
        Ok(())
    }

    fn edge(
        &mut self,
        edge: &Json<'_>,
        at: usize,
        n_nodes: usize,
        data: &mut Graphs,
    ) -> Result<(), Fault> {
        let one = Json::List(vec![Json::Number(1.0)]);
        let (first, second, features) = match edge {
            Json::List(parts) => match &parts[..] {
                [first, second] => (first, second, &one),
                [first, second, features] => (first, second, features),
                _ => {
                    return fault(
                        ErrorKind::Syntax,
                        format!(
                            "edge {at} is a list of {}; write [0, 1, [0.5]]: two nodes and features",
                            parts.len()
                        ),
                    );
                }
            },
            other => {
                return fault(
                    ErrorKind::Syntax,
                    format!("edge {at} is {other}; write [0, 1, [0.5]]: two nodes and features"),
                );
            }
        };
        let mut ends = [0; 2];
        for (end, value) in ends.iter_mut().zip([first, second]) {
            let number =
                value.number().filter(|v| v.fract() == 0.0 && *v >= 0.0 && *v < n_nodes as f64);
            let Some(number) = number else {
                let message = format!(
                    "edge {at} joins node {value}, and there are {}, counted from 0",
                    count(n_nodes, "node")
                );
                return fault(ErrorKind::Value, message);
            };
            *end = number as u32;
        }
        ends.sort_unstable();
        if ends[0] == ends[1] {
            return fault(
                ErrorKind::Value,
                format!("edge {at} joins node {} to itself; remove it", ends[0]),
            );
        }
        if let Some(before) = self.seen.insert(ends, at) {
            let message = format!(
                "edge {at} joins nodes {} and {} as edge {before} does; make them one edge",
                ends[0], ends[1]
            );
            return fault(ErrorKind::Value, message);
        }
        self.features(features, Element::Edge(at), data)?;
        data.ends.push(ends);
        Ok(())
    }

    /// Appends a row of features of a node or an edge.
    fn features(&mut self, value: &Json<'_>, of: Element, data: &mut Graphs) -> Result<(), Fault> {
        let is_edge = matches!(of, Element::Edge(_));
        let met = &mut self.met[usize::from(is_edge)];
        let may_grow = self.learning;
        let (names, rows) = match is_edge {
            false => (&mut data.schema.nodes, &mut data.nodes),
            true => (&mut data.schema.edges, &mut data.edges),
        };
        if may_grow && !*met {
            *names = match value {
                Json::Object(_) => FeatureNames::Named(Vec::new()),
                Json::List(list) => FeatureNames::Numbered(list.len()),
                _ => FeatureNames::Numbered(0),
            };
        }
        *met = true;
        match (value, names) {
            (Json::List(list), FeatureNames::Numbered(n)) if list.len() == *n => {
                for (feature, value) in list.iter().enumerate() {
                    rows.push(feature as u32, number(value, feature, of)?);
                }
            }
            (Json::List(list), FeatureNames::Numbered(n)) => {
                let message = format!(
                    "{of} has {}, and others have {n}; give all the same",
                    count(list.len(), "feature")
                );
                return Err((ErrorKind::Columns, message));
            }
            (Json::Object(entries), FeatureNames::Named(names)) => {
                let start = rows.idx.len();
                for (name, value) in entries {
                    let value = number(value, quote(&**name), of)?;
                    let feature = match rows.index.get(&**name) {
                        Some(&feature) => feature,
                        None if may_grow => {
                            let feature = names.len() as u32;
                            names.push(name.clone().into_owned());
                            rows.index.insert(name.clone().into_owned(), feature);
                            feature
                        }
                        None => {
                            data.left_out.add(name, if is_edge { "edges" } else { "nodes" });
                            continue;
                        }
                    };
                    rows.push(feature, value);
                }
                rows.sort_from(start);
            }
            (Json::List(_), FeatureNames::Named(_)) => {
                return fault(
                    ErrorKind::Columns,
                    format!(
                        "{of} has a list of features where others have names; write {{\"name\": value}} for all"
                    ),
                );
            }
            (Json::Object(_), FeatureNames::Numbered(_)) => {
                return fault(
                    ErrorKind::Columns,
                    format!(
                        "{of} has features by name where others have a list; write lists for all"
                    ),
                );
            }
            (other, _) => {
                return fault(
                    ErrorKind::Syntax,
                    format!(
                        "the features of {of} are {other}; write a list of numbers, or an object"
                    ),
                );
            }
        }
        rows.ends.push(rows.idx.len());
        Ok(())
    }
}

impl Rows {
    fn push(&mut self, feature: u32, value: f32) {
        if value != 0.0 {
            self.idx.push(feature);
            self.val.push(value);
        }
    }

    /// Sorts the entries of the last row, which start here.
    fn sort_from(&mut self, start: usize) {
        if self.idx[start..].is_sorted() {
            return;
        }
        let mut entries: Vec<(u32, f32)> =
            self.idx[start..].iter().copied().zip(self.val[start..].iter().copied()).collect();
        entries.sort_unstable_by_key(|&(feature, _)| feature);
        for (at, (feature, value)) in entries.into_iter().enumerate() {
            self.idx[start + at] = feature;
            self.val[start + at] = value;
        }
    }
}

/// A finite value, of an edge not below 0.
fn number(value: &Json<'_>, name: impl std::fmt::Display, of: Element) -> Result<f32, Fault> {
    let number = match value {
        Json::Bool(is) => Some(f32::from(*is)),
        value => value.number().map(|v| v as f32),
    };
    match number {
        None => fault(ErrorKind::Value, format!("feature {name} of {of} is {value}, not a number")),
        Some(v) if !v.is_finite() => {
            fault(ErrorKind::Value, format!("feature {name} of {of} is {value}: too large"))
        }
        Some(v) if v < 0.0 && matches!(of, Element::Edge(_)) => fault(
            ErrorKind::Value,
            format!(
                "feature {name} of {of} is {value}; features of edges must be 0 or more: they say how much two nodes belong together"
            ),
        ),
        Some(v) => Ok(v),
    }
}

fn label_of(
    label: &Json<'_>,
    node: usize,
    labels: &mut Vec<String>,
    index: &mut HashMap<String, u32>,
) -> Result<u32, Fault> {
    if *label == Json::Null {
        return Ok(VOID);
    }
    let Some(name) = label.name().filter(|name| !name.is_empty()) else {
        return fault(
            ErrorKind::Label,
            format!("the label of node {node} is {label}; write a name, or null"),
        );
    };
    if let Some(&label) = index.get(&*name) {
        return Ok(label);
    }
    let new = labels.len() as u32;
    labels.push(name.clone().into_owned());
    index.insert(name.into_owned(), new);
    Ok(new)
}

fn fault<T>(kind: ErrorKind, message: impl Into<String>) -> Result<T, Fault> {
    Err((kind, message.into()))
}
