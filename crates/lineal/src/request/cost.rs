//! `--cost FILE`: a table of costs with the classes' names in the header row and the first column.

use crate::Error;
use lineal_model::cost::CostMatrix;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

/// Costs with the names of the classes that they are between, for data whose classes are not known beforehand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedCost {
    /// In the order of the matrix.
    pub classes: Vec<String>,
    /// Δ(y, ŷ).
    pub matrix: CostMatrix,
}

impl FromStr for NamedCost {
    type Err = String;

    /// The text of a file of costs. The error begins with the number of the line.
    fn from_str(text: &str) -> Result<Self, String> {
        let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let classes: Vec<String> = fields(header, separator(header)).into_iter().skip(1).collect();
        let matrix = parse_cost(text, &classes)?;
        Ok(Self { classes, matrix })
    }
}

impl NamedCost {
    /// The same for classes in this order, among which all of these must be; the others come after them. The error is a class without costs.
    pub(crate) fn extended(&self, classes: &[String]) -> Result<Self, String> {
        let mut names = classes.to_vec();
        names.extend(self.classes.iter().filter(|name| !classes.contains(name)).cloned());
        let place = |name: &String| self.classes.iter().position(|c| c == name);
        let places: Option<Vec<usize>> = names.iter().map(place).collect();
        let Some(places) = places else {
            let odd = classes.iter().find(|name| place(name).is_none());
            return Err(odd.cloned().unwrap_or_default());
        };
        let row = |&y: &usize| places.iter().map(move |&y_hat| self.matrix.row(y as u32)[y_hat]);
        let matrix = CostMatrix::new(names.len(), places.iter().flat_map(row).collect())?;
        Ok(Self { classes: names, matrix })
    }
}

/// Reads Δ(y, ŷ) for the classes that the header of the file names.
pub fn read_named_cost(path: &Path) -> Result<NamedCost, Error> {
    let named = read(path)?.parse();
    named.map_err(|why| Error::request(format!("{}:{why}", path.display())))
}

/// Reads Δ(y, ŷ) for the classes of a dataset: gold classes are rows, predicted ones columns, in any order.
/// Fields are separated by commas or tabs.
pub fn read_cost(path: &Path, classes: &[String]) -> Result<CostMatrix, Error> {
    let matrix = parse_cost(&read(path)?, classes);
    matrix.map_err(|why| Error::request(format!("{}:{why}", path.display())))
}

fn read(path: &Path) -> Result<String, Error> {
    let fail = |source| Error::Io { path: path.to_path_buf(), source };
    std::fs::read_to_string(path).map_err(fail)
}

/// Commas or tabs, whatever the header has.
fn fields(line: &str, separator: char) -> Vec<String> {
    line.split(separator).map(|f| f.trim().trim_matches('"').to_string()).collect()
}

fn separator(header: &str) -> char {
    if header.contains('\t') { '\t' } else { ',' }
}

fn parse_cost(text: &str, classes: &[String]) -> Result<CostMatrix, String> {
    let k = classes.len();
    let ids: HashMap<&str, usize> =
        classes.iter().enumerate().rev().map(|(id, name)| (name.as_str(), id)).collect();
    let id = |line: usize, name: &str| {
        ids.get(name).copied().ok_or_else(|| {
            format!(
                "{line}: `{name}` is not a class of the data, which are {}",
                classes.iter().take(10).cloned().collect::<Vec<_>>().join(", ")
            )
        })
    };
    let missing = |y: usize, y_hat: usize| {
        format!(
            "1: no cost for gold `{}` and predicted `{}`; every pair of classes needs one",
            classes[y], classes[y_hat]
        )
    };
    let mut lines =
        text.lines().enumerate().map(|(i, l)| (i + 1, l)).filter(|(_, l)| !l.trim().is_empty());
    let (line, header) = lines.next().ok_or("1: the cost file is empty")?;
    let fields = |line: &str| fields(line, separator(header));
    let columns: Vec<usize> =
        fields(header).iter().skip(1).map(|name| id(line, name)).collect::<Result<_, _>>()?;
    // Before there is a place for each pair: a header alone asks for no memory.
    let mut rows = Vec::new();
    for (line, row) in lines {
        let n_fields = row.split(separator(header)).count();
        if n_fields != columns.len() + 1 {
            return Err(format!(
                "{line}: {n_fields} fields where the header has {}",
                columns.len() + 1
            ));
        }
        rows.push((line, row));
    }
    let first_without = |having: &mut dyn Iterator<Item = usize>| {
        let mut has = vec![false; k];
        having.for_each(|id| has[id] = true);
        has.iter().position(|has| !has)
    };
    if let Some(y_hat) = first_without(&mut columns.iter().copied()) {
        return Err(missing(0, y_hat));
    }
    if rows.len() < k {
        let golds = rows.iter().filter_map(|(_, row)| fields(row).first().cloned());
        let mut golds = golds.filter_map(|name| ids.get(name.as_str()).copied());
        return Err(missing(first_without(&mut golds).unwrap_or(0), 0));
    }
    let mut cost = vec![f64::NAN; k * k];
    for (line, row) in rows {
        let row = fields(row);
        let y = id(line, &row[0])?;
        for (&y_hat, field) in columns.iter().zip(&row[1..]) {
            let value: f64 =
                field.parse().map_err(|_| format!("{line}: `{field}` is not a number"))?;
            cost[y * k + y_hat] = value;
        }
    }
    if let Some(at) = cost.iter().position(|c| c.is_nan()) {
        return Err(missing(at / k, at % k));
    }
    CostMatrix::new(k, cost).map_err(|why| format!("1: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_costs_follow_the_order_of_classes() {
        let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let classes = names(&["a", "b", "c"]);
        let matrix = parse_cost(",a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n", &classes).unwrap();
        let cost = NamedCost { classes, matrix };
        let other = cost.extended(&names(&["c", "a"])).unwrap();
        assert_eq!(other.classes, ["c", "a", "b"]);
        assert_eq!(other.matrix.row(0), [0.0, 5.0, 6.0]);
        assert_eq!(other.matrix.row(1), [2.0, 0.0, 1.0]);
        assert_eq!(cost.extended(&names(&["a", "x"])).unwrap_err(), "x");
    }

    #[test]
    fn names_may_come_in_any_order() {
        let classes = ["a".to_string(), "b".to_string()];
        let cost = parse_cost(",b,a\na,5,0\nb,0,1\n", &classes).unwrap();
        assert_eq!(cost.row(0), [0.0, 5.0]);
        assert_eq!(cost.row(1), [1.0, 0.0]);
        for (bad, why) in [
            ("", "empty"),
            (",a,b\na,0,1\n", "no cost for gold `b`"),
            (",a\na,0\nb,1\n", "no cost for gold `a` and predicted `b`"),
            (",a,b\na,0,1\na,0,1\n", "no cost for gold `b`"),
            (",a,c\n", "`c` is not a class"),
            (",a,b\na,0\n", "2 fields where the header has 3"),
            (",a,b\na,0,x\nb,1,0\n", "`x` is not a number"),
            (",a,b\na,0,-1\nb,1,0\n", "not a number ≥ 0"),
        ] {
            assert!(parse_cost(bad, &classes).unwrap_err().contains(why), "{bad}");
        }
    }
}
