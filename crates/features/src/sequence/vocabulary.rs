//! A short vocabulary of features, written out as templates.

use super::Error;
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Writes a list of features out as a template file for [`Templates::parse`](super::Templates::parse).
///
/// The words are in column 0. Items are separated by commas:
///
/// | item | reads |
/// |---|---|
/// | `word` | the word |
/// | `lower` | the word in lower case |
/// | `shape` | `McDonald-80s` → `XxXx-0x` |
/// | `prefix:1-4` | the first 1, 2, 3 and 4 characters; `prefix:3` only the first 3 |
/// | `suffix:1-4` | the last ones |
/// | `digits` | words with digits, each run of them as `0` |
/// | `caps` | `upper`, `title`, `lower` or `mixed` |
/// | `column:1` | another column, such as the part of speech; `column:1-3` several |
/// | `cross:1` | the word together with column 1: both here, either with the other's neighbours |
/// | `transition:1` | transitions between labels, told apart by column 1 of the token before and of the token |
/// | `bias` | nothing: how frequent a label is |
/// | `window:2` | spreads the others over the neighbours |
/// | `rich` | a list that serves chunks, entities and parts of speech: see [`FeatureColumns::rich`] |
///
/// Without `window` each item reads its own token. `window:N` makes `word`, `lower` and `column` read each token from N before to N after; of `word`
/// and `lower` it adds the pairs with the neighbour on either side, and of `column` all pairs and triples of neighbours in the window. So
/// `word,column:1,window:2` is the template of 19 rows that CRF++ ships for chunking. The others read their own token, or with `@N` (`suffix:3@1`) also the N to either side.
///
/// Transitions between labels are always among the features. `transition` has K² weights for each value of the column, and more than doubles the work.
///
/// ```
/// use lineal_features::sequence::{Templates, expand};
/// let templates = Templates::parse(&expand("word,column:1,window:2")?)?;
/// assert_eq!(templates.n_unary(), 19);
/// assert!(expand("wrod").unwrap_err().to_string().contains("`wrod`"));
/// # Ok::<(), lineal_features::sequence::Error>(())
/// ```
pub fn expand(features: &str) -> Result<String, Error> {
    expand_at(features, &FeatureColumns::default())
}

/// Which columns there are to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureColumns {
    /// The column with the words.
    pub words: u32,
    /// The others that `rich` reads.
    pub others: Vec<u32>,
    /// Those of them with so few values that transitions can be told apart by them.
    pub few_values: Vec<u32>,
}

impl FeatureColumns {
    /// What `rich` stands for.
    ///
    /// ```
    /// use lineal_features::sequence::FeatureColumns;
    /// let columns = FeatureColumns { words: 0, others: vec![1], few_values: vec![1] };
    /// assert!(columns.rich().ends_with(",column:1,cross:1,transition:1"));
    /// ```
    pub fn rich(&self) -> String {
        let mut list =
            "lower,word@1,window:2,prefix:1-4,suffix:1-4,suffix:2-3@1,shape@1,caps,digits"
                .to_owned();
        for column in &self.others {
            list.push_str(&format!(",column:{column},cross:{column}"));
        }
        for column in &self.few_values {
            list.push_str(&format!(",transition:{column}"));
        }
        list
    }
}

/// As [`expand`], where the words are in another column or `rich` has others to read.
pub fn expand_at(features: &str, columns: &FeatureColumns) -> Result<String, Error> {
    let rich = columns.rich();
    let words = columns.words;
    let items: Vec<Item<'_>> = features
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .flat_map(|item| if item == "rich" { rich.split(',') } else { item.split(',') })
        .map(Item::parse)
        .collect::<Result<_, _>>()?;
    let windows: Vec<i32> = items.iter().filter(|i| i.name == "window").map(|i| i.window).collect();
    let window = match windows[..] {
        [] => None,
        [n] => Some(n),
        _ => {
            return Err(Error::Feature {
                item: features.into(),
                problem: "window is given twice".into(),
            });
        }
    };
    let mut lines = String::new();
    for item in &items {
        item.write(words, window, &mut lines);
    }
    let mut seen = HashSet::new();
    let mut out = String::new();
    for line in lines.lines().filter(|line| seen.insert(*line)) {
        out.push_str(line);
        out.push('\n');
    }
    if out.is_empty() {
        let problem = "nothing to read: name at least one of word, lower, shape, prefix, suffix, digits, caps, column, cross, bias";
        return Err(Error::Feature { item: features.into(), problem: problem.into() });
    }
    out.push_str("B\n");
    Ok(out)
}

