//! The text file of LIBLINEAR's `train` (`linear.cpp`, `save_model`):
//!
//! ```text
//! solver_type L2R_LR
//! nr_class 2
//! label 1 -1
//! nr_feature 13
//! bias -1
//! w
//! 0.5
//! …
//! ```
//!
//! After `w` there is one line per feature with a weight for each class, or one weight for two classes, which speaks for the first label. A bias b ≥ 0 is the value of a last
//! feature.

use super::plain::Plain;
use crate::Error;
use crate::request::spec::{LossKind, Task};
use std::fmt::Write;

/// What a solver of LIBLINEAR trains.
struct Kind {
    name: &'static str,
    task: Task,
    loss: LossKind,
    is_l1: bool,
    /// Classes together: weights for each of them, also of two.
    is_joint: bool,
}

const fn kind(name: &'static str, task: Task, loss: LossKind) -> Kind {
    Kind { name, task, loss, is_l1: false, is_joint: false }
}

const KINDS: [Kind; 11] = [
    kind("L2R_LR", Task::Classify, LossKind::Logistic),
    kind("L2R_L2LOSS_SVC", Task::Classify, LossKind::SquaredHinge),
    kind("L2R_L1LOSS_SVC_DUAL", Task::Classify, LossKind::Hinge),
    Kind { is_joint: true, ..kind("MCSVM_CS", Task::Classify, LossKind::Hinge) },
    Kind { is_l1: true, ..kind("L1R_L2LOSS_SVC", Task::Classify, LossKind::SquaredHinge) },
    Kind { is_l1: true, ..kind("L1R_LR", Task::Classify, LossKind::Logistic) },
    kind("L2R_L2LOSS_SVC_DUAL", Task::Classify, LossKind::SquaredHinge),
    kind("L2R_LR_DUAL", Task::Classify, LossKind::Logistic),
    kind("L2R_L1LOSS_SVR_DUAL", Task::Regress, LossKind::Epsilon),
    kind("L2R_L2LOSS_SVR", Task::Regress, LossKind::Squared),
    kind("L2R_L2LOSS_SVR_DUAL", Task::Regress, LossKind::Squared),
];

/// A file of more weights than these is not written: numbers of features that do not occur have lines of zeros.
const MOST_WEIGHTS: usize = 1 << 28;

pub(super) fn write(plain: &Plain, notes: &mut Vec<String>) -> Result<Vec<u8>, Error> {
    if plain.task == Task::Multilabel {
        return Err(Error::request(
            "LIBLINEAR has no models of several labels per row; write onnx",
        ));
    }
    let k = plain.n_outputs();
    // Classes that were trained together, and LIBLINEAR does so by MCSVM_CS alone.
    let is_joint = k > 1 && !plain.is_ova;
    let fits = |kind: &&Kind| {
        let same = kind.task == plain.task && kind.is_joint == is_joint;
        same && kind.loss == plain.loss && (kind.is_l1 == plain.has_l1 || is_joint)
    };
    let fallback = |kind: &&Kind| match (plain.task, is_joint) {
        (Task::Regress, _) => kind.name == "L2R_L2LOSS_SVR",
        (_, true) => kind.is_joint,
        (_, false) => kind.name == "L2R_L2LOSS_SVC",
    };
    let found = KINDS.iter().find(fits).or_else(|| {
        let kind = KINDS.iter().find(fallback)?;
        let lost = if plain.loss == LossKind::Logistic { ", without probabilities" } else { "" };
        notes.push(format!(
            "LIBLINEAR has no such model of the {} loss: it is called {}, which predicts the same{lost}",
            plain.loss, kind.name
        ));
        Some(kind)
    });
    let kind = found.ok_or_else(|| Error::request("LIBLINEAR has no such model"))?;
    let ids = plain.feature_ids.as_deref();
    let n = ids.map_or(plain.n_features, |ids| ids.last().map_or(0, |&id| id as usize));
    if n.checked_mul(k).is_none_or(|n| n > MOST_WEIGHTS) {
        return Err(Error::request(format!(
            "a LIBLINEAR file needs a line for every feature up to number {n}, even for features that do not occur; that is too many"
        )));
    }

    let mut text = format!("solver_type {}\nnr_class {}\n", kind.name, plain.names.len().max(2));
    if plain.task == Task::Classify {
        let mut labels = labels(&plain.names, notes);
        if k == 1 {
            labels.reverse();
        }
        let _ = writeln!(text, "label {}", labels.join(" "));
    }
    let bias = if plain.bias.is_empty() { -1 } else { 1 };
    let _ = write!(text, "nr_feature {n}\nbias {bias}\nw\n");
    let mut line = |weights: &[f64]| {
        // Debug writes 1e-7 where Display writes all the zeros; both read back to the same bits.
        for w in weights {
            let _ = write!(text, "{w:?} ");
        }
        text.push('\n');
    };
    let zeros = vec![0.0; k];
    let mut next = 1;
    for (j, weights) in plain.weights.chunks_exact(k).enumerate() {
        let id = ids.map_or(j + 1, |ids| ids[j] as usize);
        (next..id).for_each(|_| line(&zeros));
        line(weights);
        next = id + 1;
    }
    if !plain.bias.is_empty() {
        line(&plain.bias);
    }
    Ok(text.into_bytes())
}

