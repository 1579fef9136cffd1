//! Feature maps in the program: how they are described.

use lineal::map::{FeatureMap, MapSpec};
use lineal::templates::Templates;
use serde_json::{Value, json};

use crate::talk::{count, rough};

/// `5 templates, hashed into 2^18 features for each of 2 parts of the class`.
pub fn templates_in_one_line(templates: &Templates) -> String {
    let (n, bits) = (count(templates.len(), "template"), templates.bits());
    let parts = match templates.n_features() >> bits {
        1 => String::new(),
        n_parts => format!(" for each of {n_parts} parts of the class"),
    };
    format!("{n}, hashed into 2^{bits} features{parts}")
}

/// `age*city, poly:2 of 3 numbers: 14 more features`.
pub fn one_line(map: &FeatureMap, names: impl Fn(usize) -> String) -> String {
    let columns = map.columns();
    let n_numbers = columns.numbers.iter().map(|span| span.len()).sum();
    let mut parts: Vec<String> = Vec::new();
    for [a, b] in &columns.crosses {
        let name = |span: &std::ops::Range<u32>| {
            let first = names(span.start as usize);
            match first.split_once('=') {
                Some((column, _)) if span.len() > 1 => column.to_owned(),
                _ => first,
            }
        };
        parts.push(format!("{}*{}", name(a), name(b)));
    }
    if let Some(spec) = columns.map {
        let gamma = match (spec, map.gamma()) {
            (MapSpec::Rff { gamma: None, .. }, Some(gamma)) => format!(" (γ = {})", rough(gamma)),
            _ => String::new(),
        };
        parts.push(format!("{spec}{gamma} of {}", count(n_numbers, "number")));
    }
    format!("{}: {}", parts.join(", "), count(map.n_computed(), "more feature"))
}

/// The same for scripts.
pub fn as_json(map: &FeatureMap) -> Value {
    json!({"map": map.columns().map, "gamma": map.gamma(), "interactions": map.columns().crosses.len(),
           "features": map.n_computed()})
}