struct Item<'a> {
    name: &'a str,
    /// Lengths of prefixes and suffixes, or columns.
    range: RangeInclusive<u32>,
    /// After `@`, or of `window`.
    window: i32,
    has_window: bool,
}

impl<'a> Item<'a> {
    fn parse(text: &'a str) -> Result<Self, Error> {
        let error = |problem: String| Error::Feature { item: text.to_string(), problem };
        let number =
            |digits: &str, least: u32, most: u32| {
                digits.parse::<u32>().ok().filter(|n| (least..=most).contains(n)).ok_or_else(|| {
                    error(format!("`{digits}` is not a number from {least} to {most}"))
                })
            };
        let (head, at) = match text.split_once('@') {
            Some((head, at)) => (head, Some(number(at, 0, 20)?)),
            None => (text, None),
        };
        let (name, argument) = match head.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (head, None),
        };
        let mut item =
            Self { name, range: 0..=0, window: at.unwrap_or(0) as i32, has_window: at.is_some() };
        match (name, argument) {
            ("word" | "lower" | "shape" | "digits" | "caps" | "bias", None) => {}
            ("word" | "lower" | "shape" | "digits" | "caps" | "bias", Some(_)) => {
                return Err(error(format!("`{name}` takes no number")));
            }
            ("prefix" | "suffix" | "column" | "cross" | "transition", Some(argument)) => {
                let (least, most) = if name.ends_with("fix") { (1, 99) } else { (0, 9999) };
                let (from, to) = argument.split_once('-').unwrap_or((argument, argument));
                item.range = number(from, least, most)?..=number(to, least, most)?;
                if item.range.is_empty() {
                    return Err(error(format!(
                        "from {from} to {to} is nothing: write the lower first"
                    )));
                }
            }
            ("window", Some(argument)) if at.is_none() => {
                item.window = number(argument, 0, 20)? as i32
            }
            ("prefix" | "suffix" | "column" | "cross" | "transition" | "window", _) => {
                return Err(error(format!("write `{name}:2`")));
            }
            _ => {
                return Err(error(
                    "unknown: choose of word, lower, shape, prefix:1-4, suffix:1-4, digits, caps, column:1, cross:1, transition:1, bias, window:2, rich".into(),
                ));
            }
        }
        Ok(item)
    }

    fn write(&self, words: u32, window: Option<i32>, out: &mut String) {
        let reads_neighbours = matches!(self.name, "word" | "lower" | "column");
        // Writing to a string cannot fail.
        let mut line = |name: &str, view: &str, column: u32, from: i32, to: i32| {
            let _ = write!(out, "U:{name}[{from}");
            if to > from {
                let _ = write!(out, "..{to}");
            }
            let _ = write!(out, "]=");
            for offset in from..=to {
                let slash = if offset > from { "/" } else { "" };
                let _ = write!(out, "{slash}%x[{offset},{column}{view}]");
            }
            out.push('\n');
        };
        let mut spread = |name: &str, view: &str, column: u32| match window {
            Some(n) if reads_neighbours && !self.has_window => {
                for offset in -n..=n {
                    line(name, view, column, offset, offset);
                }
                let (pairs, triples) = if self.name == "column" { (n, n) } else { (n.min(1), 0) };
                for offset in -pairs..pairs {
                    line(name, view, column, offset, offset + 1);
                }
                for offset in -triples..triples - 1 {
                    line(name, view, column, offset, offset + 2);
                }
            }
            _ => {
                for offset in -self.window..=self.window {
                    line(name, view, column, offset, offset);
                }
            }
        };
        match self.name {
            "word" => spread("word", "", words),
            "lower" | "shape" | "digits" | "caps" => {
                spread(self.name, &format!(",{}", self.name), words)
            }
            "column" => {
                for column in self.range.clone() {
                    spread(&format!("column{column}"), "", column);
                }
            }
            "prefix" | "suffix" => {
                for n in self.range.clone() {
                    spread(&format!("{}{n}", self.name), &format!(",{}:{n}", self.name), words);
                }
            }
            "cross" => {
                for column in self.range.clone() {
                    for (word, other) in [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)] {
                        let _ = writeln!(
                            out,
                            "U:cross{column}[{word},{other}]=%x[{word},{words}]/%x[{other},{column}]"
                        );
                    }
                }
            }
            "transition" => {
                for column in self.range.clone() {
                    for offset in [-1, 0] {
                        let _ = writeln!(out, "B:column{column}[{offset}]=%x[{offset},{column}]");
                    }
                }
            }
            "bias" => out.push_str("U:bias\n"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::Templates;

    #[test]
    fn items_are_written_out() {
        assert_eq!(expand("word").unwrap(), "U:word[0]=%x[0,0]\nB\n");
        let columns = FeatureColumns { words: 2, others: vec![0, 1], few_values: vec![1] };
        assert_eq!(expand_at("rich", &columns), expand_at(&columns.rich(), &columns));
        let both = expand_at("bias, rich", &columns).unwrap();
        for line in
            ["U:bias", "U:lower[2]=%x[2,2,lower]", "U:column0[0]=%x[0,0]", "B:column1[0]=%x[0,1]"]
        {
            assert!(both.lines().any(|l| l == line), "{line}");
        }
        assert!(!both.contains("B:column0"));
        assert!(expand("rich,window:1").unwrap_err().to_string().contains("twice"));
        assert_eq!(
            expand("lower, window:1").unwrap(),
            "U:lower[-1]=%x[-1,0,lower]\nU:lower[0]=%x[0,0,lower]\nU:lower[1]=%x[1,0,lower]\n\
             U:lower[-1..0]=%x[-1,0,lower]/%x[0,0,lower]\nU:lower[0..1]=%x[0,0,lower]/%x[1,0,lower]\nB\n"
        );
        assert_eq!(
            expand("suffix:2-3@1,bias").unwrap().lines().collect::<Vec<_>>(),
            [
                "U:suffix2[-1]=%x[-1,0,suffix:2]",
                "U:suffix2[0]=%x[0,0,suffix:2]",
                "U:suffix2[1]=%x[1,0,suffix:2]",
                "U:suffix3[-1]=%x[-1,0,suffix:3]",
                "U:suffix3[0]=%x[0,0,suffix:3]",
                "U:suffix3[1]=%x[1,0,suffix:3]",
                "U:bias",
                "B"
            ]
        );
        assert_eq!(
            expand("cross:1,transition:1,suffix:2,suffix:2").unwrap().lines().collect::<Vec<_>>(),
            [
                "U:cross1[0,0]=%x[0,0]/%x[0,1]",
                "U:cross1[-1,0]=%x[-1,0]/%x[0,1]",
                "U:cross1[1,0]=%x[1,0]/%x[0,1]",
                "U:cross1[0,-1]=%x[0,0]/%x[-1,1]",
                "U:cross1[0,1]=%x[0,0]/%x[1,1]",
                "B:column1[-1]=%x[-1,1]",
                "B:column1[0]=%x[0,1]",
                "U:suffix2[0]=%x[0,0,suffix:2]",
                "B"
            ]
        );
        let all = "word,lower,shape,prefix:1-4,suffix:1-4,window:2,column:1,digits,caps,bias";
        assert!(Templates::parse(&expand(all).unwrap()).is_ok());
    }

    #[test]
    fn mistakes_are_named() {
        for (features, want) in [
            ("word,upper", "feature `upper`: unknown"),
            ("prefix", "feature `prefix`: write `prefix:2`"),
            ("prefix:4-1", "feature `prefix:4-1`: from 4 to 1"),
            ("prefix:0", "feature `prefix:0`: `0` is not a number from 1 to 99"),
            ("word:2", "feature `word:2`: `word` takes no number"),
            ("word,window:x", "feature `window:x`: `x` is not a number"),
            ("window:2", "feature `window:2`: nothing to read"),
            ("", "nothing to read"),
            ("word,window:1,window:2", "window is given twice"),
        ] {
            let error = expand(features).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
    }
}
