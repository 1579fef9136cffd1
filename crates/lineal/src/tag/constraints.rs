//! What is forbidden: by a scheme of spans, and by a list of transitions.

use super::spec::{Border, TagSpec};
use super::vectorize::read;
use crate::Error;
use lineal_chain::Grammar;
use std::path::Path;

/// How the border of a sequence is written.
const EDGE: &str = "<edge>";

/// Reads forbidden transitions: a line `FROM TO` each, separated by a tab or spaces, `<edge>` for the border of a sequence; `#` begins a comment.
pub fn read_forbidden(path: &Path) -> Result<Vec<(Border, Border)>, Error> {
    parse_forbidden(&read(path)?).map_err(|why| Error::request(format!("{}:{why}", path.display())))
}

/// The text of such a list. The error begins with the number of the line.
pub fn parse_forbidden(text: &str) -> Result<Vec<(Border, Border)>, String> {
    let border = |name: &str| match name {
        EDGE => Border::Edge,
        label => Border::Label(label.to_owned()),
    };
    let mut pairs = Vec::new();
    for (line, n) in text.lines().zip(1..) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with("# ") || line == "#" {
            continue;
        }
        let fields: Vec<&str> = match line.contains('\t') {
            true => line.split('\t').collect(),
            false => line.split_whitespace().collect(),
        };
        let [from, to] = fields[..] else {
            return Err(format!("{n}: `{line}` should be two labels: what must not follow what"));
        };
        if from == EDGE && to == EDGE {
            return Err(format!("{n}: a sequence lies between its borders; name a label"));
        }
        pairs.push((border(from), border(to)));
    }
    Ok(pairs)
}

/// Scheme and list together, for labels of these names.
pub(super) fn grammar(spec: &TagSpec, names: &[String]) -> Result<Grammar, Error> {
    let mut grammar = match spec.scheme {
        Some(scheme) => scheme.scheme().grammar(names)?,
        None => Grammar::free(names.len()),
    };
    let find = |border: &Border| match border {
        Border::Edge => Ok(None),
        Border::Label(name) => {
            names.iter().position(|known| known == name).map(Some).ok_or_else(|| {
                Error::request(format!(
                    "the forbidden transitions name `{name}`, which is not a label of the data: {}",
                    names.iter().take(20).cloned().collect::<Vec<_>>().join(", ")
                ))
            })
        }
    };
    for (from, to) in &spec.forbidden {
        match (find(from)?, find(to)?) {
            (Some(from), Some(to)) => grammar.forbid(from, to),
            (None, Some(to)) => grammar.forbid_start(to),
            (Some(from), None) => grammar.forbid_end(from),
            (None, None) => {}
        }
    }
    Ok(grammar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_pairs() {
        let label = |name: &str| Border::Label(name.into());
        assert_eq!(
            parse_forbidden("# note\nO I-X\n<edge>\tI X\nB-X <edge>\n\n").unwrap(),
            [
                (label("O"), label("I-X")),
                (Border::Edge, label("I X")),
                (label("B-X"), Border::Edge)
            ]
        );
        assert!(
            parse_forbidden("a b c").unwrap_err().starts_with("1: `a b c` should be two labels")
        );
        assert!(parse_forbidden("\n<edge> <edge>").unwrap_err().starts_with("2: "));
        let spec = TagSpec {
            forbidden: parse_forbidden("A B\n<edge> B\nA <edge>").unwrap(),
            ..TagSpec::default()
        };
        let grammar = grammar(&spec, &["A".into(), "B".into()]).unwrap();
        assert!(!grammar.permits(0, 1) && grammar.permits(1, 0));
        assert!(!grammar.permits_start(1) && !grammar.permits_end(0));
        let error = super::grammar(&spec, &["A".into()]).unwrap_err().to_string();
        assert!(error.contains("`B`"), "{error}");
    }
}