/// LIBLINEAR's labels are whole numbers.
fn labels(names: &[String], notes: &mut Vec<String>) -> Vec<String> {
    if names.iter().all(|name| name.parse::<i32>().is_ok_and(|id| id.to_string() == *name)) {
        return names.to_vec();
    }
    let numbers: Vec<String> = (1..=names.len()).map(|id| id.to_string()).collect();
    let pairs: Vec<String> =
        numbers.iter().zip(names).take(50).map(|(id, name)| format!("{id} {name}")).collect();
    let more = if names.len() > 50 { ", …" } else { "" };
    notes.push(format!("labels are written as numbers: {}{more}", pairs.join(", ")));
    numbers
}

#[cfg(feature = "train")]
pub(super) fn read(bytes: &[u8]) -> Result<Plain, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Error::request("it begins like a model of LIBLINEAR, but is not text"))?;
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let header = Header::read(&mut lines)?;
    let kind = header.kind;
    // `train` of LIBLINEAR writes one column for two classes, but for MCSVM_CS.
    let one = kind.task == Task::Regress || header.n_classes == 2 && !kind.is_joint;
    let width = if one { 1 } else { header.n_classes };
    let mut weights = Vec::new();
    let mut n_lines = 0;
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let before = weights.len();
        for word in line.split_ascii_whitespace() {
            let w = word.parse::<f64>().ok().filter(|w| w.is_finite());
            weights.push(w.ok_or_else(|| {
                at_line(at, format!("the weight `{word}` is not a finite number"))
            })?);
        }
        if weights.len() - before != width {
            return Err(at_line(
                at,
                format!("{} weights, where {width} belong", weights.len() - before),
            ));
        }
        n_lines += 1;
    }
    let n_biases = usize::from(header.bias >= 0.0);
    if n_lines != header.n_features.saturating_add(n_biases) {
        return Err(Error::request(format!(
            "{n_lines} lines of weights; nr_feature {} and bias {} ask for {}",
            header.n_features,
            header.bias,
            header.n_features.saturating_add(n_biases)
        )));
    }
    let mut bias = weights.split_off(header.n_features * width);
    bias.iter_mut().for_each(|b| *b *= header.bias);
    let mut names = header.labels;
    if one {
        // Its weights speak for the first label, ours for the second.
        names.reverse();
    } else if header.n_classes == 2 {
        let lead = |w: &[f64]| w.chunks_exact(2).map(|w| w[1] - w[0]).collect();
        (weights, bias) = (lead(&weights), lead(&bias));
    }
    Ok(Plain {
        task: kind.task,
        names,
        n_features: header.n_features,
        weights,
        bias,
        loss: kind.loss,
        is_ova: !one && !kind.is_joint,
        has_l1: kind.is_l1,
        feature_names: Vec::new(),
        feature_ids: None,
    })
}

#[cfg(feature = "train")]
fn at_line(line: usize, why: impl std::fmt::Display) -> Error {
    Error::request(format!("line {line}: {why}"))
}

/// What stands before the weights.
#[cfg(feature = "train")]
struct Header {
    kind: &'static Kind,
    n_classes: usize,
    labels: Vec<String>,
    n_features: usize,
    bias: f64,
}

#[cfg(feature = "train")]
impl Header {
    fn read<'t>(lines: &mut impl Iterator<Item = (usize, &'t str)>) -> Result<Self, Error> {
        let (mut kind, mut n_classes, mut labels) = (None, None, Vec::new());
        let (mut n_features, mut bias) = (None, None);
        for (at, line) in lines {
            let (key, value) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            let count = || {
                let n = value.trim().parse::<usize>();
                n.map_err(|_| at_line(at, format!("{key} `{value}` is not a whole number")))
            };
            match key {
                "solver_type" => {
                    let found = KINDS.iter().find(|kind| kind.name == value.trim());
                    let why = || format!("models of the solver {value} are not read");
                    kind = Some(found.ok_or_else(|| at_line(at, why()))?);
                }
                "nr_class" => n_classes = Some(count()?),
                "nr_feature" => n_features = Some(count()?),
                "label" => labels = value.split_ascii_whitespace().map(str::to_owned).collect(),
                "bias" => {
                    let number = value.trim().parse::<f64>().ok().filter(|b| b.is_finite());
                    bias = number;
                    number.ok_or_else(|| at_line(at, format!("bias `{value}` is not a number")))?;
                }
                "w" => break,
                _ => return Err(at_line(at, format!("`{key}` is not known"))),
            }
        }
        let missing = |what: &str| Error::request(format!("there is no line {what}"));
        let kind: &Kind = kind.ok_or_else(|| missing("solver_type"))?;
        let n_classes = n_classes.ok_or_else(|| missing("nr_class"))?;
        if kind.task == Task::Classify && (labels.len() != n_classes || n_classes < 2) {
            return Err(Error::request(format!(
                "nr_class {n_classes}, but {} labels",
                labels.len()
            )));
        }
        if kind.task == Task::Regress {
            labels.clear();
        }
        Ok(Self {
            kind,
            n_classes,
            labels,
            n_features: n_features.ok_or_else(|| missing("nr_feature"))?,
            bias: bias.ok_or_else(|| missing("bias"))?,
        })
    }
}
