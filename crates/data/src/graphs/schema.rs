//! What the features and labels of graphs are.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::{count, quote};

/// Features of nodes or of edges: as many as a list has, or by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureNames {
    /// Lists of so many numbers.
    Numbered(usize),
    /// Objects; the names of the features by number, in the order in which they came.
    Named(Vec<String>),
}

/// More numbered features than this are a mistake.
const MOST_NUMBERED: usize = 10_000_000;

impl FeatureNames {
    /// How many features.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbered(n) => *n,
            Self::Named(names) => names.len(),
        }
    }

    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a feature; numbers count from 0.
    pub fn name(&self, feature: usize) -> String {
        match self {
            Self::Numbered(_) => feature.to_string(),
            Self::Named(names) => names.get(feature).cloned().unwrap_or_default(),
        }
    }

    fn check(&self, what: &str) -> Result<(), String> {
        match self {
            Self::Numbered(n) if *n > MOST_NUMBERED => {
                Err(format!("the {what}s are {n}, more than the {MOST_NUMBERED} that are possible"))
            }
            Self::Numbered(_) => Ok(()),
            Self::Named(names) => unique(names, what),
        }
    }
}

/// What a model must know of the graphs that it was trained on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphSchema {
    /// The labels of nodes, by number, in the order in which they came.
    pub labels: Vec<String>,
    /// Features of nodes.
    pub nodes: FeatureNames,
    /// Features of edges.
    pub edges: FeatureNames,
}

impl GraphSchema {
    /// Whether labels and features have names of their own.
    pub fn check(&self) -> Result<(), String> {
        unique(&self.labels, "label")?;
        self.nodes.check("feature of nodes")?;
        self.edges.check("feature of edges")
    }
}

/// Values of features that training did not have: nothing has been learnt about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub n_values: usize,
    /// The first few of the features, and what they are features of.
    pub names: Vec<String>,
}

impl LeftOut {
    /// Features that are named.
    const SHOWN: usize = 3;

    pub(super) fn add(&mut self, name: &str, of: &str) {
        self.n_values += 1;
        if self.names.len() < Self::SHOWN {
            self.name(format!("{} of {of}", quote(name)));
        }
    }

    /// Adds what another part of the data has.
    pub fn merge(&mut self, other: &Self) {
        self.n_values += other.n_values;
        other.names.iter().for_each(|name| self.name(name.clone()));
    }

    fn name(&mut self, name: String) {
        if self.names.len() < Self::SHOWN && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// In one sentence; nothing if nothing was left out.
    pub fn in_words(&self) -> Option<String> {
        let more = if self.names.len() == Self::SHOWN { ", …" } else { "" };
        (self.n_values > 0).then(|| {
            format!(
                "left out {} of features that training did not have: {}{more}",
                count(self.n_values, "value"),
                self.names.join(", ")
            )
        })
    }
}

fn unique(names: &[String], what: &str) -> Result<(), String> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(format!("the {what} {} is there twice", quote(name))),
    }
}
